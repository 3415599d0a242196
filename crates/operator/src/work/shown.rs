//! What a plan changes, in the form of `show -json` and without what must not be seen: for those who are asked about it.

use serde_json::{Map, Value as Json, json};

/// Stands for what must not be seen.
const HIDDEN: &str = "(sensitive value)";
/// What is told of a change. Everything else has values in it that nobody says anything about.
const TOLD: [&str; 8] = ["address", "previous_address", "module_address", "mode", "type", "name", "index", "deposed"];
/// What is told of what is done.
const DONE: [&str; 5] = ["actions", "after_unknown", "replace_paths", "before_sensitive", "after_sensitive"];

/// The changes of a plan, from the whole document.
pub(super) fn changes(document: &Json) -> Json {
    let resources = document["resource_changes"].as_array().into_iter().flatten().map(resource).collect::<Vec<_>>();
    let outputs = document["output_changes"].as_object().into_iter().flatten();
    let outputs: Map<String, Json> = outputs.map(|(name, change)| (name.clone(), done(change))).collect();
    json!({ "resourceChanges": resources, "outputChanges": outputs })
}

fn resource(change: &Json) -> Json {
    let mut told = picked(change, &TOLD);
    told.insert("change".to_owned(), done(&change["change"]));
    Json::Object(told)
}

fn done(change: &Json) -> Json {
    let mut told = picked(change, &DONE);
    for (values, hidden) in [("before", "before_sensitive"), ("after", "after_sensitive")] {
        told.insert(values.to_owned(), masked(&change[values], &change[hidden]));
    }
    Json::Object(told)
}

fn picked(from: &Json, names: &[&str]) -> Map<String, Json> {
    let given = names.iter().filter_map(|name| Some(((*name).to_owned(), from.get(name)?.clone())));
    given.collect()
}

/// A value without what is called sensitive: `true`, or the same shape with `true` where it is.
fn masked(value: &Json, hidden: &Json) -> Json {
    match (value, hidden) {
        (Json::Null, _) => Json::Null,
        (_, Json::Bool(true)) => json!(HIDDEN),
        (Json::Object(fields), Json::Object(hidden)) => {
            let field = |(name, value): (&String, &Json)| {
                (name.clone(), masked(value, hidden.get(name).unwrap_or(&Json::Null)))
            };
            Json::Object(fields.iter().map(field).collect())
        }
        (Json::Array(items), Json::Array(hidden)) => {
            let item = |(at, value): (usize, &Json)| masked(value, hidden.get(at).unwrap_or(&Json::Null));
            Json::Array(items.iter().enumerate().map(item).collect())
        }
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sensitive_is_not_told() {
        let document = json!({
            "variables": {"password": {"value": "hunter2"}},
            "prior_state": {"values": "hunter2"},
            "resource_changes": [{
                "address": "a.b", "type": "a", "provider_name": "p",
                "change": {
                    "actions": ["update"], "before": {"x": 1, "key": "hunter2"}, "before_sensitive": {"key": true},
                    "after": {"x": 2, "list": ["hunter2", "seen"], "deep": [{"key": "hunter2", "n": 1}]},
                    "after_sensitive": {"list": [true], "deep": [{"key": true}]}, "after_unknown": {"id": true},
                    "generated_config": "hunter2",
                },
            }],
            "output_changes": {
                "o": {"actions": ["create"], "before": null, "after": "hunter2", "after_sensitive": true, "before_sensitive": false},
            },
        });
        let told = changes(&document);
        assert!(!told.to_string().contains("hunter2"), "{told}");
        let after = &told["resourceChanges"][0]["change"]["after"];
        assert_eq!(after, &json!({"x": 2, "list": [HIDDEN, "seen"], "deep": [{"key": HIDDEN, "n": 1}]}));
        assert_eq!(told["outputChanges"]["o"]["after"], HIDDEN);
    }
}
