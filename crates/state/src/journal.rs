//! The journal: what a run is about to do and what came of it, written down before the state is. It is read when a run did
//! not end: see `docs/adr/0018-journal-and-backends.md`. When a state is stored is `ledger`'s business.

mod fold;
mod frame;
mod home;
mod reader;
mod record;
mod seal;
mod writer;

#[cfg(test)]
mod tests;

pub use fold::{Conflict, ConflictKind, Damage, FoldError, Folded, Printed, fold};
pub use frame::{RunId, header_of};
pub use home::{FileHome, JournalFile, JournalHome};
pub use reader::{Condition, Contents, Gap, JournalPart, ReadError, read_journal, read_journals};
pub use record::{Action, After, Header, Intent, Operation, Outcome, Record, RecordError, Stamp};
pub use seal::{JournalKeys, SealedKey};
pub use writer::{Change, Journal, JournalError, Mark, Ticket, Trouble};
