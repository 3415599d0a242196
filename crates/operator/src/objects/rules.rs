//! The rules that an API server has about writes: versions that they are checked against, generations, a status of its own, finalizers, and
//! that what is owned goes with its last owner. They are kept here for all who have objects without an API server ([`super::memory`],
//! [`super::files`]). No schema is known here, so nothing is checked against one.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{DynamicObject, TypeMeta};
use serde_json::Value as Json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{Kind, Place, Seen, StoreError};

/// Objects by their places.
pub(super) type Objects = BTreeMap<Place, DynamicObject>;

/// What becomes of one object.
#[derive(Debug, Clone)]
pub(super) struct Change {
    /// Where it is.
    pub(super) place: Place,
    /// As it is then, or was at last.
    pub(super) object: DynamicObject,
    /// Whether it is gone.
    pub(super) is_gone: bool,
}

impl Change {
    /// What watchers see of it.
    pub(super) fn seen(&self) -> Seen {
        let object = Box::new(self.object.clone());
        if self.is_gone { Seen::Gone(object) } else { Seen::There(object) }
    }
}

/// Writes that were made to objects, and are nowhere else yet.
pub(super) struct Draft<'a> {
    known: &'a Objects,
    changed: BTreeMap<Place, Option<DynamicObject>>,
    changes: Vec<Change>,
    version: u64,
    now: Time,
}

impl<'a> Draft<'a> {
    /// Nothing is written yet. `version` is the last one that was given to anything.
    pub(super) fn new(known: &'a Objects, version: u64, now: Time) -> Self {
        Self { known, changed: BTreeMap::new(), changes: Vec::new(), version, now }
    }

    /// The last version that was given to anything.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// The last version, and what becomes of which objects, in the order in which it must be written down.
    pub(super) fn finish(self) -> (u64, Vec<Change>) {
        (self.version, self.changes)
    }

    /// An object, as it is with what was written.
    pub(super) fn get(&self, place: &Place) -> Option<&DynamicObject> {
        match self.changed.get(place) {
            Some(changed) => changed.as_ref(),
            None => self.known.get(place),
        }
    }

    /// Makes an object.
    pub(super) fn create(
        &mut self,
        kind: &Kind,
        object: &DynamicObject,
        uid: String,
    ) -> Result<DynamicObject, StoreError> {
        let mut made = object.clone();
        if let (None, Some(prefix)) = (&made.metadata.name, &made.metadata.generate_name) {
            made.metadata.name = Some(format!("{prefix}{}", self.version));
        }
        let place = Place::of(kind, &made);
        if self.get(&place).is_some() {
            return Err(StoreError::Exists(place));
        }
        made.types = Some(TypeMeta { api_version: kind.api_version(), kind: kind.kind.clone() });
        made.metadata.uid = Some(uid);
        made.metadata.generation = Some(1);
        made.metadata.creation_timestamp = Some(self.now.clone());
        made.metadata.deletion_timestamp = None;
        set_status(&mut made, None);
        let made = self.put(&place, made);
        self.collect();
        Ok(made)
    }

    /// Writes an object that was read before.
    pub(super) fn replace(&mut self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        let place = Place::of(kind, object);
        let known = self.to_write(&place, object)?;
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
        let written = self.put(&place, next);
        self.collect();
        Ok(written)
    }

    /// Writes the status of an object that was read before.
    pub(super) fn replace_status(&mut self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        let place = Place::of(kind, object);
        let mut next = self.to_write(&place, object)?;
        set_status(&mut next, object.data.get("status"));
        Ok(self.put(&place, next))
    }

    /// Deletes an object; with a uid, only that one.
    pub(super) fn delete(&mut self, place: &Place, uid: Option<&str>) {
        let is_other = |known: &DynamicObject| uid.is_some() && known.metadata.uid.as_deref() != uid;
        if self.get(place).is_some_and(is_other) {
            return;
        }
        self.let_go(place);
        self.collect();
    }

    /// What belonged to nobody but to those who are gone goes, too.
    pub(super) fn collect(&mut self) {
        loop {
            let all = || {
                let known = self.known.iter().filter(|(place, _)| !self.changed.contains_key(*place));
                known.chain(self.changed.iter().filter_map(|(place, object)| Some((place, object.as_ref()?))))
            };
            let uids: BTreeSet<&String> = all().filter_map(|(_, object)| object.metadata.uid.as_ref()).collect();
            let is_orphan = |object: &DynamicObject| {
                let owners = object.metadata.owner_references.as_deref().unwrap_or_default();
                let goes = object.metadata.deletion_timestamp.is_some();
                !goes && !owners.is_empty() && owners.iter().all(|owner| !uids.contains(&owner.uid))
            };
            let orphans: Vec<Place> =
                all().filter(|(_, object)| is_orphan(object)).map(|(place, _)| place.clone()).collect();
            if orphans.is_empty() {
                return;
            }
            for place in &orphans {
                self.let_go(place);
            }
        }
    }

