//! What a change would bring: what the cloud decides is not known yet, and some changes need a new object.

use groma_model::path::Path;
use groma_model::text::Str;
use groma_model::value::{Entries, Value};

use crate::description::{BlockType, Fields, Words};

/// An object with every attribute changed that `change` has something else for. It is told what is beside the attribute.
pub(crate) fn changed(
    fields: &Fields,
    object: &Value,
    change: &mut dyn FnMut(&Words, &str, &Value, &Entries) -> Option<Value>,
) -> Value {
    let Some(entries) = object.as_entries() else { return object.clone() };
    let mut result: Vec<(Str, Value)> = Vec::new();
    for (name, value) in entries.iter() {
        let new = match (fields.attributes.get(name.as_str()), fields.blocks.get(name.as_str())) {
            (Some(words), _) => change(words, name.as_str(), value, entries).unwrap_or_else(|| value.clone()),
            (None, Some(kind)) => each(kind, value, change),
            (None, None) => value.clone(),
        };
        result.push((name.clone(), new));
    }
    Value::object(result)
}

fn each(
    kind: &BlockType,
    blocks: &Value,
    change: &mut dyn FnMut(&Words, &str, &Value, &Entries) -> Option<Value>,
) -> Value {
    let Some(items) = blocks.as_elements() else { return blocks.clone() };
    let items: Vec<Value> = items.iter().map(|item| changed(&kind.fields, item, change)).collect();
    let element = kind.fields.block().implied_type();
    // With dynamic attributes inside, every block may have a type of its own.
    match (element.has_dynamic(), kind.set) {
        (true, _) => Value::tuple(items),
        (false, true) => Value::set(element, items),
        (false, false) => Value::list(element, items),
    }
}

/// The object as it will be: what the cloud decides is not known, what is never stored is not there.
pub(crate) fn planned(fields: &Fields, proposed: &Value) -> Value {
    changed(fields, proposed, &mut |words, _, value, _| {
        if words.is_write_only() {
            return Some(Value::null(value.ty()));
        }
        (words.decided && value.is_null()).then(|| Value::unknown(words.ty.clone()))
    })
}

/// The places where the one differs from the other so that a new object is needed.
pub(crate) fn replaced(fields: &Fields, prior: &Value, planned: &Value) -> Vec<Path> {
    let mut places = Vec::new();
    look(fields, prior, planned, &Path::root(), &mut places);
    places
}

fn look(fields: &Fields, prior: &Value, planned: &Value, at: &Path, places: &mut Vec<Path>) {
    let (Some(before), Some(after)) = (prior.as_entries(), planned.as_entries()) else { return };
    for (name, _) in fields.attributes.iter().filter(|(_, words)| words.new) {
        if before.get(name) != after.get(name) {
            places.push(at.attr(name.as_str()));
        }
    }
    for (name, kind) in &fields.blocks {
        let (Some(old), Some(new)) = (before.get(name), after.get(name)) else { continue };
        if old == new {
            continue;
        }
        let place = at.attr(name.as_str());
        match (old.as_elements(), new.as_elements()) {
            _ if kind.new => places.push(place),
            (Some(olds), Some(news)) if !kind.set && olds.len() == news.len() => {
                for (index, (old, new)) in olds.iter().zip(news).enumerate() {
                    look(&kind.fields, old, new, &place.index(index), places);
                }
            }
            _ if needs_new(&kind.fields) => places.push(place),
            _ => {}
        }
    }
}

/// Whether any attribute in a block needs a new object when it changes.
fn needs_new(fields: &Fields) -> bool {
    fields.attributes.values().any(|words| words.new)
        || fields.blocks.values().any(|kind| kind.new || needs_new(&kind.fields))
}
