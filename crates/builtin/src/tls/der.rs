//! DER: the few forms that keys, certificates and requests are made of. What they mean is elsewhere.

use std::fmt;

/// `INTEGER`
pub(super) const INTEGER: u8 = 0x02;
/// `BIT STRING`
pub(super) const BIT_STRING: u8 = 0x03;
/// `OCTET STRING`
pub(super) const OCTET_STRING: u8 = 0x04;
/// `OBJECT IDENTIFIER`
pub(super) const OID: u8 = 0x06;
/// `SEQUENCE`
pub(super) const SEQUENCE: u8 = 0x30;
/// `SET`
pub(super) const SET: u8 = 0x31;
const BOOLEAN: u8 = 0x01;
const NULL: u8 = 0x05;
const UTF8_STRING: u8 = 0x0c;
const PRINTABLE_STRING: u8 = 0x13;
const T61_STRING: u8 = 0x14;
const IA5_STRING: u8 = 0x16;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const BMP_STRING: u8 = 0x1e;

/// A tag that only its surroundings explain, around another value.
pub(super) fn around(number: u8) -> u8 {
    0xa0 | number
}

/// A tag that only its surroundings explain, instead of that of a primitive value.
pub(super) fn instead(number: u8) -> u8 {
    0x80 | number
}

/// One value with its tag.
pub(super) fn value(tag: u8, contents: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    let length = contents.len();
    if length < 0x80 {
        out.push(length as u8);
    } else {
        let bytes = length.to_be_bytes();
        let bytes = &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..];
        out.push(0x80 | bytes.len() as u8);
        out.extend_from_slice(bytes);
    }
    out.extend_from_slice(contents);
    out
}

/// Values one after the other, with one tag around them.
pub(super) fn all(tag: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    value(tag, &parts.concat())
}

/// A `SEQUENCE`.
pub(super) fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    all(SEQUENCE, parts)
}

/// A `SET OF`, in the order that DER asks for.
pub(super) fn set_of(mut parts: Vec<Vec<u8>>) -> Vec<u8> {
    parts.sort();
    all(SET, &parts)
}

/// An `INTEGER` that is not negative, from its bytes, the highest first.
pub(super) fn unsigned(bytes: &[u8]) -> Vec<u8> {
    let bytes = &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..];
    match bytes.first() {
        None => value(INTEGER, &[0]),
        Some(first) if first & 0x80 != 0 => value(INTEGER, &[&[0], bytes].concat()),
        Some(_) => value(INTEGER, bytes),
    }
}

/// A small `INTEGER`.
pub(super) fn small(number: u32) -> Vec<u8> {
    unsigned(&number.to_be_bytes())
}

/// `BOOLEAN` true.
pub(super) fn yes() -> Vec<u8> {
    value(BOOLEAN, &[0xff])
}

/// `NULL`
pub(super) fn null() -> Vec<u8> {
    value(NULL, &[])
}

/// An `OBJECT IDENTIFIER` from its numbers.
pub(super) fn oid(numbers: &[u64]) -> Vec<u8> {
    let mut contents = Vec::new();
    let first = numbers.first().copied().unwrap_or(0) * 40 + numbers.get(1).copied().unwrap_or(0);
    for number in std::iter::once(first).chain(numbers.iter().skip(2).copied()) {
        let mut septets = vec![(number & 0x7f) as u8];
        let mut rest = number >> 7;
        while rest > 0 {
            septets.push(0x80 | (rest & 0x7f) as u8);
            rest >>= 7;
        }
        contents.extend(septets.iter().rev());
    }
    value(OID, &contents)
}

/// A `BIT STRING` of whole bytes.
pub(super) fn bit_string(bytes: &[u8]) -> Vec<u8> {
    value(BIT_STRING, &[&[0], bytes].concat())
}

/// A text as names have it: plain letters where that is enough, Unicode otherwise.
pub(super) fn text(text: &str) -> Vec<u8> {
    let printable = |byte: u8| byte.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(&byte);
    value(if text.bytes().all(printable) { PRINTABLE_STRING } else { UTF8_STRING }, text.as_bytes())
}

/// A text of ASCII letters.
pub(super) fn ascii(text: &str) -> Vec<u8> {
    value(IA5_STRING, text.as_bytes())
}

