//! `groma untaint`: an object is fine after all.

use std::process::ExitCode;

use groma_run::state_access::StateAccess;
use groma_run::state_edit::{Missing, Taint, set_taint, taint_address};

use super::Context;
use super::shared::{BackendArgs, JsonArgs, LockArgs, PathArgs, VariableArgs, ViewArgs};
use super::state::editing::{Desk, Done, Lock, overrides};
use crate::failure::Failure;

/// Take back that an object is marked as damaged.
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
    let address = match taint_address(&args.address, Taint::Remove) {
        Ok(address) => address,
        Err(problem) => return desk.refuse(problem),
    };
    let missing = if args.allow_missing { Missing::Allowed } else { Missing::Refused };
    let access = StateAccess::open(&mut desk.session, &overrides(args.paths));
    desk.edit(access, Lock::new("untaint", &args.lock), |state, _| {
        let warning = set_taint(state, &address, Taint::Remove, missing)?;
        let line = format!("Resource instance {address} has been successfully untainted.");
        let lines = if warning.is_some() { Vec::new() } else { vec![line] };
        Ok(Done { save: warning.is_none(), lines, warnings: warning.into_iter().collect() })
    })
}
