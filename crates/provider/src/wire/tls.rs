//! TLS between us and a plugin, either side. Each makes a certificate for this one connection and gives it to the other
//! beforehand: what is trusted is that very certificate, and nothing else.
//!
//! Go plugins use the curve P-521, which `ring` does not know; its signatures are checked here.

mod signature;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error, ServerConfig, SignatureScheme,
};

/// The name that all these certificates are made out to.
const HOST: &str = "localhost";

/// gRPC is spoken over HTTP/2 only.
const ALPN: &[u8] = b"h2";

/// Why there is no secure connection.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// Our certificate could not be made.
    #[error("a certificate could not be made: {0}")]
    Generate(#[from] rcgen::Error),
    /// The parts do not fit together.
    #[error(transparent)]
    Config(#[from] Error),
    /// Not a certificate.
    #[error("the client's certificate is not in PEM")]
    NotPem,
}

/// A certificate of ours and its key.
pub(super) struct Identity {
    certificate: CertificateDer<'static>,
    pem: String,
    key: KeyPair,
}

impl Identity {
    /// Makes a new one.
    pub(super) fn generate() -> Result<Self, TlsError> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(vec![HOST.to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, HOST);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
        params.key_usages = vec![
            KeyUsagePurpose::DigitalSignature,
            KeyUsagePurpose::KeyEncipherment,
            KeyUsagePurpose::KeyAgreement,
            KeyUsagePurpose::KeyCertSign,
        ];
        let certificate = params.self_signed(&key)?;
        Ok(Self { pem: certificate.pem(), certificate: certificate.der().clone(), key })
    }

    /// The certificate for the environment of a plugin.
    pub(super) fn pem(&self) -> &str {
        &self.pem
    }

    /// The certificate for the handshake of a plugin.
    pub(super) fn der(&self) -> &[u8] {
        &self.certificate
    }

    fn key(&self) -> Result<PrivateKeyDer<'static>, TlsError> {
        PrivateKeyDer::try_from(self.key.serialize_der()).map_err(|message| Error::General(message.to_owned()).into())
    }

    /// For the side that connects to the owner of a certificate.
    pub(super) fn client_config(&self, server: Vec<u8>) -> Result<Arc<ClientConfig>, TlsError> {
        let (provider, pinned) = pinned(CertificateDer::from(server));
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(pinned)
            .with_client_auth_cert(vec![self.certificate.clone()], self.key()?)?;
        config.alpn_protocols = vec![ALPN.to_owned()];
        Ok(Arc::new(config))
    }

    /// For the side that is connected to by the owner of a certificate, in PEM.
    pub(super) fn server_config(&self, client_pem: &str) -> Result<Arc<ServerConfig>, TlsError> {
        let client = CertificateDer::from_pem_slice(client_pem.as_bytes()).map_err(|_| TlsError::NotPem)?;
        let (provider, pinned) = pinned(client);
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(pinned)
            .with_single_cert(vec![self.certificate.clone()], self.key()?)?;
        config.alpn_protocols = vec![ALPN.to_owned()];
        Ok(Arc::new(config))
    }
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Identity(..)")
    }
}

/// The server that every plugin claims to be.
pub(super) fn server_name() -> ServerName<'static> {
    ServerName::try_from(HOST).unwrap_or_else(|_| ServerName::IpAddress(std::net::Ipv4Addr::LOCALHOST.into()))
}

/// Trusts one certificate.
#[derive(Debug)]
struct Pinned {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

fn pinned(certificate: CertificateDer<'static>) -> (Arc<CryptoProvider>, Arc<Pinned>) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    (Arc::clone(&provider), Arc::new(Pinned { certificate, provider }))
}

impl Pinned {
    fn check(&self, presented: &CertificateDer<'_>) -> Result<(), Error> {
        if *presented == self.certificate {
            Ok(())
        } else {
            Err(Error::InvalidCertificate(CertificateError::UnknownIssuer))
        }
    }

    /// What our library can check, and P-521.
    fn schemes(&self) -> Vec<SignatureScheme> {
        let mut schemes = self.provider.signature_verification_algorithms.supported_schemes();
        schemes.push(SignatureScheme::ECDSA_NISTP521_SHA512);
        schemes
    }

    fn verify_tls12(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if let Some(verified) = signature::verify_p521(message, certificate, signed) {
            return verified;
        }
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if signed.scheme == SignatureScheme::ECDSA_NISTP521_SHA512 {
            let verified = signature::verify_p521(message, certificate, signed);
            return verified.unwrap_or(Err(Error::InvalidCertificate(CertificateError::BadSignature)));
        }
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(end_entity).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify_tls12(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify_tls13(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(end_entity).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify_tls12(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify_tls13(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }
}
