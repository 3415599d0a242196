//! xtask in place of the compiler: while the fuzzing binary is built, cargo calls us for the crates of this workspace,
//! and we add the flags that count edges. Crates from elsewhere are compiled as always: they need half the time, and
//! fuzzing keeps its eyes on our own code.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::Result;

/// Set while cargo calls us as the compiler.
const MARK: &str = "GROMA_XTASK_COMPILES";

/// Flags that make the compiler count edges for libFuzzer. They are stable flags.
const COVERAGE: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// Lets cargo call this program for every crate of the workspace.
pub(super) fn wrap(cargo: &mut Command, xtask: &Path) {
    cargo.env("RUSTC_WORKSPACE_WRAPPER", xtask).env(MARK, "1");
}

/// If cargo has called us as the compiler, does that and gives the exit code.
pub(crate) fn run() -> Option<ExitCode> {
    std::env::var_os(MARK)?;
    let mut arguments = std::env::args_os().skip(1);
    let rustc = arguments.next()?;
    Some(match compile(rustc, arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: cannot start the compiler: {error:#}");
            ExitCode::FAILURE
        }
    })
}

fn compile(rustc: OsString, arguments: impl Iterator<Item = OsString>) -> Result<bool> {
    let mut command = Command::new(rustc);
    command.args(arguments).args(COVERAGE).env_remove(MARK);
    Ok(command.status()?.success())
}
