//! What two programs did, made comparable: lists of named things become maps, and what differs from run to run (identifiers,
//! times) becomes a name for where it was first seen.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Values of one run that another run has different ones for.
#[derive(Default)]
pub(super) struct Tokens {
    known: BTreeMap<String, String>,
    /// Longer texts that may stand inside of others.
    parts: Vec<String>,
}

impl Tokens {
    /// Gives a text a name, if it has none.
    pub(super) fn register(&mut self, text: &str, name: &str) {
        if text.is_empty() || self.known.contains_key(text) {
            return;
        }
        self.known.insert(text.to_owned(), format!("<{name}>"));
        if text.len() >= 6 {
            self.parts.push(text.to_owned());
        }
    }

    /// A text with names in place of what differs from run to run.
    fn neutral(&mut self, text: &str, place: &str) -> String {
        if let Some(name) = self.known.get(text) {
            return name.clone();
        }
        let mut result = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let boundary = result.chars().next_back().is_none_or(|before| !before.is_ascii_alphanumeric());
            if let Some(length) = random_prefix(rest).filter(|_| boundary) {
                let (token, after) = rest.split_at(length);
                self.register(token, place);
                result.push_str(self.known.get(token).map_or(token, String::as_str));
                rest = after;
            } else {
                result.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
        for part in &self.parts {
            if result.contains(part.as_str()) {
                result = result.replace(part.as_str(), self.known.get(part).map_or("", String::as_str));
            }
        }
        result
    }

    /// A document with names in place of what differs, keys included.
    pub(super) fn apply(&mut self, value: &Value, place: &str) -> Value {
        match value {
            Value::String(text) => Value::String(self.neutral(text, place)),
            Value::Array(items) => {
                let item = |(index, item): (usize, &Value)| self.apply(item, &format!("{place}[{index}]"));
                Value::Array(items.iter().enumerate().map(item).collect())
            }
            Value::Object(entries) => {
                let mut result = Map::new();
                for (key, value) in entries {
                    let key = self.neutral(key, place);
                    let value = self.apply(value, &format!("{place}.{key}"));
                    result.insert(key, value);
                }
                Value::Object(result)
            }
            _ => value.clone(),
        }
    }
}

/// How long the identifier or time is that a text begins with: a UUID, a fixture's identifier of twelve digits, a time of
/// these years (scenarios that want to compare times use older ones).
fn random_prefix(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let ends = |length: usize| bytes.get(length).is_none_or(|next| !next.is_ascii_alphanumeric());
    let shape = |pattern: &str| {
        bytes.len() >= pattern.len()
            && pattern.bytes().zip(bytes).all(|(wanted, found)| match wanted {
                b'x' => found.is_ascii_digit() || (b'a'..=b'f').contains(found),
                b'9' => found.is_ascii_digit(),
                _ => wanted == *found,
            })
    };
    for pattern in ["xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "xxxxxxxxxxxx"] {
        if shape(pattern) && ends(pattern.len()) {
            return Some(pattern.len());
        }
    }
    let time = "9999-99-99T99:99:99";
    let recent = text.get(..4).is_some_and(|year| ("2025".."2100").contains(&year));
    if recent && shape(time) {
        let fraction = bytes[time.len()..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        let zone = usize::from(bytes.get(time.len() + fraction) == Some(&b'Z'));
        return Some(time.len() + fraction + zone);
    }
    None
}

/// A document in which lists of things with a name are maps, so that one thing too many does not make all others differ.
pub(super) fn keyed(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let names: Option<Vec<String>> = items.iter().map(name_of).collect();
            match names.filter(|names| !names.is_empty()) {
                None => Value::Array(items.iter().map(keyed).collect()),
                Some(names) => {
                    let mut result = Map::new();
                    for (name, item) in names.into_iter().zip(items) {
                        let mut unique = name.clone();
                        let mut count = 1;
                        while result.contains_key(&unique) {
                            count += 1;
                            unique = format!("{name} #{count}");
                        }
                        result.insert(unique, keyed(item));
                    }
                    Value::Object(result)
                }
            }
        }
        Value::Object(entries) => {
            Value::Object(entries.iter().map(|(key, value)| (key.clone(), keyed(value))).collect())
        }
        _ => value.clone(),
    }
}

