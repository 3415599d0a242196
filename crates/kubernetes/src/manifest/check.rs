//! What can be wrong with a manifest before anybody asks a server. All mistakes are told at once, each with its line.

use groma_model::diag::{Diagnostic, Diagnostics};

use super::documents::is_list;
use super::{Manifest, OWN_ANNOTATIONS, kinds};
use crate::Json;
use crate::path::{FieldPath, Step, is_empty};

/// What the server fills in.
const SERVER_MANAGED: [&str; 8] = [
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
];

/// What code generators and `kubectl create --dry-run` write though it says nothing.
pub(super) const EMPTY_BY_TOOLS: [&[&str]; 2] = [&["metadata", "creationTimestamp"], &["status"]];

/// Whether a value stands for nothing at all.
pub(super) fn says_nothing(json: &Json) -> bool {
    json.is_null() || is_empty(json)
}

/// What an object must have to be one: `apiVersion`, `kind` and a name.
pub(super) fn identity(manifest: &Manifest) -> Diagnostics {
    let mut found = Diagnostics::new();
    if !manifest.object.is_object() {
        found.push(not_an_object(manifest));
        return found;
    }
    if is_list(&manifest.object) {
        let detail = format!("{}: a list holds many objects, and one is expected.", manifest.place(&at(&["kind"])));
        let hint = "data.k8sconnect_yaml_split takes lists apart, for use with for_each.";
        found.push(Diagnostic::error("List instead of an object", detail).hint(hint));
        return found;
    }
    let api_version = required_text(manifest, &["apiVersion"], "apiVersion: apps/v1", &mut found);
    let kind = required_text(manifest, &["kind"], "kind: Deployment", &mut found);
    if let Some(api_version) = api_version {
        match malformed(api_version) {
            Some(why) => {
                let place = manifest.place(&at(&["apiVersion"]));
                let detail = format!("{place}: {api_version:?} is no API version: {why}.");
                found.push(Diagnostic::error("Malformed apiVersion", detail));
            }
            None => found.extend(kind.and_then(|kind| wrong_group(manifest, api_version, kind))),
        }
    }
    names(manifest, &mut found);
    found
}

pub(super) fn not_an_object(manifest: &Manifest) -> Diagnostic {
    let what = match &manifest.object {
        Json::Array(_) => "a list",
        Json::String(_) => "a text",
        Json::Null => "nothing",
        _ => "a single value",
    };
    let detail = format!(
        "{}: an object with names and values (`name: value`) is expected, but this is {what}.",
        manifest.place(&FieldPath::default())
    );
    Diagnostic::error("Manifest is not an object", detail)
}

fn required_text<'m>(manifest: &'m Manifest, path: &[&str], example: &str, found: &mut Diagnostics) -> Option<&'m str> {
    let shown = path.join(".");
    let problem = match at(path).find(&manifest.object) {
        Some(Json::String(text)) if !text.is_empty() => return Some(text),
        None | Some(Json::Null) => format!("{shown} is missing, as in `{example}`"),
        Some(Json::String(_)) => format!("{shown} is empty"),
        Some(Json::Object(_) | Json::Array(_)) => format!("{shown} must be a text"),
        Some(other) => format!("{shown} must be a text, and {other} is none. Quote it"),
    };
    let detail = format!("{}: {problem}.", manifest.place(&at(path)));
    found.push(Diagnostic::error("Incomplete manifest", detail));
    None
}

/// Why a text is no API version.
fn malformed(api_version: &str) -> Option<String> {
    let (group, version) = match api_version.split_once('/') {
        None if api_version == "v1" => return None,
        None => {
            return Some(
                "without a group there is only \"v1\"; others are written as group/version, as in \"apps/v1\"".into(),
            );
        }
        Some((_, version)) if version.contains('/') => return Some("it has more than one slash".into()),
        Some(parts) => parts,
    };
    if group.is_empty() {
        return Some("there is no group before the slash".into());
    }
    if version.is_empty() {
        return Some("there is no version after the slash".into());
    }
    let is_label = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
            && text.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    if !group.split('.').all(is_label) {
        return Some(format!("the group {group:?} may have small letters, digits, dashes and dots only"));
    }
    if !is_label(version) || version.starts_with(|c: char| c.is_ascii_digit()) {
        return Some(format!("the version {version:?} must be like v1 or v1beta1"));
    }
    None
}

/// A kind of Kubernetes itself in a group of Kubernetes itself that does not have it.
fn wrong_group(manifest: &Manifest, api_version: &str, kind: &str) -> Option<Diagnostic> {
    let group = super::group_of(api_version);
    if !kinds::is_own_group(group) || kinds::find(group, kind).is_some() {
        return None;
    }
    let known: Vec<kinds::BuiltIn> = kinds::named(kind).collect();
    let right = known.iter().find(|known| known.group == group).or(known.first())?;
    let place = manifest.place(&at(&["apiVersion"]));
    let detail = format!(
        "{place}: there is no {kind} in {api_version}. It is written `apiVersion: {}` and `kind: {}`.",
        right.api_version(),
        right.kind,
    );
    Some(Diagnostic::error("Unknown apiVersion for this kind", detail))
}

