//! A part of an object that can stand for itself: with the keys of the elements of lists on the way.

use std::collections::{BTreeMap, BTreeSet};

use crate::Json;
use crate::ownership;
use crate::path::{FieldPath, Step};

/// What elements of lists are told apart by, in the kinds of Kubernetes itself.
const USUAL_KEYS: [&str; 13] = [
    "name",
    "key",
    "type",
    "id",
    "uid",
    "ip",
    "port",
    "containerPort",
    "protocol",
    "mountPath",
    "devicePath",
    "topologyKey",
    "whenUnsatisfiable",
];

/// The object with these places only. Elements of lists are given by their index.
pub(super) fn of(object: &Json, places: &[FieldPath]) -> Json {
    let lists = Lists { keys: ownership::list_keys(object), is_known: ownership::is_known(object) };
    let places: Vec<&[Step]> = places.iter().map(|place| place.0.as_slice()).collect();
    lists.part(object, &FieldPath::default(), &places)
}

/// What is known about lists.
struct Lists {
    keys: BTreeMap<FieldPath, BTreeSet<String>>,
    /// Whether lists that are not among these have no keys.
    is_known: bool,
}

impl Lists {
    fn part(&self, json: &Json, at: &FieldPath, places: &[&[Step]]) -> Json {
        if places.iter().any(|place| place.is_empty()) {
            return json.clone();
        }
        match json {
            Json::Object(members) => {
                let kept = members.iter().filter_map(|(name, value)| {
                    let inner = inside(places, |step| matches!(step, Step::Field(own) if own == name));
                    (!inner.is_empty()).then(|| (name.clone(), self.part(value, &at.field(name), &inner)))
                });
                Json::Object(kept.collect())
            }
            // A list without keys has one owner.
            Json::Array(_) if self.is_known && !self.keys.contains_key(at) => json.clone(),
            Json::Array(items) => {
                let kept = items.iter().enumerate().filter_map(|(index, item)| {
                    let inner = inside(places, |step| *step == Step::Index(index));
                    let place = at.join(Step::Index(index));
                    (!inner.is_empty()).then(|| self.with_keys(item, at, self.part(item, &place, &inner)))
                });
                Json::Array(kept.collect())
            }
            scalar => scalar.clone(),
        }
    }

    /// A part of an element with what tells the element from others, in the order of the element.
    fn with_keys(&self, item: &Json, list: &FieldPath, part: Json) -> Json {
        let (Json::Object(members), Json::Object(mut part)) = (item, part.clone()) else { return part };
        let is_key = |name: &str| match self.keys.get(list) {
            Some(keys) => keys.contains(name),
            None => USUAL_KEYS.contains(&name),
        };
        let kept = members.iter().filter_map(|(name, value)| {
            let own = part.shift_remove(name);
            let key = (is_key(name) && !value.is_object() && !value.is_array()).then(|| value.clone());
            own.or(key).map(|value| (name.clone(), value))
        });
        Json::Object(kept.collect())
    }
}

/// What is left of the places that begin with a step.
fn inside<'p>(places: &[&'p [Step]], is_first: impl Fn(&Step) -> bool) -> Vec<&'p [Step]> {
    let rest = |place: &&'p [Step]| place.split_first().filter(|(first, _)| is_first(first)).map(|(_, rest)| rest);
    places.iter().filter_map(rest).collect()
}
