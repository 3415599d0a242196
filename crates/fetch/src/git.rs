//! Git repositories, through the `git` program, so that people's credentials and settings hold. What a repository
//! contains and what an address says must not be able to run anything: see `command.rs` for what is switched off.

mod command;
mod guard;
mod login;
mod process;
mod remote;
mod safety;
mod way;
mod worktree;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine;
use groma_network::{Networks, Refused};
use tempfile::NamedTempFile;
use thiserror::Error;

use crate::address::GitSource;
use command::Git;

pub use login::Login;
pub use remote::{References, Remote, RemoteLimits, references, snapshot};

/// How git is run.
#[derive(Debug, Clone)]
pub struct GitSettings {
    /// The program.
    pub program: PathBuf,
    /// How long everything together may take.
    pub timeout: Duration,
    /// Whether repositories inside the repository are fetched too.
    pub submodules: bool,
    /// Whether `.git` stays.
    pub keep_repository: bool,
    /// Whether `file://` repositories may be fetched. Never those of submodules.
    pub local_repositories: bool,
    /// Whether the settings of the user (credential helpers, `insteadOf`) hold. If not, the environment of the program
    /// is empty but for `PATH` and what is in `environment`.
    pub user_config: bool,
    /// Whether the settings of the machine hold.
    pub system_config: bool,
    /// What to start instead of `ssh` (the caller's `GIT_SSH_COMMAND`).
    pub ssh_command: Option<String>,
    /// More variables for git.
    pub environment: Vec<(String, String)>,
    /// Where connections may lead. None for everywhere.
    pub networks: Option<Networks>,
}

impl Default for GitSettings {
    fn default() -> Self {
        Self {
            program: "git".into(),
            timeout: Duration::from_mins(15),
            submodules: true,
            keep_repository: false,
            local_repositories: true,
            user_config: true,
            system_config: false,
            ssh_command: None,
            environment: Vec::new(),
            networks: None,
        }
    }
}

impl GitSettings {
    /// For running on behalf of others: nothing of this machine counts, and nothing of it can be fetched.
    pub fn isolated(environment: Vec<(String, String)>) -> Self {
        Self { user_config: false, local_repositories: false, environment, ..Self::default() }
    }
}

/// Why a repository was not fetched. What git says is shown without passwords.
#[derive(Debug, Error)]
pub enum GitError {
    /// There is no git.
    #[error("git must be available and on the PATH: {0}")]
    NotAvailable(String),
    /// The address or the reference could make git do something else.
    #[error("refused for safety: {0}")]
    Unsafe(String),
    /// It is where nothing may be connected to, or leads there.
    #[error("{url} is not fetched: {refused}")]
    Refused {
        /// Where.
        url: String,
        /// What leads there.
        refused: Refused,
    },
    /// Git says no.
    #[error("git {action} of {url} failed: {message}")]
    Failed {
        /// What was tried.
        action: &'static str,
        /// Where.
        url: String,
        /// What git says.
        message: String,
    },
    /// It took too long.
    #[error("git {action} of {url} did not end within {seconds} seconds")]
    Timeout {
        /// What was tried.
        action: &'static str,
        /// Where.
        url: String,
        /// The limit.
        seconds: u64,
    },
    /// The reference does not exist.
    #[error("invalid ref: {reference:?} is neither a branch, a tag nor a commit of {url}")]
    Reference {
        /// Which one.
        reference: String,
        /// Where.
        url: String,
    },
    /// It is larger than it may be.
    #[error("{url} is larger than the limit of {limit} bytes")]
    TooLarge {
        /// Where.
        url: String,
        /// The limit.
        limit: u64,
    },
    /// It has more files than it may have.
    #[error("{url} has more files than the limit of {limit}")]
    TooMany {
        /// Where.
        url: String,
        /// The limit.
        limit: u64,
    },
    /// The key is no key.
    #[error("the sshkey parameter is not valid base64")]
    SshKey,
    /// What was checked out leads elsewhere.
    #[error("the repository contains the unsafe link {name:?} to {target:?}, which leads outside")]
    Link {
        /// Its name.
        name: String,
        /// Where it leads.
        target: String,
    },
    /// The file system says no.
    #[error("cannot write {path}: {source}")]
    Write {
        /// What.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
}

/// What was checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedOut {
    /// The commit.
    pub commit: String,
}

/// Fetches a repository into a directory that is empty or does not exist, and checks out what is asked for. After an
/// error, part of it may be there: the caller removes it.
pub async fn checkout(source: &GitSource, destination: &Path, settings: &GitSettings) -> Result<CheckedOut, GitError> {
    safety::check_source(source, settings.local_repositories)?;
    let key = source.ssh_key.as_deref().map(key_file).transpose()?;
    let work = async {
        let git = Git::new(settings, source, destination, key.as_ref().map(NamedTempFile::path)).await?;
        git.clone_repository().await?;
        let commit = git.resolve().await?;
        git.check_out(&commit).await?;
        if settings.submodules && destination.join(".gitmodules").symlink_metadata().is_ok() {
            git.update_submodules().await?;
        }
        Ok(CheckedOut { commit })
    };
    let timeout = |_| GitError::Timeout {
        action: "checkout",
        url: crate::redact::text(&source.url),
        seconds: settings.timeout.as_secs(),
    };
    let checked_out = tokio::time::timeout(settings.timeout, work).await.map_err(timeout)??;
    let (root, keep) = (destination.to_owned(), settings.keep_repository);
    let judged = tokio::task::spawn_blocking(move || worktree::judge(&root, keep)).await;
    judged.unwrap_or_else(|error| {
        Err(GitError::Write { path: destination.display().to_string(), source: std::io::Error::other(error) })
    })?;
    Ok(checked_out)
}

/// A file that only we can read (temporary files are made so) with the key in it.
fn key_file(encoded: &str) -> Result<NamedTempFile, GitError> {
    // A plus in a parameter is a space to those who read parameters; keys have many.
    let encoded = encoded.replace(' ', "+");
    let key = base64::engine::general_purpose::STANDARD.decode(encoded).map_err(|_| GitError::SshKey)?;
    let write = |source| GitError::Write { path: "the SSH key".to_owned(), source };
    let mut file = tempfile::Builder::new().prefix("groma-key-").tempfile().map_err(write)?;
    file.write_all(&key).and_then(|()| file.flush()).map_err(write)?;
    Ok(file)
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
