//! How git gets out where connections may lead to some places only: over http(s) through a guard, over ssh to an address that was judged before.

use groma_network::{Networks, Refused, Unreachable};
use tokio::process::Command;
use url::Url;

use super::guard::Guard;
use super::{GitError, GitSettings};
use crate::address::GitSource;
use crate::redact;

/// What says which proxies there are.
const PROXIES: [&str; 8] =
    ["http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];

/// A way out.
pub(super) struct Way {
    /// None if there is a proxy already: then it is that which connects.
    guard: Option<Guard>,
    /// More settings of git.
    settings: Vec<String>,
    /// More options of ssh, each a word for a shell.
    ssh: Vec<String>,
}

impl Way {
    /// The way to a repository.
    pub(super) async fn new(networks: &Networks, source: &GitSource, settings: &GitSettings) -> Result<Self, GitError> {
        let url = redact::text(&source.url);
        let failed = |reason: String| GitError::Failed { action: "clone", url: url.clone(), message: reason };
        let parsed: Url = source.url.parse().map_err(|_| failed("its address cannot be read".to_owned()))?;
        let host = parsed.host_str().unwrap_or_default();
        let is_ssh = parsed.scheme().contains("ssh");
        if parsed.scheme() == "git" {
            let reason = "git:// leads to no address that could be checked; use https:// or ssh://";
            return Err(GitError::Unsafe(reason.to_owned()));
        }
        let port = parsed.port_or_known_default().unwrap_or(22);
        let refused = |refused: Refused| GitError::Refused { url: url.clone(), refused };
        let has_proxy = settings.environment.iter().any(|(name, value)| {
            PROXIES.contains(&name.as_str()) && !name.eq_ignore_ascii_case("no_proxy") && !value.is_empty()
        });
        let found = match networks.find(host, port).await {
            Ok(found) => found.first().map(std::net::SocketAddr::ip),
            Err(Unreachable::Refused(problem)) => return Err(refused(problem)),
            // A proxy may know names that we do not.
            Err(Unreachable::Failed(_)) if has_proxy && !is_ssh => None,
            Err(Unreachable::Failed(problem)) => return Err(failed(format!("{host} is not found: {problem}"))),
        };
        let ssh = match found.filter(|_| is_ssh) {
            Some(address) => {
                let name = if port == 22 { host.to_owned() } else { format!("[{host}]:{port}") };
                vec![format!("-o HostName={address}"), format!("-o \"HostKeyAlias={name}\"")]
            }
            None => Vec::new(),
        };
        if has_proxy {
            let pinned = found.map(|address| format!("http.curloptResolve={host}:{port}:{address}"));
            let settings = pinned.into_iter().chain(["http.followRedirects=false".to_owned()]).collect();
            return Ok(Self { guard: None, settings, ssh });
        }
        let guard = Guard::start(networks.clone()).await.map_err(|problem| failed(problem.to_string()))?;
        Ok(Self { settings: vec![guard.setting()], guard: Some(guard), ssh })
    }

    /// What git may use.
    pub(super) fn protocols(&self) -> &'static [&'static str] {
        // All of ssh leads to the one address that was judged.
        if self.ssh.is_empty() { &["https", "http"] } else { &["https", "http", "ssh"] }
    }

    /// Whether repositories inside can be fetched: nobody knows where they are before.
    pub(super) fn leads_elsewhere(&self) -> bool {
        self.guard.is_some()
    }

    pub(super) fn set(&self, command: &mut Command) {
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        if self.guard.is_some() {
            for name in PROXIES {
                command.env_remove(name);
            }
        }
    }

    /// What ssh is started with.
    pub(super) fn ssh_command(&self, ssh: Option<String>) -> Option<String> {
        if self.ssh.is_empty() {
            return ssh;
        }
        Some(format!("{} {}", ssh.as_deref().unwrap_or("ssh"), self.ssh.join(" ")))
    }

    /// What was refused on it.
    pub(super) fn refused(&self) -> Option<Refused> {
        self.guard.as_ref()?.refused()
    }
}
