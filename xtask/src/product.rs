//! Building `groma` as it ships. Everything that measures, compares or packs the product uses this
//! one build, so that what is tested is what people get, and it is compiled once.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};

use crate::{process, workspace};

/// How the static binary is built on this machine.
pub(crate) struct Target {
    /// The target triple.
    pub(crate) triple: String,
    /// Compiler flags that the triple needs to link statically.
    flags: &'static str,
}

/// The musl target if it is installed, else the host's with a static C runtime.
pub(crate) fn target() -> Result<Target> {
    let host = host()?;
    let musl = host.replace("-gnu", "-musl");
    if musl != host && has_target(&musl) {
        return Ok(Target { triple: musl, flags: "" });
    }
    Ok(Target { triple: host, flags: "-C target-feature=+crt-static" })
}

/// The triple of this machine.
pub(crate) fn host() -> Result<String> {
    let version = process::capture(Command::new("rustc").current_dir(workspace::root()).arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc -vV names no host")
}

/// Whether the standard library for a target is installed.
fn has_target(triple: &str) -> bool {
    let mut rustc = Command::new("rustc");
    rustc.current_dir(workspace::root()).args(["--print=target-libdir", "--target", triple]);
    process::capture(&mut rustc).is_ok_and(|dir| PathBuf::from(dir.trim()).is_dir())
}

/// Builds the static release binary and returns its path.
pub(crate) fn groma() -> Result<PathBuf> {
    let target = target()?;
    process::run(&mut build(&target, workspace::cargo()))?;
    Ok(workspace::target_dir()?.join(target.triple).join("release/groma"))
}

/// The build of the static release binary.
fn build(target: &Target, mut cargo: Command) -> Command {
    cargo.args(["build", "--release", "--locked", "--package=groma-cli", "--bin=groma"]);
    cargo.args(["--target", &target.triple]);
    let variable = target.triple.replace('-', "_").to_uppercase();
    cargo.env(format!("CARGO_TARGET_{variable}_RUSTFLAGS"), target.flags);
    cargo
}

/// A build of the static release binary that goes on in the background. It only fills caches: who needs the binary asks for it with
/// [`groma`], and sees what went wrong there.
pub(crate) struct HeadStart(Child);

/// Begins to build the static release binary, with what nobody else wants of the processors.
pub(crate) fn begin_to_build() -> Result<HeadStart> {
    let mut cargo = build(&target()?, process::with_low_priority(&workspace::cargo()));
    cargo.arg("--quiet").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(HeadStart(cargo.spawn().context("cannot start cargo")?))
}

impl HeadStart {
    /// Waits until it is done.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.0.wait().map(|_| ()).context("cannot wait for cargo")
    }
}

/// Builds the binary that tests use, which can be told to die, and returns its path.
pub(crate) fn groma_for_tests() -> Result<PathBuf> {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--locked", "--package=groma-cli", "--bin=groma", "--message-format=json-render-diagnostics"]);
    let messages = process::capture(cargo.stderr(std::process::Stdio::inherit()))?;
    let artifacts = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut built = artifacts.filter(|artifact| artifact["target"]["name"] == "groma");
    let program = built.find_map(|artifact| artifact["executable"].as_str().map(PathBuf::from));
    program.context("cargo built no groma")
}
