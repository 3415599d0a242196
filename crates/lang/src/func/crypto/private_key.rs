//! Private RSA keys: reading PKCS #1, PKCS #8 and OpenSSH files, and decrypting with them.

use groma_model::value::go_quote;
use num_bigint::BigUint;

use super::super::encoding::base64;
use super::der::Der;

/// The object identifier of RSA keys, 1.2.840.113549.1.1.1.
const RSA_ENCRYPTION: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const OPENSSH_MAGIC: &[u8] = b"openssh-key-v1\0";
const PROTECTED: &str = "invalid private key: ssh: this private key is passphrase protected";

/// What decrypting needs of a key.
pub(super) struct PrivateKey {
    modulus: BigUint,
    exponent: BigUint,
}

/// Reads a key in PEM.
pub(super) fn parse(text: &str) -> Result<PrivateKey, String> {
    let Some((kind, headers, bytes)) = parse_pem(text) else {
        return Err("invalid private key: ssh: no key found".into());
    };
    if headers.contains("ENCRYPTED") {
        return Err(PROTECTED.into());
    }
    let malformed = || "invalid ASN1 data in the given private key: malformed key".to_owned();
    match kind {
        "RSA PRIVATE KEY" => from_pkcs1(&bytes).ok_or_else(malformed),
        "PRIVATE KEY" => from_pkcs8(&bytes),
        "OPENSSH PRIVATE KEY" => from_openssh(&bytes),
        "EC PRIVATE KEY" | "DSA PRIVATE KEY" => Err("invalid private key type: not an RSA key".into()),
        "ENCRYPTED PRIVATE KEY" => Err(PROTECTED.into()),
        _ => Err(format!("invalid private key: ssh: unsupported key type {}", go_quote(kind))),
    }
}

/// The kind, headers and bytes of the first PEM block.
fn parse_pem(text: &str) -> Option<(&str, String, Vec<u8>)> {
    let start = text.find("-----BEGIN ")? + "-----BEGIN ".len();
    let (kind, body) = text[start..].split_once("-----")?;
    let (body, _) = body.split_once(&format!("-----END {kind}-----"))?;
    let (headers, data): (Vec<&str>, Vec<&str>) = body.lines().map(str::trim).partition(|line| line.contains(':'));
    let bytes = base64::decode(&data.concat()).ok()?;
    Some((kind, headers.join("\n"), bytes))
}

fn from_pkcs1(bytes: &[u8]) -> Option<PrivateKey> {
    let mut fields = Der::new(bytes).sequence()?;
    let _version = fields.integer()?;
    let modulus = BigUint::from_bytes_be(fields.integer()?);
    let _public_exponent = fields.integer()?;
    let exponent = BigUint::from_bytes_be(fields.integer()?);
    PrivateKey::new(modulus, exponent)
}

fn from_pkcs8(bytes: &[u8]) -> Result<PrivateKey, String> {
    let read = || {
        let mut fields = Der::new(bytes).sequence()?;
        let _version = fields.integer()?;
        let algorithm = fields.sequence()?.first_value()?;
        Some((algorithm == RSA_ENCRYPTION, fields.octets()?))
    };
    let malformed = || "invalid ASN1 data in the given private key: malformed key".to_owned();
    match read() {
        Some((false, _)) => Err("invalid private key type: not an RSA key".into()),
        Some((true, key)) => from_pkcs1(key).ok_or_else(malformed),
        None => Err(malformed()),
    }
}

/// Texts with their length before them, one after the other.
struct Ssh<'a>(&'a [u8]);

impl<'a> Ssh<'a> {
    fn number(&mut self) -> Option<u32> {
        let (digits, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*digits))
    }

    fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.number()? as usize;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }
}

fn from_openssh(bytes: &[u8]) -> Result<PrivateKey, String> {
    let malformed = || "invalid private key: ssh: invalid openssh private key format".to_owned();
    let mut file = Ssh(bytes.strip_prefix(OPENSSH_MAGIC).ok_or_else(malformed)?);
    if file.string().ok_or_else(malformed)? != b"none" {
        return Err(PROTECTED.into());
    }
    let mut read = || {
        file.string()?;
        file.string()?;
        file.number().filter(|count| *count == 1)?;
        file.string()?;
        let mut key = Ssh(file.string()?);
        let (first, second) = (key.number()?, key.number()?);
        Some((first == second, key.string()?, key))
    };
    let (checked, kind, mut key) = read().ok_or_else(malformed)?;
    if !checked {
        return Err(malformed());
    }
    if kind != b"ssh-rsa" {
        return Err("invalid private key type: not an RSA key".into());
    }
    let mut read = || {
        let modulus = BigUint::from_bytes_be(key.string()?);
        let _public_exponent = key.string()?;
        PrivateKey::new(modulus, BigUint::from_bytes_be(key.string()?))
    };
    read().ok_or_else(malformed)
}

impl PrivateKey {
    fn new(modulus: BigUint, exponent: BigUint) -> Option<Self> {
        // Larger keys would take too long, and no one has them.
        (modulus.bits() <= 16_384 && modulus.bits() > 8).then_some(Self { modulus, exponent })
    }

    /// What was encrypted with PKCS #1 v1.5; none if it was not, or not for this key.
    pub(super) fn decrypt(&self, ciphertext: &[u8]) -> Option<Vec<u8>> {
        let number = BigUint::from_bytes_be(ciphertext);
        if number >= self.modulus {
            return None;
        }
        let padded = number.modpow(&self.exponent, &self.modulus).to_bytes_be();
        // The leading zero byte is not part of the number.
        if padded.len() + 1 != self.modulus.bits().div_ceil(8) as usize || padded[0] != 2 {
            return None;
        }
        let end_of_padding = padded.iter().position(|byte| *byte == 0)?;
        (end_of_padding >= 9).then(|| padded[end_of_padding + 1..].to_vec())
    }
}
