//! What is written down is read back; what was cut off is told from what was damaged; and many wait for one sync.

mod folding;
mod random;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex};

use groma_model::address::{
    AbsObject, DeposedKey, InstanceKey, Module, ModuleInstance, Provider, ProviderConfig, ProviderInstance, Resource,
};

use super::*;
use crate::encryption::{AesGcm, EncryptionError, Key};
use crate::{Attributes, Digest, Fingerprint, ObjectState, ObjectStatus, State, StoredIdentity};

fn provider() -> ProviderInstance {
    let provider = Provider::new("registry.opentofu.org", "hashicorp", "test");
    ProviderConfig { module: Module::root(), provider, alias: Some("west".into()) }
        .instance(InstanceKey::String("k".into()))
}

fn at(name: &str) -> AbsObject {
    Resource::managed("test_thing", name).absolute(ModuleInstance::root()).instance(InstanceKey::None).object(None)
}

fn object(id: &str, version: u32) -> ObjectState {
    ObjectState::new(0, Attributes::Json(format!("{{\"id\":\"{id}\",\"version\":{version}}}")))
}

fn present(id: &str, version: u32) -> After {
    After::Present { provider: provider(), object: Box::new(object(id, version)) }
}

fn change(name: &str) -> Change {
    Change {
        object: at(name),
        action: Action::Create,
        provider: provider(),
        planned: Some(Digest::of(b"planned")),
        identity: Some("{\"arn\":\"x\"}".to_owned()),
        import_id: Some("x/y".to_owned()),
        begun: "2026-01-02T03:04:05Z".to_owned(),
    }
}

fn header() -> Header {
    Header {
        run: RunId(*b"run-0001"),
        lineage: "line".to_owned(),
        base: Some(Stamp { serial: 3, digest: Digest::of(b"base") }),
        lock: "lock".to_owned(),
        tool: "groma 0".to_owned(),
        after: 0,
        continues: false,
        sealed: None,
    }
}

/// A journal in memory, whose files can be made to fail, or to wait.
#[derive(Clone, Default)]
struct Memory(Arc<(Mutex<Inner>, Condvar)>);

#[derive(Default)]
struct Inner {
    files: Vec<Vec<u8>>,
    syncs: usize,
    failing: Vec<usize>,
    gate: Option<usize>,
    appended: usize,
}

struct Part(Memory, usize);

impl Memory {
    fn with<T>(&self, work: impl FnOnce(&mut Inner) -> T) -> T {
        work(&mut self.0.0.lock().unwrap())
    }

    fn parts(&self) -> Vec<JournalPart> {
        let part = |(at, bytes): (usize, &Vec<u8>)| JournalPart { place: format!("file {at}"), bytes: bytes.clone() };
        self.with(|inner| inner.files.iter().enumerate().map(part).collect())
    }

    fn contents(&self) -> Contents {
        read_journals(&self.parts(), None).unwrap().unwrap()
    }

    fn journal(&self) -> Journal {
        Journal::begin(Box::new(self.clone()), header(), None, Vec::new(), None).unwrap()
    }
}

impl JournalHome for Memory {
    fn read(&mut self) -> io::Result<Vec<JournalPart>> {
        Ok(self.parts())
    }

    fn begin(&mut self, start: &[u8]) -> io::Result<Box<dyn JournalFile>> {
        self.with(|inner| {
            if inner.failing.contains(&0) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            inner.files = vec![start.to_vec()];
            Ok(Box::new(Part(self.clone(), 0)) as Box<dyn JournalFile>)
        })
    }

    fn go_on_elsewhere(&mut self, start: &[u8]) -> io::Result<Box<dyn JournalFile>> {
        self.with(|inner| {
            let next = inner.files.len();
            if inner.failing.contains(&next) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            inner.files.push(start.to_vec());
            Ok(Box::new(Part(self.clone(), next)) as Box<dyn JournalFile>)
        })
    }

