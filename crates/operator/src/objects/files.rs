//! Objects in files of a directory, with the rules that an API server has (`rules`), for operators without a cluster.
//!
//! Each object is a file, which is replaced as a whole: after a kill, or when the disk is full, it is as it was before or as it is after.
//! Several processes may work with one directory, each for a moment alone: a lock is held while something is read or written, and whoever has
//! written counts that beside it, so that the others know that they have to look again. An [`Origin`] is what somebody has written
//! elsewhere, and what an object was made of.

pub mod folder;
mod merge;
mod record;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use groma_run::state::{Disk, RealDisk};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{DynamicObject, ObjectMeta, TypeMeta};
use serde_json::{Value as Json, json};

use super::events::event;
use super::rules::{Change, Draft, Objects, Watchers, listed};
use super::{Kind, Notice, Place, Seen, Store, StoreError};
use crate::runs::in_process::Clock;
use folder::{Folder, Stamp, Turn};
pub use record::Origin;
use record::Record;

/// Who tells of events.
const COMPONENT: &str = "groma-operator";
/// No more events than that are kept.
const MOST_EVENTS: usize = 500;

/// Hears what is told, when it is.
pub type Hear = Arc<dyn Fn(&Notice) + Send + Sync>;

/// Objects in files. Clones are the same place.
#[derive(Clone)]
pub struct Files {
    inner: Arc<Inner>,
}

struct Inner {
    folder: Folder,
    clock: Clock,
    hear: Option<Hear>,
    state: Mutex<State>,
}

/// What is known of what is on disk.
#[derive(Default)]
struct State {
    objects: Objects,
    origins: BTreeMap<Place, Origin>,
    /// The files that were read, and where what they had in them is.
    read: BTreeMap<PathBuf, (Stamp, Place)>,
    /// How often something had been written when it was last looked. None if it must be looked again whatever is said.
    sequence: Option<u64>,
    version: u64,
    watchers: Watchers,
}

/// Something that somebody has written elsewhere, and that is to be here.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// Its kind.
    pub kind: Kind,
    /// As it is to be: names, labels, annotations, and everything but a status.
    pub object: DynamicObject,
    /// The file that it is written in.
    pub file: String,
}

impl Wanted {
    /// Where it is to be.
    pub fn place(&self) -> Place {
        Place::of(&self.kind, &self.object)
    }

    fn content(&self) -> Json {
        let metadata = &self.object.metadata;
        let mut content = self.object.data.clone();
        if let Some(fields) = content.as_object_mut() {
            fields.remove("status");
            fields.insert("labels".to_owned(), json!(metadata.labels.clone().unwrap_or_default()));
            fields.insert("annotations".to_owned(), json!(metadata.annotations.clone().unwrap_or_default()));
        }
        content
    }
}

/// What became of something that is to be here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// It is as it was.
    Same,
    /// It was made, or changed.
    Written,
    /// The one that is there goes away, and has to be gone first.
    Later,
    /// There is one that was not made of a file: it is somebody else's.
    Taken,
}

impl Files {
    /// What is in a directory, which is made if it is not there. What is left of something that was interrupted is finished.
    pub fn open(directory: &Path, clock: Clock, hear: Option<Hear>) -> Result<Self, StoreError> {
        Self::open_on(Arc::new(RealDisk), directory, clock, hear)
    }

