//! Finding what differs between two documents.

use serde_json::Value;

/// Members that tell about the program or the moment.
const OWN: [&str; 3] = ["terraform_version", "timestamp", "groma"];

/// Adds what differs, each with its place.
pub(crate) fn documents(name: &str, theirs: &Value, ours: &Value, found: &mut Vec<String>) {
    let (mut theirs, mut ours) = (theirs.clone(), ours.clone());
    for document in [&mut theirs, &mut ours] {
        normalise(document);
    }
    values(name.to_owned(), &theirs, &ours, found);
    // Whoever compares texts wants the members in the same order.
    let texts = [&theirs, &ours].map(|document| serde_json::to_string(document).unwrap());
    if theirs == ours && texts[0] != texts[1] {
        found.push(format!("{name}: members are in another order"));
    }
}

fn normalise(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !OWN.contains(&name.as_str()));
            // A set of paths has no order.
            if let Some(Value::Array(paths)) = members.get_mut("replace_paths") {
                paths.sort_by_key(ToString::to_string);
            }
            if let Some(Value::Array(paths)) = members.get_mut("relevant_attributes") {
                paths.sort_by_key(ToString::to_string);
            }
            members.values_mut().for_each(normalise);
        }
        Value::Array(items) => items.iter_mut().for_each(normalise),
        _ => {}
    }
}

fn values(place: String, theirs: &Value, ours: &Value, found: &mut Vec<String>) {
    match (theirs, ours) {
        (Value::Object(a), Value::Object(b)) => {
            for (name, item) in a {
                let place = format!("{place}.{name}");
                match b.get(name) {
                    Some(other) => values(place, item, other, found),
                    None => found.push(format!("{place} is missing: {item}")),
                }
            }
            let more = b.iter().filter(|(name, _)| !a.contains_key(*name));
            found.extend(more.map(|(name, item)| format!("{place}.{name} is too much: {item}")));
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (item, other)) in a.iter().zip(b).enumerate() {
                values(format!("{place}[{at}]"), item, other, found);
            }
        }
        (a, b) if a == b => {}
        (a, b) => found.push(format!("{place} is {b}, not {a}")),
    }
}
