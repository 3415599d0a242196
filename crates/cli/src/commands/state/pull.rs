//! `groma state pull`: the state as it is.

use std::process::ExitCode;

use crate::commands::Context;
use crate::commands::shared::{VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Print the state of the current workspace.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(_context: &Context, _args: Args) -> Result<ExitCode, Failure> {
    Err(Failure::Usage("groma state pull is not there yet".to_owned()))
}
