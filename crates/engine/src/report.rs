//! Why a plan does what it does: for each object the action, its reasons in words, what differs, and what it waits for.
//!
//! Everything here is read from the plan; nothing is decided. Values that must not be shown are left out.

mod attributes;
mod order;
mod words;

#[cfg(test)]
mod tests;

use groma_model::address::{AbsInstance, DeposedKey, ResourceMode};
use groma_model::path::Path;
use groma_provider::api::ImportTarget;
use groma_state::CheckStatus;

use crate::change::{Action, Change, Note, Reason};
use crate::checks::CheckedInstance;
use crate::plan::{Mode, Plan};

pub use attributes::{AttributeChange, Difference};
pub use order::{Neighbour, Order, StepKind};

/// Why something is done with one object, or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Which instance.
    pub address: AbsInstance,
    /// Which of its objects, if not the current one.
    pub deposed: Option<DeposedKey>,
    /// What is done.
    pub action: Action,
    /// Why, as machines are told.
    pub reason: Option<Reason>,
    /// What is done, in a sentence.
    pub summary: String,
    /// Why, in sentences.
    pub because: Vec<String>,
    /// What will be different.
    pub attributes: Vec<AttributeChange>,
    /// What is different and left alone, by `ignore_changes`.
    pub ignored: Vec<Path>,
    /// What changed outside since the last run.
    pub drift: Vec<AttributeChange>,
    /// Whether the object is gone, though nobody here deleted it.
    pub gone: bool,
    /// Objects that it depends on and that changed outside.
    pub drifted_dependencies: Vec<AbsInstance>,
    /// Why a replacement is made before or after the old object is deleted.
    pub replacement_order: Option<String>,
    /// What must be done before.
    pub waits_for: Vec<Neighbour>,
    /// What is done only then.
    pub needed_by: Vec<Neighbour>,
    /// What keeps it from being done.
    pub blocked: Vec<String>,
}

/// Everything that a plan says about an instance: its object, and those of it that were put aside. Empty if the plan knows
/// nothing of it.
pub fn explain(plan: &Plan, address: &AbsInstance) -> Vec<Explanation> {
    explain_with(plan, &Order::new(plan), address)
}

/// The same, for those who ask more than once.
pub fn explain_with(plan: &Plan, order: &Order<'_>, address: &AbsInstance) -> Vec<Explanation> {
    let first = plan.changes.partition_point(|change| change.address < *address);
    let of_address = plan.changes[first..].iter().take_while(|change| change.address == *address);
    let mut found: Vec<Explanation> =
        of_address.enumerate().map(|(at, change)| of_change(plan, order, first + at, change)).collect();
    if found.is_empty() {
        found.extend(without_change(plan, address));
    }
    found
}

/// All instances that a plan knows something about, in the order of their addresses.
pub fn addresses(plan: &Plan) -> Vec<AbsInstance> {
    let changed = plan.changes.iter().map(|change| change.address.clone());
    let drifted = plan.drift.iter().map(|change| change.address.clone());
    let mut all: Vec<AbsInstance> = changed.chain(drifted).chain(plan.data.keys().cloned()).collect();
    let stored = plan.prior_state.resources.iter();
    all.extend(stored.flat_map(|(address, found)| found.instances.keys().map(|key| address.instance(key.clone()))));
    all.sort();
    all.dedup();
    all
}

fn of_change(plan: &Plan, order: &Order<'_>, at: usize, change: &Change) -> Explanation {
    let drift = drift_of(plan, change);
    let gone = drift.is_some_and(|drift| drift.action == Action::Delete);
    let attributes = attributes::changed(change);
    let waits_for = order.before(at);
    let mut because = because(plan, change, &attributes, gone);
    let unknown = |found: &AttributeChange| found.difference == Difference::Unknown;
    if change.action == Action::Update && attributes.iter().any(unknown) && !waits_for.is_empty() {
        because.push("Some of its new values come from what is done before it, and are known only then.".to_owned());
    }
    Explanation {
        address: change.address.clone(),
        deposed: change.deposed.clone(),
        action: change.action,
        reason: change.reason,
        summary: words::summary(change),
        because,
        ignored: change.notes.iter().filter_map(ignored).collect(),
        drift: drift.filter(|_| !gone).map(attributes::changed).unwrap_or_default(),
        gone,
        drifted_dependencies: drifted_dependencies(plan, change),
        replacement_order: words::replacement_order(change),
        waits_for,
        needed_by: order.after(at),
        blocked: blocked(plan, &change.address),
        attributes,
    }
}

