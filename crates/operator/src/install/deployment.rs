//! What runs the operator in a cluster.

use serde_json::{Value as Json, json};

use super::METRICS_PORT;
use super::rights::OPERATOR;

pub(super) fn labels() -> Json {
    json!({"app.kubernetes.io/name": "groma", "app.kubernetes.io/component": "operator"})
}

/// One pod. Runs that are under way when it is asked to end are ended in an orderly way, which takes a while.
pub(super) fn deployment(namespace: &str, image: &str) -> Json {
    let asks = |path: &str| json!({"httpGet": {"path": path, "port": "metrics"}});
    let container = json!({
        "name": "operator",
        "image": image,
        "args": [
            "operator",
            "-lease-namespace=$(POD_NAMESPACE)",
            format!("-account=$(POD_NAMESPACE)/{OPERATOR}"),
            format!("-image={image}"),
            format!("-metrics-address=0.0.0.0:{METRICS_PORT}"),
            "-scratch=/var/groma/runs",
            "-cache=/var/groma/cache",
        ],
        "env": [
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "POD_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
        ],
        "ports": [{"name": "metrics", "containerPort": METRICS_PORT}],
        "livenessProbe": asks("/healthz"),
        "readinessProbe": asks("/readyz"),
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "2Gi"}},
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "work", "mountPath": "/var/groma"}, {"name": "tmp", "mountPath": "/tmp"}],
    });
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": OPERATOR, "namespace": namespace, "labels": labels()},
        "spec": {
            "replicas": 1,
            // Two of them at once help nobody: only one works.
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": labels()},
            "template": {
                "metadata": {"labels": labels()},
                "spec": {
                    "serviceAccountName": OPERATOR,
                    "terminationGracePeriodSeconds": 300,
                    "securityContext": {
                        "runAsNonRoot": true,
                        "runAsUser": 65532,
                        "runAsGroup": 65532,
                        "fsGroup": 65532,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "containers": [container],
                    "volumes": [{"name": "work", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}],
                },
            },
        },
    })
}

/// Where metrics are read.
pub(super) fn service(namespace: &str) -> Json {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "groma-metrics", "namespace": namespace, "labels": labels()},
        "spec": {
            "selector": labels(),
            "ports": [{"name": "metrics", "port": METRICS_PORT, "targetPort": "metrics"}],
        },
    })
}
