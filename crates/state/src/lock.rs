//! Locks: who holds one, why it could not be had, and waiting for it. How a store locks is its own business.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use groma_model::codec::json::{Json, write_string};
use groma_model::diag::Diagnostic;

use crate::StateStore;
use crate::fields::At;

/// Who holds a lock and what for. Other tools read and write the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LockInfo {
    /// What the lock is named by.
    pub id: String,
    /// What it is held for, for example `OperationTypeApply`.
    pub operation: String,
    /// Anything else that the holder wants to say.
    pub info: String,
    /// `user@host`.
    pub who: String,
    /// The version of the tool.
    pub version: String,
    /// Since when, as RFC 3339 text.
    pub created: String,
    /// Of which state; if it is empty, the store says.
    pub path: String,
}

impl LockInfo {
    fn fields(&self) -> [(&'static str, &str); 7] {
        [
            ("ID", &self.id),
            ("Operation", &self.operation),
            ("Info", &self.info),
            ("Who", &self.who),
            ("Version", &self.version),
            ("Created", &self.created),
            ("Path", &self.path),
        ]
    }

    /// As the JSON that stores keep.
    pub fn to_json(&self) -> String {
        let mut out = String::from("{");
        for (name, value) in self.fields() {
            if out.len() > 1 {
                out.push(',');
            }
            write_string(&mut out, name);
            out.push(':');
            write_string(&mut out, value);
        }
        out.push('}');
        out
    }

    /// From the JSON that stores keep. None if it is something else; what is missing is empty.
    pub fn from_json(text: &str) -> Option<LockInfo> {
        let json = Json::parse(text).ok()?;
        let Json::Object(_) = json else { return None };
        let at = At { json: &json, place: String::new() };
        let text = |name: &str| at.text(name).ok().map(|text| text.unwrap_or_default().into_owned());
        Some(LockInfo {
            id: text("ID")?,
            operation: text("Operation")?,
            info: text("Info")?,
            who: text("Who")?,
            version: text("Version")?,
            created: text("Created")?,
            path: text("Path")?,
        })
    }

    /// When it was taken, as people know it from other tools.
    fn created_for_people(&self) -> String {
        match self.created.strip_suffix('Z').and_then(|utc| utc.split_once('T')) {
            Some((date, time)) => format!("{date} {time} +0000 UTC"),
            None => self.created.clone(),
        }
    }
}

impl fmt::Display for LockInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Lock Info:")?;
        for (name, value) in [
            ("ID:", &self.id),
            ("Path:", &self.path),
            ("Operation:", &self.operation),
            ("Who:", &self.who),
            ("Version:", &self.version),
            ("Created:", &self.created_for_people()),
            ("Info:", &self.info),
        ] {
            writeln!(f, "  {name:<10} {value}")?;
        }
        Ok(())
    }
}

/// Why a lock could not be taken or given back.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else has it.
    #[error("{reason}{}", info.as_ref().map(|info| format!("\n{info}")).unwrap_or_default())]
    Held {
        /// Why, in the words of the store.
        reason: String,
        /// Who, if that is known.
        info: Option<Box<LockInfo>>,
        /// The process, if it is on this machine and known.
        process: Option<u32>,
    },
    /// This store has taken it already.
    #[error("the state is already locked by this run")]
    AlreadyLocked,
    /// Nobody has it.
    #[error("the state is not locked")]
    NotLocked,
    /// It has another name.
    #[error(
        "invalid lock id: {given:?}. current id: {:?}{}",
        info.as_ref().map_or("", |info| info.id.as_str()),
        info.as_ref().map(|info| format!("\n{info}")).unwrap_or_default()
    )]
    WrongId {
        /// The name that was given.
        given: String,
        /// The lock that is there.
        info: Option<Box<LockInfo>>,
    },
    /// A file is in the way.
    #[error("could not {doing} {path}: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The server is away, refuses, or answers nonsense.
    #[error("could not {doing}: {source}")]
    Remote {
        /// What was tried, with what.
        doing: String,
        /// Why it failed.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl LockError {
    /// Whether it may work later.
    pub fn is_retriable(&self) -> bool {
        matches!(self, LockError::Held { .. })
    }

    /// For a lock that could not be taken.
    pub fn acquiring(&self) -> Diagnostic {
        let detail = format!(
            "Error message: {self}\n\nA lock protects the state from being written by several runs at the same time. \
             Resolve what is above and try again, or let the run wait for the lock with \"-lock-timeout\". Most \
             commands can go without a lock with \"-lock=false\", which is not recommended."
        );
        let mut diagnostic = Diagnostic::error("Error acquiring the state lock", detail);
        if let LockError::Held { process: Some(process), .. } = self {
            diagnostic.hints.push(format!("Process {process} on this machine holds the lock."));
        }
        diagnostic
    }

    /// For a lock that could not be taken away from somebody else.
    pub fn forcing(&self) -> Diagnostic {
        if let LockError::Held { info, process, .. } = self {
            let detail = "Local state cannot be unlocked by another process.".to_owned();
            let mut diagnostic = Diagnostic::error("State locked by another local process", detail);
            let who =
                info.as_ref().map_or_else(|| "It".to_owned(), |info| format!("{} of {}", info.operation, info.who));
            let process = process.map(|process| format!(" (process {process})")).unwrap_or_default();
            diagnostic.hints.push(format!("{who}{process} still runs: the lock goes when that ends."));
            return diagnostic;
        }
        Diagnostic::error("Failed to unlock state", self.to_string())
    }

    /// For a lock that could not be given back.
    pub fn releasing(&self) -> Diagnostic {
        let detail = format!(
            "Error message: {self}\n\nThe lock may or may not be gone. If later runs find the state locked although \
             nothing is running, remove the lock with \"force-unlock\"."
        );
        Diagnostic::error("Error releasing the state lock", detail)
    }
}

