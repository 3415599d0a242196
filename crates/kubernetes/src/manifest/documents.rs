//! The documents of a text: where each begins and ends, and the objects in them.

use groma_model::diag::{Diagnostic, Diagnostics};

use super::read::{self, Mistake, Node};
use super::{Manifest, check, source::Source, to_yaml};
use crate::Json;
use crate::path::{FieldPath, Step};

/// Reads a text that must have one document, and checks everything.
pub(super) fn one(text: &str) -> Result<Manifest, Diagnostics> {
    let mut found = Diagnostics::new();
    let Some(manifest) = found.take(only_document(text, &Source::new(text, ""))) else { return Err(found) };
    found.extend(check::identity(&manifest));
    found.extend(check::contents(&manifest));
    if found.has_errors() { Err(found) } else { Ok(tidied(manifest)) }
}

/// Reads a text that must have one document, which is a part of an object.
pub(super) fn part(text: &str) -> Result<Manifest, Diagnostics> {
    let manifest = only_document(text, &Source::of_part(text))?;
    if manifest.object.is_object() { Ok(manifest) } else { Err(check::not_an_object(&manifest).into()) }
}

fn only_document(text: &str, source: &Source) -> Result<Manifest, Diagnostics> {
    let documents = documents(text);
    let Some(first) = documents.first() else {
        let detail = "There is no object in the YAML: it is empty, or has nothing but comments.";
        return Err(Diagnostic::error("Empty manifest", detail).into());
    };
    let mut found = Diagnostics::new();
    if let Some(second) = documents.get(1) {
        let detail = format!(
            "One object is expected, but the YAML has {} documents. {} is where the second one begins.",
            documents.len(),
            source.place(second.content_line()),
        );
        let hint = "data.k8sconnect_yaml_split takes a text with several documents apart, for use with for_each.";
        found.push(Diagnostic::error("Several documents in one manifest", detail).hint(hint));
    }
    match first.read(source) {
        Ok(manifest) if found.is_empty() => Ok(manifest),
        Ok(manifest) => {
            found.extend(check::contents(&manifest));
            Err(found)
        }
        Err(mistakes) => {
            found.extend(mistakes);
            Err(found)
        }
    }
}

/// Reads all documents of a text. What is no object is a mistake.
pub(super) fn all(text: &str, origin: &str) -> Result<Vec<(Manifest, String)>, Diagnostics> {
    let source = Source::new(text, origin);
    let mut found = Diagnostics::new();
    let mut manifests = Vec::new();
    for document in documents(text) {
        let Some(manifest) = found.take(document.read(&source)) else { continue };
        if !is_list(&manifest.object) {
            let text = document.own_text(&manifest.object);
            manifests.push((manifest, text));
            continue;
        }
        for item in items(&manifest) {
            let text = to_yaml(&item.object);
            manifests.push((item, text));
        }
    }
    for (manifest, _) in &manifests {
        found.extend(check::identity(manifest));
    }
    if found.has_errors() { Err(found) } else { Ok(manifests) }
}

/// Whether an object is only there to hold others.
pub(super) fn is_list(object: &Json) -> bool {
    let kind = object.get("kind").and_then(Json::as_str).unwrap_or_default();
    let is_named = object.get("metadata").is_some_and(|metadata| metadata.get("name").is_some());
    kind.ends_with("List") && object.get("items").is_some_and(Json::is_array) && !is_named
}

/// The objects in a list, and in lists in that list.
fn items(list: &Manifest) -> Vec<Manifest> {
    let member = |name: &str| list.object.get(name).and_then(Json::as_str).unwrap_or_default();
    // In a list of one kind (`ConfigMapList`), the elements need not say what they are.
    let item_kind = member("kind").strip_suffix("List").filter(|kind| !kind.is_empty());
    let mut found = Vec::new();
    for (at, item) in list.object.get("items").and_then(Json::as_array).into_iter().flatten().enumerate() {
        let mut object = item.clone();
        if let (Some(kind), Json::Object(members)) = (item_kind, &mut object)
            && !members.contains_key("kind")
        {
            members.shift_insert(0, "kind".to_owned(), Json::from(kind));
            if !members.contains_key("apiVersion") {
                members.shift_insert(0, "apiVersion".to_owned(), Json::from(member("apiVersion")));
            }
        }
        let place = FieldPath::of(["items"]).join(Step::Index(at));
        let lines = list.lines.at(&place).cloned().unwrap_or_default();
        let manifest = Manifest { object, lines, source: list.source.clone() };
        if is_list(&manifest.object) { found.extend(items(&manifest)) } else { found.push(manifest) }
    }
    found
}

/// Without what tools write that says nothing: `creationTimestamp: null` and `status: {}`.
fn tidied(mut manifest: Manifest) -> Manifest {
    for path in check::EMPTY_BY_TOOLS {
        let path = FieldPath::of(path.iter().copied());
        if path.find(&manifest.object).is_some_and(check::says_nothing) {
            path.remove(&mut manifest.object);
        }
    }
    manifest
}

/// A document of a text.
struct Document<'t> {
    text: &'t str,
    /// The line that it begins on, counted from 1.
    first_line: usize,
}

/// The documents that have more than comments in them. A line that begins with `---` begins one, and `...` ends one: neither can stand
/// inside of a value.
fn documents(text: &str) -> Vec<Document<'_>> {
    let text_start = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut found = Vec::new();
    let (mut start, mut first_line) = (text_start, 1);
    let mut at = text_start;
    let body = text.get(text_start..).unwrap_or_default();
    for (number, line) in body.split_inclusive('\n').enumerate() {
        let marker = ["---", "..."].into_iter().find(|marker| {
            line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
        });
        if let Some(marker) = marker {
            found.push(Document { text: text.get(start..at).unwrap_or_default(), first_line });
            (start, first_line) = (at + marker.len(), number + 1);
        }
        at += line.len();
    }
    found.push(Document { text: text.get(start..).unwrap_or_default(), first_line });
    found.retain(|document| !document.is_blank());
    found
}

impl Document<'_> {
    fn is_blank(&self) -> bool {
        self.text.lines().all(|line| {
            let line = line.trim();
            line.is_empty() || line.starts_with(['#', '%'])
        })
    }

    /// The first line that is not blank.
    fn content_line(&self) -> usize {
        self.first_line + self.text.lines().take_while(|line| line.trim().is_empty()).count()
    }

    fn read(&self, source: &Source) -> Result<Manifest, Diagnostics> {
        match read::document(self.text, self.first_line) {
            Ok(Node { json, lines }) => Ok(Manifest { object: json, lines, source: source.clone() }),
            Err(mistakes) => Err(mistakes.into_iter().map(|mistake| described(&mistake, source)).collect()),
        }
    }

    /// The text without what is around it, as long as that changes nothing. (A block at the end would lose its last line break.)
    fn own_text(&self, object: &Json) -> String {
        let trimmed = self.text.trim();
        for text in [trimmed.to_owned(), format!("{trimmed}\n")] {
            if read::document(&text, 1).is_ok_and(|node| node.json == *object) {
                return text;
            }
        }
        self.text.to_owned()
    }
}

fn described(mistake: &Mistake, source: &Source) -> Diagnostic {
    let Mistake { summary, what, quotes, line } = mistake;
    let what = if *quotes && !source.is_open() { "this is no YAML" } else { what };
    Diagnostic::error(*summary, format!("{}: {what}.", source.place(*line)))
}
