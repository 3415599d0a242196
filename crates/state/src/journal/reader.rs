//! Reading a journal: what is in it, and whether what is not was ever acknowledged.

use std::collections::BTreeMap;

use super::frame::{self, Frame, RunId};
use super::record::{HEADER, Header, Record, RecordError};
use super::seal::{JournalKeys, Place, open};
use crate::encryption::{AesGcm, EncryptionError};

/// What was found in one place that journals are kept in.
#[derive(Debug, Clone)]
pub struct JournalPart {
    /// Where, for people.
    pub place: String,
    /// What is there.
    pub bytes: Vec<u8>,
}

/// Everything that a journal says.
#[derive(Debug, Clone, PartialEq)]
pub struct Contents {
    /// What it begins with. None if that is damaged.
    pub header: Option<Header>,
    /// Every record that is intact, by number. Also those behind damage: what they say is true nevertheless.
    pub records: BTreeMap<u64, Record>,
    /// Whether that is all.
    pub condition: Condition,
}

/// Whether everything that was written can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// It can.
    Complete,
    /// The last records were cut off while they were written: nobody was told that they are safe.
    Torn(Gap),
    /// Records that were safe once are gone or have changed.
    Damaged(Gap),
}

/// What cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// Where, for people.
    pub place: String,
    /// From which byte.
    pub at: usize,
    /// How many bytes are no records.
    pub bytes: usize,
    /// The last record before.
    pub after: u64,
}

/// Why a journal cannot be read although what is looked at is intact.
#[derive(Debug, thiserror::Error)]
#[error("the journal {place} cannot be read at byte {at}: {source}")]
pub struct ReadError {
    /// Which journal.
    pub place: String,
    /// Where in it.
    pub at: usize,
    /// Why.
    #[source]
    pub source: RecordError,
}

/// Reads one journal, with keys if it may be encrypted.
pub fn read_journal(part: &JournalPart, keys: Option<&dyn JournalKeys>) -> Result<Contents, ReadError> {
    let mut reader = Reader::default();
    let bytes = part.bytes.as_slice();
    let mut at = 0;
    while at < bytes.len() {
        let read = frame::read(&bytes[at..]).filter(|(frame, _)| reader.belongs(frame, at));
        let Some((frame, length)) = read else {
            let next = frame::next_mark(bytes, at + 1).unwrap_or(bytes.len());
            reader.skip(&part.place, at, next - at);
            at = next;
            continue;
        };
        reader.take(&frame, keys).map_err(|source| ReadError { place: part.place.clone(), at, source })?;
        reader.look_for_gap(&frame, &part.place, at);
        reader.last = Some(frame.number);
        at += length;
    }
    Ok(reader.finish(&part.place))
}

#[derive(Default)]
struct Reader {
    header: Option<Header>,
    /// What the records are encrypted with, if they are.
    method: Option<AesGcm>,
    run: Option<RunId>,
    /// The number of the last record, or of the header.
    last: Option<u64>,
    records: BTreeMap<u64, Record>,
    gap: Option<Gap>,
    /// Whether something that is no record lies right before.
    skipped: bool,
    /// The first record that is missing although later ones are there.
    missing: Option<u64>,
    damaged: bool,
}

impl Reader {
    /// Whether a frame is the next of this journal, and not left from something that was there before.
    fn belongs(&self, frame: &Frame<'_>, at: usize) -> bool {
        (frame.kind == HEADER) == (at == 0)
            && self.run.is_none_or(|run| run == frame.run)
            && self.last.is_none_or(|last| frame.number > last)
    }

    fn skip(&mut self, place: &str, at: usize, bytes: usize) {
        self.skipped = true;
        let after = self.last.unwrap_or_default();
        self.gap.get_or_insert_with(|| Gap { place: place.to_owned(), at, bytes: 0, after }).bytes += bytes;
    }

    fn take(&mut self, frame: &Frame<'_>, keys: Option<&dyn JournalKeys>) -> Result<(), RecordError> {
        self.run = Some(frame.run);
        let Frame { run, kind, number, payload, .. } = *frame;
        if kind == HEADER {
            let header = Header::decode(run, number, payload)?;
            match (&header.sealed, keys) {
                (Some(meta), Some(keys)) => self.method = Some(keys.key_again(meta).map_err(RecordError::Key)?),
                (Some(_), None) => return Err(RecordError::Encrypted),
                (None, Some(keys)) if !keys.allows_plain() => {
                    return Err(RecordError::Key(EncryptionError::NotEncrypted));
                }
                (None, _) => {}
            }
            self.header = Some(header);
            return Ok(());
        }
        let record = match &self.method {
            None => Record::decode(kind, payload)?,
            Some(method) => Record::decode(kind, &open(method, Place { run, number, kind }, payload)?)?,
        };
        self.records.insert(number, record);
        Ok(())
    }

    /// Notices records that are missing before an intact one. They were safe if that was written after they were made so,
    /// which is what its batch says; and what lies between two records of which none is missing was written by nobody.
    fn look_for_gap(&mut self, frame: &Frame<'_>, place: &str, at: usize) {
        let expected = self.last.map_or(frame.number, |last| last + 1);
        let missing = frame.number > expected;
        if missing {
            self.missing.get_or_insert(expected);
            let after = expected.saturating_sub(1);
            self.gap.get_or_insert_with(|| Gap { place: place.to_owned(), at, bytes: 0, after });
        }
        self.damaged |= self.missing.is_some_and(|first| frame.batch > first) || (self.skipped && !missing);
        self.skipped = false;
    }

    fn finish(self, place: &str) -> Contents {
        let nothing = Gap { place: place.to_owned(), at: 0, bytes: 0, after: 0 };
        let condition = match (&self.header, self.gap) {
            // A journal appears whole, with its header.
            (None, gap) => Condition::Damaged(gap.unwrap_or(nothing)),
            (Some(_), None) => Condition::Complete,
            (Some(_), Some(gap)) if self.damaged => Condition::Damaged(gap),
            (Some(_), Some(gap)) => Condition::Torn(gap),
        };
        Contents { header: self.header, records: self.records, condition }
    }
}

/// Reads a journal that may go on in other places. None if there is none.
pub fn read_journals(parts: &[JournalPart], keys: Option<&dyn JournalKeys>) -> Result<Option<Contents>, ReadError> {
    let mut whole: Option<Contents> = None;
    for part in parts {
        let next = read_journal(part, keys)?;
        match &mut whole {
            None => whole = Some(next),
            Some(before) => before.go_on_with(next),
        }
    }
    Ok(whole)
}

impl Contents {
    /// Adds what was written elsewhere because this could not be written any more.
    fn go_on_with(&mut self, next: Contents) {
        let (run, after) = match (&self.header, &next.header) {
            (Some(own), Some(header)) if header.continues && header.run == own.run => (true, header.after),
            // Of an earlier run, and folded already: or this journal would not have begun.
            (Some(_), Some(_)) => return,
            // Which run damaged ones belong to cannot be told; nothing that is true is thrown away.
            _ => (false, 0),
        };
        self.records.extend(next.records);
        let covered = match &self.condition {
            Condition::Complete => true,
            Condition::Torn(gap) => run && after <= gap.after,
            Condition::Damaged(_) => false,
        };
        if covered || matches!(next.condition, Condition::Damaged(_)) {
            self.condition = next.condition;
        }
    }
}
