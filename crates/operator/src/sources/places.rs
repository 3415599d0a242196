//! Where sources may be. They are fetched by the operator, which reaches more than who writes a Stack.

use groma_run::source::{SourceError, Trouble};

use crate::webhooks::is_refused;

/// Refuses addresses of the machine itself, and of what gives it its credentials.
pub(super) async fn check(url: &str) -> Result<(), SourceError> {
    let Some(host) = host_of(url) else { return Ok(()) };
    let found = tokio::net::lookup_host((host.as_str(), 0)).await.map_err(|problem| {
        SourceError::new(Trouble::Passing, format!("the host {host:?} cannot be found: {problem}"))
    })?;
    if found.into_iter().any(|address| is_refused(address.ip())) {
        let message = format!(
            "{host:?} is an address of the machine or of its network, from which nothing is fetched; the operator can allow it with \
             -allow-local-sources"
        );
        return Err(SourceError::new(Trouble::Invalid, message));
    }
    Ok(())
}

/// The host of `https://host:1/…`, `ssh://user@host/…` or `user@host:path`.
fn host_of(url: &str) -> Option<String> {
    let authority = match url.split_once("://") {
        Some((_, rest)) => rest.split('/').next()?,
        None => url.split_once(':').map(|(host, _)| host)?,
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(inner) => inner.split(']').next()?,
        None => host.split(':').next()?,
    };
    (!host.is_empty()).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nothing_is_fetched_from_the_machine_itself() {
        for url in ["http://127.0.0.1:80/a", "https://[::1]/a", "git@localhost:a/b", "http://169.254.169.254/latest"] {
            let said = check(url).await.unwrap_err();
            assert!(said.message.contains("-allow-local-sources"), "{url}: {said}");
        }
        assert!(check("ssh://git@10.0.0.1:22/a").await.is_ok());
    }

    #[test]
    fn hosts_are_found_in_addresses() {
        for (url, host) in [
            ("https://git.example:8443/a", Some("git.example")),
            ("ssh://git@git.example/a", Some("git.example")),
            ("git@git.example:a/b", Some("git.example")),
            ("https://[2001:db8::1]:1/a", Some("2001:db8::1")),
            ("/srv/a", None),
            ("file:///srv/a", None),
        ] {
            assert_eq!(host_of(url).as_deref(), host, "{url}");
        }
    }
}
