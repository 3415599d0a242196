//! `groma apply`: plans, asks, and does it; or does what a saved plan says.

use std::path::PathBuf;
use std::process::ExitCode;

use super::Context;
use super::shared::{InputArgs, JsonArgs, LockArgs, OperationArgs, PathArgs, SensitiveArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Create, change and destroy what the configuration asks for.
///
/// Makes a plan, shows it and asks before anything is done. With a plan file of `groma plan -out`, does exactly what was planned,
/// without asking.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A plan that was saved by `groma plan -out`.
    #[arg(value_name = "PLAN")]
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
    Err(Failure::Usage("groma apply is not there yet".to_owned()))
}
