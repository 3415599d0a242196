//! The one line that a plugin prints on its standard output when it is ready: `1|5|unix|/path/to.sock|grpc|`.

use std::path::PathBuf;

/// What a plugin said about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Handshake {
    /// Plugin protocol, 5 or 6.
    pub protocol: u32,
    /// Where it listens.
    pub socket: PathBuf,
}

/// Why a first line is no handshake.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum HandshakeError {
    /// Too few fields.
    #[error("expected CORE|PROTOCOL|NETWORK|ADDRESS|grpc, got {line:?}")]
    Malformed {
        /// What was printed.
        line: String,
    },
    /// Another generation of the plugin system.
    #[error("core protocol {version:?} is not supported, only \"1\"")]
    CoreVersion {
        /// What was printed.
        version: String,
    },
    /// A provider protocol that we do not speak.
    #[error("provider protocol {version:?} is not supported")]
    Protocol {
        /// What was printed.
        version: String,
    },
    /// Not a unix socket, or not gRPC.
    #[error("transport {transport:?} is not supported, only gRPC over a unix socket")]
    Transport {
        /// What was printed.
        transport: String,
    },
}

impl Handshake {
    /// Reads the line.
    pub(super) fn parse(line: &str) -> Result<Self, HandshakeError> {
        let fields: Vec<&str> = line.trim().split('|').collect();
        let [core, protocol, network, address, kind, ..] = fields[..] else {
            return Err(HandshakeError::Malformed { line: line.trim().to_owned() });
        };
        if core != "1" {
            return Err(HandshakeError::CoreVersion { version: core.to_owned() });
        }
        if network != "unix" || kind != "grpc" {
            return Err(HandshakeError::Transport { transport: format!("{network}/{kind}") });
        }
        let protocol = protocol.parse().ok().filter(|version| *version == 5);
        let protocol = protocol.ok_or_else(|| HandshakeError::Protocol { version: fields[1].to_owned() })?;
        Ok(Self { protocol, socket: PathBuf::from(address) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ready_plugin_is_understood() {
        let handshake = Handshake::parse("1|5|unix|/tmp/plugin1|grpc|\n").unwrap();
        assert_eq!(handshake, Handshake { protocol: 5, socket: "/tmp/plugin1".into() });
    }

    #[test]
    fn anything_else_is_refused_by_name() {
        assert!(matches!(Handshake::parse("hello"), Err(HandshakeError::Malformed { .. })));
        assert!(matches!(Handshake::parse("2|5|unix|/x|grpc|"), Err(HandshakeError::CoreVersion { .. })));
        assert!(matches!(Handshake::parse("1|4|unix|/x|grpc|"), Err(HandshakeError::Protocol { .. })));
        assert!(matches!(Handshake::parse("1|5|tcp|127.0.0.1:1|grpc|"), Err(HandshakeError::Transport { .. })));
    }
}
