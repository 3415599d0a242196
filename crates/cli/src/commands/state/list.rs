//! `groma state list`: the addresses in a state.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::commands::Context;
use crate::commands::shared::{JsonArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// List the addresses of what is in the state.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only what is at or below these.
    #[arg(value_name = "ADDRESS")]
    pub(crate) addresses: Vec<String>,

    /// Only what has this ID.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,

    /// Read the state from this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(_context: &Context, _args: Args) -> Result<ExitCode, Failure> {
    Err(Failure::Usage("groma state list is not there yet".to_owned()))
}
