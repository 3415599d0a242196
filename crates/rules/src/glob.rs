//! Names with `*` and `?` in them.

use groma_model::text::Str;

/// A name in which `*` stands for any characters and `?` for one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Glob(pub(crate) Str);

impl Glob {
    /// As it is written.
    pub fn new(text: impl Into<Str>) -> Self {
        Self(text.into())
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_plain(&self) -> bool {
        !self.0.contains(['*', '?'])
    }

    /// How much of it is said letter by letter.
    pub(crate) fn letters(&self) -> usize {
        self.0.chars().filter(|c| !matches!(c, '*' | '?')).count()
    }

    /// Whether a text is like that.
    pub fn matches(&self, text: &str) -> bool {
        // Stars and question marks stand for themselves, too.
        if self.0.as_str() == text {
            return true;
        }
        if self.is_plain() {
            return false;
        }
        // Most texts are told apart by how they begin.
        let plain = self.0.find(['*', '?']).unwrap_or_default();
        if !text.as_bytes().starts_with(&self.0.as_bytes()[..plain]) {
            return false;
        }
        let (glob, text): (Vec<char>, Vec<char>) = (self.0.chars().collect(), text.chars().collect());
        let (mut at, mut read) = (0, 0);
        // Where the last star was, and what it has swallowed so far.
        let mut star: Option<(usize, usize)> = None;
        while read < text.len() {
            match glob.get(at) {
                Some('*') => {
                    star = Some((at, read));
                    at += 1;
                }
                Some(c) if *c == '?' || *c == text[read] => {
                    at += 1;
                    read += 1;
                }
                _ => match star {
                    Some((star_at, swallowed)) => {
                        star = Some((star_at, swallowed + 1));
                        at = star_at + 1;
                        read = swallowed + 1;
                    }
                    None => return false,
                },
            }
        }
        glob[at..].iter().all(|c| *c == '*')
    }
}
