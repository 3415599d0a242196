//! JSON documents: finding parts by path, merging, and the part of one that another speaks about.

use groma_model::codec::json;
use groma_model::ty::Type;
use groma_model::value::Value;
use regex::Regex;
use serde_json::{Map, Value as Json};

/// A path into a document: `data.items[0].id`, or `/data/items/0/id`. `*` stands for any one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DocumentPath(Vec<String>);

impl DocumentPath {
    /// Reads a path. The empty one is the whole document.
    pub(super) fn parse(text: &str) -> Self {
        if let Some(pointer) = text.strip_prefix('/') {
            return Self(pointer.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")).collect());
        }
        let steps = text.split(['.', '[']).map(|step| step.trim_end_matches(']')).filter(|step| !step.is_empty());
        Self(steps.filter(|step| *step != "$").map(str::to_owned).collect())
    }

    /// What is there.
    pub(super) fn find<'j>(&self, document: &'j Json) -> Option<&'j Json> {
        self.0.iter().try_fold(document, |inside, step| match inside {
            Json::Object(members) => members.get(step),
            Json::Array(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// What is there, as text; none if it is null, an object or an array.
    pub(super) fn find_text(&self, document: &Json) -> Option<String> {
        text_of(self.find(document)?)
    }

    /// What is there, where names may be written otherwise.
    fn find_named<'j>(&self, document: &'j Json, names: Names) -> Option<&'j Json> {
        self.0.iter().try_fold(document, |inside, step| match inside {
            Json::Object(members) => names.find(members, step),
            _ => Self(vec![step.clone()]).find(inside),
        })
    }

    fn leads_to(&self, steps: &[String]) -> bool {
        self.0.len() == steps.len() && self.0.iter().zip(steps).all(|(own, step)| own == "*" || own == step)
    }
}

/// A primitive as text.
pub(super) fn text_of(json: &Json) -> Option<String> {
    match json {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        Json::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

/// A value as a document. A text that is a document itself is that document.
pub(super) fn document_of(value: &Value) -> Option<Json> {
    if let Some(text) = value.as_str()
        && let Ok(document) = serde_json::from_str::<Json>(text)
    {
        return Some(document);
    }
    if !value.is_wholly_known() {
        return None;
    }
    serde_json::from_str(&json::encode_plain(value).ok()?).ok()
}

/// A document as a value.
pub(super) fn value_of(document: &Json) -> Value {
    json::decode_implied(&document.to_string()).unwrap_or_else(|_| Value::null(Type::Dynamic))
}

/// One document over another: members of objects are joined, everything else is replaced.
pub(super) fn merged(below: Json, above: Json) -> Json {
    match (below, above) {
        (Json::Object(mut below), Json::Object(above)) => {
            for (name, value) in above {
                let joined = match below.remove(&name) {
                    Some(old) => merged(old, value),
                    None => value,
                };
                below.insert(name, joined);
            }
            Json::Object(below)
        }
        (_, above) => above,
    }
}

/// The members that are new or other than before, for servers that take changes only. What is gone is null.
pub(super) fn changed(before: &Json, after: &Json) -> Json {
    let (Json::Object(before), Json::Object(after)) = (before, after) else { return after.clone() };
    let mut found = Map::new();
    for (name, value) in after {
        match before.get(name) {
            Some(old) if same(old, value) => {}
            Some(old @ Json::Object(_)) if value.is_object() => {
                found.insert(name.clone(), changed(old, value));
            }
            _ => {
                found.insert(name.clone(), value.clone());
            }
        }
    }
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        found.insert(name.clone(), Json::Null);
    }
    Json::Object(found)
}

/// Whether two documents say the same. A number, a bool and their text are the same: many servers do not keep them apart.
pub(super) fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, value)| b.get(name).is_some_and(|other| same(value, other)))
        }
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::Number(a), Json::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => a == b || (a.is_string() != b.is_string() && text_of(a).is_some() && text_of(a) == text_of(b)),
    }
}

/// When two names of members are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Names {
    /// If they are the same text.
    #[default]
    Exact,
    /// Also if they differ only in case, underscores and hyphens.
    Loose,
}

impl Names {
    fn find<'j>(self, members: &'j Map<String, Json>, name: &str) -> Option<&'j Json> {
        let loosely = || members.iter().find(|(other, _)| bare(other).eq(bare(name))).map(|(_, value)| value);
        members.get(name).or_else(|| if self == Self::Loose { loosely() } else { None })
    }
}

/// A name without what people write in different ways.
fn bare(name: &str) -> impl Iterator<Item = char> + '_ {
    name.chars().filter(|letter| !matches!(letter, '_' | '-')).flat_map(char::to_lowercase)
}

