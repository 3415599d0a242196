//! `groma logout`: forgets the token for a host.

use std::process::ExitCode;

use super::Context;
use super::shared::{JsonArgs, ViewArgs};
use crate::failure::Failure;

/// Remove the token of a host that `groma login` kept.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The name of the host.
    #[arg(value_name = "HOST")]
    pub(crate) host: String,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(_context: &Context, _args: Args) -> Result<ExitCode, Failure> {
    Err(Failure::Usage("groma logout is not there yet".to_owned()))
}
