//! Keys and certificates of a connection, read before anything is tried.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use russh::Preferred;
use russh::keys::{Algorithm, Certificate, HashAlg, PrivateKey, PublicKey, PublicKeyOrCertificate, decode_secret_key};

use crate::provisioners::Surroundings;
use crate::provisioners::connection::{Connection, Login};

/// Everything that a connection is made with beside names and passwords.
pub(in crate::provisioners) struct Credentials {
    pub(super) target: Keys,
    pub(super) bastion: Option<Keys>,
    /// Where the agent listens, if it is used.
    pub(super) agent_socket: Option<PathBuf>,
    /// The key of the agent that is tried first: its comment, or the path of its file.
    pub(super) agent_identity: Option<AgentIdentity>,
}

/// Which key of an agent is meant.
pub(super) struct AgentIdentity {
    pub(super) comment: String,
    pub(super) key: Option<PublicKey>,
}

/// What we show at a machine, and what it must show.
pub(super) struct Keys {
    pub(super) private: Option<Arc<PrivateKey>>,
    pub(super) certificate: Option<Certificate>,
    pub(super) host_key: Option<HostKey>,
}

impl Credentials {
    /// Reads the keys of a connection.
    pub(in crate::provisioners) fn read(connection: &Connection, surroundings: &Surroundings) -> Result<Self, String> {
        let agent_socket = match (connection.agent, &surroundings.agent_socket) {
            (false, _) => None,
            (true, Some(socket)) => Some(socket.clone()),
            (true, None) => return Err("SSH agent requested but SSH_AUTH_SOCK not-specified".to_owned()),
        };
        let identity = |comment: &String| AgentIdentity {
            key: surroundings.path(comment).ok().and_then(public_key_at),
            comment: comment.clone(),
        };
        Ok(Self {
            target: Keys::read(&connection.target)?,
            bastion: connection.bastion.as_ref().map(Keys::read).transpose()?,
            agent_identity: connection.agent_identity.as_ref().map(identity),
            agent_socket,
        })
    }
}

impl Keys {
    fn read(login: &Login) -> Result<Self, String> {
        let private = login.private_key.as_deref().map(private_key).transpose()?;
        let certificate = login.certificate.as_deref().filter(|_| private.is_some()).map(certificate).transpose()?;
        let host_key = login.host_key.as_deref().map(HostKey::read).transpose()?;
        Ok(Self { private, certificate, host_key })
    }
}

/// Errors never show the key itself.
fn private_key(text: &str) -> Result<Arc<PrivateKey>, String> {
    if !text.contains("-----BEGIN ") && !text.trim_start().starts_with("PuTTY-User-Key-File-") {
        return Err("Failed to read ssh private key: no key found".to_owned());
    }
    let encrypted = "Failed to read ssh private key: password protected keys are not supported. Please decrypt the key \
                     prior to use.";
    if text.contains("Proc-Type: 4,ENCRYPTED") || text.contains("BEGIN ENCRYPTED PRIVATE KEY") {
        return Err(encrypted.to_owned());
    }
    // Indented texts are common in configuration.
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let key = decode_secret_key(&lines.join("\n"), None);
    let key = key.map_err(|problem| match problem {
        russh::keys::Error::KeyIsEncrypted => encrypted.to_owned(),
        problem => format!("Failed to parse ssh private key: {problem}"),
    })?;
    if key.is_encrypted() { Err(encrypted.to_owned()) } else { Ok(Arc::new(key)) }
}

fn certificate(text: &str) -> Result<Certificate, String> {
    let kind = text.split_whitespace().next().unwrap_or_default();
    if !kind.contains("-cert-v01@") {
        return Err(format!(
            "invalid certificate format {kind:?}: must use a certificate entry type, or leave certificate unset if you \
             don't intend to use a certificate authority"
        ));
    }
    Certificate::from_openssh(text.trim()).map_err(|problem| format!("failed to parse certificate: {problem}"))
}

/// The public part of a key in a file, or in the file beside it.
fn public_key_at(path: PathBuf) -> Option<PublicKey> {
    let beside = PathBuf::from(format!("{}.pub", path.display()));
    [path, beside].into_iter().filter_map(|path| std::fs::read_to_string(path).ok()).find_map(|text| {
        let private = decode_secret_key(&text, None).ok().map(|key| key.public_key().clone());
        private.or_else(|| PublicKey::from_openssh(text.trim()).ok())
    })
}

/// The key that a machine must show, or that must have signed the one it shows.
#[derive(Clone)]
pub(super) struct HostKey(PublicKey);

impl HostKey {
    fn read(text: &str) -> Result<Self, String> {
        let key = PublicKey::from_openssh(text.trim());
        key.map(Self).map_err(|problem| format!("The host key cannot be read: {problem}"))
    }

    /// Asks the machine for certificates, and for this kind of key rather than for others that it may have.
    pub(super) fn prefer(&self, preferred: &mut Preferred) {
        let known = preferred.key.to_vec();
        let same = |algorithm: &Algorithm| match (algorithm, self.0.algorithm()) {
            (Algorithm::Rsa { .. }, Algorithm::Rsa { .. }) => true,
            (algorithm, own) => *algorithm == own,
        };
        let (mut first, others): (Vec<Algorithm>, Vec<Algorithm>) = known.iter().cloned().partition(same);
        first.extend(others);
        preferred.key = Cow::Owned(first);
        preferred.host_key_certificates = Cow::Owned(known);
    }

    /// Whether what a machine shows is this.
    pub(super) fn accepts(&self, shown: &PublicKeyOrCertificate, host: &str) -> bool {
        let own = self.0.key_data();
        match shown {
            PublicKeyOrCertificate::PublicKey { key, .. } => key.key_data() == own,
            PublicKeyOrCertificate::Certificate(certificate) if certificate.public_key() == own => true,
            PublicKeyOrCertificate::Certificate(certificate) => {
                let principals = certificate.valid_principals();
                certificate.cert_type().is_host()
                    && certificate.signature_key() == own
                    && certificate.validate([&self.0.fingerprint(HashAlg::Sha256)]).is_ok()
                    && certificate.critical_options().is_empty()
                    && (principals.is_empty() || principals.iter().any(|principal| principal == host))
            }
        }
    }
}
