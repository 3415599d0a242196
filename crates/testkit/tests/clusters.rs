//! Clusters do what tests of others rely on: who may come in, what controllers do, what runs on a node.

#![cfg(feature = "peers")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

#[path = "clusters/objects.rs"]
mod objects;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use groma_testkit::servers::kube::{self, Extent, Identity, KubeServer};
use objects::{container, create, deployment, eventually, get, namespace, pod};
use serde_json::json;

#[test]
fn identities_may_do_what_roles_say() {
    let builder = Identity { token: "t-1".to_owned(), user: "ada".to_owned(), groups: vec!["builders".to_owned()] };
    let server = KubeServer::fresh(Extent::Api, vec![builder]);
    let reach = server.reach();
    let kubeconfig = reach.kubeconfig_text("t-1").unwrap();
    assert!(kubeconfig.contains(&reach.url) && kubeconfig.contains("token: t-1"), "{kubeconfig}");
    let read = |token: &str| reach.ask_as(token, "GET", "/api/v1/namespaces", None).unwrap().status;
    assert_eq!([read("t-1"), read(kube::NOBODY_TOKEN), read("unknown")], [403, 403, 401]);
    // Roles like `view` are put together by a controller, and are empty without.
    let role = json!({
        "metadata": { "name": "builders" },
        "rules": [{ "apiGroups": [""], "resources": ["namespaces"], "verbs": ["list"] }],
    });
    create(reach, "/apis/rbac.authorization.k8s.io/v1/clusterroles", &role);
    let binding = json!({
        "metadata": { "name": "builders" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "builders" },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "builders" }],
    });
    create(reach, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &binding);
    eventually("the role to be known", || (read("t-1") == 200).then_some(()));
    assert_eq!(read(kube::NOBODY_TOKEN), 403);
}

#[test]
fn processes_are_known_by_name() {
    for reach in [kube::shared_with_controllers(), kube::shared_with_node()] {
        for (name, process) in &reach.processes {
            let found = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap();
            // The kernel keeps fifteen letters.
            assert!(name.starts_with(found.trim()), "{name} is {found}");
        }
    }
}

#[test]
fn controllers_make_pods_and_take_them_away() {
    let reach = kube::shared_with_controllers();
    namespace(reach, "made");
    create(reach, "/apis/apps/v1/namespaces/made/deployments", &deployment("web", &container(&["pause"])));
    let pods = || get(reach, "/api/v1/namespaces/made/pods")["items"].as_array().unwrap().clone();
    let found = eventually("a pod", || pods().into_iter().next());
    assert_eq!(found["status"]["phase"], "Pending");
    assert_eq!(reach.ask("DELETE", "/api/v1/namespaces/made", None).unwrap().status, 200);
    let status = || reach.ask("GET", "/api/v1/namespaces/made", None).unwrap().status;
    eventually("the end of the namespace", || (status() == 404).then_some(()));
}

#[test]
fn pods_run_and_end_and_fail() {
    let reach = kube::shared_with_node();
    namespace(reach, "runs");
    let said = pod(reach, "runs", "says", &container(&["say", "hello"]));
    assert_eq!(said, ("Succeeded".to_owned(), "hello\n".to_owned()));
    assert_eq!(pod(reach, "runs", "fails", &container(&["exit", "3"])).0, "Failed");
    let mut greedy = container(&["hog", "100"]);
    greedy["resources"] = json!({ "limits": { "memory": "32Mi" } });
    assert_eq!(pod(reach, "runs", "greedy", &greedy).0, "Failed");
    let greedy = get(reach, "/api/v1/namespaces/runs/pods/greedy");
    assert_eq!(greedy["status"]["containerStatuses"][0]["state"]["terminated"]["reason"], "OOMKilled");
}

#[test]
fn pods_reach_the_api_server_services_and_this_machine() {
    let reach = kube::shared_with_node();
    namespace(reach, "reaches");
    let (phase, version) = pod(reach, "reaches", "asks-api", &container(&["api", "/version"]));
    assert!(phase == "Succeeded" && version.contains("v1.34"), "{phase} {version}");
    // Its account is nobody special.
    assert_eq!(pod(reach, "reaches", "asks-too-much", &container(&["api", "/api/v1/secrets"])).0, "Failed");
    let mut serving = container(&["serve", ":8080"]);
    serving["readinessProbe"] = json!({ "httpGet": { "port": 8080, "path": "/ready" }, "periodSeconds": 1 });
    create(reach, "/apis/apps/v1/namespaces/reaches/deployments", &deployment("web", &serving));
    let service = json!({
        "metadata": { "name": "web" },
        "spec": { "selector": { "app": "web" }, "ports": [{ "port": 80, "targetPort": 8080 }] },
    });
    let service = create(reach, "/api/v1/namespaces/reaches/services", &service);
    let web = "/apis/apps/v1/namespaces/reaches/deployments/web";
    eventually("a deployment to be available", || get(reach, web)["status"]["availableReplicas"].as_u64());
    let url = format!("http://{}/", service["spec"]["clusterIP"].as_str().unwrap());
    let (phase, name) = pod(reach, "reaches", "asks-service", &container(&["fetch", &url]));
    assert!(phase == "Succeeded" && name.starts_with("web-"), "{phase} {name}");
    let here = TcpListener::bind((reach.host.unwrap(), 0)).unwrap();
    let url = format!("http://{}/", here.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (mut stream, _) = here.accept().unwrap();
        let _ = stream.read(&mut [0; 1024]).unwrap();
        stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nfrom outside").unwrap();
    });
    let (_, text) = pod(reach, "reaches", "asks-outside", &container(&["fetch", &url]));
    assert_eq!(text, "from outside\n");
    served.join().unwrap();
}

#[test]
fn a_deployment_whose_image_is_missing_waits_for_it() {
    let reach = kube::shared_with_node();
    namespace(reach, "waits");
    let mut never = container(&[]);
    never["image"] = "groma.dev/missing:1".into();
    let elsewhere = json!({ "name": "only", "image": "registry.invalid/missing:1" });
    for (name, container, reasons) in
        [("never", never, &["ErrImageNeverPull"][..]), ("elsewhere", elsewhere, &["ErrImagePull", "ImagePullBackOff"])]
    {
        create(reach, "/apis/apps/v1/namespaces/waits/deployments", &deployment(name, &container));
        let pods = format!("/api/v1/namespaces/waits/pods?labelSelector=app%3D{name}");
        let reason = eventually(name, || {
            let state = get(reach, &pods)["items"][0]["status"]["containerStatuses"][0]["state"]["waiting"].clone();
            state["reason"].as_str().filter(|reason| *reason != "ContainerCreating").map(str::to_owned)
        });
        assert!(reasons.contains(&reason.as_str()), "{name}: {reason}");
    }
}
