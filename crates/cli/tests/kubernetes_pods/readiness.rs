//! `ready`: what is told about things that never become ready, by those who really know.

use serde_json::{Value, json};

use crate::api::eventually;
use crate::node::{container, deployment, idle, is_not_tainted, on_the_node, pods, says, web};
use crate::space::{Space, object, object_with};

fn pod(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: NAMESPACE}}\nspec: {{terminationGracePeriodSeconds: 1, {spec}}}"
    )
}

/// Applies while the kubelet says that it leaves a container alone for a while. It does so only some time after the second end, and not
/// while the container is tried again, so a run may just miss it.
fn fails_while_it_backs_off(space: &Space) -> String {
    let is_waiting =
        |pod: &Value| pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] == "CrashLoopBackOff";
    let backs_off = || (0..4).any(|_| eventually(|| pods(space).iter().any(is_waiting)));
    let mut said = String::new();
    for _ in 0..5 {
        assert!(backs_off());
        said = space.apply_fails();
        if said.contains("CrashLoopBackOff") {
            break;
        }
    }
    said
}

#[test]
fn a_pod_that_crashes_again_and_again_is_told_of() {
    let space = on_the_node();
    let manifest = |arguments: &str| pod("web", &format!("containers: [{}]", container(arguments, "")));
    space.main(&web("ready = true, timeout = \"3s\"", &manifest("exit, '3'")));
    says(&space.apply_fails(), &["it to be ready", "not ready: container web"]);
    let said = fails_while_it_backs_off(&space);
    says(&said, &["the pod is Running and not ready", "CrashLoopBackOff", "last exit code 3, Error"]);
    is_not_tainted(&space, "k8sconnect_object.web");
    let path = space.core("pods", "web");
    let uid = space.api.uid(&path);
    // What a container is told cannot be changed: that is another pod.
    space.main(&web("ready = true, timeout = \"60s\"", &manifest("pause"))).apply();
    assert_ne!(space.api.uid(&path), uid);
    space.is_settled();
    space.destroy();
}

/// The same behind a Deployment, where pods have names that nobody knows.
#[test]
fn a_deployment_that_crashes_again_and_again_is_told_of() {
    let space = on_the_node();
    space.main(&web("ready = true, timeout = \"3s\"", &deployment(1, &container("exit, '3'", ""))));
    space.apply_fails();
    let said = fails_while_it_backs_off(&space);
    says(&said, &["Pod web-", "container web: CrashLoopBackOff", "last exit code 3", "MinimumReplicasUnavailable"]);
    space.destroy();
}

/// Pods that end well are ready; pods that end badly will never be.
#[test]
fn pods_that_end_are_judged_by_how() {
    let space = on_the_node();
    let ends = |name: &str, code: u32| {
        let spec = format!("restartPolicy: Never, containers: [{}]", container(&format!("exit, '{code}'"), ""));
        object_with(name, "wait_for = { ready = true, timeout = \"10m\" }", &pod(name, &spec))
    };
    space.main(&ends("well", 0)).apply();
    space.main(&(ends("well", 0) + &ends("badly", 4)));
    let said = space.apply_fails();
    says(&said, &["the pod has failed", "exit code 4"]);
    space.destroy();
}

