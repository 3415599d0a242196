//! Base64 with the standard alphabet and padding. Line breaks in the input are ignored, as other tools do.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Bytes to text.
pub(in super::super) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Text to bytes, or the offset of the first byte that does not belong there.
pub(in super::super) fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let input = text.as_bytes();
    let mut out = Vec::with_capacity(input.len() / 4 * 3);
    let mut at = 0;
    loop {
        let mut word = 0u32;
        let mut count = 0;
        while count < 4 {
            let Some(&byte) = input.get(at) else {
                return if count == 0 { Ok(out) } else { Err(at - count) };
            };
            at += 1;
            match byte {
                b'\r' | b'\n' => {}
                b'=' => {
                    at = check_padding(input, at, count)?;
                    // What is left of the last bits is ignored.
                    let bytes = (word << (6 * (4 - count))).to_be_bytes();
                    out.extend_from_slice(&bytes[1..count]);
                    return if at == input.len() { Ok(out) } else { Err(at) };
                }
                _ => {
                    word = word << 6 | digit(byte).ok_or(at - 1)?;
                    count += 1;
                }
            }
        }
        out.extend_from_slice(&word.to_be_bytes()[1..]);
    }
}

/// Checks what follows the first `=`, which comes after so many digits. Gives the offset behind the padding.
fn check_padding(input: &[u8], mut at: usize, digits: usize) -> Result<usize, usize> {
    let skip_breaks = |mut at: usize| {
        while matches!(input.get(at), Some(b'\r' | b'\n')) {
            at += 1;
        }
        at
    };
    match digits {
        0 | 1 => return Err(at - 1),
        2 => {
            at = skip_breaks(at);
            match input.get(at) {
                None => return Err(input.len()),
                Some(b'=') => at += 1,
                Some(_) => return Err(at - 1),
            }
        }
        _ => {}
    }
    Ok(skip_breaks(at))
}

fn digit(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(value.into())
}
