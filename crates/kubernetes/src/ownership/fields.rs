//! `managedFields` as the server writes it: for each manager a tree of what it owns (`FieldsV1`).

use std::collections::BTreeSet;

use crate::Json;
use crate::path::{FieldPath, Literal, Step};

/// Managers and their trees. One manager may have several.
pub(super) fn entries(live: &Json) -> impl Iterator<Item = (&str, &Json)> {
    let entries = live.pointer("/metadata/managedFields").and_then(Json::as_array);
    entries.into_iter().flatten().filter_map(|entry| Some((entry.get("manager")?.as_str()?, entry.get("fieldsV1")?)))
}

/// All places in a tree that are owned.
pub(super) fn places(fields: &Json) -> BTreeSet<FieldPath> {
    let mut found = BTreeSet::new();
    collect(fields, &mut Vec::new(), &mut found);
    found
}

fn collect(fields: &Json, at: &mut Vec<Step>, found: &mut BTreeSet<FieldPath>) {
    let Some(members) = fields.as_object() else { return };
    let mut has_inner = false;
    for (name, inner) in members {
        let Some(step) = step(name) else { continue };
        has_inner = true;
        at.push(step);
        collect(inner, at, found);
        at.pop();
    }
    // Where there is more below, a dot says that the place itself is owned as well.
    if !at.is_empty() && (!has_inner || members.contains_key(".")) {
        found.insert(FieldPath(at.clone()));
    }
}

/// `f:name`, `k:{"name":"x"}`, `v:"x"`, `i:0`. A dot is no step.
fn step(name: &str) -> Option<Step> {
    let (kind, rest) = name.split_once(':')?;
    Some(match kind {
        "f" => Step::Field(rest.to_owned()),
        "k" => {
            let Json::Object(members) = serde_json::from_str(rest).ok()? else { return None };
            let mut keys: Vec<_> = members.iter().map(|(name, value)| (name.clone(), Literal::of(value))).collect();
            keys.sort();
            Step::Key(keys)
        }
        "v" => Step::Value(Literal::of(&serde_json::from_str(rest).ok()?)),
        "i" => Step::Index(rest.parse().ok()?),
        _ => return None,
    })
}
