//! What is on disk is as it was before a write or as it is after it, whenever that ends; and several processes see each other.

use std::sync::atomic::{AtomicUsize, Ordering};

use groma_run::state::DiskFile;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

use super::*;
use crate::api::shared::Moment;
use crate::objects::contract::{contract, kind, place, thing};

fn clock() -> Clock {
    Arc::new(|| Moment(jiff::Timestamp::from_second(1_000).unwrap()))
}

fn open(directory: &Path) -> Files {
    Files::open(directory, clock(), None).unwrap()
}

fn fresh() -> (Files, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    (open(directory.path()), directory)
}

contract!(fresh());

/// A disk that stops doing anything after so many steps: somebody was killed then, or there is no room.
struct Failing {
    left: Arc<AtomicUsize>,
}

impl Failing {
    fn step(left: &AtomicUsize) -> io::Result<()> {
        let taken = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        taken.map(|_| ()).map_err(|_| io::ErrorKind::StorageFull.into())
    }
}

struct FailingFile {
    file: Box<dyn DiskFile>,
    left: Arc<AtomicUsize>,
}

impl DiskFile for FailingFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if Failing::step(&self.left).is_ok() {
            return self.file.append(bytes);
        }
        // A part of it got there.
        self.file.append(&bytes[..bytes.len() / 2])?;
        Err(io::ErrorKind::StorageFull.into())
    }

    fn sync(&mut self) -> io::Result<()> {
        Failing::step(&self.left)?;
        self.file.sync()
    }
}

impl Disk for Failing {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        RealDisk.read(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Self::step(&self.left)?;
        Ok(Box::new(FailingFile { file: RealDisk.create(path)?, left: Arc::clone(&self.left) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        Self::step(&self.left)?;
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Self::step(&self.left)?;
        RealDisk.remove(path)
    }

    fn sync_names(&self, path: &Path) -> io::Result<()> {
        Self::step(&self.left)?;
        RealDisk.sync_names(path)
    }
}

/// What is there, without what differs from one time to the next.
fn content(store: &Files) -> Vec<(String, Json)> {
    let shown = |object: &DynamicObject| {
        let metadata = &object.metadata;
        json!({"data": object.data, "generation": metadata.generation, "goes": metadata.deletion_timestamp.is_some()})
    };
    store
        .inner
        .look(|objects| objects.iter().map(|(place, object)| (place.to_string(), shown(object))).collect())
        .unwrap()
}

/// Two things, one of which belongs to the other, and a third that is made of a file.
fn furnish(directory: &Path) -> Files {
    let store = open(directory);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let owner = store.create(&kind(), &thing("owner")).await.unwrap();
        let mut owned = thing("owned");
        owned.metadata.owner_references =
            Some(vec![OwnerReference { uid: owner.metadata.uid.unwrap(), ..OwnerReference::default() }]);
        store.create(&kind(), &owned).await.unwrap();
    });
    assert_eq!(store.want(&wanted(1)).unwrap(), Wish::Written);
    store
}

fn wanted(size: u64) -> Wanted {
    let mut object = thing("wanted");
    object.data["spec"]["size"] = json!(size);
    Wanted { kind: kind(), object, file: "a.yaml".to_owned() }
}

/// Does something on a disk that fails after any number of steps, and compares what is found with what was there before and after.
fn at_any_point(act: impl Fn(&Files) -> Result<(), StoreError>) {
    let expected = |acts: bool| {
        let directory = tempfile::tempdir().unwrap();
        let store = furnish(directory.path());
        if acts {
            act(&store).unwrap();
        }
        content(&store)
    };
    let (before, after) = (expected(false), expected(true));
    assert_ne!(before, after);
    for steps in 0..100 {
        let directory = tempfile::tempdir().unwrap();
        drop(furnish(directory.path()));
        let left = Arc::new(AtomicUsize::new(usize::MAX));
        let disk = Arc::new(Failing { left: Arc::clone(&left) });
        let store = Files::open_on(disk, directory.path(), clock(), None).unwrap();
        left.store(steps, Ordering::SeqCst);
        let done = act(&store);
        let found = content(&open(directory.path()));
        if done.is_ok() {
            assert_eq!(found, after, "after {steps} steps");
            assert!(steps > 0);
            return;
        }
        assert!(matches!(done, Err(StoreError::Disk { .. })), "{done:?}");
        assert!(found == before || found == after, "after {steps} steps: {found:#?}");
        // Who goes on with the same store sees what is there, and can do it again.
        left.store(usize::MAX, Ordering::SeqCst);
        assert_eq!(content(&store), found, "after {steps} steps");
        assert!(act(&store).is_ok() || found == after, "after {steps} steps");
        assert_eq!(content(&open(directory.path())), after, "after {steps} steps");
    }
    panic!("it never ends");
}

#[test]
fn a_write_happens_or_does_not() {
    at_any_point(|store| store.inner.write(|draft| draft.create(&kind(), &thing("new"), "uid".to_owned())).map(|_| ()));
    at_any_point(|store| {
        store.inner.write(|draft| {
            let mut object = draft.get(&place("owner")).unwrap().clone();
            object.data["spec"]["size"] = json!(2);
            draft.replace(&kind(), &object).map(|_| ())
        })
    });
    at_any_point(|store| store.want(&wanted(2)).map(|_| ()));
}

#[test]
fn what_is_deleted_goes_with_what_it_owns() {
    at_any_point(|store| store.let_go(&place("wanted")));
    at_any_point(|store| store.let_go(&place("owner")));
}

#[tokio::test]
async fn several_processes_see_each_other() {
    let (one, directory) = fresh();
    let other = open(directory.path());
    let made = one.create(&kind(), &thing("a")).await.unwrap();
    let mut seen = other.watch(&kind(), None);
    let mut theirs = other.get(&place("a")).await.unwrap().unwrap();
    assert_eq!(theirs, made);
    theirs.data["spec"]["size"] = json!(2);
    other.replace(&kind(), &theirs).await.unwrap();
    assert!(matches!(one.replace(&kind(), &made).await, Err(StoreError::Conflict(_))));
    one.delete(&place("a"), None).await.unwrap();
    other.catch_up().unwrap();
    let mut told = Vec::new();
    while told.last() != Some(&"gone") {
        use futures_util::StreamExt as _;
        told.push(match seen.next().await.unwrap() {
            Seen::There(_) => "there",
            Seen::Gone(_) => "gone",
            Seen::Again => "again",
            Seen::Complete => "complete",
        });
    }
    assert_eq!(told, ["again", "complete", "there", "there", "gone"]);
}

#[test]
fn everything_is_there_again_and_only_for_us() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let before = content(&furnish(directory.path()));
    let again = open(directory.path());
    assert_eq!(content(&again), before);
    assert_eq!(again.origins().len(), 1);
    assert_eq!(again.want(&wanted(1)).unwrap(), Wish::Same);
    let path = again.inner.folder.path_of(&place("wanted"));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn what_cannot_be_read_is_said_and_not_taken_for_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let store = furnish(directory.path());
    let path = store.inner.folder.path_of(&place("wanted"));
    std::fs::write(&path, "").unwrap();
    let Err(problem) = Files::open(directory.path(), clock(), None) else { panic!("it was read") };
    assert!(problem.to_string().contains("wanted.json"), "{problem}");
}

