//! Saying who we are: with a key, a certificate, a password or an agent, in this order.

use std::cmp::Reverse;
use std::path::Path;

use russh::client::{AuthResult, Handle, KeyboardInteractiveAuthResponse};
use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::AgentClient;
use russh::keys::{HashAlg, PrivateKeyWithHashAlg, PublicKey};

use super::Client;
use super::credentials::{Credentials, Keys};
use crate::provisioners::connection::Login;

/// How many questions a machine may ask in a row.
const MOST_QUESTIONS: usize = 16;

/// Logs in.
pub(super) async fn login(
    session: &mut Handle<Client>,
    login: &Login,
    keys: &Keys,
    credentials: &Credentials,
) -> Result<(), String> {
    let mut attempt = Attempt { session, login, tried: Vec::new() };
    let done = attempt.all(keys, credentials).await;
    let tried = if attempt.tried.is_empty() { "nothing".to_owned() } else { attempt.tried.join(", ") };
    let place = format!("{}@{}", login.user, login.place());
    match done {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("SSH authentication failed ({place}): the machine does not accept {tried}")),
        Err(problem) => Err(format!("SSH authentication failed ({place}): {problem}")),
    }
}

struct Attempt<'s> {
    session: &'s mut Handle<Client>,
    login: &'s Login,
    tried: Vec<&'static str>,
}

impl Attempt<'_> {
    async fn all(&mut self, keys: &Keys, credentials: &Credentials) -> Result<bool, String> {
        if self.with_keys(keys).await? {
            return Ok(true);
        }
        if let Some(password) = &self.login.password {
            self.tried.push("the password");
            let answer = self.session.authenticate_password(&self.login.user, password).await;
            if is_success(answer)? || self.answering(password).await? {
                return Ok(true);
            }
        }
        match &credentials.agent_socket {
            Some(socket) => self.with_agent(socket, credentials).await,
            None => Ok(false),
        }
    }

    async fn with_keys(&mut self, keys: &Keys) -> Result<bool, String> {
        let Some(private) = &keys.private else { return Ok(false) };
        let user = &self.login.user;
        if let Some(certificate) = &keys.certificate {
            self.tried.push("the certificate");
            let answer = self.session.authenticate_openssh_cert(user, private.clone(), certificate.clone()).await;
            return is_success(answer);
        }
        self.tried.push("the private key");
        let hash = self.hash().await?;
        let key = PrivateKeyWithHashAlg::new(private.clone(), hash);
        is_success(self.session.authenticate_publickey(user, key).await)
    }

    /// The best way to sign with RSA keys that the machine knows.
    async fn hash(&self) -> Result<Option<HashAlg>, String> {
        let best = self.session.best_supported_rsa_hash().await.map_err(|problem| problem.to_string())?;
        Ok(best.flatten())
    }

    /// Gives the password as the answer to whatever is asked.
    async fn answering(&mut self, password: &str) -> Result<bool, String> {
        let failed = |problem: russh::Error| problem.to_string();
        let started = self.session.authenticate_keyboard_interactive_start(&self.login.user, None).await;
        let mut answer = started.map_err(failed)?;
        for _ in 0..MOST_QUESTIONS {
            let questions = match answer {
                KeyboardInteractiveAuthResponse::Success => return Ok(true),
                KeyboardInteractiveAuthResponse::Failure { .. } => return Ok(false),
                KeyboardInteractiveAuthResponse::InfoRequest { prompts, .. } => prompts.len(),
            };
            let answers = vec![password.to_owned(); questions];
            answer = self.session.authenticate_keyboard_interactive_respond(answers).await.map_err(failed)?;
        }
        Ok(false)
    }

    async fn with_agent(&mut self, socket: &Path, credentials: &Credentials) -> Result<bool, String> {
        self.tried.push("the keys of the agent");
        let failed = |problem: russh::keys::Error| format!("the SSH agent does not answer: {problem}");
        let mut agent = AgentClient::connect_uds(socket).await.map_err(failed)?;
        let mut identities = agent.request_identities().await.map_err(failed)?;
        if let Some(wanted) = &credentials.agent_identity {
            identities.sort_by_key(|identity| {
                let is_wanted = Some(identity.public_key().key_data()) == wanted.key.as_ref().map(PublicKey::key_data)
                    || identity.comment() == wanted.comment;
                Reverse((is_wanted, identity.comment().ends_with(&wanted.comment)))
            });
        }
        let hash = self.hash().await?;
        for identity in identities {
            let user = &self.login.user;
            let answer = match identity {
                AgentIdentity::PublicKey { key, .. } => {
                    let hash = hash.filter(|_| key.algorithm().is_rsa());
                    self.session.authenticate_publickey_with(user, key, hash, &mut agent).await
                }
                AgentIdentity::Certificate { certificate, .. } => {
                    let hash = hash.filter(|_| certificate.algorithm().is_rsa());
                    self.session.authenticate_certificate_with(user, certificate, hash, &mut agent).await
                }
            };
            // A key that the agent does not want to use is no reason not to try the others.
            if matches!(answer, Ok(AuthResult::Success)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn is_success(answer: Result<AuthResult, russh::Error>) -> Result<bool, String> {
    answer.map(|answer| answer.success()).map_err(|problem| problem.to_string())
}
