//! `cargo xtask peers`: the programs that tests compare with or talk to. Go programs are built from
//! pinned modules in `tests/peers`, and our fixtures from `tests/providers`, into a cache outside `target`, so that
//! `cargo clean` keeps them.

mod build;
mod catalogue;
mod fixtures;

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::{image, process};
use catalogue::{PEERS, Peer};
use fixtures::{FIXTURES, Fixture};

/// Build what tests need from Go (OpenTofu, provider plugins) into a cache that survives `cargo clean`.
///
/// The cache is `$GROMA_PEERS`, else `$XDG_CACHE_HOME/groma/peers`, else `~/.cache/groma/peers`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print `NAME PATH` of every peer and build nothing.
    #[arg(long)]
    list: bool,
    /// Print the variables that tell tests where the peers are, for a shell to evaluate; build nothing.
    #[arg(long, conflicts_with = "list")]
    env: bool,
    /// Build again, even what the cache has.
    #[arg(long)]
    rebuild: bool,
    /// Only this peer (`provider-time`, `fixture-sdk`, ...). Can be repeated.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Only what this purpose needs.
    #[arg(long, value_enum)]
    group: Option<Group>,
}

/// What a peer is needed for. Each group includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Group {
    /// `cargo xtask test`: the oracle, the fixtures and one real plugin.
    Test,
    /// `cargo xtask cluster up` and the tests of backends: servers, which take ten minutes to build the first time.
    Servers,
    /// `cargo xtask cluster up --node` and tests with pods: the rest of Kubernetes.
    Cluster,
    /// `cargo xtask conformance`: every plugin, which takes minutes to build the first time.
    Conformance,
}

/// Something that we build: a pinned program or a fixture of ours.
#[derive(Clone, Copy)]
enum Program {
    Pinned(&'static Peer),
    Fixture(&'static Fixture),
}

impl Program {
    /// All of them, those that are needed first at the front.
    fn all() -> impl Iterator<Item = Self> {
        FIXTURES.iter().map(Self::Fixture).chain(PEERS.iter().map(Self::Pinned))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Pinned(peer) => peer.name,
            Self::Fixture(fixture) => fixture.name,
        }
    }

    /// The environment variable by which tests find it.
    fn variable(self) -> &'static str {
        match self {
            Self::Pinned(peer) => peer.variable,
            Self::Fixture(fixture) => fixture.variable,
        }
    }

    fn group(self) -> Group {
        match self {
            Self::Pinned(peer) => peer.group,
            Self::Fixture(fixture) => fixture.group,
        }
    }

    /// Where it lies once it is built.
    fn path(self) -> Result<PathBuf> {
        match self {
            Self::Pinned(peer) => peer.path(),
            Self::Fixture(fixture) => fixture.path(),
        }
    }

    /// Builds it if the cache lacks it.
    fn ensure(self, rebuild: bool) -> Result<PathBuf> {
        let recipe = match self {
            Self::Pinned(peer) => peer.recipe()?,
            Self::Fixture(fixture) => fixture.recipe()?,
        };
        build::ensure(&recipe, rebuild)
    }
}

/// The variable by which tests find the image of their pods.
const POD_IMAGE: &str = "GROMA_POD_IMAGE";

/// Where a peer lies, whether it has been built or not.
pub(crate) fn path(name: &str) -> Result<PathBuf> {
    let program = Program::all().find(|program| program.name() == name);
    program.with_context(|| format!("there is no peer `{name}`"))?.path()
}

/// A peer by its name, for example `provider-kubectl` or `fixture-framework`; builds it if the cache lacks it.
pub(crate) fn find(name: &str) -> Result<PathBuf> {
    let program = Program::all().find(|program| program.name() == name);
    program.with_context(|| format!("there is no peer `{name}`"))?.ensure(false)
}

/// The names of all provider plugins, ours and others'.
pub(crate) fn plugins() -> impl Iterator<Item = &'static str> {
    Program::all().map(Program::name).filter(|name| name.starts_with("provider-") || name.starts_with("fixture-"))
}

