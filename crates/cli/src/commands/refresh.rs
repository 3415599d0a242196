//! `groma refresh`: brings the state up to date with what exists.

use std::process::ExitCode;

use super::Context;
use super::shared::{InputArgs, JsonArgs, LockArgs, OperationArgs, PathArgs, SensitiveArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Update the state to match what exists.
///
/// The same as `groma apply -refresh-only -auto-approve`. It does not ask, so what went missing outside of groma is forgotten: use
/// `groma apply -refresh-only` to see that first.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
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
    Err(Failure::Usage("groma refresh is not there yet".to_owned()))
}
