//! Patterns as tables, for long texts. A pattern with few states is a table of the next state for every state and byte; then a text need not
//! be read from one end to the other. It is cut into pieces that are read side by side, each from the state that a few bytes before it lead
//! to; where that was not the right one, the piece is read again.

use std::collections::BTreeMap;

use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::util::primitives::StateID;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

/// Shorter texts are searched at once.
pub(super) const LONG: usize = 1 << 14;
/// How many pieces are read side by side.
const PIECES: usize = 4;
/// How long a piece is. What follows is looked at when it is known that there is no match in them.
const PIECE: usize = 1 << 14;
/// How many bytes before a piece are read to guess the state that it begins with.
const BEFORE: usize = 64;
/// Patterns need not be made into tables that take more memory than that on the way.
const LARGEST: usize = 1 << 20;

/// Nothing can match any more.
const DEAD: u8 = 0;
/// Something has matched.
const MATCHED: u8 = 1;

/// A pattern.
pub(super) struct Table {
    /// The next state, by state and byte.
    next: Box<[u8; 1 << 16]>,
    start: u8,
    /// The states in which there is a match if the text ends.
    ends: Vec<bool>,
}

impl Table {
    /// None if a pattern has too many states, or looks at more than bytes can tell.
    pub(super) fn of(pattern: &str, case_insensitive: bool) -> Option<Self> {
        let config = dense::Config::new()
            .start_kind(StartKind::Unanchored)
            .accelerate(false)
            .dfa_size_limit(Some(LARGEST))
            .determinize_size_limit(Some(LARGEST));
        let syntax = syntax::Config::new().case_insensitive(case_insensitive);
        let dfa = dense::Builder::new().configure(config).syntax(syntax).build(pattern).ok()?;
        let first = dfa.start_state_forward(&Input::new("").anchored(Anchored::No)).ok()?;
        let mut next = vec![DEAD; 1 << 16];
        next[usize::from(MATCHED) << 8..][..256].fill(MATCHED);
        let mut states = States { numbers: BTreeMap::new(), open: Vec::new() };
        let start = states.number(&dfa, first)?;
        let mut ends = vec![false, true];
        while let Some((id, number)) = states.open.pop() {
            for byte in 0..=u8::MAX {
                next[usize::from(number) << 8 | usize::from(byte)] = states.number(&dfa, dfa.next_state(id, byte))?;
            }
            if ends.len() <= usize::from(number) {
                ends.resize(usize::from(number) + 1, false);
            }
            ends[usize::from(number)] = dfa.is_match_state(dfa.next_eoi_state(id));
        }
        Some(Self { next: next.into_boxed_slice().try_into().ok()?, start, ends })
    }

    /// Whether it matches anywhere in a text.
    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        let (mut state, mut at) = (self.start, 0);
        while at < text.len() && state != DEAD && state != MATCHED {
            let end = text.len().min(at + PIECES * PIECE);
            state = self.read_pieces(state, text, (at, end));
            at = end;
        }
        self.ends.get(usize::from(state)).is_some_and(|is_match| *is_match)
    }

    fn step(&self, state: u8, byte: u8) -> u8 {
        self.next[usize::from(state) << 8 | usize::from(byte)]
    }

    fn read(&self, state: u8, bytes: &[u8]) -> u8 {
        bytes.iter().fold(state, |state, byte| self.step(state, *byte))
    }

    /// The state behind a part of a text.
    fn read_pieces(&self, state: u8, text: &[u8], (start, end): (usize, usize)) -> u8 {
        let length = (end - start) / PIECES;
        if length < BEFORE {
            return self.read(state, &text[start..end]);
        }
        let pieces: [&[u8]; PIECES] = std::array::from_fn(|at| &text[start + at * length..][..length]);
        let mut guesses = [state; PIECES];
        for (at, guess) in guesses.iter_mut().enumerate().skip(1) {
            let begins = start + at * length;
            *guess = self.read(self.start, &text[begins - BEFORE..begins]);
        }
        let mut states = guesses;
        let [one, two, three, four] = pieces;
        for (((one, two), three), four) in one.iter().zip(two).zip(three).zip(four) {
            states = [
                self.step(states[0], *one),
                self.step(states[1], *two),
                self.step(states[2], *three),
                self.step(states[3], *four),
            ];
        }
        let mut state = states[0];
        for at in 1..PIECES {
            state = if state == guesses[at] { states[at] } else { self.read(state, pieces[at]) };
        }
        self.read(state, &text[start + PIECES * length..end])
    }
}

/// Numbers of states, and those that have not been followed yet.
struct States {
    numbers: BTreeMap<StateID, u8>,
    open: Vec<(StateID, u8)>,
}

impl States {
    /// None if there are too many of them, or if nothing can be said without looking at more than bytes.
    fn number(&mut self, dfa: &dense::DFA<Vec<u32>>, id: StateID) -> Option<u8> {
        if dfa.is_quit_state(id) {
            return None;
        }
        if dfa.is_dead_state(id) {
            return Some(DEAD);
        }
        if dfa.is_match_state(id) {
            return Some(MATCHED);
        }
        if let Some(known) = self.numbers.get(&id) {
            return Some(*known);
        }
        let number = u8::try_from(self.numbers.len() + 2).ok()?;
        self.numbers.insert(id, number);
        self.open.push((id, number));
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use regex::RegexBuilder;

    use super::*;

    /// Texts around the lengths at which they are cut otherwise.
    fn texts() -> Vec<String> {
        let filled = |length: usize, with: &str| with.repeat(length / with.len());
        let mut texts = vec![String::new(), "ab".to_owned(), "prod-1".to_owned(), "ä".to_owned()];
        for length in
            [BEFORE * PIECES - 1, BEFORE * PIECES, LONG, PIECES * PIECE, PIECES * PIECE + 7, 3 * PIECES * PIECE]
        {
            for with in ["a", "ab", "aab", "-", "ä", "0123456789", "abc\n"] {
                let text = filled(length, with);
                texts.extend([format!("{text}b"), format!("{text}7"), format!("x{text}")]);
                texts.push(text);
            }
        }
        texts
    }

    #[test]
    fn a_table_says_what_the_pattern_says() {
        let patterns = [
            "(a+)+$",
            "^(a|b)*$",
            "(a[ab])+[0-9]",
            "^x",
            "b$",
            "ab+c",
            r"(?s)^..*\d$",
            "(?m)^c?$",
            "^(aa)*$",
            "^(...)*$",
            "",
            "a{3}b",
            "[^-]",
            "ä",
            "^prod-[0-9]$",
            "9(01|23)",
            "Ab",
            "^$",
            "(?-u:\\b)ab(?-u:\\b)",
        ];
        for pattern in patterns {
            for any_case in [false, true] {
                let regex = RegexBuilder::new(pattern).case_insensitive(any_case).build().unwrap();
                let table = Table::of(pattern, any_case).unwrap();
                for text in texts() {
                    let found = table.is_match(text.as_bytes());
                    assert_eq!(found, regex.is_match(&text), "{pattern} in {} bytes of {:.9}", text.len(), text);
                }
            }
        }
    }

    #[test]
    fn not_every_pattern_is_a_table() {
        assert!(Table::of(r"\bfoo\b", false).is_none(), "words are more than bytes");
        assert!(Table::of("[01]*1[01]{12}$", false).is_none(), "too many states");
        assert!(Table::of(r"\w+", false).is_none_or(|table| table.is_match("-é".as_bytes())));
    }
}
