//! `groma workspace show`: the current workspace.

use std::process::ExitCode;

use groma_model::diag::Diagnostic;
use groma_run::state::Selection;

use crate::commands::Context;
use crate::commands::shared::{JsonArgs, VariableArgs, ViewArgs};
use crate::commands::state::editing::Desk;
use crate::failure::Failure;

/// Show the name of the current workspace.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let desk = Desk::new(context, &args.view, &JsonArgs::default(), args.variables)?;
    let start = desk.session.start();
    let selection =
        Selection { data_dir: start.working_dir.join(&start.data_dir), environment: start.workspace.clone() };
    match selection.current() {
        Ok(workspace) => desk.announcer.say(workspace.as_str())?,
        Err(problem) => {
            let detail = format!("Failed getting the current workspace: {problem}.");
            return desk.refuse(Diagnostic::error("Error getting the current workspace", detail));
        }
    }
    Ok(ExitCode::SUCCESS)
}
