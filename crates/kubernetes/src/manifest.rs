//! Manifests: YAML text to JSON, by the rules that kubectl has, with the line of everything; and what can be wrong with one before
//! anybody asks a server.

mod check;
mod clean;
mod documents;
pub(crate) mod kinds;
mod lines;
mod read;
mod scalar;
mod source;
#[cfg(test)]
mod tests;
mod write;

use std::fmt;

pub(crate) use clean::cleaned;
use groma_model::diag::Diagnostics;
use lines::Lines;
use source::Source;
pub(crate) use source::may_be_secret;
pub(crate) use write::to_yaml;

use crate::Json;
use crate::path::FieldPath;

/// What the annotations begin with that say whose an object is.
pub(crate) const OWN_ANNOTATIONS: &str = "k8sconnect.terraform.io/";

/// Whether a place is, or is inside of, one of the annotations that say whose an object is.
pub(crate) fn is_own_annotation(place: &FieldPath) -> bool {
    matches!(place.names().as_slice(), ["metadata", "annotations", name, ..] if name.starts_with(OWN_ANNOTATIONS))
}

/// One document.
#[derive(Clone)]
pub(crate) struct Manifest {
    /// The object as it is written.
    pub(crate) object: Json,
    lines: Lines,
    source: Source,
}

/// What an object is called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectRef {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    /// None where the manifest has none, or the kind has no namespaces.
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
}

impl ObjectRef {
    /// What an object is called, whatever it lacks.
    pub(crate) fn of(object: &Json) -> Self {
        let text = |json: Option<&Json>| json.and_then(Json::as_str).map(str::to_owned);
        let metadata = |name: &str| text(object.get("metadata").and_then(|metadata| metadata.get(name)));
        Self {
            api_version: text(object.get("apiVersion")).unwrap_or_default(),
            kind: text(object.get("kind")).unwrap_or_default(),
            namespace: metadata("namespace").filter(|namespace| !namespace.is_empty()),
            name: metadata("name").unwrap_or_default(),
        }
    }

    /// The group of its kind; empty for the core group.
    pub(crate) fn group(&self) -> &str {
        group_of(&self.api_version)
    }
}

/// The group in an `apiVersion`; empty for the core group.
pub(crate) fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

impl fmt::Debug for Manifest {
    /// By what it is called only: what is in it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Manifest").field(&self.reference()).finish()
    }
}

impl Manifest {
    /// Reads a text that has one document, with the static checks of §2.1 of the specification. Diagnostics say the line inside of the text.
    pub(crate) fn parse(text: &str) -> Result<Manifest, Diagnostics> {
        documents::one(text)
    }

    /// Reads a text that has one document that need not be an object of its own: a patch. Only the YAML is checked.
    pub(crate) fn parse_part(text: &str) -> Result<Manifest, Diagnostics> {
        documents::part(text)
    }

    /// Reads any number of documents; `List`s are taken apart. The text of each goes with it. Checked is what an object must have to be
    /// one; [`Manifest::check`] says more.
    pub(crate) fn parse_all(text: &str, origin: &str) -> Result<Vec<(Manifest, String)>, Diagnostics> {
        documents::all(text, origin)
    }

    /// What is written that must not be: status, what the server fills in, our own annotations; and containers without names.
    pub(crate) fn check(&self) -> Diagnostics {
        check::contents(self)
    }

    /// What it is called.
    pub(crate) fn reference(&self) -> ObjectRef {
        ObjectRef::of(&self.object)
    }

    /// The line where a place is written, counted from 1.
    pub(crate) fn line_of(&self, path: &FieldPath) -> Option<usize> {
        self.lines.line_of(&path.located(&self.object)?)
    }

    /// Where a place is written, in words, with the text of the line unless that may be secret. The nearest place around it that is
    /// written, if it is not.
    pub(crate) fn place(&self, path: &FieldPath) -> String {
        let mut path = path.clone();
        loop {
            if let Some(line) = self.line_of(&path) {
                return self.source.place(line);
            }
            if path.0.pop().is_none() {
                return self.source.place(self.lines.line);
            }
        }
    }
}
