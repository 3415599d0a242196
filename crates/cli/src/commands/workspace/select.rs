//! `groma workspace select`: goes to a workspace.

use std::process::ExitCode;

use crate::commands::Context;
use crate::commands::shared::{JsonArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Select another workspace.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its name.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Create it if it is not there.
    #[arg(long)]
    pub(crate) or_create: bool,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(_context: &Context, _args: Args) -> Result<ExitCode, Failure> {
    Err(Failure::Usage("groma workspace select is not there yet".to_owned()))
}
