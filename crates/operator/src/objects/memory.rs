//! Objects in memory, with the rules that an API server has: versions that writes are checked against, generations, a status of its own,
//! finalizers, and that what is owned goes with its last owner. No schema is known here, so nothing is checked against one.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{DynamicObject, TypeMeta};
use serde_json::Value as Json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

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
    objects: BTreeMap<Place, DynamicObject>,
    /// Counts writes.
    version: u64,
    /// Kinds that nobody has installed.
    unknown: BTreeSet<Kind>,
    watchers: Vec<Watcher>,
    notices: Vec<Notice>,
}

struct Watcher {
    kind: Kind,
    namespace: Option<String>,
    sender: UnboundedSender<Seen>,
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
        self.state().objects.insert(place, DynamicObject { types: None, metadata, data: Json::Null });
    }

    /// An object as it is, in the place of whatever is there.
    #[cfg(test)]
    pub(crate) fn put_as_it_is(&self, kind: &Kind, object: DynamicObject) {
        self.state().objects.insert(Place::of(kind, &object), object);
    }

    fn now(&self) -> Time {
        Time((self.clock)().0)
    }
}

impl State {
    fn next_version(&mut self) -> String {
        self.version += 1;
        self.version.to_string()
    }

    fn known(&self, place: &Place) -> Result<(), StoreError> {
        if self.unknown.contains(&place.kind) { Err(StoreError::Missing(place.clone())) } else { Ok(()) }
    }

    /// The object that is to be written, if nobody has written since it was read.
    fn to_write(&self, place: &Place, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        self.known(place)?;
        let known = self.objects.get(place).ok_or_else(|| StoreError::Missing(place.clone()))?;
        let Some(version) = &object.metadata.resource_version else {
            let problem = "metadata.resourceVersion: Invalid value: 0x0: must be specified for an update";
            return Err(StoreError::Invalid(place.clone(), problem.to_owned()));
        };
        let is_same = object.metadata.uid.is_none() || object.metadata.uid == known.metadata.uid;
        if known.metadata.resource_version.as_ref() != Some(version) || !is_same {
            return Err(StoreError::Conflict(place.clone()));
        }
        Ok(known.clone())
    }

    /// Keeps an object that has changed, or lets it go if nothing holds it any more.
    fn put(&mut self, place: &Place, mut object: DynamicObject) -> DynamicObject {
        if self.objects.get(place) == Some(&object) {
            return object;
        }
        object.metadata.resource_version = Some(self.next_version());
        let is_held = object.metadata.finalizers.as_ref().is_some_and(|held| !held.is_empty());
        if object.metadata.deletion_timestamp.is_some() && !is_held {
            self.objects.remove(place);
            self.tell(place, &Seen::Gone(Box::new(object.clone())));
        } else {
            self.objects.insert(place.clone(), object.clone());
            self.tell(place, &Seen::There(Box::new(object.clone())));
        }
        object
    }

    fn tell(&mut self, place: &Place, seen: &Seen) {
        let concerns = |watcher: &Watcher| {
            watcher.kind == place.kind && (watcher.namespace.is_none() || watcher.namespace == place.namespace)
        };
        // Who does not listen any more is forgotten.
        self.watchers.retain(|watcher| !concerns(watcher) || watcher.sender.send(seen.clone()).is_ok());
    }

    fn delete(&mut self, place: &Place, now: &Time) {
        let Some(known) = self.objects.get(place) else { return };
        let mut object = known.clone();
        if object.metadata.deletion_timestamp.is_none() {
            object.metadata.deletion_timestamp = Some(now.clone());
            object.metadata.generation = object.metadata.generation.map(|generation| generation + 1);
        }
        self.put(place, object);
    }

    /// What belonged to nobody but to those who are gone goes, too.
    fn collect(&mut self, now: &Time) {
        loop {
            let uids: BTreeSet<&String> =
                self.objects.values().filter_map(|object| object.metadata.uid.as_ref()).collect();
            let is_orphan = |object: &DynamicObject| {
                let owners = object.metadata.owner_references.as_deref().unwrap_or_default();
                let goes = object.metadata.deletion_timestamp.is_some();
                !goes && !owners.is_empty() && owners.iter().all(|owner| !uids.contains(&owner.uid))
            };
            let orphans: Vec<Place> =
                self.objects.iter().filter(|(_, object)| is_orphan(object)).map(|(place, _)| place.clone()).collect();
            if orphans.is_empty() {
                return;
            }
            for place in &orphans {
                self.delete(place, now);
            }
        }
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
        let has = |object: &DynamicObject, (name, value): &(&str, &str)| {
            object.metadata.labels.as_ref().and_then(|labels| labels.get(*name)).is_some_and(|found| found == value)
        };
        let chosen = state.objects.iter().filter(|(place, object)| {
            place.kind == *kind
                && (namespace.is_none() || place.namespace.as_deref() == namespace)
                && labels.iter().all(|label| has(object, label))
        });
        Ok(chosen.map(|(_, object)| object.clone()).collect())
    }

