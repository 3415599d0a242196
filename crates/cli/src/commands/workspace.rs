//! `groma workspace`: several states for one configuration.

mod delete;
mod list;
mod new;
mod select;
mod show;

use std::process::ExitCode;

use super::Context;
use crate::failure::Failure;

/// Several states for one configuration.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Delete(delete::Args),
    List(list::Args),
    New(new::Args),
    Select(select::Args),
    Show(show::Args),
}

/// `is_env`: whether it was called by its old name, `groma env`.
pub(super) fn run(context: &Context, args: Args, is_env: bool) -> Result<ExitCode, Failure> {
    let _ = is_env;
    match args.what {
        What::Delete(args) => delete::run(context, args),
        What::List(args) => list::run(context, args),
        What::New(args) => new::run(context, args),
        What::Select(args) => select::run(context, args),
        What::Show(args) => show::run(context, args),
    }
}
