//! `cargo xtask test`: everything that must hold, fast steps first, one summary at the end.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::ladder::{Counts, Ladder};
use crate::product::{self, HeadStart};
use crate::{cluster, codegen, dist, fuzz, peers, process, tidy, torture, tour, workspace};

/// Run every test, from a fresh machine: builds what is missing, says what it does, sums up.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The inner loop: no peers, no fuzzing, no packaging.
    #[arg(long)]
    fast: bool,
    /// Leave out a step; it is shown as skipped. Can be repeated.
    #[arg(long, value_name = "STEP")]
    skip: Vec<String>,
    /// Seconds per fuzz target.
    #[arg(long, default_value_t = 30)]
    fuzz_seconds: u32,
}

/// Runs the ladder.
pub(crate) fn run(args: &Args) -> Result<()> {
    ensure_components()?;
    let mut ladder = Ladder::new(if args.fast { 4 } else { 17 }, &args.skip);
    // The last step needs the binary as it ships, which takes long to build: whatever the others leave of the processors is used for it.
    let head_start = if args.fast || args.skip.iter().any(|skipped| skipped == "dist") {
        None
    } else {
        Some(product::begin_to_build()?)
    };
    ladder.step("tidy", "the rules of the house", |_| tidy::run(&tidy::Args {}));
    ladder.step("fmt", "formatting", |_| format_check());
    ladder.step("clippy", "lints, warnings denied", |_| lint());
    ladder
        .step("tests", "unit, integration and documentation tests", |counts| cargo_test(counts, &["--workspace"], &[]));
    if !args.fast {
        ladder.step("tour", "the main jobs on examples, as people see them first", |counts| {
            tour::step()?;
            *counts = Counts::ONE;
            Ok(())
        });
        ladder.step("graphs", "150,000 random graphs, whose replacements all have an order", random_graphs);
        ladder.step("doc", "documentation builds without warnings", |_| document());
        ladder.step("codegen", "generated code is what its sources give", |_| codegen::check());
        ladder.step("slice", "the thin slice, with the real time plugin and OpenTofu", slice);
        ladder.step("plugins", "real plugins, every fault of theirs, and ours under stock hosts", plugins);
        ladder.step("interchange", "built-in providers against published ones, both ways", interchange);
        ladder.steps_together(
            ("backends", "remote states on real servers, shared with OpenTofu and Terraform", &backends),
            ("crates", "every crate builds alone, with its own features", &check_alone),
        );
        ladder.step(
            "clusters",
            "objects on Kubernetes and the operator, with controllers, and with a node on which pods run",
            clusters,
        );
        ladder.step("kills", "runs that are killed, and gone on with", |counts| torture::step(counts, 270));
        ladder.step("fuzz", "every fuzz target", |counts| fuzz::run_all(counts, args.fuzz_seconds));
        ladder.step("dist", "the static binary, packed and tried", |_| {
            head_start.map_or(Ok(()), HeadStart::finish)?;
            dist::smoke()
        });
    }
    ladder.finish()
}

/// What turns tests on that need peers.
const PEERS_FEATURES: &str = "groma-backends/peers,groma-cli/peers,groma-interchange/peers,groma-kubernetes/peers,groma-kubernetes/plugin,groma-provider/peers,groma-served/peers,groma-slice/peers,groma-state/peers,groma-testkit/peers";

fn format_check() -> Result<()> {
    process::run(workspace::cargo().args(["fmt", "--all", "--check"]))
}

fn lint() -> Result<()> {
    let mut clippy = workspace::cargo();
    // Some tests need peers to run, but not to be looked at.
    let with_peers = format!("--features={PEERS_FEATURES}");
    clippy.args(["clippy", "--workspace", "--all-targets", &with_peers, "--locked"]);
    clippy.args(["--", "-D", "warnings"]);
    process::run(&mut clippy)
}

/// A build of the whole workspace unifies features, and would hide that a crate lacks one. Crates for tests are only ever built with the others.
fn check_alone(counts: &mut Counts) -> Result<()> {
    for name in workspace::packages()?.into_iter().filter(|name| !tidy::is_for_tests(name)) {
        let check = ["check", "--quiet", "--locked", "--package", &name];
        // Others measure how long they wait, meanwhile.
        process::run(&mut process::with_low_priority(workspace::cargo().args(check)))?;
        counts.passed += 1;
    }
    Ok(())
}

