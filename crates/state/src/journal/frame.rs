//! How records lie in a journal: framed, numbered and checked one by one, so that what was cut off, lost or changed is told
//! from what was written. What is in a record is not known here.
//!
//! A frame is `mark 4 · run 8 · kind 1 · number 8 · batch 8 · length 4 · payload · check 8`, numbers with their lowest byte
//! first. The check is the beginning of the SHA-256 of everything before it. The batch is the number of the first record
//! that was made durable together with this one: everything before that was durable when this was written.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::digest::{from_hex, write_hex};

/// How a frame begins. No payload in the clear contains it, because it is not UTF-8.
const MARK: [u8; 4] = [0xf5, 0xfa, b'J', 0xff];
const HEAD: usize = 4 + 8 + 1 + 8 + 8 + 4;
const CHECK: usize = 8;
/// What surrounds a payload.
pub(super) const OVERHEAD: usize = HEAD + CHECK;
/// The longest payload.
pub(super) const MOST_PAYLOAD: usize = 1 << 30;

/// One run of groma; random.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub [u8; 8]);

impl RunId {
    /// From what [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 8];
        from_hex(text, &mut bytes).then_some(Self(bytes))
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

/// A record as it lies there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame<'b> {
    pub(super) run: RunId,
    pub(super) kind: u8,
    pub(super) number: u64,
    pub(super) batch: u64,
    pub(super) payload: &'b [u8],
}

impl Frame<'_> {
    /// Adds the frame to `out`. The payload must not be longer than [`MOST_PAYLOAD`].
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let from = out.len();
        out.reserve(OVERHEAD + self.payload.len());
        out.extend(MARK);
        out.extend(self.run.0);
        out.push(self.kind);
        out.extend(self.number.to_le_bytes());
        out.extend(self.batch.to_le_bytes());
        out.extend((self.payload.len() as u32).to_le_bytes());
        out.extend(self.payload);
        let check = check(&out[from..]);
        out.extend(check);
    }
}

fn check(bytes: &[u8]) -> [u8; CHECK] {
    let mut check = [0; CHECK];
    check.copy_from_slice(&Sha256::digest(bytes)[..CHECK]);
    check
}

/// The frame that `bytes` begin with, and how long it is. None if they begin with anything else.
pub(super) fn read(bytes: &[u8]) -> Option<(Frame<'_>, usize)> {
    let head = bytes.get(..HEAD)?;
    if !head.starts_with(&MARK) {
        return None;
    }
    let number = |at: usize| head[at..at + 8].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
    let length = head[29..33].iter().rev().fold(0, |length, byte| length << 8 | usize::from(*byte));
    let end = HEAD.checked_add(length)?;
    if length > MOST_PAYLOAD || bytes.get(end..end.checked_add(CHECK)?)? != check(&bytes[..end]) {
        return None;
    }
    let mut run = RunId([0; 8]);
    run.0.copy_from_slice(&head[4..12]);
    let frame = Frame { run, kind: head[12], number: number(13), batch: number(21), payload: &bytes[HEAD..end] };
    Some((frame, end + CHECK))
}

/// Of which run a journal is, and how long the header is that it begins with. None if it begins with anything else.
pub fn header_of(journal: &[u8]) -> Option<(RunId, usize)> {
    read(journal).map(|(frame, length)| (frame.run, length))
}

/// Where the next frame may begin, at `from` or later.
pub(super) fn next_mark(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(MARK.len()).position(|window| window == MARK).map(|at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_back_and_changes_are_noticed() {
        let frame = Frame { run: RunId(*b"12345678"), kind: 3, number: 1 << 40, batch: 7, payload: b"{\"a\":1}" };
        let mut bytes = Vec::new();
        frame.write(&mut bytes);
        assert_eq!(bytes.len(), OVERHEAD + 7);
        assert_eq!(read(&bytes), Some((frame, bytes.len())));
        let with_more = [bytes.as_slice(), b"more"].concat();
        assert_eq!(read(&with_more), Some((frame, bytes.len())));
        for at in 0..bytes.len() {
            assert_eq!(read(&bytes[..at]), None);
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                assert_eq!(read(&changed), None, "bit {bit} of byte {at}");
            }
        }
        assert_eq!(next_mark(&[b"xx".as_slice(), &bytes].concat(), 0), Some(2));
        assert_eq!(next_mark(&bytes, 1), None);
        assert_eq!(next_mark(&bytes, 1000), None);
    }
}