/// OpenTofu, the oracle.
pub(crate) fn tofu() -> Result<PathBuf> {
    find("tofu")
}

/// Terraform, as it is installed on this machine. Its licence does not let us build it.
pub(crate) fn terraform() -> Result<PathBuf> {
    process::find_on_path("terraform")
        .context("`terraform` is not on PATH: it is compared with, and cannot be built here (licence)")
}

/// Environment variables that tell tests where the peers are; builds what the group needs.
pub(crate) fn environment(group: Group) -> Result<Vec<(&'static str, PathBuf)>> {
    let mut variables = vec![("GROMA_TERRAFORM", terraform()?)];
    for program in Program::all().filter(|program| program.group() <= group) {
        variables.push((program.variable(), program.ensure(false)?));
    }
    if group >= Group::Cluster {
        variables.push((POD_IMAGE, image::pod()?));
    }
    Ok(variables)
}

/// Builds peers one after the other and prints where they are.
pub(crate) fn run(args: &Args) -> Result<()> {
    let chosen = chosen(args)?;
    for (index, program) in chosen.iter().enumerate() {
        if args.list || args.env {
            let path = program.path()?;
            if args.list {
                println!("{} {}", program.name(), path.display());
            } else if path.is_file() {
                println!("export {}='{}'", program.variable(), path.display());
            }
            continue;
        }
        let path = program.ensure(args.rebuild)?;
        println!("[{}/{}] {} {}", index + 1, chosen.len(), program.name(), path.display());
    }
    if chosen.iter().any(|program| program.name() == "pod") {
        show_pod_image(args)?;
    }
    if args.only.is_empty() {
        let path = terraform()?;
        let path = path.display();
        if args.env {
            println!("export GROMA_TERRAFORM='{path}'");
        } else {
            println!("terraform {path}");
        }
    }
    Ok(())
}

/// The same for the image in which one of them runs.
fn show_pod_image(args: &Args) -> Result<()> {
    let path = image::path_of_pod()?;
    if args.env && path.is_file() {
        println!("export {POD_IMAGE}='{}'", path.display());
    } else if !args.env {
        let path = if args.list { path } else { image::pod()? };
        println!("pod-image {}", path.display());
    }
    Ok(())
}

/// What the arguments name: everything, a group, or single ones.
fn chosen(args: &Args) -> Result<Vec<Program>> {
    for name in &args.only {
        if !Program::all().any(|program| program.name() == name) {
            let names: Vec<&str> = Program::all().map(Program::name).collect();
            bail!("there is no peer `{name}`; there are: {}", names.join(", "));
        }
    }
    let group = args.group.unwrap_or(Group::Conformance);
    let wanted = |program: &Program| {
        if args.only.is_empty() {
            program.group() <= group
        } else {
            args.only.iter().any(|name| name == program.name())
        }
    };
    Ok(Program::all().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_and_variables_are_unique_and_match() {
        let mut names = BTreeSet::new();
        for program in Program::all() {
            assert!(names.insert(program.name()), "{} twice", program.name());
            let variable = format!("GROMA_{}", program.name().to_uppercase().replace('-', "_"));
            assert_eq!(program.variable(), variable);
        }
    }

    #[test]
    fn tests_need_no_heavy_peer() {
        let names: Vec<&str> =
            Program::all().filter(|program| program.group() == Group::Test).map(Program::name).collect();
        assert_eq!(names, ["fixture-sdk", "fixture-framework", "oracle-planjson", "tofu", "provider-time"]);
    }

    #[test]
    fn an_unknown_peer_is_refused_with_the_list() {
        let args = Args { list: true, env: false, rebuild: false, only: vec!["provider-tim".into()], group: None };
        let error = chosen(&args).err().unwrap().to_string();
        assert!(error.contains("provider-time"), "{error}");
    }
}
