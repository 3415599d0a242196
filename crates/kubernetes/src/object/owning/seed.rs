//! What is left to others and was made by us: a second manager holds it, so that it stays when we let go of it, until somebody else
//! takes it.

use std::collections::BTreeSet;

use serde_json::{Map, json};

use super::fields::is_key;
use crate::Json;
use crate::ignore::Ignored;
use crate::manifest::ObjectRef;
use crate::object::body::bare;
use crate::ownership::{MANAGER, SEED_MANAGER, owned_by};
use crate::path::{FieldPath, Step};

/// What the second manager must apply before we let go: everything that is ignored and ours or its own, as it is now. None if there is
/// nothing to let go.
pub(crate) fn to_release(live: &Json, ignored: &Ignored, reference: &ObjectRef) -> Option<Json> {
    let held = held(live, ignored);
    let ours = owned_by(live, |manager| manager == MANAGER);
    held.iter().any(|place| ours.contains(place)).then(|| part(live, &held, reference))
}

/// What the second manager must apply after we have written, since it holds what is not ignored any more. None if it does not.
pub(crate) fn to_trim(live: &Json, ignored: &Ignored, reference: &ObjectRef) -> Option<Json> {
    let held = held(live, ignored);
    let seeded = owned_by(live, |manager| manager == SEED_MANAGER);
    let too_much = seeded.iter().any(|place| !is_key(place) && !held.contains(place));
    too_much.then(|| part(live, &held, reference))
}

/// The places that are ignored and belong to one of our two managers. What others have is not held: that would get into their way.
fn held(live: &Json, ignored: &Ignored) -> BTreeSet<FieldPath> {
    let Some(part) = (!ignored.is_empty()).then(|| ignored.only(live)).flatten() else { return BTreeSet::new() };
    let mut places = owned_by(live, |manager| manager == MANAGER || manager == SEED_MANAGER);
    // Of a value that is owned as one only the whole can be held.
    places.retain(|place| !is_key(place) && place.find(&part).is_some_and(|value| Some(value) == place.find(live)));
    places
}

/// An object with what is at these places, and nothing else but its name.
fn part(live: &Json, places: &BTreeSet<FieldPath>, reference: &ObjectRef) -> Json {
    let mut part = bare(reference);
    for place in places {
        if let Some(value) = place.find(live) {
            put(&mut part, &place.0, value);
        }
    }
    part
}

/// Puts a value at a place. Elements of lists come with their keys.
fn put(inside: &mut Json, steps: &[Step], value: &Json) {
    let Some((step, rest)) = steps.split_first() else {
        *inside = value.clone();
        return;
    };
    if let Step::Field(name) = step {
        if !inside.is_object() {
            *inside = Json::Object(Map::new());
        }
        if let Some(members) = inside.as_object_mut() {
            put(members.entry(name.as_str()).or_insert(Json::Null), rest, value);
        }
        return;
    }
    if !inside.is_array() {
        *inside = json!([]);
    }
    let at = FieldPath(vec![step.clone()]);
    let is_there = at.find(inside).is_some();
    let Some(items) = inside.as_array_mut() else { return };
    if !is_there {
        items.push(match step {
            Step::Key(keys) => keys.iter().map(|(name, value)| (name.clone(), value.json())).collect(),
            Step::Value(value) => value.json(),
            _ => Json::Null,
        });
    }
    let element = at.located(inside).and_then(|at| match at.0.as_slice() {
        [Step::Index(index)] => inside.as_array_mut()?.get_mut(*index),
        _ => None,
    });
    if let Some(element) = element
        && !rest.is_empty()
    {
        put(element, rest, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference() -> ObjectRef {
        ObjectRef {
            api_version: "apps/v1".to_owned(),
            kind: "Deployment".to_owned(),
            namespace: Some("a".to_owned()),
            name: "d".to_owned(),
        }
    }

    fn ignored(paths: &[&str]) -> Ignored {
        Ignored::parse(paths.iter().copied()).unwrap()
    }

    /// A live object whose fields have these owners.
    fn live(owners: &[(&str, Json)]) -> Json {
        let entry = |(manager, fields): &(&str, Json)| {
            json!({
                "manager": manager, "operation": "Apply", "apiVersion": "apps/v1",
                "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": fields},
            })
        };
        let entries: Vec<Json> = owners.iter().map(entry).collect();
        let env = json!([{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]);
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "d", "namespace": "a", "managedFields": entries},
            "spec": {"replicas": 3, "paused": true, "env": env},
        })
    }

    fn env(names: &[&str]) -> Json {
        let key = |name: &&str| (format!("k:{{\"name\":{name:?}}}"), json!({".": {}, "f:name": {}, "f:value": {}}));
        json!({"f:env": names.iter().map(key).collect::<Json>()})
    }

    #[test]
    fn what_is_ours_and_ignored_is_released() {
        let live = live(&[(MANAGER, json!({"f:replicas": {}, "f:paused": {}}))]);
        let part = to_release(&live, &ignored(&["spec.replicas"]), &reference()).unwrap();
        assert_eq!(part["spec"], json!({"replicas": 3}));
        assert_eq!(part["metadata"], json!({"name": "d", "namespace": "a"}));
        assert_eq!(to_release(&live, &ignored(&["spec.gone"]), &reference()), None);
        assert_eq!(to_release(&live, &Ignored::default(), &reference()), None);
    }

    #[test]
    fn what_is_held_already_goes_on_being_held() {
        let live = live(&[(MANAGER, json!({"f:paused": {}})), (SEED_MANAGER, json!({"f:replicas": {}}))]);
        assert_eq!(to_release(&live, &ignored(&["spec.replicas"]), &reference()), None);
        let part = to_release(&live, &ignored(&["spec.replicas", "spec.paused"]), &reference()).unwrap();
        assert_eq!(part["spec"], json!({"replicas": 3, "paused": true}));
    }

    #[test]
    fn what_others_have_is_not_held() {
        let live = live(&[(MANAGER, json!({"f:paused": {}})), ("hpa", json!({"f:replicas": {}}))]);
        let part = to_release(&live, &ignored(&["spec"]), &reference()).unwrap();
        assert_eq!(part["spec"], json!({"paused": true}));
    }

    #[test]
    fn elements_of_lists_come_with_their_keys() {
        let live = live(&[(MANAGER, env(&["A"])), ("others", env(&["B"]))]);
        let part = to_release(&live, &ignored(&["spec.env[*].value"]), &reference()).unwrap();
        assert_eq!(part["spec"], json!({"env": [{"name": "A", "value": "1"}]}));
    }

    #[test]
    fn what_is_not_ignored_any_more_is_let_go() {
        let live = live(&[(SEED_MANAGER, json!({"f:replicas": {}, "f:paused": {}}))]);
        let part = to_trim(&live, &ignored(&["spec.replicas"]), &reference()).unwrap();
        assert_eq!(part["spec"], json!({"replicas": 3}));
        assert_eq!(to_trim(&live, &Ignored::default(), &reference()), Some(bare(&reference())));
        assert_eq!(to_trim(&live, &ignored(&["spec.replicas", "spec.paused"]), &reference()), None);
    }
}