    fn remove(&mut self) -> io::Result<()> {
        self.with(|inner| inner.files.clear());
        Ok(())
    }
}

impl JournalFile for Part {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (lock, changed) = &*self.0.0;
        let mut inner = lock.lock().unwrap();
        if inner.failing.contains(&self.1) {
            inner.files[self.1].extend(&bytes[..bytes.len() / 2]);
            return Err(io::ErrorKind::StorageFull.into());
        }
        inner.files[self.1].extend(bytes);
        inner.appended += 1;
        changed.notify_all();
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let (lock, changed) = &*self.0.0;
        let mut inner = lock.lock().unwrap();
        inner.syncs += 1;
        while inner.gate.is_some_and(|gate| inner.syncs > gate) {
            inner = changed.wait(inner).unwrap();
        }
        Ok(())
    }

    fn place(&self) -> String {
        format!("file {}", self.1)
    }
}

/// A journal with everything in it.
fn full() -> (Memory, Vec<Record>) {
    let memory = Memory::default();
    let journal = memory.journal();
    let operation = journal.intend(change("a")).unwrap();
    let mut object = object("i-1", 1);
    object.status = ObjectStatus::Tainted;
    object.private = vec![0, 1, 255];
    object.identity = Some(StoredIdentity { json: "{\"arn\":\"x\"}".to_owned(), schema_version: Some(2) });
    let after = After::Present { provider: provider(), object: Box::new(object) };
    journal.wait(journal.conclude(Some(operation), at("a"), after).unwrap()).unwrap();
    let deposed = at("a").instance.object(Some(DeposedKey::new(7)));
    journal.wait(journal.move_object(&at("a"), &deposed).unwrap().unwrap()).unwrap();
    journal.wait(journal.conclude(None, deposed, After::Absent).unwrap()).unwrap();
    journal.wait(journal.conclude(None, at("b"), After::Unchanged).unwrap()).unwrap();
    journal.announce(Stamp { serial: 4, digest: Digest::of(b"4") }, Mark(5)).unwrap();
    journal.stored(Stamp { serial: 4, digest: Digest::of(b"4") }, Mark(5), Arc::default());
    journal.wait(journal.settle(operation).unwrap()).unwrap();
    let records = memory.contents().records.into_values().collect();
    (memory, records)
}

#[test]
fn what_is_written_down_is_read_back() {
    let (memory, records) = full();
    let contents = memory.contents();
    assert_eq!((contents.header, contents.condition), (Some(header()), Condition::Complete));
    let kinds = records.iter().map(|record| record.encode().0).collect::<Vec<_>>();
    assert_eq!(kinds, [1, 2, 3, 2, 2, 4, 7, 6]);
    let Record::Outcome(outcome) = &records[3] else { panic!() };
    // What is deleted is known by what it was.
    assert_eq!(outcome.before.as_ref().unwrap().id.as_deref(), Some("i-1"));
    for record in records {
        let (kind, payload) = record.encode();
        assert_eq!(Record::decode(kind, &payload).unwrap(), record);
    }
}

#[test]
fn a_journal_that_is_cut_off_anywhere_has_what_came_before() {
    let (memory, records) = full();
    let whole = memory.parts().remove(0).bytes;
    let mut ends = 0;
    for length in 0..whole.len() {
        let part = JournalPart { place: "here".to_owned(), bytes: whole[..length].to_vec() };
        let contents = read_journal(&part, None).unwrap();
        let expected = &records[..contents.records.len()];
        assert!(contents.records.values().eq(expected), "{length} bytes");
        match contents.condition {
            // Exactly between two records nothing can be told.
            Condition::Complete => ends += 1,
            Condition::Torn(gap) => assert_eq!(gap.after as usize, contents.records.len(), "{length} bytes"),
            // A journal appears with its header, or not at all.
            Condition::Damaged(_) => assert!(contents.header.is_none()),
        }
    }
    assert_eq!(ends, records.len());
}

