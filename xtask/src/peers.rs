//! `cargo xtask peers`: the programs that tests compare with or talk to. Go programs are built from
//! pinned modules in `tests/peers` into a cache outside `target`, so that `cargo clean` keeps them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::ladder::seconds;
use crate::{process, workspace};

/// Build what tests need from Go (OpenTofu, provider plugins) into a cache that survives `cargo clean`.
///
/// The cache is `$GROMA_PEERS`, else `$XDG_CACHE_HOME/groma/peers`, else `~/.cache/groma/peers`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print `NAME PATH` of every peer and build nothing.
    #[arg(long)]
    list: bool,
    /// Build again, even what the cache has.
    #[arg(long)]
    rebuild: bool,
}

/// A Go program that we build ourselves.
struct Peer {
    /// Name of the folder in `tests/peers` and of the cache folder.
    name: &'static str,
    version: &'static str,
    /// The import path of the main package.
    package: &'static str,
    /// What the binary is called.
    binary: &'static str,
    /// What goes to `-ldflags` beside stripping.
    link: &'static str,
}

const TOFU: Peer = Peer {
    name: "tofu",
    version: "1.12.6",
    package: "github.com/opentofu/opentofu/cmd/tofu",
    binary: "tofu",
    // Without this it calls itself a development build.
    link: "-X github.com/opentofu/opentofu/version.dev=no",
};

const PROVIDER_TIME: Peer = Peer {
    name: "provider-time",
    version: "0.14.2",
    package: "github.com/hashicorp/terraform-provider-time",
    binary: "terraform-provider-time_v0.14.2",
    link: "-X main.version=0.14.2",
};

/// OpenTofu, the oracle.
pub(crate) fn tofu() -> Result<PathBuf> {
    ensure(&TOFU, false)
}

/// The real `time` plugin.
pub(crate) fn provider_time() -> Result<PathBuf> {
    ensure(&PROVIDER_TIME, false)
}

/// Terraform, as it is installed on this machine. Its licence does not let us build it.
pub(crate) fn terraform() -> Result<PathBuf> {
    process::find_on_path("terraform")
        .context("`terraform` is not on PATH: it is compared with, and cannot be built here (licence)")
}

/// Environment variables that tell tests where the peers are.
pub(crate) fn environment() -> Result<Vec<(&'static str, PathBuf)>> {
    Ok(vec![("GROMA_TOFU", tofu()?), ("GROMA_TERRAFORM", terraform()?), ("GROMA_PROVIDER_TIME", provider_time()?)])
}

/// Builds all peers and prints where they are.
pub(crate) fn run(args: &Args) -> Result<()> {
    for peer in [&TOFU, &PROVIDER_TIME] {
        let path = if args.list { path_of(peer)? } else { ensure(peer, args.rebuild)? };
        println!("{} {}", peer.name, path.display());
    }
    println!("terraform {}", terraform()?.display());
    Ok(())
}

/// The cache folder of all peers.
fn cache() -> Result<PathBuf> {
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(dir) = from("GROMA_PEERS") {
        return Ok(dir.into());
    }
    if let Some(dir) = from("XDG_CACHE_HOME") {
        return Ok(PathBuf::from(dir).join("groma/peers"));
    }
    let home = from("HOME").context("set HOME or GROMA_PEERS: there is no place for the cache")?;
    Ok(PathBuf::from(home).join(".cache/groma/peers"))
}

/// Where a peer lies once it is built.
fn path_of(peer: &Peer) -> Result<PathBuf> {
    Ok(cache()?.join(peer.name).join(peer.version).join(peer.binary))
}

/// The peer's binary; builds it if the cache lacks it.
fn ensure(peer: &Peer, rebuild: bool) -> Result<PathBuf> {
    let path = path_of(peer)?;
    if path.is_file() && !rebuild {
        return Ok(path);
    }
    println!("    building {} {} with Go (once; kept in {}) ...", peer.name, peer.version, cache()?.display());
    let start = Instant::now();
    build(peer, &path).with_context(|| format!("cannot build {} {}", peer.name, peer.version))?;
    println!("    built {} in {}", peer.name, seconds(start.elapsed()));
    Ok(path)
}

/// Builds beside the final place and renames, so that a broken build is never taken for a peer.
fn build(peer: &Peer, path: &Path) -> Result<()> {
    let Some(go) = process::find_on_path("go") else {
        bail!("`go` is not on PATH: install the Go toolchain, the peers are Go programs");
    };
    let dir = path.parent().context("a peer's path has a parent")?;
    std::fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let unfinished = dir.join(format!("{}.{}.tmp", peer.binary, std::process::id()));
    let mut command = Command::new(go);
    command
        .current_dir(workspace::root().join("tests/peers").join(peer.name))
        .env("CGO_ENABLED", "0")
        .env("GOWORK", "off")
        .args(["build", "-trimpath", "-mod=readonly", "-ldflags"])
        .arg(format!("-s -w {}", peer.link))
        .arg("-o")
        .arg(&unfinished)
        .arg(peer.package);
    process::run_patiently(&mut command)?;
    std::fs::rename(&unfinished, path).context("cannot move the binary into the cache")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_peer_is_pinned_at_the_version_we_name() {
        for peer in [&TOFU, &PROVIDER_TIME] {
            let path = workspace::root().join("tests/peers").join(peer.name).join("go.mod");
            let manifest = std::fs::read_to_string(&path).unwrap();
            let pin = format!("v{}", peer.version);
            assert!(
                manifest.lines().any(|line| {
                    let mut words = line.trim_start_matches("require").split_whitespace();
                    words.next().is_some_and(|module| peer.package.starts_with(module)) && words.next() == Some(&pin)
                }),
                "{} does not require {pin}",
                path.display()
            );
        }
    }
}