    /// On a disk that may fail.
    pub(crate) fn open_on(
        disk: Arc<dyn Disk>,
        directory: &Path,
        clock: Clock,
        hear: Option<Hear>,
    ) -> Result<Self, StoreError> {
        let folder = Folder::new(disk, directory).map_err(|problem| away("opening the state directory", &problem))?;
        let inner = Inner { folder, clock, hear, state: Mutex::default() };
        // Whoever was killed while it deleted something has left what belonged to it.
        inner.write(|draft| {
            draft.collect();
            Ok(())
        })?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Looks at what others have written.
    pub fn catch_up(&self) -> Result<(), StoreError> {
        self.inner.look(|_| ())
    }

    /// What was made of files, and of which.
    pub fn origins(&self) -> BTreeMap<Place, Origin> {
        self.inner.state().origins.clone()
    }

    /// An object is to be as somebody has written it. What others have changed in it stays, unless it is written otherwise since.
    pub fn want(&self, wanted: &Wanted) -> Result<Wish, StoreError> {
        self.inner.want(wanted)
    }

    /// An object is to go.
    pub fn let_go(&self, place: &Place) -> Result<(), StoreError> {
        self.inner.write(|draft| {
            if draft.get(place).is_some_and(|known| known.metadata.deletion_timestamp.is_none()) {
                draft.delete(place, None);
            }
            Ok(())
        })
    }

    async fn aside<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Inner) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let inner = Arc::clone(&self.inner);
        let done = tokio::task::spawn_blocking(move || act(&inner)).await;
        done.unwrap_or_else(|problem| {
            Err(StoreError::Disk { doing: "working with the state directory".to_owned(), reason: problem.to_string() })
        })
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads, with everything that others have written until now.
    fn look<T>(&self, look: impl FnOnce(&Objects) -> T) -> Result<T, StoreError> {
        let mut state = self.state();
        let turn = self.turn()?;
        self.refresh(&mut state, &turn)?;
        Ok(look(&state.objects))
    }

    fn turn(&self) -> Result<Turn, StoreError> {
        self.folder.turn().map_err(|problem| away("locking the state directory", &problem))
    }

