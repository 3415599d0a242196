//! `groma stack reconcile`: asks for a run now.

use std::process::ExitCode;
use std::time::Duration;

use groma_operator::api::names;
use groma_operator::api::shared::{Length, Truth};
use groma_operator::api::stack::Stack;
use jiff::Timestamp;

use super::get::ready;
use super::reach::{Desk, ReachArgs, StackName, annotate};
use super::trouble::Trouble;
use crate::commands::Context;

/// How often it is looked.
const PAUSE: Duration = Duration::from_millis(500);

/// Ask for a run of a Stack now.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which Stack: NAME or NAMESPACE/NAME.
    name: StackName,

    /// Wait until that has been done, or somebody has to agree to its plan. Exits with 1 if it went wrong.
    #[arg(long)]
    wait: bool,

    /// How long to wait: 30s, 5m, 1h30m.
    #[arg(long, value_name = "LENGTH", default_value = "30m", value_parser = length)]
    timeout: Length,

    #[command(flatten)]
    reach: ReachArgs,
}

fn length(text: &str) -> Result<Length, String> {
    Length::parse(text).map_err(|problem| problem.to_string())
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Trouble> {
    let desk = args.reach.open(context)?;
    let wanted = Timestamp::now().to_string();
    let (namespace, name) = desk.change_stack(&args.name, |object| {
        annotate(object, names::REQUESTED_AT, &wanted);
        Ok(())
    })?;
    desk.ui.message(&format!("A run of {namespace}/{name} is asked for.\n"));
    if args.wait { wait(&desk, &args, &wanted) } else { Ok(ExitCode::SUCCESS) }
}

/// Waits until what was asked for has been done.
fn wait(desk: &Desk, args: &Args, wanted: &str) -> Result<ExitCode, Trouble> {
    let mut last = String::new();
    let pauses = args.timeout.0.as_millis() / PAUSE.as_millis();
    for _ in 0..=pauses {
        let stack = desk.stack(&args.name)?;
        let message = ready(&stack).map(|ready| ready.message.clone()).unwrap_or_default();
        if message != last {
            desk.ui.message(&format!("{message}\n"));
            last = message;
        }
        match state(&stack, wanted) {
            State::UnderWay => desk.pause(PAUSE),
            State::Well => return Ok(ExitCode::SUCCESS),
            State::Wrong => return Ok(ExitCode::FAILURE),
        }
    }
    let detail = format!("It was not done within {}. It goes on, and \"groma stack describe\" says how.", args.timeout);
    Err(Trouble::Refused("Not done yet", detail))
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    UnderWay,
    Well,
    Wrong,
}

fn state(stack: &Stack, wanted: &str) -> State {
    let Some(status) = &stack.status else { return State::UnderWay };
    // Operators of before said that there for everybody.
    let handled = [&status.last_handled_request, &status.last_handled_reconcile_at];
    if handled.into_iter().all(|handled| handled.as_deref() != Some(wanted)) {
        return State::UnderWay;
    }
    // Somebody has to agree: that is all that can be done without them.
    if status.pending.is_some() {
        return State::Well;
    }
    if status.last_run.as_ref().is_some_and(|run| !run.phase.is_over()) {
        return State::UnderWay;
    }
    match ready(stack).map(|ready| ready.status) {
        Some(Truth::True) => State::Well,
        Some(Truth::False) => State::Wrong,
        Some(Truth::Unknown) | None => State::UnderWay,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn after(handled: &str, ready: &str, phase: &str, more: serde_json::Value) -> State {
        let mut status = json!({
            "lastHandledRequest": handled,
            "lastRun": {"name": "a-1", "number": 1, "phase": phase},
            "conditions": [{
                "type": "Ready", "status": ready, "reason": "r", "message": "m", "lastTransitionTime": "2026-01-01T00:00:00Z",
            }],
        });
        status.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let stack = json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "metadata": {"name": "a"},
            "spec": {"source": {"inline": {}}}, "status": status,
        });
        state(&serde_json::from_value(stack).unwrap(), "now")
    }

    #[test]
    fn it_is_done_when_it_was_heeded_and_nothing_is_under_way() {
        assert_eq!(after("before", "True", "Succeeded", json!({})), State::UnderWay);
        assert_eq!(after("now", "True", "Planning", json!({})), State::UnderWay);
        assert_eq!(after("now", "Unknown", "Succeeded", json!({})), State::UnderWay);
        assert_eq!(after("now", "True", "Succeeded", json!({})), State::Well);
        assert_eq!(after("now", "False", "Failed", json!({})), State::Wrong);
        let pending = json!({"pending": {"plan": "p", "run": "a-1", "changes": {"add": 1, "change": 0, "destroy": 0}}});
        assert_eq!(after("now", "False", "AwaitingApproval", pending), State::Well);
    }
}
