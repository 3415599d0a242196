//! Journals in companion objects, over a map in memory that fails on demand.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use groma_model::address::{
    AbsObject, InstanceKey, Module, ModuleInstance, Provider, ProviderConfig, ProviderInstance, Resource,
};
use groma_state::journal::{After, Contents, Header, Journal, Record, RunId, read_journals};
use groma_state::{Attributes, ObjectState};

use super::*;

/// What a call that fails has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Nothing,
    Everything,
}

/// Objects in memory.
#[derive(Default)]
struct Memory {
    blobs: Mutex<BTreeMap<String, Vec<u8>>>,
    calls: AtomicUsize,
    /// From which call on calls fail, how many of them, and how.
    fault: Mutex<Option<(usize, usize, Fault)>>,
}

impl Memory {
    fn call<T>(&self, work: impl FnOnce(&mut BTreeMap<String, Vec<u8>>) -> T) -> io::Result<T> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        let fault = self.fault.lock().unwrap().filter(|(from, count, _)| (*from..from + count).contains(&number));
        let mut blobs = self.blobs.lock().unwrap();
        match fault {
            None => Ok(work(&mut blobs)),
            Some((_, _, Fault::Nothing)) => Err(io::Error::other("the server is away")),
            Some((_, _, Fault::Everything)) => {
                work(&mut blobs);
                Err(io::Error::other("the answer was lost"))
            }
        }
    }

    fn fail(&self, after: usize, count: usize, fault: Fault) {
        *self.fault.lock().unwrap() = Some((self.calls.load(Ordering::SeqCst) + after, count, fault));
    }

    fn names(&self) -> Vec<String> {
        self.blobs.lock().unwrap().keys().cloned().collect()
    }
}

impl Companions for Memory {
    fn place(&self) -> String {
        "memory".to_owned()
    }

    fn list(&self) -> io::Result<Vec<Companion>> {
        self.call(|blobs| {
            let companion =
                |(name, bytes): (&String, &Vec<u8>)| Companion { name: name.clone(), size: bytes.len() as u64 };
            blobs.iter().map(companion).collect()
        })
    }

    fn read(&self, names: &[String]) -> io::Result<Vec<Option<Vec<u8>>>> {
        self.call(|blobs| names.iter().map(|name| blobs.get(name).cloned()).collect())
    }

    fn create(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        self.call(|blobs| {
            let free = !blobs.contains_key(name);
            if free {
                blobs.insert(name.to_owned(), bytes.to_vec());
            }
            free
        })
    }

    fn remove(&self, names: &[String]) -> io::Result<()> {
        self.call(|blobs| blobs.retain(|name, _| !names.contains(name)))
    }
}

/// One process that uses the journal.
struct Process {
    home: Option<CompanionHome>,
    locked: Arc<AtomicBool>,
    run: RunId,
}

impl Process {
    fn new(server: &Arc<Memory>, spool: &Path, run: u8) -> Self {
        let locked = Arc::new(AtomicBool::new(true));
        let holds = Arc::clone(&locked);
        let companions: Arc<dyn Companions> = Arc::clone(server) as _;
        let home = CompanionHome::new(companions, spool.to_owned(), Arc::new(move || holds.load(Ordering::SeqCst)));
        Self { home: Some(home), locked, run: RunId([run; 8]) }
    }

    fn read(&mut self) -> Option<Contents> {
        let parts = self.home.as_mut().unwrap().read().unwrap();
        read_journals(&parts, None).unwrap()
    }

    fn begin(&mut self, kept: Vec<Record>) -> io::Result<Journal> {
        Journal::begin(Box::new(self.home.take().unwrap()), header(self.run), None, kept, None)
    }
}

fn header(run: RunId) -> Header {
    Header {
        run,
        lineage: "line".to_owned(),
        base: None,
        lock: "lock".to_owned(),
        tool: "test".to_owned(),
        after: 0,
        continues: false,
        sealed: None,
    }
}

fn provider() -> ProviderInstance {
    let provider = Provider::new("registry.opentofu.org", "test", "test");
    ProviderConfig { module: Module::root(), provider, alias: None }.instance(InstanceKey::None)
}

