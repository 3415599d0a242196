//! On which line everything in a document is written.

use std::collections::BTreeMap;

use crate::path::{FieldPath, Step};

/// The line of a value and of what is inside it.
#[derive(Clone, Default)]
pub(super) struct Lines {
    /// Counted from 1. For a member of an object, that of its name.
    pub(super) line: usize,
    pub(super) inside: Inside,
}

#[derive(Clone, Default)]
pub(super) enum Inside {
    #[default]
    Nothing,
    Members(BTreeMap<String, Lines>),
    Items(Vec<Lines>),
}

impl Lines {
    /// The line of a place whose elements of lists are given by their index.
    pub(super) fn line_of(&self, path: &FieldPath) -> Option<usize> {
        self.at(path).map(|lines| lines.line)
    }

    /// The lines of what is at a place.
    pub(super) fn at(&self, path: &FieldPath) -> Option<&Lines> {
        path.0.iter().try_fold(self, |lines, step| match (&lines.inside, step) {
            (Inside::Members(members), Step::Field(name)) => members.get(name),
            (Inside::Items(items), Step::Index(index)) => items.get(*index),
            _ => None,
        })
    }
}
