//! Whose turn it is: runs wait until there is room for them, and namespaces take turns, so that one with many runs does not keep the
//! others waiting.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What waits and what is under way.
#[derive(Debug)]
pub(super) struct Turns<K> {
    /// How many may be under way.
    most: usize,
    /// And in one namespace.
    most_each: usize,
    /// What waits, by namespace, in the order in which it came.
    waiting: BTreeMap<String, VecDeque<K>>,
    /// Namespaces in the order of their turns: who was served last comes last.
    order: VecDeque<String>,
    /// What is under way, with its namespace.
    under_way: BTreeMap<K, String>,
    /// What waits, to be told apart.
    known: BTreeSet<K>,
}

impl<K: Ord + Clone> Turns<K> {
    /// With room for so many, and so many of one namespace.
    pub(super) fn new(most: usize, most_each: usize) -> Self {
        Self {
            most: most.max(1),
            most_each: most_each.max(1),
            waiting: BTreeMap::new(),
            order: VecDeque::new(),
            under_way: BTreeMap::new(),
            known: BTreeSet::new(),
        }
    }

    /// Waits for its turn, unless it does already or is under way.
    pub(super) fn wait(&mut self, namespace: &str, key: K) {
        if self.under_way.contains_key(&key) || !self.known.insert(key.clone()) {
            return;
        }
        if !self.order.iter().any(|known| known == namespace) {
            self.order.push_back(namespace.to_owned());
        }
        self.waiting.entry(namespace.to_owned()).or_default().push_back(key);
    }

    /// Is under way already, by whom does not matter.
    pub(super) fn resume(&mut self, namespace: &str, key: K) {
        self.leave(&key);
        self.under_way.insert(key, namespace.to_owned());
    }

    /// Does not wait any more.
    pub(super) fn leave(&mut self, key: &K) {
        if self.known.remove(key) {
            self.waiting.values_mut().for_each(|keys| keys.retain(|known| known != key));
        }
    }

    /// Whose turn it is, if there is room. It is under way from now on.
    pub(super) fn take(&mut self) -> Option<K> {
        if self.under_way.len() >= self.most {
            return None;
        }
        for _ in 0..self.order.len() {
            let namespace = self.order.pop_front()?;
            let busy = self.under_way.values().filter(|known| **known == namespace).count();
            let key = if busy < self.most_each {
                self.waiting.get_mut(&namespace).and_then(VecDeque::pop_front)
            } else {
                None
            };
            let empty = self.waiting.get(&namespace).is_none_or(VecDeque::is_empty);
            if empty {
                self.waiting.remove(&namespace);
            } else {
                self.order.push_back(namespace.clone());
            }
            if let Some(key) = key {
                self.known.remove(&key);
                self.under_way.insert(key.clone(), namespace);
                return Some(key);
            }
        }
        None
    }

    /// Is over.
    pub(super) fn done(&mut self, key: &K) {
        self.under_way.remove(key);
    }

    /// How many wait.
    pub(super) fn waiting(&self) -> usize {
        self.known.len()
    }

    /// How many are under way.
    pub(super) fn under_way(&self) -> usize {
        self.under_way.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_take_turns() {
        let mut turns = Turns::new(1, 1);
        (0..100).for_each(|number| turns.wait("many", format!("many-{number}")));
        turns.wait("few", "few-0".to_owned());
        let mut served = Vec::new();
        for _ in 0..3 {
            let key = turns.take().unwrap();
            assert_eq!(turns.take(), None);
            turns.done(&key);
            served.push(key);
        }
        assert_eq!(served, ["many-0", "few-0", "many-1"]);
    }

    #[test]
    fn no_namespace_takes_all_the_room() {
        let mut turns = Turns::new(4, 2);
        (0..5).for_each(|number| turns.wait("a", format!("a-{number}")));
        let taken: Vec<String> = std::iter::from_fn(|| turns.take()).collect();
        assert_eq!(taken, ["a-0", "a-1"]);
        turns.wait("b", "b-0".to_owned());
        assert_eq!(turns.take().as_deref(), Some("b-0"));
        turns.done(&"a-0".to_owned());
        assert_eq!(turns.take().as_deref(), Some("a-2"));
    }

    #[test]
    fn nobody_waits_twice_and_who_left_is_not_served() {
        let mut turns = Turns::new(1, 1);
        turns.wait("a", 1);
        turns.wait("a", 1);
        turns.wait("a", 2);
        turns.leave(&2);
        assert_eq!((turns.waiting(), turns.take()), (1, Some(1)));
        turns.wait("a", 1);
        turns.done(&1);
        assert_eq!(turns.take(), None);
    }
}
