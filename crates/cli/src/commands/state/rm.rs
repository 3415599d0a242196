//! `groma state rm`: forgets objects without destroying them.

use std::process::ExitCode;

use groma_run::state_edit;

use super::editing::{Done, EditArgs, Lock, overrides};
use crate::commands::Context;
use crate::failure::Failure;

/// Forget objects without destroying them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which ones.
    #[arg(value_name = "ADDRESS", required = true)]
    pub(crate) addresses: Vec<String>,

    /// Only show what would be forgotten.
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) edit: EditArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let mut desk = args.edit.desk(context)?;
    let access = desk.open_edited(&overrides(args.edit.paths));
    desk.edit(access, Lock::new("state-rm", &args.edit.lock), |state, _| {
        let removed = state_edit::remove_instances(state, &args.addresses)?;
        if removed.is_empty() && !args.dry_run {
            return Err(state_edit::nothing_found().into());
        }
        let did = if args.dry_run { "Would remove" } else { "Removed" };
        let mut lines: Vec<String> = removed.iter().map(|address| format!("{did} {address}")).collect();
        match (args.dry_run, removed.len()) {
            (true, 0) => lines.push("Would have removed nothing.".to_owned()),
            (true, _) => {}
            (false, count) => lines.push(format!("Successfully removed {count} resource instance(s).")),
        }
        Ok(Done { save: !args.dry_run, lines, ..Done::default() })
    })
}
