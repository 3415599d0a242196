//! The objects of a set, as they are written.

use std::collections::BTreeMap;

use groma_kit::{Object, at};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;

use super::order::{Turn, WAVE, turn};
use crate::Json;
use crate::manifest::{Manifest, ObjectRef, group_of};
use crate::object::naming::shown;

/// One object of a set.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    /// What it is called in `objects`.
    pub(super) key: String,
    /// As it is written.
    pub(super) manifest: Json,
    /// As the manifest says it; the namespace may be missing.
    pub(super) reference: ObjectRef,
    pub(super) turn: Turn,
}

/// Reads the objects, by key. None if they are not known yet.
pub(super) fn members(object: &Object) -> Result<Option<Vec<Member>>, Diagnostics> {
    if object.is_unknown("yaml") || !object.is_wholly_known("manifests") {
        return Ok(None);
    }
    let written = match (object.text("yaml"), object.text_map("manifests")) {
        (Some(text), None) => of_text(text)?,
        (None, Some(texts)) => of_texts(&texts)?,
        _ => {
            let detail = "Exactly one of yaml and manifests must be given.";
            return Err(Diagnostic::error("Invalid combination of arguments", detail).into());
        }
    };
    checked(written).map(Some)
}

type Written = (String, Manifest, Path);

fn of_text(text: &str) -> Result<Vec<Written>, Diagnostics> {
    let manifests = Manifest::parse_all(text, "yaml").map_err(|found| placed(found, &at("yaml")))?;
    let keyed = |(manifest, _): (Manifest, String)| (key(&manifest.reference()), manifest, at("yaml"));
    Ok(manifests.into_iter().map(keyed).collect())
}

fn of_texts(texts: &[(&str, &str)]) -> Result<Vec<Written>, Diagnostics> {
    let mut found = Diagnostics::new();
    let mut written = Vec::new();
    for (key, text) in texts {
        let path = at("manifests").key(*key);
        match Manifest::parse(text) {
            Ok(manifest) => written.push(((*key).to_owned(), manifest, path)),
            Err(wrong) => found.extend(placed(wrong, &path)),
        }
    }
    if found.has_errors() { Err(found) } else { Ok(written) }
}

fn placed(found: Diagnostics, path: &Path) -> Diagnostics {
    let place = |found: Diagnostic| if found.path.is_some() { found } else { found.at_path(path.clone()) };
    found.into_iter().map(place).collect()
}

/// What an object is called in a set: `apps.deployment.prod.nginx`, as `k8sconnect_yaml_split` calls it.
pub(super) fn key(reference: &ObjectRef) -> String {
    let group = group_of(&reference.api_version).to_lowercase();
    let kind = reference.kind.to_lowercase();
    let namespace = reference.namespace.as_deref().unwrap_or_default();
    let parts = [group.as_str(), kind.as_str(), namespace, reference.name.as_str()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".")
}

fn checked(written: Vec<Written>) -> Result<Vec<Member>, Diagnostics> {
    let mut found = Diagnostics::new();
    let mut members = BTreeMap::new();
    for (key, manifest, path) in written {
        found.extend(placed(manifest.check(), &path));
        let reference = manifest.reference();
        let turn = match turn(&reference, &manifest.object) {
            Ok(turn) => turn,
            Err(text) => {
                let detail =
                    format!("The annotation {WAVE} of {} is {text:?}, and must be a whole number.", shown(&reference));
                found.push(Diagnostic::error("Invalid wave", detail).at_path(path));
                continue;
            }
        };
        let same = |other: &Member| {
            let named = |reference: &ObjectRef| ObjectRef {
                api_version: group_of(&reference.api_version).to_owned(),
                ..reference.clone()
            };
            named(&other.reference) == named(&reference)
        };
        if members.contains_key(&key) || members.values().any(same) {
            let detail = format!("{} is in the set twice.", shown(&reference));
            found.push(Diagnostic::error("Duplicate object", detail).at_path(path));
            continue;
        }
        members.insert(key.clone(), Member { key, manifest: manifest.object, reference, turn });
    }
    if found.has_errors() { Err(found) } else { Ok(members.into_values().collect()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(api_version: &str, kind: &str, namespace: Option<&str>) -> ObjectRef {
        ObjectRef {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: "x".to_owned(),
        }
    }

    #[test]
    fn keys_are_those_of_yaml_split() {
        assert_eq!(key(&named("apps/v1", "Deployment", Some("prod"))), "apps.deployment.prod.x");
        assert_eq!(key(&named("v1", "Namespace", None)), "namespace.x");
    }
}
