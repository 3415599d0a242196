//! From data to text for people. One renderer for diagnostics; whatever can be shown in colour can be read without.

pub(crate) mod branches;
mod diag;
mod diff;
pub(crate) mod explanation;
pub(crate) mod outputs;
pub(crate) mod paint;
pub(crate) mod plan;
pub(crate) mod replacement;
pub(crate) mod rules_test;
pub(crate) mod state;
pub(crate) mod summary;
pub(crate) mod wrap;

pub(crate) use diag::diagnostic;

/// How text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    /// Whether colours and lines may be used.
    pub(crate) color: bool,
    /// How many columns there are.
    pub(crate) width: usize,
    /// Whether only plain letters can be shown, so that branches of trees are drawn with those.
    pub(crate) ascii: bool,
}

/// How plans, states and what comes of them look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// Colours and width.
    pub(crate) style: Style,
    /// Whether many changes that are alike may be shown as one. Only for people: what is piped stays complete.
    pub(crate) fold: bool,
    /// Whether sensitive values are shown after all.
    pub(crate) show_sensitive: bool,
    /// Whether nobody needs to be told what to do next.
    pub(crate) in_automation: bool,
}

impl Look {
    /// For whoever reads it somewhere else.
    pub(crate) fn plain(width: usize) -> Self {
        let style = Style { color: false, width, ascii: false };
        Self { style, fold: false, show_sensitive: false, in_automation: true }
    }
}
