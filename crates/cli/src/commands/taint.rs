//! `groma taint`: the next plan replaces an object. `groma untaint` is the same the other way round.

use std::process::ExitCode;

use groma_run::state_access::StateAccess;
use groma_run::state_edit::{Missing, Taint, set_taint, taint_address};

use super::Context;
use super::state::editing::{Done, EditArgs, Lock, overrides};
use crate::failure::Failure;

/// Mark an object as damaged, so that the next plan replaces it.
///
/// `groma apply -replace=ADDRESS` does the same without changing the state first.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    mark: MarkArgs,
}

/// What is marked, and in which state.
#[derive(Debug, clap::Args)]
pub(crate) struct MarkArgs {
    /// Which one.
    #[arg(value_name = "ADDRESS")]
    address: String,

    /// Succeed even if there is no such object.
    #[arg(long)]
    allow_missing: bool,

    #[command(flatten)]
    edit: EditArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    mark(context, args.mark, Taint::Set)
}

/// Marks an object, or takes the mark back.
pub(super) fn mark(context: &Context, args: MarkArgs, taint: Taint) -> Result<ExitCode, Failure> {
    let (operation, done) = match taint {
        Taint::Set => ("taint", "marked as tainted"),
        Taint::Remove => ("untaint", "successfully untainted"),
    };
    let mut desk = args.edit.desk(context)?;
    let address = match taint_address(&args.address, taint) {
        Ok(address) => address,
        Err(problem) => return desk.refuse(problem),
    };
    let missing = if args.allow_missing { Missing::Allowed } else { Missing::Refused };
    let access = StateAccess::open(&mut desk.session, &overrides(args.edit.paths));
    desk.edit(access, Lock::new(operation, &args.edit.lock), |state, _| {
        let warning = set_taint(state, &address, taint, missing)?;
        let line = format!("Resource instance {address} has been {done}.");
        let lines = if warning.is_some() { Vec::new() } else { vec![line] };
        Ok(Done { save: warning.is_none(), lines, warnings: warning.into_iter().collect() })
    })
}
