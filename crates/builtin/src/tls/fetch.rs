//! Asks a host for its certificates. What is in them is elsewhere.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use groma_network::{Networks, check_url};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use tokio::sync::Notify;
use url::Url;

use crate::web::{ClientOptions, Proxies, whole_story};

const TIMEOUT: Duration = Duration::from_secs(30);

/// The certificates that a host shows, its own first. The URL has the scheme `https` or `tls`, and a port.
pub(super) async fn peer_certificates(
    url: &Url,
    verify: bool,
    proxies: Proxies,
    networks: Option<&Networks>,
) -> Result<Vec<Vec<u8>>, String> {
    let direct = url.scheme() == "tls";
    let proxies = if direct { Proxies::None } else { proxies };
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().map_or_else(String::new, |port| format!(":{port}"));
    let target = format!("https://{host}{port}{}", if direct { "/" } else { url.path() });
    let judged = target.parse().map_or(Ok(()), |target| check_url(networks, &target));
    judged.map_err(|refused| format!("no connection is made to {host}{port}: {refused}"))?;
    let networks = networks.cloned();
    let options = ClientOptions { timeout: Some(TIMEOUT), proxies, networks, ..ClientOptions::default() };
    let recorder = Arc::new(Recorder::new(verify)?);
    let config = ClientConfig::builder_with_provider(recorder.provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(recorder.clone())
        .with_no_client_auth();
    let builder = options.builder().map_err(|error| error.to_string())?;
    let client = builder.tls_backend_preconfigured(config).build().map_err(|error| error.to_string())?;
    // What answers need not speak HTTP: the certificates are shown before anything is asked.
    let error = tokio::select! {
        biased;
        () = recorder.done.notified() => None,
        answer = client.head(&target).send() => answer.err(),
    };
    let found = recorder.seen.lock().unwrap_or_else(PoisonError::into_inner).take();
    match (found, error) {
        (Some(found), _) => Ok(found),
        (None, Some(error)) if direct => {
            Err(format!("unable to execute TLS connection towards {host}{port}: {}", whole_story(&error)))
        }
        (None, Some(error)) => {
            Err(format!("failed to fetch certificates from URL '{}': {}", url.scheme(), whole_story(&error)))
        }
        (None, None) => Err(format!("got back response with no certificates from URL '{}'", url.scheme())),
    }
}

/// Writes down which certificates are shown. Believes everybody, or whom the system believes.
#[derive(Debug)]
struct Recorder {
    provider: Arc<CryptoProvider>,
    system: Option<rustls_platform_verifier::Verifier>,
    shown: Mutex<Vec<Vec<u8>>>,
    /// The same, once whoever shows them has proved to have the key.
    seen: Mutex<Option<Vec<Vec<u8>>>>,
    done: Notify,
}

impl Recorder {
    fn new(verify: bool) -> Result<Self, String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let system = verify.then(|| rustls_platform_verifier::Verifier::new(provider.clone())).transpose();
        let system = system.map_err(|error| error.to_string())?;
        Ok(Self { provider, system, shown: Mutex::default(), seen: Mutex::default(), done: Notify::new() })
    }

    fn proved(&self) {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(shown);
        self.done.notify_one();
    }
}

impl ServerCertVerifier for Recorder {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(system) = &self.system {
            system.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)?;
        }
        let all = std::iter::once(end_entity).chain(intermediates).map(|certificate| certificate.to_vec());
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = all.collect();
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        let proof = verify_tls12_signature(message, certificate, signature, algorithms)?;
        self.proved();
        Ok(proof)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        let proof = verify_tls13_signature(message, certificate, signature, algorithms)?;
        self.proved();
        Ok(proof)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
