//! `groma migrate tofu-controller`: what becomes of Terraform objects under groma, and handing them over.

mod report;

use std::process::ExitCode;

use groma_operator::api::names;
use groma_operator::api::run::Run;
use groma_operator::api::shared::Moment;
use groma_operator::api::stack::Stack;
use groma_operator::api::terraform::Terraform;
use groma_operator::objects::{Place, StoreError, find, typed};
use groma_operator::terraform::wanted::{self, Rules};
use groma_operator::terraform::{kind, rival, stack_name, standing, state};
use jiff::Timestamp;
use kube::api::DynamicObject;
use serde_json::json;

use crate::commands::Context;
use crate::commands::stack::reach::{Desk, ReachArgs, annotate};
use crate::commands::stack::trouble::Trouble;
use report::{Entry, Plan};

/// Say what becomes of Terraform objects of tofu-controller under groma, and hand them over with -switch.
///
/// Nothing is changed without -switch. The plans in the report are made by an operator that was started with -terraform-objects, as soon as
/// tofu-controller does not work any more.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Those of all namespaces.
    #[arg(long, short = 'A')]
    all_namespaces: bool,

    /// How it is written.
    #[arg(long, short, value_enum, default_value_t = Output::Text)]
    output: Output,

    /// Hand those objects over whose plans change nothing.
    #[arg(long)]
    switch: bool,

    /// With -switch: hand those over as well whose plans change something.
    #[arg(long, requires = "switch")]
    accept_changes: bool,

    /// The operator lets objects refer to those of other namespaces.
    #[arg(long)]
    allow_cross_namespace: bool,

    /// Where the lease of tofu-controller is, which says whether it works; flux-system if nothing is said. Can be repeated.
    #[arg(long, value_name = "NAMESPACE")]
    tofu_controller_namespace: Vec<String>,

    #[command(flatten)]
    reach: ReachArgs,
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// For people.
    Text,
    /// For machines.
    Json,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Trouble> {
    let desk = args.reach.open(context)?;
    let namespace = (!args.all_namespaces).then_some(desk.namespace.as_str());
    let listed = desk.wait(desk.store.list(&kind(), namespace, &[]));
    let mut objects = match listed {
        Err(StoreError::Missing(_)) => {
            let detail = "This cluster does not know Terraform objects, so there is nothing to take over.";
            return Err(Trouble::Refused("No Terraform objects", detail.to_owned()));
        }
        listed => listed?,
    };
    objects.sort_by_key(|object| (object.metadata.namespace.clone(), object.metadata.name.clone()));
    let leases = if args.tofu_controller_namespace.is_empty() {
        vec![rival::NAMESPACE.to_owned()]
    } else {
        args.tofu_controller_namespace.clone()
    };
    let rival = desk.wait(rival::find(&*desk.store, &leases, Moment(Timestamp::now())))?;
    let rules = Rules { across_namespaces: args.allow_cross_namespace };
    let mut entries = Vec::new();
    for object in &objects {
        entries.push(entry(&desk, object, rules)?);
    }
    if args.switch {
        if let Some(rival) = &rival {
            let detail = format!(
                "{} holds the lease of tofu-controller in the namespace {:?}, and renews it. Scale it down first:\n\n  kubectl -n {} scale \
                 deployment tofu-controller --replicas=0",
                rival.holder, rival.namespace, rival.namespace
            );
            return Err(Trouble::Refused("tofu-controller is at work", detail));
        }
        for entry in &mut entries {
            entry.outcome = Some(switch(&desk, entry, args.accept_changes)?);
        }
    }
    match args.output {
        Output::Json => {
            desk.ui
                .line(&json!({"tofuController": rival.map(|rival| rival.holder), "objects": entries}).to_string())?;
        }
        Output::Text => desk.show(&report::text(&entries, rival.as_ref()))?,
    }
    let is_done = entries.iter().all(|entry| entry.outcome.as_ref().is_none_or(|outcome| outcome.is_done));
    Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Everything that is known of an object.
fn entry(desk: &Desk, raw: &DynamicObject, rules: Rules) -> Result<Entry, Trouble> {
    let namespace = raw.metadata.namespace.clone().unwrap_or_default();
    let name = raw.metadata.name.clone().unwrap_or_default();
    let spec = raw.data.get("spec").cloned().unwrap_or_default();
    let object: Terraform = match typed(raw) {
        Ok(object) => object,
        Err(problem) => return Ok(Entry::unreadable(namespace, name, problem.to_string())),
    };
    let mut entry = Entry::new(namespace, name, standing(&object));
    let unknown = wanted::unknown_fields(&spec);
    match wanted::wanted(&object, rules) {
        Ok(wanted) => {
            entry.differs = wanted.differences.iter().map(ToString::to_string).collect();
            entry.not_honoured = wanted.unsupported.iter().chain(&unknown).map(ToString::to_string).collect();
            entry.state = report::state(&desk.wait(state::read(&*desk.store, &wanted.stack))?);
        }
        Err(problems) => {
            entry.problems = problems.iter().map(ToString::to_string).collect();
            entry.not_honoured = unknown.iter().map(ToString::to_string).collect();
        }
    }
    entry.same = report::same(&spec, &entry);
    entry.plan = plan(desk, &entry.namespace, &stack_name(&entry.name))?;
    Ok(entry)
}

/// What the plan of the Stack of an object does, as far as there is one.
fn plan(desk: &Desk, namespace: &str, name: &str) -> Result<Plan, Trouble> {
    let stack = match desk.wait(find::<Stack>(&*desk.store, namespace, name)) {
        Err(StoreError::Missing(_)) => None,
        found => found?,
    };
    let Some(stack) = stack else {
        return Ok(Plan::Unknown("no operator with -terraform-objects has looked at it".to_owned()));
    };
    let last = stack.status.as_ref().and_then(|status| status.last_run.clone());
    let run = match last {
        Some(last) => desk.wait(find::<Run>(&*desk.store, namespace, &last.name))?,
        None => None,
    };
    Ok(report::plan(&stack, run.as_ref()))
}

/// Hands an object over, if that is safe.
fn switch(desk: &Desk, entry: &Entry, accept_changes: bool) -> Result<report::Outcome, Trouble> {
    if let Some(outcome) = entry.decided(accept_changes) {
        return Ok(outcome);
    }
    let place = Place::new(kind(), &entry.namespace, &entry.name);
    desk.change(&place, |object| {
        annotate(object, names::TAKEN_OVER, "groma migrate tofu-controller");
        Ok(())
    })?;
    Ok(report::Outcome { is_done: true, what: "handed over to groma".to_owned() })
}
