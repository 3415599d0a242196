//! `ignore_fields`: what others decide after the object was made.

mod part;
#[cfg(test)]
mod tests;

use crate::Json;
use crate::jsonpath::{JsonPath, NoPath};
use crate::manifest::{OWN_ANNOTATIONS, is_own_annotation};
use crate::path::FieldPath;

/// What an object is known by. Nobody else decides that.
const IDENTITY: [&[&str]; 4] = [&["apiVersion"], &["kind"], &["metadata", "name"], &["metadata", "namespace"]];

/// What is left to others.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Ignored(Vec<JsonPath>);

impl Ignored {
    /// Reads the paths; mistakes with the index of the path.
    pub(crate) fn parse<'t>(paths: impl Iterator<Item = &'t str>) -> Result<Ignored, Vec<(usize, NoPath)>> {
        let mut read = Vec::new();
        let mut mistakes = Vec::new();
        for (index, text) in paths.enumerate() {
            match JsonPath::parse(text).and_then(refuse_what_is_ours) {
                Ok(path) => read.push(path),
                Err(mistake) => mistakes.push((index, mistake)),
            }
        }
        if mistakes.is_empty() { Ok(Ignored(read)) } else { Err(mistakes) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The object without what is ignored; containers that become empty by that go too.
    pub(crate) fn without(&self, object: &Json) -> Json {
        let mut rest = object.clone();
        // From the end, so that the places before it stay where they are.
        for place in self.places(object).iter().rev() {
            place.remove(&mut rest);
        }
        rest
    }

    /// Only what is ignored, with what identifies the object and the elements of lists on the way: what another manager takes over.
    /// A live object says itself which lists have elements of their own; other lists are taken as a whole.
    pub(crate) fn only(&self, object: &Json) -> Option<Json> {
        let places = self.places(object);
        if places.is_empty() {
            return None;
        }
        let identity = IDENTITY.iter().map(|names| FieldPath::of(names.iter().copied()));
        let identity = identity.filter(|place| place.find(object).is_some());
        Some(part::of(object, &identity.chain(places.iter().cloned()).collect::<Vec<_>>()))
    }

    /// What is ignored in this object: places that do not lie in each other, in order, elements of lists by their index. What the
    /// object is known by is never among them.
    pub(crate) fn places(&self, object: &Json) -> Vec<FieldPath> {
        let mut found = Vec::new();
        for place in self.0.iter().flat_map(|path| path.places_through_lists(object)) {
            spare(&place, object, &mut found);
        }
        found.sort();
        found.dedup();
        let mut outermost: Vec<FieldPath> = Vec::new();
        for place in found {
            if !outermost.last().is_some_and(|last| last.covers(&place)) {
                outermost.push(place);
            }
        }
        outermost
    }
}

fn refuse_what_is_ours(path: JsonPath) -> Result<JsonPath, NoPath> {
    let names = path.leading_names();
    let refuse = |what: String| Err(NoPath { what, at: 1 });
    if let ["metadata", "annotations", name, ..] = names.as_slice()
        && name.starts_with(OWN_ANNOTATIONS)
    {
        return refuse(format!(
            "the annotation {name:?} is how the provider knows its own objects, and cannot be ignored"
        ));
    }
    if path.is_names_only() && IDENTITY.iter().any(|identity| identity.starts_with(&names)) {
        let what = if names.is_empty() { "the whole object".to_owned() } else { names.join(".") };
        return refuse(format!("{what} is, or has in it, what the object is known by, and cannot be ignored"));
    }
    Ok(path)
}

/// Adds a place; or the places inside of it, if there may be something in it that must not be ignored.
fn spare(place: &FieldPath, object: &Json, found: &mut Vec<FieldPath>) {
    let names = place.names();
    if is_own_annotation(place) || IDENTITY.contains(&names.as_slice()) {
        return;
    }
    let members = place.find(object).and_then(Json::as_object).filter(|members| !members.is_empty());
    match (names.as_slice(), members) {
        ([] | ["metadata"] | ["metadata", "annotations"], Some(members)) if names.len() == place.0.len() => {
            for name in members.keys() {
                spare(&place.field(name), object, found);
            }
        }
        _ => found.push(place.clone()),
    }
}
