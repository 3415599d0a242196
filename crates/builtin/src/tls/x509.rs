//! Certificates and requests for them: writing and reading. Keys are in `key`, names in `name`.

use std::net::IpAddr;

use super::der::{self, DerError, Reader};
use super::key::{PrivateKey, PublicKey};
use super::name::Name;

const BASIC_CONSTRAINTS: &[u64] = &[2, 5, 29, 19];
const SUBJECT_KEY_ID: &[u64] = &[2, 5, 29, 14];
const AUTHORITY_KEY_ID: &[u64] = &[2, 5, 29, 35];
const ALTERNATIVE_NAMES: &[u64] = &[2, 5, 29, 17];
const KEY_USAGE: &[u64] = &[2, 5, 29, 15];
const EXTENDED_KEY_USAGE: &[u64] = &[2, 5, 29, 37];
const EXTENSION_REQUEST: &[u64] = &[1, 2, 840, 113_549, 1, 9, 14];

/// What else a certificate is valid for, besides its subject.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct AlternativeNames {
    /// Host names.
    pub(super) dns: Vec<String>,
    /// Addresses.
    pub(super) ips: Vec<IpAddr>,
    /// URIs.
    pub(super) uris: Vec<String>,
}

impl AlternativeNames {
    fn is_empty(&self) -> bool {
        self.dns.is_empty() && self.ips.is_empty() && self.uris.is_empty()
    }

    fn encode(&self) -> Result<Vec<u8>, String> {
        let mut parts = Vec::new();
        let ascii = |number: u8, text: &str| {
            if text.is_ascii() {
                Ok(der::value(der::instead(number), text.as_bytes()))
            } else {
                Err(format!("x509: {text:?} cannot be encoded as an IA5String"))
            }
        };
        for name in &self.dns {
            parts.push(ascii(2, name)?);
        }
        for ip in &self.ips {
            parts.push(match ip.to_canonical() {
                IpAddr::V4(ip) => der::value(der::instead(7), &ip.octets()),
                IpAddr::V6(ip) => der::value(der::instead(7), &ip.octets()),
            });
        }
        for uri in &self.uris {
            parts.push(ascii(6, uri)?);
        }
        Ok(der::sequence(&parts))
    }

    fn read(bytes: &[u8]) -> Result<Self, DerError> {
        let mut names = Self::default();
        let mut parts = der::only_sequence(bytes)?;
        while !parts.is_done() {
            let item = parts.any()?;
            let text = || String::from_utf8_lossy(item.contents).into_owned();
            if item.tag == der::instead(2) {
                names.dns.push(text());
            } else if item.tag == der::instead(6) {
                names.uris.push(text());
            } else if item.tag == der::instead(7) {
                let four = <[u8; 4]>::try_from(item.contents).map(IpAddr::from);
                let sixteen = <[u8; 16]>::try_from(item.contents).map(IpAddr::from);
                let ip = four.or(sixteen);
                names.ips.push(ip.map_err(|_| DerError("x509: cannot parse IP address".to_owned()))?);
            }
        }
        Ok(names)
    }
}

/// A certificate that is to be written.
pub(super) struct NewCertificate<'a> {
    /// Its number, the highest byte first.
    pub(super) serial: &'a [u8],
    /// Whom it is about.
    pub(super) subject: &'a Name,
    /// Who signs it, as in that one's certificate; none for one that signs itself.
    pub(super) issuer: Option<&'a Certificate>,
    /// From and until when, as `20261116003534Z`.
    pub(super) validity: (&'a str, &'a str),
    /// The key that it is about.
    pub(super) public_key: &'a PublicKey,
    /// What else it is about.
    pub(super) names: &'a AlternativeNames,
    /// Bits of allowed uses, as in `usage`.
    pub(super) key_usage: u16,
    /// Further allowed uses, as object identifiers.
    pub(super) extended_usages: Vec<&'static [u64]>,
    /// Whether it may sign others.
    pub(super) is_ca: bool,
    /// How many others may be between it and the last one.
    pub(super) max_path_length: Option<u32>,
    /// What identifies its key.
    pub(super) subject_key_id: Option<Vec<u8>>,
    /// What identifies the key that signs it.
    pub(super) authority_key_id: Option<Vec<u8>>,
}