/// A point in time to the second, given as `20261116003534Z`. Years up to 2049 are written with two digits.
pub(super) fn time(compact: &str) -> Vec<u8> {
    let short = compact.get(..4).and_then(|year| year.parse::<u32>().ok()).is_some_and(|y| (1950..2050).contains(&y));
    match compact.get(2..) {
        Some(rest) if short => value(UTC_TIME, rest.as_bytes()),
        _ => value(GENERALIZED_TIME, compact.as_bytes()),
    }
}

/// The bytes are not what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DerError(pub(super) String);

impl fmt::Display for DerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn wrong<T>(message: impl Into<String>) -> Result<T, DerError> {
    Err(DerError(message.into()))
}

/// Reads values one after the other.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(&'a [u8]);

/// A value that was read.
#[derive(Clone, Copy)]
pub(super) struct Item<'a> {
    /// Its tag.
    pub(super) tag: u8,
    /// What is inside.
    pub(super) contents: &'a [u8],
    /// The value as a whole.
    pub(super) raw: &'a [u8],
}

impl<'a> Item<'a> {
    /// Reads what is inside.
    pub(super) fn inside(&self) -> Reader<'a> {
        Reader(self.contents)
    }

    /// A text of names, whatever its form.
    pub(super) fn as_text(&self) -> Option<String> {
        match self.tag {
            UTF8_STRING | PRINTABLE_STRING | IA5_STRING => String::from_utf8(self.contents.to_vec()).ok(),
            T61_STRING => Some(self.contents.iter().map(|byte| char::from(*byte)).collect()),
            BMP_STRING => {
                let units: Vec<u16> = self.contents.chunks_exact(2).map(|c| u16::from_be_bytes([c[0], c[1]])).collect();
                String::from_utf16(&units).ok()
            }
            _ => None,
        }
    }

    /// A point in time as `20261116003534Z`.
    pub(super) fn as_time(&self) -> Option<String> {
        let text = std::str::from_utf8(self.contents).ok()?;
        match self.tag {
            UTC_TIME if text.is_ascii() => {
                let century = if text.get(..2)?.parse::<u32>().ok()? >= 50 { "19" } else { "20" };
                Some(format!("{century}{text}"))
            }
            GENERALIZED_TIME => Some(text.to_owned()),
            _ => None,
        }
    }

    /// The numbers of an object identifier.
    pub(super) fn as_oid(&self) -> Option<Vec<u64>> {
        if self.tag != OID || self.contents.last()? & 0x80 != 0 {
            return None;
        }
        let mut numbers = Vec::new();
        let mut number = 0u64;
        for byte in self.contents {
            number = number.checked_mul(128)? | u64::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                if numbers.is_empty() {
                    let first = (number / 40).min(2);
                    numbers.extend([first, number - first * 40]);
                } else {
                    numbers.push(number);
                }
                number = 0;
            }
        }
        Some(numbers)
    }

    /// The bytes of a bit string of whole bytes.
    pub(super) fn as_bits(&self) -> Option<&'a [u8]> {
        match self.contents.split_first() {
            Some((0, bytes)) if self.tag == BIT_STRING => Some(bytes),
            _ => None,
        }
    }

    /// A bool.
    pub(super) fn as_bool(&self) -> Option<bool> {
        (self.tag == BOOLEAN && self.contents.len() == 1).then(|| self.contents[0] != 0)
    }
}

impl<'a> Reader<'a> {
    /// Reads from the beginning.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether everything was read.
    pub(super) fn is_done(&self) -> bool {
        self.0.is_empty()
    }

