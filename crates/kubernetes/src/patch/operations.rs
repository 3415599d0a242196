//! JSON patches (RFC 6902): what is wrong with one, what it touches, and which of its operations are done already.

use std::collections::BTreeSet;

use groma_model::diag::{Diagnostic, Diagnostics};

use super::content::leaves;
use super::pointer::{Place, parts, place};
use crate::Json;
use crate::path::{FieldPath, Literal, Step};

/// Parts of objects that only the server writes.
const SERVER_MANAGED: [&str; 6] = [
    "/metadata/uid",
    "/metadata/resourceVersion",
    "/metadata/generation",
    "/metadata/creationTimestamp",
    "/metadata/managedFields",
    "/status",
];

/// A JSON patch, as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operations(Vec<Json>);

impl Operations {
    /// Reads a patch.
    pub(super) fn parse(text: &str) -> Result<Operations, Diagnostics> {
        let wrong = |detail: String| Diagnostic::error("Invalid JSON patch", detail);
        let operations = match serde_json::from_str(text) {
            Ok(Json::Array(operations)) => operations,
            Ok(_) => return Err(wrong("A JSON patch is an array of operations.".to_owned()).into()),
            Err(error) => return Err(wrong(format!("It is no JSON: {error}.")).into()),
        };
        if operations.is_empty() {
            return Err(wrong("There is no operation in it.".to_owned()).into());
        }
        let problems = operations.iter().enumerate().filter_map(|(at, operation)| Some((at, problem(operation)?)));
        let found: Diagnostics =
            problems.map(|(at, problem)| wrong(format!("Operation {} {problem}.", at + 1))).collect();
        if found.has_errors() { Err(found) } else { Ok(Operations(operations)) }
    }

    /// What nobody but the server writes.
    pub(super) fn warnings(&self) -> Diagnostics {
        let is_managed = |path: &str| SERVER_MANAGED.iter().any(|managed| is_below(path, managed));
        let paths = self.changing().filter_map(|operation| text(operation, "path")).filter(|path| is_managed(path));
        paths
            .map(|path| {
                let detail = format!("{path} is written by the server. It may refuse the patch, or undo it.");
                Diagnostic::warning("Patch of a field that the server manages", detail)
            })
            .collect()
    }

    fn changing(&self) -> impl Iterator<Item = &Json> {
        self.0.iter().filter(|operation| text(operation, "op") != Some("test"))
    }

    /// Without those that are done already and would fail or add up if they were done again. Tests are left out.
    pub(super) fn left_to_do(&self, live: &Json) -> Vec<Json> {
        self.changing().filter(|operation| !is_done(operation, live)).cloned().collect()
    }

    /// Those that are left to do, with all tests.
    pub(super) fn with_tests(&self, live: &Json) -> Vec<Json> {
        let is_left = |operation: &&Json| text(operation, "op") == Some("test") || !is_done(operation, live);
        self.0.iter().filter(is_left).cloned().collect()
    }

    /// The places that it touches, as they are in an object. What is put at the end of a list is an element by its value; of an object that
    /// is put somewhere, each member counts.
    pub(super) fn touched(&self, object: &Json) -> BTreeSet<FieldPath> {
        let mut places = BTreeSet::new();
        for operation in self.changing() {
            let from = (text(operation, "op") == Some("move")).then(|| text(operation, "from")).flatten();
            for pointer in from.into_iter().chain(text(operation, "path")) {
                match (place(pointer, object), operation.get("value")) {
                    (Some(Place::At(path)), Some(value @ Json::Object(members))) if !members.is_empty() => {
                        leaves(value, &path, &mut places);
                    }
                    (Some(Place::At(path)), _) => {
                        places.insert(path);
                    }
                    (Some(Place::EndOf(list)), _) => {
                        places.insert(element(&list, operation, object));
                    }
                    (None, _) => {}
                }
            }
        }
        places
    }
}

fn text<'o>(operation: &'o Json, name: &str) -> Option<&'o str> {
    operation.get(name)?.as_str()
}

