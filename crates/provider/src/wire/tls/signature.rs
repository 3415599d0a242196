//! Signatures made with keys on the curve P-521.

use p521::ecdsa::signature::hazmat::PrehashVerifier as _;
use p521::ecdsa::{Signature, VerifyingKey};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::CertificateDer;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use sha2::{Digest as _, Sha256, Sha384, Sha512};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;
use x509_cert::der::oid::ObjectIdentifier;

const EC_PUBLIC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P521: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.35");

/// The size of a number on the curve, in bytes.
const FIELD_BYTES: usize = 66;

/// Checks a signature if the certificate's key is on P-521. TLS 1.2 lets such a key sign any hash; in TLS 1.3 the scheme
/// names the one.
pub(super) fn verify_p521(
    message: &[u8],
    certificate: &CertificateDer<'_>,
    signed: &DigitallySignedStruct,
) -> Option<Result<HandshakeSignatureValid, Error>> {
    let key = p521_key(certificate)?;
    let hash = hash(message, signed.scheme)?;
    let verified = key.and_then(|key| {
        let signature = Signature::from_der(signed.signature()).map_err(|_| CertificateError::BadSignature)?;
        // The library wants at least half the field; a number does not change by zeros in front.
        let mut padded = [0; FIELD_BYTES];
        padded[FIELD_BYTES - hash.len()..].copy_from_slice(&hash);
        key.verify_prehash(&padded, &signature).map_err(|_| CertificateError::BadSignature)
    });
    Some(verified.map(|()| HandshakeSignatureValid::assertion()).map_err(Error::InvalidCertificate))
}

/// The key in a certificate, if it is on the curve at all.
fn p521_key(certificate: &CertificateDer<'_>) -> Option<Result<VerifyingKey, CertificateError>> {
    let certificate = Certificate::from_der(certificate).ok()?;
    let key = certificate.tbs_certificate.subject_public_key_info;
    let curve: ObjectIdentifier = key.algorithm.parameters?.decode_as().ok()?;
    if key.algorithm.oid != EC_PUBLIC_KEY || curve != P521 {
        return None;
    }
    Some(VerifyingKey::from_sec1_bytes(key.subject_public_key.raw_bytes()).map_err(|_| CertificateError::BadEncoding))
}

fn hash(message: &[u8], scheme: SignatureScheme) -> Option<Vec<u8>> {
    match scheme {
        SignatureScheme::ECDSA_NISTP521_SHA512 => Some(Sha512::digest(message).to_vec()),
        SignatureScheme::ECDSA_NISTP384_SHA384 => Some(Sha384::digest(message).to_vec()),
        SignatureScheme::ECDSA_NISTP256_SHA256 => Some(Sha256::digest(message).to_vec()),
        _ => None,
    }
}
