//! What OpenTofu makes of old states, we make of them.

use groma_model::address::{DeposedKey, InstanceKey};

use super::*;
use crate::{Layout, decode, encode};

/// A state of version 2 or 3 with these resources in the root module.
fn state(version: u64, resources: &str) -> String {
    format!(
        r#"{{"version": {version}, "terraform_version": "0.11.14", "serial": 7, "lineage": "l",
            "backend": {{"hash": 10669755453527594976}},
            "modules": [{{"path": ["root"], "outputs": {{}}, "resources": {{ {resources} }}, "depends_on": []}}]}}"#
    )
}

fn flat(state: &State, address: &str) -> BTreeMap<String, String> {
    let resource = &state.resources[&address.parse().unwrap()];
    let instance = resource.instances.values().next().unwrap();
    match &instance.current.as_ref().unwrap().attributes {
        Attributes::Flat(flat) => flat.clone(),
        Attributes::Json(json) => panic!("{json}"),
    }
}

#[test]
fn version_1_is_read() {
    let text = r#"{"version": 1, "serial": 3, "modules": [
        {"path": null, "outputs": {"ids": "a,b"}, "resources": {
            "null_resource.a.0": {"type": "null_resource", "primary": {"id": "i", "attributes": {"t.#": "1", "t.k": "v"}}},
            "null_resource.a.1": {"type": "null_resource", "depends_on": ["null_resource.b"],
                "primary": {"id": "j", "meta": {"schema_version": "2", "x": "y"}}, "tainted": [{"id": "gone"}]},
            "null_resource.b": {"type": "null_resource", "provider": "null.west", "primary": {"id": ""}}
        }}]}"#;
    let state = decode(text).unwrap();
    assert_eq!((state.serial, state.lineage.as_str(), state.tool_version.as_str()), (3, "", "0.0.0"));
    assert_eq!(state.outputs["ids"].value, groma_model::value::Value::string("a,b"));
    let a = &state.resources[&"null_resource.a".parse().unwrap()];
    assert_eq!(a.provider.to_string(), "provider[\"registry.opentofu.org/-/null\"]");
    assert_eq!(a.instances.len(), 2);
    let expected = [("id", "i"), ("t.%", "1"), ("t.k", "v")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(flat(&state, "null_resource.a"), expected.into());
    let second = a.instances[&InstanceKey::Int(1)].current.as_ref().unwrap();
    assert_eq!((second.schema_version, second.private.as_slice()), (2, br#"{"x":"y"}"#.as_slice()));
    let b = &state.resources[&"null_resource.b".parse().unwrap()];
    assert_eq!(b.provider.alias.as_deref(), Some("west"));
    let object = b.instances[&InstanceKey::None].current.as_ref().unwrap();
    assert_eq!(object.attributes, Attributes::Json("{}".to_owned()));
}

#[test]
fn version_2_did_not_tell_maps_from_lists() {
    let attributes = r#"{"id": "x", "list.#": "2", "list.0": "a", "list.1.deep.#": "0", "empty.#": "0",
        "map.#": "1", "map.key": "v", "set.#": "1", "set.12345.name": "n", "numbers.#": "1", "numbers.7": "m"}"#;
    let resource = |version| {
        state(version, &format!(r#""a_b.c": {{"type": "a_b", "primary": {{"id": "x", "attributes": {attributes}}}}}"#))
    };
    let two = flat(&decode(&resource(2)).unwrap(), "a_b.c");
    let keys: Vec<&str> = two.keys().map(String::as_str).collect();
    let expected = ["id", "list.#", "list.0", "map.%", "map.key", "numbers.#", "numbers.7", "set.#", "set.12345.name"];
    assert_eq!(keys, expected);
    let three = flat(&decode(&resource(3)).unwrap(), "a_b.c");
    assert_eq!(three.len(), 11);
}

#[test]
fn version_3_is_read() {
    let text = r#"{"version": 3, "terraform_version": "0.11.14", "serial": 8, "lineage": "abc", "modules": [
        {"path": ["root"], "depends_on": [], "outputs": {
            "list": {"sensitive": true, "type": "list", "value": [["a"], ["b"]]},
            "map": {"sensitive": false, "type": "map", "value": {"a": "x", "b": "y"}},
            "mixed": {"sensitive": false, "type": "map", "value": {"a": "x", "b": ["y"]}},
            "none": {"sensitive": false, "type": "list", "value": []}
        }, "resources": {
            "data.terraform_remote_state.s": {"type": "terraform_remote_state", "provider": "provider.terraform",
                "primary": {"id": "now", "attributes": {"id": ""}, "meta": {}, "tainted": false}, "deposed": []},
            "aws_x.y": {"type": "aws_x", "provider": "provider.aws.west", "depends_on": ["aws_x.1bad"], "primary": {
                "id": "p", "attributes": {"id": "own"}, "tainted": true,
                "meta": {"schema_version": 4, "e2bf": {"update": 60, "create": 600000000000}}},
                "deposed": [{"id": "d1"}, {"id": "d2"}]}
        }},
        {"path": ["root", "m", "n"], "outputs": {"lost": {"value": "x"}}, "resources": {
            "aws_x.z.2": {"type": "aws_x", "primary": {"id": "q"}},
            "aws_x.only": {"type": "aws_x", "provider": "module.m.provider.aws", "deposed": [{"id": "d"}]}
        }}]}"#;
    let state = decode(text).unwrap();
    let ty = |name: &str| state.outputs[name].value.ty();
    assert_eq!(ty("list"), Type::list(Type::list(Type::String)));
    assert_eq!(ty("map"), Type::map(Type::String));
    assert_eq!(ty("mixed"), Type::object([("a", Type::String), ("b", Type::tuple(vec![Type::String]))]));
    assert_eq!(ty("none"), Type::tuple(Vec::new()));
    assert!(state.outputs["list"].sensitive);
    assert_eq!(state.outputs.len(), 4);

    let remote = &state.resources[&"data.terraform_remote_state.s".parse().unwrap()];
    assert!(remote.provider.provider.is_builtin());
    assert_eq!(flat(&state, "data.terraform_remote_state.s")["id"], "now");

    let y = &state.resources[&"aws_x.y".parse().unwrap()];
    let instance = &y.instances[&InstanceKey::None];
    let current = instance.current.as_ref().unwrap();
    assert_eq!((current.status, current.schema_version), (ObjectStatus::Tainted, 4));
    assert_eq!(current.private, br#"{"e2bf":{"create":600000000000,"update":60}}"#);
    assert!(current.dependencies.is_empty());
    assert_eq!(instance.deposed.keys().cloned().collect::<Vec<_>>(), [DeposedKey::new(1), DeposedKey::new(2)]);

    let z = &state.resources[&"module.m.module.n.aws_x.z".parse().unwrap()];
    assert_eq!(z.provider.to_string(), "module.m.module.n.provider[\"registry.opentofu.org/-/aws\"]");
    assert!(z.instances.contains_key(&InstanceKey::Int(2)));
    let only = &state.resources[&"module.m.module.n.aws_x.only".parse().unwrap()];
    assert_eq!(only.provider.to_string(), "module.m.provider[\"registry.opentofu.org/-/aws\"]");
    assert!(only.instances[&InstanceKey::None].current.is_none());

    // It is a state like any other from then on.
    let now = encode(&state, Layout::Indented).unwrap();
    assert_eq!(decode(&now).unwrap(), state);
}

#[test]
fn what_cannot_be_carried_over_is_an_error() {
    let error = |text: &str| {
        let error = decode(text).unwrap_err();
        (error.summary(), error.to_string())
    };
    let refused = |text: &str, part: &str| {
        let (summary, detail) = error(text);
        assert_eq!(summary, "State format upgrade failed");
        assert!(detail.contains(part), "{detail}");
    };
    refused(r#"{"version": 3, "serial": -1}"#, "serial less than zero");
    refused(r#"{"version": 3, "modules": [{"path": []}]}"#, "invalid module path []");
    refused(r#"{"version": 3, "modules": [{"path": ["m"]}]}"#, "invalid module path");
    refused(r#"{"version": 2, "modules": [{"path": ["root", "a b"]}]}"#, "\"a b\" is not a valid identifier");
    for address in ["x", "a.b.c", "a.b.0.0", "data.a.b.0.0", "a..0", ""] {
        refused(&state(3, &format!(r#""{address}": {{}}"#)), "resource address");
    }
    refused(&state(3, r#""a_b.c": {"provider": "aws.${x}"}"#), "rename the associated provider alias");
    refused(&state(3, r#""a_b.c": {"provider": "module..provider.x"}"#), "invalid provider config reference");
    for text in [
        r#"{"version": 3, "modules": {}}"#.to_owned(),
        r#"{"version": 3, "modules": [null]}"#.to_owned(),
        state(3, r#""a_b.c": {"primary": 1}"#),
        state(3, r#""a_b.c": {"primary": {"attributes": {"a": 1}}}"#),
        state(3, r#""a_b.c": {"deposed": [null]}"#),
        r#"{"version": 1, "modules": [{"outputs": {"a": ["x"]}}]}"#.to_owned(),
    ] {
        let _ = error(&text);
    }
}
