//! What a Stack wants to have fetched: out of its spec and a Secret. A function of both.

use std::collections::BTreeMap;
use std::time::Duration;

use groma_run::source::artifact::Artifact;
use groma_run::source::git::{self, Which};
use groma_run::source::{Login, SourceError, Trouble};
use sha2::{Digest as _, Sha256};

use crate::api::source::{GitRef, GitSource};
use crate::bundle::part;

/// How often a repository is looked at, if nobody says otherwise.
const INTERVAL: Duration = Duration::from_mins(1);

/// How many parts the address has that all artifacts of a source of Flux are below: scheme, nothing, host, kind, namespace and name.
const OF_A_SOURCE: usize = 6;

/// What a Stack wants to have fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// The namespace that it is wanted in: others have none of it.
    pub namespace: String,
    /// What.
    pub what: What,
}

/// What is fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A repository.
    Git(git::Wish),
    /// An artifact.
    Artifact(Artifact),
}

impl Wish {
    /// What is the same for all who want the same.
    pub(super) fn key(&self) -> String {
        let mut hash = Sha256::new();
        part(&mut hash, self.namespace.as_bytes());
        match &self.what {
            What::Git(git) => {
                let login = &git.login;
                let (user, password) = login.basic.clone().unzip();
                let secrets = [&user, &password, &login.bearer, &login.identity, &login.known_hosts, &login.ca];
                part(&mut hash, format!("git {} {:?} {}", git.url, git.which, git.submodules).as_bytes());
                for secret in secrets {
                    part(&mut hash, format!("{secret:?}").as_bytes());
                }
            }
            What::Artifact(artifact) => part(&mut hash, format!("artifact {artifact:?}").as_bytes()),
        }
        hex::encode(hash.finalize())
    }

    /// Whether it is of the same source, of which there is something newer now, or which somebody else asks.
    pub(super) fn is_of_the_same(&self, other: &Self) -> bool {
        let is_same = match (&self.what, &other.what) {
            (What::Git(one), What::Git(other)) => {
                (&one.url, &one.which, one.submodules) == (&other.url, &other.which, other.submodules)
            }
            // Flux has all artifacts of a source in one place: `http://host/gitrepository/<namespace>/<name>/<revision>.tar.gz`.
            (What::Artifact(one), What::Artifact(other)) => {
                let place = |url: &str| {
                    let (place, _) = url.rsplit_once('/')?;
                    (place.split('/').count() >= OF_A_SOURCE).then(|| place.to_owned())
                };
                place(&one.url).is_some() && place(&one.url) == place(&other.url)
            }
            _ => false,
        };
        is_same && self.namespace == other.namespace
    }

    /// Where it is.
    pub(super) fn url(&self) -> &str {
        match &self.what {
            What::Git(git) => &git.url,
            What::Artifact(artifact) => &artifact.url,
        }
    }

    /// Where it is, if it is a repository.
    pub(super) fn repository(&self) -> Option<&str> {
        matches!(self.what, What::Git(_)).then(|| self.url())
    }

    /// For people who read logs.
    pub(super) fn shown(&self) -> String {
        groma_fetch::redact::text(self.url())
    }
}

/// How often a repository is looked at.
pub fn interval(source: &GitSource) -> Duration {
    source.interval.map_or(INTERVAL, |interval| interval.0)
}

/// What is wanted of a repository. `secret` is what its Secret has, if it names one.
pub fn of_git(
    namespace: &str,
    source: &GitSource,
    secret: Option<&BTreeMap<String, Vec<u8>>>,
) -> Result<Wish, SourceError> {
    let invalid = |message: String| SourceError::new(Trouble::Invalid, message);
    let login = match (&source.secret_ref, secret) {
        (None, _) => Login::default(),
        (Some(name), None) => {
            return Err(invalid(format!("spec.source.git.secretRef: Secret {name:?} is not there")));
        }
        (Some(name), Some(data)) => login(name, data).map_err(invalid)?,
    };
    let git = git::Wish {
        url: source.url.clone(),
        which: which(source.reference.as_ref()),
        submodules: source.submodules,
        login,
    };
    Ok(Wish { namespace: namespace.to_owned(), what: What::Git(git) })
}

/// A commit is most exact, then a range of versions, a tag, a branch.
fn which(reference: Option<&GitRef>) -> Which {
    let Some(reference) = reference else { return Which::Head };
    let commit = reference.commit.clone().map(Which::Commit);
    let newest = || reference.semver.clone().map(Which::Newest);
    let tag = || reference.tag.clone().map(Which::Tag);
    let branch = || reference.branch.clone().map(Which::Branch);
    commit.or_else(newest).or_else(tag).or_else(branch).unwrap_or(Which::Head)
}

