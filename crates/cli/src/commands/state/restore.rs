//! `groma state restore`: puts an earlier state back.

use std::process::ExitCode;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::state::State;
use groma_run::state_access::{PathOverrides, StateAccess};

use super::editing::{Desk, Done, Lock, while_locked};
use crate::commands::Context;
use crate::commands::shared::{BackendArgs, JsonArgs, LockArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Put an earlier state back, as a successor of the one that is there.
///
/// No object is changed: only what groma knows of them. What is there now stays in the history. A state that is damaged or gone
/// can be replaced like this, too.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which: its number in "groma state history".
    #[arg(value_name = "NUMBER")]
    pub(crate) number: usize,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) lock: LockArgs,

    #[command(flatten)]
    pub(crate) backend: BackendArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let mut desk = Desk::new(context, &args.view, &args.json, args.variables)?;
    let opened = StateAccess::open(&mut desk.session, &PathOverrides::default());
    let restored = opened.and_then(|mut access| {
        let earlier = earlier(&access, args.number)?;
        let aside = access.set_damaged_aside()?;
        while_locked(&mut access, Lock::new("state-restore", &args.lock), |access| {
            let serial = access.restore(&earlier)?;
            let mut lines =
                vec![format!("The state is as it was with serial {}; it has serial {serial} now.", earlier.serial)];
            lines.extend(aside.map(|path| format!("What could not be read was kept as {path}.")));
            Ok(Done { lines, ..Done::default() })
        })
    });
    desk.finish(restored)
}

/// An earlier state, by its number.
pub(super) fn earlier(access: &StateAccess, number: usize) -> Result<State, Diagnostics> {
    let entries = access.history();
    let entry = number.checked_sub(1).and_then(|at| entries.get(at)).ok_or_else(|| {
        let detail = format!("There is no earlier state {number}. \"groma state history\" lists those that there are.");
        Diagnostic::error("No such state", detail)
    })?;
    Ok(entry.read(access.codec())?)
}
