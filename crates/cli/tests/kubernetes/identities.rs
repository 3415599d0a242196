//! Ways into a cluster, for tests that change them.

use serde_json::json;

use crate::api::eventually;
use crate::space::{Space, fresh_name};

/// A connection that names the server itself.
pub(crate) fn inline(space: &Space, more: &str) -> String {
    let certificate = space.api.certificate().display().to_string();
    format!("{{ host = {:?}, cluster_ca_certificate = file({certificate:?}), {more} }}", space.reach().url)
}

/// What a program says that gives credentials.
pub(crate) fn exec_answer(token: &str, more: &str) -> String {
    format!(
        "{{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": \"ExecCredential\", \"status\": {{\"token\": \"{token}\"{more}}}}}"
    )
}

/// A token of a service account that may do everything.
pub(crate) fn account(space: &Space, name: &str) -> String {
    space.api.create(&space.core("serviceaccounts", ""), &json!({"metadata": {"name": name}}));
    let binding = json!({
        "metadata": {"name": fresh_name()},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": space.namespace}],
    });
    space.api.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &binding);
    let path = format!("{}/token", space.core("serviceaccounts", name));
    let token = space.api.create(&path, &json!({"spec": {"expirationSeconds": 3600}}));
    token["status"]["token"].as_str().unwrap().to_owned()
}

/// From now on a token is worth nothing.
pub(crate) fn end(space: &Space, name: &str, token: &str) {
    space.api.delete(&space.core("serviceaccounts", name));
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}});
    let path = "/apis/authentication.k8s.io/v1/tokenreviews";
    let is_known = || space.api.create(path, &review)["status"]["authenticated"] == json!(true);
    assert!(eventually(|| !is_known()), "the token still counts");
}
