//! From data to text for people. One renderer for diagnostics; whatever can be shown in colour can be read without.

mod diag;
mod wrap;

pub(crate) use diag::diagnostic;

/// How text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    /// Whether colours and lines may be used.
    pub(crate) color: bool,
    /// How many columns there are.
    pub(crate) width: usize,
}
