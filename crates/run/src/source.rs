//! Trees of files that configurations are in: fetched from repositories ([`git`]) or as artifacts ([`artifact`]), within limits, checked and
//! laid down in a directory ([`tree`]); and what of them matters to a root module ([`relevance`]). When they are fetched is for others to say.

pub mod artifact;
pub mod git;
pub mod range;
pub mod relevance;
pub mod tree;

use std::time::Duration;

use groma_fetch::archive::ArchiveError;
use groma_fetch::git::GitError;
use groma_fetch::http::HttpError;

pub use groma_fetch::git::Login;

/// What a source may be. More is refused, with the limit in the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// What is fetched, and what that unpacks to.
    pub bytes: u64,
    /// Files, links followed.
    pub files: u64,
    /// How long fetching may take.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 256 << 20, files: 50_000, time: Duration::from_mins(5) }
    }
}

/// Of what kind a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// What is asked for cannot be asked for: an address, a range, a combination.
    Invalid,
    /// It is not there: the repository, the branch, the tag, the commit, the artifact.
    NotFound,
    /// We may not.
    Denied,
    /// It is more than it may be.
    TooLarge,
    /// It is not what it is said to be, or has something in it that is refused.
    Damaged,
    /// It may go well the next time.
    Passing,
}

/// Why a source could not be fetched. Nothing secret is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SourceError {
    /// Of what kind that is.
    pub kind: Trouble,
    /// For people.
    pub message: String,
}

impl SourceError {
    /// With these words.
    pub fn new(kind: Trouble, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl From<GitError> for SourceError {
    fn from(problem: GitError) -> Self {
        let kind = match &problem {
            GitError::Unsafe(_) | GitError::SshKey | GitError::Refused { .. } => Trouble::Invalid,
            GitError::Reference { .. } => Trouble::NotFound,
            GitError::TooLarge { .. } | GitError::TooMany { .. } => Trouble::TooLarge,
            GitError::Link { .. } => Trouble::Damaged,
            GitError::Failed { message, .. } => said_by_git(message),
            GitError::NotAvailable(_) | GitError::Timeout { .. } | GitError::Write { .. } => Trouble::Passing,
        };
        Self::new(kind, problem.to_string())
    }
}

/// Git has no other way to say it.
fn said_by_git(message: &str) -> Trouble {
    const DENIED: [&str; 6] = [
        "Authentication failed",
        "could not read Username",
        "could not read Password",
        "Permission denied",
        "Host key verification failed",
        "error: 403",
    ];
    const MISSING: [&str; 4] = ["not found", "does not exist", "does not appear to be a git repository", "not our ref"];
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    match (says(&DENIED), says(&MISSING)) {
        (true, _) => Trouble::Denied,
        (false, true) => Trouble::NotFound,
        (false, false) => Trouble::Passing,
    }
}

impl From<HttpError> for SourceError {
    fn from(problem: HttpError) -> Self {
        let kind = match &problem {
            HttpError::Address { .. } | HttpError::Redirect { .. } => Trouble::Invalid,
            HttpError::TooLarge { .. } => Trouble::TooLarge,
            other => match other.status().map(|status| status.as_u16()) {
                Some(401 | 403) => Trouble::Denied,
                Some(404 | 410) => Trouble::NotFound,
                _ => Trouble::Passing,
            },
        };
        Self::new(kind, problem.to_string())
    }
}

impl From<ArchiveError> for SourceError {
    fn from(problem: ArchiveError) -> Self {
        let kind = match &problem {
            ArchiveError::TooLarge { .. } | ArchiveError::TooMany { .. } => Trouble::TooLarge,
            ArchiveError::Write { .. } => Trouble::Passing,
            _ => Trouble::Damaged,
        };
        Self::new(kind, problem.to_string())
    }
}
