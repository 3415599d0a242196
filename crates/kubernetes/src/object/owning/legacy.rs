//! Managers that wrote whole objects before somebody took them over here. If they went on owning fields beside us, what is taken out of
//! the manifest later would stay in the object for ever.

use serde_json::json;

use crate::Json;
use crate::api::{Apply, Cluster, Patch};
use crate::manifest::ObjectRef;
use crate::object::naming::uid;
use crate::ownership::MANAGER;

/// Programs that an object is taken over from: they do not come back, or must not.
const PREDECESSORS: [&str; 5] =
    ["kubectl-client-side-apply", "kubectl-create", "before-first-apply", "Terraform", "HashiCorp"];

/// Takes what predecessors own out of the records of an object that we have just written. Gives it as it is then. If that does not work,
/// nothing is lost but tidiness.
pub(crate) async fn succeed(cluster: &Cluster, reference: &ObjectRef, live: Json) -> Json {
    let Some(patch) = without_predecessors(&live) else { return live };
    let how = Apply { manager: MANAGER, force: true, dry_run: false };
    match cluster.patch(reference, &patch, how).await {
        Ok(said) => said.value,
        Err(failure) => {
            tracing::debug!(%failure, "predecessors still own fields");
            live
        }
    }
}

fn without_predecessors(live: &Json) -> Option<Patch> {
    let is_predecessor = |entry: &&Json| {
        let text = |name: &str| entry.get(name).and_then(Json::as_str);
        text("subresource").is_none() && text("manager").is_some_and(|name| PREDECESSORS.contains(&name))
    };
    let entries = live.pointer("/metadata/managedFields")?.as_array()?;
    let kept: Vec<&Json> = entries.iter().filter(|entry| !is_predecessor(entry)).collect();
    // An empty list would have the server forget everybody.
    if kept.len() == entries.len() || kept.is_empty() {
        return None;
    }
    let version = live.pointer("/metadata/resourceVersion")?;
    Some(Patch::Json(json!([
        {"op": "test", "path": "/metadata/uid", "value": uid(live)},
        {"op": "test", "path": "/metadata/resourceVersion", "value": version},
        {"op": "replace", "path": "/metadata/managedFields", "value": kept},
    ])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(managers: &[&str]) -> Json {
        let entries: Vec<Json> = managers.iter().map(|manager| json!({"manager": manager})).collect();
        json!({"metadata": {"uid": "u", "resourceVersion": "7", "managedFields": entries}})
    }

    fn left(managers: &[&str]) -> Option<Json> {
        match without_predecessors(&live(managers))? {
            Patch::Json(patch) => patch.pointer("/2/value").cloned(),
            Patch::Merge(_) => None,
        }
    }

    #[test]
    fn only_predecessors_go() {
        let expected = json!([{"manager": "k8sconnect"}, {"manager": "hpa"}]);
        assert_eq!(left(&["k8sconnect", "kubectl-client-side-apply", "hpa", "HashiCorp"]), Some(expected));
    }

    #[test]
    fn where_nobody_has_to_go_nothing_is_written() {
        assert_eq!(left(&["k8sconnect", "hpa"]), None);
        assert_eq!(left(&["Terraform"]), None);
    }

    #[test]
    fn controllers_keep_what_they_own_of_the_status() {
        let mut live = live(&["k8sconnect", "Terraform"]);
        live["metadata"]["managedFields"][1]["subresource"] = json!("status");
        assert!(without_predecessors(&live).is_none());
    }
}
