//! `groma workspace new`: makes a workspace and goes there.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::commands::Context;
use crate::commands::shared::{JsonArgs, LockArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Create a workspace and select it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its name.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Start with this state.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,

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
    Err(Failure::Usage("groma workspace new is not there yet".to_owned()))
}
