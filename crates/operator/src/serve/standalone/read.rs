//! What people have written into one file: Stacks, and the Secrets and ConfigMaps that they refer to. A file with a mistake says nothing at
//! all: what is known of it stays as it is until it is mended.

use std::fmt;

use base64::Engine as _;
use kube::CustomResourceExt as _;
use kube::api::DynamicObject;
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::check;
use super::lines::Lines;
use crate::api::stack::Stack;
use crate::objects::files::Wanted;
use crate::objects::{Kind, typed};

/// Where things are that say nothing about it.
const NAMESPACE: &str = "default";
/// How many objects a file may have.
const MOST_OBJECTS: usize = 1_000;

/// Something that is wrong with what people have written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Mistake {
    /// The file.
    pub file: String,
    /// The line, counted from 1, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

/// Everything that is wanted in a file, or everything that is wrong with it.
pub(super) fn read(file: &str, text: &str) -> Result<Vec<Wanted>, Vec<Mistake>> {
    let mistake = |line, message| Mistake { file: file.to_owned(), line, message };
    let documents: Vec<Json> = serde_saphyr::from_multiple(text).map_err(|problem| {
        let line = problem.location().and_then(|location| usize::try_from(location.line()).ok());
        // Without the lines around it, which may have secrets in them.
        vec![mistake(
            line,
            format!("this is no YAML that can be read: {}", first_line(&problem.without_snippet().to_string())),
        )]
    })?;
    if documents.len() > MOST_OBJECTS {
        return Err(vec![mistake(None, format!("it has {} objects, and may have {MOST_OBJECTS}", documents.len()))]);
    }
    let mut lines = None;
    let (mut wanted, mut mistakes) = (Vec::new(), Vec::new());
    for (number, document) in documents.into_iter().enumerate().filter(|(_, document)| !document.is_null()) {
        match object(document) {
            Ok((kind, object)) => wanted.push(Wanted { kind, object, file: file.to_owned() }),
            Err(faults) => {
                let lines = lines.get_or_insert_with(|| Lines::of(text));
                mistakes.extend(faults.into_iter().map(|check::Fault { field, message }| {
                    let line = lines.line_of(number, &field);
                    mistake(line, if field.is_empty() { message } else { format!("{field}: {message}") })
                }));
            }
        }
    }
    if mistakes.is_empty() { Ok(wanted) } else { Err(mistakes) }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn fault(field: &str, message: impl Into<String>) -> Vec<check::Fault> {
    vec![check::Fault { field: field.to_owned(), message: message.into() }]
}

fn object(mut document: Json) -> Result<(Kind, DynamicObject), Vec<check::Fault>> {
    let Some(fields) = document.as_object() else {
        return Err(fault("", "an object is expected, with apiVersion, kind and metadata"));
    };
    let text = |name: &str| fields.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let (version, kind) = (text("apiVersion"), text("kind"));
    for (name, value) in [("apiVersion", &version), ("kind", &kind)] {
        if value.is_empty() {
            return Err(fault(name, "must be given: this is no object without it"));
        }
    }
    let mut faults = metadata_faults(&document["metadata"]);
    if document.get("status").is_some() {
        faults.extend(fault("status", "is written by the operator: leave it out"));
    }
    let stack = Kind::of::<Stack>();
    let kind = match (version.as_str(), kind.as_str()) {
        ("v1", "Secret") => {
            faults.extend(secret_faults(&mut document));
            Kind::secret()
        }
        ("v1", "ConfigMap") => {
            faults.extend(config_map_faults(&document));
            Kind::config_map()
        }
        (version, "Stack") if version == stack.api_version() => {
            let schema = json!(Stack::crd())["spec"]["versions"][0]["schema"]["openAPIV3Schema"].take();
            faults.extend(unknown_fields(&document, &["apiVersion", "kind", "metadata", "spec"]));
            // What every object has is not in the schema.
            let spec = document.get("spec").map_or_else(|| json!({}), |spec| json!({ "spec": spec }));
            faults.extend(check::faults(&schema, &spec));
            if document["spec"]["executor"] == "job" {
                faults.extend(fault("spec.executor", "a Job needs a cluster: take it out, and it runs here"));
            }
            if !document["spec"]["source"]["flux"].is_null() {
                faults.extend(fault("spec.source.flux", "sources of Flux are in clusters: use spec.source.git"));
            }
            stack
        }
        (version, kind) => {
            let known = format!("Stack of {}, Secret and ConfigMap of v1", stack.api_version());
            return Err(fault("kind", format!("{kind} of {version} is nothing that is known here: {known} are")));
        }
    };
    if !faults.is_empty() {
        return Err(faults);
    }
    let read: Result<DynamicObject, _> = serde_json::from_value(document);
    let mut object = read.map_err(|problem| fault("metadata", problem.to_string()))?;
    object.metadata.namespace.get_or_insert_with(|| NAMESPACE.to_owned());
    if kind == Kind::of::<Stack>() {
        // The schema says less than the type in a few places.
        typed::<Stack>(&object).map_err(|problem| fault("spec", problem.to_string()))?;
    }
    Ok((kind, object))
}

/// What people may say about an object, beside what is in it.
const METADATA: [&str; 4] = ["name", "namespace", "labels", "annotations"];

fn metadata_faults(metadata: &Json) -> Vec<check::Fault> {
    let Some(fields) = metadata.as_object() else { return fault("metadata", "must be given, with a name") };
    let mut found = Vec::new();
    for (name, longest) in [("name", 253), ("namespace", 63)] {
        let place = format!("metadata.{name}");
        match fields.get(name) {
            None if name == "namespace" => {}
            Some(Json::String(text)) if is_name(text, longest) => {}
            Some(Json::String(_)) => found.extend(fault(
                &place,
                format!("must be at most {longest} of a-z, 0-9, \"-\" and \".\", with a letter or digit at both ends"),
            )),
            Some(_) => found.extend(fault(&place, "must be a text")),
            None => found.extend(fault(&place, "must be given")),
        }
    }
    for name in ["labels", "annotations"] {
        let entries = fields.get(name).and_then(Json::as_object).into_iter().flatten();
        let wrong = entries.filter(|(_, value)| !value.is_string());
        found.extend(wrong.flat_map(|(key, _)| fault(&format!("metadata.{name}.{key}"), "must be a text: quote it")));
        if fields.get(name).is_some_and(|value| !value.is_object() && !value.is_null()) {
            found.extend(fault(&format!("metadata.{name}"), "must be names with texts"));
        }
    }
    let unknown = fields.keys().filter(|name| !METADATA.contains(&name.as_str()));
    found.extend(unknown.flat_map(|name| {
        fault(&format!("metadata.{name}"), format!("is not for people to write: {} are", METADATA.join(", ")))
    }));
    found
}

fn is_name(text: &str, longest: usize) -> bool {
    let is_end = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let is_fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'.';
    text.len() <= longest
        && text.bytes().all(is_fine)
        && is_end(text.bytes().next())
        && is_end(text.bytes().next_back())
}

/// What is wrong with a Secret. Texts are encoded as the others are.
fn secret_faults(document: &mut Json) -> Vec<check::Fault> {
    let known = ["apiVersion", "kind", "metadata", "data", "stringData", "type", "immutable"];
    let mut found = unknown_fields(document, &known);
    found.extend(texts(document, "stringData"));
    found.extend(texts(document, "data"));
    let decode = |text: &str| base64::engine::general_purpose::STANDARD.decode(text);
    for (key, value) in document["data"].as_object().into_iter().flatten() {
        if value.as_str().is_some_and(|text| decode(text).is_err()) {
            let message = "must be base64; write it into stringData if it is a text";
            found.extend(fault(&format!("data.{key}"), message));
        }
    }
    if !found.is_empty() {
        return found;
    }
    let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    let Some(fields) = document.as_object_mut() else { return found };
    if let Some(Json::Object(given)) = fields.shift_remove("stringData") {
        let data = fields.entry("data").or_insert_with(|| Json::Object(Map::new()));
        if let Some(data) = data.as_object_mut() {
            data.extend(given.into_iter().map(|(key, value)| (key, json!(encode(value.as_str().unwrap_or_default())))));
        }
    }
    found
}

fn config_map_faults(document: &Json) -> Vec<check::Fault> {
    let known = ["apiVersion", "kind", "metadata", "data", "binaryData", "immutable"];
    let mut found = unknown_fields(document, &known);
    found.extend(texts(document, "data"));
    found.extend(texts(document, "binaryData"));
    found
}

fn unknown_fields(document: &Json, known: &[&str]) -> Vec<check::Fault> {
    let fields = document.as_object().into_iter().flatten().map(|(name, _)| name);
    let unknown = fields.filter(|name| !known.contains(&name.as_str()) && *name != "status");
    unknown.flat_map(|name| fault(name, "is not a field that is known")).collect()
}

fn texts(document: &Json, name: &str) -> Vec<check::Fault> {
    match &document[name] {
        Json::Null => Vec::new(),
        Json::Object(entries) => {
            let wrong = entries.iter().filter(|(_, value)| !value.is_string());
            wrong.flat_map(|(key, _)| fault(&format!("{name}.{key}"), "must be a text: quote it")).collect()
        }
        _ => fault(name, "must be keys with texts"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STACK: &str = "apiVersion: groma.dev/v1alpha1\nkind: Stack\nmetadata:\n  name: app\nspec:\n  source:\n    inline:\n      main.tf: \"\"\n";

    fn told(text: &str) -> Vec<String> {
        read("a.yaml", text).unwrap_err().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn objects_are_read_with_their_namespaces() {
        let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: team}\nstringData: {a: x}\ndata: {b: eQ==}\n";
        let found = read("a.yaml", &format!("{STACK}{secret}---\n# nothing\n")).unwrap();
        let places: Vec<String> = found.iter().map(|wanted| wanted.place().to_string()).collect();
        assert_eq!(places, ["Stack default/app", "Secret team/s"]);
        assert_eq!(found[1].object.data["data"], json!({"a": "eA==", "b": "eQ=="}));
        assert_eq!(found[1].object.data.get("stringData"), None);
    }

    #[test]
    fn mistakes_have_lines_and_no_values() {
        let wrong = STACK.replace("spec:\n", "spec:\n  aproval: {mode: auto}\n  executor: job\n");
        assert_eq!(
            told(&wrong),
            [
                "a.yaml:6: spec.aproval: is not a field that is known; did you mean \"approval\"?",
                "a.yaml:7: spec.executor: a Job needs a cluster: take it out, and it runs here",
            ]
        );
        let secret =
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  a: \"hunter2!\"\nstringData:\n  b: 12345\n";
        assert_eq!(
            told(secret),
            [
                "a.yaml:7: stringData.b: must be a text: quote it",
                "a.yaml:5: data.a: must be base64; write it into stringData if it is a text",
            ]
        );
        let broken = told("kind: Secret\nstringData:\n  password: \"hunter2\n x: [\n");
        assert!(broken[0].starts_with("a.yaml:") && !broken[0].contains("hunter2"), "{broken:?}");
        assert_eq!(
            told("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"),
            [
                "a.yaml:2: kind: Pod of v1 is nothing that is known here: Stack of groma.dev/v1alpha1, Secret and ConfigMap of v1 are"
            ]
        );
        assert_eq!(told("- 1\n"), ["a.yaml:1: an object is expected, with apiVersion, kind and metadata"]);
        let names = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ../up\n  uid: x\ndata: {}\n";
        assert_eq!(told(names).len(), 2, "{:?}", told(names));
    }

    #[test]
    fn bombs_do_not_go_off() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let before = format!("*a{}", level - 1);
            bomb.extend([format!("a{level}: &a{level} [{}]\n", vec![before; 10].join(", "))]);
        }
        assert_eq!(told(&bomb).len(), 1);
        assert_eq!(told(&"[".repeat(100_000)).len(), 1);
    }
}
