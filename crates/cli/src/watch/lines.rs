//! What is said about a run, in the words that people and their scripts know.

use std::time::Duration;

use groma_model::address::{AbsInstance, DeposedKey};
use groma_run::engine::change::Action;
use groma_run::engine::events::{EphemeralAction, ShownId};

/// Ids that are longer are cut in the middle where they are repeated.
const MAX_ID: usize = 80;

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doing {
    Refresh,
    Import,
    Create,
    Update,
    Delete,
    Read,
    Open,
    Renew,
    Close,
    Wait,
}

impl Doing {
    /// What a planned action means for one object. Replacements come as two steps.
    pub(super) fn of(action: Action, is_deposed: bool, is_first_half: bool) -> Option<Self> {
        match action {
            Action::NoOp | Action::Forget => None,
            Action::Create | Action::ForgetThenCreate => Some(Self::Create),
            Action::Read => Some(Self::Read),
            Action::Update => Some(Self::Update),
            Action::Delete => Some(Self::Delete),
            Action::CreateThenDelete if is_deposed => Some(Self::Delete),
            Action::CreateThenDelete => Some(Self::Create),
            Action::DeleteThenCreate if is_first_half => Some(Self::Delete),
            Action::DeleteThenCreate => Some(Self::Create),
        }
    }

    /// What is done with an ephemeral resource.
    pub(super) fn of_ephemeral(action: EphemeralAction) -> Self {
        match action {
            EphemeralAction::Open => Self::Open,
            EphemeralAction::Renew => Self::Renew,
            EphemeralAction::Close => Self::Close,
        }
    }

    /// In the middle of a sentence.
    pub(super) fn verb(self) -> &'static str {
        match self {
            Self::Refresh => "refreshing",
            Self::Import => "importing",
            Self::Create => "creating",
            Self::Update => "modifying",
            Self::Delete => "destroying",
            Self::Read => "reading",
            Self::Open => "opening",
            Self::Renew => "renewing",
            Self::Close => "closing",
            Self::Wait => "waiting for it to be ready",
        }
    }

    fn begins(self) -> &'static str {
        match self {
            Self::Refresh => "Refreshing state...",
            Self::Import => "Preparing import...",
            Self::Create => "Creating...",
            Self::Update => "Modifying...",
            Self::Delete => "Destroying...",
            Self::Read => "Reading...",
            Self::Open => "Opening...",
            Self::Renew => "Renewing...",
            Self::Close => "Closing...",
            Self::Wait => "Waiting until it is ready...",
        }
    }

    fn is_complete(self) -> &'static str {
        match self {
            Self::Refresh => "Refresh complete",
            Self::Import => "Import prepared",
            Self::Create => "Creation complete",
            Self::Update => "Modifications complete",
            Self::Delete => "Destruction complete",
            Self::Read => "Read complete",
            Self::Open => "Open complete",
            Self::Renew => "Renew complete",
            Self::Close => "Close complete",
            Self::Wait => "Ready",
        }
    }
}

/// An object, as it is called.
pub(super) fn object(address: &AbsInstance, deposed: Option<&DeposedKey>) -> String {
    match deposed {
        None => address.to_string(),
        Some(key) => format!("{address} (deposed object {})", key.as_str()),
    }
}

/// Something begins.
pub(super) fn begin(object: &str, doing: Doing, id: Option<&ShownId>) -> String {
    format!("{object}: {}{}", doing.begins(), in_brackets(id))
}

/// Something is still under way.
pub(super) fn still(object: &str, doing: Doing, id: Option<&ShownId>, elapsed: Duration) -> String {
    let id = id.map(|id| format!("{}={}, ", id.key, shortened(&id.value))).unwrap_or_default();
    format!("{object}: Still {}... [{id}{} elapsed]", doing.verb(), duration(elapsed))
}

/// Something is still waited for.
pub(super) fn still_waiting(object: &str, seen: Option<&str>, elapsed: Duration) -> String {
    let seen = seen.map(|seen| format!(", {seen}")).unwrap_or_default();
    format!("{object}: Still waiting until it is ready... [{} elapsed{seen}]", duration(elapsed))
}

/// Something is done.
pub(super) fn done(object: &str, doing: Doing, id: Option<&ShownId>, elapsed: Duration) -> String {
    format!("{object}: {} after {}{}", doing.is_complete(), duration(elapsed), in_brackets(id))
}

/// Something was made in part.
pub(super) fn kept(object: &str, id: Option<&ShownId>) -> String {
    format!("{object}: Created in part, and kept{}", in_brackets(id))
}

/// What a provisioner printed. Nothing if that was only space.
pub(super) fn output(address: &AbsInstance, provisioner: &str, text: &str) -> Vec<String> {
    let lines = text.split(['\n', '\r']).map(str::trim_end).filter(|line| !line.is_empty());
    lines.map(|line| format!("{address} ({provisioner}): {line}")).collect()
}

fn in_brackets(id: Option<&ShownId>) -> String {
    id.map(|id| format!(" [{}={}]", id.key, id.value)).unwrap_or_default()
}

/// An id with its middle left out, if it is long.
fn shortened(id: &str) -> String {
    let characters: Vec<char> = id.chars().collect();
    if characters.len() <= MAX_ID {
        return id.to_owned();
    }
    let head: String = characters[..MAX_ID / 2 - 1].iter().collect();
    let tail: String = characters[characters.len() - (MAX_ID / 2 - 2)..].iter().collect();
    format!("{head}...{tail}")
}

/// A time in whole seconds, as `1m5s`.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds}s"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}

/// The time of day in front of a line.
pub(super) fn stamp(of_day: Duration) -> String {
    let seconds = of_day.as_secs();
    format!("{:02}:{:02}:{:02}Z ", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
