//! UUIDs as text, and those that stand for a name.

use groma_model::value::go_quote;
use sha1::{Digest, Sha1};

use super::hash::hex;

/// Hexadecimal digits with dashes.
pub(super) fn format(bytes: &[u8; 16]) -> String {
    let hex = hex(bytes);
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// The UUID of a name in a namespace.
pub(super) fn version5(namespace: &str, name: &str) -> Result<String, String> {
    // The namespaces of the standard differ in one digit.
    let well_known = |digit: char| parse(&format!("6ba7b81{digit}-9dad-11d1-80b4-00c04fd430c8"));
    let space = match namespace {
        "dns" => well_known('0'),
        "url" => well_known('1'),
        "oid" => well_known('2'),
        "x500" => well_known('4'),
        _ => parse(namespace),
    };
    let space = space.map_err(|problem| format!("uuidv5() doesn't support namespace {namespace} ({problem})"))?;
    let digest = Sha1::new().chain_update(space).chain_update(name).finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x50;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    Ok(format(&bytes))
}

/// Reads a UUID: with dashes, as a URN, in braces, or nothing but digits.
fn parse(text: &str) -> Result<[u8; 16], String> {
    let invalid = || "invalid UUID format".to_owned();
    let plain = match text.len() {
        36 => text,
        45 => match text.get(..9) {
            Some(prefix) if prefix.eq_ignore_ascii_case("urn:uuid:") => &text[9..],
            prefix => return Err(format!("invalid urn prefix: {}", go_quote(prefix.unwrap_or_default()))),
        },
        38 => text.get(1..37).ok_or_else(invalid)?,
        32 => return digits(text).ok_or_else(invalid),
        length => return Err(format!("invalid UUID length: {length}")),
    };
    let bytes = plain.as_bytes();
    if [8, 13, 18, 23].iter().any(|at| bytes[*at] != b'-') {
        return Err(invalid());
    }
    let without_dashes: String =
        plain.char_indices().filter(|(at, _)| ![8, 13, 18, 23].contains(at)).map(|(_, c)| c).collect();
    digits(&without_dashes).ok_or_else(invalid)
}

fn digits(text: &str) -> Option<[u8; 16]> {
    let mut bytes = [0; 16];
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != 16 || !rest.is_empty() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        let digit = |c: u8| char::from(c).to_digit(16);
        *byte = (digit(pair[0])? * 16 + digit(pair[1])?) as u8;
    }
    Some(bytes)
}
