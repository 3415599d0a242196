//! `groma force-unlock`: takes away a lock that somebody left behind.

use std::process::ExitCode;

use super::Context;
use super::shared::{JsonArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Take away the lock of a state.
///
/// Only for locks that were left behind: if somebody still works with the state, both will overwrite each other.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The ID of the lock; the message about the lock shows it.
    #[arg(value_name = "LOCK_ID")]
    pub(crate) lock_id: String,

    /// Do not ask.
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(_context: &Context, _args: Args) -> Result<ExitCode, Failure> {
    Err(Failure::Usage("groma force-unlock is not there yet".to_owned()))
}
