//! `groma destroy`: plans to destroy everything, asks, and does it.

use std::path::PathBuf;
use std::process::ExitCode;

use super::Context;
use super::shared::{InputArgs, JsonArgs, LockArgs, OperationArgs, PathArgs, SensitiveArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Destroy everything that this configuration manages.
///
/// The same as `groma apply -destroy`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Not for this command: plans are applied with `groma apply`.
    #[arg(value_name = "PLAN", hide = true)]
    pub(crate) plan_file: Option<PathBuf>,

    /// Do not ask.
    #[arg(long)]
    pub(crate) auto_approve: bool,

    /// Let a destroy that leaves forgotten objects behind succeed.
    #[arg(long)]
    pub(crate) suppress_forget_errors: bool,

    #[command(flatten)]
    pub(crate) operation: OperationArgs,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) lock: LockArgs,

    #[command(flatten)]
    pub(crate) paths: PathArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) sensitive: SensitiveArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(_context: &Context, _args: Args) -> Result<ExitCode, Failure> {
    Err(Failure::Usage("groma destroy is not there yet".to_owned()))
}
