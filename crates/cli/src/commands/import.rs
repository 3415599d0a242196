//! `groma import`: makes an object that exists already part of the state.

use std::path::PathBuf;
use std::process::ExitCode;

use super::Context;
use super::shared::{BackendArgs, InputArgs, JsonArgs, LockArgs, PathArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Take an object that exists already under management.
///
/// Reads the object with that ID and records it in the state under the address. The configuration must describe it already.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where it is in the configuration.
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,

    /// How the provider names it.
    #[arg(value_name = "ID", allow_hyphen_values = true)]
    pub(crate) id: String,

    /// The directory with the configuration.
    #[arg(long, value_name = "DIR")]
    pub(crate) config: Option<PathBuf>,

    /// How many things are done at the same time.
    #[arg(long, default_value_t = 10, allow_hyphen_values = true, value_name = "N")]
    pub(crate) parallelism: i64,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) lock: LockArgs,

    #[command(flatten)]
    pub(crate) paths: PathArgs,

    #[command(flatten)]
    pub(crate) backend: BackendArgs,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(_context: &Context, _args: Args) -> Result<ExitCode, Failure> {
    Err(Failure::Usage("groma import is not there yet".to_owned()))
}
