//! `groma stack describe`: everything about one Stack.

use std::fmt::Write as _;
use std::process::ExitCode;

use groma_operator::api::run::{Phase, Run};
use groma_operator::api::stack::Stack;
use groma_operator::inputs;
use groma_operator::objects::{Kind, Place, untyped};
use groma_operator::serve::standalone::overlay;
use jiff::Timestamp;
use serde_json::json;

use super::get::readiness;
use super::reach::{Desk, ReachArgs, StackName};
use super::table::{age, counts, line, or_dash, table};
use super::trouble::Trouble;
use crate::commands::Context;

/// Say everything about a Stack: how it is, which plan waits, what was done, what it refers to.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which one: NAME or NAMESPACE/NAME.
    name: StackName,

    /// Say everything as JSON: the Stack and its Runs.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    reach: ReachArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Trouble> {
    let desk = args.reach.open(context)?;
    let stack = desk.stack(&args.name)?;
    let runs = desk.runs(&stack)?;
    if args.json {
        desk.ui.line(&json!({"stack": stack, "runs": runs}).to_string())?;
    } else {
        desk.show(&shown(&stack, &runs, Timestamp::now()))?;
        desk.show(&written(&desk, &stack)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Where a Stack is written, and what is otherwise than it is written, if it is in a file.
fn written(desk: &Desk, stack: &Stack) -> Result<String, Trouble> {
    let Some(alone) = &desk.alone else { return Ok(String::new()) };
    let object = untyped(stack)?;
    let origins = alone.files.origins();
    let Some(origin) = origins.get(&Place::of(&Kind::of::<Stack>(), &object)) else { return Ok(String::new()) };
    let mut page = Page(String::new());
    let set = overlay(&object, origin).join("\n");
    page.part(&format!("Set by commands, otherwise than {} says", origin.file), &set);
    page.part("Written in", &origin.file);
    Ok(page.0)
}

/// A page of which each part is left out that there is nothing to say about.
struct Page(String);

impl Page {
    fn field(&mut self, name: &str, value: impl std::fmt::Display) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "{:<14}{value}", format!("{name}:"));
    }

    fn part(&mut self, title: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let _ = writeln!(self.0, "\n{title}");
        for line in text.lines() {
            let _ = writeln!(self.0, "  {line}");
        }
    }
}

fn shown(stack: &Stack, runs: &[Run], now: Timestamp) -> String {
    let status = stack.status.clone().unwrap_or_default();
    let mut page = Page(String::new());
    page.field("Name", or_dash(stack.metadata.name.clone()));
    page.field("Namespace", or_dash(stack.metadata.namespace.clone()));
    page.field("Ready", readiness(stack));
    page.field("Approval", or_dash(word(&stack.spec.approval.mode)));
    page.field("When deleted", or_dash(word(&stack.spec.deletion_policy)));
    if let Some(resources) = status.resources {
        page.field("Resources", resources);
    }
    if let Some(state) = &status.state {
        page.field("State", format!("{}, serial {}", state.lineage, state.serial));
    }
    if let Some(at) = status.last_verified_at {
        page.field("Verified", format!("{} ago", age(Some(at.0), now)));
    }
    page.part("Conditions", &conditions(stack, now));
    page.part("Waits for approval", &pending(stack));
    page.part("Last run", &runs.last().map(last_run).unwrap_or_default());
    page.part("Failures", &failures(stack));
    page.part("Runs", &history(runs, now));
    if let Some(drift) = &status.drift {
        let title = format!("Changed by others, found {} ago", age(Some(drift.since.0), now));
        page.part(&title, &drift.addresses.join("\n"));
    }
    if let Some(orphans) = &status.orphans {
        let title = format!("Not in the state ({})", orphans.count);
        let named = orphans.objects.iter().map(|orphan| format!("{} {} {}", orphan.kind, orphan.id, orphan.name));
        page.part(&title, &named.chain([orphans.id.clone()]).collect::<Vec<_>>().join("\n"));
    }
    page.part("Refers to", &references(stack));
    page.part("Outputs", &status.available_outputs.join("\n"));
    page.0
}

