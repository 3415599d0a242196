//! Named values in name order: the contents of maps and objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Value;
use crate::text::Str;

/// Values by name, sorted by name. Names are shared between objects of the same shape where that is known.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entries {
    names: Arc<Vec<Str>>,
    values: Vec<Value>,
}

impl Entries {
    /// Entries under names that are sorted and distinct already, such as those of a schema.
    pub fn with_names(names: Arc<Vec<Str>>, values: Vec<Value>) -> Self {
        debug_assert_eq!(names.len(), values.len());
        debug_assert!(names.is_sorted_by(|a, b| a < b));
        Self { names, values }
    }

    /// The value under that name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(self.position(name)?)
    }

    /// Where in the order that name is.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.names.binary_search_by(|candidate| candidate.as_str().cmp(name)).ok()
    }

    /// Whether there is something under that name.
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Names and values, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Str, &Value)> + DoubleEndedIterator {
        self.names.iter().zip(&self.values)
    }

    /// The names, sorted.
    pub fn names(&self) -> &Arc<Vec<Str>> {
        &self.names
    }

    /// The values, in the order of their names.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The same names with other values.
    pub fn map_values(&self, change: impl FnMut(&Value) -> Value) -> Entries {
        Entries { names: self.names.clone(), values: self.values.iter().map(change).collect() }
    }
}

/// Of equal names the last one wins.
impl<N: Into<Str>> FromIterator<(N, Value)> for Entries {
    fn from_iter<I: IntoIterator<Item = (N, Value)>>(iter: I) -> Self {
        let sorted: BTreeMap<Str, Value> = iter.into_iter().map(|(name, value)| (name.into(), value)).collect();
        let mut names = Vec::with_capacity(sorted.len());
        let mut values = Vec::with_capacity(sorted.len());
        for (name, value) in sorted {
            names.push(name);
            values.push(value);
        }
        Entries { names: Arc::new(names), values }
    }
}
