//! Repositories that are looked at again and again: what they have is asked for first, and one commit of it fetched, without its history and
//! within limits.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::command::Git;
use super::login::{Login, Prepared};
use super::{CheckedOut, GitError, GitSettings, safety, worktree};
use crate::address::GitSource;
use crate::redact;

/// A repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// Where it is. Nothing secret is in it.
    pub url: String,
    /// Who we are there.
    pub login: Login,
}

/// What a repository may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemoteLimits {
    /// What is fetched of it, packed; and all files together, unpacked.
    pub bytes: u64,
    /// How many files.
    pub files: u64,
}

impl Default for RemoteLimits {
    fn default() -> Self {
        Self { bytes: 256 << 20, files: 50_000 }
    }
}

/// What a repository has, as far as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct References {
    /// The branch that `HEAD` stands for.
    pub head: Option<String>,
    /// Commits by their full names, such as `refs/heads/main`. Annotated tags stand for what they are about.
    pub commits: BTreeMap<String, String>,
}

/// Asks a repository what it has. Names are whole (`HEAD`, `refs/heads/main`) or have a star.
pub async fn references(remote: &Remote, names: &[&str], settings: &GitSettings) -> Result<References, GitError> {
    let source = checked(remote, settings)?;
    let login = remote.login.prepare(&remote.url)?;
    let work = async {
        let git = Git::new(settings, &source, Path::new("."), None).await?.logged_in(&login);
        let listed = git.list_remote(names).await?;
        Ok(read(&listed))
    };
    within(settings.timeout, "ls-remote", remote, work).await
}

/// Fetches one commit into a directory that is empty or does not exist. If it cannot be had by its name, `reference` is fetched, and what that
/// stands for by now. After an error, part of it may be there: the caller removes it.
pub async fn snapshot(
    remote: &Remote,
    commit: &str,
    reference: Option<&str>,
    destination: &Path,
    limits: &RemoteLimits,
    settings: &GitSettings,
) -> Result<CheckedOut, GitError> {
    let source = checked(remote, settings)?;
    let login = remote.login.prepare(&remote.url)?;
    let work = async {
        let git = Git::new(settings, &source, destination, None).await?.logged_in(&login);
        git.begin().await?;
        let commit = fetch(&git, commit, reference, limits).await?;
        let (files, bytes) = git.measure(&commit).await?;
        if files > limits.files {
            return Err(GitError::TooMany { url: redact::text(&remote.url), limit: limits.files });
        }
        if bytes > limits.bytes {
            return Err(GitError::TooLarge { url: redact::text(&remote.url), limit: limits.bytes });
        }
        git.check_out(&commit).await?;
        if settings.submodules && destination.join(".gitmodules").symlink_metadata().is_ok() {
            git.limited(limits.bytes.saturating_mul(2), git.update_submodules()).await?;
        }
        Ok(CheckedOut { commit })
    };
    let checked_out = within(settings.timeout, "fetch", remote, work).await?;
    let root = destination.to_owned();
    let judged = tokio::task::spawn_blocking(move || worktree::judge(&root, false)).await;
    judged.unwrap_or_else(|error| {
        Err(GitError::Write { path: destination.display().to_string(), source: std::io::Error::other(error) })
    })?;
    Ok(checked_out)
}

async fn fetch(
    git: &Git<'_>,
    commit: &str,
    reference: Option<&str>,
    limits: &RemoteLimits,
) -> Result<String, GitError> {
    let by_commit = git.limited(limits.bytes, git.fetch_shallow(commit)).await;
    let problem = match by_commit {
        Ok(()) => return git.required(commit).await,
        Err(problem) => problem,
    };
    // Not every server gives out commits by their names, and it may be gone by now.
    let (GitError::Failed { .. }, Some(reference)) = (&problem, reference) else { return Err(problem) };
    git.limited(limits.bytes, git.fetch_shallow(reference)).await?;
    git.required("FETCH_HEAD").await
}

fn checked(remote: &Remote, settings: &GitSettings) -> Result<GitSource, GitError> {
    let source = GitSource { url: remote.url.clone(), reference: None, depth: Some(1), ssh_key: None };
    safety::check_source(&source, settings.local_repositories)?;
    Ok(source)
}

async fn within<T>(
    timeout: Duration,
    action: &'static str,
    remote: &Remote,
    work: impl Future<Output = Result<T, GitError>>,
) -> Result<T, GitError> {
    let elapsed = |_| GitError::Timeout { action, url: redact::text(&remote.url), seconds: timeout.as_secs() };
    tokio::time::timeout(timeout, work).await.map_err(elapsed)?
}

fn read(listed: &str) -> References {
    let mut found = References::default();
    for line in listed.lines() {
        let Some((what, name)) = line.split_once('\t') else { continue };
        match what.strip_prefix("ref: ") {
            Some(branch) if name == "HEAD" => found.head = branch.strip_prefix("refs/heads/").map(str::to_owned),
            Some(_) => {}
            None => {
                // What a tag is about comes after the tag.
                let name = name.strip_suffix("^{}").unwrap_or(name);
                found.commits.insert(name.to_owned(), what.to_owned());
            }
        }
    }
    found
}

impl<'a> Git<'a> {
    fn logged_in(mut self, login: &'a Prepared) -> Self {
        self.login = Some(login);
        self
    }

    /// Does something that fills the destination, as long as it does not become larger than that.
    async fn limited<T>(&self, limit: u64, work: impl Future<Output = Result<T, GitError>>) -> Result<T, GitError> {
        const OFTEN: Duration = Duration::from_millis(100);
        tokio::pin!(work);
        loop {
            if let Ok(done) = tokio::time::timeout(OFTEN, &mut work).await {
                return done;
            }
            let directory = self.destination.to_owned();
            let size = tokio::task::spawn_blocking(move || size_of(&directory)).await.unwrap_or_default();
            if size > limit {
                // Dropping the work ends git.
                return Err(GitError::TooLarge { url: self.url(), limit });
            }
        }
    }
}

/// How much there is below a directory. What goes away meanwhile is not there.
fn size_of(directory: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(directory) else { return 0 };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size_of(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

#[cfg(test)]
mod tests;
