//! Objects for tests of clusters, and how they are made and looked at.

use std::time::{Duration, Instant};

use groma_testkit::servers::kube::{POD_IMAGE, Reach};
use serde_json::{Value, json};

/// Sends an object and returns what became of it.
pub(crate) fn create(reach: &Reach, path: &str, object: &Value) -> Value {
    let answer = reach.ask("POST", path, Some(&object.to_string())).unwrap();
    assert_eq!(answer.status, 201, "{}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

/// Reads an object.
pub(crate) fn get(reach: &Reach, path: &str) -> Value {
    serde_json::from_str(&reach.ask("GET", path, None).unwrap().body).unwrap()
}

/// Looks until something is as it should be, and returns it.
#[expect(clippy::disallowed_methods, reason = "it waits for real programs")]
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_mins(2), "in vain: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A namespace in which pods can be made.
pub(crate) fn namespace(reach: &Reach, name: &str) {
    create(reach, "/api/v1/namespaces", &json!({ "metadata": { "name": name } }));
    let account = format!("/api/v1/namespaces/{name}/serviceaccounts/default");
    eventually("the account of pods", || reach.ask("GET", &account, None).ok().filter(|answer| answer.status == 200));
}

/// The only container of a pod: the program of `tests/pods`.
pub(crate) fn container(arguments: &[&str]) -> Value {
    json!({ "name": "only", "image": POD_IMAGE, "imagePullPolicy": "Never", "args": arguments })
}

/// Runs a pod to its end and returns how it ended and what it said.
pub(crate) fn pod(reach: &Reach, namespace: &str, name: &str, container: &Value) -> (String, String) {
    let pods = format!("/api/v1/namespaces/{namespace}/pods");
    let spec = json!({ "restartPolicy": "Never", "containers": [container] });
    create(reach, &pods, &json!({ "metadata": { "name": name }, "spec": spec }));
    let phase = eventually(name, || {
        let phase = get(reach, &format!("{pods}/{name}"))["status"]["phase"].as_str().map(str::to_owned);
        phase.filter(|phase| phase == "Succeeded" || phase == "Failed")
    });
    (phase, reach.ask("GET", &format!("{pods}/{name}/log"), None).unwrap().body)
}

/// A Deployment of one pod.
pub(crate) fn deployment(name: &str, container: &Value) -> Value {
    json!({
        "metadata": { "name": name },
        "spec": {
            "selector": { "matchLabels": { "app": name } },
            "template": { "metadata": { "labels": { "app": name } }, "spec": { "containers": [container] } },
        },
    })
}
