//! `groma plan`: shows what would be done, and may save it.

use std::path::PathBuf;
use std::process::ExitCode;

use super::Context;
use super::shared::{InputArgs, JsonArgs, LockArgs, OperationArgs, PathArgs, SensitiveArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Show what would be done.
///
/// Makes a plan of what has to be created, changed and destroyed so that everything is as the configuration says. Does none of it.
/// The plan can be saved to a file, and `groma apply FILE` does exactly that.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Save the plan to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Exit with 0 if there is nothing to do, 2 if there is, and 1 if something is wrong.
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,

    /// Write configuration for what import blocks import and nothing describes yet to this new file.
    #[arg(long, value_name = "FILE")]
    pub(crate) generate_config_out: Option<PathBuf>,

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
    Err(Failure::Usage("groma plan is not there yet".to_owned()))
}