fn extension(oid: &[u64], critical: bool, contents: &[u8]) -> Vec<u8> {
    let mut parts = vec![der::oid(oid)];
    if critical {
        parts.push(der::yes());
    }
    parts.push(der::value(der::OCTET_STRING, contents));
    der::sequence(&parts)
}

impl NewCertificate<'_> {
    /// Signs it.
    pub(super) fn sign(&self, key: &PrivateKey) -> Result<Vec<u8>, String> {
        if let Some(issuer) = self.issuer
            && issuer.public_key != key.public_key()
        {
            return Err("x509: provided PrivateKey doesn't match parent's PublicKey".to_owned());
        }
        let subject = self.subject.encode();
        let issuer = self.issuer.map_or_else(|| subject.clone(), |issuer| issuer.raw_subject.clone());
        let contents = der::sequence(&[
            der::value(der::around(0), &der::small(2)),
            der::unsigned(self.serial),
            key.signature_identifier(),
            issuer.clone(),
            der::sequence(&[der::time(self.validity.0), der::time(self.validity.1)]),
            subject.clone(),
            self.public_key.0.clone(),
            der::value(der::around(3), &der::sequence(&self.extensions(issuer != subject)?)),
        ]);
        signed(contents, key)
    }

    fn extensions(&self, other_issuer: bool) -> Result<Vec<Vec<u8>>, String> {
        let mut found = Vec::new();
        if self.key_usage != 0 {
            found.push(extension(KEY_USAGE, true, &usage_bits(self.key_usage)));
        }
        if !self.extended_usages.is_empty() {
            let usages: Vec<Vec<u8>> = self.extended_usages.iter().map(|oid| der::oid(oid)).collect();
            found.push(extension(EXTENDED_KEY_USAGE, false, &der::sequence(&usages)));
        }
        found.push(extension(BASIC_CONSTRAINTS, true, &self.basic_constraints()));
        if let Some(id) = &self.subject_key_id {
            found.push(extension(SUBJECT_KEY_ID, false, &der::value(der::OCTET_STRING, id)));
        }
        let from_issuer = self.issuer.and_then(|issuer| issuer.subject_key_id.as_ref()).filter(|_| other_issuer);
        if let Some(id) = from_issuer.or(self.authority_key_id.as_ref()) {
            let inner = der::sequence(&[der::value(der::instead(0), id)]);
            found.push(extension(AUTHORITY_KEY_ID, false, &inner));
        }
        if !self.names.is_empty() {
            found.push(extension(ALTERNATIVE_NAMES, self.subject.is_empty(), &self.names.encode()?));
        }
        Ok(found)
    }

    fn basic_constraints(&self) -> Vec<u8> {
        let mut parts = Vec::new();
        if self.is_ca {
            parts.push(der::yes());
            parts.extend(self.max_path_length.map(der::small));
        }
        der::sequence(&parts)
    }
}

/// A bit string without the zeros at its end; the lowest bit comes first.
fn usage_bits(usage: u16) -> Vec<u8> {
    let [low, high] = usage.to_le_bytes().map(u8::reverse_bits);
    let bytes = if high == 0 { vec![low] } else { vec![low, high] };
    let unused = bytes.last().map_or(0, |last| last.trailing_zeros().min(7)) as u8;
    der::value(der::BIT_STRING, &[&[unused], &bytes[..]].concat())
}

fn signed(contents: Vec<u8>, key: &PrivateKey) -> Result<Vec<u8>, String> {
    let signature = key.sign(&contents)?;
    Ok(der::sequence(&[contents, key.signature_identifier(), der::bit_string(&signature)]))
}

/// A request for a certificate, signed.
pub(super) fn new_request(subject: &Name, names: &AlternativeNames, key: &PrivateKey) -> Result<Vec<u8>, String> {
    let mut attributes = Vec::new();
    if !names.is_empty() {
        let extensions = der::sequence(&[extension(ALTERNATIVE_NAMES, false, &names.encode()?)]);
        attributes.push(der::sequence(&[der::oid(EXTENSION_REQUEST), der::set_of(vec![extensions])]));
    }
    let contents =
        der::sequence(&[der::small(0), subject.encode(), key.public_key().0, der::all(der::around(0), &attributes)]);
    signed(contents, key)
}