    /// The next tag.
    pub(super) fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// The next value.
    pub(super) fn any(&mut self) -> Result<Item<'a>, DerError> {
        let (Some(&tag), Some(&first)) = (self.0.first(), self.0.get(1)) else {
            return wrong("unexpected end of data");
        };
        if tag & 0x1f == 0x1f {
            return wrong("unsupported tag");
        }
        let (length, start) = if first < 0x80 {
            (usize::from(first), 2)
        } else {
            let count = usize::from(first & 0x7f);
            let Some(bytes) = self.0.get(2..2 + count).filter(|_| (1..=4).contains(&count)) else {
                return wrong("invalid length");
            };
            let length = bytes.iter().fold(0usize, |length, byte| length << 8 | usize::from(*byte));
            if length < 0x80 || bytes[0] == 0 {
                return wrong("length is not in its shortest form");
            }
            (length, 2 + count)
        };
        let end = start.checked_add(length).filter(|end| *end <= self.0.len());
        let Some(end) = end else { return wrong("data is truncated") };
        let item = Item { tag, contents: &self.0[start..end], raw: &self.0[..end] };
        self.0 = &self.0[end..];
        Ok(item)
    }

    /// The next value, which must have that tag.
    pub(super) fn expect(&mut self, tag: u8) -> Result<Item<'a>, DerError> {
        let item = self.any()?;
        if item.tag == tag { Ok(item) } else { wrong(format!("unexpected tag {:#04x}, not {tag:#04x}", item.tag)) }
    }

    /// The next value, if it has that tag.
    pub(super) fn optional(&mut self, tag: u8) -> Result<Option<Item<'a>>, DerError> {
        if self.peek() == Some(tag) { self.any().map(Some) } else { Ok(None) }
    }

    /// Inside the sequence that comes next.
    pub(super) fn sequence(&mut self) -> Result<Reader<'a>, DerError> {
        Ok(self.expect(SEQUENCE)?.inside())
    }

    /// The bytes of an integer that is not negative, without leading zeros.
    pub(super) fn unsigned(&mut self) -> Result<&'a [u8], DerError> {
        let item = self.expect(INTEGER)?;
        match item.contents.first() {
            None => wrong("empty integer"),
            Some(first) if first & 0x80 != 0 => wrong("negative integer"),
            Some(_) => Ok(&item.contents[item.contents.iter().take_while(|byte| **byte == 0).count()..]),
        }
    }

    /// Nothing may follow.
    pub(super) fn done(&self) -> Result<(), DerError> {
        if self.is_done() { Ok(()) } else { wrong("trailing data") }
    }
}

/// The one sequence that the bytes hold.
pub(super) fn only_sequence(bytes: &[u8]) -> Result<Reader<'_>, DerError> {
    let mut outer = Reader::new(bytes);
    let inner = outer.sequence()?;
    outer.done()?;
    Ok(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_numbers_are_in_their_shortest_form() {
        assert_eq!(value(OCTET_STRING, &[7; 3]), [4, 3, 7, 7, 7]);
        assert_eq!(value(OCTET_STRING, &[7; 200])[..3], [4, 0x81, 200]);
        assert_eq!(value(OCTET_STRING, &[7; 300])[..4], [4, 0x82, 1, 44]);
        assert_eq!(unsigned(&[0, 0, 0x80]), [2, 2, 0, 0x80]);
        assert_eq!(small(0), [2, 1, 0]);
        assert_eq!(oid(&[1, 2, 840, 113_549, 1, 1, 1]), [6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1]);
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = sequence(&[small(70_000), oid(&[2, 5, 29, 17]), text("a_b"), time("20501116003534Z")]);
        let mut reader = only_sequence(&bytes).unwrap();
        assert_eq!(reader.unsigned().unwrap(), [1, 0x11, 0x70]);
        assert_eq!(reader.any().unwrap().as_oid().unwrap(), [2, 5, 29, 17]);
        assert_eq!(reader.any().unwrap().as_text().unwrap(), "a_b");
        assert_eq!(reader.any().unwrap().as_time().unwrap(), "20501116003534Z");
        assert!(reader.is_done());
    }

    #[test]
    fn damaged_bytes_are_refused() {
        for bytes in [&[0x30][..], &[0x30, 5, 1], &[0x30, 0x80, 0, 0], &[0x30, 0x81, 1, 0], &[0x1f, 1, 1], &[]] {
            assert!(only_sequence(bytes).is_err(), "{bytes:?}");
        }
        assert!(only_sequence(&[0x30, 0, 0]).is_err());
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let sample = sequence(&[small(1), text("x"), bit_string(&[1, 2, 3]), oid(&[1, 3, 101, 112])]);
        for cut in 0..sample.len() {
            for replaced in [0u8, 0x7f, 0x80, 0xff] {
                let mut bytes = sample.clone();
                bytes[cut] = replaced;
                let Ok(mut reader) = only_sequence(&bytes) else { continue };
                while let Ok(item) = reader.any() {
                    let _ = (item.as_oid(), item.as_text(), item.as_bits(), item.as_time(), item.as_bool());
                }
            }
        }
    }
}
