//! `groma state push`: replaces the state by a file.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::commands::Context;
use crate::commands::shared::{BackendArgs, JsonArgs, LockArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Replace the state of the current workspace by a file.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file; "-" for standard input.
    #[arg(value_name = "FILE", allow_hyphen_values = true)]
    pub(crate) file: PathBuf,

    /// Even if it is older than, or has nothing to do with, what is there.
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) lock: LockArgs,

    #[command(flatten)]
    pub(crate) backend: BackendArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(_context: &Context, _args: Args) -> Result<ExitCode, Failure> {
    Err(Failure::Usage("groma state push is not there yet".to_owned()))
}
