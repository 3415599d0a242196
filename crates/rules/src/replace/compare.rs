//! Whether two values are the same: in which order or in any, with null as empty or not, and as far as they are known.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use groma_model::value::{Entries, Value, ValueKind};

use super::truth::Truth;

/// Whether the order of lists matters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IgnoreOrder {
    /// It does.
    #[default]
    No,
    /// Not in the list itself, but in lists inside it.
    Outer,
    /// Nowhere.
    Deep,
}

/// How values are compared. Marks do not matter.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Comparison {
    pub(crate) ignore_order: IgnoreOrder,
    /// Whether null is the same as an empty text, zero, false and a collection without elements.
    pub(crate) null_is_empty: bool,
}

impl Comparison {
    /// Whether both are the same. An unknown new value is another one if the provider will make it up, because `config` is null there;
    /// without `config` nobody knows.
    pub(crate) fn same(self, old: &Value, new: &Value, config: Option<&Value>) -> Truth {
        let plain = |value: &Value| value.is_wholly_known() && !value.contains_marks();
        if plain(old) && plain(new) && old == new {
            return Truth::True;
        }
        self.same_parts(old, new, config)
    }

    fn same_parts(self, old: &Value, new: &Value, config: Option<&Value>) -> Truth {
        match (old.kind(), new.kind()) {
            (_, ValueKind::Unknown(_)) if config.is_some_and(Value::is_null) => Truth::False,
            (ValueKind::Unknown(_), _) | (_, ValueKind::Unknown(_)) => Truth::Unknown,
            (ValueKind::Null, ValueKind::Null) => Truth::True,
            (ValueKind::Null, _) => (self.null_is_empty && is_empty(new)).into(),
            (_, ValueKind::Null) => (self.null_is_empty && is_empty(old)).into(),
            (ValueKind::Bool(old), ValueKind::Bool(new)) => (old == new).into(),
            (ValueKind::Number(old), ValueKind::Number(new)) => (old == new).into(),
            (ValueKind::String(old), ValueKind::String(new)) => (old == new).into(),
            // What is in a dynamic attribute is written as one of them and may be kept as the other.
            (ValueKind::List(old) | ValueKind::Tuple(old), ValueKind::List(new) | ValueKind::Tuple(new)) => {
                self.same_sequence(old, new, config)
            }
            (ValueKind::Set(old), ValueKind::Set(new)) => self.below().same_unordered(old, new, false),
            (ValueKind::Map(old) | ValueKind::Object(old), ValueKind::Map(new) | ValueKind::Object(new)) => {
                self.below().same_entries(old, new, config)
            }
            _ => Truth::False,
        }
    }

    /// How the parts of a value are compared.
    fn below(self) -> Self {
        let ignore_order = if self.ignore_order == IgnoreOrder::Deep { IgnoreOrder::Deep } else { IgnoreOrder::No };
        Self { ignore_order, ..self }
    }

    fn same_sequence(self, old: &[Value], new: &[Value], config: Option<&Value>) -> Truth {
        if old.len() != new.len() {
            return Truth::False;
        }
        if self.ignore_order != IgnoreOrder::No {
            return self.below().same_unordered(old, new, true);
        }
        let configured = |at: usize| config.and_then(Value::as_elements).and_then(|items| items.get(at));
        let pairs = old.iter().zip(new).enumerate();
        all(pairs.map(|(at, (old, new))| self.same_parts(old, new, configured(at))))
    }

    fn same_entries(self, old: &Entries, new: &Entries, config: Option<&Value>) -> Truth {
        if old.names() != new.names() {
            return Truth::False;
        }
        let config = config.and_then(Value::as_entries);
        let pairs = old.iter().zip(new.values());
        all(pairs.map(|((name, old), new)| self.same_parts(old, new, config.and_then(|config| config.get(name)))))
    }

