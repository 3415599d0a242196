//! Named values in name order: the contents of maps and objects.

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

    /// The value under that name, and where it is, which is looked at first next time: objects of one kind have it at the same place.
    pub fn get_near(&self, name: &str, place: usize) -> Option<(usize, &Value)> {
        let is_there = self.names.get(place).is_some_and(|candidate| candidate.as_str() == name);
        let place = if is_there { place } else { self.position(name)? };
        Some((place, self.values.get(place)?))
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
        let mut pairs: Vec<(Str, Value)> = iter.into_iter().map(|(name, value)| (name.into(), value)).collect();
        pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
        pairs.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                std::mem::swap(&mut later.1, &mut kept.1);
            }
            same
        });
        let (names, values) = pairs.into_iter().unzip();
        Entries { names: Arc::new(names), values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_equal_names_wins() {
        let entries: Entries = [("b", 1), ("a", 2), ("b", 3), ("a", 4), ("b", 5)]
            .map(|(n, v): (&str, i64)| (n, Value::from(v)))
            .into_iter()
            .collect();
        assert_eq!(entries.len(), 2);
        assert_eq!(entries.get("a"), Some(&Value::from(4)));
        assert_eq!(entries.get("b"), Some(&Value::from(5)));
        assert_eq!(entries.get("c"), None);
        for place in 0..4 {
            assert_eq!(entries.get_near("b", place), Some((1, &Value::from(5))));
            assert_eq!(entries.get_near("c", place), None);
        }
    }
}
