//! `groma stack`: Stacks in a cluster, for people. Everything here goes through the objects that the operator works on; nothing talks to
//! the operator itself. As `kubectl-groma` on the path, `kubectl groma get` is `groma stack get`.

mod approve;
mod cancel;
mod describe;
mod events;
mod files;
mod get;
mod logs;
mod orphans;
mod outputs;
mod own;
mod plan;
mod preview;
pub(super) mod reach;
mod reconcile;
mod restore_state;
mod suspend;
mod table;
mod tree;
pub(super) mod trouble;
mod unlock;

use std::process::ExitCode;

use groma_model::span::SourceMap;

use super::Context;
use crate::failure::Failure;
use crate::ui::Ui;
use trouble::Trouble;

/// Look at Stacks in a cluster, and decide about their plans.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    #[command(visible_alias = "list")]
    Get(get::Args),
    Describe(describe::Args),
    Plan(plan::Args),
    Approve(approve::Args),
    Reconcile(reconcile::Args),
    Suspend(suspend::Args),
    Resume(suspend::ResumeArgs),
    Cancel(cancel::Args),
    Tree(tree::Args),
    Events(events::Args),
    Logs(logs::Args),
    Outputs(outputs::Args),
    Unlock(unlock::Args),
    Orphans(orphans::Args),
    RestoreState(restore_state::Args),
    Own(own::Args),
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let done = match args.what {
        What::Get(args) => get::run(context, args),
        What::Describe(args) => describe::run(context, args),
        What::Plan(args) => plan::run(context, args),
        What::Approve(args) => approve::run(context, args),
        What::Reconcile(args) => reconcile::run(context, args),
        What::Suspend(args) => suspend::run(context, args),
        What::Resume(args) => suspend::resume(context, args),
        What::Cancel(args) => cancel::run(context, args),
        What::Tree(args) => tree::run(context, args),
        What::Events(args) => events::run(context, args),
        What::Logs(args) => logs::run(context, args),
        What::Outputs(args) => outputs::run(context, args),
        What::Unlock(args) => unlock::run(context, args),
        What::Orphans(args) => orphans::run(context, args),
        What::RestoreState(args) => restore_state::run(context, args),
        What::Own(args) => own::run(context, args),
    };
    match done {
        Ok(code) => Ok(code),
        Err(Trouble::Failure(failure)) => Err(failure),
        Err(trouble) => {
            Ui::new(&context.environment, false).diagnostics(&trouble.diagnostic().into(), &SourceMap::new());
            Ok(ExitCode::FAILURE)
        }
    }
}
