//! Packages of modules on their way here: what is fetched, copied and selected. How, is known elsewhere.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use groma_fetch::address::RemoteSource;
use groma_fetch::credentials::Token;
use groma_fetch::git::GitSettings;
use groma_fetch::package::{Fetcher, PackageError, select_subdir};
use groma_fetch::progress::Progress;
use groma_model::diag::Diagnostic;
use url::Url;

use crate::online::Online;

/// Directories inside directories; nothing real is deeper.
const MAX_DEPTH: usize = 256;

/// Why a package did not arrive.
pub(super) enum FetchFailure {
    /// We cannot even start.
    NotStarted(Box<Diagnostic>),
    /// Something was wrong with the package or the way to it.
    Problem(String),
}

impl FetchFailure {
    /// As people are told.
    pub(super) fn into_diagnostic(self, told: impl FnOnce(String) -> Diagnostic) -> Diagnostic {
        match self {
            Self::NotStarted(diagnostic) => *diagnostic,
            Self::Problem(problem) => told(problem),
        }
    }

    fn not_started(problem: Diagnostic) -> Self {
        Self::NotStarted(Box::new(problem))
    }

    fn of(problem: PackageError) -> Self {
        let mut text = problem.to_string();
        let mut cause = std::error::Error::source(&problem);
        while let Some(error) = cause {
            let more = error.to_string();
            // Some errors tell their cause already.
            if !text.contains(&more) {
                text = format!("{text}: {more}");
            }
            cause = error.source();
        }
        Self::Problem(text)
    }
}

/// Fetches a package into a directory that does not exist yet.
pub(super) fn fetch(
    online: &Online,
    remote: &RemoteSource,
    (destination, local_files): (&Path, bool),
    progress: &dyn Progress,
) -> Result<(), FetchFailure> {
    let fetcher = fetcher(online, local_files);
    // The directory inside is looked for afterwards, so that its absence has its own words.
    let whole = RemoteSource { address: remote.address.clone(), subdir: None };
    let fetched = online.wait(fetcher.fetch(&whole, destination, progress)).map_err(FetchFailure::not_started)?;
    fetched.map(drop).map_err(FetchFailure::of)
}

/// Fetches an archive from a registry itself.
pub(super) fn fetch_direct(
    online: &Online,
    (url, token): (&Url, Option<Token>),
    destination: &Path,
    progress: &dyn Progress,
) -> Result<(), FetchFailure> {
    let fetcher = fetcher(online, false);
    let fetched = online.wait(fetcher.fetch_archive(url, token, destination, progress));
    fetched.map_err(FetchFailure::not_started)?.map_err(FetchFailure::of)
}

fn fetcher(online: &Online, local_files: bool) -> Fetcher {
    let ssh_command = online.variables().get("GIT_SSH_COMMAND").cloned();
    let defaults = GitSettings::default();
    let git = GitSettings {
        ssh_command,
        local_repositories: defaults.local_repositories && local_files,
        networks: online.networks().cloned(),
        environment: proxies(online),
        ..defaults
    };
    Fetcher { local_files, ..Fetcher::new(online.discovery().client().clone(), git) }
}

/// Which proxies there are, as far as git cannot see it by itself.
fn proxies(online: &Online) -> Vec<(String, String)> {
    const NAMES: [&str; 4] = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"];
    let named =
        online.variables().iter().filter(|(name, _)| NAMES.iter().any(|known| known.eq_ignore_ascii_case(name)));
    named.filter(|_| online.networks().is_some()).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Copies a package that was fetched already. It was judged when it came; links stay links.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if from.symlink_metadata()?.is_symlink() {
        return copy_link(from, to);
    }
    copy_dir(from, to, 0)
}

fn copy_dir(from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    if depth > MAX_DEPTH {
        return Err(io::Error::other("the directories are too deep"));
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_symlink() {
            copy_link(&entry.path(), &target)?;
        } else if kind.is_dir() {
            copy_dir(&entry.path(), &target, depth + 1)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn copy_link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(fs::read_link(from)?, to)
}

#[cfg(not(unix))]
fn copy_link(from: &Path, to: &Path) -> io::Result<()> {
    let target = from.canonicalize()?;
    if target.is_dir() { copy_dir(&target, to, 0) } else { fs::copy(target, to).map(drop) }
}

/// The directory that a path or pattern means, relative to the package.
pub(super) fn select(package: &Path, subdir: &str) -> Result<PathBuf, PackageError> {
    let found = select_subdir(package, subdir)?;
    Ok(found.strip_prefix(package).map(Path::to_owned).unwrap_or(found))
}