/// How a document of ours is compared with what a server has.
#[derive(Debug, Clone, Default)]
pub(super) struct Tracking {
    /// Parts that are never compared.
    pub(super) ignored: Vec<DocumentPath>,
    /// Parts that the server does not show.
    pub(super) masked: Vec<DocumentPath>,
    /// What a text looks like that the server shows instead of a secret.
    pub(super) mask: Option<Regex>,
    /// Arrays whose elements are known by a part of them, whatever their order.
    pub(super) keyed: Vec<(DocumentPath, DocumentPath)>,
    /// Arrays whose order does not matter.
    pub(super) unordered: Vec<DocumentPath>,
    /// Whether members may be called otherwise.
    pub(super) names: Names,
}

impl Tracking {
    /// What the server has, as far as our document speaks about it.
    pub(super) fn project(&self, ours: &Json, theirs: &Json) -> Json {
        self.project_at(ours, theirs, &mut Vec::new())
    }

    /// Takes out what the server does not show, and what is not compared: null stands for what is not told.
    pub(super) fn unmask(&self, theirs: &mut Json) {
        self.unmask_at(theirs, &mut Vec::new());
    }

    fn unmask_at(&self, theirs: &mut Json, at: &mut Vec<String>) {
        if self.is_hidden(&Json::String(String::new()), theirs, at) {
            *theirs = Json::Null;
            return;
        }
        let mut inside = |step: String, part: &mut Json| {
            at.push(step);
            self.unmask_at(part, at);
            at.pop();
        };
        match theirs {
            Json::Object(members) => members.iter_mut().for_each(|(name, part)| inside(name.clone(), part)),
            Json::Array(items) => {
                items.iter_mut().enumerate().for_each(|(index, part)| inside(index.to_string(), part));
            }
            _ => {}
        }
    }

    fn is_hidden(&self, ours: &Json, theirs: &Json, at: &[String]) -> bool {
        let masked = || match (&self.mask, ours, theirs) {
            (Some(mask), Json::String(_), Json::String(shown)) => mask.is_match(shown),
            _ => false,
        };
        ours.is_null() || self.ignored.iter().chain(&self.masked).any(|path| path.leads_to(at)) || masked()
    }

    fn project_at(&self, ours: &Json, theirs: &Json, at: &mut Vec<String>) -> Json {
        // What is given as null is sent, but the server may well decide what that means.
        if self.is_hidden(ours, theirs, at) || same(ours, theirs) {
            return ours.clone();
        }
        match (ours, theirs) {
            (Json::Object(ours), Json::Object(theirs)) => {
                let mut found = Map::new();
                for (name, value) in ours {
                    let other = self.names.find(theirs, name).unwrap_or(&Json::Null);
                    let inner = inside(at, name, |at| self.project_at(value, other, at));
                    found.insert(name.clone(), inner);
                }
                Json::Object(found)
            }
            (Json::Array(ours), Json::Array(theirs)) => Json::Array(self.project_items(ours, theirs, at)),
            _ => theirs.clone(),
        }
    }

    fn project_items(&self, ours: &[Json], theirs: &[Json], at: &mut Vec<String>) -> Vec<Json> {
        if let Some((_, key)) = self.keyed.iter().find(|(path, _)| path.leads_to(at)) {
            let part = |item: &'_ Json| key.find_named(item, self.names).cloned();
            let find = |item: &Json| theirs.iter().find(|other| part(other).is_some() && part(other) == part(item));
            let both = ours.iter().enumerate().filter_map(|(index, item)| Some((index, item, find(item)?)));
            return both
                .map(|(index, item, other)| inside(at, &index.to_string(), |at| self.project_at(item, other, at)))
                .collect();
        }
        if self.unordered.iter().any(|path| path.leads_to(at)) && same_elements(ours, theirs) {
            return ours.to_vec();
        }
        let mut found = Vec::with_capacity(theirs.len());
        for (index, other) in theirs.iter().enumerate() {
            found.push(match ours.get(index) {
                Some(item) => inside(at, &index.to_string(), |at| self.project_at(item, other, at)),
                None => other.clone(),
            });
        }
        found
    }
}

fn inside<T>(at: &mut Vec<String>, step: &str, run: impl FnOnce(&mut Vec<String>) -> T) -> T {
    at.push(step.to_owned());
    let result = run(at);
    at.pop();
    result
}

/// Whether two arrays have the same elements, each as often as the other.
fn same_elements(ours: &[Json], theirs: &[Json]) -> bool {
    let mut left: Vec<&Json> = theirs.iter().collect();
    ours.len() == theirs.len()
        && ours
            .iter()
            .all(|item| left.iter().position(|other| same(item, other)).map(|at| left.swap_remove(at)).is_some())
}

/// Fills in what is in braces: `/users/{id}`, `{body.name}`. What is unknown stays.
pub(super) fn filled(template: &str, find: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        let Some(length) = rest[start..].find('}') else { break };
        let name = &rest[start + 1..start + length];
        out.push_str(&rest[..start]);
        if let Some(value) = find(name) {
            out.push_str(&value);
            rest = &rest[start + length + 1..];
        } else {
            // Braces are also what documents are made of: what comes behind this one may be a name.
            out.push('{');
            rest = &rest[start + 1..];
        }
    }
    out + rest
}