/// A request that was read.
#[derive(Debug, Clone)]
pub(super) struct Request {
    /// Whom the certificate is to be about.
    pub(super) subject: Name,
    /// The key that it is to be about.
    pub(super) public_key: PublicKey,
    /// What else it is to be about.
    pub(super) names: AlternativeNames,
}

impl Request {
    /// Reads it.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, DerError> {
        let mut contents = der::only_sequence(bytes)?.sequence()?;
        contents.unsigned()?;
        let subject = Name::read(contents.sequence()?)?;
        let public_key = PublicKey(contents.expect(der::SEQUENCE)?.raw.to_vec());
        let mut names = AlternativeNames::default();
        if let Some(attributes) = contents.optional(der::around(0))? {
            let mut attributes = attributes.inside();
            while !attributes.is_done() {
                let mut attribute = attributes.sequence()?;
                if attribute.any()?.as_oid().as_deref() != Some(EXTENSION_REQUEST) {
                    continue;
                }
                let extensions = attribute.expect(der::SET)?.inside().sequence()?;
                names = each_extension(extensions)?.alternative_names.unwrap_or_default();
            }
        }
        Ok(Self { subject, public_key, names })
    }
}

/// What extensions say, as far as anybody here asks.
#[derive(Default)]
struct Extensions {
    alternative_names: Option<AlternativeNames>,
    subject_key_id: Option<Vec<u8>>,
    /// Whether others may be signed, and how many may be between.
    constraints: Option<(bool, Option<i64>)>,
}

fn each_extension(mut all: Reader<'_>) -> Result<Extensions, DerError> {
    let mut found = Extensions::default();
    while !all.is_done() {
        let mut parts = all.sequence()?;
        let oid = parts.any()?.as_oid().unwrap_or_default();
        let mut item = parts.any()?;
        if item.as_bool().is_some() {
            item = parts.any()?;
        }
        if oid == ALTERNATIVE_NAMES {
            found.alternative_names = Some(AlternativeNames::read(item.contents)?);
        } else if oid == SUBJECT_KEY_ID {
            found.subject_key_id = Some(item.inside().expect(der::OCTET_STRING)?.contents.to_vec());
        } else if oid == BASIC_CONSTRAINTS {
            let mut parts = der::only_sequence(item.contents)?;
            let mut is_ca = false;
            if parts.peek() == Some(0x01) {
                is_ca = parts.any()?.as_bool().unwrap_or(false);
            }
            let length = if parts.is_done() { None } else { Some(parts.unsigned()?) };
            let length = length.map(|bytes| bytes.iter().take(7).fold(0i64, |n, byte| n << 8 | i64::from(*byte)));
            found.constraints = Some((is_ca, length));
        }
    }
    Ok(found)
}

/// A certificate that was read.
#[derive(Debug, Clone)]
pub(super) struct Certificate {
    /// As it was read.
    pub(super) raw: Vec<u8>,
    /// 1, 2 or 3.
    pub(super) version: i64,
    /// Its number, the highest byte first.
    pub(super) serial: Vec<u8>,
    /// How it is signed, as an object identifier, and what goes with that.
    signature: (Vec<u64>, Vec<u8>),
    /// Who signed it.
    pub(super) issuer: Name,
    /// Whom it is about.
    pub(super) subject: Name,
    raw_subject: Vec<u8>,
    /// From and until when, as `20261116003534Z`.
    pub(super) validity: (String, String),
    /// The key that it is about.
    pub(super) public_key: PublicKey,
    /// What identifies that key.
    pub(super) subject_key_id: Option<Vec<u8>>,
    /// Whether it may sign others.
    pub(super) is_ca: bool,
    /// How many others may be between it and the last one; -1 for no limit, 0 if it does not say.
    pub(super) max_path_length: i64,
}