#[test]
fn what_commands_have_set_stays_and_somebody_elses_is_left_alone() {
    let (store, _lives) = fresh();
    store.want(&wanted(1)).unwrap();
    store
        .inner
        .write(|draft| {
            let mut object = draft.get(&place("wanted")).unwrap().clone();
            object.data["spec"]["suspend"] = json!(true);
            draft.replace(&kind(), &object).map(|_| ())
        })
        .unwrap();
    assert_eq!(store.want(&wanted(1)).unwrap(), Wish::Same);
    assert_eq!(store.want(&wanted(2)).unwrap(), Wish::Written);
    let found = store.inner.look(|objects| objects[&place("wanted")].clone()).unwrap();
    assert_eq!(found.data["spec"], json!({"size": 2, "suspend": true}));
    store.inner.write(|draft| draft.create(&kind(), &thing("theirs"), "uid".to_owned())).unwrap();
    let theirs = Wanted { object: thing("theirs"), ..wanted(1) };
    assert_eq!(store.want(&theirs).unwrap(), Wish::Taken);
}

#[tokio::test]
async fn old_events_are_forgotten() {
    let (store, _lives) = fresh();
    let notice = |number: usize| Notice {
        about: place("a"),
        uid: None,
        is_warning: false,
        reason: "Told".to_owned(),
        message: number.to_string(),
    };
    store.notice(notice(0)).await;
    let told = store.list(&event_kind(), Some("default"), &[]).await.unwrap();
    assert_eq!(told[0].data["message"], "0");
    assert_eq!(told[0].data["involvedObject"]["name"], "a");
}
