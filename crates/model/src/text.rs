//! Strings of the language: shared, immutable and always in Unicode normal form C.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::sync::Arc;

use unicode_segmentation::UnicodeSegmentation;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// A shared string in normal form C. Cloning costs a reference count.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Str(Arc<str>);

impl Str {
    /// Normalises and shares a text.
    pub fn new<'a>(text: impl Into<Cow<'a, str>>) -> Self {
        let text = text.into();
        if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
            Self(Arc::from(text))
        } else {
            Self(text.nfc().collect::<String>().into())
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The beginning of a text that stays as it is whatever is put behind it: without a last character that something could
/// still combine with. Punctuation that separates things is safe to end with.
pub fn safe_prefix(text: &str) -> &str {
    let Some((at, last)) = text.grapheme_indices(true).next_back() else { return text };
    let mut chars = last.chars();
    let safe = chars.next().is_some_and(|c| "-_:;/\\,.(){}[]|?!~ \t@#$%^&*+\"'".contains(c)) && chars.next().is_none();
    if safe { text } else { &text[..at] }
}

impl std::ops::Deref for Str {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Str {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Str {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Str {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Str {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&String> for Str {
    fn from(text: &String) -> Self {
        Self::new(text.as_str())
    }
}

impl PartialEq<str> for Str {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

impl PartialEq<&str> for Str {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == *other
    }
}

impl fmt::Display for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_normalised() {
        assert_eq!(Str::new("e\u{301}").as_str(), "\u{e9}");
        assert_eq!(Str::new("plain"), "plain");
    }

    #[test]
    fn prefixes_end_where_nothing_can_combine() {
        assert_eq!(safe_prefix("hello-"), "hello-");
        assert_eq!(safe_prefix("hello"), "hell");
        assert_eq!(safe_prefix("he\u{301}"), "h");
        assert_eq!(safe_prefix(""), "");
    }
}