    /// Whether the elements are the same, each as often. Of a set it is not known how many there will be.
    fn same_unordered(self, old: &[Value], new: &[Value], is_counted: bool) -> Truth {
        if is_counted && old.len() != new.len() {
            return Truth::False;
        }
        let left = self.left_over(old, new);
        // What is known and has no partner can only be one of the unknown ones.
        if left.old.len() > left.new_open || left.new.len() > left.old_open {
            return Truth::False;
        }
        if left.old_open + left.new_open == 0 { Truth::True } else { Truth::Unknown }
    }

    /// Takes away what both have.
    pub(crate) fn left_over<'v>(self, old: &'v [Value], new: &'v [Value]) -> LeftOver<'v> {
        let alike = old.iter().zip(new).take_while(|(old, new)| self.same_parts(old, new, None) == Truth::True).count();
        let (old, new) = (&old[alike..], &new[alike..]);
        let mut left = LeftOver { alike, ..LeftOver::default() };
        let (old, old_open) = self.digests(old);
        let (new, new_open) = self.digests(new);
        (left.old_open, left.new_open) = (old_open, new_open);
        let mut chains = Chains::new(&old);
        for (digest, value) in new {
            if chains.take(digest, |other| self.same_parts(other, value, None) == Truth::True) {
                left.alike += 1;
            } else {
                left.new.push(value);
            }
        }
        left.old = chains.rest();
        left
    }

    /// What is known, with its digests, and how many are not.
    fn digests(self, items: &[Value]) -> (Vec<Digested<'_>>, usize) {
        let known = items.iter().filter(|item| item.is_wholly_known());
        let digests: Vec<Digested<'_>> = known.map(|item| (self.digest(item), item)).collect();
        let open = items.len() - digests.len();
        (digests, open)
    }

    /// A number that is the same for values that are the same.
    pub(crate) fn digest(self, value: &Value) -> u64 {
        let mut hasher = Mixer::default();
        if self.null_is_empty && (value.is_null() || is_empty(value)) {
            return 0;
        }
        match value.kind() {
            ValueKind::Null | ValueKind::Unknown(_) => return 1,
            ValueKind::Bool(truth) => truth.hash(&mut hasher),
            ValueKind::Number(number) => number.hash(&mut hasher),
            ValueKind::String(text) => text.hash(&mut hasher),
            ValueKind::List(items) | ValueKind::Tuple(items) if self.ignore_order == IgnoreOrder::No => {
                for item in items {
                    self.digest(item).hash(&mut hasher);
                }
            }
            ValueKind::List(items) | ValueKind::Tuple(items) | ValueKind::Set(items) => {
                let below = self.below();
                let sum = items.iter().fold(0_u64, |sum, item| sum.wrapping_add(below.digest(item)));
                sum.hash(&mut hasher);
            }
            ValueKind::Map(entries) | ValueKind::Object(entries) => {
                let below = self.below();
                for (name, item) in entries.iter() {
                    (name, below.digest(item)).hash(&mut hasher);
                }
            }
        }
        hasher.finish()
    }
}

/// What only one of two collections has.
#[derive(Default)]
pub(crate) struct LeftOver<'v> {
    /// How many both have.
    pub(crate) alike: usize,
    /// Known elements that only the old one has.
    pub(crate) old: Vec<&'v Value>,
    /// Known elements that only the new one has.
    pub(crate) new: Vec<&'v Value>,
    /// How many elements of the old one are not known in all their parts.
    pub(crate) old_open: usize,
    /// How many elements of the new one are not known in all their parts.
    pub(crate) new_open: usize,
}

/// A value with its digest.
type Digested<'v> = (u64, &'v Value);

/// Values to be taken away by their digests. Those of one digest are a chain, and are nearly always the same.
struct Chains<'s, 'v> {
    values: &'s [Digested<'v>],
    /// The first of each chain.
    heads: HashMap<u64, usize, BuildHasherDefault<Mixer>>,
    /// The one behind each; itself if there is none.
    next: Vec<usize>,
    is_taken: Vec<bool>,
}

