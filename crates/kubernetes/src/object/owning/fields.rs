//! The maps `managed_state_projection` and `managed_fields`: as they are, and as they will be.

use std::collections::{BTreeMap, BTreeSet};

use groma_kit::Object;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value};

use crate::Json;
use crate::ignore::Ignored;
use crate::manifest::is_own_annotation;
use crate::ownership::{self, MANAGER};
use crate::path::{FieldPath, Step};
use crate::projection;

/// Texts by the texts of places.
pub(crate) type Map = BTreeMap<String, String>;

/// The values of what a manager owns, without what is left to others. `id` goes into fingerprints.
pub(crate) fn projected(live: &Json, manager: &str, ignored: &Ignored, id: &str) -> Map {
    projected_at(live, owned(live, manager), ignored, id)
}

/// What is there now of what we own, and of what we owned before: others may have taken it, and what they made of it is to be seen.
pub(crate) fn reread(live: &Json, before: &Map, ignored: &Ignored, id: &str) -> Map {
    let mut places = owned(live, MANAGER);
    places.extend(before.keys().filter_map(|place| place.parse().ok()));
    projected_at(live, places, ignored, id)
}

fn projected_at(live: &Json, mut places: BTreeSet<FieldPath>, ignored: &Ignored, id: &str) -> Map {
    for names in [&["apiVersion"][..], &["kind"], &["metadata", "name"], &["metadata", "namespace"]] {
        places.insert(FieldPath::of(names.iter().copied()));
    }
    if ignored.is_empty() {
        projection::project(live, &places, id)
    } else {
        projection::project(&ignored.without(live), &places, id)
    }
}

/// The places that a manager owns, without our own annotations: they are nobody's business.
pub(crate) fn owned(live: &Json, manager: &str) -> BTreeSet<FieldPath> {
    let mut places = ownership::owned_by(live, |name| name == manager);
    places.retain(|place| !is_own_annotation(place));
    places
}

/// Whether a place only identifies an element of a list, on the way to what is inside it.
pub(crate) fn is_key(place: &FieldPath) -> bool {
    match place.0.as_slice() {
        [.., Step::Key(_)] => true,
        [.., Step::Key(keys), Step::Field(name)] => keys.iter().any(|(key, _)| key == name),
        _ => false,
    }
}

/// The places that have values: without those that only lead to others.
pub(crate) fn leaves(mut places: BTreeSet<FieldPath>) -> BTreeSet<FieldPath> {
    places.retain(|place| !is_key(place));
    let mut leaves = BTreeSet::new();
    let mut rest = places.into_iter().peekable();
    // What is inside of a place comes right behind it.
    while let Some(place) = rest.next() {
        if rest.peek().is_none_or(|next| !place.covers(next)) {
            leaves.insert(place);
        }
    }
    leaves
}

/// Who owns what, by the texts of places.
pub(crate) fn managers(live: &Json) -> Map {
    let managers = ownership::managers(live).into_iter();
    managers.filter(|(place, _)| !is_own_annotation(place)).map(|(place, who)| (place.to_string(), who)).collect()
}

/// Who will own what. Places that we send are ours, since others lose them; for places that we let go the server says whose they are
/// then. All others stay as they were last seen, so that what others do meanwhile is no contradiction.
pub(crate) fn predicted(before: &Map, after: &Json) -> Map {
    let then = managers(after);
    let sent: BTreeSet<String> = owned(after, MANAGER).iter().map(FieldPath::to_string).collect();
    let mut predicted = before.clone();
    predicted.retain(|place, who| who != MANAGER || then.contains_key(place));
    for (place, who) in then {
        if sent.contains(&place) {
            predicted.insert(place, MANAGER.to_owned());
        } else if predicted.get(&place).is_some_and(|before| before == MANAGER) {
            predicted.insert(place, who);
        }
    }
    predicted
}

/// As a value.
pub(crate) fn map_value(map: &Map) -> Value {
    let entries: Entries = map.iter().map(|(place, text)| (place.as_str(), Value::string(text.as_str()))).collect();
    Value::map(Type::String, entries)
}

/// The type of both maps.
pub(crate) fn map_type() -> Type {
    Type::map(Type::String)
}

/// The projection of a Secret while its id, and so its fingerprints, are not known.
pub(crate) fn without_fingerprints(map: &Map) -> Value {
    let is_secret = |place: &str| ["data", "stringData"].iter().any(|name| is_below(place, name));
    let value =
        |place: &str, text: &str| if is_secret(place) { Value::unknown(Type::String) } else { Value::string(text) };
    let entries: Entries = map.iter().map(|(place, text)| (place.as_str(), value(place, text))).collect();
    Value::map(Type::String, entries)
}

fn is_below(place: &str, name: &str) -> bool {
    place.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// A map of an object; none if it is null or has unknown parts.
pub(crate) fn map_of(object: &Object, name: &str) -> Option<Map> {
    if !object.is_wholly_known(name) {
        return None;
    }
    let entries = object.text_map(name)?;
    Some(entries.into_iter().map(|(place, text)| (place.to_owned(), text.to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_leads_to_values_is_no_leaf() {
        use crate::path::Literal;
        let container =
            FieldPath::of(["spec", "containers"]).join(Step::Key(vec![("name".to_owned(), Literal::text("nginx"))]));
        let places = [
            FieldPath::of(["metadata", "labels"]),
            FieldPath::of(["metadata", "labels", "a"]),
            FieldPath::of(["metadata", "labels", "b"]),
            container.clone(),
            container.field("name"),
            container.field("image"),
        ];
        let expected = [places[1].clone(), places[2].clone(), places[5].clone()];
        assert_eq!(leaves(places.into()), BTreeSet::from(expected));
    }

    #[test]
    fn only_the_data_of_a_secret_is_left_open() {
        let texts = ["data", "data.a", "data[\"b.c\"]", "stringData.x", "database", "metadata.name"];
        let map: Map = texts.iter().map(|place| ((*place).to_owned(), "v".to_owned())).collect();
        let value = without_fingerprints(&map);
        let open = |place: &str| !value.as_entries().unwrap().get(place).unwrap().is_known();
        assert!(texts[..4].iter().all(|place| open(place)));
        assert!(!open("database") && !open("metadata.name"));
    }
}