fn is_below(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What is wrong with an operation.
fn problem(operation: &Json) -> Option<String> {
    if !operation.is_object() {
        return Some("is no object".to_owned());
    }
    let Some(op) = text(operation, "op") else { return Some("has no \"op\"".to_owned()) };
    let needs = match op {
        "add" | "replace" | "test" => Some("value"),
        "move" | "copy" => Some("from"),
        "remove" => None,
        other => {
            return Some(format!("has the unknown \"op\" {other:?}: use add, remove, replace, move, copy or test"));
        }
    };
    for name in ["path", "from"] {
        if let Some(pointer) = text(operation, name)
            && parts(pointer).is_none()
        {
            return Some(format!("has the {name} {pointer:?}, which is no JSON pointer: they begin with \"/\""));
        }
    }
    if text(operation, "path").is_none() {
        return Some("has no \"path\"".to_owned());
    }
    needs.filter(|name| operation.get(name).is_none()).map(|name| format!("({op}) has no {name:?}"))
}

/// Whether an operation is done already. Those that can be done again and again do not count as done.
fn is_done(operation: &Json, live: &Json) -> bool {
    let is_there = |pointer: Option<&str>| match pointer.and_then(|pointer| place(pointer, live)) {
        Some(Place::At(path)) => path.find(live).is_some(),
        _ => false,
    };
    match text(operation, "op") {
        Some("remove") => !is_there(text(operation, "path")),
        Some("move") => !is_there(text(operation, "from")),
        Some("add") => {
            let value = operation.get("value").unwrap_or(&Json::Null);
            match text(operation, "path").and_then(|pointer| place(pointer, live)) {
                Some(Place::EndOf(list)) => list
                    .find(live)
                    .and_then(Json::as_array)
                    .is_some_and(|items| items.iter().any(|item| has(item, value))),
                // To insert it again would move what is there.
                Some(Place::At(path)) if matches!(path.0.last(), Some(Step::Index(_))) => {
                    path.find(live).is_some_and(|item| has(item, value))
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// Whether a value is what was wanted, with what the server has filled in.
fn has(value: &Json, wanted: &Json) -> bool {
    match (value, wanted) {
        (Json::Object(members), Json::Object(wanted)) => {
            wanted.iter().all(|(name, wanted)| members.get(name).is_some_and(|member| has(member, wanted)))
        }
        (Json::Array(items), Json::Array(wanted)) => {
            items.len() == wanted.len() && items.iter().zip(wanted).all(|(item, wanted)| has(item, wanted))
        }
        _ => value == wanted,
    }
}

/// The element that was put at the end of a list.
fn element(list: &FieldPath, operation: &Json, object: &Json) -> FieldPath {
    let value = operation.get("value").unwrap_or(&Json::Null);
    let items = list.find(object).and_then(Json::as_array);
    let found = items.and_then(|items| items.iter().find(|item| has(item, value)));
    list.join(Step::Value(Literal::of(found.unwrap_or(value))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn operations(patch: Json) -> Operations {
        Operations::parse(&patch.to_string()).unwrap()
    }

    fn refused(patch: &str) -> String {
        let found = Operations::parse(patch).unwrap_err();
        let details: Vec<&str> = found.iter().map(|found| found.detail.as_str()).collect();
        details.join(" ")
    }

    #[test]
    fn every_mistake_is_told() {
        assert!(refused("{").contains("no JSON"));
        assert!(refused("{}").contains("array"));
        assert!(refused("[]").contains("no operation"));
        let text = refused(
            r#"[{"op":"put","path":"/a"},{"op":"add","path":"a","value":1},{"op":"copy","path":"/a"},{"op":"add","path":"/a"}]"#,
        );
        for part in [
            "Operation 1 has the unknown",
            "Operation 2 has the path \"a\"",
            "3 (copy) has no \"from\"",
            "4 (add) has no \"value\"",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn what_is_done_is_not_done_again() {
        let live = json!({"list": [{"name": "a", "default": true}, "x"], "to": 1});
        let patch = operations(json!([
            {"op": "add", "path": "/list/-", "value": {"name": "a"}},
            {"op": "add", "path": "/list/1", "value": "x"},
            {"op": "remove", "path": "/gone"},
            {"op": "move", "from": "/gone", "path": "/to"},
            {"op": "add", "path": "/list/-", "value": "y"},
            {"op": "remove", "path": "/to"},
        ]));
        let left = patch.left_to_do(&live);
        assert_eq!(left, patch.0[4..]);
    }

    #[test]
    fn what_can_be_repeated_is_repeated() {
        let patch = operations(json!([
            {"op": "test", "path": "/a", "value": 1},
            {"op": "add", "path": "/a", "value": 1},
            {"op": "replace", "path": "/b", "value": 1},
        ]));
        let live = json!({"a": 1, "b": 1});
        assert_eq!(patch.left_to_do(&live).len(), 2);
        assert_eq!(patch.with_tests(&live), patch.0);
    }

    #[test]
    fn touched_places_are_those_of_the_object() {
        let patch = operations(json!([
            {"op": "test", "path": "/x", "value": 1},
            {"op": "add", "path": "/metadata/labels/a~1b", "value": "c"},
            {"op": "add", "path": "/list/-", "value": {"name": "n"}},
            {"op": "move", "from": "/old", "path": "/new"},
            {"op": "add", "path": "/metadata/annotations", "value": {"a": "1", "b": {"c": "2"}}},
        ]));
        let object = json!({"metadata": {"labels": {}}, "list": [{"name": "n", "more": 1}]});
        let touched: Vec<String> = patch.touched(&object).iter().map(ToString::to_string).collect();
        assert_eq!(touched.len(), 6);
        assert!(touched.contains(&"metadata.annotations.b.c".to_owned()));
        assert!(touched.contains(&FieldPath::of(["metadata", "labels", "a/b"]).to_string()));
        let found = patch.touched(&object).iter().filter(|place| place.find(&object).is_some()).count();
        assert_eq!(found, 1);
    }

    #[test]
    fn fields_of_the_server_are_warned_about() {
        let patch = operations(json!([
            {"op": "remove", "path": "/status/x"},
            {"op": "remove", "path": "/statusPage"},
            {"op": "test", "path": "/metadata/uid", "value": "u"},
        ]));
        assert_eq!(patch.warnings().len(), 1);
    }
}