impl<'s, 'v> Chains<'s, 'v> {
    fn new(values: &'s [Digested<'v>]) -> Self {
        let mut heads = HashMap::with_capacity_and_hasher(values.len(), BuildHasherDefault::default());
        let next = values.iter().enumerate().map(|(at, (digest, _))| heads.insert(*digest, at).unwrap_or(at)).collect();
        Self { values, heads, next, is_taken: vec![false; values.len()] }
    }

    /// Takes one of a digest that passes a test, if there is one.
    fn take(&mut self, digest: u64, mut is_wanted: impl FnMut(&Value) -> bool) -> bool {
        let Some(head) = self.heads.get_mut(&digest) else { return false };
        let mut at = *head;
        loop {
            if !self.is_taken[at] && is_wanted(self.values[at].1) {
                self.is_taken[at] = true;
                // What is taken at the start need not be passed again.
                if at == *head {
                    *head = self.next[at];
                }
                return true;
            }
            if self.next[at] == at {
                return false;
            }
            at = self.next[at];
        }
    }

    /// What was not taken, in the order it was in.
    fn rest(self) -> Vec<&'v Value> {
        let values = self.values.iter().zip(self.is_taken);
        values.filter(|(_, is_taken)| !is_taken).map(|((_, value), _)| *value).collect()
    }
}

/// Makes numbers of values. Quick, and good enough where equal numbers are looked at again.
#[derive(Default)]
pub(crate) struct Mixer(u64);

impl Mixer {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.add(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.add(u64::from_le_bytes(last));
        self.add(bytes.len() as u64);
    }

