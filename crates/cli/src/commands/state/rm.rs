//! `groma state rm`: forgets objects without destroying them.

use std::process::ExitCode;

use crate::commands::Context;
use crate::commands::shared::{BackendArgs, JsonArgs, LockArgs, PathArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Forget objects without destroying them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which ones.
    #[arg(value_name = "ADDRESS", required = true)]
    pub(crate) addresses: Vec<String>,

    /// Only show what would be forgotten.
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) lock: LockArgs,

    #[command(flatten)]
    pub(crate) paths: PathArgs,

    #[command(flatten)]
    pub(crate) backend: BackendArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(_context: &Context, _args: Args) -> Result<ExitCode, Failure> {
    Err(Failure::Usage("groma state rm is not there yet".to_owned()))
}
