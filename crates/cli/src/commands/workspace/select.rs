//! `groma workspace select`: goes to a workspace.

use std::process::ExitCode;

use groma_model::diag::Diagnostic;
use groma_run::state::WorkspaceName;
use groma_run::state_access::{PathOverrides, StateAccess};

use super::new::created;
use crate::commands::Context;
use crate::commands::state::editing::{DeskArgs, Done};
use crate::failure::Failure;

/// Select another workspace.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its name.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Create it if it is not there.
    #[arg(long)]
    pub(crate) or_create: bool,

    #[command(flatten)]
    pub(crate) desk: DeskArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let mut desk = args.desk.open(context)?;
    if context.environment.workspace.is_some() {
        return desk.refuse(Diagnostic::error(
            "The selected workspace is overridden using the TF_WORKSPACE environment variable",
            "To select another workspace, change this variable, or unset it and run this command again.",
        ));
    }
    let name = match WorkspaceName::parse(&args.name) {
        Ok(name) => name,
        Err(problem) => return desk.refuse(problem.diagnostic()),
    };
    let done = StateAccess::open(&mut desk.session, &PathOverrides::default()).and_then(|access| {
        if *access.workspace() == name {
            return Ok(Done::default());
        }
        let ui = desk.announcer.ui();
        let line = if access.workspaces()?.contains(&name) {
            ui.good(&format!("Switched to workspace {:?}.", name.as_str()))
        } else if args.or_create {
            access.create_workspace(&name)?;
            created(*ui, &name)
        } else {
            return Err(missing(&name).into());
        };
        access.select_workspace(&name)?;
        Ok(Done { lines: vec![line], ..Done::default() })
    });
    desk.finish(done)
}

/// For a workspace that is not there.
pub(super) fn missing(name: &WorkspaceName) -> Diagnostic {
    let detail = "Create it with \"groma workspace new\", or give \"-or-create\" to \"groma workspace select\".";
    Diagnostic::error(format!("Workspace {:?} doesn't exist", name.as_str()), detail)
}