#[test]
fn a_journal_with_any_byte_changed_says_so() {
    let (memory, records) = full();
    let whole = memory.parts().remove(0).bytes;
    // The last two were made safe together.
    let last = records.len() - 1;
    for at in 0..whole.len() {
        for flip in [1, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            let contents = read_journal(&JournalPart { place: "here".to_owned(), bytes }, None).unwrap();
            // One record is gone, or the header; what is left is true.
            let left = contents.records.len() + usize::from(contents.header.is_some());
            assert_eq!(left, records.len(), "byte {at}");
            assert!(contents.records.iter().all(|(number, record)| *record == records[*number as usize - 1]));
            let in_last =
                contents.header.is_some() && (1..last).all(|number| contents.records.contains_key(&(number as u64)));
            match contents.condition {
                Condition::Complete => panic!("byte {at} was changed unnoticed"),
                Condition::Torn(_) => assert!(in_last, "byte {at} was safe"),
                Condition::Damaged(_) => assert!(!in_last, "byte {at} may have been cut off"),
            }
        }
    }
}

#[test]
fn what_does_not_belong_there_is_damage() {
    let (memory, records) = full();
    let whole = memory.parts().remove(0).bytes;
    let read = |bytes: Vec<u8>| read_journal(&JournalPart { place: "here".to_owned(), bytes }, None).unwrap();
    assert!(matches!(read(Vec::new()).condition, Condition::Damaged(_)));
    assert!(matches!(read(b"{\"version\": 4}".to_vec()).condition, Condition::Damaged(_)));
    // Zeros behind the end are what some systems leave of a write.
    assert!(matches!(read([whole.clone(), vec![0; 99]].concat()).condition, Condition::Torn(_)));
    // The same again is not taken twice.
    let twice = read([whole.clone(), whole.clone()].concat());
    assert_eq!(twice.records.len(), records.len());
    assert!(matches!(twice.condition, Condition::Torn(Gap { bytes, .. }) if bytes == whole.len()));
    // Nor is what is left of another run.
    let other = Memory::default();
    let header = Header { run: RunId(*b"run-0002"), ..header() };
    let journal = Journal::begin(Box::new(other.clone()), header, None, Vec::new(), None).unwrap();
    for _ in 0..20 {
        journal.intend(change("z")).unwrap();
    }
    let mixed = read([whole, other.parts().remove(0).bytes].concat());
    assert_eq!(mixed.records.len(), records.len());
}

#[test]
fn a_newer_format_is_refused() {
    let part = |kind: u8, payload: &[u8]| {
        let mut bytes = Vec::new();
        frame::Frame { run: RunId([1; 8]), kind, number: 0, batch: 0, payload }.write(&mut bytes);
        read_journal(&JournalPart { place: "here".to_owned(), bytes }, None)
    };
    let error = part(0, b"{\"format\":2,\"lineage\":\"x\"}").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the journal here cannot be read at byte 0: it was written by a newer version of groma: use that one"
    );
    assert!(part(0, b"{\"format\":1}").is_err());
    assert!(matches!(Record::decode(99, b"{}"), Err(RecordError::Newer)));
    for (kind, payload) in
        [(1, "{}"), (2, "[]"), (3, "{\"from\":{}}"), (4, "nothing"), (5, "\u{0}"), (6, "{\"operation\":\"1\"}")]
    {
        assert!(matches!(Record::decode(kind, payload.as_bytes()), Err(RecordError::Decode(_))), "{payload}");
    }
    assert!(Record::decode(1, &[0xff]).is_err());
}