fn names(manifest: &Manifest, found: &mut Diagnostics) {
    let metadata = manifest.object.get("metadata");
    if metadata.is_some_and(|metadata| !metadata.is_object() && !metadata.is_null()) {
        let detail = format!("{}: metadata must be an object (`name: value`).", manifest.place(&at(&["metadata"])));
        found.push(Diagnostic::error("Incomplete manifest", detail));
        return;
    }
    let member = |name: &str| metadata.and_then(|metadata| metadata.get(name));
    if member("generateName").is_some() && member("name").is_none() {
        let place = manifest.place(&at(&["metadata", "generateName"]));
        let detail = format!(
            "{place}: metadata.name is missing. With generateName the server makes a new object each time, so no one object \
             could be kept track of."
        );
        let hint = "Write metadata.name instead of generateName; random_id or random_pet give a name that stays.";
        found.push(Diagnostic::error("Incomplete manifest", detail).hint(hint));
    } else {
        required_text(manifest, &["metadata", "name"], "name: example", found);
    }
    if let Some(namespace) = member("namespace")
        && !namespace.is_string()
        && !namespace.is_null()
    {
        let place = manifest.place(&at(&["metadata", "namespace"]));
        let detail = format!("{place}: metadata.namespace must be a text, and {namespace} is none. Quote it.");
        found.push(Diagnostic::error("Incomplete manifest", detail));
    }
}

/// What is written that must not be, and what is missing inside.
pub(super) fn contents(manifest: &Manifest) -> Diagnostics {
    let mut found = Diagnostics::new();
    server_managed(manifest, &mut found);
    own_annotations(manifest, &mut found);
    texts(manifest, &mut found);
    containers(manifest, &mut found);
    found
}

fn server_managed(manifest: &Manifest, found: &mut Diagnostics) {
    let given = |path: &FieldPath| path.find(&manifest.object).is_some_and(|json| !says_nothing(json));
    for name in SERVER_MANAGED {
        let path = at(&["metadata", name]);
        if given(&path) {
            let detail = format!("{}: {path} is what the server fills in. Take it out.", manifest.place(&path));
            found.push(Diagnostic::error("Server-managed field in manifest", detail));
        }
    }
    let status = at(&["status"]);
    if given(&status) {
        let detail = format!(
            "{}: status is what controllers report, and cannot be written here. Take it out.",
            manifest.place(&status)
        );
        found.push(Diagnostic::error("Status in manifest", detail));
    }
}

fn own_annotations(manifest: &Manifest, found: &mut Diagnostics) {
    let annotations = at(&["metadata", "annotations"]);
    let members = annotations.find(&manifest.object).and_then(Json::as_object);
    for name in members.into_iter().flat_map(serde_json::Map::keys).filter(|name| name.starts_with(OWN_ANNOTATIONS)) {
        let place = manifest.place(&annotations.field(name));
        let detail = format!(
            "{place}: the annotation {name:?} is how the provider knows its own objects. It writes it itself. Take it out."
        );
        found.push(Diagnostic::error("Reserved annotation in manifest", detail));
    }
}

/// Labels, annotations and the data of ConfigMaps are texts. YAML makes other things of `yes`, `1.10` and the like.
fn texts(manifest: &Manifest, found: &mut Diagnostics) {
    let mut places = vec![at(&["metadata", "labels"]), at(&["metadata", "annotations"])];
    let kind = manifest.object.get("kind").and_then(Json::as_str).unwrap_or_default();
    match (manifest.object.get("apiVersion").and_then(Json::as_str), kind) {
        (Some("v1"), "ConfigMap") => places.push(at(&["data"])),
        (Some("v1"), "Secret") => places.extend([at(&["data"]), at(&["stringData"])]),
        _ => {}
    }
    for place in places {
        let members = place.find(&manifest.object).and_then(Json::as_object);
        for (name, value) in members.into_iter().flatten() {
            if value.is_string() || value.is_null() {
                continue;
            }
            let path = place.field(name);
            let what = match value {
                Json::Bool(_) => "YAML reads this as true or false",
                Json::Number(_) => "YAML reads this as a number",
                _ => "this is not one",
            };
            let detail = format!("{}: {path} must be a text, and {what}. Quote it.", manifest.place(&path));
            found.push(Diagnostic::error("Text expected in manifest", detail));
        }
    }
}

/// The server merges lists of containers by their names, so one without a name cannot be kept apart from the others.
fn containers(manifest: &Manifest, found: &mut Diagnostics) {
    for spec in pod_specs(&manifest.object) {
        for list in ["containers", "initContainers", "ephemeralContainers"] {
            let list = spec.field(list);
            let Some(items) = list.find(&manifest.object).and_then(Json::as_array) else { continue };
            for (index, item) in items.iter().enumerate() {
                let named = item.get("name").and_then(Json::as_str).is_some_and(|name| !name.is_empty());
                if named || !item.is_object() {
                    continue;
                }
                let path = list.join(Step::Index(index));
                let detail = format!("{}: {path} has no name, and every container needs one.", manifest.place(&path));
                found.push(Diagnostic::error("Container without a name", detail));
            }
        }
    }
}

/// Where an object has the specification of a pod.
fn pod_specs(object: &Json) -> Vec<FieldPath> {
    let mut places = vec![
        at(&["spec", "template", "spec"]),
        at(&["spec", "jobTemplate", "spec", "template", "spec"]),
        at(&["template", "spec"]),
    ];
    // A kind of its own may have a spec.containers that is something else.
    if object.get("kind").and_then(Json::as_str) == Some("Pod") {
        places.push(at(&["spec"]));
    }
    places
}

fn at(names: &[&str]) -> FieldPath {
    FieldPath::of(names.iter().copied())
}
