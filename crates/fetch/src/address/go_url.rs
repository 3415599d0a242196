//! Which texts Go's URL parser takes, and how it writes paths and parameters again. Whether an address is a URL or a
//! shorthand has always been decided by that parser, which is more forgiving than the standard that ours follows.

use std::fmt::Write;

/// The scheme of a URL, if the text is a URL; an empty one if it is a relative reference; nothing if it is no URL.
pub(super) fn scheme(text: &str) -> Option<String> {
    if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
        return None;
    }
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    if !valid_escapes(fragment) {
        return None;
    }
    let (scheme, rest) = split_scheme(text)?;
    let rest = rest.split_once('?').map_or(rest, |(path, _)| path);
    if !rest.starts_with('/') {
        let first = rest.split('/').next().unwrap_or_default();
        return match scheme {
            "" if first.contains(':') || !valid_escapes(rest) => None,
            scheme => Some(scheme.to_ascii_lowercase()),
        };
    }
    let mut path = rest;
    if let Some(behind) = rest.strip_prefix("//").filter(|_| !scheme.is_empty() || !rest.starts_with("///")) {
        let end = behind.find('/').unwrap_or(behind.len());
        let (authority, after) = behind.split_at(end);
        if !valid_authority(authority) {
            return None;
        }
        path = after;
    }
    valid_escapes(path).then(|| scheme.to_ascii_lowercase())
}

fn split_scheme(text: &str) -> Option<(&str, &str)> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return None,
            b':' => return Some((&text[..at], &text[at + 1..])),
            _ => return Some(("", text)),
        }
    }
    Some(("", text))
}

fn valid_authority(authority: &str) -> bool {
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let user_char = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    if !user.chars().all(user_char) || !valid_escapes(user) {
        return false;
    }
    if let Some(bracketed) = host.strip_prefix('[') {
        let Some((address, port)) = bracketed.split_once(']') else { return false };
        return valid_port(port)
            && address.split('%').next().is_some_and(|ip| ip.parse::<std::net::Ipv6Addr>().is_ok());
    }
    let (name, port) = host.find(':').map_or((host, ""), |at| host.split_at(at));
    let host_char = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=<>\"".contains(c);
    valid_port(port) && name.chars().all(host_char)
}

/// Nothing, or a colon and digits.
fn valid_port(port: &str) -> bool {
    port.is_empty() || port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn valid_escapes(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_hex = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_hexdigit);
    bytes.iter().enumerate().all(|(at, byte)| *byte != b'%' || (is_hex(at + 1) && is_hex(at + 2)))
}

/// Replaces `%41` by `A`, and so on. With `plus`, `+` is a space, as in parameters.
pub(super) fn unescape(text: &str, plus: bool) -> Option<String> {
    if !valid_escapes(text) {
        return None;
    }
    let bytes = text.as_bytes();
    let mut result = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'%' => {
                result.push(u8::from_str_radix(text.get(at + 1..at + 3)?, 16).ok()?);
                at += 3;
            }
            b'+' if plus => {
                result.push(b' ');
                at += 1;
            }
            byte => {
                result.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(result).ok()
}

/// Writes a path so that it can be part of a URL.
pub(super) fn escape_path(path: &str) -> String {
    escape(path, |byte| b"$&+,/:;=@".contains(&byte))
}

/// Parameters in the order of their names, as they are written after having been read.
pub(super) fn encode_query(mut pairs: Vec<(String, String)>) -> String {
    pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
    let part = |text: &str| escape(text, |_| false).replace("%20", "+");
    pairs.iter().map(|(name, value)| format!("{}={}", part(name), part(value))).collect::<Vec<_>>().join("&")
}

/// The parameters of a query, in order. Pairs that cannot be read are left out, or fail if `strict`.
pub(super) fn parse_query(query: &str, strict: bool) -> Option<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match (unescape(name, true), unescape(value, true)) {
            (Some(name), Some(value)) if !pair.contains(';') => pairs.push((name, value)),
            _ if strict => return None,
            _ => {}
        }
    }
    Some(pairs)
}

fn escape(text: &str, keep: impl Fn(u8) -> bool) -> String {
    let mut result = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || keep(byte) {
            result.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(result, "%{byte:02X}");
        }
    }
    result
}
