//! Repositories: what they have by now, in one short question, and one commit of it.

use std::path::Path;

use groma_fetch::git::{self, GitSettings, Login, References, Remote, RemoteLimits};
use groma_model::version::Version;
use groma_network::Networks;

use super::range::Range;
use super::tree::Tree;
use super::{Limits, SourceError, Trouble};

/// Which commit of a repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Which {
    /// What its `HEAD` stands for.
    Head,
    /// The end of a branch.
    Branch(String),
    /// What a tag is about.
    Tag(String),
    /// The newest version in a range, by tags.
    Newest(String),
    /// One commit.
    Commit(String),
}

/// What is wanted of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// Where it is.
    pub url: String,
    /// Which commit.
    pub which: Which,
    /// Whether repositories inside of it are fetched, too.
    pub submodules: bool,
    /// Who we are there.
    pub login: Login,
}

/// How git is run.
#[derive(Debug, Clone, Default)]
pub struct Manners {
    /// Whether we work for others: nothing of this machine counts, and nothing of it can be fetched.
    pub for_others: bool,
    /// Variables for git: proxies and the like.
    pub environment: Vec<(String, String)>,
    /// Where connections may lead to; everywhere if nothing is said.
    pub networks: Option<Networks>,
}

/// What a repository has by now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The commit.
    pub commit: String,
    /// What people know it by: `main@sha1:…`.
    pub revision: String,
    /// The full name of what leads to it.
    reference: Option<String>,
}

impl Wish {
    /// The address as git takes it. Nothing secret may be in it, as it is shown.
    pub fn address(url: &str, manners: &Manners) -> Result<String, SourceError> {
        let invalid = |message: String| Err(SourceError::new(Trouble::Invalid, message));
        let Some((scheme, rest)) = url.split_once("://") else {
            if url.starts_with('/') && !manners.for_others {
                return Ok(format!("file://{url}"));
            }
            // `user@host:path`, as people write it.
            return match url.split_once(':') {
                Some((host, path)) if host.contains('@') && !host.contains('/') && !path.is_empty() => {
                    Ok(format!("ssh://{host}/{}", path.trim_start_matches('/')))
                }
                _ => invalid(format!(
                    "{url:?} is no address of a repository: write https://…, ssh://… or user@host:path"
                )),
            };
        };
        let authority = rest.split('/').next().unwrap_or_default();
        let user = authority.rsplit_once('@').map(|(user, _)| user);
        let is_http = matches!(scheme, "http" | "https");
        if user.is_some_and(|user| user.contains(':') || is_http) {
            return invalid("the address must not have a user or a password in it; use secretRef".to_owned());
        }
        match scheme {
            "http" | "https" | "ssh" => Ok(url.to_owned()),
            "file" if !manners.for_others => Ok(url.to_owned()),
            other => invalid(format!("repositories are fetched by https, http and ssh, not by {other:?}")),
        }
    }

    fn remote(&self, manners: &Manners) -> Result<Remote, SourceError> {
        let url = Self::address(&self.url, manners)?;
        let is_bare = self.login.identity.is_none() || self.login.known_hosts.is_none();
        if url.starts_with("ssh://") && manners.for_others && is_bare {
            let message = "ssh needs secretRef, a Secret with the keys \"identity\" and \"known_hosts\"";
            return Err(SourceError::new(Trouble::Invalid, message));
        }
        Ok(Remote { url, login: self.login.clone() })
    }

    fn settings(&self, manners: &Manners, limits: &Limits) -> GitSettings {
        let isolated = GitSettings::isolated(manners.environment.clone());
        let usual = GitSettings { environment: manners.environment.clone(), ..GitSettings::default() };
        let base = if manners.for_others { isolated } else { usual };
        GitSettings { submodules: self.submodules, timeout: limits.time, networks: manners.networks.clone(), ..base }
    }

    /// Asks the repository what it has by now.
    pub async fn look(&self, manners: &Manners, limits: &Limits) -> Result<Found, SourceError> {
        let names: Vec<String> = match &self.which {
            Which::Commit(commit) => return Ok(found(commit, None, None)),
            Which::Head => vec!["HEAD".to_owned()],
            Which::Branch(name) => vec![format!("refs/heads/{name}")],
            Which::Tag(name) => vec![format!("refs/tags/{name}"), format!("refs/tags/{name}^{{}}")],
            Which::Newest(_) => vec!["refs/tags/*".to_owned()],
        };
        let range = match &self.which {
            Which::Newest(text) => Some(Range::parse(text)?),
            _ => None,
        };
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let remote = self.remote(manners)?;
        let has = git::references(&remote, &names, &self.settings(manners, limits)).await?;
        self.choose(&has, range.as_ref())
    }

    fn choose(&self, has: &References, range: Option<&Range>) -> Result<Found, SourceError> {
        let missing = |what: String| SourceError::new(Trouble::NotFound, format!("{} has {what}", self.url));
        let of = |reference: String, name: &str, what: &dyn Fn() -> String| {
            let commit = has.commits.get(&reference).ok_or_else(|| missing(what()))?;
            Ok(found(commit, Some(name), Some(reference)))
        };
        match &self.which {
            Which::Commit(commit) => Ok(found(commit, None, None)),
            Which::Head => {
                of("HEAD".to_owned(), has.head.as_deref().unwrap_or("HEAD"), &|| "no HEAD: it is empty".to_owned())
            }
            Which::Branch(name) => of(format!("refs/heads/{name}"), name, &|| format!("no branch {name:?}")),
            Which::Tag(name) => of(format!("refs/tags/{name}"), name, &|| format!("no tag {name:?}")),
            Which::Newest(text) => {
                let tags = has.commits.keys().filter_map(|name| name.strip_prefix("refs/tags/"));
                let versions = tags.filter_map(|tag| Some((Version::parse(tag)?, tag)));
                let fitting = versions.filter(|(version, _)| range.is_some_and(|range| range.admits(version)));
                let newest = fitting.max_by(|(one, a), (other, b)| one.precedence(other).then_with(|| a.cmp(b)));
                let (_, tag) = newest.ok_or_else(|| missing(format!("no tag that is a version in {text:?}")))?;
                of(format!("refs/tags/{tag}"), tag, &String::new)
            }
        }
    }

    /// Fetches what was found into a directory that is made in `folder`.
    pub async fn fetch(
        &self,
        found: &Found,
        folder: &Path,
        manners: &Manners,
        limits: &Limits,
    ) -> Result<Tree, SourceError> {
        let directory = super::tree::directory_in(folder)?;
        let remote = self.remote(manners)?;
        let within = RemoteLimits { bytes: limits.bytes, files: limits.files };
        let settings = self.settings(manners, limits);
        let place = directory.path().join("tree");
        let reference = found.reference.as_deref();
        let done = git::snapshot(&remote, &found.commit, reference, &place, &within, &settings).await?;
        // What leads there may lead elsewhere by now.
        let revision = found.revision.replace(&found.commit, &done.commit);
        Tree::take_in(directory, place, revision, None, *limits).await
    }
}

fn found(commit: &str, name: Option<&str>, reference: Option<String>) -> Found {
    let hash = if commit.len() == 64 { "sha256" } else { "sha1" };
    let revision = match name {
        Some(name) => format!("{name}@{hash}:{commit}"),
        None => format!("{hash}:{commit}"),
    };
    Found { commit: commit.to_owned(), revision, reference }
}

#[cfg(test)]
mod tests;
