//! Fields of an object as rules name them: `disk[0].source`, `labels["env"]`, `nic[*].ip`, `config.network.private`.
//!
//! `parse` reads them, `ground` follows them through a schema, `read` through a value, `overlap` compares them with the paths that
//! providers name.

mod ground;
mod overlap;
mod parse;
mod read;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use groma_model::diag::Diagnostic;
use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::value::{Value, go_quote};

use super::problem::Code;

pub use ground::Secrecy;
pub use parse::PathProblem;
pub use read::{Element, Reading, Spot, Spots};
pub(crate) use read::{Sight, Sights};

/// A path to a field, or to several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPath {
    /// As it is written, in whichever normal form: places in it must stay where they are.
    text: Box<str>,
    /// Where it is written, with the quotes. None in the catalogue.
    pub place: Option<Span>,
    steps: Vec<FieldStep>,
    /// Where in the text each step stands, from its first byte to behind its last.
    ranges: Vec<(usize, usize)>,
    /// The steps that are written `.0`.
    legacy: Vec<usize>,
    /// Whether it is part of an expression, and not a text in quotes.
    is_bare: bool,
    place_of_first: LastPlace,
}

/// At which place an attribute was found last. Objects of one kind have it at the same place, so this is where it is looked for first; it
/// takes no part in what a path is.
#[derive(Debug, Default)]
struct LastPlace(AtomicUsize);

impl Clone for LastPlace {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for LastPlace {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for LastPlace {}

impl LastPlace {
    /// What is found near the last place.
    fn find<'v>(&self, near: impl FnOnce(usize) -> Option<(usize, &'v Value)>) -> Option<&'v Value> {
        let last = self.0.load(Ordering::Relaxed);
        let (place, value) = near(last)?;
        if place != last {
            self.0.store(place, Ordering::Relaxed);
        }
        Some(value)
    }
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldStep {
    /// An attribute of an object, or of each of a collection of objects; or the key of a map.
    Name(Str),
    /// An element of a list.
    Index(u64),
    /// An element of a map.
    Key(Str),
    /// Every element.
    Every,
}

impl FieldPath {
    /// The steps.
    pub fn steps(&self) -> &[FieldStep] {
        &self.steps
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What constant steps of an expression lead to, or the whole object. `place` is where they stand.
    pub(crate) fn of_steps(place: Span, steps: Vec<FieldStep>) -> Self {
        let mut text = String::new();
        let mut ranges = Vec::with_capacity(steps.len());
        for step in &steps {
            let start = text.len();
            step.write_to(&mut text);
            ranges.push((start, text.len()));
        }
        if steps.is_empty() {
            text.push_str("the whole object");
        }
        Self {
            text: text.into(),
            place: Some(place),
            steps,
            ranges,
            legacy: Vec::new(),
            is_bare: true,
            place_of_first: LastPlace::default(),
        }
    }

    /// Hints about indexes that are written in the old way.
    pub fn lints(&self) -> Vec<Diagnostic> {
        let lint = |step: &usize| {
            let (start, end) = self.ranges.get(*step).copied().unwrap_or_default();
            let new = format!("[{}]", self.text.get(start + 1..end).unwrap_or_default());
            let detail =
                format!("An index is better written in brackets: {new} instead of {:?}.", &self.text[start..end]);
            self.located(Code(4002).warning("Index in the old form", detail), *step)
        };
        self.legacy.iter().map(lint).collect()
    }

    /// Says where a step stands: in the source if the path is written there letter by letter, else by its offset.
    fn located(&self, diagnostic: Diagnostic, step: usize) -> Diagnostic {
        let Some(place) = self.place else { return diagnostic };
        match self.ranges.get(step) {
            Some((start, end)) if !self.is_bare => at_text(diagnostic, place, &self.text, (*start, *end)),
            _ => diagnostic.at(place),
        }
    }
}

impl FieldStep {
    /// Writes it behind the steps before it.
    fn write_to(&self, text: &mut String) {
        match self {
            FieldStep::Name(name) if text.is_empty() => text.push_str(name),
            FieldStep::Name(name) => text.extend([".", name]),
            FieldStep::Index(index) => text.extend(["[", &index.to_string(), "]"]),
            FieldStep::Key(key) => text.extend(["[", &go_quote(key), "]"]),
            FieldStep::Every => text.push_str("[*]"),
        }
    }
}

/// Says where in a string something stands. `place` is the string with its quotes; if it is written with escapes or as a heredoc, it is
/// not known where a byte of it comes from, and the offset is told instead.
pub fn at_text(diagnostic: Diagnostic, place: Span, text: &str, range: (usize, usize)) -> Diagnostic {
    let (start, end) = range;
    // Every escape is longer than what it stands for, so equal lengths mean equal texts.
    if place.len() == text.len() + 2 && end <= text.len() {
        let from = place.start as usize + 1;
        return diagnostic.at(Span::new(place.file, from + start, from + end));
    }
    let detail = format!("{} This is at offset {start} of the text.", diagnostic.detail);
    Diagnostic { detail, ..diagnostic }.at(place)
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
