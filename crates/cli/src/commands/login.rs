//! `groma login`: gets and keeps a token for a host.

use std::process::ExitCode;

use super::Context;
use super::shared::{InputArgs, JsonArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Get a token for a host and keep it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The name of the host.
    #[arg(value_name = "HOST")]
    pub(crate) host: String,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(_context: &Context, _args: Args) -> Result<ExitCode, Failure> {
    Err(Failure::Usage("groma login is not there yet".to_owned()))
}
