//! Who we are at a repository. What is secret reaches git through files that only we can read and variables of its environment, never
//! through its arguments, and is for one host.

use std::fmt;
use std::io::Write as _;

use tempfile::NamedTempFile;
use url::Url;

use super::GitError;

/// Who we are at a repository. Nothing at all, if nothing is given.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Login {
    /// User and password, for http and https.
    pub basic: Option<(String, String)>,
    /// A token that is sent as it is, for http and https.
    pub bearer: Option<String>,
    /// A private key, for ssh.
    pub identity: Option<String>,
    /// The keys of hosts, for ssh.
    pub known_hosts: Option<String>,
    /// Certificates (PEM) that are trusted instead of the system's, for https.
    pub ca: Option<String>,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = [
            ("basic", self.basic.is_some()),
            ("bearer", self.bearer.is_some()),
            ("identity", self.identity.is_some()),
            ("known_hosts", self.known_hosts.is_some()),
            ("ca", self.ca.is_some()),
        ];
        f.debug_set().entries(given.iter().filter(|(_, given)| *given).map(|(name, _)| name)).finish()
    }
}

/// What git is told about it.
#[derive(Default)]
pub(super) struct Prepared {
    /// Settings without secrets.
    pub(super) settings: Vec<String>,
    /// Variables, some of which are secret.
    pub(super) environment: Vec<(String, String)>,
    /// What is started instead of `ssh`.
    pub(super) ssh: Option<String>,
    /// They go with this.
    files: Vec<NamedTempFile>,
}

/// Says who we are when git asks, out of variables.
const HELPER: &str = "!f() { test \"$1\" = get && printf 'username=%s\\npassword=%s\\n' \"$GROMA_GIT_USERNAME\" \"$GROMA_GIT_PASSWORD\"; }; f";

impl Login {
    pub(super) fn prepare(&self, url: &str) -> Result<Prepared, GitError> {
        let mut prepared = Prepared::default();
        if url.contains("://") && !url.starts_with("file:") {
            let parsed = Url::parse(url).map_err(|problem| GitError::Unsafe(format!("{problem} in the address")))?;
            match parsed.scheme() {
                "http" | "https" => self.prepare_http(&parsed, &mut prepared)?,
                _ => self.prepare_ssh(&mut prepared)?,
            }
        }
        Ok(prepared)
    }

    fn prepare_http(&self, url: &Url, prepared: &mut Prepared) -> Result<(), GitError> {
        let host = url.origin().ascii_serialization();
        if let Some((user, password)) = &self.basic {
            let lines = ["\n", "\r", "\0"];
            if lines.iter().any(|bad| user.contains(bad) || password.contains(bad)) {
                return Err(GitError::Unsafe("the user or the password for it has more than one line".to_owned()));
            }
            // Asked for by host: who a redirect leads to is not told.
            prepared.settings.extend(["credential.helper=".to_owned(), format!("credential.{host}.helper={HELPER}")]);
            prepared.variable("GROMA_GIT_USERNAME", user);
            prepared.variable("GROMA_GIT_PASSWORD", password);
        } else if let Some(token) = &self.bearer {
            if token.chars().any(|letter| letter.is_control() || letter.is_whitespace()) {
                return Err(GitError::Unsafe("the token for it has characters that no token has".to_owned()));
            }
            // It would be sent along with redirects.
            prepared.settings.push("http.followRedirects=false".to_owned());
            prepared.variable("GIT_CONFIG_COUNT", "1");
            prepared.variable("GIT_CONFIG_KEY_0", &format!("http.{host}/.extraHeader"));
            prepared.variable("GIT_CONFIG_VALUE_0", &format!("Authorization: Bearer {token}"));
        }
        if let Some(ca) = &self.ca {
            let path = prepared.file(ca, "the certificates")?;
            prepared.variable("GIT_SSL_CAINFO", &path);
        }
        Ok(())
    }

    fn prepare_ssh(&self, prepared: &mut Prepared) -> Result<(), GitError> {
        let (Some(identity), Some(known_hosts)) = (&self.identity, &self.known_hosts) else { return Ok(()) };
        // Keys without an end of line are no keys to ssh.
        let key = prepared.file(&format!("{}\n", identity.trim_end()), "the SSH key")?;
        let known = prepared.file(known_hosts, "the keys of hosts")?;
        prepared.ssh = Some(format!(
            "ssh -F /dev/null -i '{key}' -o IdentitiesOnly=yes -o IdentityAgent=none -o BatchMode=yes \
             -o UserKnownHostsFile='{known}' -o GlobalKnownHostsFile=/dev/null -o StrictHostKeyChecking=yes \
             -o ForwardAgent=no -o ClearAllForwardings=yes -o ConnectTimeout=20"
        ));
        Ok(())
    }
}

impl Prepared {
    fn variable(&mut self, name: &str, value: &str) {
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// A file that only we can read, as temporary files are. Their names have no quotes in them.
    fn file(&mut self, content: &str, what: &str) -> Result<String, GitError> {
        let write = |source| GitError::Write { path: what.to_owned(), source };
        let mut file = tempfile::Builder::new().prefix("groma-git-").tempfile().map_err(write)?;
        file.write_all(content.as_bytes()).and_then(|()| file.flush()).map_err(write)?;
        let path = file.path().display().to_string();
        self.files.push(file);
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_in_no_setting_and_in_no_debug() {
        let login = Login {
            basic: Some(("me".to_owned(), "hunter2".to_owned())),
            identity: Some("KEY".to_owned()),
            ..Login::default()
        };
        let prepared = login.prepare("https://git.example:8443/a/b.git").unwrap();
        assert_eq!(prepared.settings[1], format!("credential.https://git.example:8443.helper={HELPER}"));
        assert!(!prepared.settings.iter().any(|setting| setting.contains("hunter2") || setting.contains("me\n")));
        assert_eq!(format!("{login:?}"), "{\"basic\", \"identity\"}");
        assert!(prepared.ssh.is_none());
    }

    #[test]
    fn what_could_say_more_than_it_should_is_refused() {
        let two_lines = Login { basic: Some(("me".to_owned(), "a\nhost=evil".to_owned())), ..Login::default() };
        assert!(two_lines.prepare("https://git.example/a").is_err());
        let header = Login { bearer: Some("a\r\nX: y".to_owned()), ..Login::default() };
        assert!(header.prepare("https://git.example/a").is_err());
    }
}
