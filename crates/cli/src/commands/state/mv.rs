//! `groma state mv`: gives objects another address.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::commands::Context;
use crate::commands::shared::{BackendArgs, JsonArgs, LockArgs, PathArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Give a resource, resource instance or module another address.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The address it has.
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,

    /// The address it gets.
    #[arg(value_name = "DESTINATION")]
    pub(crate) destination: String,

    /// Only show what would be moved.
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Where the previous state of -state-out is kept.
    #[arg(long, allow_hyphen_values = true, value_name = "FILE")]
    pub(crate) backup_out: Option<PathBuf>,

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
    Err(Failure::Usage("groma state mv is not there yet".to_owned()))
}
