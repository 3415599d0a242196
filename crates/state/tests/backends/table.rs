//! The table, with what each cell means for the model.

use std::fmt;

/// Where a journal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JournalPlace {
    /// Beside the state.
    Beside,
    /// On the machine that runs.
    Spool,
    /// Objects where the state is, one for each sync.
    Companion,
}

/// What becomes of a lock when its holder is silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LockKind {
    /// It ends with the process.
    Process,
    /// It ends with the connection.
    Connection,
    /// It is taken over after a while.
    Lease,
}

/// What keeps a writer from overwriting what it has not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    /// The store compares versions, whoever has the lock.
    Version(&'static str),
    /// The store looks who has the lock; versions are compared before.
    LockId(&'static str),
}

/// One backend.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) journal: JournalPlace,
    pub(crate) commit: &'static str,
    pub(crate) lock: LockKind,
    pub(crate) token: Token,
}

pub(crate) const ROWS: &[Row] = &[
    Row {
        name: "local",
        journal: JournalPlace::Beside,
        commit: "rename, then sync of the folder",
        lock: LockKind::Process,
        token: Token::Version("lineage, serial and the file itself, under its lock"),
    },
    Row {
        name: "http",
        journal: JournalPlace::Spool,
        commit: "the answer to the request",
        lock: LockKind::Lease,
        token: Token::LockId("the id of the lock, which the server checks, and the serial read before"),
    },
    Row {
        name: "kubernetes",
        journal: JournalPlace::Companion,
        commit: "update of the Secret",
        lock: LockKind::Lease,
        token: Token::Version("resourceVersion of the Secret"),
    },
    Row {
        name: "pg",
        journal: JournalPlace::Companion,
        commit: "commit of the transaction",
        lock: LockKind::Connection,
        token: Token::Version("digest of the row, compared in the transaction"),
    },
    Row {
        name: "s3",
        journal: JournalPlace::Companion,
        commit: "conditional write of the object",
        lock: LockKind::Lease,
        token: Token::Version("ETag of the object"),
    },
];

/// As it is written down.
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let journal = match self.journal {
            JournalPlace::Beside => "in a file beside the state",
            JournalPlace::Spool => "in a spool on the machine that runs",
            JournalPlace::Companion => "in companion objects, one for each sync",
        };
        let stock = match self.lock {
            LockKind::Process | LockKind::Connection => "the last snapshot, not locked",
            LockKind::Lease => "the last snapshot, locked",
        };
        let takeover = match (self.lock, self.journal) {
            (LockKind::Process, _) => "at once, the system drops the lock of a dead process",
            (LockKind::Connection, _) => "at once, the server drops the lock of a dead connection",
            (LockKind::Lease, JournalPlace::Spool) => {
                "after 15 s of silence, or at once by the machine that has the spool"
            }
            (LockKind::Lease, _) => "after 15 s of silence",
        };
        let (Token::Version(token) | Token::LockId(token)) = self.token;
        write!(f, "| {} | {journal} | {} | {stock} | {takeover} | {token} |", self.name, self.commit)
    }
}
