//! `groma destroy`: plans to destroy everything, asks, and does it.

use std::process::ExitCode;

use super::{Context, apply};
use crate::failure::Failure;

/// Destroy everything that this configuration manages.
///
/// The same as `groma apply -destroy`.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    #[command(flatten)]
    apply: apply::Args,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    apply::carry_out(context, args.apply, apply::Called::Destroy)
}
