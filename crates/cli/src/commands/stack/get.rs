//! `groma stack get`: a table of Stacks.

use std::process::ExitCode;

use groma_model::diag::Diagnostic;
use groma_model::span::SourceMap;
use groma_model::text::visible;
use groma_operator::api::shared::Condition;
use groma_operator::api::stack::Stack;
use groma_operator::serve::standalone::mistakes_in;
use jiff::Timestamp;
use serde_json::json;

use super::reach::{ReachArgs, StackName};
use super::table::{age, counts, line, or_dash, table};
use super::trouble::Trouble;
use crate::commands::Context;

/// How much of a message is in the table.
const MESSAGE: usize = 80;

/// List Stacks, and how they are.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this one: NAME or NAMESPACE/NAME.
    name: Option<StackName>,

    /// Those of all namespaces.
    #[arg(long, short = 'A')]
    all_namespaces: bool,

    /// Say everything as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    reach: ReachArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Trouble> {
    let desk = args.reach.open(context)?;
    let namespace = (!args.all_namespaces).then_some(desk.namespace.as_str());
    let stacks = match &args.name {
        Some(name) => vec![desk.stack(name)?],
        None => desk.stacks(namespace)?,
    };
    if args.json {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": stacks});
        desk.ui.line(&list.to_string())?;
    } else if stacks.is_empty() {
        let all = if desk.alone.is_some() { "this directory" } else { "this cluster" };
        let place = namespace.map_or_else(|| all.to_owned(), |name| format!("the namespace {name:?}"));
        desk.ui.message(&format!("There are no Stacks in {place}.\n"));
    } else {
        desk.show(&shown(&stacks, args.all_namespaces, Timestamp::now()))?;
    }
    if let Some(alone) = &desk.alone {
        let mistakes = mistakes_in(&alone.layout.state).into_iter();
        let told = mistakes.map(|mistake| Diagnostic::warning("Mistake in a file", visible(&mistake)));
        desk.ui.diagnostics(&told.collect(), &SourceMap::new());
    }
    Ok(ExitCode::SUCCESS)
}

/// What is said about whether a Stack is ready.
pub(super) fn ready(stack: &Stack) -> Option<&Condition> {
    stack.status.as_ref()?.conditions.iter().find(|known| known.kind == "Ready")
}

/// `True`, `False`, `Unknown`; and whether nothing happens anyway.
pub(super) fn readiness(stack: &Stack) -> String {
    let status = or_dash(ready(stack).map(|ready| format!("{:?}", ready.status)));
    if stack.spec.suspend { format!("{status} (suspended)") } else { status }
}

fn shown(stacks: &[Stack], with_namespaces: bool, now: Timestamp) -> String {
    let mut header = vec!["NAME", "READY", "PLAN", "RUN", "AGE", "STATUS"];
    if with_namespaces {
        header.insert(0, "NAMESPACE");
    }
    let row = |stack: &Stack| {
        let status = stack.status.as_ref();
        let pending = status.and_then(|status| status.pending.as_ref());
        let last = status.and_then(|status| status.last_run.as_ref());
        let created = stack.metadata.creation_timestamp.as_ref().map(|time| time.0);
        let mut row = vec![
            or_dash(stack.metadata.name.clone()),
            readiness(stack),
            or_dash(pending.map(|pending| counts(&pending.changes))),
            or_dash(last.map(|last| format!("{} {:?}", last.number, last.phase))),
            age(created, now),
            line(&ready(stack).map(|ready| ready.message.clone()).unwrap_or_default(), MESSAGE),
        ];
        if with_namespaces {
            row.insert(0, or_dash(stack.metadata.namespace.clone()));
        }
        row
    };
    table(&header, &stacks.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_says_what_is_so_and_what_waits() {
        let stacks: Vec<Stack> = serde_json::from_value(json!([
            {
                "apiVersion": "groma.dev/v1alpha1", "kind": "Stack",
                "metadata": {"name": "app", "namespace": "team", "creationTimestamp": "2026-01-01T00:00:00Z"},
                "spec": {"source": {"inline": {}}},
                "status": {
                    "conditions": [{
                        "type": "Ready", "status": "False", "reason": "AwaitingApproval", "message": "Somebody has to agree\nto it",
                        "lastTransitionTime": "2026-01-01T00:00:00Z",
                    }],
                    "pending": {"plan": "plan-1", "run": "app-2", "changes": {"add": 1, "change": 0, "destroy": 2}},
                    "lastRun": {"name": "app-2", "number": 2, "phase": "AwaitingApproval"},
                },
            },
            {
                "apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "metadata": {"name": "new", "namespace": "team"},
                "spec": {"source": {"inline": {}}, "suspend": true},
            },
        ]))
        .unwrap();
        let now = "2026-01-01T03:00:00Z".parse().unwrap();
        let expected = "\
NAMESPACE   NAME   READY           PLAN       RUN                  AGE   STATUS
team        app    False           +1 ~0 -2   2 AwaitingApproval   3h    Somebody has to agree
team        new    - (suspended)   -          -                    -
";
        assert_eq!(shown(&stacks, true, now), expected);
    }
}
