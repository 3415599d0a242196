//! What a host tells a plugin, through its environment.

use std::path::PathBuf;

use crate::wire::process::MAGIC_COOKIE;

/// What a host tells a plugin.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// What every host of this plugin system says, so that nobody runs a plugin by accident.
    pub cookie: Option<String>,
    /// The provider protocols that it speaks.
    pub protocols: Vec<u32>,
    /// Where the socket belongs; where temporary files do, if it does not say.
    pub socket_dir: Option<PathBuf>,
    /// Which group may use the socket, by number.
    pub socket_group: Option<u32>,
    /// Its certificate in PEM, if it wants TLS.
    pub client_certificate: Option<String>,
    /// Whether it knows of a seventh field in the handshake.
    pub asks_for_multiplexing: bool,
}

impl Surroundings {
    /// Reads them from the environment of this process.
    #[expect(
        clippy::disallowed_methods,
        reason = "the environment is how a host talks to a plugin before there is a socket"
    )]
    pub fn from_environment() -> Self {
        Self::read(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let protocols = variable("PLUGIN_PROTOCOL_VERSIONS").unwrap_or_default();
        Self {
            cookie: variable(MAGIC_COOKIE.0),
            protocols: protocols.split(',').filter_map(|version| version.trim().parse().ok()).collect(),
            socket_dir: variable("PLUGIN_UNIX_SOCKET_DIR").map(PathBuf::from),
            socket_group: variable("PLUGIN_UNIX_SOCKET_GROUP").and_then(|group| group.parse().ok()),
            client_certificate: variable("PLUGIN_CLIENT_CERT"),
            asks_for_multiplexing: variable("PLUGIN_MULTIPLEX_GRPC").is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_understood() {
        let read = Surroundings::read(|name| match name {
            "PLUGIN_PROTOCOL_VERSIONS" => Some("6, 5,x".to_owned()),
            "TF_PLUGIN_MAGIC_COOKIE" => Some("cookie".to_owned()),
            "PLUGIN_UNIX_SOCKET_GROUP" => Some("100".to_owned()),
            _ => None,
        });
        assert_eq!(read.protocols, [6, 5]);
        assert_eq!(read.cookie.as_deref(), Some("cookie"));
        assert_eq!(read.socket_group, Some(100));
        assert_eq!(read.client_certificate, None);
    }
}
