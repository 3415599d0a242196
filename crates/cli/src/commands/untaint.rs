//! `groma untaint`: an object is fine after all.

use std::process::ExitCode;

use groma_run::state_edit::Taint;

use super::Context;
use super::taint::{MarkArgs, mark};
use crate::failure::Failure;

/// Take back that an object is marked as damaged.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    mark: MarkArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    mark(context, args.mark, Taint::Remove)
}
