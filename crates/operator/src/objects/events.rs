//! What happened, as the Event that people find beside the object that it happened to.

use k8s_openapi::jiff::Timestamp;
use kube::api::DynamicObject;
use serde_json::json;

use super::Notice;
use super::cluster::shortened;

/// The Event of a notice. None if it could not be one.
pub(super) fn event(notice: &Notice, component: &str, now: Timestamp) -> Option<DynamicObject> {
    let about = &notice.about;
    let namespace = about.namespace.clone().unwrap_or_else(|| "default".to_owned());
    let now = now.to_string();
    let event = json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": format!("{}.", shortened(&about.name, 200)), "namespace": namespace},
        "involvedObject": {
            "apiVersion": about.kind.api_version(), "kind": about.kind.kind, "name": about.name,
            "namespace": about.namespace, "uid": notice.uid,
        },
        "type": if notice.is_warning { "Warning" } else { "Normal" },
        "reason": notice.reason,
        "message": shortened(&notice.message, 1000),
        "firstTimestamp": now, "lastTimestamp": now, "count": 1,
        "source": {"component": component},
        "reportingComponent": component,
    });
    serde_json::from_value(event).ok()
}