    /// The object that is to be written, if nobody has written since it was read.
    fn to_write(&self, place: &Place, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        let known = self.get(place).ok_or_else(|| StoreError::Missing(place.clone()))?;
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
        if self.get(place) == Some(&object) {
            return object;
        }
        self.version += 1;
        object.metadata.resource_version = Some(self.version.to_string());
        let is_held = object.metadata.finalizers.as_ref().is_some_and(|held| !held.is_empty());
        let is_gone = object.metadata.deletion_timestamp.is_some() && !is_held;
        self.changed.insert(place.clone(), (!is_gone).then(|| object.clone()));
        self.changes.push(Change { place: place.clone(), object: object.clone(), is_gone });
        object
    }

    fn let_go(&mut self, place: &Place) {
        let Some(known) = self.get(place) else { return };
        let mut object = known.clone();
        if object.metadata.deletion_timestamp.is_none() {
            object.metadata.deletion_timestamp = Some(self.now.clone());
            object.metadata.generation = object.metadata.generation.map(|generation| generation + 1);
        }
        self.put(place, object);
    }
}

fn holds_more(before: &DynamicObject, after: &DynamicObject) -> bool {
    let held = before.metadata.finalizers.as_deref().unwrap_or_default();
    after.metadata.finalizers.iter().flatten().any(|finalizer| !held.contains(finalizer))
}

fn set_status(object: &mut DynamicObject, status: Option<&Json>) {
    let Some(fields) = object.data.as_object_mut() else { return };
    match status {
        Some(status) => fields.insert("status".to_owned(), status.clone()),
        None => fields.remove("status"),
    };
}

/// Those of a kind, in one namespace or in all, with these labels.
pub(super) fn listed(
    objects: &Objects,
    kind: &Kind,
    namespace: Option<&str>,
    labels: &[(&str, &str)],
) -> Vec<DynamicObject> {
    let has = |object: &DynamicObject, (name, value): &(&str, &str)| {
        object.metadata.labels.as_ref().and_then(|labels| labels.get(*name)).is_some_and(|found| found == value)
    };
    let chosen = objects.iter().filter(|(place, object)| {
        place.kind == *kind
            && (namespace.is_none() || place.namespace.as_deref() == namespace)
            && labels.iter().all(|label| has(object, label))
    });
    chosen.map(|(_, object)| object.clone()).collect()
}

/// Those who watch.
#[derive(Default)]
pub(super) struct Watchers(Vec<Watcher>);

struct Watcher {
    kind: Kind,
    namespace: Option<String>,
    sender: UnboundedSender<Seen>,
}

impl Watchers {
    /// What is there, and what happens to it, for ever.
    pub(super) fn add(&mut self, objects: &Objects, kind: &Kind, namespace: Option<&str>) -> BoxStream<'static, Seen> {
        let (sender, receiver) = unbounded_channel();
        let there = listed(objects, kind, namespace, &[]).into_iter().map(|object| Seen::There(Box::new(object)));
        let begin: Vec<Seen> = [Seen::Again].into_iter().chain(there).chain([Seen::Complete]).collect();
        self.0.push(Watcher { kind: kind.clone(), namespace: namespace.map(str::to_owned), sender });
        stream::iter(begin).chain(stream::unfold(receiver, next_seen)).boxed()
    }

    /// Tells those whom it concerns.
    pub(super) fn tell(&mut self, place: &Place, seen: &Seen) {
        let concerns = |watcher: &Watcher| {
            watcher.kind == place.kind && (watcher.namespace.is_none() || watcher.namespace == place.namespace)
        };
        // Who does not listen any more is forgotten.
        self.0.retain(|watcher| !concerns(watcher) || watcher.sender.send(seen.clone()).is_ok());
    }
}

async fn next_seen(mut receiver: UnboundedReceiver<Seen>) -> Option<(Seen, UnboundedReceiver<Seen>)> {
    let seen = receiver.recv().await?;
    Some((seen, receiver))
}
