//! Marks: facts about a value that every operation carries along (sensitive, ephemeral, deprecated).

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::text::Str;

/// One mark.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// Must not be shown.
    Sensitive,
    /// Must not be stored.
    Ephemeral,
    /// Comes from something whose author discourages its use.
    Deprecated(Arc<Deprecation>),
    /// Made by `type()`, which only the console may show.
    TypeText,
}

/// Why a value is deprecated.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Deprecation {
    /// What is deprecated, e.g. `module.a.b`.
    pub origin: Str,
    /// The author's message.
    pub message: Str,
    /// Whether it comes from a module that was fetched from elsewhere.
    pub remote: bool,
}

/// A set of marks. Empty for nearly all values, and then free.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Marks(Option<Arc<BTreeSet<Mark>>>);

impl Marks {
    /// No marks.
    pub const NONE: Marks = Marks(None);

    /// Just one.
    pub fn one(mark: Mark) -> Self {
        Self(Some(Arc::new(BTreeSet::from([mark]))))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether `mark` is among them.
    pub fn contains(&self, mark: &Mark) -> bool {
        self.0.as_ref().is_some_and(|set| set.contains(mark))
    }

    /// Whether the value must not be shown.
    pub fn is_sensitive(&self) -> bool {
        self.contains(&Mark::Sensitive)
    }

    /// Whether the value must not be stored.
    pub fn is_ephemeral(&self) -> bool {
        self.contains(&Mark::Ephemeral)
    }

    /// All of them, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = &Mark> {
        self.0.iter().flat_map(|set| set.iter())
    }

    /// These and those.
    pub fn union(&self, other: &Marks) -> Marks {
        match (&self.0, &other.0) {
            (None, _) => other.clone(),
            (_, None) => self.clone(),
            (Some(a), Some(b)) if Arc::ptr_eq(a, b) || b.is_subset(a) => self.clone(),
            (Some(a), Some(b)) => Marks(Some(Arc::new(a.union(b).cloned().collect()))),
        }
    }

    /// These without the ones that `drop` names.
    pub fn without(&self, drop: impl Fn(&Mark) -> bool) -> Marks {
        let kept: BTreeSet<Mark> = self.iter().filter(|mark| !drop(mark)).cloned().collect();
        kept.into_iter().collect()
    }
}

impl FromIterator<Mark> for Marks {
    fn from_iter<I: IntoIterator<Item = Mark>>(iter: I) -> Self {
        let set: BTreeSet<Mark> = iter.into_iter().collect();
        if set.is_empty() { Marks(None) } else { Marks(Some(Arc::new(set))) }
    }
}
