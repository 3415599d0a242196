//! Paths that are followed while values are compared: why an object is replaced, and what of it matters.

use groma_model::path::{Path, PathKey, PathStep};

/// Where some paths lead from here.
#[derive(Debug, Clone)]
pub(in crate::render) enum Paths<'p> {
    /// Everywhere.
    All,
    /// Along these steps, which are what is left of the paths.
    Left {
        steps: Vec<&'p [PathStep]>,
        /// Whether a path that ends goes on to everything below its end.
        onwards: bool,
    },
}

impl<'p> Paths<'p> {
    /// Paths that mean just what they lead to.
    pub(in crate::render) fn exactly(paths: &'p [Path]) -> Self {
        Self::Left { steps: paths.iter().map(Path::steps).collect(), onwards: false }
    }

    /// Paths that mean all that is below as well.
    pub(in crate::render) fn and_below(paths: impl IntoIterator<Item = &'p Path>) -> Self {
        Self::Left { steps: paths.into_iter().map(Path::steps).collect(), onwards: true }
    }

    /// No paths.
    pub(in crate::render) fn none() -> Self {
        Self::Left { steps: Vec::new(), onwards: false }
    }

    /// Whether one of them ends here. Elements of a set have no name, so a path into a set ends at the set.
    pub(super) fn end_here(&self) -> bool {
        match self {
            Self::All => true,
            Self::Left { steps, .. } => steps.iter().any(|left| matches!(left, [] | [PathStep::Element(_), ..])),
        }
    }

    /// Whether one of them comes by.
    pub(super) fn pass_here(&self) -> bool {
        match self {
            Self::All => true,
            Self::Left { steps, .. } => !steps.is_empty(),
        }
    }

    /// Below an attribute, or the element of a map.
    pub(super) fn name(&self, name: &str) -> Self {
        self.step(|step| match step {
            PathStep::Attr(attribute) => attribute.as_str() == name,
            PathStep::Index(PathKey::String(key)) => key.as_str() == name,
            PathStep::Index(PathKey::Number(_)) | PathStep::Element(_) => false,
        })
    }

    /// Below an element of a list or tuple. Numbers may be written as texts.
    pub(super) fn index(&self, index: usize) -> Self {
        self.step(|step| match step {
            PathStep::Index(PathKey::Number(number)) => number.to_string() == index.to_string(),
            PathStep::Index(PathKey::String(key)) => key.as_str().parse() == Ok(index),
            PathStep::Attr(_) | PathStep::Element(_) => false,
        })
    }

    fn step(&self, takes: impl Fn(&PathStep) -> bool) -> Self {
        let Self::Left { steps, onwards } = self else { return Self::All };
        let follow = |left: &&'p [PathStep]| match left {
            [] => onwards.then_some(*left),
            [first, rest @ ..] => takes(first).then_some(rest),
        };
        Self::Left { steps: steps.iter().filter_map(follow).collect(), onwards: *onwards }
    }
}