/// The name of a thing in a list: resources, instances and checks, of states and plans alike. Everything else has none.
fn name_of(item: &Value) -> Option<String> {
    let text = |key: &str| item.get(key).and_then(Value::as_str);
    let deposed = text("deposed").or(text("deposed_key")).map(|key| format!(" ({key})")).unwrap_or_default();
    if let Some(address) = text("address") {
        return Some(format!("{address}{deposed}"));
    }
    if let Some(address) = item.get("address").and_then(|address| address.get("to_display")).and_then(Value::as_str) {
        return Some(address.to_owned());
    }
    if let (Some(kind), Some(address)) = (text("object_kind"), text("config_addr")) {
        return Some(format!("{kind} {address}"));
    }
    if let Some(address) = text("object_addr") {
        return Some(address.to_owned());
    }
    if item.get("instances").is_some() {
        let (module, mode) = (text("module").unwrap_or_default(), text("mode")?);
        return Some(format!("{module} {mode} {}.{}", text("type")?, text("name")?).trim_start().to_owned());
    }
    if item.get("schema_version").is_some() && item.get("attributes").or(item.get("attributes_flat")).is_some() {
        let key = item.get("index_key").map_or_else(|| "-".to_owned(), ToString::to_string);
        return Some(format!("{key}{deposed}"));
    }
    None
}

/// A document on one line, with its keys in order.
pub(super) fn line(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(line).collect::<Vec<_>>().join(", ")),
        Value::Object(entries) => {
            let entries: BTreeMap<&String, String> = entries.iter().map(|(key, value)| (key, line(value))).collect();
            let entries: Vec<String> = entries.iter().map(|(key, value)| format!("{key}: {value}")).collect();
            format!("{{{}}}", entries.join(", "))
        }
        _ => value.to_string(),
    }
}

/// The leaves of a document by their path.
pub(super) fn leaves(value: &Value, path: &str, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                leaves(item, &format!("{path}[{index}]"), found);
            }
        }
        Value::Object(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                leaves(value, &format!("{path}.{key}"), found);
            }
        }
        _ => {
            found.insert(path.to_owned(), value.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn identifiers_and_times_get_the_name_of_their_first_place() {
        let mut tokens = Tokens::default();
        let first = tokens.apply(
            &json!({ "id": "0a1b2c3d4e5f", "at": "2026-11-16T03:49:25.7Z", "then": "2020-01-01T00:00:00Z" }),
            "s",
        );
        assert_eq!(first, json!({ "id": "<s.id>", "at": "<s.at>", "then": "2020-01-01T00:00:00Z" }));
        let again = tokens.apply(&json!(["token-0a1b2c3d4e5f", "0a1b2c3d4e5f-0", "x0a1b2c3d4e5f", "0a1b2c3d4e5"]), "t");
        assert_eq!(again, json!(["token-<s.id>", "<s.id>-0", "x<s.id>", "0a1b2c3d4e5"]));
    }

    #[test]
    fn resources_become_a_map() {
        let value = keyed(&json!([{ "address": "a.b", "x": 1 }, { "address": "a.b", "deposed": "01020304" }]));
        assert_eq!(value["a.b"]["x"], 1);
        assert!(value.get("a.b (01020304)").is_some());
        assert_eq!(keyed(&json!([1, 2])), json!([1, 2]));
    }

    #[test]
    fn leaves_have_paths() {
        let mut found = BTreeMap::new();
        leaves(&json!({ "a": [{ "b": null }, {}] }), "", &mut found);
        let expected = [(".a[0].b", "null"), (".a[1]", "{}")];
        assert_eq!(found, expected.map(|(path, value)| (path.to_owned(), value.to_owned())).into());
    }
}
