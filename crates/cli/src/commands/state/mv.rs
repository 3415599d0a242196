//! `groma state mv`: gives objects another address.

use std::path::PathBuf;
use std::process::ExitCode;

use groma_model::diag::Diagnostics;
use groma_run::state::State;
use groma_run::state_access::{PathOverrides, StateAccess};
use groma_run::state_edit::{self, Moved};

use super::editing::{Done, EditArgs, Lock, while_locked};
use crate::commands::Context;
use crate::failure::Failure;

/// Give a resource, resource instance or module another address.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The address it has.
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,

    /// The address it gets.
    #[arg(value_name = "DESTINATION")]
    pub(crate) destination: String,

    /// Only show what would be moved.
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Where the previous state of -state-out is kept.
    #[arg(long, allow_hyphen_values = true, value_name = "FILE")]
    pub(crate) backup_out: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) edit: EditArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let mut desk = args.edit.desk(context)?;
    let lock = Lock::new("state-mv", &args.edit.lock);
    let paths = PathOverrides { state: args.edit.paths.state, state_out: None, backup: args.edit.paths.backup };
    let access = desk.open_edited(&paths);
    let (source, destination, dry_run) = (&args.source, &args.destination, args.dry_run);
    let Some(state_out) = args.edit.paths.state_out else {
        return desk.edit(access, lock, |state, _| {
            let moved = state_edit::move_objects(state, None, source, destination)?;
            Ok(Done { save: !dry_run, lines: lines(&moved, dry_run), ..Done::default() })
        });
    };
    let paths = PathOverrides { state: Some(state_out), state_out: None, backup: args.backup_out };
    let other = desk.open_edited(&paths);
    let done = access.and_then(|mut from| {
        let mut into = other?;
        while_locked(&mut from, lock, |from| {
            while_locked(&mut into, lock, |into| {
                let moved = between(from, into, (source, destination), dry_run)?;
                Ok(Done { lines: lines(&moved, dry_run), ..Done::default() })
            })
        })
    });
    desk.finish(done)
}

/// Moves from one state to another. The one that gets something is saved first: if the other cannot be saved then, the object
/// is in both rather than in none.
fn between(
    from: &mut StateAccess,
    into: &mut StateAccess,
    (source, destination): (&str, &str),
    dry_run: bool,
) -> Result<Vec<Moved>, Diagnostics> {
    let mut giving = State::clone(from.read()?.ok_or_else(state_edit::no_state)?.as_ref());
    let mut getting = into.read()?.map(|state| State::clone(&state)).unwrap_or_default();
    let moved = state_edit::move_objects(&mut giving, Some(&mut getting), source, destination)?;
    if !dry_run {
        into.save(&mut getting)?;
        from.save(&mut giving)?;
    }
    Ok(moved)
}

fn lines(moved: &[Moved], dry_run: bool) -> Vec<String> {
    let does = if dry_run { "Would move" } else { "Move" };
    let mut lines: Vec<String> =
        moved.iter().map(|moved| format!("{does} {:?} to {:?}", moved.from, moved.to)).collect();
    if !dry_run {
        lines.push(format!("Successfully moved {} object(s).", moved.len()));
    }
    lines
}
