//! HZ-GB-2312: Chinese characters as pairs of ASCII characters, between `~{` and `~}`.

use encoding_rs::GBK;

/// Text to bytes; none if something in it has no place in the set. A last `~}` is left out.
pub(super) fn encode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut chinese = false;
    for c in text.chars() {
        if c == '~' {
            // Stands for itself twice, among Chinese characters too.
            out.extend_from_slice(b"~~");
            continue;
        }
        if c.is_ascii() {
            if chinese {
                out.extend_from_slice(b"~}");
            }
            chinese = false;
            out.push(c as u8);
            continue;
        }
        let mut buffer = [0; 4];
        let (bytes, _, unmappable) = GBK.encode(c.encode_utf8(&mut buffer));
        let [high @ 0xa1..=0xfe, low @ 0xa1..=0xfe] = *bytes else { return None };
        if unmappable {
            return None;
        }
        if !chinese {
            out.extend_from_slice(b"~{");
        }
        chinese = true;
        out.extend_from_slice(&[high & 0x7f, low & 0x7f]);
    }
    Some(out)
}

/// Bytes to text; none if they are not in the set.
pub(super) fn decode(bytes: &[u8]) -> Option<String> {
    let mut out = String::with_capacity(bytes.len());
    let mut chinese = false;
    let mut rest = bytes;
    loop {
        match *rest {
            [] => return Some(out),
            [b'~', next, ..] => {
                match next {
                    b'{' => chinese = true,
                    b'}' => chinese = false,
                    b'~' => out.push('~'),
                    // A line break that is not part of the text.
                    b'\n' => {}
                    _ => return None,
                }
                rest = &rest[2..];
            }
            [high, low, ..] if chinese && high < 0x80 && low < 0x80 => {
                let pair = [high | 0x80, low | 0x80];
                out.push_str(&GBK.decode_without_bom_handling_and_without_replacement(&pair)?);
                rest = &rest[2..];
            }
            [byte, ..] if !chinese && byte < 0x80 => {
                out.push(char::from(byte));
                rest = &rest[1..];
            }
            _ => return None,
        }
    }
}
