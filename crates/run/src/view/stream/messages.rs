//! What the stream tells about changes, operations and outputs, in words and as data.

use groma_engine::change::{Action, Change, Reason};
use groma_engine::events::ShownId;
use groma_engine::plan::Plan;
use groma_model::address::AbsInstance;
use groma_state::OutputState;
use serde_json::{Value, json};

use super::super::change::{ImportingJson, is_shown, not_ready, previous_address};
use super::super::value::{Plain, index, type_value};

/// What was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChangeCounts {
    /// Objects that are made.
    pub add: usize,
    /// Objects that are changed in place.
    pub change: usize,
    /// Objects that are taken in.
    pub import: usize,
    /// Objects that are deleted.
    pub remove: usize,
    /// Objects that nobody looks after any more.
    pub forget: usize,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// It was planned.
    Plan,
    /// It was applied.
    Apply,
    /// Everything was destroyed.
    Destroy,
}

impl ChangeCounts {
    /// What a plan is about to do.
    pub fn planned(plan: &Plan) -> Self {
        let mut counts = Self::default();
        for change in plan.changes.iter().filter(|change| is_shown(change)) {
            counts.import += usize::from(change.importing.is_some());
            match change.action {
                Action::Create => counts.add += 1,
                Action::Update => counts.change += 1,
                Action::Delete => counts.remove += 1,
                Action::DeleteThenCreate | Action::CreateThenDelete => {
                    counts.add += 1;
                    counts.remove += 1;
                }
                Action::Forget => counts.forget += 1,
                Action::ForgetThenCreate => {
                    counts.add += 1;
                    counts.forget += 1;
                }
                Action::NoOp | Action::Read => {}
            }
        }
        counts
    }

    /// In words that others parse, so they stay as they are.
    pub fn describe(&self, operation: Operation) -> String {
        let Self { add, change, import, remove, forget } = self;
        let some = |count: &usize, before: &str, what: &str, after: &str| match count {
            0 => String::new(),
            count => format!("{before}{count} {what}{after}"),
        };
        match operation {
            Operation::Plan => {
                let (import, forget) = (some(import, "", "to import", ", "), some(forget, ", ", "to forget", ""));
                format!("Plan: {import}{add} to add, {change} to change, {remove} to destroy{forget}.")
            }
            Operation::Apply => {
                let (import, forget) = (some(import, "", "imported", ", "), some(forget, ", ", "forgotten", ""));
                format!("Apply complete! Resources: {import}{add} added, {change} changed, {remove} destroyed{forget}.")
            }
            Operation::Destroy => format!("Destroy complete! Resources: {remove} destroyed."),
        }
    }

    pub(super) fn to_json(self, operation: Operation) -> Value {
        let operation = match operation {
            Operation::Plan => "plan",
            Operation::Apply => "apply",
            Operation::Destroy => "destroy",
        };
        json!({
            "add": self.add, "change": self.change, "import": self.import, "remove": self.remove, "forget": self.forget,
            "operation": operation,
        })
    }
}

/// A planned change, or one that happened outside.
pub(super) fn change_message(change: &Change) -> Value {
    let mut json = json!({ "resource": hook_resource(&change.address) });
    let previous = previous_address(change);
    if let Some(previous) = previous {
        json["previous_resource"] = hook_resource(previous);
    }
    // What was only moved or imported is nothing to do for the provider, but something to tell.
    let action = match (change.action, previous, &change.importing) {
        (Action::NoOp, Some(_), _) => "move",
        (Action::NoOp, None, Some(_)) => "import",
        (action, ..) => action_name(action),
    };
    json["action"] = action.into();
    if let Some(reason) = change.reason {
        json["reason"] = reason_name(reason).into();
    }
    if let Some(target) = &change.importing {
        json["importing"] = serde_json::to_value(ImportingJson::from(target)).unwrap_or_default();
    }
    if let Some(pending) = &change.not_ready {
        json["groma"] = not_ready(pending);
    }
    if let Some(config) = change.generated_config.as_deref().filter(|text| !text.is_empty()) {
        json["generated_config"] = config.into();
    }
    json
}

/// Which resource a line is about.
pub(super) fn hook_resource(address: &AbsInstance) -> Value {
    let resource = &address.instance.resource;
    json!({
        "addr": address.to_string(),
        "module": address.module.to_string(),
        "resource": address.instance.to_string(),
        "implied_provider": resource.implied_provider(),
        "resource_type": resource.ty.as_str(),
        "resource_name": resource.name.as_str(),
        "resource_key": index(address.key()),
    })
}

/// An output after an apply.
pub(super) fn output(output: &OutputState) -> Value {
    let mut json = json!({ "sensitive": output.sensitive });
    if let Some(deprecated) = output.deprecated.as_ref().filter(|text| !text.is_empty()) {
        json["deprecated"] = deprecated.as_str().into();
    }
    json["type"] = type_value(&output.value.ty());
    if !output.sensitive {
        json["value"] = serde_json::to_value(Plain(&output.value)).unwrap_or_default();
    }
    json
}

/// ` [id=x]`, or nothing.
pub(super) fn shown(id: Option<&ShownId>) -> String {
    match id {
        Some(ShownId { key, value }) if !key.is_empty() && !value.is_empty() => format!(" [{key}={value}]"),
        _ => String::new(),
    }
}

pub(super) fn action_name(action: Action) -> &'static str {
    match action {
        // Readers know no word for what is forgotten and made anew.
        Action::NoOp | Action::ForgetThenCreate => "noop",
        Action::Create => "create",
        Action::Read => "read",
        Action::Update => "update",
        Action::DeleteThenCreate | Action::CreateThenDelete => "replace",
        Action::Delete => "delete",
        Action::Forget => "remove",
    }
}

fn reason_name(reason: Reason) -> &'static str {
    match reason {
        Reason::ReplaceBecauseTainted => "tainted",
        Reason::ReplaceByRequest => "requested",
        Reason::ReplaceByTriggers => "replace_triggered_by",
        Reason::ReplaceBecauseCannotUpdate => "cannot_update",
        other => other.name(),
    }
}

pub(super) fn start_verb(action: Action) -> &'static str {
    match action {
        Action::Create => "Creating",
        Action::Update => "Modifying",
        Action::Delete => "Destroying",
        Action::Read => "Refreshing",
        Action::CreateThenDelete | Action::DeleteThenCreate => "Replacing",
        Action::Forget => "Removing",
        Action::NoOp | Action::ForgetThenCreate => "Applying",
    }
}

pub(super) fn progress_verb(action: Action) -> &'static str {
    match action {
        Action::Create => "creating",
        Action::Update => "modifying",
        Action::Delete => "destroying",
        Action::Read => "refreshing",
        Action::CreateThenDelete | Action::DeleteThenCreate => "replacing",
        Action::Forget => "removing",
        Action::NoOp | Action::ForgetThenCreate => "applying",
    }
}

pub(super) fn noun(action: Action) -> &'static str {
    match action {
        Action::Create => "Creation",
        Action::Update => "Modifications",
        Action::Delete => "Destruction",
        Action::Read => "Refresh",
        Action::CreateThenDelete | Action::DeleteThenCreate => "Replacement",
        Action::Forget => "Removal",
        Action::NoOp | Action::ForgetThenCreate => "Apply",
    }
}

/// As Go writes a duration of whole seconds: `0s`, `1m4s`, `2h0m1s`.
pub(super) fn elapsed_text(seconds: u64) -> String {
    let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, minutes) => format!("{minutes}m{rest}s"),
        (hours, minutes) => format!("{hours}h{minutes}m{rest}s"),
    }
}