    async fn create(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        let now = self.now();
        let mut state = self.state();
        let mut made = object.clone();
        if let (None, Some(prefix)) = (&made.metadata.name, &made.metadata.generate_name) {
            made.metadata.name = Some(format!("{prefix}{}", state.version));
        }
        let place = Place::of(kind, &made);
        state.known(&place)?;
        if state.objects.contains_key(&place) {
            return Err(StoreError::Exists(place));
        }
        made.types = Some(TypeMeta { api_version: kind.api_version(), kind: kind.kind.clone() });
        made.metadata.uid = Some(format!("uid-{}", state.version + 1));
        made.metadata.generation = Some(1);
        made.metadata.creation_timestamp = Some(now.clone());
        made.metadata.deletion_timestamp = None;
        without_status(&mut made);
        let made = state.put(&place, made);
        state.collect(&now);
        Ok(made)
    }

    async fn replace(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        let now = self.now();
        let place = Place::of(kind, object);
        let mut state = self.state();
        let known = state.to_write(&place, object)?;
        let mut next = object.clone();
        next.types.clone_from(&known.types);
        next.metadata.uid.clone_from(&known.metadata.uid);
        next.metadata.creation_timestamp.clone_from(&known.metadata.creation_timestamp);
        next.metadata.deletion_timestamp.clone_from(&known.metadata.deletion_timestamp);
        if known.metadata.deletion_timestamp.is_some() && holds_more(&known, &next) {
            let problem =
                "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted";
            return Err(StoreError::Invalid(place, problem.to_owned()));
        }
        set_status(&mut next, known.data.get("status"));
        let changed = i64::from(next.data != known.data);
        next.metadata.generation = known.metadata.generation.map(|generation| generation + changed);
        let written = state.put(&place, next);
        state.collect(&now);
        Ok(written)
    }

    async fn replace_status(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        let place = Place::of(kind, object);
        let mut state = self.state();
        let mut next = state.to_write(&place, object)?;
        set_status(&mut next, object.data.get("status"));
        Ok(state.put(&place, next))
    }

    async fn delete(&self, place: &Place, uid: Option<&str>) -> Result<(), StoreError> {
        let now = self.now();
        let mut state = self.state();
        let is_other = |known: &DynamicObject| uid.is_some() && known.metadata.uid.as_deref() != uid;
        if state.objects.get(place).is_some_and(is_other) {
            return Ok(());
        }
        state.delete(place, &now);
        state.collect(&now);
        Ok(())
    }

    fn watch(&self, kind: &Kind, namespace: Option<&str>) -> BoxStream<'static, Seen> {
        let (sender, receiver) = unbounded_channel();
        let mut state = self.state();
        let there = state.objects.iter().filter(|(place, _)| {
            place.kind == *kind && (namespace.is_none() || place.namespace.as_deref() == namespace)
        });
        let there = there.map(|(_, object)| Seen::There(Box::new(object.clone())));
        let begin: Vec<Seen> = [Seen::Again].into_iter().chain(there).chain([Seen::Complete]).collect();
        state.watchers.push(Watcher { kind: kind.clone(), namespace: namespace.map(str::to_owned), sender });
        stream::iter(begin).chain(stream::unfold(receiver, next_seen)).boxed()
    }

    async fn notice(&self, notice: Notice) {
        let mut state = self.state();
        if state.notices.len() >= MOST_NOTICES {
            state.notices.remove(0);
        }
        state.notices.push(notice);
    }
}

async fn next_seen(mut receiver: UnboundedReceiver<Seen>) -> Option<(Seen, UnboundedReceiver<Seen>)> {
    let seen = receiver.recv().await?;
    Some((seen, receiver))
}

fn holds_more(before: &DynamicObject, after: &DynamicObject) -> bool {
    let held = before.metadata.finalizers.as_deref().unwrap_or_default();
    after.metadata.finalizers.iter().flatten().any(|finalizer| !held.contains(finalizer))
}

fn without_status(object: &mut DynamicObject) {
    set_status(object, None);
}

fn set_status(object: &mut DynamicObject, status: Option<&Json>) {
    let Some(fields) = object.data.as_object_mut() else { return };
    match status {
        Some(status) => fields.insert("status".to_owned(), status.clone()),
        None => fields.remove("status"),
    };
}
