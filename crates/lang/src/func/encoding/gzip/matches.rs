//! Finding repetitions: hash chains over a sliding window, with a look at the next position before a match is taken.
//!
//! Which of several matches is chosen, and where a block ends, decide the bytes that come out, so the limits below and the
//! moments at which the window moves are those of Go's encoder.

use super::block::{BlockWriter, Token};

/// How far back a match may begin.
const WINDOW: usize = 1 << 15;
/// Shorter matches are not taken.
const MIN_MATCH: usize = 4;
/// Longer matches cannot be written.
const MAX_MATCH: usize = 258;
/// A match of the least length is not worth it beyond this distance.
const SHORT_MATCH_DISTANCE: usize = 4096;
/// A match this long is taken without a look at the next position.
const LAZY: usize = 16;
/// A match this long is taken without looking for a longer one.
const NICE: usize = 128;
/// How many earlier positions are tried.
const TRIES: usize = 128;
/// How many tokens make a block.
const BLOCK_TOKENS: usize = 1 << 14;
/// What must lie ahead to go on before all input has been seen.
const LOOKAHEAD: usize = MIN_MATCH + MAX_MATCH;

const HASH_BITS: u32 = 17;
const HASH_FACTOR: u32 = 0x1e35_a7bd;

/// Divides input into tokens and writes them in blocks, none of which is the last.
pub(super) fn deflate(input: &[u8], writer: &mut BlockWriter) {
    let mut matcher = Matcher::new(input);
    while matcher.seen < input.len() {
        matcher.advance(false, writer);
        matcher.refill();
    }
    matcher.advance(true, writer);
}

struct Match {
    length: usize,
    distance: usize,
}

struct Matcher<'a> {
    input: &'a [u8],
    /// The next position to look at.
    at: usize,
    /// How much of the input is in the buffer of two windows.
    seen: usize,
    /// Where that buffer begins.
    base: usize,
    /// Where the current block begins; none if that has left the buffer, and then it cannot be stored as it is.
    block_start: Option<usize>,
    tokens: Vec<Token>,
    /// What was found at the position before, if anything.
    pending: Option<Match>,
    /// Whether the byte before is not in a token yet.
    byte_pending: bool,
    /// The latest position per hash, plus one.
    heads: Vec<u32>,
    /// The position before with the same hash, plus one, per position in the window.
    previous: Vec<u32>,
}

impl<'a> Matcher<'a> {
    fn new(input: &'a [u8]) -> Self {
        Self {
            input,
            at: 0,
            seen: 0,
            base: 0,
            block_start: Some(0),
            tokens: Vec::with_capacity(BLOCK_TOKENS.min(input.len())),
            pending: None,
            byte_pending: false,
            heads: vec![0; 1 << HASH_BITS],
            previous: vec![0; WINDOW],
        }
    }

    /// Moves the buffer on by a window when it is used up, and takes in more input.
    fn refill(&mut self) {
        if self.at - self.base >= 2 * WINDOW - LOOKAHEAD {
            self.base += WINDOW;
            self.block_start = self.block_start.filter(|start| *start >= self.base);
        }
        self.seen = self.input.len().min(self.base + 2 * WINDOW);
    }

    /// Goes through what is in the buffer; to its very end if no more will come.
    fn advance(&mut self, last: bool, writer: &mut BlockWriter) {
        loop {
            let ahead = self.seen - self.at;
            if ahead < LOOKAHEAD && !last {
                return;
            }
            if ahead == 0 {
                if self.byte_pending {
                    self.tokens.push(Token::Literal(self.input[self.at - 1]));
                    self.byte_pending = false;
                }
                if !self.tokens.is_empty() {
                    self.end_block(self.at, writer);
                }
                return;
            }
            self.step(ahead, writer);
        }
    }

    fn step(&mut self, ahead: usize, writer: &mut BlockWriter) {
        let candidate = self.insert(self.at);
        let before = self.pending.take();
        let length_before = before.as_ref().map_or(MIN_MATCH - 1, |found| found.length);
        let found = match candidate {
            Some(candidate) if ahead > length_before && length_before < LAZY => self.find(candidate, ahead),
            _ => None,
        };
        match before {
            Some(before) if found.as_ref().is_none_or(|found| found.length <= before.length) => {
                self.take(&before, writer);
            }
            _ => {
                if self.byte_pending {
                    self.push(Token::Literal(self.input[self.at - 1]), self.at, writer);
                }
                self.at += 1;
                self.byte_pending = true;
                self.pending = found;
            }
        }
    }

    /// Takes a match that began at the position before.
    fn take(&mut self, found: &Match, writer: &mut BlockWriter) {
        let end = self.at + found.length - 1;
        for at in self.at + 1..end {
            self.insert(at);
        }
        self.at = end;
        self.byte_pending = false;
        let token = Token::Match { length: found.length as u16, distance: found.distance as u16 };
        self.push(token, end, writer);
    }

    fn push(&mut self, token: Token, end: usize, writer: &mut BlockWriter) {
        self.tokens.push(token);
        if self.tokens.len() == BLOCK_TOKENS {
            self.end_block(end, writer);
        }
    }

    fn end_block(&mut self, end: usize, writer: &mut BlockWriter) {
        let bytes = self.block_start.map(|start| &self.input[start..end]);
        writer.block(&self.tokens, bytes);
        self.block_start = Some(end);
        self.tokens.clear();
    }

    /// Remembers a position. Gives the latest one before with the same hash, if it is near enough.
    fn insert(&mut self, at: usize) -> Option<usize> {
        let bytes = self.input.get(at..at + MIN_MATCH)?;
        if at + MIN_MATCH > self.seen {
            return None;
        }
        let word = bytes.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte));
        let hash = (word.wrapping_mul(HASH_FACTOR) >> (32 - HASH_BITS)) as usize;
        let before = std::mem::replace(&mut self.heads[hash], at as u32 + 1);
        self.previous[at % WINDOW] = before;
        self.reachable(before, at)
    }

    /// A remembered position, if a match at `at` may begin there.
    fn reachable(&self, remembered: u32, at: usize) -> Option<usize> {
        let position = (remembered as usize).checked_sub(1)?;
        (position >= self.base && position + WINDOW >= at).then_some(position)
    }

    /// The longest match at the current position, along the chain that begins at `candidate`.
    fn find(&self, mut candidate: usize, ahead: usize) -> Option<Match> {
        let limit = ahead.min(MAX_MATCH);
        let nice = limit.min(NICE);
        let here = &self.input[self.at..self.at + limit];
        let mut best: Option<Match> = None;
        let mut length = MIN_MATCH - 1;
        for _ in 0..TRIES {
            let there = &self.input[candidate..];
            if there[length] == here[length] {
                let common = here.iter().zip(there).take_while(|(a, b)| a == b).count();
                let distance = self.at - candidate;
                if common > length && (common > MIN_MATCH || distance <= SHORT_MATCH_DISTANCE) {
                    length = common;
                    best = Some(Match { length, distance });
                    if length >= nice {
                        break;
                    }
                }
            }
            if candidate + WINDOW == self.at {
                // What was remembered for this place in the window is the current position by now.
                break;
            }
            match self.reachable(self.previous[candidate % WINDOW], self.at) {
                Some(next) => candidate = next,
                None => break,
            }
        }
        best
    }
}
