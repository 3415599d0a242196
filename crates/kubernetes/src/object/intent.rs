//! What the attributes of an object ask for.

use std::time::Duration;

use groma_kit::{Object, at};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::value::Value;

use crate::Json;
use crate::ignore::Ignored;
use crate::manifest::{Manifest, ObjectRef};

/// What is asked for.
pub(crate) struct Intent {
    /// The manifest as it is written.
    pub(crate) manifest: Json,
    /// As the manifest says it; the namespace may be missing.
    pub(crate) reference: ObjectRef,
    pub(crate) ignored: Ignored,
    /// Whether fields of others are taken.
    pub(crate) force: bool,
    /// Whether an object that is there already is taken over.
    pub(crate) adopts: bool,
}

impl Intent {
    /// Reads the attributes. None if what matters is not known yet.
    pub(crate) fn read(object: &Object) -> Result<Option<Intent>, Diagnostics> {
        if object.is_unknown("yaml_body") || !object.is_wholly_known("ignore_fields") {
            return Ok(None);
        }
        let manifest = Manifest::parse(object.text("yaml_body").unwrap_or_default()).map_err(in_yaml)?;
        let ignored = ignored(&object.get("ignore_fields"))?;
        Ok(Some(Intent {
            reference: manifest.reference(),
            manifest: manifest.object,
            ignored,
            force: object.flag("force_conflicts").unwrap_or(true),
            adopts: object.text("adopt") == Some("adopt"),
        }))
    }
}

/// Diagnostics about the manifest are about the attribute that has it.
pub(crate) fn in_yaml(found: Diagnostics) -> Diagnostics {
    let place = |found: Diagnostic| if found.path.is_some() { found } else { found.at_path(at("yaml_body")) };
    found.into_iter().map(place).collect()
}

/// Reads `ignore_fields`; parts that are unknown are left out.
pub(crate) fn ignored(value: &Value) -> Result<Ignored, Diagnostics> {
    let items = value.as_elements().unwrap_or_default();
    let known: Vec<(usize, &str)> =
        items.iter().enumerate().filter_map(|(at, item)| Some((at, item.as_str()?))).collect();
    let path = |nth: usize| at("ignore_fields").index(known.get(nth).map_or(nth, |(at, _)| *at));
    Ignored::parse(known.iter().map(|(_, text)| *text)).map_err(|wrong| {
        let tell = |(nth, problem): (usize, _)| {
            let detail =
                format!("{problem}. Write a JSONPath such as \"spec.replicas\" or \"metadata.annotations['a.b/c']\".");
            Diagnostic::error("Invalid path in ignore_fields", detail).at_path(path(nth))
        };
        wrong.into_iter().map(tell).collect::<Diagnostics>()
    })
}

/// How long to wait until an object is gone.
pub(crate) fn delete_timeout(object: &Object, kind: &str) -> Duration {
    let given = object.text("delete_timeout").and_then(|text| groma_kit::parse_duration(text).ok());
    match given.and_then(|nanos| u64::try_from(nanos).ok()) {
        Some(nanos) => Duration::from_nanos(nanos),
        None => usual_delete_timeout(kind),
    }
}

/// By kind, as long as it may take what belongs to the object to go.
pub(crate) fn usual_delete_timeout(kind: &str) -> Duration {
    Duration::from_mins(match kind {
        "Namespace" | "CustomResourceDefinition" => 15,
        "PersistentVolume" | "PersistentVolumeClaim" => 10,
        "StatefulSet" | "Job" | "CronJob" => 8,
        _ => 5,
    })
}