fn at(name: &str) -> AbsObject {
    Resource::managed("test_thing", name).absolute(ModuleInstance::root()).instance(InstanceKey::None).object(None)
}

/// Writes down that an object was made, and waits until that is safe.
fn make(journal: &Journal, name: &str) -> Result<(), groma_state::journal::JournalError> {
    let object = ObjectState::new(0, Attributes::Json(format!("{{\"id\":\"{name}\"}}")));
    let after = After::Present { provider: provider(), object: Box::new(object) };
    journal.wait(journal.conclude(None, at(name), after)?)
}

fn made(contents: Option<Contents>) -> Vec<String> {
    let outcomes = contents.into_iter().flat_map(|contents| contents.records.into_values());
    outcomes
        .filter_map(|record| match record {
            Record::Outcome(outcome) => Some(outcome.object.instance.instance.resource.name.to_string()),
            _ => None,
        })
        .collect()
}

fn stage() -> (Arc<Memory>, tempfile::TempDir) {
    (Arc::default(), tempfile::tempdir().unwrap())
}

#[test]
fn what_a_killed_run_has_written_is_found() {
    let (server, dir) = stage();
    let mut first = Process::new(&server, dir.path(), 1);
    assert_eq!(first.read(), None);
    let journal = first.begin(Vec::new()).unwrap();
    make(&journal, "a").unwrap();
    make(&journal, "b").unwrap();
    assert_eq!(
        server.names(),
        [0, 1, 2].map(|number| format!("00000001-0101010101010101-0000000{number}")),
        "one object for each sync"
    );
    drop(journal);
    let mut second = Process::new(&server, dir.path(), 2);
    let found = second.read().unwrap();
    assert_eq!(found.header.as_ref().unwrap().run, RunId([1; 8]));
    assert_eq!(made(Some(found)), ["a", "b"]);
    let journal = second.begin(Vec::new()).unwrap();
    make(&journal, "c").unwrap();
    drop(journal);
    assert_eq!(made(Process::new(&server, dir.path(), 3).read()), ["c"]);
}

#[test]
fn looking_without_a_lock_disturbs_nobody() {
    let (server, dir) = stage();
    let mut holder = Process::new(&server, dir.path(), 1);
    let journal = holder.begin(Vec::new()).unwrap();
    make(&journal, "a").unwrap();
    let mut onlooker = Process::new(&server, dir.path(), 2);
    onlooker.locked.store(false, Ordering::SeqCst);
    assert_eq!(made(onlooker.read()), ["a"]);
    make(&journal, "b").unwrap();
    assert_eq!(journal.trouble().map(|trouble| trouble.to), None);
    // It may not begin on what it has seen, for more was written since.
    let error = onlooker.begin(Vec::new()).err().unwrap();
    assert!(error.to_string().contains("since it was read"), "{error}");
    make(&journal, "c").unwrap();
    assert!(journal.trouble().is_none());
    // With nothing new it may, and the other cannot go on.
    let mut onlooker = Process::new(&server, dir.path(), 3);
    onlooker.locked.store(false, Ordering::SeqCst);
    assert_eq!(made(onlooker.read()), ["a", "b", "c"]);
    onlooker.begin(Vec::new()).unwrap();
    make(&journal, "d").unwrap();
    assert!(journal.trouble().is_some());
}

