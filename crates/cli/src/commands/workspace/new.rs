//! `groma workspace new`: makes a workspace and goes there.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::state::{State, WorkspaceName};
use groma_run::state_access::{PathOverrides, StateAccess};

use crate::commands::Context;
use crate::commands::shared::{JsonArgs, LockArgs, VariableArgs, ViewArgs};
use crate::commands::state::editing::{Desk, Done, Lock, while_locked};
use crate::failure::Failure;
use crate::ui::Ui;

/// Create a workspace and select it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its name.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Start with this state.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,

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
    let name = match WorkspaceName::parse(&args.name) {
        Ok(name) => name,
        Err(problem) => return desk.refuse(problem.diagnostic()),
    };
    if context.environment.workspace.as_ref().is_some_and(|chosen| *chosen != args.name) {
        return desk.refuse(overridden());
    }
    let done = StateAccess::open(&mut desk.session, &PathOverrides::default()).and_then(|access| {
        if access.workspaces()?.contains(&name) {
            let detail = "A workspace with this name is there already. Select it with \"groma workspace select\".";
            return Err(Diagnostic::error(format!("Workspace {:?} already exists", name.as_str()), detail).into());
        }
        // Whether there is a state to start with is known before anything is made.
        let first =
            args.state.as_ref().map(|file| first_state(&access, &context.working_dir.join(file))).transpose()?;
        access.create_workspace(&name)?;
        access.select_workspace(&name)?;
        let mut done = Done { lines: vec![created(*desk.announcer.ui(), &name)], ..Done::default() };
        if let Some(mut state) = first {
            let mut target = access.another(&name)?;
            let saved = while_locked(&mut target, Lock::new("workspace-new", &args.lock), |target| {
                target.read()?;
                target.save(&mut state)?;
                Ok(Done::default())
            })?;
            done.warnings = saved.warnings;
        }
        Ok(done)
    });
    desk.finish(done)
}

/// What is said about a workspace that was just made.
pub(super) fn created(ui: Ui, name: &WorkspaceName) -> String {
    let headline = ui.good(&format!("Created and switched to workspace {:?}!", name.as_str()));
    format!(
        "{headline}\n\nYou're now on a new, empty workspace. Workspaces isolate their state,\nso if you run \"groma plan\" groma \
         will not see any existing state\nfor this configuration."
    )
}

fn first_state(access: &StateAccess, file: &Path) -> Result<State, Diagnostics> {
    let bytes = std::fs::read(file).map_err(|problem| {
        let detail = match problem.kind() {
            std::io::ErrorKind::NotFound => format!("There is no file {}.", file.display()),
            _ => format!("{}: {problem}.", file.display()),
        };
        Diagnostic::error("Error opening the given state", detail)
    })?;
    access.decode(&bytes, &file.display().to_string())
}

fn overridden() -> Diagnostic {
    Diagnostic::error(
        "The workspace is overridden using the TF_WORKSPACE environment variable",
        "A new workspace is also selected, which this variable prevents. Unset it, or let it name the workspace that you want to \
         create, and run this command again.",
    )
}
