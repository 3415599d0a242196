//! What becomes of an object when somebody has written it anew, and others have changed it meanwhile: what is written otherwise than before
//! holds, and everything else stays as it is. So what commands have set stays until somebody writes something else in its place.

use std::collections::{BTreeMap, BTreeSet};

use kube::api::DynamicObject;
use serde_json::{Map, Value as Json, json};

/// The object with what is written now in the place of what was written before.
pub(super) fn merged(before: &Json, now: &Json, mut object: DynamicObject) -> DynamicObject {
    let status = object.data.get("status").cloned();
    let mut live = object.data.clone();
    if let Some(fields) = live.as_object_mut() {
        fields.remove("status");
        fields.insert("labels".to_owned(), json!(object.metadata.labels.clone().unwrap_or_default()));
        fields.insert("annotations".to_owned(), json!(object.metadata.annotations.clone().unwrap_or_default()));
    }
    let mut merged = merge(Some(before), Some(now), Some(&live)).unwrap_or_default();
    if let Some(fields) = merged.as_object_mut() {
        object.metadata.labels = texts(fields.remove("labels"));
        object.metadata.annotations = texts(fields.remove("annotations"));
        fields.extend(status.map(|status| ("status".to_owned(), status)));
    }
    object.data = merged;
    object
}

fn texts(value: Option<Json>) -> Option<BTreeMap<String, String>> {
    let found: BTreeMap<String, String> = value.and_then(|value| serde_json::from_value(value).ok())?;
    (!found.is_empty()).then_some(found)
}

fn merge(before: Option<&Json>, now: Option<&Json>, live: Option<&Json>) -> Option<Json> {
    if now == before {
        return live.cloned();
    }
    let (Some(Json::Object(now)), Some(Json::Object(live))) = (now, live) else { return now.cloned() };
    let before = before.and_then(Json::as_object);
    let names: BTreeSet<&String> = now.keys().chain(live.keys()).collect();
    let fields = names.into_iter().filter_map(|name| {
        let value = merge(before.and_then(|before| before.get(name)), now.get(name), live.get(name))?;
        Some((name.clone(), value))
    });
    Some(Json::Object(fields.collect::<Map<_, _>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: Json, now: Json, live: Json, expected: Json) {
        assert_eq!(merge(Some(&before), Some(&now), Some(&live)), Some(expected));
    }

    #[test]
    fn what_is_written_anew_holds_and_the_rest_stays() {
        check(json!({"a": 1}), json!({"a": 2}), json!({"a": 1, "b": 3}), json!({"a": 2, "b": 3}));
        check(json!({"a": 1, "c": 1}), json!({"a": 1}), json!({"a": 5, "c": 1}), json!({"a": 5}));
        check(json!({}), json!({"s": false}), json!({"s": true}), json!({"s": false}));
        check(json!({"l": [1, 2]}), json!({"l": [1]}), json!({"l": [1, 2]}), json!({"l": [1]}));
    }

    #[test]
    fn what_commands_have_set_stays_until_it_is_written_otherwise() {
        let live = json!({"suspend": true, "path": "a"});
        check(json!({"path": "a"}), json!({"path": "b"}), live.clone(), json!({"suspend": true, "path": "b"}));
        check(
            json!({"suspend": false, "path": "a"}),
            json!({"suspend": false, "path": "b"}),
            live,
            json!({"suspend": true, "path": "b"}),
        );
    }
}
