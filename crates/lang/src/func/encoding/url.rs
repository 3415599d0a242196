//! Percent encoding for the query of a URL: a space is `+`.

use std::fmt::Write as _;

use groma_model::value::go_quote;

/// Encodes all but letters, digits and `-_.~`.
pub(super) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            _ => {
                // Writing to a String cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// Decodes; bytes that are no text are replaced.
pub(super) fn decode(text: &str) -> Result<String, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'%' => {
                let hex = |offset: usize| bytes.get(at + offset).and_then(|byte| char::from(*byte).to_digit(16));
                let (Some(high), Some(low)) = (hex(1), hex(2)) else {
                    let part = String::from_utf8_lossy(&bytes[at..bytes.len().min(at + 3)]);
                    return Err(format!("failed to decode URL '': invalid URL escape {}", go_quote(&part)));
                };
                out.push((high * 16 + low) as u8);
                at += 2;
            }
            b'+' => out.push(b' '),
            _ => out.push(byte),
        }
        at += 1;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}