/// Time, as whoever waits for a lock knows it.
pub trait Pause {
    /// How much time has gone by since the waiting began.
    fn elapsed(&self) -> Duration;

    /// Waits that long. False if the waiting is to end now.
    fn pause(&mut self, duration: Duration) -> bool;
}

/// The first wait; each one is twice as long as the last.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait: a holder that has fallen silent is to be replaced within twenty seconds, of which it has had fifteen to speak.
const LONGEST_WAIT: Duration = Duration::from_secs(4);

/// Takes a lock, and tries again until the time is up if somebody else has it.
pub fn lock_within(
    store: &mut dyn StateStore,
    info: &LockInfo,
    timeout: Duration,
    pause: &mut dyn Pause,
) -> Result<(), LockError> {
    let mut wait = FIRST_WAIT;
    loop {
        let error = match store.lock(info) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        let left = timeout.saturating_sub(pause.elapsed());
        if !error.is_retriable() || left.is_zero() || !pause.pause(wait.min(left)) {
            return Err(error);
        }
        wait = LONGEST_WAIT.min(wait * 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{State, StoreError, Version};

    /// A store that somebody holds for a while.
    struct Busy(u32);

    impl StateStore for Busy {
        fn read(&mut self) -> Result<Option<State>, StoreError> {
            Ok(None)
        }

        fn write(&mut self, _: Option<&Version>, _: &State) -> Result<(), StoreError> {
            Ok(())
        }

        fn lock(&mut self, _: &LockInfo) -> Result<(), LockError> {
            if self.0 == 0 {
                return Ok(());
            }
            self.0 -= 1;
            Err(LockError::Held { reason: "busy".to_owned(), info: None, process: None })
        }

        fn unlock(&mut self, _: &str) -> Result<(), LockError> {
            Err(LockError::NotLocked)
        }

        fn force_unlock(&mut self, _: &str) -> Result<(), LockError> {
            Err(LockError::NotLocked)
        }
    }

    #[derive(Default)]
    struct Waits(Vec<u64>);

    impl Pause for Waits {
        fn elapsed(&self) -> Duration {
            Duration::from_secs(self.0.iter().sum())
        }

        fn pause(&mut self, duration: Duration) -> bool {
            self.0.push(duration.as_secs());
            duration.as_secs() != 3
        }
    }

    fn waits(busy: u32, timeout: u64) -> (Vec<u64>, bool) {
        let mut waits = Waits::default();
        let locked = lock_within(&mut Busy(busy), &LockInfo::default(), Duration::from_secs(timeout), &mut waits);
        (waits.0, locked.is_ok())
    }

    #[test]
    fn waits_grow_and_end() {
        assert_eq!(waits(0, 0), (vec![], true));
        assert_eq!(waits(1, 0), (vec![], false));
        assert_eq!(waits(7, 1000), (vec![1, 2, 4, 4, 4, 4, 4], true));
        // The last try is when the time is up.
        assert_eq!(waits(9, 12), (vec![1, 2, 4, 4, 1], false));
        assert_eq!(waits(5, 12), (vec![1, 2, 4, 4, 1], true));
        // Interrupted.
        assert_eq!(waits(9, 6), (vec![1, 2, 3], false));
    }

    #[test]
    fn a_lock_is_described_as_people_know_it() {
        let info = LockInfo {
            id: "0b6fa3d8".to_owned(),
            operation: "OperationTypeApply".to_owned(),
            who: "me@here".to_owned(),
            version: "1.12.6".to_owned(),
            created: "2026-01-02T03:04:05.678Z".to_owned(),
            path: "terraform.tfstate".to_owned(),
            info: String::new(),
        };
        let json = info.to_json();
        assert_eq!(
            json,
            "{\"ID\":\"0b6fa3d8\",\"Operation\":\"OperationTypeApply\",\"Info\":\"\",\"Who\":\"me@here\",\
             \"Version\":\"1.12.6\",\"Created\":\"2026-01-02T03:04:05.678Z\",\"Path\":\"terraform.tfstate\"}"
        );
        assert_eq!(LockInfo::from_json(&json).unwrap(), info);
        assert_eq!(LockInfo::from_json("[]"), None);
        assert_eq!(LockInfo::from_json("{\"ID\": 3}"), None);
        let held = LockError::Held {
            reason: "resource temporarily unavailable".to_owned(),
            info: Some(Box::new(info)),
            process: Some(7),
        };
        assert_eq!(
            held.to_string(),
            "resource temporarily unavailable\nLock Info:\n  ID:        0b6fa3d8\n  Path:      terraform.tfstate\n  \
             Operation: OperationTypeApply\n  Who:       me@here\n  Version:   1.12.6\n  \
             Created:   2026-01-02 03:04:05.678 +0000 UTC\n  Info:      \n"
        );
        assert_eq!(held.acquiring().summary, "Error acquiring the state lock");
        assert_eq!(held.acquiring().hints, ["Process 7 on this machine holds the lock."]);
        assert_eq!(held.forcing().summary, "State locked by another local process");
        assert!(held.forcing().hints[0].starts_with("OperationTypeApply of me@here (process 7)"));
        assert_eq!(LockError::NotLocked.forcing().detail, "the state is not locked");
    }
}