    /// Writes, and tells those who watch.
    fn write<T>(&self, write: impl FnOnce(&mut Draft<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.write_of(None, write)
    }

    /// The same, for something that was made of a file.
    fn write_of<T>(
        &self,
        origin: Option<(&Place, Origin)>,
        write: impl FnOnce(&mut Draft<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let now = (self.clock)().0;
        let mut state = self.state();
        let mut turn = self.turn()?;
        self.refresh(&mut state, &turn)?;
        // Versions are never given twice, though nobody remembers those of what is gone: time goes on.
        let floor = u64::try_from(now.as_microsecond()).unwrap_or_default();
        let mut draft = Draft::new(&state.objects, state.version.max(floor), Time(now));
        let written = write(&mut draft)?;
        let (version, changes) = draft.finish();
        if changes.is_empty() && origin.is_none() {
            return Ok(written);
        }
        state.version = version;
        let sequence = turn.count().map_err(|problem| away("writing to the state directory", &problem))?;
        state.sequence = Some(sequence);
        let mut moved = None;
        if let Some((place, origin)) = origin {
            state.origins.insert(place.clone(), origin);
            let is_written = changes.iter().any(|change| change.place == *place);
            moved = state.objects.get(place).filter(|_| !is_written).cloned().map(|object| (place.clone(), object));
        }
        for change in changes {
            self.keep(&mut state, change)?;
        }
        if let Some((place, object)) = moved {
            self.save(&mut state, &place, object)?;
        }
        Ok(written)
    }

    /// Writes one change down, and then it holds.
    fn keep(&self, state: &mut State, change: Change) -> Result<(), StoreError> {
        let seen = change.seen();
        let place = change.place.clone();
        if change.is_gone {
            let path = self.folder.path_of(&place);
            if let Err(problem) = self.folder.remove(&path) {
                state.sequence = None;
                return Err(away(&format!("deleting {place}"), &problem));
            }
            state.read.remove(&path);
            state.objects.remove(&place);
            state.origins.remove(&place);
        } else {
            self.save(state, &place, change.object)?;
        }
        state.watchers.tell(&place, &seen);
        Ok(())
    }

    fn save(&self, state: &mut State, place: &Place, object: DynamicObject) -> Result<(), StoreError> {
        let path = self.folder.path_of(place);
        let record = Record::new(place, &object, state.origins.get(place).cloned());
        match record.encode().and_then(|bytes| self.folder.replace(&path, &bytes)) {
            Ok(stamp) => {
                state.read.insert(path, (stamp, place.clone()));
                state.objects.insert(place.clone(), object);
                Ok(())
            }
            Err(problem) => {
                // Nobody knows how far it got, so what is there is read again, with whom it was made of.
                state.sequence = None;
                state.read.remove(&path);
                state.origins.remove(place);
                Err(away(&format!("writing {place}"), &problem))
            }
        }
    }

    /// Looks again at what others have written since.
    fn refresh(&self, state: &mut State, turn: &Turn) -> Result<(), StoreError> {
        if state.sequence == Some(turn.sequence()) {
            return Ok(());
        }
        let found = self.folder.scan().map_err(|problem| away("reading the state directory", &problem))?;
        let gone: Vec<PathBuf> = state.read.keys().filter(|path| !found.contains_key(*path)).cloned().collect();
        for path in gone {
            let Some((_, place)) = state.read.remove(&path) else { continue };
            state.origins.remove(&place);
            if let Some(object) = state.objects.remove(&place) {
                state.watchers.tell(&place, &Seen::Gone(Box::new(object)));
            }
        }
        for (path, stamp) in found {
            if state.read.get(&path).is_some_and(|(known, _)| *known == stamp) {
                continue;
            }
            let record = self.read(&path)?;
            let (place, object, origin) = record.decode();
            let version = object.metadata.resource_version.as_ref().and_then(|text| text.parse().ok());
            state.version = state.version.max(version.unwrap_or_default());
            match origin {
                Some(origin) => state.origins.insert(place.clone(), origin),
                None => state.origins.remove(&place),
            };
            state.read.insert(path, (stamp, place.clone()));
            if state.objects.get(&place) != Some(&object) {
                state.watchers.tell(&place, &Seen::There(Box::new(object.clone())));
                state.objects.insert(place, object);
            }
        }
        state.sequence = Some(turn.sequence());
        Ok(())
    }

    fn read(&self, path: &Path) -> Result<Record, StoreError> {
        let doing = || format!("reading {}", path.display());
        let bytes = self.folder.read(path).map_err(|problem| away(&doing(), &problem))?;
        Record::parse(&bytes).map_err(|problem| StoreError::Disk {
            doing: doing(),
            reason: format!("{problem}; it was written by another program, or changed: put back what was there"),
        })
    }

    fn want(&self, wanted: &Wanted) -> Result<Wish, StoreError> {
        let place = wanted.place();
        let content = wanted.content();
        let known = {
            let mut state = self.state();
            let turn = self.turn()?;
            self.refresh(&mut state, &turn)?;
            let found = state.objects.get(&place).cloned();
            found.map(|object| (object, state.origins.get(&place).cloned()))
        };
        let origin = Origin { file: wanted.file.clone(), wanted: content.clone() };
        let Some((object, before)) = known else {
            let uid = fresh_uid()?;
            let created =
                self.write_of(Some((&place, origin)), |draft| draft.create(&wanted.kind, &wanted.object, uid));
            return match created {
                // Somebody was faster: whose it is turns out the next time.
                Err(StoreError::Exists(_)) => Ok(Wish::Later),
                created => created.map(|_| Wish::Written),
            };
        };
        let Some(before) = before else { return Ok(Wish::Taken) };
        if object.metadata.deletion_timestamp.is_some() {
            return Ok(Wish::Later);
        }
        if before == origin {
            return Ok(Wish::Same);
        }
        let next = merge::merged(&before.wanted, &content, object);
        let written = self.write_of(Some((&place, origin)), |draft| draft.replace(&wanted.kind, &next));
        match written {
            Err(StoreError::Conflict(_) | StoreError::Missing(_)) => Ok(Wish::Later),
            written => written.map(|_| Wish::Written),
        }
    }

    /// Tells, and forgets what was told long ago.
    fn tell(&self, notice: &Notice) -> Result<(), StoreError> {
        let Some(event) = event(notice, COMPONENT, (self.clock)().0) else { return Ok(()) };
        let kind = event_kind();
        let uid = fresh_uid()?;
        self.write(|draft| draft.create(&kind, &event, uid))?;
        let mut told = self.look(|objects| listed(objects, &kind, None, &[]))?;
        if told.len() <= MOST_EVENTS {
            return Ok(());
        }
        told.sort_by_key(|event| (event.metadata.creation_timestamp.clone(), event.metadata.name.clone()));
        let surplus = told.len() - MOST_EVENTS;
        self.write(|draft| {
            for event in told.iter().take(surplus) {
                draft.delete(&Place::of(&kind, event), None);
            }
            Ok(())
        })
    }
}

#[async_trait]
impl Store for Files {
    async fn get(&self, place: &Place) -> Result<Option<DynamicObject>, StoreError> {
        if place.kind == Kind::namespace() {
            return Ok(Some(namespace(&place.name)));
        }
        let place = place.clone();
        self.aside(move |inner| inner.look(|objects| objects.get(&place).cloned())).await
    }

    async fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        labels: &[(&str, &str)],
    ) -> Result<Vec<DynamicObject>, StoreError> {
        let (kind, namespace) = (kind.clone(), namespace.map(str::to_owned));
        let labels: Vec<(String, String)> =
            labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.aside(move |inner| {
            let labels: Vec<(&str, &str)> = labels.iter().map(|(name, value)| (&**name, &**value)).collect();
            inner.look(|objects| listed(objects, &kind, namespace.as_deref(), &labels))
        })
        .await
    }

    async fn create(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        let (kind, object) = (kind.clone(), object.clone());
        self.aside(move |inner| {
            let uid = fresh_uid()?;
            inner.write(|draft| draft.create(&kind, &object, uid))
        })
        .await
    }

    async fn replace(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        let (kind, object) = (kind.clone(), object.clone());
        self.aside(move |inner| inner.write(|draft| draft.replace(&kind, &object))).await
    }

    async fn replace_status(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        let (kind, object) = (kind.clone(), object.clone());
        self.aside(move |inner| inner.write(|draft| draft.replace_status(&kind, &object))).await
    }

    async fn delete(&self, place: &Place, uid: Option<&str>) -> Result<(), StoreError> {
        let (place, uid) = (place.clone(), uid.map(str::to_owned));
        self.aside(move |inner| {
            inner.write(|draft| {
                draft.delete(&place, uid.as_deref());
                Ok(())
            })
        })
        .await
    }

    fn watch(&self, kind: &Kind, namespace: Option<&str>) -> BoxStream<'static, Seen> {
        let mut state = self.inner.state();
        let State { objects, watchers, .. } = &mut *state;
        watchers.add(objects, kind, namespace)
    }

    async fn notice(&self, notice: Notice) {
        if let Some(hear) = &self.inner.hear {
            hear(&notice);
        }
        let told = self.aside(move |inner| inner.tell(&notice)).await;
        if let Err(problem) = told {
            tracing::debug!(%problem, "an event could not be told");
        }
    }
}

/// Events.
pub(crate) fn event_kind() -> Kind {
    Kind::core("Event", "events")
}

/// Here, namespaces are names, and there from the beginning.
fn namespace(name: &str) -> DynamicObject {
    DynamicObject {
        types: Some(TypeMeta { api_version: "v1".to_owned(), kind: "Namespace".to_owned() }),
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        data: json!({}),
    }
}

fn away(doing: &str, problem: &io::Error) -> StoreError {
    StoreError::Disk { doing: doing.to_owned(), reason: problem.to_string() }
}

/// As API servers make them: others tell by their form that they are uids.
fn fresh_uid() -> Result<String, StoreError> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|problem| StoreError::Disk {
        doing: "making a uid".to_owned(),
        reason: format!("no randomness: {problem}"),
    })?;
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let text = hex::encode(bytes);
    Ok(format!("{}-{}-{}-{}-{}", &text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]))
}
