//! A source of Flux without its controller, which is the test: what has been fetched is an archive on loopback.

use groma_testkit::servers::artifacts::Artifact;
use serde_json::{Value, json};

use crate::stage::Stage;

/// The API of sources.
pub(crate) const VERSION: &str = "source.toolkit.fluxcd.io/v1";
/// What the first artifact is known by, and the one after it.
pub(crate) const FIRST: &str = "main@sha1:1111111111111111111111111111111111111111";
pub(crate) const SECOND: &str = "main@sha1:2222222222222222222222222222222222222222";

/// The cluster knows sources of Flux.
#[track_caller]
pub(crate) fn make_known(stage: &Stage) {
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "gitrepositories.source.toolkit.fluxcd.io"},
        "spec": {
            "group": "source.toolkit.fluxcd.io", "scope": "Namespaced",
            "names": {
                "kind": "GitRepository", "listKind": "GitRepositoryList", "plural": "gitrepositories",
                "singular": "gitrepository",
            },
            "versions": [
                {"name": "v1", "served": true, "storage": true, "schema": schema, "subresources": {"status": {}}},
            ],
        },
    });
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    // Another test may have been here before.
    let (status, said) = stage.api.ask("POST", path, "application/json", Some(&definition)).unwrap();
    assert!(status == 201 || status == 409, "{said}");
    let at = stage.at(VERSION, "gitrepositories", "");
    // Just after it was made, the server may say that it is not ready for it.
    stage.until("the kind is known", || (stage.api.ask("GET", &at, "", None).unwrap().0 == 200).then_some(()));
}

/// Where a source is.
pub(crate) fn at(stage: &Stage, name: &str) -> String {
    stage.at(VERSION, "gitrepositories", name)
}

/// Makes a source, which has not fetched anything yet.
#[track_caller]
pub(crate) fn make_source(stage: &Stage, name: &str) {
    let object: Value = json!({
        "apiVersion": VERSION, "kind": "GitRepository", "metadata": {"name": name},
        "spec": {"url": "https://git.example/lake.git", "interval": "1h"},
    });
    stage.api.create(&at(stage, ""), &object);
}

/// A source has fetched that.
#[track_caller]
pub(crate) fn has(stage: &Stage, name: &str, artifact: &Artifact, revision: &str) {
    stage.api.set_status(&at(stage, name), &json!({"artifact": artifact.as_status(revision)}));
}