/// Of something that is there, or was, and that no change is planned for.
fn without_change(plan: &Plan, address: &AbsInstance) -> Option<Explanation> {
    let drift = find(&plan.drift, address);
    let because = if plan.data.contains_key(address) {
        "It was read while the plan was made, so nothing is left to do for it.".to_owned()
    } else if drift.is_none() && !is_stored(plan, address) {
        return None;
    } else if plan.errored {
        "No change could be planned for it, since there were errors.".to_owned()
    } else if plan.mode == Mode::RefreshOnly {
        "The plan only writes down what changed outside; it changes no objects.".to_owned()
    } else if !plan.options.targets.is_empty() || !plan.options.excludes.is_empty() {
        "It is left out by -target or -exclude.".to_owned()
    } else if drift.is_some_and(|drift| drift.action == Action::Delete) {
        "The object is gone, and the configuration does not ask for it either.".to_owned()
    } else {
        "The plan has no change for it.".to_owned()
    };
    let gone = drift.is_some_and(|drift| drift.action == Action::Delete);
    Some(Explanation {
        address: address.clone(),
        deposed: None,
        action: Action::NoOp,
        reason: None,
        summary: format!("Nothing is done with {address}."),
        because: vec![because],
        attributes: Vec::new(),
        ignored: Vec::new(),
        drift: drift.filter(|_| !gone).map(attributes::changed).unwrap_or_default(),
        gone,
        drifted_dependencies: Vec::new(),
        replacement_order: None,
        waits_for: Vec::new(),
        needed_by: Vec::new(),
        blocked: blocked(plan, address),
    })
}

fn is_stored(plan: &Plan, address: &AbsInstance) -> bool {
    let stored = plan.prior_state.resources.get(&address.resource());
    stored.is_some_and(|stored| stored.instances.contains_key(address.key()))
}

fn find<'p>(changes: &'p [Change], address: &AbsInstance) -> Option<&'p Change> {
    let at = changes.partition_point(|change| change.address < *address);
    changes.get(at).filter(|change| change.address == *address)
}

fn drift_of<'p>(plan: &'p Plan, change: &Change) -> Option<&'p Change> {
    if change.deposed.is_some() { None } else { find(&plan.drift, &change.address) }
}

fn drifted_dependencies(plan: &Plan, change: &Change) -> Vec<AbsInstance> {
    let depends = |drift: &&Change| change.dependencies.contains(&drift.address.config());
    plan.drift.iter().filter(depends).map(|drift| drift.address.clone()).collect()
}

fn ignored(note: &Note) -> Option<Path> {
    match note {
        Note::Ignored(path) => Some(path.clone()),
        _ => None,
    }
}

fn because(plan: &Plan, change: &Change, attributes: &[AttributeChange], gone: bool) -> Vec<String> {
    let mut because = Vec::new();
    if let Some(from) = change.previous_address.as_ref().filter(|from| **from != change.address) {
        because.push(format!("It was {from} before; a moved block, or the loss of a count, gave it its new address."));
    }
    match &change.importing {
        Some(ImportTarget::Id(id)) => because.push(format!("It exists already and is taken in, by its id {id:?}.")),
        Some(ImportTarget::Identity(_)) => {
            because.push("It exists already and is taken in, by its identity.".to_owned());
        }
        None => {}
    }
    match change.reason {
        Some(reason) => because.push(words::reason(reason, change)),
        // What it waits for is said instead.
        None if change.only_waits() => {}
        None => because.extend(words::plain_reason(plan, change, attributes, gone)),
    }
    because.extend(change.not_ready.as_ref().map(words::not_ready));
    because.extend(change.notes.iter().filter_map(words::note));
    if !plan.options.refresh && change.address.instance.resource.mode == ResourceMode::Managed {
        because.push("Objects were not read anew (-refresh=false), so what changed outside is not seen.".to_owned());
    }
    because
}

/// What conditions said about it, and whether the plan can be carried out at all.
fn blocked(plan: &Plan, address: &AbsInstance) -> Vec<String> {
    let mut blocked = Vec::new();
    let reports = plan.checks.iter().flat_map(|report| &report.instances);
    let own = reports.filter(|report| matches!(&report.address, CheckedInstance::Resource(of) if of == address));
    for report in own {
        let what = match report.status {
            CheckStatus::Fail => "A condition does not hold",
            CheckStatus::Error => "A condition could not be evaluated",
            CheckStatus::Pass | CheckStatus::Unknown => continue,
        };
        match report.problems.as_slice() {
            [] => blocked.push(format!("{what}.")),
            problems => blocked.extend(problems.iter().map(|problem| format!("{what}: {problem}"))),
        }
    }
    if plan.errored {
        blocked.push("The plan is incomplete, since there were errors. It cannot be applied.".to_owned());
    }
    blocked
}