#[test]
fn a_paused_holder_goes_on_in_a_file_that_its_machine_finds() {
    let (server, dir) = stage();
    let elsewhere = tempfile::tempdir().unwrap();
    let mut paused = Process::new(&server, dir.path(), 1);
    let journal = paused.begin(Vec::new()).unwrap();
    make(&journal, "a").unwrap();
    let mut next = Process::new(&server, elsewhere.path(), 2);
    assert_eq!(made(next.read()), ["a"]);
    // It wakes up between reading and beginning, and later.
    make(&journal, "b").unwrap();
    let trouble = journal.trouble().unwrap();
    assert!(trouble.why.to_string().contains("taken over"), "{}", trouble.why);
    let path = PathBuf::from(&trouble.to);
    assert_eq!(path.parent().unwrap(), dir.path());
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
    let second = next.begin(Vec::new()).unwrap();
    make(&second, "c").unwrap();
    make(&journal, "d").unwrap();
    drop(second);
    // Somebody else on that machine leaves the file alone while it is written to, and finds the other journal.
    assert_eq!(made(Process::new(&server, dir.path(), 3).read()), ["c"]);
    drop(journal);
    // One story after the other: this one is of another run, and stays.
    let mut third = Process::new(&server, dir.path(), 4);
    assert_eq!(made(third.read()), ["c"]);
    let mut home = third.home.take().unwrap();
    home.begin(&start(4)).unwrap();
    home.remove().unwrap();
    let mut fourth = Process::new(&server, dir.path(), 5);
    assert_eq!(made(fourth.read()), ["a", "b", "d"], "all of it, although its objects are gone");
    assert!(path.exists());
    let mut home = fourth.home.take().unwrap();
    home.begin(&start(5)).unwrap();
    assert!(!path.exists());
    home.remove().unwrap();
    assert_eq!(Process::new(&server, dir.path(), 6).read(), None);
}

/// A home that only remembers what it was begun with.
struct Catch(Arc<Mutex<Vec<u8>>>);

/// A file that is none.
struct Nowhere;

impl JournalFile for Nowhere {
    fn append(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn place(&self) -> String {
        String::new()
    }
}

impl JournalHome for Catch {
    fn read(&mut self) -> io::Result<Vec<JournalPart>> {
        Ok(Vec::new())
    }

    fn begin(&mut self, start: &[u8]) -> io::Result<Box<dyn JournalFile>> {
        *self.0.lock().unwrap() = start.to_vec();
        Ok(Box::new(Nowhere))
    }