    fn write_u8(&mut self, byte: u8) {
        self.add(byte.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    fn finish(&self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^ (mixed >> 33)
    }
}

fn all(truths: impl Iterator<Item = Truth>) -> Truth {
    let mut all = Truth::True;
    for truth in truths {
        all = all.and(truth);
        if all == Truth::False {
            break;
        }
    }
    all
}

/// Whether null is the same where null and empty are.
fn is_empty(value: &Value) -> bool {
    match value.kind() {
        ValueKind::Null | ValueKind::Unknown(_) => false,
        ValueKind::Bool(truth) => !truth,
        ValueKind::Number(number) => number.is_zero(),
        ValueKind::String(text) => text.is_empty(),
        ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => items.is_empty(),
        ValueKind::Map(entries) => entries.is_empty(),
        ValueKind::Object(entries) => entries.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replace::testing::{any_known_value, fields, items};
    use groma_model::mark::Mark;
    use groma_model::ty::Type;
    use proptest::prelude::*;

    fn unordered(null_is_empty: bool) -> Comparison {
        Comparison { ignore_order: IgnoreOrder::Deep, null_is_empty }
    }

    #[test]
    fn marks_and_types_of_nothing_do_not_matter() {
        let of = |value: Value| items([fields([("a", value)])]);
        let marked = of(Value::from("x").mark(Mark::Sensitive));
        assert_eq!(Comparison::default().same(&marked, &of("x".into()), None), Truth::True);
        assert_eq!(Comparison::default().same(&marked, &of("y".into()), None), Truth::False);
        let null = |ty| of(Value::null(ty));
        assert_eq!(Comparison::default().same(&null(Type::String), &null(Type::Dynamic), None), Truth::True);
        assert_eq!(Comparison::default().same(&items([1]), &items(["1"]), None), Truth::False);
    }

    #[test]
    fn what_is_known_to_differ_differs_whatever_is_unknown() {
        let list = |first: i64| items([Value::from(first), Value::dynamic()]);
        let same = |a: Value, b: Value| Comparison::default().same(&a, &b, None);
        assert_eq!([same(list(1), list(2)), same(list(1), list(1))], [Truth::False, Truth::Unknown]);
        assert_eq!(same(items([1]), list(1)), Truth::False);
        let set = |values: Vec<Value>| Value::set(Type::String, values);
        let some = set(vec!["a".into(), Value::unknown(Type::String)]);
        assert_eq!(same(set(vec!["a".into(), "b".into()]), some.clone()), Truth::Unknown);
        assert_eq!(same(set(vec!["c".into(), "b".into(), "d".into()]), some), Truth::False);
    }

    #[test]
    fn empty_elements_are_alike_where_null_is_empty() {
        let text = |texts: &[Option<&str>]| {
            let value = |text: Option<&str>| text.map_or_else(|| Value::null(Type::String), Value::from);
            Value::list(Type::String, texts.iter().copied().map(value).collect())
        };
        let (a, b) = (text(&[None, Some("x")]), text(&[Some("x"), Some("")]));
        assert_eq!(unordered(true).same(&a, &b, None), Truth::True);
        assert_eq!(unordered(false).same(&a, &b, None), Truth::False);
    }

    #[test]
    fn what_is_left_over_is_on_one_side_only() {
        let (a, b) = (items([1, 2, 2, 3]), items([3, 2, 4, 1]));
        let left = unordered(false).left_over(a.as_elements().unwrap_or_default(), b.as_elements().unwrap_or_default());
        assert_eq!((left.alike, left.old, left.new), (3, vec![&2.into()], vec![&4.into()]));
    }

    /// The same, with lists instead of tuples and maps instead of objects wherever the elements are of one type.
    fn as_collections(value: &Value) -> Value {
        let one_type = |items: &[Value]| {
            let first = items.first().map_or(Type::String, Value::ty);
            items.iter().all(|item| item.ty() == first && first != Type::Dynamic).then_some(first)
        };
        match value.kind() {
            ValueKind::Tuple(items) => {
                let items: Vec<Value> = items.iter().map(as_collections).collect();
                match one_type(&items) {
                    Some(ty) => Value::list(ty, items),
                    None => Value::tuple(items),
                }
            }
            ValueKind::Object(entries) => {
                let entries = entries.map_values(as_collections);
                match one_type(entries.values()) {
                    Some(ty) => Value::map(ty, entries),
                    None => Value::object_of(entries),
                }
            }
            _ => value.clone(),
        }
    }

    #[test]
    fn lists_and_tuples_maps_and_objects_are_the_same_if_their_parts_are() {
        let tuple = items([fields([("a", Value::from("x")), ("b", Value::from("y"))])]);
        let list = as_collections(&tuple);
        assert!(matches!(list.ty(), Type::List(_)) && list.ty() != tuple.ty());
        assert_eq!(Comparison::default().same(&tuple, &list, None), Truth::True);
        let other = as_collections(&items([fields([("a", Value::from("x")), ("b", Value::from("z"))])]));
        assert_eq!(Comparison::default().same(&tuple, &other, None), Truth::False);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

        #[test]
        fn how_a_value_is_kept_does_not_matter(a in any_known_value(), b in any_known_value()) {
            let (kept_a, kept_b) = (as_collections(&a), as_collections(&b));
            for comparison in [unordered(false), unordered(true), Comparison::default()] {
                prop_assert_eq!(comparison.same(&a, &kept_a, None), Truth::True);
                prop_assert_eq!(comparison.digest(&a), comparison.digest(&kept_a));
                let expected = comparison.same(&a, &b, None);
                prop_assert_eq!(comparison.same(&kept_a, &b, None), expected);
                prop_assert_eq!(comparison.same(&kept_a, &kept_b, None), expected);
            }
        }

        #[test]
        fn values_that_are_the_same_have_the_same_digest(a in any_known_value(), b in any_known_value()) {
            for comparison in [unordered(false), unordered(true), Comparison::default()] {
                if comparison.same(&a, &b, None) == Truth::True {
                    prop_assert_eq!(comparison.digest(&a), comparison.digest(&b));
                }
                prop_assert_eq!(comparison.same(&a, &b, None), comparison.same(&b, &a, None));
            }
        }
    }
}
