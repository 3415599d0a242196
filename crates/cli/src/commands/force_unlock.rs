//! `groma force-unlock`: takes away a lock that somebody left behind.

use std::process::ExitCode;

use groma_run::state_access::{PathOverrides, StateAccess};

use super::Context;
use super::state::editing::{DeskArgs, Done};
use crate::failure::Failure;

/// Take away the lock of a state.
///
/// Only for locks that were left behind: if somebody still works with the state, both will overwrite each other.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The ID of the lock; the message about the lock shows it.
    #[arg(value_name = "LOCK_ID")]
    pub(crate) lock_id: String,

    /// Do not ask.
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) desk: DeskArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let mut desk = args.desk.open(context)?;
    let opened = StateAccess::open(&mut desk.session, &PathOverrides::default());
    let done = opened.and_then(|mut access| {
        access.force_unlock(&args.lock_id)?;
        let headline = desk.announcer.ui().good("groma state has been successfully unlocked!");
        let rest =
            "The state has been unlocked, and groma commands should now be able to\nobtain a new lock on the state.";
        Ok(Done { lines: vec![format!("{headline}\n\n{rest}")], ..Done::default() })
    });
    desk.finish(done)
}
