//! What is sent: the manifest in the form that the server keeps it in, with what says whose it is.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, json};

use super::claim::{CREATED_ANNOTATION, ID_ANNOTATION};
use crate::Json;
use crate::manifest::ObjectRef;

/// The manifest as it is sent: with the namespace that it goes to, and Secrets in the form that they are stored in.
pub(crate) fn sent(manifest: &Json, reference: &ObjectRef) -> Json {
    let mut body = manifest.clone();
    if let Some(metadata) = body.get_mut("metadata").and_then(Json::as_object_mut) {
        match &reference.namespace {
            Some(namespace) => {
                metadata.insert("namespace".to_owned(), json!(namespace));
            }
            None => {
                metadata.shift_remove("namespace");
            }
        }
    }
    if is_secret(reference) {
        encode_string_data(&mut body);
    }
    body
}

/// Whether its data is secret.
pub(crate) fn is_secret(reference: &ObjectRef) -> bool {
    reference.kind == "Secret" && reference.api_version == "v1"
}

/// The server turns `stringData` into `data` and forgets who wrote it, so that nobody would own the values.
fn encode_string_data(body: &mut Json) {
    let Some(members) = body.as_object_mut() else { return };
    let Some(Json::Object(texts)) = members.get("stringData") else { return };
    // What is no text is the server's to complain about.
    if !texts.values().all(Json::is_string)
        || !members.get("data").is_none_or(|data| data.is_object() || data.is_null())
    {
        return;
    }
    let encode = |text: &Json| json!(STANDARD.encode(text.as_str().unwrap_or_default()));
    let encoded: Vec<(String, Json)> = texts.iter().map(|(name, text)| (name.clone(), encode(text))).collect();
    members.shift_remove("stringData");
    let data = members.entry("data").or_insert_with(|| Json::Object(Map::new()));
    if data.is_null() {
        *data = Json::Object(Map::new());
    }
    if let Some(data) = data.as_object_mut() {
        data.extend(encoded);
    }
}

/// With the annotations that say whose it is.
pub(crate) fn owned(body: &Json, id: &str, created_at: &str) -> Json {
    let mut body = body.clone();
    if let Some(metadata) = body.get_mut("metadata").and_then(Json::as_object_mut) {
        let annotations = metadata.entry("annotations").or_insert_with(|| Json::Object(Map::new()));
        if annotations.is_null() {
            *annotations = Json::Object(Map::new());
        }
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.insert(ID_ANNOTATION.to_owned(), json!(id));
            annotations.insert(CREATED_ANNOTATION.to_owned(), json!(created_at));
        }
    }
    body
}

/// Nothing but what the object is called: applied by a manager, it lets go of everything.
pub(crate) fn bare(reference: &ObjectRef) -> Json {
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), json!(reference.name));
    if let Some(namespace) = &reference.namespace {
        metadata.insert("namespace".to_owned(), json!(namespace));
    }
    json!({"apiVersion": reference.api_version, "kind": reference.kind, "metadata": metadata})
}

/// Whether two objects have the same content, whoever owns it and however often it was written.
pub(crate) fn same_content(one: &Json, other: &Json) -> bool {
    content(one) == content(other)
}

fn content(live: &Json) -> Json {
    let mut live = live.clone();
    if let Some(members) = live.as_object_mut() {
        members.shift_remove("status");
        members.shift_remove("apiVersion");
    }
    if let Some(metadata) = live.get_mut("metadata").and_then(Json::as_object_mut) {
        for name in ["managedFields", "resourceVersion", "generation", "creationTimestamp", "uid"] {
            metadata.shift_remove(name);
        }
        let is_bare = metadata.get_mut("annotations").and_then(Json::as_object_mut).is_some_and(|annotations| {
            annotations.shift_remove(ID_ANNOTATION);
            annotations.shift_remove(CREATED_ANNOTATION);
            annotations.is_empty()
        });
        if is_bare {
            metadata.shift_remove("annotations");
        }
    }
    live
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(api_version: &str, kind: &str, namespace: Option<&str>) -> ObjectRef {
        ObjectRef {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: "x".to_owned(),
        }
    }

    #[test]
    fn the_namespace_is_that_of_the_reference() {
        let named = json!({"metadata": {"name": "x", "namespace": "a"}});
        let none = json!({"metadata": {"name": "x"}});
        let namespaced = reference("v1", "ConfigMap", Some("b"));
        let cluster_wide = reference("v1", "Namespace", None);
        assert_eq!(sent(&none, &namespaced)["metadata"]["namespace"], "b");
        assert_eq!(sent(&named, &cluster_wide), none);
    }

    #[test]
    fn texts_of_a_secret_are_sent_as_its_data() {
        let secret = reference("v1", "Secret", Some("a"));
        let body = json!({"metadata": {}, "data": {"a": "QQ==", "b": "QQ=="}, "stringData": {"b": "B", "c": ""}});
        let body = sent(&body, &secret);
        assert_eq!(body["data"], json!({"a": "QQ==", "b": "Qg==", "c": ""}));
        assert_eq!(body.get("stringData"), None);
        // Another group has its own Secrets.
        let body = json!({"metadata": {}, "stringData": {"a": "b"}});
        let other = sent(&body, &reference("x.dev/v1", "Secret", Some("a")));
        assert_eq!(other["stringData"], json!({"a": "b"}));
    }

    #[test]
    fn what_only_the_server_can_judge_is_sent_as_it_is() {
        let secret = reference("v1", "Secret", Some("a"));
        let body = json!({"metadata": {"namespace": "a"}, "stringData": {"b": 1}});
        assert_eq!(sent(&body, &secret), body);
    }

    #[test]
    fn annotations_are_added_to_those_that_are_there() {
        let body = owned(&json!({"metadata": {"annotations": {"a": "b"}}}), "id", "now");
        let annotations = &body["metadata"]["annotations"];
        assert_eq!(*annotations, json!({"a": "b", ID_ANNOTATION: "id", CREATED_ANNOTATION: "now"}));
        assert_eq!(owned(&json!({"metadata": {}}), "id", "now")["metadata"]["annotations"][ID_ANNOTATION], "id");
    }

    #[test]
    fn bookkeeping_is_no_content() {
        let one = json!({"metadata": {"name": "x", "uid": "1", "annotations": {ID_ANNOTATION: "a"}}, "spec": {"a": 1}});
        let other = json!({"spec": {"a": 1}, "metadata": {"generation": 4, "name": "x"}, "status": {}});
        assert!(same_content(&one, &other));
        assert!(!same_content(&one, &json!({"metadata": {"name": "x"}, "spec": {"a": 2}})));
    }
}
