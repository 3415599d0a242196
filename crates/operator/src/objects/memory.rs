//! Objects in memory, with the rules that an API server has (`rules`).

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::DynamicObject;

use super::rules::{Draft, Objects, Watchers, listed};
use super::{Kind, Notice, Place, Seen, Store, StoreError};
use crate::api::shared::Moment;

/// No more notices than that are kept.
const MOST_NOTICES: usize = 1_000;

/// Objects in memory. Clones are the same place.
#[derive(Clone)]
pub struct Memory {
    state: Arc<Mutex<State>>,
    clock: Arc<dyn Fn() -> Moment + Send + Sync>,
}

#[derive(Default)]
struct State {
    objects: Objects,
    /// Counts writes.
    version: u64,
    /// Kinds that nobody has installed.
    unknown: BTreeSet<Kind>,
    watchers: Watchers,
    notices: Vec<Notice>,
}

impl Memory {
    /// Nothing is there yet.
    pub fn new(clock: Arc<dyn Fn() -> Moment + Send + Sync>) -> Self {
        Self { state: Arc::default(), clock }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there are objects of this kind at all. All kinds are known at first.
    pub fn know(&self, kind: &Kind, known: bool) {
        let mut state = self.state();
        if known {
            state.unknown.remove(kind);
        } else {
            state.unknown.insert(kind.clone());
        }
    }

    /// What was told, oldest first.
    pub fn notices(&self) -> Vec<Notice> {
        self.state().notices.clone()
    }

    /// How many writes there were.
    pub fn version(&self) -> u64 {
        self.state().version
    }

    /// An object with a uid that others refer to.
    #[cfg(test)]
    pub(crate) fn plant(&self, place: Place, uid: &str) {
        let metadata = kube::api::ObjectMeta { uid: Some(uid.to_owned()), ..kube::api::ObjectMeta::default() };
        self.state().objects.insert(place, DynamicObject { types: None, metadata, data: serde_json::Value::Null });
    }

    /// An object as it is, in the place of whatever is there.
    #[cfg(test)]
    pub(crate) fn put_as_it_is(&self, kind: &Kind, object: DynamicObject) {
        self.state().objects.insert(Place::of(kind, &object), object);
    }

    /// Writes, and tells those who watch.
    fn write<T>(
        &self,
        place: &Place,
        write: impl FnOnce(&mut Draft<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let now = Time((self.clock)().0);
        let mut state = self.state();
        state.known(place)?;
        let mut draft = Draft::new(&state.objects, state.version, now);
        let written = write(&mut draft)?;
        let (version, changes) = draft.finish();
        state.version = version;
        for change in changes {
            state.watchers.tell(&change.place, &change.seen());
            if change.is_gone {
                state.objects.remove(&change.place);
            } else {
                state.objects.insert(change.place, change.object);
            }
        }
        Ok(written)
    }
}

impl State {
    fn known(&self, place: &Place) -> Result<(), StoreError> {
        if self.unknown.contains(&place.kind) { Err(StoreError::Missing(place.clone())) } else { Ok(()) }
    }
}

#[async_trait]
impl Store for Memory {
    async fn get(&self, place: &Place) -> Result<Option<DynamicObject>, StoreError> {
        Ok(self.state().objects.get(place).cloned())
    }

    async fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        labels: &[(&str, &str)],
    ) -> Result<Vec<DynamicObject>, StoreError> {
        let state = self.state();
        state.known(&Place { kind: kind.clone(), namespace: namespace.map(str::to_owned), name: "*".to_owned() })?;
        Ok(listed(&state.objects, kind, namespace, labels))
    }

    async fn create(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        self.write(&Place::of(kind, object), |draft| {
            let uid = format!("uid-{}", draft.version() + 1);
            draft.create(kind, object, uid)
        })
    }

    async fn replace(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        self.write(&Place::of(kind, object), |draft| draft.replace(kind, object))
    }

    async fn replace_status(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        self.write(&Place::of(kind, object), |draft| draft.replace_status(kind, object))
    }

    async fn delete(&self, place: &Place, uid: Option<&str>) -> Result<(), StoreError> {
        match self.write(place, |draft| {
            draft.delete(place, uid);
            Ok(())
        }) {
            // What is of a kind that nobody knows is not there.
            Err(StoreError::Missing(_)) => Ok(()),
            done => done,
        }
    }

    fn watch(&self, kind: &Kind, namespace: Option<&str>) -> BoxStream<'static, Seen> {
        let mut state = self.state();
        let State { objects, watchers, .. } = &mut *state;
        watchers.add(objects, kind, namespace)
    }

    async fn notice(&self, notice: Notice) {
        let mut state = self.state();
        if state.notices.len() >= MOST_NOTICES {
            state.notices.remove(0);
        }
        state.notices.push(notice);
    }
}
