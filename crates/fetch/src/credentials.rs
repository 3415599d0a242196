//! Tokens for hosts: where they come from. What is sent where is decided by the http client.

mod helper;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use thiserror::Error;

pub use helper::HelperProgram;

use crate::host::Host;

/// A secret that proves who asks. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A token with this text.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// The secret itself, for the header it goes into.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(redacted)")
    }
}

/// Why no token could be had.
#[derive(Debug, Clone, Error)]
pub enum CredentialsError {
    /// The helper could not be started.
    #[error("failed to run {program}: {reason}")]
    Start {
        /// Which program.
        program: String,
        /// What the system says.
        reason: String,
    },
    /// The helper said no.
    #[error("error in {program}: {message}")]
    Failed {
        /// Which program.
        program: String,
        /// What it wrote.
        message: String,
    },
    /// The helper did not speak as it should.
    #[error("malformed output from {program}: {reason}")]
    Malformed {
        /// Which program.
        program: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// Where tokens come from.
#[async_trait]
pub trait Credentials: Send + Sync {
    /// The token for a host, if there is one.
    async fn token(&self, host: &Host) -> Result<Option<Token>, CredentialsError>;
}

/// Nobody is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct Anonymous;

#[async_trait]
impl Credentials for Anonymous {
    async fn token(&self, _host: &Host) -> Result<Option<Token>, CredentialsError> {
        Ok(None)
    }
}

/// Tokens that are written down.
#[derive(Debug, Clone, Default)]
pub struct StaticCredentials(pub BTreeMap<Host, Token>);

#[async_trait]
impl Credentials for StaticCredentials {
    async fn token(&self, host: &Host) -> Result<Option<Token>, CredentialsError> {
        Ok(self.0.get(host).cloned())
    }
}

/// Several sources; the first that knows a host wins (environment, then configuration, then the helper).
#[derive(Clone, Default)]
pub struct Chain(pub Vec<Arc<dyn Credentials>>);

#[async_trait]
impl Credentials for Chain {
    async fn token(&self, host: &Host) -> Result<Option<Token>, CredentialsError> {
        for source in &self.0 {
            if let Some(token) = source.token(host).await? {
                return Ok(Some(token));
            }
        }
        Ok(None)
    }
}

/// The prefix of variables that hold tokens.
pub const TOKEN_VARIABLE_PREFIX: &str = "TF_TOKEN_";

/// Reads `TF_TOKEN_<host>` from names and values. Names of variables take neither dots nor dashes in most shells, so
/// `__` stands for `-` and `_` for `.`. What is no host is left out, as OpenTofu does.
pub fn tokens_from_variables<N, V>(variables: impl IntoIterator<Item = (N, V)>) -> BTreeMap<Host, Token>
where
    N: AsRef<str>,
    V: Into<String>,
{
    let mut tokens = BTreeMap::new();
    for (name, value) in variables {
        let Some(encoded) = name.as_ref().strip_prefix(TOKEN_VARIABLE_PREFIX) else { continue };
        let decoded = encoded.replace("__", "-").replace('_', ".");
        if let Ok(host) = Host::parse_lenient(&decoded) {
            tokens.insert(host, Token::new(value));
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(name: &str) -> Vec<String> {
        tokens_from_variables([(name, "secret")]).into_keys().map(|host| host.as_str().to_owned()).collect()
    }

    #[test]
    fn variables_name_hosts() {
        assert_eq!(hosts("TF_TOKEN_example_com"), ["example.com"]);
        assert_eq!(hosts("TF_TOKEN_my__registry_example_com"), ["my-registry.example.com"]);
        assert_eq!(hosts("TF_TOKEN_Example.Com"), ["example.com"]);
        for spelling in
            ["TF_TOKEN_xn____caf__dma_fr", "TF_TOKEN_xn--caf-dma_fr", "TF_TOKEN_xn--caf-dma.fr", "TF_TOKEN_café.fr"]
        {
            assert_eq!(hosts(spelling), ["xn--caf-dma.fr"], "{spelling}");
        }
        assert!(hosts("TF_TOKEN_").is_empty());
        assert!(hosts("TF_TOKEN__bad").is_empty() || hosts("TF_TOKEN__bad") == [".bad"]);
        assert!(hosts("OTHER_example_com").is_empty());
    }

    #[test]
    fn a_token_is_not_shown() {
        assert_eq!(format!("{:?}", Token::new("hunter2")), "Token(redacted)");
    }

    #[tokio::test]
    async fn the_first_source_that_knows_wins() {
        let host = Host::parse("example.com").unwrap();
        let with = |secret: &str| -> Arc<dyn Credentials> {
            Arc::new(StaticCredentials(BTreeMap::from([(host.clone(), Token::new(secret))])))
        };
        let chain = Chain(vec![Arc::new(Anonymous), with("first"), with("second")]);
        assert_eq!(chain.token(&host).await.unwrap(), Some(Token::new("first")));
        assert_eq!(chain.token(&Host::parse("other.com").unwrap()).await.unwrap(), None);
    }
}
