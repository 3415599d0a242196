//! How collections differ: which elements belong together, and how those do.

use std::collections::BTreeMap;

use groma_model::text::Str;
use groma_model::value::{Value, ValueKind};

use super::align::{self, Aligned};
use super::compute::Pair;
use super::{Diff, ListKind, Nested, Paths, Shape};

/// How parts are compared.
type Compare<'c, 'v> = dyn for<'a, 'p> Fn(&'a Pair<'v, 'p>) -> Diff<'v> + 'c;

/// Elements of a list or tuple.
fn items(side: Option<&Value>) -> &[Value] {
    side.and_then(Value::as_elements).unwrap_or(&[])
}

/// Elements in order: what both have in the same order is unchanged. `pairs` says which different elements are shown as one
/// that changes, rather than one that goes and one that comes.
pub(super) fn list<'v>(
    pair: &Pair<'v, '_>,
    pairs: &dyn Fn(&Value, &Value) -> bool,
    compare: &Compare<'_, 'v>,
) -> Diff<'v> {
    let (before, after) = (items(pair.before), items(pair.after));
    let (before_ids, after_ids) = ids(before, after);
    let belong = |b: usize, a: usize| match (before.get(b), after.get(a)) {
        (Some(b), Some(a)) => pairs(b, a) || share_a_line(b, a),
        _ => false,
    };
    let one = |Aligned(b, a): Aligned| {
        let (old, new) = (b.and_then(|at| before.get(at)), a.and_then(|at| after.get(at)));
        let child = pair.elements(old, new, b.or(a).unwrap_or_default());
        // Whoever is interested in a list is interested in all of it.
        compare(&Pair { relevant: Paths::All, ..child })
    };
    let parts: Vec<Diff<'v>> = align::align(&before_ids, &after_ids, &belong).into_iter().map(one).collect();
    finished(pair, parts, ListKind::List)
}

/// Elements that belong together by their place: those of tuples.
pub(super) fn tuple<'v>(pair: &Pair<'v, '_>, compare: &dyn Fn(&Pair<'v, '_>, usize) -> Diff<'v>) -> Diff<'v> {
    finished(pair, by_place(pair, compare), ListKind::List)
}

/// Objects that belong together by their place.
pub(super) fn zipped<'v>(pair: &Pair<'v, '_>, compare: &Compare<'_, 'v>) -> Diff<'v> {
    finished(pair, by_place(pair, &|pair, _| compare(pair)), ListKind::NestedList)
}

/// What differs at each place.
pub(super) fn by_place<'v>(pair: &Pair<'v, '_>, compare: &dyn Fn(&Pair<'v, '_>, usize) -> Diff<'v>) -> Vec<Diff<'v>> {
    let (before, after) = (items(pair.before), items(pair.after));
    let one = |at: usize| compare(&pair.elements(before.get(at), after.get(at), at).if_relevant(), at);
    (0..before.len().max(after.len())).map(one).collect()
}

/// Elements of a set.
pub(super) fn set<'v>(pair: &Pair<'v, '_>, nested: Nested, compare: &Compare<'_, 'v>) -> Diff<'v> {
    let kind = if nested == Nested::Yes { ListKind::NestedSet } else { ListKind::Set };
    finished(pair, set_parts(pair, compare), kind)
}

/// What differs in a set: an element is in it, or it is not.
pub(super) fn set_parts<'v>(pair: &Pair<'v, '_>, compare: &Compare<'_, 'v>) -> Vec<Diff<'v>> {
    let (before, after) = (items(pair.before), items(pair.after));
    let (before_ids, after_ids) = ids(before, after);
    let mut new: BTreeMap<(u32, bool), usize> = BTreeMap::new();
    let secret = |value: &Value| !pair.revealed && value.marks().is_sensitive();
    for (at, (id, value)) in after_ids.iter().zip(after).enumerate() {
        new.insert((*id, secret(value)), at);
    }
    let child = |old: Option<&'v Value>, new: Option<&'v Value>, at: usize| {
        compare(&Pair { relevant: Paths::All, ..pair.elements(old, new, at) })
    };
    let mut parts = Vec::with_capacity(before.len().max(after.len()));
    for (at, (id, value)) in before_ids.iter().zip(before).enumerate() {
        let partner = new.remove(&(*id, secret(value))).and_then(|at| after.get(at));
        parts.push(child(Some(value), partner, at));
    }
    let mut left: Vec<usize> = new.into_values().collect();
    left.sort_unstable();
    parts.extend(left.into_iter().map(|at| child(None, after.get(at), at)));
    parts
}

/// Elements by key.
pub(super) fn map<'v>(pair: &Pair<'v, '_>, nested: Nested, compare: &Compare<'_, 'v>) -> Diff<'v> {
    let parts = by_key(pair, compare);
    let act = parts.iter().fold(pair.act_by_presence(), |act, (_, part)| act.and(part.act));
    pair.diff(act, Shape::Map(parts, nested))
}

/// Attributes of objects that have no schema: each is there or not, and may be null.
pub(super) fn dynamic_object<'v>(pair: &Pair<'v, '_>, compare: &Compare<'_, 'v>) -> Diff<'v> {
    let parts = by_key(pair, compare);
    let act = parts.iter().fold(pair.act_by_presence(), |act, (_, part)| act.and(part.act));
    pair.diff(act, Shape::Object(parts, Nested::No))
}

/// What differs under each key.
pub(super) fn by_key<'v>(pair: &Pair<'v, '_>, compare: &Compare<'_, 'v>) -> Vec<(&'v str, Diff<'v>)> {
    let names = |side: Option<&'v Value>| side.and_then(Value::as_entries).map_or(&[][..], |entries| entries.names());
    let mut all: Vec<&'v str> = names(pair.before).iter().chain(names(pair.after)).map(Str::as_str).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(|name| (name, compare(&pair.name(name)))).collect()
}

fn finished<'v>(pair: &Pair<'v, '_>, parts: Vec<Diff<'v>>, kind: ListKind) -> Diff<'v> {
    let act = parts.iter().fold(pair.act_by_presence(), |act, part| act.and(part.act));
    pair.diff(act, Shape::List(parts, kind))
}

/// A number for each element, the same for the same. What is not known is like nothing else.
fn ids(before: &[Value], after: &[Value]) -> (Vec<u32>, Vec<u32>) {
    let mut known: BTreeMap<Value, u32> = BTreeMap::new();
    let mut next = 0;
    let mut id = |value: &Value| {
        let mut fresh = || {
            next += 1;
            next
        };
        if value.is_wholly_known() { *known.entry(bare(value)).or_insert_with(fresh) } else { fresh() }
    };
    let before = before.iter().map(&mut id).collect();
    (before, after.iter().map(&mut id).collect())
}

/// Without marks; and null is null, whatever its type.
fn bare(value: &Value) -> Value {
    if value.is_null() {
        return Value::null(groma_model::ty::Type::Dynamic);
    }
    if value.contains_marks() { value.clone().unmark_deep().0 } else { value.clone() }
}

/// Whether two values look the same.
pub(super) fn same(before: &Value, after: &Value) -> bool {
    before.is_wholly_known() && after.is_wholly_known() && bare(before) == bare(after)
}

/// Whether two texts are versions of the same one.
fn share_a_line(before: &Value, after: &Value) -> bool {
    let (ValueKind::String(before), ValueKind::String(after)) = (before.kind(), after.kind()) else { return false };
    if !before.contains('\n') && !after.contains('\n') {
        return false;
    }
    let lines: std::collections::BTreeSet<&str> = before.split('\n').collect();
    after.split('\n').any(|line| lines.contains(line))
}
