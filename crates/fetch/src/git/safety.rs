//! What an address and a reference may look like. Git has been made to run commands through both.

use super::GitError;
use crate::address::GitSource;

const MAX_LENGTH: usize = 4096;

pub(super) fn check_source(source: &GitSource, local: bool) -> Result<(), GitError> {
    check_url(&source.url, local)?;
    source.reference.as_deref().map_or(Ok(()), check_reference)
}

fn refuse<T>(reason: impl Into<String>) -> Result<T, GitError> {
    Err(GitError::Unsafe(reason.into()))
}

fn check_url(url: &str, local: bool) -> Result<(), GitError> {
    if url.len() > MAX_LENGTH || url.chars().any(char::is_control) {
        return refuse("the repository's address is too long or has control characters");
    }
    // `ext::command`, `fd::`, `-option`, `host:path` and plain paths have no `://` or something in front of it.
    let Some((scheme, rest)) = url.split_once("://") else {
        return refuse(format!("{:?} is not the URL of a repository", crate::redact::text(url)));
    };
    match scheme.to_ascii_lowercase().as_str() {
        "https" | "http" | "ssh" | "git" | "git+ssh" | "ssh+git" => check_authority(rest),
        "file" if !local => refuse("repositories of this machine may not be fetched here"),
        "file" if rest.starts_with('/') => Ok(()),
        "file" => refuse("a file:// address must have an absolute path"),
        _ => refuse(format!("git may fetch by https, http, ssh and git only, not by {scheme:?}")),
    }
}

/// Neither user, host nor path may look like an option to the program that connects.
fn check_authority(rest: &str) -> Result<(), GitError> {
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    if host.is_empty() {
        return refuse("the repository's address has no host");
    }
    // Programs decode before they use: what is hidden by escapes must not count as harmless.
    let starts_with_dash = |text: &str| text.starts_with('-') || text.to_ascii_lowercase().starts_with("%2d");
    if starts_with_dash(user) || starts_with_dash(host) || starts_with_dash(path.trim_start_matches('/')) {
        return refuse("a part of the repository's address begins with a dash, as options do");
    }
    if host.contains(char::is_whitespace) {
        return refuse("the repository's host has spaces");
    }
    Ok(())
}

fn check_reference(reference: &str) -> Result<(), GitError> {
    if reference.starts_with('-') {
        return refuse(format!("the ref {reference:?} begins with a dash, as options do"));
    }
    if reference.len() > MAX_LENGTH || reference.chars().any(char::is_control) {
        return refuse("the ref is too long or has control characters");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_addresses_are_fine() {
        for url in [
            "https://example.com/a/b.git",
            "https://user:secret@example.com:8443/a.git",
            "http://localhost/a",
            "ssh://git@example.com/a.git",
            "ssh://git@example.com:2222/a-b/-c.git",
            "git://[::1]:9418/a",
            "file:///srv/a.git",
        ] {
            assert!(check_url(url, true).is_ok(), "{url}");
        }
        assert!(check_url("file:///srv/a.git", false).is_err());
    }

    #[test]
    fn addresses_that_could_run_something_are_refused() {
        for url in [
            "",
            "-u./payload",
            "--upload-pack=touch x",
            "ext::sh -c touch% x",
            "ext::sh -c 'touch x' ://y",
            "fd::17/foo",
            "remote-helper::https://example.com",
            "transport://example.com/x",
            "file://host/share",
            "file://./relative",
            "git@example.com:a/b",
            "/absolute/path",
            "../relative",
            "ssh://-oProxyCommand=touch x/path",
            "ssh://-oProxyCommand=touch/path",
            "ssh://git@-oProxyCommand=touch/path",
            "ssh://%2doProxyCommand=touch/path",
            "ssh://-l@example.com/path",
            "ssh://example.com/-oProxyCommand=touch",
            "ssh://example.com//--upload-pack=touch",
            "ssh:///nohost",
            "https://exa mple.com/x",
            "https://example.com/x\ny",
            "https://example.com/x\0",
            "hg::https://example.com",
        ] {
            assert!(matches!(check_url(url, true), Err(GitError::Unsafe(_))), "{url}");
        }
    }

    #[test]
    fn references_are_no_options() {
        for good in ["main", "v1.2.3", "feature/x", "HEAD~1", "0123abc", "release-1", "a b"] {
            assert!(check_reference(good).is_ok(), "{good}");
        }
        for bad in ["-b", "--upload-pack=x", "-", "a\nb", "a\0b"] {
            assert!(check_reference(bad).is_err(), "{bad:?}");
        }
    }
}
