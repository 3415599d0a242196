//! What `k8sconnect_yaml_split` and `k8sconnect_yaml_scoped` have in common: where manifests come from, and what each is called.

mod glob;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::Read as _;

use groma_kit::outside::Outside;
use groma_kit::spec::{computed, optional};
use groma_kit::{Call, Object, Spec, at};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::{Entries, Value};
use sha2::{Digest, Sha256};

use super::kustomize;
use crate::manifest::{Manifest, ObjectRef};
use crate::path::FieldPath;

/// How much text is read from files, in all.
const MAX_BYTES: u64 = 64 << 20;

/// Where manifests can come from: attribute, and what ids begin with then.
const INPUTS: [(&str, &str); 3] = [("content", "content"), ("pattern", "pattern"), ("kustomize_path", "kustomize")];

/// One manifest of many.
pub(super) struct Part {
    pub(super) manifest: Manifest,
    /// Its own text.
    pub(super) text: String,
    /// Where it comes from, in words.
    origin: String,
}

/// Manifests by their keys.
pub(super) type Parts = BTreeMap<String, Part>;

/// A schema with the inputs.
pub(super) fn spec() -> Spec {
    let content = "A text with any number of YAML documents. Lists (`kind: List`) are taken apart.";
    let pattern = "Files with YAML documents, as a pattern: `*` and `?` stand for parts of a name, `**` for any number of \
                   directories, `{a,b}` for either. Relative to the directory of the run.";
    let kustomize = "A directory with a kustomization. It is built with `kustomize`, or with `kubectl kustomize`.";
    let id = "The kind of input, and a hash of it.";
    Spec::new()
        .attr("content", optional(Type::String).doc(content))
        .attr("pattern", optional(Type::String).doc(pattern))
        .attr("kustomize_path", optional(Type::String).doc(kustomize))
        .attr("id", computed(Type::String).doc(id))
}

/// Exactly one input must be given. One that is unknown is given.
pub(super) fn validate(config: &Object) -> Diagnostics {
    let given: Vec<&str> = INPUTS.iter().map(|(name, _)| *name).filter(|name| !config.is_null(name)).collect();
    let mut found = Diagnostics::new();
    match given.as_slice() {
        [_] => {}
        [] => {
            let detail = "One of content, pattern and kustomize_path must be given.";
            found.push(Diagnostic::error("Missing input", detail));
        }
        [first, ..] => {
            let detail =
                format!("Only one of content, pattern and kustomize_path can be given, not {}.", given.join(" and "));
            found.push(Diagnostic::error("Conflicting inputs", detail).at_path(at(first)));
        }
    }
    found
}

/// Reads the input that is given, and notes its id.
pub(super) async fn read(config: &mut Object, outside: &Outside, call: &mut Call) -> Result<Parts, Diagnostics> {
    let wrong = validate(config);
    if wrong.has_errors() {
        return Err(wrong);
    }
    let given = INPUTS.iter().find_map(|(name, prefix)| Some((*name, *prefix, config.text(name)?.to_owned())));
    let Some((name, prefix, input)) = given else {
        let detail = "What manifests are read from is not known yet, so they cannot be taken apart now.";
        return Err(Diagnostic::error("Unknown input", detail).into());
    };
    let in_input = |found: Diagnostics| found.into_iter().map(|found| found.at_path(at(name))).collect::<Diagnostics>();
    let texts = match name {
        "content" => vec![("the content".to_owned(), input.clone())],
        "pattern" => files(&input, outside).await.map_err(|wrong| in_input(wrong.into()))?,
        _ => {
            let built = kustomize::build(&input, outside, call).await.map_err(|wrong| in_input(wrong.into()))?;
            vec![(format!("the output of kustomize for {input:?}"), built)]
        }
    };
    let parts = split(&texts).map_err(in_input)?;
    if parts.is_empty() {
        return Err(in_input(nothing(name, &input).into()));
    }
    let hash = hex::encode(Sha256::digest(&input));
    config.set_text("id", Some(&format!("{prefix}-{}", hash.get(..8).unwrap_or_default())));
    Ok(parts)
}

