//! `groma state replace-provider`: objects get another provider.

use std::process::ExitCode;

use crate::commands::Context;
use crate::commands::shared::{BackendArgs, JsonArgs, LockArgs, PathArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Let another provider manage what one managed so far.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The provider so far.
    #[arg(value_name = "FROM")]
    pub(crate) from: String,

    /// The provider from now on.
    #[arg(value_name = "TO")]
    pub(crate) to: String,

    /// Do not ask.
    #[arg(long)]
    pub(crate) auto_approve: bool,

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
    Err(Failure::Usage("groma state replace-provider is not there yet".to_owned()))
}
