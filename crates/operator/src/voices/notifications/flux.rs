//! Events as Flux writes them: what its notification-controller takes, and everybody who knows it.

use serde_json::{Value as Json, json};

use crate::api::GROUP;
use crate::api::shared::Moment;
use crate::objects::Notice;
use crate::objects::cluster::shortened;

/// Who tells.
const CONTROLLER: &str = "groma-operator";
/// No more of a message is told.
const MOST_BYTES: usize = 16 << 10;

/// An event.
pub(crate) fn event(notice: &Notice, is_error: bool, revision: &str, at: Moment) -> Json {
    let about = &notice.about;
    let mut metadata = json!({});
    if !revision.is_empty() {
        // Its notification-controller passes on what has the group of the object before it, and others read what has not.
        metadata["revision"] = json!(revision);
        metadata[format!("{GROUP}/revision")] = json!(revision);
    }
    json!({
        "involvedObject": {
            "apiVersion": about.kind.api_version(),
            "kind": about.kind.kind,
            "name": about.name,
            "namespace": about.namespace,
            "uid": notice.uid,
        },
        "severity": if is_error { "error" } else { "info" },
        "timestamp": at.0.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "message": shortened(&notice.message, MOST_BYTES),
        "reason": notice.reason,
        "metadata": metadata,
        "reportingController": CONTROLLER,
    })
}

/// The same as one text, for chats.
pub(crate) fn text(notice: &Notice, revision: &str) -> Json {
    let about = &notice.about;
    let namespace = about.namespace.as_deref().unwrap_or_default();
    let revision = if revision.is_empty() { String::new() } else { format!(" ({revision})") };
    let message = shortened(&notice.message, MOST_BYTES);
    json!({ "text": format!("{} {namespace}/{}{revision}: {}: {message}", about.kind.kind, about.name, notice.reason) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::stack::Stack;
    use crate::objects::{Kind, Place};

    fn notice() -> Notice {
        Notice {
            about: Place::new(Kind::of::<Stack>(), "team", "app"),
            uid: Some("u".to_owned()),
            is_warning: true,
            reason: "Transient".to_owned(),
            message: "app-3: nobody answers".to_owned(),
        }
    }

    #[test]
    fn events_are_written_as_flux_writes_them() {
        let at = Moment("2026-01-02T03:04:05.678Z".parse().unwrap());
        let expected = json!({
            "involvedObject": {"apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "name": "app", "namespace": "team", "uid": "u"},
            "severity": "error", "timestamp": "2026-01-02T03:04:05Z", "message": "app-3: nobody answers", "reason": "Transient",
            "metadata": {"revision": "main@sha1:ab", "groma.dev/revision": "main@sha1:ab"},
            "reportingController": "groma-operator",
        });
        assert_eq!(event(&notice(), true, "main@sha1:ab", at), expected);
        assert_eq!(event(&notice(), false, "", at)["metadata"], json!({}));
    }

    #[test]
    fn chats_get_one_text() {
        let expected = "Stack team/app (main@sha1:ab): Transient: app-3: nobody answers";
        assert_eq!(text(&notice(), "main@sha1:ab"), json!({ "text": expected }));
    }
}