/// A text as one step of a URL's path.
pub(super) fn path_step(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte);
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_find_parts() {
        let document = json!({"data": {"items": [{"id": 7}], "a.b": true}});
        for path in ["data.items[0].id", "$.data.items.0.id", "/data/items/0/id"] {
            assert_eq!(DocumentPath::parse(path).find_text(&document).as_deref(), Some("7"), "{path}");
        }
        assert_eq!(DocumentPath::parse("/data/a.b").find_text(&document).as_deref(), Some("true"));
        assert_eq!(DocumentPath::parse("").find(&document), Some(&document));
        assert_eq!(DocumentPath::parse("data.none").find(&document), None);
    }

    #[test]
    fn only_what_we_speak_about_is_compared() {
        let ours = json!({"name": "a", "size": "5", "nested": {"x": 1}, "gone": 1, "unset": null});
        let theirs = json!({"name": "b", "size": 5, "nested": {"x": 1, "y": 2}, "created": "now", "unset": "default"});
        let expected = json!({"name": "b", "size": "5", "nested": {"x": 1}, "gone": null, "unset": null});
        assert_eq!(Tracking::default().project(&ours, &theirs), expected);
    }

    #[test]
    fn masks_and_ignored_parts_stay() {
        let tracking = Tracking {
            ignored: vec![DocumentPath::parse("users.*.seen")],
            masked: vec![DocumentPath::parse("token")],
            mask: Regex::new(r"^\*+$").ok(),
            ..Tracking::default()
        };
        let ours = json!({"password": "secret", "token": "t", "users": [{"name": "a", "seen": 1}]});
        let theirs = json!({"password": "****", "token": "<hidden>", "users": [{"name": "a", "seen": 9}]});
        assert_eq!(tracking.project(&ours, &theirs), ours);
    }

    #[test]
    fn arrays_are_compared_by_index_key_or_content() {
        let tracking = Tracking {
            keyed: vec![(DocumentPath::parse("rules"), DocumentPath::parse("name"))],
            unordered: vec![DocumentPath::parse("tags")],
            ..Tracking::default()
        };
        let ours =
            json!({"rules": [{"name": "a", "port": 1}, {"name": "b", "port": 2}], "tags": ["x", "y"], "list": [1, 2]});
        let theirs = json!({
            "rules": [{"name": "default", "port": 0}, {"name": "b", "port": 2, "id": 5}, {"name": "a", "port": 1}],
            "tags": ["y", "x"], "list": [1, 2],
        });
        assert_eq!(tracking.project(&ours, &theirs), ours);
        let theirs = json!({"rules": [{"name": "b", "port": 3}], "tags": ["x"], "list": [1, 2, 3]});
        let expected = json!({"rules": [{"name": "b", "port": 3}], "tags": ["x"], "list": [1, 2, 3]});
        assert_eq!(tracking.project(&ours, &theirs), expected);
    }

    #[test]
    fn names_may_be_written_otherwise() {
        let tracking = Tracking {
            keyed: vec![(DocumentPath::parse("sync_catalog.streams"), DocumentPath::parse("stream.stream_name"))],
            names: Names::Loose,
            ..Tracking::default()
        };
        let stream = |name: &str, mode: &str| json!({"stream": {"stream_name": name}, "config": {"sync_mode": mode}});
        let ours = json!({"sync_catalog": {"streams": [stream("a", "full"), stream("b", "full")]}});
        let shown =
            |name: &str, mode: &str| json!({"config": {"syncMode": mode, "x": 1}, "stream": {"streamName": name}});
        let theirs = json!({"syncCatalog": {"streams": [shown("b", "full"), shown("a", "full")]}});
        assert_eq!(tracking.project(&ours, &theirs), ours);
        let theirs = json!({"syncCatalog": {"streams": [shown("b", "part"), shown("a", "full")]}});
        let expected = json!({"sync_catalog": {"streams": [stream("a", "full"), stream("b", "part")]}});
        assert_eq!(tracking.project(&ours, &theirs), expected);
        let exact = Tracking { names: Names::Exact, ..tracking };
        assert_eq!(exact.project(&ours, &theirs), json!({"sync_catalog": null}));
    }

    #[test]
    fn changes_are_found() {
        let before = json!({"a": 1, "b": {"x": 1, "y": 2}, "c": 3});
        let after = json!({"a": 1, "b": {"x": 1, "y": 3}, "d": 4});
        assert_eq!(changed(&before, &after), json!({"b": {"y": 3}, "c": null, "d": 4}));
    }

    #[test]
    fn templates_are_filled() {
        let find = |name: &str| (name == "id").then(|| path_step("a/b c"));
        assert_eq!(filled("/x/{id}/{other}/{", &find), "/x/a%2Fb%20c/{other}/{");
        assert_eq!(
            filled("{\"a\": {\"id\": \"{id}\"}}", &|_| Some("7".to_owned()).filter(|_| false)),
            "{\"a\": {\"id\": \"{id}\"}}"
        );
        assert_eq!(filled("{\"a\": \"{id}\"}", &|name| (name == "id").then(|| "7".to_owned())), "{\"a\": \"7\"}");
    }
}
