//! `groma state history`: earlier states that are kept on this machine.

use std::process::ExitCode;

use groma_run::state_access::{Entry, PathOverrides, StateAccess};
use serde_json::json;

use super::editing::DeskArgs;
use crate::commands::Context;
use crate::failure::Failure;

/// List earlier states of the current workspace that are kept on this machine.
///
/// After every command that stores a state, a copy is kept in the data folder, up to thirty. Backup files beside the state are
/// listed as well.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) desk: DeskArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let mut desk = args.desk.open(context)?;
    let access = match StateAccess::open(&mut desk.session, &PathOverrides::default()) {
        Ok(access) => access,
        Err(problems) => return desk.failed(&problems),
    };
    for (at, entry) in access.history().iter().enumerate() {
        let read = entry.read(access.codec());
        let (serial, objects) = match &read {
            Ok(state) => (Some(state.serial), Some(state.managed_objects().len())),
            Err(_) => (entry.serial, None),
        };
        let number = at + 1;
        let time = time_of(entry);
        let shown = match (serial, objects) {
            (Some(serial), Some(objects)) => format!("{number:>3}  {time}  serial {serial}, {objects} objects"),
            _ => format!("{number:>3}  {time}  cannot be read"),
        };
        let members = json!({
            "type": "earlier_state",
            "number": number,
            "time": time,
            "serial": serial,
            "objects": objects,
            "bytes": entry.bytes,
            "path": entry.path,
        });
        desk.announcer.tell(&shown, members)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// When it was stored.
pub(super) fn time_of(entry: &Entry) -> String {
    let time = jiff::Timestamp::try_from(entry.time).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
