//! `groma state pull`: the state as it is.

use std::process::ExitCode;

use groma_model::diag::Diagnostic;
use groma_run::state::{Layout, encode};

use super::editing::Desk;
use crate::commands::Context;
use crate::commands::shared::{JsonArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Print the state of the current workspace.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let mut desk = Desk::new(context, &args.view, &JsonArgs::default(), args.variables)?;
    let state = match desk.read(None) {
        Ok(Some(state)) => state,
        // Nothing there, nothing said.
        Ok(None) => return Ok(ExitCode::SUCCESS),
        Err(problems) => return desk.failed(&problems),
    };
    match encode(&state, Layout::Compact) {
        Ok(text) => desk.announcer.ui().line(&text)?,
        Err(problem) => {
            let detail = format!("The state has no text: {problem}.");
            return desk.refuse(Diagnostic::error("Failed to write state", detail));
        }
    }
    Ok(ExitCode::SUCCESS)
}