/// Keys of one method, found again by a name.
struct Keys(u8, &'static str);

impl JournalKeys for Keys {
    fn new_key(&self) -> Result<Option<SealedKey>, EncryptionError> {
        let meta = BTreeMap::from([(self.1.to_owned(), vec![1, 2, 255])]);
        Ok(Some((self.key_again(&meta)?, meta)))
    }

    fn allows_plain(&self) -> bool {
        self.0 == 3
    }

    fn key_again(&self, meta: &BTreeMap<String, Vec<u8>>) -> Result<AesGcm, EncryptionError> {
        assert_eq!(meta[self.1], [1, 2, 255]);
        AesGcm::new(Key::new(vec![self.0; 32]), Vec::new())
    }
}

#[test]
fn an_encrypted_journal_says_nothing_without_the_key() {
    let memory = Memory::default();
    let keys = Keys(1, "key_provider.pbkdf2.mine");
    let journal = Journal::begin(Box::new(memory.clone()), header(), None, Vec::new(), Some(&keys)).unwrap();
    let operation = journal.intend(change("canary")).unwrap();
    journal.wait(journal.conclude(Some(operation), at("canary"), present("canary", 1)).unwrap()).unwrap();
    let open = journal.intend(change("canary")).unwrap();
    let part = memory.parts().remove(0);
    assert!(!part.bytes.windows(6).any(|window| window == b"canary"));
    let contents = read_journal(&part, Some(&keys)).unwrap();
    assert_eq!((contents.records.len(), &contents.condition), (3, &Condition::Complete));
    let refused = |part: &JournalPart, keys: Option<&dyn JournalKeys>| read_journal(part, keys).unwrap_err().source;
    assert!(matches!(refused(&part, None), RecordError::Encrypted));
    assert!(matches!(refused(&part, Some(&Keys(2, keys.1))), RecordError::Key(_)));
    // It stays so when it begins anew, and no nonce is used twice.
    journal.close(Stamp { serial: 4, digest: Digest::of(b"4") }).unwrap();
    let anew = read_journal(&memory.parts().remove(0), Some(&keys)).unwrap();
    assert_eq!(anew.records.into_values().next().unwrap().operation(), Some(open));
    assert_eq!(contents.header.unwrap().sealed, anew.header.unwrap().sealed);
    let nonce = |part: &JournalPart, name: &[u8; 8], which: usize| {
        let found: Vec<_> = part.bytes.windows(8).enumerate().filter(|(_, window)| window == name).collect();
        part.bytes[found[which].0 + 8..][..4].to_vec()
    };
    // Runs are named in the frame and in the nonce.
    let nonces: std::collections::BTreeSet<_> = [2, 4, 6].map(|which| nonce(&part, b"run-0001", which)).into();
    assert_eq!(nonces.len(), 3);
    assert!(!nonces.contains(&nonce(&memory.parts().remove(0), b"run-0001", 2)));
    // A payload that somebody has put elsewhere is noticed.
    let (first, length) = frame::read(&part.bytes).unwrap();
    let (record, _) = frame::read(&part.bytes[length..]).unwrap();
    let mut bytes = part.bytes[..length].to_vec();
    frame::Frame { number: 2, batch: 2, ..record }.write(&mut bytes);
    assert_eq!(first.kind, 0);
    assert!(matches!(refused(&JournalPart { place: String::new(), bytes }, Some(&keys)), RecordError::Displaced));
}

#[test]
fn a_journal_in_the_clear_is_believed_only_where_that_is_allowed() {
    let memory = Memory::default();
    let _journal = memory.journal();
    let part = memory.parts().remove(0);
    assert!(read_journal(&part, None).is_ok());
    assert!(read_journal(&part, Some(&Keys(3, "any"))).is_ok());
    let refused = read_journal(&part, Some(&Keys(1, "any"))).unwrap_err().source;
    assert!(matches!(refused, RecordError::Key(EncryptionError::NotEncrypted)), "{refused}");
}

#[test]
fn many_wait_for_one_sync() {
    let memory = Memory::default();
    let journal = Arc::new(memory.journal());
    // The first one is held up in its sync until all others have handed over.
    memory.with(|inner| (inner.gate, inner.syncs) = (Some(0), 0));
    let first = {
        let journal = Arc::clone(&journal);
        std::thread::spawn(move || journal.intend(change("first")).unwrap())
    };
    let (lock, changed) = &*memory.0;
    let mut inner = lock.lock().unwrap();
    while inner.appended < 1 {
        inner = changed.wait(inner).unwrap();
    }
    drop(inner);
    let tickets: Vec<_> =
        (0..50).map(|n| journal.conclude(None, at(&format!("a{n}")), present("i", n)).unwrap()).collect();
    let waiting: Vec<_> = tickets
        .into_iter()
        .map(|ticket| {
            let journal = Arc::clone(&journal);
            std::thread::spawn(move || journal.wait(ticket).unwrap())
        })
        .collect();
    memory.with(|inner| inner.gate = None);
    changed.notify_all();
    first.join().unwrap();
    for thread in waiting {
        thread.join().unwrap();
    }
    assert_eq!(memory.with(|inner| inner.syncs), 2);
    assert_eq!(memory.contents().records.len(), 51);
}

#[test]
fn a_journal_that_cannot_be_written_goes_on_elsewhere() {
    let memory = Memory::default();
    let journal = memory.journal();
    let operation = journal.intend(change("a")).unwrap();
    memory.with(|inner| inner.failing = vec![0, 1]);
    // Neither in its place nor in the next: but in the one after that, if there were one.
    let ticket = journal.conclude(Some(operation), at("a"), present("i-1", 1)).unwrap();
    let error = journal.wait(ticket).unwrap_err();
    assert_eq!(error.to_string(), "the journal file 0 could not be written: no storage space");
    assert!(journal.conclude(None, at("b"), present("i-2", 1)).is_err());
    assert!(matches!(memory.contents().condition, Condition::Torn(_)));

    let memory = Memory::default();
    let journal = memory.journal();
    let operation = journal.intend(change("a")).unwrap();
    memory.with(|inner| inner.failing = vec![0]);
    let ticket = journal.conclude(Some(operation), at("a"), present("i-1", 1)).unwrap();
    journal.wait(ticket).unwrap();
    let trouble = journal.trouble().unwrap();
    assert_eq!((trouble.from.as_str(), trouble.to.as_str()), ("file 0", "file 1"));
    // What is under way comes to its end, but nothing new is begun.
    assert!(matches!(journal.intend(change("b")), Err(JournalError::Moved(_))));
    journal.wait(journal.conclude(None, at("c"), present("i-3", 1)).unwrap()).unwrap();
    let contents = memory.contents();
    assert_eq!((contents.records.len(), contents.condition), (3, Condition::Complete));
    // When the state is stored, it can begin anew in its place, if there is room again.
    let stamp = Stamp { serial: 9, digest: Digest::of(b"9") };
    journal.stored(stamp, Mark(3), Arc::default());
    assert!(journal.trouble().is_some());
    memory.with(|inner| inner.failing.clear());
    journal.stored(stamp, Mark(3), Arc::default());
    assert!(journal.trouble().is_none());
    let contents = memory.contents();
    assert_eq!((contents.records.len(), contents.header.unwrap().base), (0, Some(stamp)));
    journal.intend(change("b")).unwrap();
    assert_eq!(memory.contents().condition, Condition::Complete);
}

#[test]
fn a_spare_alone_is_enough_only_with_the_snapshot() {
    let memory = Memory::default();
    let journal = memory.journal();
    journal.intend(change("a")).unwrap();
    memory.with(|inner| inner.failing = vec![0]);
    journal.wait(journal.conclude(None, at("a"), present("i-1", 1)).unwrap()).unwrap();
    let mut state = State { serial: 3, lineage: "line".to_owned(), ..State::default() };
    let spare = memory.parts().remove(1);
    let contents = read_journals(&[spare], None).unwrap().unwrap();
    assert!(matches!(fold(Some(&state), &contents, Damage::Refuse), Err(FoldError::Missing(1))));
    state.serial = 4;
    journal.announce(Stamp::of(&state).unwrap(), Mark(2)).unwrap();
    let contents = read_journals(&[memory.parts().remove(1)], None).unwrap().unwrap();
    assert!(!fold(Some(&state), &contents, Damage::Refuse).unwrap().changed);
    // Of an earlier run, it is of no account.
    let parts = [Memory::default(), memory.clone()].map(|memory| {
        let header = Header { run: RunId([9; 8]), ..header() };
        if memory.with(|inner| inner.files.is_empty()) {
            Journal::begin(Box::new(memory.clone()), header, None, Vec::new(), None).unwrap();
        }
        memory.parts().pop().unwrap()
    });
    assert_eq!(read_journals(&parts, None).unwrap().unwrap().records.len(), 0);
    assert_eq!(read_journals(&[], None).unwrap(), None);
}

#[test]
fn a_long_journal_begins_anew_with_what_is_left_to_settle() {
    let memory = Memory::default();
    let journal = memory.journal();
    let open = journal.intend(change("open")).unwrap();
    let big = || After::Present {
        provider: provider(),
        object: Box::new(ObjectState::new(0, Attributes::Json(format!("{{\"id\":\"{}\"}}", "x".repeat(200_000))))),
    };
    let mut largest = 0;
    for round in 0..30 {
        let operation = journal.intend(change("a")).unwrap();
        journal.wait(journal.conclude(Some(operation), at("a"), big()).unwrap()).unwrap();
        let covers = journal.mark();
        let stamp = Stamp { serial: 10 + round, digest: Digest::of(&round.to_le_bytes()) };
        journal.announce(stamp, covers).unwrap();
        // One that the snapshot does not have.
        let late = journal.intend(change("late")).unwrap();
        journal.stored(stamp, covers, Arc::default());
        assert_eq!(memory.contents().condition, Condition::Complete);
        let contents = memory.contents();
        let standing = |operation| contents.records.values().any(|record| record.operation() == Some(operation));
        assert!(standing(open) && standing(late), "round {round}");
        journal.wait(journal.conclude(Some(late), at("late"), After::Unchanged).unwrap()).unwrap();
        largest = largest.max(memory.parts().remove(0).bytes.len());
    }
    assert!(largest < 2_000_000, "{largest}");
    assert!(!journal.is_settled());
    journal.close(Stamp { serial: 99, digest: Digest::of(b"99") }).unwrap();
    let left: Vec<_> = memory.contents().records.into_values().filter_map(|record| record.operation()).collect();
    assert_eq!(left, [open]);
    journal.wait(journal.conclude(Some(open), at("open"), After::Unchanged).unwrap()).unwrap();
    journal.close(Stamp { serial: 99, digest: Digest::of(b"99") }).unwrap();
    assert!(memory.parts().is_empty());
}

#[test]
fn what_an_object_was_is_known_from_the_state_and_from_the_journal() {
    let memory = Memory::default();
    let mut state = State { serial: 3, lineage: "line".to_owned(), ..State::default() };
    let seen = folding::with(&mut state, "a", object("i-1", 1));
    let journal = Journal::begin(Box::new(memory.clone()), header(), Some(Arc::new(state)), Vec::new(), None).unwrap();
    let before = |number: u64| match &memory.contents().records[&number] {
        Record::Outcome(outcome) => outcome.before.clone(),
        record => panic!("{record:?}"),
    };
    journal.wait(journal.conclude(None, at("a"), present("i-1", 2)).unwrap()).unwrap();
    assert_eq!(before(1), Some(seen));
    journal.wait(journal.conclude(None, at("a"), After::Absent).unwrap()).unwrap();
    assert_eq!(before(2), Some(Fingerprint::of(&object("i-1", 2))));
    journal.wait(journal.conclude(None, at("a"), present("i-2", 1)).unwrap()).unwrap();
    assert_eq!(before(3), None);
    assert_eq!(journal.move_object(&at("nothing"), &at("a")).unwrap(), None);
}
