//! Paths into values: `.tags["a"]`, `.disk[0].size`.

use std::fmt;

use crate::number::Number;
use crate::text::Str;
use crate::value::Value;

/// One step into a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathStep {
    /// An attribute of an object.
    Attr(Str),
    /// An element of a map (by string) or of a list or tuple (by number).
    Index(PathKey),
    /// An element of a set, which has no key but itself.
    Element(Box<Value>),
}

/// The key of an element.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathKey {
    /// Of a list or tuple.
    Number(Number),
    /// Of a map.
    String(Str),
}

/// Steps from the root of a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(Vec<PathStep>);

impl Path {
    /// The root.
    pub fn root() -> Self {
        Self::default()
    }

    /// The steps.
    pub fn steps(&self) -> &[PathStep] {
        &self.0
    }

    /// One attribute deeper.
    pub fn attr(&self, name: impl Into<Str>) -> Path {
        self.join(PathStep::Attr(name.into()))
    }

    /// One list or tuple element deeper.
    pub fn index(&self, index: usize) -> Path {
        self.join(PathStep::Index(PathKey::Number(Number::from(index as u64))))
    }

    /// One map element deeper.
    pub fn key(&self, key: impl Into<Str>) -> Path {
        self.join(PathStep::Index(PathKey::String(key.into())))
    }

    /// One step deeper.
    pub fn join(&self, step: PathStep) -> Path {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend_from_slice(&self.0);
        steps.push(step);
        Path(steps)
    }

    /// Adds a step in place.
    pub fn push(&mut self, step: PathStep) {
        self.0.push(step);
    }

    /// Removes the last step in place.
    pub fn pop(&mut self) -> Option<PathStep> {
        self.0.pop()
    }

    /// Whether this is the root.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `prefix` leads to this or to something around it.
    pub fn starts_with(&self, prefix: &Path) -> bool {
        self.0.starts_with(&prefix.0)
    }
}

impl From<Vec<PathStep>> for Path {
    fn from(steps: Vec<PathStep>) -> Self {
        Self(steps)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.0 {
            match step {
                PathStep::Attr(name) => write!(f, ".{name}")?,
                PathStep::Index(PathKey::Number(number)) => write!(f, "[{number}]")?,
                PathStep::Index(PathKey::String(key)) => write!(f, "[{}]", crate::value::go_quote(key))?,
                // The element may be a secret, so it is never printed.
                PathStep::Element(_) => f.write_str("[...]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_print_as_written() {
        let path = Path::root().attr("disk").index(0).attr("tags").key("a b");
        assert_eq!(path.to_string(), ".disk[0].tags[\"a b\"]");
        assert!(path.starts_with(&Path::root().attr("disk")));
    }
}
