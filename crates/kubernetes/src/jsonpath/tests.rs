//! Paths and where they lead; texts that are none.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn pod() -> Json {
    json!({
        "metadata": {"name": "p", "labels": {"app.kubernetes.io/name": "x", "a-b": "y"}},
        "spec": {"containers": [
            {"name": "a", "image": "i1", "ports": [{"containerPort": 80, "protocol": "TCP"}]},
            {"name": "b", "image": "i2", "ready": true},
            {"name": "c", "restarts": 3},
        ]},
        "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": "False"}]},
    })
}

#[track_caller]
fn check(path: &str, expected: &[Json]) {
    let object = pod();
    let parsed = JsonPath::parse(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let found: Vec<Json> = parsed.find(&object).into_iter().cloned().collect();
    assert_eq!(found, expected, "{path}");
    let places: Vec<Json> = parsed.places(&object).iter().filter_map(|place| place.find(&object).cloned()).collect();
    assert_eq!(places, expected, "{path}");
}

#[test]
fn a_path_may_stand_in_braces_or_begin_with_a_dot() {
    for path in [
        "{.metadata.name}",
        ".metadata.name",
        "metadata.name",
        "{ .metadata.name }",
        "$.metadata.name",
        "{$.metadata.name}",
    ] {
        check(path, &[json!("p")]);
    }
    check("metadata.none", &[]);
    check("{.}", &[pod()]);
    check("$", &[pod()]);
}

#[test]
fn keys_with_dots_are_quoted_or_escaped() {
    for key in [
        r"['app.kubernetes.io/name']",
        r#"["app.kubernetes.io/name"]"#,
        r".app\.kubernetes\.io/name",
        r".['app.kubernetes.io/name']",
        r"['app\.kubernetes\.io/name']",
    ] {
        check(&format!("metadata.labels{key}"), &[json!("x")]);
    }
    check("metadata.labels.a-b", &[json!("y")]);
}

#[test]
fn elements_are_taken_by_index_and_slice() {
    check("spec.containers[0].name", &[json!("a")]);
    check("spec.containers[-1].name", &[json!("c")]);
    check("spec.containers[5].name", &[]);
    check("spec.containers[-5].name", &[]);
    check("spec.containers[1:3].name", &[json!("b"), json!("c")]);
    check("spec.containers[:-1].name", &[json!("a"), json!("b")]);
    check("spec.containers[::2].name", &[json!("a"), json!("c")]);
    check("spec.containers[-2:].name", &[json!("b"), json!("c")]);
    check("spec.containers[0,2].name", &[json!("a"), json!("c")]);
}

#[test]
fn stars_and_double_dots_find_many() {
    check("spec.containers[*].name", &[json!("a"), json!("b"), json!("c")]);
    check("metadata.labels.*", &[json!("x"), json!("y")]);
    check("..image", &[json!("i1"), json!("i2")]);
    check("{..containerPort}", &[json!(80)]);
    check("spec..name", &[json!("a"), json!("b"), json!("c")]);
    check("metadata['name','labels']['name','a-b']", &[json!("y")]);
}

#[test]
fn filters_compare() {
    check("spec.containers[?(@.name=='b')].image", &[json!("i2")]);
    check(r#"spec.containers[?(@.name == "b")].image"#, &[json!("i2")]);
    check("spec.containers[?(@.name!='b')].name", &[json!("a"), json!("c")]);
    check("spec.containers[?(@.restarts>2)].name", &[json!("c")]);
    check("spec.containers[?(@.restarts<=3)].name", &[json!("c")]);
    check("spec.containers[?(@.restarts<3)].name", &[]);
    check("spec.containers[?(@.image)].name", &[json!("a"), json!("b")]);
    check("spec.containers[?(@.ready==true)].name", &[json!("b")]);
    check("spec.containers[?('c'==@.name)].name", &[json!("c")]);
    check("spec.containers[?(@.ports[0].containerPort==80)].name", &[json!("a")]);
    check("spec.containers[?(@.ports[?(@.protocol=='TCP')])].name", &[json!("a")]);
    check("status.conditions[?(@.type=='Ready')].status", &[json!("True")]);
}

#[test]
fn elements_are_taken_by_their_keys() {
    check("spec.containers[name=b].image", &[json!("i2")]);
    check(r#"spec.containers[name="b"].image"#, &[json!("i2")]);
    check("spec.containers[0].ports[containerPort=80,protocol=TCP].protocol", &[json!("TCP")]);
    check(r#"spec.containers[0].ports[containerPort="80"]"#, &[]);
}

#[test]
fn a_path_to_one_place_is_plain() {
    let plain = |text: &str| JsonPath::parse(text).unwrap().plain().map(|path| path.to_string());
    assert_eq!(plain("{.a['b.c'][0].d}").as_deref(), Some(r#"a["b.c"][0].d"#));
    assert_eq!(plain("c[name=x].image").as_deref(), Some("c[name=x].image"));
    for text in ["a[*]", "a[-1]", "a[0:1]", "..a", "a[?(@.b)]", "a['b','c']"] {
        assert_eq!(plain(text), None, "{text}");
    }
}

#[test]
fn names_may_go_through_lists_where_that_is_asked_for() {
    let path = JsonPath::parse("spec.containers.image").unwrap();
    assert!(path.places(&pod()).is_empty());
    assert_eq!(path.places_through_lists(&pod()).len(), 2);
}

#[test]
fn mistakes_say_what_and_where() {
    let check = |text: &str, what: &str, at: usize| {
        let error = JsonPath::parse(text).unwrap_err();
        assert!(error.what.contains(what), "{text}: {error}");
        assert_eq!(error.at, at, "{text}: {error}");
    };
    check("a.", "a name is missing after the dot", 3);
    check("{.a", "closing }", 4);
    check("a[", "is expected in the brackets", 3);
    check("a[b]", "must be quoted, as in ['b']", 3);
    check("a['b", "closing quote", 3);
    check("a[?(@.b==c)]", "texts must be quoted, as in 'c'", 10);
    check("a[?(@.b=='c' && @.d)]", "&& and ||", 14);
    check("a...b", "too many dots", 4);
    check("a b", "not expected here", 3);
    check("{.a}{.b}", "another begins here", 5);
    check("a[name=]", "value is missing", 8);
    check("{range .items[*]}", "not expected", 8);
    check("a[0:2:0]", "at least 1", 8);
    check("a[99999999999999999999]", "no index", 3);
    assert!(JsonPath::parse(&"a.".repeat(5000)).is_err());
    assert!(JsonPath::parse(&"a[?(@.".repeat(50)).is_err());
}

#[test]
fn many_double_dots_stay_bounded() {
    let mut object = json!({"a": 1});
    for _ in 0..60 {
        object = json!({"a": object});
    }
    assert_eq!(JsonPath::parse(&"..a".repeat(20)).unwrap().find(&object).len(), 42);
}

proptest! {
    #[test]
    fn any_text_is_read_without_harm(text in "[a-c.\\[\\]{}()?@='\"*:,0-9\\\\ \\-]{0,24}") {
        if let Ok(path) = JsonPath::parse(&text) {
            let _ = path.find(&pod());
        }
    }

    #[test]
    fn the_text_of_a_field_path_is_a_path(names in proptest::collection::vec("[a-zA-Z0-9./\\-\"'\\\\ ü]{0,6}", 1..4), index in 0usize..9, value in "[a-z0-9./\\-\"' ]{0,6}") {
        let mut path = FieldPath::of(names.iter().map(String::as_str));
        path.0.push(Step::Index(index));
        path.0.push(Step::Value(Literal::text(&value)));
        if !value.is_empty() {
            path.0.push(Step::Key(vec![("name".to_owned(), Literal::text(&value))]));
        }
        let parsed = JsonPath::parse(&path.to_string());
        prop_assert!(parsed.is_ok(), "{path}: {parsed:?}");
        prop_assert_eq!(parsed.unwrap().plain(), Some(path));
    }
}
