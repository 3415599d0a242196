//! What a patch says, in whichever of the three forms.

use std::collections::BTreeSet;

use groma_kit::{Object, at};
use groma_model::diag::{Diagnostic, Diagnostics};
use serde_json::Map;

use super::operations::Operations;
use crate::Json;
use crate::manifest::{Manifest, OWN_ANNOTATIONS, ObjectRef};
use crate::object::body::bare;
use crate::path::FieldPath;

/// The attributes, one of which is given.
pub(super) const FORMS: [&str; 3] = ["patch", "json_patch", "merge_patch"];

/// A patch.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    /// Parts of the object, applied by a manager of its own.
    Apply(Json),
    /// RFC 6902.
    Json(Operations),
    /// RFC 7386.
    Merge(Json),
}

impl Content {
    /// Reads the attributes. None if the one that is given is not known yet.
    pub(super) fn read(object: &Object) -> Result<Option<Content>, Diagnostics> {
        if FORMS.iter().any(|name| object.is_unknown(name)) {
            return Ok(None);
        }
        let given: Vec<(&str, &str)> = FORMS.iter().filter_map(|name| Some((*name, object.text(name)?))).collect();
        let [(name, text)] = given.as_slice() else {
            let detail = "Exactly one of patch, json_patch and merge_patch must be given.";
            return Err(Diagnostic::error("Invalid combination of arguments", detail).into());
        };
        let read = match *name {
            "patch" => partial(text),
            "json_patch" => Operations::parse(text).map(Content::Json),
            _ => merge(text),
        };
        let place = |found: Diagnostic| if found.path.is_some() { found } else { found.at_path(at(name)) };
        read.map(Some).map_err(|found| found.into_iter().map(place).collect())
    }

    /// Which attribute it is from.
    pub(super) fn form(&self) -> &'static str {
        match self {
            Content::Apply(_) => FORMS[0],
            Content::Json(_) => FORMS[1],
            Content::Merge(_) => FORMS[2],
        }
    }

    /// The places that a patch touches which is not applied by a manager, as they are in an object.
    pub(super) fn touched(&self, object: &Json) -> BTreeSet<FieldPath> {
        match self {
            Content::Apply(_) => BTreeSet::new(),
            Content::Json(operations) => operations.touched(object),
            Content::Merge(document) => {
                let mut places = BTreeSet::new();
                leaves(document, &FieldPath::default(), &mut places);
                places
            }
        }
    }
}

/// What a manager applies: the patch, and which object it is for.
pub(super) fn whole(patch: &Json, target: &ObjectRef) -> Json {
    let (mut body, Json::Object(names)) = (patch.clone(), bare(target)) else { return patch.clone() };
    let Some(members) = body.as_object_mut() else { return Json::Object(names) };
    for (name, value) in names {
        match value {
            Json::Object(value) => {
                let metadata = members.entry(name).or_insert_with(|| Json::Object(Map::new()));
                match metadata.as_object_mut() {
                    Some(metadata) => metadata.extend(value),
                    None => *metadata = Json::Object(value),
                }
            }
            value => {
                members.insert(name, value);
            }
        }
    }
    body
}

fn partial(text: &str) -> Result<Content, Diagnostics> {
    let manifest = Manifest::parse_part(text)?;
    let found = manifest.check();
    if found.has_errors() {
        return Err(found);
    }
    let is_empty = manifest.object.as_object().is_none_or(Map::is_empty);
    if is_empty {
        let detail = "There is nothing in it. Write the parts of the object that are to be set, as YAML or JSON.";
        return Err(Diagnostic::error("Empty patch", detail).into());
    }
    Ok(Content::Apply(manifest.object))
}

