//! Writing a journal: many threads add records, and one of them at a time makes everything durable that is there by then.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use groma_model::address::{AbsObject, ProviderInstance};

use super::fold::get;
use super::frame::{Frame, MOST_PAYLOAD, OVERHEAD, RunId};
use super::home::{JournalFile, JournalHome, Nowhere};
use super::record::{Action, After, HEADER, Header, Intent, Operation, Outcome, Record, SNAPSHOT, STORED, Stamp};
use super::seal::{JournalKeys, Place, Seal};
use crate::crash;
use crate::encryption::EncryptionError;
use crate::{Digest, Fingerprint, State};

/// How much must be known to be in a snapshot before the journal is begun anew without it.
const LEAST_REWRITE: u64 = 1 << 20;

/// Why something could not be made durable.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JournalError {
    /// Nor anywhere else. What was to be written down is with the caller alone.
    #[error("the journal {place} could not be written: {why}")]
    Write {
        /// Which.
        place: String,
        /// Why.
        why: Arc<io::Error>,
    },
    /// It had to move, so nothing new is begun.
    #[error("the journal could not be written in its place, so no further changes are begun: {}", .0.why)]
    Moved(Trouble),
    /// It could not be encrypted.
    #[error("what is written to the journal could not be encrypted: {0}")]
    Seal(Arc<EncryptionError>),
    /// A record has an end.
    #[error("a record for the journal has {0} bytes, which is too much")]
    TooLong(usize),
}

/// Why a journal goes on in another place, and where.
#[derive(Debug, Clone)]
pub struct Trouble {
    /// Where it was.
    pub from: String,
    /// Where it is.
    pub to: String,
    /// Why.
    pub why: Arc<io::Error>,
}

/// A change that is about to be asked of a provider.
#[derive(Debug, Clone)]
pub struct Change {
    /// Of which object.
    pub object: AbsObject,
    /// What is done to it.
    pub action: Action,
    /// By whom.
    pub provider: ProviderInstance,
    /// Of what is planned to come out of it.
    pub planned: Option<Digest>,
    /// What will identify the object, as compact JSON, if that is known already.
    pub identity: Option<String>,
    /// What it could be imported by, if that is known already.
    pub import_id: Option<String>,
    /// When, as RFC 3339 text.
    pub begun: String,
}

/// A record that was handed over; see [`Journal::wait`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[must_use = "a record is safe only once it was waited for"]
pub struct Ticket(u64);

/// A place in a journal, to say what a state includes: everything before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(pub(crate) u64);

/// A journal of one run.
pub struct Journal {
    header: Header,
    framer: Framer,
    shared: Mutex<Shared>,
    written: Condvar,
}

struct Shared {
    home: Box<dyn JournalHome>,
    /// None while it is being written to.
    file: Option<Box<dyn JournalFile>>,
    /// The number of the last record that was handed over.
    last: u64,
    /// The number of the last one that is safe.
    durable: u64,
    /// Frames that nobody writes yet, and the number of the first.
    pending: Vec<u8>,
    pending_from: u64,
    /// What may not be in any snapshot yet, with its number.
    recent: VecDeque<(u64, u8, Vec<u8>)>,
    /// Intents without an outcome, and outcomes without a place, with their numbers.
    standing: BTreeMap<Operation, (u64, Record)>,
    /// The state that was last stored, and what objects are like that have changed since, with the number of the record.
    base: Option<Arc<State>>,
    seen: BTreeMap<AbsObject, (u64, Option<Fingerprint>)>,
    /// How much of the file is known to be in a snapshot.
    stale: u64,
    operations: u64,
    trouble: Option<Trouble>,
    failure: Option<JournalError>,
}

impl Journal {
    /// Begins a journal, with what is left to settle of earlier ones, and lets go of those. `header.after` and
    /// `header.continues` are of no account.
    ///
    /// `header.sealed` is too: it follows from the keys, if what is written is to be encrypted.
    pub fn begin(
        mut home: Box<dyn JournalHome>,
        header: Header,
        base: Option<Arc<State>>,
        kept: Vec<Record>,
        keys: Option<&dyn JournalKeys>,
    ) -> io::Result<Journal> {
        let sealed = keys.map(JournalKeys::new_key).transpose().map_err(io::Error::other)?.flatten();
        let (method, sealed) = sealed.unzip();
        let framer = Framer { run: header.run, seal: method.map(Seal::new) };
        let header = Header { after: 0, continues: false, sealed, ..header };
        let mut start = Vec::new();
        write_header(&mut start, &header);
        let mut standing = BTreeMap::new();
        let mut last = 0;
        for record in kept {
            last += 1;
            let (kind, payload) = record.encode();
            framer.add(&mut start, kind, last, 1, &payload).map_err(io::Error::other)?;
            if let Some(operation) = record.operation() {
                standing.insert(operation, (last, record));
            }
        }
        let file = home.begin(&start)?;
        crash::point("journal.begun");
        let shared = Shared {
            home,
            file: Some(file),
            last,
            durable: last,
            pending: Vec::new(),
            pending_from: last + 1,
            recent: VecDeque::new(),
            standing,
            base,
            seen: BTreeMap::new(),
            stale: 0,
            operations: 0,
            trouble: None,
            failure: None,
        };
        Ok(Journal { header, framer, shared: Mutex::new(shared), written: Condvar::new() })
    }

