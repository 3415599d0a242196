//! `groma workspace delete`: removes a workspace.

use std::process::ExitCode;

use groma_model::address::AbsObject;
use groma_model::diag::Diagnostic;
use groma_run::state::WorkspaceName;
use groma_run::state_access::{PathOverrides, StateAccess};

use super::select::missing;
use crate::commands::Context;
use crate::commands::shared::{JsonArgs, LockArgs, VariableArgs, ViewArgs};
use crate::commands::state::editing::{Desk, Done, Lock, while_locked};
use crate::failure::Failure;

/// Delete a workspace.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its name.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Even if its state is not empty; what is in it will not be managed any more.
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) lock: LockArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let mut desk = Desk::new(context, &args.view, &args.json, args.variables)?;
    let lock = Lock::new("workspace-delete", &args.lock);
    let done = StateAccess::open(&mut desk.session, &PathOverrides::default()).and_then(|access| {
        let name = WorkspaceName::parse(&args.name).map_err(|problem| problem.diagnostic())?;
        if !access.workspaces()?.contains(&name) {
            return Err(missing(&name).into());
        }
        if *access.workspace() == name {
            let summary = format!("Workspace {:?} is your active workspace", name.as_str());
            let detail = "You cannot delete the workspace that you are on. Select another one and try again.";
            return Err(Diagnostic::error(summary, detail).into());
        }
        let mut tracked = 0;
        let mut done = while_locked(&mut access.another(&name)?, lock, |target| {
            let objects = target.read()?.map(|state| state.managed_objects()).unwrap_or_default();
            tracked = objects.len();
            if tracked == 0 || args.force { Ok(Done::default()) } else { Err(not_empty(&name, &objects).into()) }
        })?;
        // Not under the lock: that is on the file that goes.
        access.delete_workspace(&name)?;
        done.lines.push(desk.announcer.ui().good(&format!("Deleted workspace {:?}!", name.as_str())));
        done.warnings.extend((tracked > 0).then(|| was_not_empty(&name)));
        Ok(done)
    });
    desk.finish(done)
}

fn not_empty(name: &WorkspaceName, objects: &[AbsObject]) -> Diagnostic {
    let list: Vec<String> = objects.iter().map(|object| format!("\n  - {object}")).collect();
    let list = list.concat();
    let detail = format!(
        "Workspace {:?} is currently tracking the following resource instances:{list}\n\nIf the workspace went, nobody would know \
         about them any more, and they would have to be deleted by hand. Destroy them with \"groma destroy\" before.\n\nTo delete \
         the workspace anyway and forget about these objects, use the -force option.",
        name.as_str()
    );
    Diagnostic::error("Workspace is not empty", detail)
}

fn was_not_empty(name: &WorkspaceName) -> Diagnostic {
    let detail =
        "What was managed in the deleted workspace may still exist, but groma does not know about it any more.";
    Diagnostic::warning(format!("{:?} was non-empty", name.as_str()), detail)
}
