//! `groma show`: a state or a saved plan, for people or as JSON.

use std::path::PathBuf;
use std::process::ExitCode;

use super::Context;
use super::shared::{JsonArgs, SensitiveArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Show the state or a saved plan.
///
/// Without arguments, shows the state of the current workspace. A file can be a saved plan or a state.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A saved plan, or a state file.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Show the state of the current workspace.
    #[arg(long)]
    pub(crate) state: bool,

    /// Show this saved plan.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,

    /// Show the configuration. Needs -json.
    #[arg(long)]
    pub(crate) config: bool,

    /// Show the configuration of one module. Needs -json.
    #[arg(long, value_name = "DIR")]
    pub(crate) module: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) sensitive: SensitiveArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(_context: &Context, _args: Args) -> Result<ExitCode, Failure> {
    Err(Failure::Usage("groma show is not there yet".to_owned()))
}