    /// What it began with.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Writes down that a change is about to begin. When this returns, it may.
    pub fn intend(&self, change: Change) -> Result<Operation, JournalError> {
        let (operation, ticket) = self.announce_change(change)?;
        self.wait(ticket)?;
        Ok(operation)
    }

    /// The same for who does not want to wait here: the change may begin once the ticket was waited for.
    pub fn announce_change(&self, change: Change) -> Result<(Operation, Ticket), JournalError> {
        let mut shared = self.lock();
        if let Some(trouble) = &shared.trouble {
            return Err(JournalError::Moved(trouble.clone()));
        }
        let Change { object, action, provider, planned, identity, import_id, begun } = change;
        let (operation, before) = (shared.next_operation(self.header.run), shared.last_seen(&object));
        let intent = Intent { operation, object, action, provider, planned, before, identity, import_id, begun };
        let ticket = self.hand_over(&mut shared, Record::Intent(Box::new(intent)))?;
        Ok((operation, ticket))
    }

    /// Writes down what came of a change: of one that was intended, or of one that has no effects outside. What depends on it
    /// may begin once the ticket was waited for.
    pub fn conclude(
        &self,
        operation: Option<Operation>,
        object: AbsObject,
        after: After,
    ) -> Result<Ticket, JournalError> {
        let mut shared = self.lock();
        let operation = operation.unwrap_or_else(|| shared.next_operation(self.header.run));
        let before = shared.last_seen(&object);
        self.hand_over(&mut shared, Record::Outcome(Box::new(Outcome { operation, object, before, after })))
    }

    /// Writes down that an object has another address now, or was put aside, or came back. None if there is nothing to move.
    pub fn move_object(&self, from: &AbsObject, to: &AbsObject) -> Result<Option<Ticket>, JournalError> {
        let mut shared = self.lock();
        let Some(what) = shared.last_seen(from) else { return Ok(None) };
        let record = Record::Moved { from: from.clone(), to: to.clone(), what };
        self.hand_over(&mut shared, record).map(Some)
    }

    /// Writes down that it was found out by other means what became of a change, or of an object without a place.
    pub fn settle(&self, operation: Operation) -> Result<Ticket, JournalError> {
        self.hand_over(&mut self.lock(), Record::Settled(operation))
    }

    /// Announces a snapshot that includes everything up to a number. When this returns, it may be stored.
    pub(crate) fn announce(&self, stamp: Stamp, Mark(covers): Mark) -> Result<(), JournalError> {
        let ticket = self.hand_over(&mut self.lock(), Record::Snapshot { stamp, covers })?;
        self.wait(ticket)?;
        crash::point("snapshot.announced");
        Ok(())
    }

    /// Takes a record that is to be written with the next ones that somebody waits for.
    fn hand_over(&self, shared: &mut Shared, record: Record) -> Result<Ticket, JournalError> {
        let (kind, payload) = record.encode();
        if payload.len() > MOST_PAYLOAD {
            return Err(JournalError::TooLong(payload.len()));
        }
        if let Some(failure) = &shared.failure {
            return Err(failure.clone());
        }
        let number = shared.last + 1;
        if shared.pending.is_empty() {
            shared.pending_from = number;
        }
        let batch = shared.pending_from;
        let added = self.framer.add(&mut shared.pending, kind, number, batch, &payload);
        added.map_err(|error| JournalError::Seal(Arc::new(error)))?;
        shared.last = number;
        shared.recent.push_back((number, kind, payload));
        shared.note(number, record);
        Ok(Ticket(number))
    }