/// Who we are, as a Secret says it. Values are never in what is said about it.
fn login(name: &str, data: &BTreeMap<String, Vec<u8>>) -> Result<Login, String> {
    let field = "spec.source.git.secretRef";
    let text = |key: &str| match data.get(key) {
        None => Ok(None),
        Some(bytes) => match String::from_utf8(bytes.clone()) {
            // Whoever writes Secrets with an editor leaves an end of line.
            Ok(text) => Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned())),
            Err(_) => Err(format!("{field}: the value of {key:?} in Secret {name:?} is not text")),
        },
    };
    let basic = match (text("username")?, text("password")?) {
        (Some(user), Some(password)) => Some((user, password)),
        (None, None) => None,
        _ => return Err(format!("{field}: Secret {name:?} has only one of \"username\" and \"password\"")),
    };
    let login = Login {
        basic,
        bearer: text("bearerToken")?,
        identity: text("identity")?,
        known_hosts: text("known_hosts")?.map(|text| format!("{text}\n")),
        ca: text("caFile")?,
    };
    if login.identity.is_some() != login.known_hosts.is_some() {
        return Err(format!("{field}: Secret {name:?} has only one of \"identity\" and \"known_hosts\""));
    }
    if login == Login::default() {
        let keys = "\"username\" and \"password\", \"bearerToken\", \"identity\" and \"known_hosts\", nor \"caFile\"";
        return Err(format!("{field}: Secret {name:?} has neither of {keys}"));
    }
    Ok(login)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wished(source: serde_json::Value, secret: &[(&str, &str)]) -> Result<git::Wish, String> {
        let source: GitSource = serde_json::from_value(source).unwrap();
        let data = secret.iter().map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec())).collect();
        let wish = of_git("team", &source, (!secret.is_empty()).then_some(&data)).map_err(|problem| problem.message)?;
        match wish.what {
            What::Git(git) => Ok(git),
            What::Artifact(_) => panic!("no repository"),
        }
    }

    #[test]
    fn what_is_most_exact_holds() {
        let of = |reference: serde_json::Value| {
            wished(serde_json::json!({"url": "https://a/b", "ref": reference}), &[]).unwrap().which
        };
        let commit = "0".repeat(40);
        assert_eq!(
            of(serde_json::json!({"branch": "b", "tag": "t", "semver": "1.x", "commit": commit})),
            Which::Commit(commit)
        );
        assert_eq!(
            of(serde_json::json!({"branch": "b", "tag": "t", "semver": "1.x"})),
            Which::Newest("1.x".to_owned())
        );
        assert_eq!(of(serde_json::json!({"branch": "b", "tag": "t"})), Which::Tag("t".to_owned()));
        assert_eq!(of(serde_json::json!({"branch": "b"})), Which::Branch("b".to_owned()));
        assert_eq!(of(serde_json::json!({})), Which::Head);
    }

    #[test]
    fn what_is_wrong_with_a_secret_is_told_without_its_values() {
        let source = serde_json::json!({"url": "https://a/b", "secretRef": "login"});
        let said = |secret: &[(&str, &str)]| wished(source.clone(), secret).unwrap_err();
        assert_eq!(said(&[]), "spec.source.git.secretRef: Secret \"login\" is not there");
        assert!(said(&[("username", "hunter2")]).contains("only one of \"username\" and \"password\""));
        assert!(said(&[("identity", "hunter2")]).contains("only one of \"identity\" and \"known_hosts\""));
        assert!(said(&[("token", "hunter2")]).contains("neither of"));
        for secret in [&[("username", "hunter2")], &[("identity", "hunter2")], &[("token", "hunter2")]] {
            assert!(!said(secret).contains("hunter2"));
        }
        let login = wished(source.clone(), &[("username", "me\n"), ("password", "pass\n")]).unwrap().login;
        assert_eq!(login.basic, Some(("me".to_owned(), "pass".to_owned())));
    }

    #[test]
    fn another_password_is_another_source() {
        let source: GitSource =
            serde_json::from_value(serde_json::json!({"url": "https://a/b", "secretRef": "s"})).unwrap();
        let key = |namespace: &str, password: &str| {
            let secret = [("username", "me"), ("password", password)];
            let data = secret.iter().map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec())).collect();
            of_git(namespace, &source, Some(&data)).unwrap().key()
        };
        assert_eq!(key("a", "1"), key("a", "1"));
        assert_ne!(key("a", "1"), key("a", "2"));
        assert_ne!(key("a", "1"), key("b", "1"));
    }
}
