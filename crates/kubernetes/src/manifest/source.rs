//! The text that a manifest was read from, for messages: which line, and what is on it.

use std::sync::Arc;

/// Longer lines are cut when they are shown.
const SHOWN: usize = 80;

/// A text and what it is called.
#[derive(Clone)]
pub(super) struct Source {
    text: Arc<str>,
    /// A file, say; empty for the text of an attribute.
    origin: Arc<str>,
    /// Whether lines may be shown.
    open: bool,
}

impl Source {
    pub(super) fn new(text: &str, origin: &str) -> Self {
        Self { text: Arc::from(text), origin: Arc::from(origin), open: !may_be_secret(text) }
    }

    /// A part of an object, which does not say what it is a part of.
    pub(super) fn of_part(text: &str) -> Self {
        let source = Self::new(text, "");
        let open = source.open && !text.lines().any(is_data);
        Self { open, ..source }
    }

    /// Whether what is in it may be shown.
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// "the YAML", or which YAML.
    pub(super) fn name(&self) -> String {
        if self.origin.is_empty() { "the YAML".to_owned() } else { self.origin.to_string() }
    }

    /// A line in words: "Line 7 of the YAML (`uid: abc`)".
    pub(super) fn place(&self, line: usize) -> String {
        let text = self.text.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim();
        if !self.open || text.is_empty() {
            return format!("Line {line} of {}", self.name());
        }
        let shown: String = text.chars().filter(|c| !c.is_control()).take(SHOWN).collect();
        let more = if text.chars().count() > SHOWN { " ..." } else { "" };
        format!("Line {line} of {} (`{shown}{more}`)", self.name())
    }
}

/// Whether a text may be or hold a Secret. This is asked of texts that cannot be read, too, so it goes by the words alone.
pub(crate) fn may_be_secret(text: &str) -> bool {
    text.lines().any(|line| line.contains("kind") && line.contains("Secret"))
}

/// Whether a line begins what a Secret keeps its secrets in.
fn is_data(line: &str) -> bool {
    ["data", "stringData"].iter().any(|name| {
        line.match_indices(name).any(|(at, _)| {
            let after = line.get(at + name.len()..).unwrap_or_default();
            after.trim_start_matches(['"', '\'', ' ']).starts_with(':')
        })
    })
}
