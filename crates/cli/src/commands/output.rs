//! `groma output`: values of the root module, out of the state.

use std::path::PathBuf;
use std::process::ExitCode;

use super::Context;
use super::shared::{JsonArgs, SensitiveArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Show output values.
///
/// Shows all output values of the root module, or one of them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which one.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Show the bare text of a string, number or bool.
    #[arg(long)]
    pub(crate) raw: bool,

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
    Err(Failure::Usage("groma output is not there yet".to_owned()))
}
