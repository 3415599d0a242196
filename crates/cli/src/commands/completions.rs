//! `groma completions`: scripts for shells.

use std::process::ExitCode;

use clap_complete::Shell;

use super::Context;
use crate::args;
use crate::failure::Failure;
use crate::ui::Ui;

/// Print a completion script for a shell.
///
/// For example: groma completions bash > /etc/bash_completion.d/groma
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which shell.
    shell: Shell,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::command(), "groma", &mut script);
    Ui::new(&context.environment, false).out(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
