//! `groma operator`: works on what Stacks in a cluster ask for, and says what a cluster needs for that.

mod crds;
mod execute;
mod install;
mod serve;
mod standalone;
mod tied;

use std::process::ExitCode;

use super::Context;
use crate::failure::Failure;

pub(super) use serve::{EngineArgs, Folders, workshop};

/// Keep infrastructure as objects in a cluster ask for it, or files in a directory.
///
/// Watches Stacks, and plans and applies their configurations. Without a subcommand it works until it is told to end. With -standalone it
/// needs no cluster.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<What>,

    #[command(flatten)]
    serve: serve::ServeArgs,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Crds(crds::Args),
    Install(install::Args),
    #[command(hide = true)]
    Execute(execute::Args),
    #[command(hide = true)]
    Tied(tied::Args),
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    match args.what {
        None => serve::run(context, args.serve),
        Some(What::Crds(args)) => crds::run(context, args),
        Some(What::Install(args)) => install::run(context, args),
        Some(What::Execute(args)) => execute::run(context, args),
        Some(What::Tied(args)) => Err(tied::run(context, &args)),
    }
}
