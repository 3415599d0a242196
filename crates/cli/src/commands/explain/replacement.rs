//! `groma explain replace`: why an object is replaced in the order that is planned.

use std::process::ExitCode;

use groma_model::address::Target;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::engine::change::Action;
use groma_run::engine::plan::Plan;
use groma_run::session::Session;
use serde_json::{Value, json};

use super::{Job, find};
use crate::failure::Failure;
use crate::render;

/// An object, and what was decided about it.
type Decided = (String, Value);

pub(super) fn run(job: &Job<'_>, session: &mut Session) -> Result<ExitCode, Failure> {
    match job.with_plan(session, |plan, target, _| decisions(plan, target, &job.subject.address)) {
        Ok(found) if job.args.json => {
            let entry = |(address, decision): Decided| json!({ "address": address, "replace_order": decision });
            let found: Vec<Value> = found.into_iter().map(entry).collect();
            job.stage.ui().line(&format!("{:#}", json!({ "replacements": found })))?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(found) => {
            job.stage.ui().out(&render::replacement::decisions(&found, job.stage.ui().style()))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(problems) => {
            job.stage.ui().diagnostics(&problems, session.sources());
            Ok(ExitCode::FAILURE)
        }
    }
}

fn decisions(plan: &Plan, target: &Target, address: &str) -> Result<Vec<Decided>, Diagnostics> {
    let selected: Vec<_> =
        plan.changes.iter().filter(|change| target.selects(&change.address) && change.deposed.is_none()).collect();
    if selected.is_empty() {
        return Err(find::unknown(plan, address).into());
    }
    let replaced: Vec<_> = selected.into_iter().filter(|change| change.action.is_replace()).collect();
    if replaced.is_empty() {
        let detail = format!("The plan does not replace {address}, so there is no order to explain.");
        return Err(Diagnostic::error("Nothing is replaced", detail).into());
    }
    let decided = replaced.into_iter().map(|change| {
        let decision = plan.replacement.decisions.get(&change.address);
        let document = decision.and_then(|decision| serde_json::from_str(&decision.document).ok());
        // Where no rule has anything to say, the configuration does.
        let plain = || {
            let order = if change.action == Action::CreateThenDelete { "create_first" } else { "delete_first" };
            let layer = if change.create_before_destroy { "lifecycle" } else { "default" };
            json!({ "order": order, "decided_by": { "layer": layer }, "without_rules": order, "rules": [] })
        };
        (change.address.to_string(), document.unwrap_or_else(plain))
    });
    Ok(decided.collect())
}
