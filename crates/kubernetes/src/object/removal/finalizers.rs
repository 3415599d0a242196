//! What holds an object that was deleted: finalizers, and what is left in a namespace. In words, and how to be rid of it.

use std::time::Duration;

use groma_model::diag::Diagnostic;
use serde_json::json;

use crate::Json;
use crate::api::{Apply, Cluster, Patch};
use crate::failure::{FailureKind, kubectl};
use crate::manifest::ObjectRef;
use crate::object::naming::{is_going, shown, uid};

/// Who removes finalizers.
const MANAGER: &str = "k8sconnect-force-destroy";
/// How often that is tried, if others write at the same time.
const TRIES: u32 = 3;
/// How many kinds are named of what is left in a namespace.
const MOST_KINDS: usize = 5;
/// How many objects of a kind are counted.
const MOST_OBJECTS: u32 = 100;

/// Why an object is still there.
pub(super) async fn still_there(cluster: &Cluster, reference: &ObjectRef, left: &Json, waited: Duration) -> Diagnostic {
    let object = shown(reference);
    let waited = waited.as_secs();
    let held = explained(left);
    if !is_going(left) {
        let detail = format!("{object} was told to go {waited} s ago, but the server has not even begun with it.");
        return Diagnostic::error("Deletion has not begun", detail).hint(kubectl(
            "get",
            Some(reference),
            reference.namespace.as_deref(),
        ));
    }
    if reference.kind == "Namespace" && reference.namespace.is_none() {
        let rest = leftovers(cluster, &reference.name).await;
        let detail = format!("{object} is still there after {waited} s.{rest}{}", held.unwrap_or_default());
        return Diagnostic::error("Namespace is not empty", detail)
            .hint("What is left goes with its controllers: destroy it before them, or remove its finalizers.")
            .hint("Give it more time with delete_timeout.");
    }
    let Some(held) = held else {
        let detail = format!("{object} is still there after {waited} s, although nothing holds it.");
        return Diagnostic::error("Deletion takes long", detail).hint("Give it more time with delete_timeout.");
    };
    let detail = format!("{object} is still there after {waited} s, because somebody has yet to clear up.{held}");
    Diagnostic::error("Deletion is blocked by finalizers", detail)
        .hint("See to it that who is named does its work, or give it more time with delete_timeout.")
        .hint("force_destroy = true removes finalizers after delete_timeout; what they stand for is not done then.")
}

/// The finalizers of an object, and what each waits for.
fn explained(left: &Json) -> Option<String> {
    let finalizers = left.pointer("/metadata/finalizers")?.as_array()?;
    let lines: Vec<String> = finalizers
        .iter()
        .filter_map(Json::as_str)
        .map(|finalizer| format!("\n  - {finalizer}: {}", meaning(finalizer)))
        .collect();
    (!lines.is_empty()).then(|| format!(" Finalizers:{}", lines.concat()))
}

fn meaning(finalizer: &str) -> &'static str {
    match finalizer {
        "kubernetes.io/pvc-protection" => "a pod still uses the claim; it goes when the pod is gone.",
        "kubernetes.io/pv-protection" => "a claim is still bound to the volume; it goes when the claim is gone.",
        "kubernetes" => "the namespace still has objects in it.",
        "foregroundDeletion" => "objects that belong to it are still there.",
        "orphan" => "objects that belong to it are being let go.",
        "service.kubernetes.io/load-balancer-cleanup" => "the cloud's load balancer is being removed.",
        "batch.kubernetes.io/job-tracking" => "the job controller still counts its pods.",
        "customresourcecleanup.apiextensions.k8s.io" => "objects of the kind are still there.",
        "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection" => "a snapshot is still bound to it.",
        _ => "its controller must remove it, and may not be running any more.",
    }
}

/// What is left in a namespace, by kind.
async fn leftovers(cluster: &Cluster, namespace: &str) -> String {
    let Ok(kinds) = cluster.listable_kinds().await else { return String::new() };
    let mut left = Vec::new();
    for kind in kinds.iter().filter(|kind| kind.namespaced && kind.kind != "Event") {
        let Ok(objects) = cluster.list(kind, Some(namespace), "", MOST_OBJECTS).await else { continue };
        if !objects.is_empty() {
            left.push((kind.kind.clone(), objects));
        }
    }
    told(left)
}

