//! What the server adds to objects and nobody writes: taken out of a live object for an import.

use crate::Json;
use crate::manifest::OWN_ANNOTATIONS;
use crate::path::FieldPath;

/// What the server fills in.
const METADATA: [&str; 9] = [
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
    "generateName",
];

/// What controllers and kubectl write for themselves.
const ANNOTATIONS: [&str; 4] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "deployment.kubernetes.io/revision",
    "statefulset.kubernetes.io/revision",
    "deprecated.daemonset.template.generation",
];

/// A live object as somebody would write it.
pub(crate) fn cleaned(live: &Json) -> Json {
    let mut object = live.clone();
    let mut remove = |path: &[&str]| FieldPath::of(path.iter().copied()).remove(&mut object);
    remove(&["status"]);
    for name in METADATA {
        remove(&["metadata", name]);
    }
    for name in ANNOTATIONS {
        remove(&["metadata", "annotations", name]);
    }
    remove(&["spec", "template", "metadata", "creationTimestamp"]);
    remove(&["spec", "jobTemplate", "metadata", "creationTimestamp"]);
    remove(&["spec", "jobTemplate", "spec", "template", "metadata", "creationTimestamp"]);
    if let Some(Json::Object(annotations)) = object.pointer_mut("/metadata/annotations") {
        annotations.retain(|name, _| !name.starts_with(OWN_ANNOTATIONS));
        if annotations.is_empty()
            && let Some(Json::Object(metadata)) = object.get_mut("metadata")
        {
            metadata.shift_remove("annotations");
        }
    }
    object
}