fn nothing(name: &str, input: &str) -> Diagnostic {
    match name {
        "content" if input.trim().is_empty() => {
            Diagnostic::error("Empty content", "The content is empty. It must have at least one object.")
        }
        "content" => {
            Diagnostic::error("No objects in YAML", "The content has nothing but comments and empty documents.")
        }
        "pattern" => {
            let detail = format!("The files that {input:?} stands for have nothing but comments and empty documents.");
            Diagnostic::error("No objects in YAML", detail)
        }
        _ => Diagnostic::error("No objects in YAML", format!("The kustomization in {input:?} gives no objects.")),
    }
}

/// Names and texts of files.
async fn files(pattern: &str, outside: &Outside) -> Result<Vec<(String, String)>, Diagnostic> {
    let (pattern, outside) = (pattern.to_owned(), outside.clone());
    let reading = tokio::task::spawn_blocking(move || read_files(&pattern, &outside));
    reading.await.unwrap_or_else(|error| Err(Diagnostic::error("Unreadable file", error.to_string())))
}

fn read_files(pattern: &str, outside: &Outside) -> Result<Vec<(String, String)>, Diagnostic> {
    let base = outside.directory.as_path();
    let found = glob::files(base, pattern, outside.files.as_ref()).map_err(|error| {
        let detail = format!("The files that {pattern:?} stands for cannot be told: {error}.");
        Diagnostic::error("Invalid file pattern", detail)
    })?;
    if found.is_empty() {
        let detail = format!("There is no file that {pattern:?} stands for. It is looked for in {}.", base.display());
        return Err(Diagnostic::error("No files match", detail));
    }
    let mut left = MAX_BYTES;
    let mut texts = Vec::new();
    for file in found {
        let name = file.display().to_string();
        let unreadable = |why: String| Diagnostic::error("Unreadable file", format!("{name} cannot be read: {why}."));
        let opened =
            outside.readable(&file).and_then(std::fs::File::open).map_err(|error| unreadable(error.to_string()))?;
        let mut bytes = Vec::new();
        opened.take(left + 1).read_to_end(&mut bytes).map_err(|error| unreadable(error.to_string()))?;
        left = left
            .checked_sub(bytes.len() as u64)
            .ok_or_else(|| unreadable(format!("with the files before it, it has more than {} MiB", MAX_BYTES >> 20)))?;
        let text = String::from_utf8(bytes).map_err(|_| unreadable("it is no text in UTF-8".to_owned()))?;
        texts.push((name, text));
    }
    Ok(texts)
}

/// All manifests in texts, by their keys.
fn split(texts: &[(String, String)]) -> Result<Parts, Diagnostics> {
    let mut found = Diagnostics::new();
    let mut parts = Parts::new();
    for (origin, text) in texts {
        for (manifest, text) in found.take(Manifest::parse_all(text, origin)).unwrap_or_default() {
            let key = key(&manifest.reference());
            let line = manifest.line_of(&FieldPath::of(["kind"])).unwrap_or(1);
            let origin = format!("line {line} of {origin}");
            match parts.get(&key) {
                Some(first) => {
                    let detail = format!(
                        "{key:?} is what the object on {origin} is called, and also the one on {}.",
                        first.origin
                    );
                    let hint = "Each object can be there once. The same object for two namespaces must say which one it is for.";
                    found.push(Diagnostic::error("Duplicate object", detail).hint(hint));
                }
                None => {
                    parts.insert(key, Part { manifest, text, origin });
                }
            }
        }
    }
    if found.has_errors() { Err(found) } else { Ok(parts) }
}

/// What a manifest is called: `[group.]kind[.namespace].name`.
fn key(object: &ObjectRef) -> String {
    let group = Some(object.group().to_lowercase()).filter(|group| !group.is_empty());
    let parts = [group, Some(object.kind.to_lowercase()), object.namespace.clone(), Some(object.name.clone())];
    parts.into_iter().flatten().collect::<Vec<String>>().join(".")
}

/// Texts by their keys, as a value.
pub(super) fn texts<'p>(parts: impl Iterator<Item = (&'p String, &'p Part)>) -> Value {
    let entries: Entries = parts.map(|(key, part)| (key.as_str(), Value::string(part.text.as_str()))).collect();
    Value::map(Type::String, entries)
}