fn told(mut left: Vec<(String, Vec<Json>)>) -> String {
    if left.is_empty() {
        return String::new();
    }
    left.sort_by(|(one, some), (other, more)| more.len().cmp(&some.len()).then_with(|| one.cmp(other)));
    let kinds = left.len();
    let mut lines: Vec<String> = left
        .iter()
        .take(MOST_KINDS)
        .map(|(kind, objects)| {
            let held = objects.iter().find(|object| explained(object).is_some());
            let name = held.and_then(|object| object.pointer("/metadata/name")?.as_str());
            let held = name.map(|name| format!(" ({name} has finalizers)")).unwrap_or_default();
            format!("\n  - {} {kind}{held}", objects.len())
        })
        .collect();
    if kinds > MOST_KINDS {
        lines.push(format!("\n  - and {} more kinds", kinds - MOST_KINDS));
    }
    format!(" In it are still:{}", lines.concat())
}

/// Removes all finalizers of this very object, as it is now.
pub(super) async fn remove(cluster: &Cluster, reference: &ObjectRef, expected: Option<&str>) -> Result<(), Diagnostic> {
    let failed = |failure: crate::failure::Failure| failure.diagnostic("remove the finalizers of", reference);
    for tried in 1.. {
        let Some(live) = cluster.get(reference).await.map_err(failed)?.filter(|live| uid(live) == expected) else {
            return Ok(());
        };
        if explained(&live).is_none() {
            return Ok(());
        }
        let how = Apply { manager: MANAGER, force: true, dry_run: false };
        match cluster.patch(reference, &without_finalizers(&live), how).await {
            Ok(_) => return Ok(()),
            Err(failure) if failure.code == Some(404) => return Ok(()),
            // Others write at the same time: it is done again with what they wrote.
            Err(failure) if tried < TRIES && is_race(failure.kind) => {}
            Err(failure) => return Err(failed(failure)),
        }
    }
    Ok(())
}

fn is_race(kind: FailureKind) -> bool {
    matches!(kind, FailureKind::Outdated | FailureKind::Conflict | FailureKind::Invalid)
}

fn without_finalizers(live: &Json) -> Patch {
    let test = |name: &str| {
        let value = live.get("metadata").and_then(|metadata| metadata.get(name)).cloned().unwrap_or_default();
        json!({"op": "test", "path": format!("/metadata/{name}"), "value": value})
    };
    let remove = json!({"op": "remove", "path": "/metadata/finalizers"});
    Patch::Json(json!([test("uid"), test("resourceVersion"), remove]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finalizer_is_explained() {
        let left = json!({"metadata": {"finalizers": ["kubernetes.io/pvc-protection", "example.com/x"]}});
        let text = explained(&left).unwrap();
        assert!(text.contains("kubernetes.io/pvc-protection: a pod still uses the claim"));
        assert!(text.contains("example.com/x: its controller must remove it"));
        assert_eq!(explained(&json!({"metadata": {"finalizers": []}})), None);
        assert_eq!(explained(&json!({"metadata": {}})), None);
    }

    #[test]
    fn finalizers_are_removed_only_from_what_was_seen() {
        let live = json!({"metadata": {"uid": "u", "resourceVersion": "7", "finalizers": ["a"]}});
        let Patch::Json(patch) = without_finalizers(&live) else { panic!("no JSON patch") };
        assert_eq!(
            patch,
            json!([
                {"op": "test", "path": "/metadata/uid", "value": "u"},
                {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
                {"op": "remove", "path": "/metadata/finalizers"},
            ])
        );
    }

    #[test]
    fn what_is_left_is_told_by_number() {
        let plain = || json!({"metadata": {"name": "a"}});
        let held = json!({"metadata": {"name": "h", "finalizers": ["x"]}});
        let left = vec![
            ("Pod".to_owned(), vec![plain()]),
            ("Queue".to_owned(), vec![plain(), held]),
            ("Secret".to_owned(), vec![plain()]),
        ];
        let text = told(left);
        assert_eq!(text, " In it are still:\n  - 2 Queue (h has finalizers)\n  - 1 Pod\n  - 1 Secret");
        let many = (0..7).map(|at| (format!("Kind{at}"), vec![plain()])).collect();
        assert!(told(many).ends_with("and 2 more kinds"));
    }
}
