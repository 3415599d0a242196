//! The one line that a plugin prints on its standard output when it is ready: `1|5|unix|/path/to.sock|grpc|CERTIFICATE`.

use std::net::SocketAddr;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// The generation of the plugin system that we speak.
pub(super) const CORE_PROTOCOL: &str = "1";

/// Older plugins print a few unrelated bytes where the certificate belongs.
const SHORTEST_CERTIFICATE: usize = 50;

/// How much of a line that is no handshake is shown.
const SHOWN_CHARS: usize = 200;

/// What a plugin said about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Handshake {
    /// Which provider protocol it speaks.
    pub protocol: ProtocolVersion,
    /// Where it listens.
    pub address: Address,
    /// Its certificate, if it speaks TLS.
    pub certificate: Option<Vec<u8>>,
}

/// A version of the provider protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProtocolVersion {
    /// `tfplugin5`
    V5,
    /// `tfplugin6`
    V6,
}

impl ProtocolVersion {
    /// As a number.
    pub fn number(self) -> u32 {
        match self {
            Self::V5 => 5,
            Self::V6 => 6,
        }
    }

    /// The version with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        [Self::V5, Self::V6].into_iter().find(|version| version.number() == number)
    }
}

/// Where a plugin listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    /// At a socket in the file system.
    Unix(PathBuf),
    /// At a port.
    Tcp(SocketAddr),
}

/// Why a first line is no handshake.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum HandshakeError {
    /// Too few fields.
    #[error("expected CORE|PROTOCOL|NETWORK|ADDRESS|grpc as its first line, got {line:?}")]
    Malformed {
        /// What was printed.
        line: String,
    },
    /// Another generation of the plugin system.
    #[error("it was built for version {version:?} of the plugin system, only \"1\" is supported")]
    CoreVersion {
        /// What was printed.
        version: String,
    },
    /// A provider protocol that we do not speak.
    #[error("it speaks provider protocol {version:?}, only 5 and 6 are supported")]
    Protocol {
        /// What was printed.
        version: String,
    },
    /// Not a place that we can connect to.
    #[error("it listens at {network} {address:?}, which cannot be reached")]
    Address {
        /// `unix`, `tcp` or something else.
        network: String,
        /// Where.
        address: String,
    },
    /// Not gRPC.
    #[error("it speaks {transport:?}, only \"grpc\" is supported")]
    Transport {
        /// What was printed.
        transport: String,
    },
    /// Not a certificate.
    #[error("its certificate is not base64")]
    Certificate,
    /// It must have a certificate.
    #[error("it gave no certificate for a connection that needs one")]
    NoCertificate,
}

impl Handshake {
    /// Reads the line.
    pub(super) fn parse(line: &str) -> Result<Self, HandshakeError> {
        let fields: Vec<&str> = line.trim().split('|').collect();
        let [core, protocol, network, address, ref more @ ..] = fields[..] else {
            return Err(HandshakeError::Malformed { line: line.trim().chars().take(SHOWN_CHARS).collect() });
        };
        if core != CORE_PROTOCOL {
            return Err(HandshakeError::CoreVersion { version: core.to_owned() });
        }
        // Plugins of another kind, and those of long ago, do not say what they speak.
        let transport = more.first().copied().unwrap_or("netrpc");
        if transport != "grpc" {
            return Err(HandshakeError::Transport { transport: transport.to_owned() });
        }
        let version = protocol.parse().ok().and_then(ProtocolVersion::from_number);
        Ok(Self {
            protocol: version.ok_or_else(|| HandshakeError::Protocol { version: protocol.to_owned() })?,
            address: Address::parse(network, address)?,
            certificate: more.get(1).and_then(|field| certificate(field)).transpose()?,
        })
    }
}

impl Address {
    /// Reads a network and an address in it.
    pub(super) fn parse(network: &str, address: &str) -> Result<Self, HandshakeError> {
        let unreachable = || HandshakeError::Address { network: network.to_owned(), address: address.to_owned() };
        match network {
            "unix" if !address.is_empty() => Ok(Self::Unix(PathBuf::from(address))),
            "tcp" => address.parse().map(Self::Tcp).map_err(|_| unreachable()),
            _ => Err(unreachable()),
        }
    }
}

fn certificate(field: &str) -> Option<Result<Vec<u8>, HandshakeError>> {
    let given = field.len() > SHORTEST_CERTIFICATE;
    given.then(|| STANDARD_NO_PAD.decode(field.trim_end_matches('=')).map_err(|_| HandshakeError::Certificate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ready_plugin_is_understood() {
        let expected = Handshake {
            protocol: ProtocolVersion::V5,
            address: Address::Unix("/run/plugin1".into()),
            certificate: None,
        };
        for line in [
            "1|5|unix|/run/plugin1|grpc|\n",
            "1|5|unix|/run/plugin1|grpc",
            "1|5|unix|/run/plugin1|grpc||true\r\n",
            "1|5|unix|/run/plugin1|grpc|extra",
        ] {
            assert_eq!(Handshake::parse(line).as_ref(), Ok(&expected), "{line:?}");
        }
    }

    #[test]
    fn a_port_and_a_certificate_are_understood() {
        let der = vec![0x30_u8; 80];
        let line = format!("1|6|tcp|127.0.0.1:10001|grpc|{}|true", STANDARD_NO_PAD.encode(&der));
        let handshake = Handshake::parse(&line).unwrap();
        assert_eq!(handshake.protocol, ProtocolVersion::V6);
        assert_eq!(handshake.address, Address::Tcp(([127, 0, 0, 1], 10001).into()));
        assert_eq!(handshake.certificate, Some(der));
    }

    #[test]
    fn anything_else_is_refused_by_name() {
        assert!(matches!(Handshake::parse("hello"), Err(HandshakeError::Malformed { .. })));
        assert!(matches!(Handshake::parse(""), Err(HandshakeError::Malformed { .. })));
        assert!(matches!(Handshake::parse("2|5|unix|/x|grpc|"), Err(HandshakeError::CoreVersion { .. })));
        for protocol in ["4", "7", "", "five", "-5", "5.0"] {
            let parsed = Handshake::parse(&format!("1|{protocol}|unix|/x|grpc|"));
            assert_eq!(parsed, Err(HandshakeError::Protocol { version: protocol.to_owned() }));
        }
        assert!(matches!(Handshake::parse("1|5|unix|/x"), Err(HandshakeError::Transport { .. })));
        assert!(matches!(Handshake::parse("1|5|unix|/x|netrpc"), Err(HandshakeError::Transport { .. })));
        assert!(matches!(Handshake::parse("1|5|udp|/x|grpc"), Err(HandshakeError::Address { .. })));
        assert!(matches!(Handshake::parse("1|5|unix||grpc"), Err(HandshakeError::Address { .. })));
        assert!(matches!(Handshake::parse("1|5|tcp|nowhere|grpc"), Err(HandshakeError::Address { .. })));
        let certificate = "!".repeat(80);
        let parsed = Handshake::parse(&format!("1|5|unix|/x|grpc|{certificate}"));
        assert_eq!(parsed, Err(HandshakeError::Certificate));
    }
}
