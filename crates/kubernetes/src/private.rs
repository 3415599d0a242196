//! What is kept with an object besides its attributes: names and JSON documents, stored as the published provider stores them, so that
//! objects of either can be read by the other.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_provider::api::Private;

use crate::Json;

/// The object was written, and what became of it could not be read.
pub(crate) const PENDING_PROJECTION: &str = "pending_projection";
/// It was imported, and nobody has written our annotations yet.
pub(crate) const IMPORTED: &str = "imported_without_annotations";
/// The last read was refused: what is stored may be out of date.
pub(crate) const STALE_READ: &str = "stale_read";
/// Who owned which fields when we wrote the object last.
pub(crate) const OWNERSHIP_BASELINE: &str = "ownership_baseline";
/// It is not ready: reading it judges that again.
pub(crate) const AWAITING: &str = "awaiting";
/// Our annotations are gone.
pub(crate) const ANNOTATIONS_LOST: &str = "annotations_lost";
/// The id of the object that a plan was made for: if it is replaced, the new one may find it in its place.
pub(crate) const PLANNED_FOR: &str = "planned_for";

/// What is kept, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept(serde_json::Map<String, Json>);

impl Kept {
    /// Reads it. What nobody can read is as good as nothing.
    pub(crate) fn of(private: &Private) -> Self {
        match serde_json::from_slice(&private.0) {
            Ok(Json::Object(members)) => Self(members),
            _ => Self::default(),
        }
    }

    /// A document.
    pub(crate) fn get(&self, name: &str) -> Option<Json> {
        let bytes = STANDARD.decode(self.0.get(name)?.as_str()?).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Whether a flag is set.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.get(name) == Some(Json::Bool(true))
    }

    /// Keeps a document.
    pub(crate) fn put(&mut self, name: &str, document: &Json) {
        self.0.insert(name.to_owned(), Json::String(STANDARD.encode(document.to_string())));
    }

    /// Sets or clears a flag.
    pub(crate) fn set(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.put(name, &Json::Bool(true));
        } else {
            self.clear(name);
        }
    }

    /// Keeps it no longer.
    pub(crate) fn clear(&mut self, name: &str) {
        self.0.shift_remove(name);
    }

    /// As it is stored.
    pub(crate) fn to_private(&self) -> Private {
        if self.0.is_empty() {
            Private::default()
        } else {
            Private(Json::Object(self.0.clone()).to_string().into_bytes())
        }
    }
}

/// Changes what is kept.
pub(crate) fn change(private: &mut Private, change: impl FnOnce(&mut Kept)) {
    let mut kept = Kept::of(private);
    change(&mut kept);
    *private = kept.to_private();
}

/// Whether a flag is set.
pub(crate) fn is_set(private: &Private, name: &str) -> bool {
    Kept::of(private).is_set(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_published_provider_keeps_is_read() {
        let stored =
            br#"{"pending_projection":"dHJ1ZQ==","ownership_baseline":"eyJzcGVjLnJlcGxpY2FzIjoiazhzY29ubmVjdCJ9"}"#;
        let kept = Kept::of(&Private(stored.to_vec()));
        assert!(kept.is_set(PENDING_PROJECTION));
        assert!(!kept.is_set(STALE_READ));
        assert_eq!(kept.get(OWNERSHIP_BASELINE), Some(json!({"spec.replicas": "k8sconnect"})));
        assert_eq!(kept.to_private().0, stored);
    }

    #[test]
    fn what_is_not_ours_stays() {
        let mut private = Private(br#"{"theirs":"MQ=="}"#.to_vec());
        change(&mut private, |kept| kept.set(AWAITING, true));
        assert_eq!(private.0, br#"{"theirs":"MQ==","awaiting":"dHJ1ZQ=="}"#);
        change(&mut private, |kept| kept.set(AWAITING, false));
        assert_eq!(private.0, br#"{"theirs":"MQ=="}"#);
    }

    #[test]
    fn nothing_kept_is_no_bytes() {
        let mut private = Private(b"no json".to_vec());
        change(&mut private, |kept| kept.clear(AWAITING));
        assert_eq!(private, Private::default());
    }
}