impl Certificate {
    /// Reads it.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, DerError> {
        let mut contents = der::only_sequence(bytes)?.sequence()?;
        let version = match contents.optional(der::around(0))? {
            Some(version) => i64::from(version.inside().unsigned()?.last().copied().unwrap_or(0)) + 1,
            None => 1,
        };
        let serial = contents.unsigned()?.to_vec();
        let mut signature = contents.sequence()?;
        let algorithm = signature.any()?.as_oid().unwrap_or_default();
        let parameters = signature.any().map(|item| item.raw.to_vec()).unwrap_or_default();
        let issuer = Name::read(contents.sequence()?)?;
        let validity = read_validity(contents.sequence()?)?;
        let raw_subject = contents.expect(der::SEQUENCE)?;
        let public_key = PublicKey(contents.expect(der::SEQUENCE)?.raw.to_vec());
        contents.optional(0x81)?;
        contents.optional(0x82)?;
        let extensions = match contents.optional(der::around(3))? {
            Some(extensions) => each_extension(extensions.inside().sequence()?)?,
            None => Extensions::default(),
        };
        let (is_ca, max_path_length) = match extensions.constraints {
            Some((is_ca, length)) => (is_ca, length.unwrap_or(-1)),
            None => (false, 0),
        };
        Ok(Self {
            raw: bytes.to_vec(),
            version,
            serial,
            signature: (algorithm, parameters),
            issuer,
            subject: Name::read(raw_subject.inside())?,
            raw_subject: raw_subject.raw.to_vec(),
            validity,
            public_key,
            subject_key_id: extensions.subject_key_id,
            is_ca,
            max_path_length,
        })
    }

    /// How it is signed, as Go prints it.
    pub(super) fn signature_name(&self) -> &'static str {
        match self.signature.0.as_slice() {
            [1, 2, 840, 113_549, 1, 1, 2] => "MD2-RSA",
            [1, 2, 840, 113_549, 1, 1, 4] => "MD5-RSA",
            [1, 2, 840, 113_549, 1, 1, 5] | [1, 3, 14, 3, 2, 29] => "SHA1-RSA",
            [1, 2, 840, 113_549, 1, 1, 11] => "SHA256-RSA",
            [1, 2, 840, 113_549, 1, 1, 12] => "SHA384-RSA",
            [1, 2, 840, 113_549, 1, 1, 13] => "SHA512-RSA",
            [1, 2, 840, 113_549, 1, 1, 10] => self.pss_name(),
            [1, 2, 840, 10040, 4, 3] => "DSA-SHA1",
            [2, 16, 840, 1, 101, 3, 4, 3, 2] => "DSA-SHA256",
            [1, 2, 840, 10045, 4, 1] => "ECDSA-SHA1",
            [1, 2, 840, 10045, 4, 3, 2] => "ECDSA-SHA256",
            [1, 2, 840, 10045, 4, 3, 3] => "ECDSA-SHA384",
            [1, 2, 840, 10045, 4, 3, 4] => "ECDSA-SHA512",
            [1, 3, 101, 112] => "Ed25519",
            _ => "0",
        }
    }

    /// Which hash is used is inside the parameters.
    fn pss_name(&self) -> &'static str {
        let hash = || {
            let mut parameters = der::only_sequence(&self.signature.1).ok()?;
            let hash = parameters.optional(der::around(0)).ok()??;
            hash.inside().sequence().ok()?.any().ok()?.as_oid()
        };
        match hash().as_deref() {
            Some([2, 16, 840, 1, 101, 3, 4, 2, 1]) => "SHA256-RSAPSS",
            Some([2, 16, 840, 1, 101, 3, 4, 2, 2]) => "SHA384-RSAPSS",
            Some([2, 16, 840, 1, 101, 3, 4, 2, 3]) => "SHA512-RSAPSS",
            _ => "0",
        }
    }
}

fn read_validity(mut times: Reader<'_>) -> Result<(String, String), DerError> {
    let invalid = || DerError("x509: malformed validity".to_owned());
    let from = times.any()?.as_time().ok_or_else(invalid)?;
    Ok((from, times.any()?.as_time().ok_or_else(invalid)?))
}
