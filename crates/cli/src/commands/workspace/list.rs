//! `groma workspace list`: all workspaces.

use std::process::ExitCode;

use crate::commands::Context;
use crate::commands::shared::{JsonArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// List the workspaces.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(_context: &Context, _args: Args) -> Result<ExitCode, Failure> {
    Err(Failure::Usage("groma workspace list is not there yet".to_owned()))
}
