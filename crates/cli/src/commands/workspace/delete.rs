//! `groma workspace delete`: removes a workspace.

use std::process::ExitCode;

use crate::commands::Context;
use crate::commands::shared::{JsonArgs, LockArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Delete a workspace.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its name.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Even if its state is not empty; what is in it will not be managed any more.
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) lock: LockArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(_context: &Context, _args: Args) -> Result<ExitCode, Failure> {
    Err(Failure::Usage("groma workspace delete is not there yet".to_owned()))
}
