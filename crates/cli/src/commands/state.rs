//! `groma state`: commands that look into the state and change it without planning.

mod diff;
pub(super) mod editing;
mod history;
mod list;
mod mv;
mod pull;
mod push;
mod replace_provider;
mod restore;
mod rm;
mod show;

use std::process::ExitCode;

use super::Context;
use crate::failure::Failure;

/// Look into the state, and change it without planning.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Diff(diff::Args),
    History(history::Args),
    #[command(visible_alias = "ls")]
    List(list::Args),
    #[command(visible_alias = "move")]
    Mv(mv::Args),
    Pull(pull::Args),
    Push(push::Args),
    ReplaceProvider(replace_provider::Args),
    Restore(restore::Args),
    #[command(visible_alias = "remove")]
    Rm(rm::Args),
    Show(show::Args),
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    match args.what {
        What::Diff(args) => diff::run(context, args),
        What::History(args) => history::run(context, args),
        What::List(args) => list::run(context, args),
        What::Mv(args) => mv::run(context, args),
        What::Pull(args) => pull::run(context, args),
        What::Push(args) => push::run(context, args),
        What::ReplaceProvider(args) => replace_provider::run(context, args),
        What::Restore(args) => restore::run(context, args),
        What::Rm(args) => rm::run(context, args),
        What::Show(args) => show::run(context, args),
    }
}
