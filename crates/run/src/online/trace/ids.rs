//! Ids of traces and spans, and how they are written for others.

use std::fmt;

/// A span, as others know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Context {
    pub(super) trace: [u8; 16],
    pub(super) span: [u8; 8],
    pub(super) sampled: bool,
}

impl Context {
    /// The beginning of a trace. None if there is no randomness, which no span is worth failing for.
    pub(super) fn root() -> Option<Self> {
        Some(Self { trace: random()?, span: random()?, sampled: true })
    }

    /// A span of the same trace.
    pub(super) fn child(self) -> Option<Self> {
        Some(Self { span: random()?, ..self })
    }

    /// `00-<trace>-<span>-<flags>`. Later versions may have more behind that.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let version = bytes::<1>(version)?[0];
        if version == 0xff || (version == 0 && parts.next().is_some()) {
            return None;
        }
        let found = Self { trace: bytes(trace)?, span: bytes(span)?, sampled: bytes::<1>(flags)?[0] & 1 == 1 };
        (found.trace != [0; 16] && found.span != [0; 8]).then_some(found)
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}-{:02x}", hex(&self.trace), hex(&self.span), u8::from(self.sampled))
    }
}

fn random<const N: usize>() -> Option<[u8; N]> {
    let mut found = [0; N];
    getrandom::fill(&mut found).ok()?;
    Some(found)
}

/// Bytes as digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.len() == 2 * N && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    let mut found = [0; N];
    for (at, byte) in found.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2).filter(|_| digits)?, 16).ok()?;
    }
    Some(found)
}