/// A word of the API, as it is written there.
fn word(value: &impl serde::Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

fn conditions(stack: &Stack, now: Timestamp) -> String {
    let known = stack.status.iter().flat_map(|status| &status.conditions);
    let row = |known: &groma_operator::api::shared::Condition| {
        vec![
            known.kind.clone(),
            format!("{:?}", known.status),
            known.reason.clone(),
            age(Some(known.last_transition_time.0), now),
            known.message.lines().collect::<Vec<_>>().join(" "),
        ]
    };
    let rows: Vec<_> = known.map(row).collect();
    if rows.is_empty() { String::new() } else { table(&["TYPE", "STATUS", "REASON", "SINCE", "MESSAGE"], &rows) }
}

fn pending(stack: &Stack) -> String {
    let Some(pending) = stack.status.as_ref().and_then(|status| status.pending.as_ref()) else { return String::new() };
    let name = format!(
        "{}/{}",
        stack.metadata.namespace.as_deref().unwrap_or_default(),
        stack.metadata.name.as_deref().unwrap_or_default()
    );
    format!(
        "{} ({}) of {}\ngroma stack plan {name}\ngroma stack approve {name} {}\n",
        pending.plan,
        counts(&pending.changes),
        pending.run,
        pending.plan
    )
}

pub(super) fn last_run(run: &Run) -> String {
    let status = run.status.clone().unwrap_or_default();
    let mut text = format!("{} {:?}: {}\n", or_dash(run.metadata.name.clone()), status.phase, status.message);
    if let Some(approval) = &status.approval {
        let _ = writeln!(text, "approved by {}", approval.by);
    }
    for told in &status.diagnostics {
        let place =
            [told.address.as_ref(), told.at.as_ref()].into_iter().flatten().cloned().collect::<Vec<_>>().join(" ");
        let place = if place.is_empty() { String::new() } else { format!(" ({place})") };
        let _ = writeln!(text, "{}: {}{place}", told.severity, told.summary);
        for line in told.detail.lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

fn failures(stack: &Stack) -> String {
    let Some(failures) = stack.status.as_ref().and_then(|status| status.failures.as_ref()) else {
        return String::new();
    };
    let kind = failures.kind.as_ref().map(|kind| format!(", of the kind {kind:?}")).unwrap_or_default();
    let again = failures.retry_at.map(|at| format!("; tried again at {}", at.0)).unwrap_or_default();
    format!("{} in a row{kind}{again}\n", failures.count)
}

fn history(runs: &[Run], now: Timestamp) -> String {
    let row = |run: &Run| {
        let status = run.status.clone().unwrap_or_default();
        let causes: Vec<String> = run.spec.causes.iter().map(|cause| format!("{:?}", cause.reason)).collect();
        let took = (status.phase.is_over()).then(|| took(run)).flatten();
        vec![
            or_dash(run.metadata.name.clone()),
            or_dash(word(&run.spec.action)),
            format!("{:?}", status.phase),
            or_dash(status.done.or(status.planned).as_ref().map(counts)),
            or_dash(took),
            age(run.metadata.creation_timestamp.as_ref().map(|time| time.0), now),
            or_dash(status.approval.map(|approval| approval.by)),
            line(&causes.join(", "), 60),
        ]
    };
    let rows: Vec<_> = runs.iter().rev().map(row).collect();
    let header = ["RUN", "ACTION", "PHASE", "CHANGES", "TOOK", "AGE", "APPROVED BY", "BECAUSE"];
    if rows.is_empty() { String::new() } else { table(&header, &rows) }
}

/// How long a run worked, without its waiting for its turn and for somebody to agree.
fn took(run: &Run) -> Option<String> {
    let phases = run.status.as_ref()?.phases.iter();
    let worked = phases.filter(|known| !matches!(known.phase, Phase::Queued | Phase::AwaitingApproval));
    let total: std::time::Duration = worked.filter_map(|known| Some(known.took?.0)).sum();
    Some(groma_operator::api::shared::Length(std::time::Duration::from_secs(total.as_secs())).to_string())
}

fn references(stack: &Stack) -> String {
    let holders = inputs::references(&stack.spec).into_iter();
    let mut lines: Vec<String> = holders.map(|holder| format!("{} {}", holder.kind.name(), holder.name)).collect();
    lines.extend(stack.spec.depends_on.iter().map(|needed| match &needed.namespace {
        Some(namespace) => format!("Stack {namespace}/{}", needed.name),
        None => format!("Stack {}", needed.name),
    }));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn stack() -> Stack {
        serde_json::from_value(json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Stack",
            "metadata": {"name": "app", "namespace": "team"},
            "spec": {
                "source": {"configMap": {"name": "code"}},
                "inputs": {"varsFrom": [{"kind": "Secret", "name": "db"}]},
                "dependsOn": [{"name": "network"}, {"name": "dns", "namespace": "infra"}],
            },
            "status": {
                "conditions": [{
                    "type": "Ready", "status": "False", "reason": "AwaitingApproval", "message": "Somebody has to agree",
                    "lastTransitionTime": "2026-01-01T00:00:00Z",
                }],
                "pending": {"plan": "plan-1", "run": "app-2", "changes": {"add": 1, "change": 0, "destroy": 2}},
                "drift": {"since": "2026-01-01T00:30:00Z", "addresses": ["a.b", "c.d"]},
                "failures": {"count": 2, "kind": "Refused"},
                "availableOutputs": ["url"],
                "resources": 7,
            },
        }))
        .unwrap()
    }

    fn run() -> Run {
        serde_json::from_value(json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Run",
            "metadata": {"name": "app-1", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {
                "stack": "app", "number": 1, "action": "apply", "bundle": "b", "about": {}, "engine": "native",
                "executor": "inProcess", "approval": {}, "limits": {"init": "1m", "plan": "1m", "apply": "1m"},
                "causes": [{"reason": "Created"}],
            },
            "status": {
                "phase": "Failed", "message": "It is refused", "done": {"add": 1, "change": 0, "destroy": 0},
                "approval": {"plan": "plan-0", "by": "ana", "at": "2026-01-01T00:00:00Z"},
                "phases": [
                    {"phase": "Planning", "began": "2026-01-01T00:00:00Z", "took": "2s"},
                    {"phase": "AwaitingApproval", "began": "2026-01-01T00:00:02Z", "took": "1h"},
                    {"phase": "Applying", "began": "2026-01-01T01:00:02Z", "took": "3s"},
                ],
                "diagnostics": [{"severity": "error", "summary": "It is refused", "detail": "Because.", "address": "a.b", "at": "main.tf:3"}],
            },
        }))
        .unwrap()
    }

    #[test]
    fn everything_about_a_stack_is_on_one_page() {
        let page = shown(&stack(), &[run()], "2026-01-01T02:00:00Z".parse().unwrap());
        expect![[r"
            Name:         app
            Namespace:    team
            Ready:        False
            Approval:     manual
            When deleted: destroy
            Resources:    7

            Conditions
              TYPE    STATUS   REASON             SINCE   MESSAGE
              Ready   False    AwaitingApproval   2h      Somebody has to agree

            Waits for approval
              plan-1 (+1 ~0 -2) of app-2
              groma stack plan team/app
              groma stack approve team/app plan-1

            Last run
              app-1 Failed: It is refused
              approved by ana
              error: It is refused (a.b main.tf:3)
                Because.

            Failures
              2 in a row, of the kind Refused

            Runs
              RUN     ACTION   PHASE    CHANGES    TOOK   AGE   APPROVED BY   BECAUSE
              app-1   apply    Failed   +1 ~0 -0   5s     2h    ana           Created

            Changed by others, found 90m ago
              a.b
              c.d

            Refers to
              Secret db
              ConfigMap code
              Stack network
              Stack infra/dns

            Outputs
              url
        "]]
        .assert_eq(&page);
    }
}
