//! As much of DER as private keys need: sequences, integers, strings of bytes.

/// Reads values one after the other.
pub(super) struct Der<'a>(&'a [u8]);

const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const SEQUENCE: u8 = 0x30;

impl<'a> Der<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next value with that tag; none if there is something else.
    fn value(&mut self, tag: u8) -> Option<&'a [u8]> {
        let [found, length, rest @ ..] = self.0 else { return None };
        if *found != tag {
            return None;
        }
        let (length, rest) = match *length {
            short @ 0..0x80 => (usize::from(short), rest),
            long => {
                let (digits, rest) = rest.split_at_checked(usize::from(long & 0x7f)).filter(|_| long <= 0x84)?;
                (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
            }
        };
        let (value, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(value)
    }

    /// Goes into a sequence.
    pub(super) fn sequence(&mut self) -> Option<Der<'a>> {
        self.value(SEQUENCE).map(Der)
    }

    /// The bytes of a non-negative integer.
    pub(super) fn integer(&mut self) -> Option<&'a [u8]> {
        self.value(INTEGER).filter(|bytes| bytes.first().is_some_and(|first| *first < 0x80))
    }

    /// A string of bytes.
    pub(super) fn octets(&mut self) -> Option<&'a [u8]> {
        self.value(OCTETS)
    }

    /// The bytes of the first value of a sequence, whatever it is, without tag and length.
    pub(super) fn first_value(&self) -> Option<&'a [u8]> {
        let tag = *self.0.first()?;
        Der(self.0).value(tag)
    }
}
