//! Which repository a Stack is about, and where the API of its server is: read from the address that it is fetched from.

use reqwest::Url;

use crate::api::voices::Forge;

/// A repository, as an API knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repository {
    /// Where the API is, without a slash at its end.
    pub(super) api: String,
    /// Whose it is.
    pub(super) owner: String,
    /// What it is called.
    pub(super) name: String,
}

/// Reads an address that a repository is fetched from. The API is where that of its server usually is, unless it is said.
pub(super) fn repository(git: &str, forge: Forge, api: Option<&str>) -> Result<Repository, String> {
    let (server, path) = parts(git)?;
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let mut names = path.rsplit('/');
    let (name, owner) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
    if !is_name(name) || !is_name(owner) {
        return Err(format!(
            "spec.source.git.url: {git:?} does not end with the names of an owner and a repository, as in \
             https://git.example/owner/repository.git"
        ));
    }
    let before = path.strip_suffix(&format!("{owner}/{name}")).unwrap_or_default().trim_matches('/');
    let api = match api {
        Some(api) => api.trim_end_matches('/').to_owned(),
        None => usual(&server, before, forge),
    };
    Ok(Repository { api, owner: owner.to_owned(), name: name.to_owned() })
}

/// The server as an address without a path, and the path on it.
fn parts(git: &str) -> Result<(String, String), String> {
    let wrong = || format!("spec.source.git.url: {git:?} is not the address of a repository on a server");
    // `user@host:path`, which is no address that others would read.
    if !git.contains("://") {
        let (host, path) = git.split_once(':').ok_or_else(wrong)?;
        let host = host.rsplit('@').next().unwrap_or(host);
        return if is_host(host) { Ok((format!("https://{host}"), path.to_owned())) } else { Err(wrong()) };
    }
    let url: Url = git.parse().map_err(|_| wrong())?;
    let host = url.host_str().filter(|host| is_host(host)).ok_or_else(wrong)?;
    let server = match (url.scheme(), url.port()) {
        (scheme @ ("http" | "https"), Some(port)) => format!("{scheme}://{host}:{port}"),
        (scheme @ ("http" | "https"), None) => format!("{scheme}://{host}"),
        // The port of another protocol says nothing about this one.
        ("ssh" | "git", _) => format!("https://{host}"),
        _ => return Err(wrong()),
    };
    Ok((server, url.path().to_owned()))
}

fn usual(server: &str, before: &str, forge: Forge) -> String {
    match forge {
        Forge::Github if matches!(server, "https://github.com" | "https://ssh.github.com") => {
            "https://api.github.com".to_owned()
        }
        Forge::Github => format!("{server}/api/v3"),
        Forge::Gitea if before.is_empty() => format!("{server}/api/v1"),
        Forge::Gitea => format!("{server}/{before}/api/v1"),
    }
}

/// Whether it can be a part of an address without meaning anything else.
fn is_name(text: &str) -> bool {
    let is_allowed = |at: char| at.is_ascii_alphanumeric() || matches!(at, '.' | '_' | '-');
    !text.is_empty() && text.chars().all(is_allowed) && text != "." && text != ".."
}

fn is_host(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|at| at.is_ascii_alphanumeric() || matches!(at, '.' | '-' | ':' | '[' | ']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(git: &str, forge: Forge) -> String {
        match repository(git, forge, None) {
            Ok(Repository { api, owner, name }) => format!("{api} {owner}/{name}"),
            Err(problem) => problem,
        }
    }

    #[test]
    fn the_api_is_where_it_usually_is() {
        for git in [
            "https://github.com/acme/infra.git",
            "git@github.com:acme/infra.git",
            "ssh://git@ssh.github.com:443/acme/infra",
        ] {
            assert_eq!(found(git, Forge::Github), "https://api.github.com acme/infra");
        }
        assert_eq!(
            found("https://git.corp.example/acme/infra", Forge::Github),
            "https://git.corp.example/api/v3 acme/infra"
        );
        assert_eq!(found("http://gitea:3000/acme/infra.git", Forge::Gitea), "http://gitea:3000/api/v1 acme/infra");
        assert_eq!(
            found("https://h.example/git/acme/infra.git/", Forge::Gitea),
            "https://h.example/git/api/v1 acme/infra"
        );
        let said = repository("git@github.com:acme/infra.git", Forge::Github, Some("https://proxy.example/gh/"));
        assert_eq!(said.unwrap().api, "https://proxy.example/gh");
    }

    #[test]
    fn what_is_no_repository_on_a_server_is_told() {
        for wrong in ["/srv/git/infra", "https://github.com/infra", "file:///srv/a/b", "https://h.example/../x/a b", ""]
        {
            assert!(found(wrong, Forge::Github).starts_with("spec.source.git.url: "), "{wrong}");
        }
    }
}
