//! Who of several operators works: the one that holds a Lease. It is renewed while work goes on; whoever cannot renew it stops working
//! before anybody else may begin.

use std::sync::Arc;
use std::time::Duration;

use kube::api::{DynamicObject, ObjectMeta};
use serde_json::{Value as Json, json};
use tokio::time::Instant;

use crate::objects::{Kind, Place, Store, StoreError, holder};

/// How long a Lease holds after it was last renewed.
const HOLDS: Duration = Duration::from_secs(15);
/// Whoever could not renew it for so long has lost it. Shorter than it holds, so that there are never two.
const GIVES_UP: Duration = Duration::from_secs(10);
/// How long one try may take.
const ONE_TRY: Duration = Duration::from_secs(8);
/// How often it is renewed, or looked at.
const PAUSE: Duration = Duration::from_secs(2);

/// One that may lead.
pub struct Leader {
    store: Arc<dyn Store>,
    place: Place,
    identity: String,
}

/// What was seen of a Lease that somebody else holds: it is over when nothing has changed for as long as it holds. Clocks are not compared.
struct Sighting {
    version: Option<String>,
    at: Instant,
    holds: Duration,
}

impl Leader {
    /// Leads under a name, with a Lease that all of its kind know.
    pub fn new(store: Arc<dyn Store>, namespace: &str, name: &str, identity: &str) -> Self {
        Self { store, place: Place::new(Kind::lease(), namespace, name), identity: identity.to_owned() }
    }

    /// Waits until it is us.
    pub async fn elected(&self) {
        let mut sighting: Option<Sighting> = None;
        let mut told = false;
        loop {
            match self.try_to_lead(&mut sighting).await {
                Ok(true) => return,
                Ok(false) if !told => {
                    tracing::info!(lease = %self.place, "another operator leads; waiting");
                    told = true;
                }
                Ok(false) => {}
                Err(problem) => tracing::warn!(%problem, "the lease cannot be had"),
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Renews it for as long as that works.
    pub async fn until_lost(&self) {
        let mut renewed = Instant::now();
        loop {
            tokio::time::sleep(PAUSE).await;
            let tried = tokio::time::timeout(ONE_TRY, self.renew()).await;
            match tried {
                Ok(Ok(true)) => renewed = Instant::now(),
                Ok(Ok(false)) => return,
                Ok(Err(problem)) => tracing::warn!(%problem, "the lease could not be renewed"),
                Err(_) => tracing::warn!("the lease could not be renewed in time"),
            }
            if renewed.elapsed() >= GIVES_UP {
                return;
            }
        }
    }

    /// Gives it back, so that others need not wait.
    pub async fn resign(&self) {
        let Ok(Some(mut lease)) = self.store.get(&self.place).await else { return };
        if holder_of(&lease) != Some(self.identity.as_str()) {
            return;
        }
        lease.data["spec"]["holderIdentity"] = json!("");
        lease.data["spec"]["leaseDurationSeconds"] = json!(1);
        if let Err(problem) = self.store.replace(&self.place.kind, &lease).await {
            tracing::debug!(%problem, "the lease was not given back");
        }
    }

    async fn try_to_lead(&self, sighting: &mut Option<Sighting>) -> Result<bool, StoreError> {
        let Some(lease) = self.store.get(&self.place).await? else {
            let metadata = ObjectMeta {
                name: Some(self.place.name.clone()),
                namespace: self.place.namespace.clone(),
                ..ObjectMeta::default()
            };
            let made = holder(&self.place.kind, metadata, json!({ "spec": self.spec(&Json::Null) }));
            return won(self.store.create(&self.place.kind, &made).await);
        };
        let is_ours = holder_of(&lease) == Some(self.identity.as_str());
        let is_free = holder_of(&lease).is_none_or(str::is_empty);
        if !is_ours && !is_free && !is_over(&lease, sighting) {
            return Ok(false);
        }
        self.take(lease).await
    }

    async fn renew(&self) -> Result<bool, StoreError> {
        let Some(lease) = self.store.get(&self.place).await? else {
            return self.try_to_lead(&mut None).await;
        };
        if holder_of(&lease) != Some(self.identity.as_str()) {
            return Ok(false);
        }
        self.take(lease).await
    }

    async fn take(&self, mut lease: DynamicObject) -> Result<bool, StoreError> {
        let spec = self.spec(lease.data.get("spec").unwrap_or(&Json::Null));
        lease.data = json!({ "spec": spec });
        won(self.store.replace(&self.place.kind, &lease).await)
    }

    fn spec(&self, before: &Json) -> Json {
        let now = k8s_openapi::jiff::Timestamp::now();
        let now = format!("{}", now.strftime("%Y-%m-%dT%H:%M:%S%.6fZ"));
        let is_ours = before["holderIdentity"] == json!(self.identity);
        let transitions = before["leaseTransitions"].as_u64().unwrap_or(0) + u64::from(!is_ours && !before.is_null());
        json!({
            "holderIdentity": self.identity,
            "leaseDurationSeconds": HOLDS.as_secs(),
            "acquireTime": if is_ours { before["acquireTime"].clone() } else { json!(now) },
            "renewTime": now,
            "leaseTransitions": transitions,
        })
    }
}

/// That somebody was faster is no failure.
fn won(written: Result<DynamicObject, StoreError>) -> Result<bool, StoreError> {
    match written {
        Ok(_) => Ok(true),
        Err(StoreError::Conflict(_) | StoreError::Exists(_)) => Ok(false),
        Err(problem) => Err(problem),
    }
}

fn holder_of(lease: &DynamicObject) -> Option<&str> {
    lease.data["spec"]["holderIdentity"].as_str()
}

fn is_over(lease: &DynamicObject, sighting: &mut Option<Sighting>) -> bool {
    let version = &lease.metadata.resource_version;
    match sighting {
        Some(known) if known.version == *version => known.at.elapsed() >= known.holds,
        _ => {
            let seconds = lease.data["spec"]["leaseDurationSeconds"].as_u64();
            let holds = seconds.map_or(HOLDS, Duration::from_secs);
            *sighting = Some(Sighting { version: version.clone(), at: Instant::now(), holds });
            false
        }
    }
}
