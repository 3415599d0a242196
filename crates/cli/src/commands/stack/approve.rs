//! `groma stack approve`: somebody agrees to a plan, by its id.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use groma_operator::api::names;
use groma_operator::api::stack::{PendingPlan, Stack};
use groma_operator::api::upkeep::OrphanPolicy;
use groma_operator::objects::{Kind, typed};
use groma_run::engine::interrupt::Interrupt;
use kube::api::{DynamicObject, ObjectMeta, TypeMeta};
use serde_json::{Value as Json, json};

use super::plan::heading;
use super::reach::{Desk, ReachArgs, StackName, annotate};
use super::trouble::Trouble;
use crate::commands::Context;
use crate::prompt::{Prompt, Question};

/// What the ids of reports begin with.
const ORPHANS: &str = "orphans-";

/// Agree to the plan that a Stack waits with, or to the deletion of objects that its state does not know.
///
/// The id says exactly which plan is meant: another one, made meanwhile, is not agreed to. Who agrees is written beside it, as the cluster
/// knows them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which Stack: NAME or NAMESPACE/NAME.
    name: StackName,

    /// The whole id of the plan, or of the report of objects. Without it, the plan is shown and asked about.
    #[arg(value_name = "PLAN_ID")]
    plan: Option<String>,

    #[command(flatten)]
    reach: ReachArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Trouble> {
    let desk = args.reach.open(context)?;
    let stack = desk.stack(&args.name)?;
    let plan = match args.plan {
        Some(plan) => plan,
        None => match ask(&desk, &stack, &waiting(&stack)?.clone())? {
            Some(plan) => plan,
            None => return Ok(ExitCode::FAILURE),
        },
    };
    can_be_agreed_to(&stack, &plan)?;
    let by = who(&desk)?;
    let (namespace, name) = desk.change_stack(&args.name, |object| {
        // What somebody else wrote meanwhile may be another plan.
        can_be_agreed_to(&typed::<Stack>(object)?, &plan)?;
        annotate(object, names::APPROVE, &plan);
        annotate(object, names::APPROVED_BY, &by);
        Ok(())
    })?;
    desk.ui.message(&format!("{by} has agreed to {plan} of {namespace}/{name}.\n"));
    Ok(ExitCode::SUCCESS)
}

/// Whether something of this id waits for somebody: the plan, or the report of objects that the state does not know.
fn can_be_agreed_to(stack: &Stack, id: &str) -> Result<(), Trouble> {
    let orphans = stack.status.as_ref().and_then(|status| status.orphans.as_ref());
    let Some(report) = orphans.filter(|_| id.starts_with(ORPHANS)) else { return is_meant(waiting(stack)?, id) };
    if report.id != id {
        let detail = format!(
            "The report of the Stack is {}, and {id:?} is another one, or only the beginning of it.",
            report.id
        );
        return Err(Trouble::Refused("Not the objects that are there", detail));
    }
    if stack.spec.orphan_policy != OrphanPolicy::Delete {
        let detail =
            "Objects that the state does not know are deleted only if spec.orphanPolicy of the Stack is delete.";
        return Err(Trouble::Refused("Objects are not deleted", detail.to_owned()));
    }
    Ok(())
}

/// The plan that somebody has to agree to.
fn waiting(stack: &Stack) -> Result<&PendingPlan, Trouble> {
    let pending = stack.status.as_ref().and_then(|status| status.pending.as_ref());
    pending.ok_or_else(|| {
        let name = stack.metadata.name.as_deref().unwrap_or_default();
        Trouble::Refused("No plan waits", format!("The Stack {name:?} has no plan that somebody has to agree to."))
    })
}

fn is_meant(pending: &PendingPlan, plan: &str) -> Result<(), Trouble> {
    if pending.plan == plan {
        return Ok(());
    }
    let why = if !plan.is_empty() && pending.plan.starts_with(plan) {
        "is only the beginning of its id; give all of it"
    } else {
        "is another one, or is not there any more"
    };
    let detail = format!("The plan that waits is {}, and {plan:?} {why}.", pending.plan);
    Err(Trouble::Refused("Not the plan that waits", detail))
}

/// Shows the plan, and asks. None if the answer is no.
fn ask(desk: &Desk, stack: &Stack, pending: &PendingPlan) -> Result<Option<String>, Trouble> {
    if !io::stdin().is_terminal() {
        let detail = format!("Nobody is here to be asked. The plan that waits is {}: give its id.", pending.plan);
        return Err(Trouble::Refused("Which plan", detail));
    }
    let namespace = stack.metadata.namespace.as_deref().unwrap_or_default();
    let run = desk.run(namespace, &pending.run)?;
    let text = run.as_ref().map(|run| desk.plan_text(run));
    desk.show(&heading(&pending.plan, &pending.run, run.as_ref()))?;
    desk.show(&text.unwrap_or_default())?;
    let question = Question {
        query: "\nDo you agree to this plan?",
        description: "Only 'yes' is taken as yes.",
        ..Question::default()
    };
    let answer = Prompt::new(desk.ui, Interrupt::default()).ask(&question).unwrap_or_default();
    if answer == "yes" {
        return Ok(Some(pending.plan.clone()));
    }
    desk.ui.message("Nothing was agreed to.\n");
    Ok(None)
}

/// Who we are, as the API server knows us.
fn who(desk: &Desk) -> Result<String, Trouble> {
    if let Some(alone) = &desk.alone {
        // Whoever can write there is who they say.
        return Ok(alone.me.clone());
    }
    let kind = Kind {
        group: "authentication.k8s.io".to_owned(),
        version: "v1".to_owned(),
        kind: "SelfSubjectReview".to_owned(),
        plural: "selfsubjectreviews".to_owned(),
    };
    let review = DynamicObject {
        types: Some(TypeMeta { api_version: kind.api_version(), kind: kind.kind.clone() }),
        metadata: ObjectMeta::default(),
        data: json!({}),
    };
    let answer = desk.wait(desk.store.create(&kind, &review))?;
    let name = answer.data.pointer("/status/userInfo/username").and_then(Json::as_str);
    name.map(str::to_owned).ok_or_else(|| {
        Trouble::Refused(
            "Unknown user",
            "The cluster does not say who you are, so that nobody could know who agreed.".to_owned(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_id_is_meant() {
        let pending: PendingPlan = serde_json::from_value(
            json!({"plan": "plan-abc", "run": "r", "changes": {"add": 0, "change": 0, "destroy": 0}}),
        )
        .unwrap();
        assert!(is_meant(&pending, "plan-abc").is_ok());
        for (wrong, said) in [("plan-a", "only the beginning"), ("plan-abcd", "another one"), ("", "another one")] {
            let told = is_meant(&pending, wrong).unwrap_err().to_string();
            assert!(told.contains(said) && told.contains("waits is plan-abc"), "{told}");
        }
    }
}
