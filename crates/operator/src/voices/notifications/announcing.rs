//! Objects as they are, and every event about them told to one more place. That place may be slow or gone: nobody waits for it, and what
//! does not fit into a short queue is dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use kube::api::DynamicObject;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::{flux, post};
use crate::api::stack::Stack;
use crate::metrics::Metrics;
use crate::objects::{Kind, Notice, Place, Seen, Store, StoreError, find};
use crate::runs::in_process::Clock;

/// How many events wait.
const MOST_WAITING: usize = 1_000;
/// How often it is tried to tell one.
const ATTEMPTS: u32 = 3;
/// How long to wait before the next attempt; doubled each time.
const PAUSE: Duration = Duration::from_millis(500);

/// Objects elsewhere, and somebody who is told what happens to them.
pub(crate) struct Announcing<S> {
    inner: Arc<S>,
    waiting: Sender<(Notice, crate::api::shared::Moment)>,
    dropped: AtomicU64,
    clock: Clock,
}

impl<S: Store + 'static> Announcing<S> {
    /// Events go there as well. Whoever starts the operator says where that is, so it may be anywhere.
    pub(crate) fn new(inner: S, address: String, clock: Clock, metrics: Arc<Metrics>) -> Self {
        let inner = Arc::new(inner);
        let (waiting, events) = channel(MOST_WAITING);
        tokio::spawn(tell_all(Arc::clone(&inner), address, events, metrics));
        Self { inner, waiting, dropped: AtomicU64::new(0), clock }
    }
}

async fn tell_all<S: Store>(
    store: Arc<S>,
    address: String,
    mut events: Receiver<(Notice, crate::api::shared::Moment)>,
    metrics: Arc<Metrics>,
) {
    while let Some((notice, at)) = events.recv().await {
        let revision = revision(&*store, &notice.about).await;
        let body = flux::event(&notice, notice.is_warning, &revision, at).to_string();
        let mut attempt = 0;
        let told = loop {
            attempt += 1;
            match post(&address, &body, None, None).await {
                Ok(()) => break true,
                Err(failed) if failed.passes && attempt < ATTEMPTS => {
                    tokio::time::sleep(PAUSE * (1 << attempt)).await;
                }
                Err(failed) => {
                    tracing::warn!(about = %notice.about, reason = notice.reason, problem = failed.message, "an event was not told");
                    break false;
                }
            }
        };
        metrics.notified(told);
    }
}

/// What the source of a Stack had when something happened to it.
async fn revision(store: &dyn Store, about: &Place) -> String {
    if about.kind != Kind::of::<Stack>() {
        return String::new();
    }
    let found = find::<Stack>(store, about.namespace.as_deref().unwrap_or_default(), &about.name).await;
    let seen = found.ok().flatten().and_then(|stack| stack.status?.source);
    seen.map(|seen| seen.revision).unwrap_or_default()
}

#[async_trait]
impl<S: Store> Store for Announcing<S> {
    async fn get(&self, place: &Place) -> Result<Option<DynamicObject>, StoreError> {
        self.inner.get(place).await
    }

    async fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        labels: &[(&str, &str)],
    ) -> Result<Vec<DynamicObject>, StoreError> {
        self.inner.list(kind, namespace, labels).await
    }

    async fn create(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        self.inner.create(kind, object).await
    }

    async fn replace(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        self.inner.replace(kind, object).await
    }

    async fn replace_status(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        self.inner.replace_status(kind, object).await
    }

    async fn delete(&self, place: &Place, uid: Option<&str>) -> Result<(), StoreError> {
        self.inner.delete(place, uid).await
    }

    fn watch(&self, kind: &Kind, namespace: Option<&str>) -> BoxStream<'static, Seen> {
        self.inner.watch(kind, namespace)
    }

    async fn notice(&self, notice: Notice) {
        if self.waiting.try_send((notice.clone(), (self.clock)())).is_err() {
            let dropped = self.dropped.fetch_add(1, Ordering::Relaxed) + 1;
            // The first one is said, and then ever fewer.
            if dropped.is_power_of_two() {
                tracing::warn!(dropped, "events are not told: whoever is told them is too slow");
            }
        }
        self.inner.notice(notice).await;
    }
}