    fn go_on_elsewhere(&mut self, _: &[u8]) -> io::Result<Box<dyn JournalFile>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn remove(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bytes that a journal begins with.
fn start(run: u8) -> Vec<u8> {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    Journal::begin(Box::new(Catch(Arc::clone(&bytes))), header(RunId([run; 8])), None, Vec::new(), None).unwrap();
    let bytes = bytes.lock().unwrap();
    bytes.clone()
}

#[test]
fn a_holder_that_was_taken_over_cannot_begin_anew() {
    let (server, dir) = stage();
    let mut paused = Process::new(&server, dir.path(), 1).home.take().unwrap();
    paused.begin(&start(1)).unwrap();
    let mut next = Process::new(&server, dir.path(), 2);
    next.read();
    assert!(paused.begin(&start(1)).is_err(), "ended");
    next.begin(Vec::new()).unwrap();
    assert!(paused.begin(&start(1)).is_err(), "gone");
    assert_eq!(Process::new(&server, dir.path(), 3).read().unwrap().header.unwrap().run, RunId([2; 8]));
}

#[test]
fn who_lost_the_lock_after_reading_does_not_begin() {
    let (server, dir) = stage();
    let mut first = Process::new(&server, dir.path(), 1);
    assert_eq!(first.read(), None);
    first.locked.store(false, Ordering::SeqCst);
    assert!(first.begin(Vec::new()).is_err());
    assert_eq!(server.names(), Vec::<String>::new());
}

#[test]
fn ends_are_kept_for_those_who_wake_up_and_are_not_too_many() {
    let (server, dir) = stage();
    for run in 0..40 {
        let mut process = Process::new(&server, dir.path(), run);
        process.read();
        let mut home = process.home.take().unwrap();
        home.begin(&start(run)).unwrap();
        assert!(server.names().len() <= 2 * KEPT_ENDS, "{:?}", server.names());
    }
    // Who ends as it should leaves nothing of its own.
    let before = server.names().len();
    let mut process = Process::new(&server, dir.path(), 50);
    process.read();
    let mut home = process.home.take().unwrap();
    home.begin(&start(50)).unwrap();
    home.remove().unwrap();
    assert!(server.names().len() <= before + 1, "{:?}", server.names());
    assert_eq!(Process::new(&server, dir.path(), 51).read(), None);
}

#[test]
fn things_that_others_put_there_are_left_alone() {
    let (server, dir) = stage();
    server.blobs.lock().unwrap().insert("notes".to_owned(), b"hello".to_vec());
    server.blobs.lock().unwrap().insert("1-2-x".to_owned(), b"hello".to_vec());
    let mut process = Process::new(&server, dir.path(), 1);
    assert_eq!(process.read(), None);
    process.begin(Vec::new()).unwrap();
    assert!(server.names().contains(&"notes".to_owned()) && server.names().contains(&"1-2-x".to_owned()));
}

/// Whatever fails, and whether or not the server did what it was asked: what was acknowledged is found by the next one.
#[test]
fn nothing_acknowledged_is_lost_whatever_fails() {
    for fault in [Fault::Nothing, Fault::Everything] {
        for count in [1, 3, 1000] {
            for after in 0..40 {
                one_history(fault, count, after);
            }
        }
    }
}

fn one_history(fault: Fault, count: usize, after: usize) {
    let what = format!("{fault:?} of {count} calls after {after}");
    let (server, dir) = stage();
    // Somebody left something.
    let mut earlier = Process::new(&server, dir.path(), 1);
    let journal = earlier.begin(Vec::new()).unwrap();
    make(&journal, "a").unwrap();
    drop(journal);
    server.fail(after, count, fault);
    let mut acknowledged = Vec::new();
    let mut process = Process::new(&server, dir.path(), 2);
    let mut begun = false;
    if let Ok(parts) = process.home.as_mut().unwrap().read() {
        assert_eq!(made(read_journals(&parts, None).unwrap()), ["a"], "{what}");
        if let Ok(journal) = process.begin(Vec::new()) {
            begun = true;
            for number in 0..8 {
                let name = format!("x{number}");
                if make(&journal, &name).is_ok() {
                    acknowledged.push(name);
                }
            }
        }
    }
    *server.fault.lock().unwrap() = None;
    let found = Process::new(&server, dir.path(), 3).read();
    let names = made(found);
    if begun {
        assert!(acknowledged.len() == 8, "{what}: a file takes what a server does not");
        assert_eq!(names, acknowledged, "{what}");
    } else {
        // If its journal is there nevertheless, then what was before is in the state.
        assert!(names == ["a"] || names.is_empty(), "{what}: {names:?}");
    }
}

/// A journal that begins anew while the server is away must not go on where nobody looks.
#[test]
fn beginning_anew_is_all_or_nothing() {
    for fault in [Fault::Nothing, Fault::Everything] {
        for count in [1, 2, 1000] {
            for after in 0..12 {
                let what = format!("{fault:?} of {count} calls after {after}");
                let (server, dir) = stage();
                let mut home = Process::new(&server, dir.path(), 1).home.take().unwrap();
                let mut file = home.begin(&start(1)).unwrap();
                server.fail(after, count, fault);
                let anew = home.begin(&start(1));
                if let Ok(new) = anew {
                    file = new;
                }
                *server.fault.lock().unwrap() = None;
                file.append(b"more").unwrap();
                if file.sync().is_err() {
                    let _ = home.go_on_elsewhere(&[start(1).as_slice(), b"more"].concat()).unwrap();
                }
                drop(file);
                let parts = Process::new(&server, dir.path(), 2).home.take().unwrap().read().unwrap();
                assert_eq!(parts.len(), 1, "{what}");
                assert_eq!(parts[0].bytes, [start(1).as_slice(), b"more"].concat(), "{what}");
            }
        }
    }
}

#[test]
fn a_folder_that_cannot_be_used_is_an_error() {
    let (server, dir) = stage();
    let blocked = dir.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    let mut process = Process::new(&server, &blocked.join("spool"), 1);
    assert!(process.home.as_mut().unwrap().read().is_err() || process.home.is_some());
    let mut process = Process::new(&server, &dir.path().join("spool"), 1);
    let journal = process.begin(Vec::new()).unwrap();
    std::fs::write(dir.path().join("spool"), "").unwrap();
    server.fail(0, 1000, Fault::Nothing);
    assert!(make(&journal, "a").is_err());
}