/// What mounts the claim is not begun before it is bound; and what nobody can give is said.
#[test]
fn a_claim_without_a_volume_is_told_of_and_bound_later() {
    let space = on_the_node();
    let claim = "
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: NAMESPACE}
        spec: {accessModes: [ReadWriteOnce], storageClassName: '', resources: {requests: {storage: 1Gi}}}
        ";
    let mounts = pod(
        "web",
        &format!(
            "containers: [{}], volumes: [{{name: data, persistentVolumeClaim: {{claimName: data}}}}]",
            container("pause", ", volumeMounts: [{name: data, mountPath: /data}]")
        ),
    );
    let main = |timeout: &str| {
        let wait_for = format!("wait_for = {{ ready = true, timeout = \"{timeout}\" }}");
        let user = "depends_on = [k8sconnect_object.data]\n  wait_for = { ready = true, timeout = \"60s\" }";
        space.main(&(object_with("data", &wait_for, claim) + &object_with("user", user, &mounts)));
    };
    main("4s");
    let said = space.apply_fails();
    says(&said, &["it is Pending, not bound to a volume", "no persistent volumes available"]);
    says(&said, &["k8sconnect_object.user: not begun, because k8sconnect_object.data failed"]);
    assert!(pods(&space).is_empty());
    let path = space.core("persistentvolumeclaims", "data");
    let uid = space.api.uid(&path);
    let folder = format!("/tmp/{}", space.namespace);
    space.api.create(
        "/api/v1/persistentvolumes",
        &json!({
            "metadata": {"name": space.namespace},
            "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "",
                     "persistentVolumeReclaimPolicy": "Retain", "hostPath": {"path": folder, "type": "DirectoryOrCreate"},
                     "claimRef": {"namespace": space.namespace, "name": "data"}},
        }),
    );
    main("60s");
    space.apply();
    assert_eq!(space.api.uid(&path), uid);
    assert_eq!(space.api.get(&space.core("pods", "web"))["status"]["phase"], "Running");
    space.is_settled();
    space.destroy();
}

/// A class that nobody provides for, and a class that binds only when a pod comes: the events say so.
#[test]
fn what_holds_a_claim_back_is_told() {
    let space = on_the_node();
    let classes =
        [("Immediate", "external provisioner 'nobody.example.com'"), ("WaitForFirstConsumer", "first consumer")];
    for (mode, expected) in classes {
        let class = format!("{}-{}", space.namespace, mode.to_lowercase());
        let manifest = format!(
            "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {{name: {class}}}\n\
             provisioner: nobody.example.com\nvolumeBindingMode: {mode}"
        );
        let claim = format!(
            "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: data, namespace: NAMESPACE}}\n\
             spec: {{accessModes: [ReadWriteOnce], storageClassName: {class}, resources: {{requests: {{storage: 1Gi}}}}}}"
        );
        let waits = "depends_on = [k8sconnect_object.class]\n  wait_for = { ready = true, timeout = \"5s\" }";
        space.main(&(object("class", &manifest) + &object_with("data", waits, &claim)));
        let said = space.apply_fails();
        says(&said, &["it is Pending, not bound to a volume", &class, expected]);
        space.destroy();
    }
}

#[test]
fn a_service_without_an_address_is_told_of() {
    let space = on_the_node();
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: NAMESPACE}\n\
                   spec: {type: LoadBalancer, selector: {app: web}, ports: [{port: 80}]}";
    space.main(&object_with("web", "wait_for = { ready = true, timeout = \"3s\" }", service));
    let said = space.apply_fails();
    says(&said, &["its load balancer has no address yet", "something in the cluster must give it an address"]);
    is_not_tainted(&space, "k8sconnect_object.web");
    let path = space.core("services", "web");
    let uid = space.api.uid(&path);
    let status = json!({"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}});
    space.api.set_status(&path, &status);
    space.apply();
    assert_eq!(space.api.uid(&path), uid);
    space.is_settled();
    space.destroy();
}

/// Pods that no node takes, and pods that the cluster does not even allow.
#[test]
fn pods_that_cannot_be_are_told_of() {
    let space = on_the_node();
    let greedy = idle().replace(", args", ", resources: {requests: {memory: 100Ti}}, args");
    let told = |space: &Space, container: &str| {
        let manifest = deployment(1, container);
        space.main(&web("rollout = true, timeout = \"5s\"", &manifest)).apply_fails()
    };
    let said = told(&space, &greedy);
    says(&said, &["cannot be scheduled", "Insufficient memory"]);
    space.destroy();
    let quota = json!({"metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}});
    space.api.create(&space.core("resourcequotas", ""), &quota);
    let seen = || space.api.get(&space.core("resourcequotas", "none"))["status"]["hard"].is_object();
    assert!(eventually(seen));
    let said = told(&space, &idle());
    says(&said, &["ReplicaFailure is True (FailedCreate)", "exceeded quota"]);
    space.destroy();
}
