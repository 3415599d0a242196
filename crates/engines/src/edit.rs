//! Changes of a state that are written back through the engine: marks that are taken off objects, and what is pending. Everything else
//! stays to the letter, also what we do not know.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groma_model::address::{AbsInstance, InstanceKey};
use groma_model::codec::json::Json;

/// What is changed about the object of an instance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Edit {
    /// It is not tainted any more.
    pub(crate) untaint: bool,
    /// Its private data, if that changes.
    pub(crate) private: Option<Vec<u8>>,
}

/// A state of format 4 with changes made, as the snapshot that follows it. None if it is no such state, or lacks one of the objects.
pub(crate) fn edited(text: &str, edits: &BTreeMap<AbsInstance, Edit>) -> Option<String> {
    let mut state = Json::parse(text).ok()?;
    let serial = match state.get("serial")? {
        Json::Number(serial) => serial.parse::<u64>().ok()?.checked_add(1)?.to_string(),
        _ => return None,
    };
    if state.get("version") != Some(&Json::Number("4")) {
        return None;
    }
    let mut done = 0;
    for resource in list(member(&mut state, "resources")?) {
        let address = address_of(resource)?;
        for instance in member(resource, "instances").into_iter().flat_map(list) {
            let mut address = address.clone();
            address.instance.key = key_of(instance)?;
            let is_current = instance.get("deposed").is_none();
            if let Some(edit) = edits.get(&address).filter(|_| is_current) {
                apply(instance, edit);
                done += 1;
            }
        }
    }
    // Texts made here outlive nothing that the tree borrows, so the new number is put in last.
    let text = with_serial(&mut state, &serial);
    (done == edits.len()).then_some(text)
}

fn with_serial(state: &mut Json<'_>, serial: &str) -> String {
    let Json::Object(members) = state else { return String::new() };
    let mut text = String::from("{");
    for (at, (name, value)) in members.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let value = if name == "serial" { serial.to_owned() } else { value.to_text() };
        text.push_str(comma);
        text.push_str(&Json::String(Cow::Borrowed(name)).to_text());
        text.push(':');
        text.push_str(&value);
    }
    text.push('}');
    text
}

fn apply(instance: &mut Json<'_>, edit: &Edit) {
    let Json::Object(members) = instance else { return };
    if edit.untaint {
        members.retain(|(name, _)| name != "status");
    }
    if let Some(private) = &edit.private {
        members.retain(|(name, _)| name != "private");
        if !private.is_empty() {
            members.push((Cow::Borrowed("private"), Json::String(Cow::Owned(STANDARD.encode(private)))));
        }
    }
}

fn member<'j, 'a>(json: &'j mut Json<'a>, wanted: &str) -> Option<&'j mut Json<'a>> {
    match json {
        Json::Object(members) => members.iter_mut().rev().find(|(name, _)| name == wanted).map(|(_, value)| value),
        _ => None,
    }
}

fn list<'j, 'a>(json: &'j mut Json<'a>) -> std::slice::IterMut<'j, Json<'a>> {
    match json {
        Json::Array(items) => items.iter_mut(),
        _ => [].iter_mut(),
    }
}

fn text<'j>(json: &'j Json<'_>, name: &str) -> &'j str {
    match json.get(name) {
        Some(Json::String(text)) => text,
        _ => "",
    }
}

fn address_of(resource: &Json<'_>) -> Option<AbsInstance> {
    let parts = [
        text(resource, "module"),
        if text(resource, "mode") == "data" { "data" } else { "" },
        text(resource, "type"),
        text(resource, "name"),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".").parse().ok()
}

fn key_of(instance: &Json<'_>) -> Option<InstanceKey> {
    match instance.get("index_key") {
        None | Some(Json::Null) => Some(InstanceKey::None),
        Some(Json::Number(number)) => number.parse().ok().map(InstanceKey::Int),
        Some(Json::String(key)) => Some(InstanceKey::String(key.as_ref().into())),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: &str = r#"{"version":4,"terraform_version":"9.9","serial":41,"lineage":"l","outputs":{"n":{"value":1e400,"type":"number"}},
        "resources":[
          {"mode":"managed","type":"a","name":"b","provider":"p","instances":[{"status":"tainted","attributes":{"x":12345678901234567890123},"new":[1]}]},
          {"module":"module.m[\"k\"]","mode":"managed","type":"a","name":"b","provider":"p","instances":[
            {"index_key":0,"deposed":"00000001","status":"tainted","attributes":{}},
            {"index_key":0,"status":"tainted","attributes":{},"private":"e30="},
            {"index_key":"s","status":"tainted","attributes":{}}]}],"check_results":null}"#;

    fn edit(entries: &[(&str, Edit)]) -> Option<String> {
        edited(STATE, &entries.iter().map(|(address, edit)| (address.parse().unwrap(), edit.clone())).collect())
    }

    #[test]
    fn only_what_is_named_changes() {
        let untaint = Edit { untaint: true, private: None };
        let text = edit(&[("a.b", untaint.clone())]).unwrap();
        assert!(text.starts_with(r#"{"version":4,"terraform_version":"9.9","serial":42,"lineage":"l""#), "{text}");
        assert!(text.contains(r#"[{"attributes":{"x":12345678901234567890123},"new":[1]}]"#), "{text}");
        assert!(text.contains("1e400"), "{text}");
        assert_eq!(text.matches("tainted").count(), 3, "{text}");
        let marked = Edit { private: Some(b"{\"a\":1}".to_vec()), ..untaint };
        let text = edit(&[("module.m[\"k\"].a.b[0]", marked)]).unwrap();
        assert!(text.contains(r#"{"index_key":0,"deposed":"00000001","status":"tainted","attributes":{}}"#), "{text}");
        assert!(text.contains(r#"{"index_key":0,"attributes":{},"private":"eyJhIjoxfQ=="}"#), "{text}");
        let emptied = Edit { untaint: false, private: Some(Vec::new()) };
        let text = edit(&[("module.m[\"k\"].a.b[0]", emptied)]).unwrap();
        assert!(text.contains(r#"{"index_key":0,"status":"tainted","attributes":{}}"#), "{text}");
    }

    #[test]
    fn what_is_not_there_cannot_be_changed() {
        assert_eq!(edit(&[("a.c", Edit::default())]), None);
        assert_eq!(edited("{\"version\":3,\"serial\":1,\"resources\":[]}", &BTreeMap::new()), None);
        assert_eq!(edited("[]", &BTreeMap::new()), None);
        assert_eq!(edited("", &BTreeMap::new()), None);
    }
}
