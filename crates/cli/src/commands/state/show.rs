//! `groma state show`: the attributes of one object.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::commands::Context;
use crate::commands::shared::{JsonArgs, SensitiveArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Show the attributes of a resource instance.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which one.
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,

    /// Read the state from this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,

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
    Err(Failure::Usage("groma state show is not there yet".to_owned()))
}
