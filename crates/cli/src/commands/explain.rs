//! `groma explain`: why a resource is created, changed, replaced or blocked.

use std::path::PathBuf;
use std::process::ExitCode;

use super::Context;
use super::shared::{InputArgs, LockArgs, OperationArgs, PathArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Say why something is planned for a resource.
///
/// Looks into a saved plan, or makes a plan first.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which resource, resource instance or module.
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,

    /// A saved plan to look into.
    #[arg(value_name = "PLAN")]
    pub(crate) plan_file: Option<PathBuf>,

    /// Answer as JSON.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) operation: OperationArgs,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) lock: LockArgs,

    #[command(flatten)]
    pub(crate) paths: PathArgs,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(_context: &Context, _args: Args) -> Result<ExitCode, Failure> {
    Err(Failure::Usage("groma explain is not there yet".to_owned()))
}
