//! `groma taint`: the next plan replaces an object.

use std::process::ExitCode;

use super::Context;
use super::shared::{BackendArgs, JsonArgs, LockArgs, PathArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Mark an object as damaged, so that the next plan replaces it.
///
/// `groma apply -replace=ADDRESS` does the same without changing the state first.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which one.
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,

    /// Succeed even if there is no such object.
    #[arg(long)]
    pub(crate) allow_missing: bool,

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
    Err(Failure::Usage("groma taint is not there yet".to_owned()))
}
