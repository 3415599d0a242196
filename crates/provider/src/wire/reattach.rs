//! Plugins that run by themselves, under a debugger as a rule: `TF_REATTACH_PROVIDERS` tells where. They are used, never
//! started and never ended.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::connection::Connection;
use super::handshake::{Address, HandshakeError, ProtocolVersion};
use super::launch::Settings;
use super::plugin::{OpenError, PluginProvider};
use super::process::StartError;

/// A plugin that runs by itself.
#[derive(Debug, Clone)]
pub struct Reattach {
    /// How it is named in messages: its address.
    pub name: String,
    /// How to talk to it.
    pub settings: Settings,
    protocol: ProtocolVersion,
    address: Address,
}

/// Why a description of running plugins cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReattachError {
    /// Not the JSON that is expected.
    #[error("it is not a JSON object of provider addresses and where they listen: {0}")]
    Json(#[from] serde_json::Error),
    /// One of the providers cannot be reached as described.
    #[error("{provider}: {source}")]
    Provider {
        /// Which.
        provider: String,
        /// What is wrong.
        source: HandshakeError,
    },
}

/// As it is written by plugins.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Description {
    pub(super) protocol: String,
    #[serde(default)]
    pub(super) protocol_version: u32,
    #[serde(default)]
    pub(super) pid: i64,
    #[serde(default)]
    pub(super) test: bool,
    pub(super) addr: Place,
}

/// Where a plugin listens, as it is written by plugins.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Place {
    pub(super) network: String,
    pub(super) string: String,
}

impl Reattach {
    /// Reads the value of `TF_REATTACH_PROVIDERS`. Keys are the provider addresses as they were written.
    pub fn parse(text: &str, settings: Settings) -> Result<BTreeMap<String, Self>, ReattachError> {
        if text.trim().is_empty() {
            return Ok(BTreeMap::new());
        }
        let given: BTreeMap<String, Description> = serde_json::from_str(text)?;
        let all = given.into_iter().map(|(provider, given)| match Self::of(&provider, &given, settings) {
            Ok(reattach) => Ok((provider, reattach)),
            Err(source) => Err(ReattachError::Provider { provider, source }),
        });
        all.collect()
    }

    fn of(provider: &str, given: &Description, settings: Settings) -> Result<Self, HandshakeError> {
        if given.protocol != "grpc" {
            return Err(HandshakeError::Transport { transport: given.protocol.clone() });
        }
        let protocol = match given.protocol_version {
            // Older plugins do not tell; there was only one version then.
            0 => ProtocolVersion::V5,
            number => ProtocolVersion::from_number(number)
                .ok_or_else(|| HandshakeError::Protocol { version: number.to_string() })?,
        };
        let address = Address::parse(&given.addr.network, &given.addr.string)?;
        Ok(Self { name: provider.to_owned(), settings, protocol, address })
    }

    /// Connects to it.
    pub(super) async fn connect(&self) -> Result<Connection, StartError> {
        Connection::to_running(self.name.clone(), self.protocol, self.address.clone(), self.settings).await
    }
}

impl PluginProvider {
    /// Connects to a plugin that runs by itself. It is asked what it offers every time: who debugs it changes it.
    pub async fn attach(reattach: &Reattach) -> Result<Self, OpenError> {
        Self::connected(reattach.connect().await?, None).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<BTreeMap<String, Reattach>, ReattachError> {
        Reattach::parse(text, Settings::default())
    }

    #[test]
    fn running_plugins_are_found() {
        let text = r#"{
            "registry.terraform.io/hashicorp/time": {"Protocol":"grpc","ProtocolVersion":6,"Pid":7,"Test":true,
                "Addr":{"Network":"unix","String":"/run/plugin1"}},
            "example.com/old/thing": {"Protocol":"grpc","Pid":7,"Test":true,
                "Addr":{"Network":"tcp","String":"127.0.0.1:4000"}}
        }"#;
        let all = parse(text).unwrap();
        let time = &all["registry.terraform.io/hashicorp/time"];
        assert_eq!(time.protocol, ProtocolVersion::V6);
        assert_eq!(time.address, Address::Unix("/run/plugin1".into()));
        assert_eq!(all["example.com/old/thing"].protocol, ProtocolVersion::V5);
        assert!(parse("").unwrap().is_empty());
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        assert!(matches!(parse("[]"), Err(ReattachError::Json(_))));
        let unknown = r#"{"a/b":{"Protocol":"grpc","ProtocolVersion":7,"Addr":{"Network":"unix","String":"/x"}}}"#;
        assert_eq!(
            parse(unknown).unwrap_err().to_string(),
            "a/b: it speaks provider protocol \"7\", only 5 and 6 are supported"
        );
        let netrpc = r#"{"a/b":{"Protocol":"netrpc","ProtocolVersion":5,"Addr":{"Network":"unix","String":"/x"}}}"#;
        assert!(matches!(parse(netrpc), Err(ReattachError::Provider { .. })));
    }
}
