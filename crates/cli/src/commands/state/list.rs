//! `groma state list`: the addresses in a state.

use std::path::PathBuf;
use std::process::ExitCode;

use groma_model::address::AbsInstance;
use groma_model::diag::Diagnostics;
use groma_run::engine::pending;
use groma_run::state::State;
use groma_run::state_edit;

use crate::commands::Context;
use serde_json::json;

use super::editing::DeskArgs;
use crate::failure::Failure;

/// List the addresses of what is in the state.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only what is at or below these.
    #[arg(value_name = "ADDRESS")]
    pub(crate) addresses: Vec<String>,

    /// Only what has this ID.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,

    /// Read the state from this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) desk: DeskArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let mut desk = args.desk.open(context)?;
    let state = match desk.read(args.state) {
        Ok(Some(state)) => state,
        Ok(None) => return desk.refuse(state_edit::no_state()),
        Err(problems) => return desk.failed(&problems),
    };
    let found = match find(&state, &args.addresses) {
        Ok(found) => found,
        Err(problems) => return desk.failed(&problems),
    };
    for address in found.iter().filter(|address| has_id(&state, address, args.id.as_deref())) {
        desk.announcer.tell(&address.to_string(), json!({ "type": "resource_address" }))?;
    }
    // Beside the list, which others read.
    for (address, pending) in pending::of_state(&state).iter().filter(|(address, _)| found.contains(address)) {
        let seen = pending.seen_in_brief().map(|seen| format!(" (last seen: {seen})")).unwrap_or_default();
        let note = format!("{address} is not ready: waiting for {}{seen}\n", pending.waiting_for);
        desk.announcer.ui().message(&note);
    }
    Ok(ExitCode::SUCCESS)
}

/// What is at or below the addresses, in their order; everything without any.
fn find(state: &State, addresses: &[String]) -> Result<Vec<AbsInstance>, Diagnostics> {
    if addresses.is_empty() {
        return Ok(state_edit::all_instances(state));
    }
    let mut problems = Diagnostics::new();
    let mut found = Vec::new();
    for address in addresses {
        match state_edit::find_instances(state, address) {
            Ok(instances) => found.extend(instances),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.has_errors() { Err(problems) } else { Ok(found) }
}

fn has_id(state: &State, address: &AbsInstance, wanted: Option<&str>) -> bool {
    let Some(wanted) = wanted.filter(|id| !id.is_empty()) else { return true };
    let object = state_edit::find_instance(state, address).and_then(|instance| instance.current.as_ref());
    object.and_then(state_edit::object_id).is_some_and(|id| id == wanted)
}
