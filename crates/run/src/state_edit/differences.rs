//! What two states say differently: names, and no values.

use std::collections::{BTreeMap, BTreeSet};

use groma_state::{Attributes, ObjectState, State};
use serde_json::Value;

/// Something that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// Only the later one has it.
    Added(String),
    /// Only the earlier one has it.
    Removed(String),
    /// Both have it, and these attributes differ.
    Changed(String, BTreeSet<String>),
}

/// What a later state says otherwise than an earlier one: objects and outputs, by address.
pub fn differences(earlier: &State, later: &State) -> Vec<Difference> {
    let (before, after) = (contents(earlier), contents(later));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differ = |name: &String| match (before.get(name), after.get(name)) {
        (None, _) => Some(Difference::Added(name.clone())),
        (_, None) => Some(Difference::Removed(name.clone())),
        (Some(before), Some(after)) if before != after => {
            Some(Difference::Changed(name.clone(), changed(before, after)))
        }
        _ => None,
    };
    names.into_iter().filter_map(differ).collect()
}

fn contents(state: &State) -> BTreeMap<String, BTreeMap<String, Value>> {
    let mut found = BTreeMap::new();
    for (address, resource) in &state.resources {
        for (key, instance) in &resource.instances {
            let address = address.instance(key.clone());
            if let Some(object) = &instance.current {
                found.insert(address.object(None).to_string(), members(object));
            }
            for (key, object) in &instance.deposed {
                found.insert(address.object(Some(key.clone())).to_string(), members(object));
            }
        }
    }
    for (name, output) in &state.outputs {
        let value = groma_model::codec::json::encode_plain(&output.value).unwrap_or_default();
        found.insert(format!("output.{name}"), BTreeMap::from([("value".to_owned(), Value::String(value))]));
    }
    found
}

fn members(object: &ObjectState) -> BTreeMap<String, Value> {
    let mut found: BTreeMap<String, Value> = match &object.attributes {
        Attributes::Json(text) => serde_json::from_str(text).unwrap_or_default(),
        Attributes::Flat(flat) => {
            flat.iter().map(|(name, value)| (name.clone(), Value::String(value.clone()))).collect()
        }
    };
    found.insert("(status)".to_owned(), Value::String(format!("{:?}", object.status)));
    found
}

fn changed(before: &BTreeMap<String, Value>, after: &BTreeMap<String, Value>) -> BTreeSet<String> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    names.into_iter().filter(|name| before.get(*name) != after.get(*name)).cloned().collect()
}
