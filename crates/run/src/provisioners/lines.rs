//! Output of programs, cut into lines while it comes.

use std::collections::VecDeque;

/// A line that does not end is shown in pieces of this size.
const LONGEST: usize = 64 << 10;

/// Cuts bytes into lines and tells them.
pub(super) struct Lines<'t> {
    tell: &'t (dyn Fn(&str) + Send + Sync),
    begun: Vec<u8>,
}

impl<'t> Lines<'t> {
    /// Nothing has come yet.
    pub(super) fn new(tell: &'t (dyn Fn(&str) + Send + Sync)) -> Self {
        Self { tell, begun: Vec::new() }
    }

    /// More came.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
            self.begun.extend_from_slice(&rest[..at]);
            self.end_line();
            rest = &rest[at + 1..];
        }
        self.begun.extend_from_slice(rest);
        if self.begun.len() >= LONGEST {
            self.end_line();
        }
    }

    /// Nothing more comes.
    pub(super) fn end(&mut self) {
        if !self.begun.is_empty() {
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        let line = String::from_utf8_lossy(&self.begun);
        (self.tell)(line.trim_end_matches('\r'));
        self.begun.clear();
    }
}

/// The last bytes of something long.
pub(super) struct Tail {
    bytes: VecDeque<u8>,
    room: usize,
}

impl Tail {
    /// Keeps that many.
    pub(super) fn new(room: usize) -> Self {
        Self { bytes: VecDeque::new(), room }
    }

    /// More came.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.bytes.extend(&bytes[bytes.len().saturating_sub(self.room)..]);
        let excess = self.bytes.len().saturating_sub(self.room);
        self.bytes.drain(..excess);
    }

    /// What was kept.
    pub(super) fn text(&self) -> String {
        let (first, second) = self.bytes.as_slices();
        String::from_utf8_lossy(&[first, second].concat()).into_owned()
    }
}