    /// Waits until a record is safe, and makes it so if nobody else does.
    pub fn wait(&self, Ticket(number): Ticket) -> Result<(), JournalError> {
        let mut shared = self.lock();
        loop {
            if shared.durable >= number {
                return Ok(());
            }
            if let Some(failure) = &shared.failure {
                return Err(failure.clone());
            }
            shared = match shared.file.take() {
                Some(file) => self.write(shared, file),
                None => self.written.wait(shared).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Waits until everything is safe that was handed over. Gives the ticket of the last of it.
    pub fn flush(&self) -> Result<Ticket, JournalError> {
        let last = Ticket(self.lock().last);
        self.wait(last)?;
        Ok(last)
    }

    /// The changes that have begun and not ended, here and in earlier runs.
    pub fn in_flight(&self) -> Vec<Intent> {
        let shared = self.lock();
        let intents = shared.standing.values().filter_map(|(_, record)| match record {
            Record::Intent(intent) => Some((**intent).clone()),
            _ => None,
        });
        intents.collect()
    }

    /// Why it goes on in another place, if it does.
    pub fn trouble(&self) -> Option<Trouble> {
        self.lock().trouble.clone()
    }

    /// Whether something is left to settle: changes that have begun and not ended, or objects without a place.
    pub fn is_settled(&self) -> bool {
        self.lock().standing.is_empty()
    }

    /// Everything that was written down so far. To be taken before a state is copied to be stored: what is in the state and
    /// behind the mark does no harm, but what is before the mark and not in the state would be forgotten.
    pub fn mark(&self) -> Mark {
        Mark(self.lock().last)
    }

    /// A snapshot is stored that includes everything up to that number. Now and then the journal begins anew without that.
    pub(crate) fn stored(&self, stamp: Stamp, Mark(covers): Mark, state: Arc<State>) {
        let mut shared = self.lock();
        shared.base = Some(state);
        shared.seen.retain(|_, (number, _)| *number > covers);
        while shared.recent.front().is_some_and(|(number, ..)| *number <= covers) {
            let length = shared.recent.pop_front().map_or(0, |(_, _, payload)| payload.len() + OVERHEAD);
            shared.stale += length as u64;
        }
        if shared.stale >= LEAST_REWRITE || shared.trouble.is_some() || shared.failure.is_some() {
            // If this cannot be done, the old one goes on: it has everything too.
            let _ = self.begin_anew(shared, stamp, covers);
        } else {
            // Written with whatever comes next.
            let _ = self.hand_over(&mut shared, Record::Stored { stamp, covers });
        }
    }

    /// Its home, for the next one. Nothing can be written to this one any more.
    pub(crate) fn take_home(&self) -> Box<dyn JournalHome> {
        let mut shared = self.lock();
        let place = shared.file.take().map_or_else(|| "of this run".to_owned(), |file| file.place());
        let why = Arc::new(io::Error::other("the run has ended"));
        shared.failure = Some(JournalError::Write { place, why });
        std::mem::replace(&mut shared.home, Box::new(Nowhere))
    }

    /// The run ends, and the state includes everything. What is left to settle stays; otherwise the journal goes.
    pub(crate) fn close(&self, stamp: Stamp) -> Result<(), JournalError> {
        // A journal that failed has less than the state, but must not be left to say so.
        let _ = self.flush();
        let mut shared = self.lock();
        let place = shared.file.as_ref().map_or_else(|| "of this run".to_owned(), |file| file.place());
        let failed = |error| JournalError::Write { place, why: Arc::new(error) };
        if shared.standing.is_empty() {
            let removed = shared.home.remove().map_err(failed);
            crash::point("journal.removed");
            return removed;
        }
        let covers = shared.last;
        self.begin_anew(shared, stamp, covers).map_err(failed)
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what is pending, while others go on handing over.
    fn write<'j>(
        &'j self,
        mut shared: MutexGuard<'j, Shared>,
        mut file: Box<dyn JournalFile>,
    ) -> MutexGuard<'j, Shared> {
        let batch = std::mem::take(&mut shared.pending);
        let (durable, last) = (shared.durable, shared.last);
        drop(shared);
        let written = file.append(&batch).and_then(|()| {
            crash::point("journal.appended");
            file.sync()
        });
        crash::point("journal.synced");
        let mut shared = self.lock();
        match written {
            Ok(()) => {
                shared.file = Some(file);
                shared.durable = last;
            }
            Err(error) => self.move_on(&mut shared, durable, last, &batch, (file.place(), error)),
        }
        self.written.notify_all();
        shared
    }

    /// Goes on elsewhere, with everything that is not known to be safe.
    fn move_on(&self, shared: &mut Shared, durable: u64, last: u64, batch: &[u8], (from, why): (String, io::Error)) {
        let why = Arc::new(why);
        let mut start = Vec::new();
        write_header(&mut start, &Header { after: durable, continues: true, ..self.header.clone() });
        start.extend(batch);
        match shared.home.go_on_elsewhere(&start) {
            Ok(file) => {
                shared.trouble = Some(Trouble { from, to: file.place(), why });
                shared.file = Some(file);
                shared.durable = last;
            }
            Err(_) => shared.failure = Some(JournalError::Write { place: from, why }),
        }
    }

    /// Begins anew in the first place, with what is not in the snapshot and what is left to settle.
    fn begin_anew(&self, mut shared: MutexGuard<'_, Shared>, stamp: Stamp, covers: u64) -> io::Result<()> {
        if shared.file.is_none() && shared.failure.is_none() {
            // Somebody writes; next time, then.
            return Ok(());
        }
        let mut number = shared.last;
        let header = Header { after: number, base: Some(stamp), continues: false, ..self.header.clone() };
        let mut start = Vec::new();
        write_header(&mut start, &header);
        let batch = number + 1;
        let mut add = |kind: u8, payload: &[u8]| {
            number += 1;
            self.framer.add(&mut start, kind, number, batch, payload).map_err(io::Error::other)?;
            io::Result::Ok(number)
        };
        let mut standing = shared.standing.clone();
        for (at, record) in standing.values_mut().filter(|(at, _)| *at <= covers) {
            let (kind, payload) = record.encode();
            *at = add(kind, &payload)?;
        }
        let mut recent = VecDeque::new();
        let mut renumbered = BTreeMap::new();
        // Snapshots are stored one after the other: this is the last.
        let missing = |(number, kind, _): &&(u64, u8, Vec<u8>)| *number > covers && ![SNAPSHOT, STORED].contains(kind);
        for (old, kind, payload) in shared.recent.iter().filter(missing) {
            let new = add(*kind, payload)?;
            renumbered.insert(*old, new);
            recent.push_back((new, *kind, payload.clone()));
        }
        for (at, _) in standing.values_mut() {
            *at = renumbered.get(at).copied().unwrap_or(*at);
        }
        let mut seen = shared.seen.clone();
        for (at, _) in seen.values_mut() {
            *at = renumbered.get(at).copied().unwrap_or(*at);
        }
        match shared.home.begin(&start) {
            Ok(new) => {
                shared.file = Some(new);
                shared.pending.clear();
                (shared.last, shared.durable, shared.pending_from) = (number, number, number + 1);
                (shared.recent, shared.standing, shared.seen) = (recent, standing, seen);
                (shared.stale, shared.trouble, shared.failure) = (0, None, None);
                self.written.notify_all();
                Ok(())
            }
            Err(error) => {
                // Not at every snapshot from now on.
                shared.stale = 0;
                Err(error)
            }
        }
    }
}

impl Shared {
    fn next_operation(&mut self, run: RunId) -> Operation {
        self.operations += 1;
        Operation { run, number: self.operations }
    }

    /// The object as it was last written down, here or in a snapshot.
    fn last_seen(&self, object: &AbsObject) -> Option<Fingerprint> {
        match self.seen.get(object) {
            Some((_, seen)) => seen.clone(),
            None => self.base.as_ref().and_then(|state| get(state, object)).map(Fingerprint::of),
        }
    }

    /// Remembers what is left to settle, and what objects are like.
    fn note(&mut self, number: u64, record: Record) {
        match &record {
            Record::Intent(intent) => {
                self.standing.insert(intent.operation, (number, record));
            }
            Record::Outcome(outcome) => {
                self.standing.remove(&outcome.operation);
                let seen = match &outcome.after {
                    After::Present { object, .. } => Some(Fingerprint::of(object)),
                    After::Absent => None,
                    After::Unchanged => return,
                };
                self.seen.insert(outcome.object.clone(), (number, seen));
            }
            Record::Moved { from, to, what } => {
                self.seen.insert(from.clone(), (number, None));
                self.seen.insert(to.clone(), (number, Some(what.clone())));
            }
            Record::Settled(operation) => {
                self.standing.remove(operation);
            }
            Record::Unplaced(_) | Record::Snapshot { .. } | Record::Stored { .. } => {}
        }
    }
}

/// Puts records into frames, encrypted if need be.
struct Framer {
    run: RunId,
    seal: Option<Seal>,
}

impl Framer {
    fn add(&self, out: &mut Vec<u8>, kind: u8, number: u64, batch: u64, payload: &[u8]) -> Result<(), EncryptionError> {
        let run = self.run;
        let sealed = self.seal.as_ref().map(|seal| seal.seal(Place { run, number, kind }, payload)).transpose()?;
        let payload = sealed.as_deref().unwrap_or(payload);
        Frame { run, kind, number, batch, payload }.write(out);
        Ok(())
    }
}

fn write_header(out: &mut Vec<u8>, header: &Header) {
    let Header { run, after, .. } = *header;
    Frame { run, kind: HEADER, number: after, batch: after, payload: &header.encode() }.write(out);
}
