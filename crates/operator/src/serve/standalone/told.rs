//! What people can read about their Stacks with nothing but `cat`: a file for each, and one about what is wrong with what they have written.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use groma_run::state::{RealDisk, replace_whole};
use kube::api::DynamicObject;
use serde_json::{Value as Json, json};

use super::read::Mistake;
use crate::api::stack::StackSpec;
use crate::objects::files::Origin;
use crate::objects::files::folder::make_private;

/// Where it is said, in the state directory.
const STATUS: &str = "status";
/// What is said about mistakes.
const MISTAKES: &str = "mistakes.yaml";

/// Says things in a state directory.
#[derive(Debug, Clone)]
pub(super) struct Board {
    state: PathBuf,
}

impl Board {
    pub(super) fn new(state: &Path) -> Self {
        Self { state: state.to_owned() }
    }

    /// How a Stack is.
    pub(super) fn stack(&self, stack: &DynamicObject, origin: Option<&Origin>) -> io::Result<()> {
        let shown = shown(stack, origin);
        let text = crate::install::yaml(&[shown]).map_err(io::Error::other)?;
        let path = self.path_of(stack);
        // It is made of what is known anyway, and not worth a write when that says the same.
        if fs::read_to_string(&path).is_ok_and(|before| before == text) {
            return Ok(());
        }
        write(&path, &text)
    }

    /// A Stack is gone.
    pub(super) fn forget(&self, stack: &DynamicObject) -> io::Result<()> {
        match fs::remove_file(self.path_of(stack)) {
            Err(problem) if problem.kind() != io::ErrorKind::NotFound => Err(problem),
            _ => Ok(()),
        }
    }

    fn path_of(&self, stack: &DynamicObject) -> PathBuf {
        let namespace = stack.metadata.namespace.as_deref().unwrap_or_default();
        let name = stack.metadata.name.as_deref().unwrap_or_default();
        self.state.join(STATUS).join(namespace).join(format!("{name}.yaml"))
    }

    /// What is wrong with what people have written. Nothing is there if nothing is.
    pub(super) fn mistakes(&self, mistakes: &[Mistake]) -> io::Result<()> {
        let path = self.state.join(MISTAKES);
        if mistakes.is_empty() {
            return match fs::remove_file(&path) {
                Err(problem) if problem.kind() != io::ErrorKind::NotFound => Err(problem),
                _ => Ok(()),
            };
        }
        let text = crate::install::yaml(&[json!({ "mistakes": mistakes })]).map_err(io::Error::other)?;
        write(&path, &text)
    }
}

/// What is said about mistakes in a state directory, as lines.
pub fn mistakes_in(state: &Path) -> Vec<String> {
    let Ok(text) = fs::read_to_string(state.join(MISTAKES)) else { return Vec::new() };
    let said: Json = serde_saphyr::from_str(&text).unwrap_or_default();
    let line = |mistake: &Json| {
        let mut text = mistake["file"].as_str().unwrap_or_default().to_owned();
        if let Some(line) = mistake["line"].as_u64() {
            // Writing to a string does not fail.
            let _ = write!(text, ":{line}");
        }
        format!("{text}: {}", mistake["message"].as_str().unwrap_or_default())
    };
    said["mistakes"].as_array().into_iter().flatten().map(line).collect()
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        make_private(parent)?;
    }
    replace_whole(&RealDisk, path, text.as_bytes()).map(|_| ())
}

fn shown(stack: &DynamicObject, origin: Option<&Origin>) -> Json {
    let metadata = &stack.metadata;
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let conditions = stack.data.pointer("/status/conditions").and_then(Json::as_array).cloned().unwrap_or_default();
    let ready = conditions.iter().find(|condition| condition["type"] == "Ready");
    let mut shown = json!({
        "stack": format!("{}/{}", text(&metadata.namespace), text(&metadata.name)),
        "file": origin.map(|origin| origin.file.clone()),
        "ready": ready.map_or_else(|| json!("Unknown"), |ready| ready["status"].clone()),
        "message": ready.map(|ready| ready["message"].clone()).unwrap_or_default(),
    });
    if metadata.deletion_timestamp.is_some() {
        shown["deleting"] = json!(true);
    }
    let set = origin.map(|origin| overlay(stack, origin)).unwrap_or_default();
    if !set.is_empty() {
        shown["setByCommands"] = json!(set);
    }
    shown["status"] = stack.data.get("status").cloned().unwrap_or_default();
    shown
}

/// What commands have set in a Stack, otherwise than its file says: `spec.suspend: true`.
pub fn overlay(stack: &DynamicObject, origin: &Origin) -> Vec<String> {
    let (written, live) = (normal(&origin.wanted["spec"]), normal(&stack.data["spec"]));
    let names = |spec: &Json| spec.as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default();
    let mut all: BTreeSet<String> = names(&written);
    all.extend::<BTreeSet<String>>(names(&live));
    let differs = all.into_iter().filter(|name| written.get(name) != live.get(name));
    let shown = |name: String| match live.get(&name) {
        Some(value) => format!("spec.{name}: {value}"),
        None => format!("spec.{name}: (not set)"),
    };
    differs.map(shown).collect()
}

/// With what holds where nothing is said.
fn normal(spec: &Json) -> Json {
    let read = serde_json::from_value::<StackSpec>(spec.clone());
    read.and_then(serde_json::to_value).unwrap_or_else(|_| spec.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_set_otherwise_is_told() {
        let source = json!({"inline": {"main.tf": ""}});
        let told = |written: Json, live: Json| {
            let stack =
                json!({"apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "metadata": {"name": "a"}, "spec": live});
            let origin = Origin { file: "a.yaml".to_owned(), wanted: json!({ "spec": written }) };
            overlay(&serde_json::from_value(stack).unwrap(), &origin)
        };
        let filled = json!({"source": source, "engine": "native", "suspend": false, "retry": {}});
        assert_eq!(told(json!({"source": source}), filled.clone()), Vec::<String>::new());
        assert_eq!(told(json!({"source": source}), json!({"source": source, "suspend": true})), ["spec.suspend: true"]);
        assert_eq!(told(json!({"source": source, "suspend": true}), filled), ["spec.suspend: (not set)"]);
    }
}
