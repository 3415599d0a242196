//! `groma taint`: the next plan replaces an object.

use std::process::ExitCode;

use groma_run::state_access::StateAccess;
use groma_run::state_edit::{Missing, Taint, set_taint, taint_address};

use super::Context;
use super::shared::{BackendArgs, JsonArgs, LockArgs, PathArgs, VariableArgs, ViewArgs};
use super::state::editing::{Desk, Done, Lock, overrides};
use crate::failure::Failure;

/// Mark an object as damaged, so that the next plan replaces it.
///
/// `groma apply -replace=ADDRESS` does the same without changing the state first.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which one.
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,

    /// Succeed even if there is no such object.
    #[arg(long)]
    pub(crate) allow_missing: bool,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) lock: LockArgs,

    #[command(flatten)]
    pub(crate) paths: PathArgs,

    #[command(flatten)]
    pub(crate) backend: BackendArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let mut desk = Desk::new(context, &args.view, &args.json, args.variables)?;
    let address = match taint_address(&args.address, Taint::Set) {
        Ok(address) => address,
        Err(problem) => return desk.refuse(problem),
    };
    let missing = if args.allow_missing { Missing::Allowed } else { Missing::Refused };
    let access = StateAccess::open(&mut desk.session, &overrides(args.paths));
    desk.edit(access, Lock::new("taint", &args.lock), |state, _| {
        let warning = set_taint(state, &address, Taint::Set, missing)?;
        let line = format!("Resource instance {address} has been marked as tainted.");
        let lines = if warning.is_some() { Vec::new() } else { vec![line] };
        Ok(Done { save: warning.is_none(), lines, warnings: warning.into_iter().collect() })
    })
}