fn merge(text: &str) -> Result<Content, Diagnostics> {
    let wrong = |detail: String| Diagnostics::from(Diagnostic::error("Invalid merge patch", detail));
    let document: Json = serde_json::from_str(text).map_err(|error| wrong(format!("It is no JSON: {error}.")))?;
    let Some(members) = document.as_object() else { return Err(wrong("A merge patch is a JSON object.".to_owned())) };
    if members.is_empty() {
        return Err(wrong("There is nothing in it.".to_owned()));
    }
    if members.contains_key("status") {
        return Err(wrong("status is written by controllers, and is no part of a patch.".to_owned()));
    }
    let metadata = members.get("metadata").and_then(Json::as_object);
    for name in ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"] {
        if metadata.is_some_and(|metadata| metadata.contains_key(name)) {
            return Err(wrong(format!("metadata.{name} is written by the server, and is no part of a patch.")));
        }
    }
    let annotations = metadata.and_then(|metadata| metadata.get("annotations")).and_then(Json::as_object);
    if annotations.is_some_and(|annotations| annotations.keys().any(|name| name.starts_with(OWN_ANNOTATIONS))) {
        return Err(wrong(format!(
            "The annotations {OWN_ANNOTATIONS}* say whose objects are, and are no part of a patch."
        )));
    }
    Ok(Content::Merge(document))
}

pub(super) fn leaves(document: &Json, at: &FieldPath, places: &mut BTreeSet<FieldPath>) {
    match document.as_object() {
        Some(members) if !members.is_empty() => {
            for (name, value) in members {
                leaves(value, &at.field(name), places);
            }
        }
        _ => {
            places.insert(at.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use groma_model::ty::Type;
    use groma_model::value::Value;
    use serde_json::json;

    use super::*;

    fn read(given: &[(&str, &str)]) -> Result<Option<Content>, Diagnostics> {
        let value = |name: &str| {
            let text = given.iter().find(|(given, _)| *given == name);
            text.map_or_else(|| Value::null(Type::String), |(_, text)| Value::string(*text))
        };
        Content::read(&Object::of(&Value::object(FORMS.map(|name| (name, value(name))))))
    }

    #[test]
    fn exactly_one_form_is_given() {
        assert!(read(&[]).is_err());
        assert!(read(&[("patch", "a: b"), ("merge_patch", "{\"a\":1}")]).is_err());
        assert_eq!(read(&[("merge_patch", "{\"a\":1}")]), Ok(Some(Content::Merge(json!({"a": 1})))));
    }

    #[test]
    fn what_is_not_to_be_patched_is_refused() {
        for text in ["[]", "{}", "{", r#"{"status":{}}"#, r#"{"metadata":{"uid":"x"}}"#] {
            assert!(read(&[("merge_patch", text)]).is_err(), "{text}");
        }
        let own = r#"{"metadata":{"annotations":{"k8sconnect.terraform.io/terraform-id":"x"}}}"#;
        assert!(read(&[("merge_patch", own)]).is_err());
    }

    #[test]
    fn a_merge_touches_what_it_names() {
        let merge = Content::Merge(json!({"spec": {"a": 1, "b": null, "c": {}}, "x.y": [1]}));
        let touched: Vec<String> = merge.touched(&json!({})).iter().map(ToString::to_string).collect();
        let expected: Vec<String> = [&["spec", "a"][..], &["spec", "b"], &["spec", "c"], &["x.y"]]
            .iter()
            .map(|names| FieldPath::of(names.iter().copied()).to_string())
            .collect();
        assert_eq!(touched, expected);
    }

    #[test]
    fn a_partial_object_is_completed_with_its_name() {
        let target = ObjectRef {
            api_version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            namespace: Some("a".to_owned()),
            name: "x".to_owned(),
        };
        let body = whole(&json!({"metadata": {"labels": {"l": "1"}}, "data": {"k": "v"}}), &target);
        let expected = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"labels": {"l": "1"}, "name": "x", "namespace": "a"},
            "data": {"k": "v"},
        });
        assert_eq!(body, expected);
        assert_eq!(whole(&json!({"data": {}}), &target)["metadata"]["name"], "x");
    }
}