fn document() -> Result<()> {
    let mut doc = workspace::cargo();
    doc.args(["doc", "--workspace", "--no-deps", "--locked", "--document-private-items"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    process::run(&mut doc)
}

/// Runs `cargo test` with the given selection and adds up what it reports.
fn cargo_test(counts: &mut Counts, selection: &[&str], environment: &[(&str, PathBuf)]) -> Result<()> {
    let mut test = workspace::cargo();
    test.args(["test", "--no-fail-fast", "--locked"]).args(selection);
    // Test output must not depend on who runs it.
    test.env_remove("TF_CLI_CONFIG_FILE");
    test.envs(environment.iter().map(|(name, path)| (*name, path)));
    let status = process::run_watched(&mut test, |line| counts.read_line(line))?;
    if !status.success() {
        bail!("{} ended with {status}", process::shown(&test));
    }
    if counts.passed == 0 {
        bail!("no test ran");
    }
    Ok(())
}

/// The property of replacements that so many graphs were promised for. Built as the tests before it are, and alone, so that it has all
/// processors.
fn random_graphs(counts: &mut Counts) -> Result<()> {
    let selection = ["--workspace", "--lib", "whatever_is_wished_for_there_is_an_order"];
    cargo_test(counts, &selection, &[("GROMA_PROPERTY_CASES", "150000".into())])
}

/// Everything that has to do with peers. Tests that need them are built only with their feature `peers`, so that `cargo test` alone never needs
/// Go and never pretends that it ran. The selection is always the same: with other features all of it would be built again.
fn with_peers(counts: &mut Counts, group: peers::Group, tests: &[&str]) -> Result<()> {
    with_environment(counts, &peers::environment(group)?, tests)
}

/// The same, with programs that have been found already.
fn with_environment(counts: &mut Counts, environment: &[(&str, PathBuf)], tests: &[&str]) -> Result<()> {
    let packages: BTreeSet<&str> = PEERS_FEATURES.split(',').filter_map(|feature| feature.split('/').next()).collect();
    let packages: Vec<String> = packages.into_iter().map(|package| format!("--package={package}")).collect();
    let features = format!("--features={PEERS_FEATURES}");
    let tests: Vec<String> = tests.iter().map(|test| format!("--test={test}")).collect();
    let selection = packages.iter().chain([&features]).chain(&tests).map(String::as_str);
    cargo_test(counts, &selection.collect::<Vec<_>>(), environment)
}

/// The thin slice: whole operations, with the library.
fn slice(counts: &mut Counts) -> Result<()> {
    with_peers(counts, peers::Group::Test, &["slice", "moving_in", "views", "cycles"])
}

/// The client and the server of plugins, with plugins and hosts that others have made; and whoever else has to do with the other programs: a
/// state is locked against them, and encrypted as they do it.
fn plugins(counts: &mut Counts) -> Result<()> {
    let wire = ["time", "fixtures", "faults", "client", "hosts", "driven"];
    let commands = ["plugins", "looks", "testing", "waits_peers", "canaries", "engines", "replacing"];
    with_peers(counts, peers::Group::Test, &[&wire[..], &commands[..], &["peers", "encrypted"]].concat())
}

/// What a built-in provider has made goes on with its published twin, and the other way round. (`time` is among the plugins.)
fn interchange(counts: &mut Counts) -> Result<()> {
    let twins = ["data", "language", "local", "old", "opentofu", "random", "tls", "tls_current"];
    with_peers(counts, peers::Group::Conformance, &[&twins[..], &["catalogue", "replacing_files"]].concat())
}

/// Remote places for states, on real servers. PostgreSQL is not built but installed, since it is no Go program.
fn backends(counts: &mut Counts) -> Result<()> {
    let tests = ["http", "kubernetes", "pg", "s3", "encryption_peers", "replacing_cluster"];
    with_peers(counts, peers::Group::Servers, &tests)
}

/// Clusters that tests start, up to one with a node, and the provider of their objects, in groma and as a plugin. That needs root and Debian's
/// packages for containers, which are installed if they are missing.
fn clusters(counts: &mut Counts) -> Result<()> {
    let mut environment = cluster::environment()?;
    // Most of the time they wait for the cluster.
    environment.push(("RUST_TEST_THREADS", "6".into()));
    let objects = ["kubernetes_objects", "kubernetes_plugin", "kubernetes_pods"];
    let operator = ["operator", "operator_cli", "operator_jobs", "gitops"];
    with_environment(
        counts,
        &environment,
        &[&["clusters", "clusters_end", "live"], &objects[..], &operator[..]].concat(),
    )
}

/// Checks that the components exist which `cargo fmt` and `cargo clippy` need; asks rustup if not.
fn ensure_components() -> Result<()> {
    for (component, probe) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        let mut command = workspace::cargo();
        command.args([probe, "--version"]);
        if process::capture(&mut command).is_err() {
            process::run(Command::new("rustup").args(["component", "add", component]))?;
        }
    }
    Ok(())
}
