//! Whether tofu-controller itself still works: two who look after the same objects undo what the other does. Who works holds a Lease, and renews it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kube::api::DynamicObject;
use serde_json::Value as Json;

use crate::api::shared::Moment;
use crate::objects::{Kind, Place, Store, StoreError};

/// The Lease of tofu-controller.
pub const LEASE: &str = "1953de50.contrib.fluxcd.io";
/// Where it usually is.
pub const NAMESPACE: &str = "flux-system";
/// How long what was seen holds.
const FRESH: Duration = Duration::from_secs(5);
/// How long a Lease lasts that does not say so.
const LENGTH: i64 = 15;
/// Clocks differ, and whoever renews may be late.
const GRACE: i64 = 10;

/// tofu-controller, which works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rival {
    /// Who holds the Lease.
    pub holder: String,
    /// Where the Lease is.
    pub namespace: String,
}

/// Finds out whether tofu-controller works.
pub struct Watchman {
    store: Arc<dyn Store>,
    namespaces: Vec<String>,
    seen: Mutex<Option<(tokio::time::Instant, Option<Rival>)>>,
}

impl Watchman {
    /// Looks for the Lease in these namespaces; in the usual one if there are none.
    pub fn new(store: Arc<dyn Store>, namespaces: &[String]) -> Self {
        let usual = || vec![NAMESPACE.to_owned()];
        let namespaces = if namespaces.is_empty() { usual() } else { namespaces.to_vec() };
        Self { store, namespaces, seen: Mutex::default() }
    }

    /// Who works, if somebody does. What was seen a moment ago still holds.
    pub async fn rival(&self, now: Moment) -> Result<Option<Rival>, StoreError> {
        let fresh = {
            let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.as_ref().filter(|(at, _)| at.elapsed() < FRESH).map(|(_, rival)| rival.clone())
        };
        if let Some(rival) = fresh {
            return Ok(rival);
        }
        let found = find(&*self.store, &self.namespaces, now).await?;
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some((tokio::time::Instant::now(), found.clone()));
        Ok(found)
    }
}

/// Who holds the Lease in one of these namespaces, and has renewed it.
pub async fn find(store: &dyn Store, namespaces: &[String], now: Moment) -> Result<Option<Rival>, StoreError> {
    for namespace in namespaces {
        let lease = store.get(&Place::new(Kind::lease(), namespace, LEASE)).await?;
        if let Some(holder) = lease.as_ref().and_then(|lease| holder(lease, now)) {
            return Ok(Some(Rival { holder, namespace: namespace.clone() }));
        }
    }
    Ok(None)
}

/// Who holds a Lease that has not run out.
fn holder(lease: &DynamicObject, now: Moment) -> Option<String> {
    let spec = lease.data.get("spec")?;
    let holder = spec.get("holderIdentity").and_then(Json::as_str).filter(|holder| !holder.is_empty())?;
    let renewed: jiff::Timestamp = spec.get("renewTime").and_then(Json::as_str)?.parse().ok()?;
    let length = spec.get("leaseDurationSeconds").and_then(Json::as_i64).unwrap_or(LENGTH);
    let age = now.0.duration_since(renewed).as_secs();
    (age <= length.saturating_add(GRACE)).then(|| holder.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lease(spec: Json) -> DynamicObject {
        serde_json::from_value(json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": LEASE, "namespace": NAMESPACE}, "spec": spec,
        }))
        .unwrap()
    }

    fn holds(spec: Json) -> Option<String> {
        holder(&lease(spec), Moment("2026-01-01T00:01:00Z".parse().unwrap()))
    }

    #[test]
    fn who_renews_works() {
        let spec = |holder: &str, renewed: &str| json!({"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": renewed});
        assert_eq!(holds(spec("tofu", "2026-01-01T00:00:50.000000Z")).as_deref(), Some("tofu"));
        assert_eq!(holds(spec("tofu", "2026-01-01T00:00:10.000000Z")), None);
        assert_eq!(holds(spec("", "2026-01-01T00:00:50.000000Z")), None);
        assert_eq!(holds(json!({})), None);
    }
}
