//! `groma refresh`: brings the state up to date with what exists.

use std::path::PathBuf;
use std::process::ExitCode;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::engine::plan::{Mode, Options};
use groma_run::operate::{Kind, Operation};
use groma_run::session::Session;

use super::Context;
use super::shared::{PlanningArgs, Stage, session};
use crate::failure::Failure;

/// Update the state to match what exists.
///
/// It does not ask, so what went missing outside of groma is forgotten: use `groma apply -refresh-only` to see that first.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    planning: PlanningArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let Some(stage) = Stage::open(context, "refresh", &args.planning)? else { return Ok(ExitCode::FAILURE) };
    let mut session = session(context, PathBuf::from("."), args.planning.variables.clone());
    let Some(options) = stage.options(&args.planning, &mut session)? else { return Ok(ExitCode::FAILURE) };
    // Of all that can be said about planning, only what is looked at matters. Outputs stay as they are.
    let options = Options { mode: Mode::Normal, refresh: true, replace: Vec::new(), ..options };
    let opened = stage.operation(context, &mut session, &args.planning, Kind::Refresh)?;
    let Some((mut operation, diagnostics)) = opened else { return Ok(ExitCode::FAILURE) };
    let done = refresh(&stage, &session, &mut operation, &options, diagnostics);
    let closed = stage.close(operation, session.sources())?;
    Ok(if done? && closed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn refresh(
    stage: &Stage,
    session: &Session,
    operation: &mut Operation,
    options: &Options,
    mut diagnostics: Diagnostics,
) -> Result<bool, Failure> {
    if operation.state().resources.is_empty() {
        let detail = "There are currently no remote objects tracked in the state, so there is nothing to refresh.";
        diagnostics.push(Diagnostic::warning("Empty or non-existent state", detail));
    }
    let watching = stage.planning();
    let (plan, found) = operation.plan(session, options, &watching.watch);
    stage.watched(watching);
    diagnostics.extend(found);
    let mut state = plan.filter(|_| !diagnostics.has_errors()).map(|plan| plan.prior_state);
    if let Some(state) = &mut state {
        diagnostics.extend(operation.save_state(session, state));
    }
    diagnostics.sort(session.sources());
    stage.diagnostics(&diagnostics, session.sources())?;
    match state {
        Some(state) if !diagnostics.has_errors() => stage.outputs(&state).map(|()| true),
        _ => Ok(false),
    }
}
