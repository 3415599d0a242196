//! A plan of another engine, as `show -json` tells it: what it does, and an id that is made of that.

use groma_engines::Kind;
use groma_run::state::State;
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};

use crate::api::stack::ChangeAction;
use crate::bundle::part;
use crate::work::PlannedChange;

/// What a plan says.
pub(super) struct Read {
    pub(super) id: String,
    pub(super) changes: Vec<PlannedChange>,
    pub(super) drifted: Vec<String>,
    /// All of it, with everything that must not be seen.
    pub(super) document: Json,
}

/// Reads a plan that was made from a state.
pub(super) fn read(text: &str, kind: Kind, state: &State) -> Result<Read, serde_json::Error> {
    let plan: Json = serde_json::from_str(text)?;
    let list = |field: &str| plan[field].as_array().cloned().unwrap_or_default();
    let drifted = list("resource_drift").iter().filter(|change| action(change).is_some()).map(address).collect();
    let changes = list("resource_changes").iter().filter_map(change).collect();
    Ok(Read { id: id(&plan, kind, state), changes, drifted, document: plan })
}

/// Made of what it does and of the state that it was made from. Not of the file: that has times in it.
fn id(plan: &Json, kind: Kind, state: &State) -> String {
    let made_of = json!({
        "engine": kind.program(),
        "resources": plan["resource_changes"],
        "outputs": plan["output_changes"],
        "drift": plan["resource_drift"],
        "lineage": state.lineage.clone(),
        "serial": state.serial,
    });
    let mut hash = Sha256::new();
    part(&mut hash, made_of.to_string().as_bytes());
    format!("plan-{}", &hex::encode(hash.finalize())[..32])
}

fn address(change: &Json) -> String {
    change["address"].as_str().unwrap_or_default().to_owned()
}

fn change(change: &Json) -> Option<PlannedChange> {
    let action = action(change)?;
    Some(PlannedChange {
        address: address(change),
        kind: change["type"].as_str().unwrap_or_default().to_owned(),
        action,
    })
}

fn action(change: &Json) -> Option<ChangeAction> {
    let change = &change["change"];
    let actions: Vec<&str> = change["actions"].as_array()?.iter().filter_map(Json::as_str).collect();
    match actions.as_slice() {
        ["no-op"] if !change["importing"].is_null() => Some(ChangeAction::Import),
        ["create"] => Some(ChangeAction::Create),
        ["update"] => Some(ChangeAction::Update),
        ["delete"] => Some(ChangeAction::Delete),
        ["forget"] => Some(ChangeAction::Forget),
        // Whatever else is done with an object in two steps ends with another one.
        [_, _] => Some(ChangeAction::Replace),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(actions: &Json, after: &str) -> String {
        json!({
            "timestamp": after,
            "resource_changes": [
                {"address": "a.b", "type": "a", "change": {"actions": actions, "after": {"x": 1}}},
                {"address": "data.c.d", "type": "c", "change": {"actions": ["read"]}},
                {"address": "a.e", "type": "a", "change": {"actions": ["no-op"], "importing": {"id": "1"}}},
            ],
            "resource_drift": [{"address": "a.b", "type": "a", "change": {"actions": ["update"]}}],
        })
        .to_string()
    }

    #[test]
    fn a_plan_is_read() {
        let read = read(&plan(&json!(["delete", "create"]), ""), Kind::OpenTofu, &State::default()).unwrap();
        let found: Vec<_> = read.changes.iter().map(|change| (change.address.as_str(), change.action)).collect();
        assert_eq!(found, [("a.b", ChangeAction::Replace), ("a.e", ChangeAction::Import)]);
        assert_eq!(read.drifted, ["a.b"]);
    }

    #[test]
    fn the_id_is_what_is_done() {
        let id = |actions: &Json, time: &str, kind, serial| {
            let state = State { serial, ..State::default() };
            read(&plan(actions, time), kind, &state).unwrap().id
        };
        let create = json!(["create"]);
        let first = id(&create, "now", Kind::OpenTofu, 1);
        assert_eq!(first, id(&create, "later", Kind::OpenTofu, 1));
        assert_ne!(first, id(&create, "now", Kind::OpenTofu, 2));
        assert_ne!(first, id(&create, "now", Kind::Terraform, 1));
        assert_ne!(first, id(&json!(["update"]), "now", Kind::OpenTofu, 1));
        assert!(first.starts_with("plan-") && first.len() == 37, "{first}");
    }
}
