//! Paths: their texts, and what they find and remove.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn text(value: &str) -> Literal {
    Literal::text(value)
}

fn name(value: &str) -> Step {
    Step::Key(vec![("name".to_owned(), text(value))])
}

fn check(steps: Vec<Step>, expected: &str) {
    let path = FieldPath(steps);
    assert_eq!(path.to_string(), expected);
    assert_eq!(expected.parse(), Ok(path));
}

#[test]
fn a_path_has_a_text() {
    let field = |name: &str| Step::Field(name.to_owned());
    check(vec![], "");
    check(vec![field("spec"), field("containers"), name("nginx"), field("image")], "spec.containers[name=nginx].image");
    check(vec![field("data"), field("app.conf")], r#"data["app.conf"]"#);
    check(vec![field("finalizers"), Step::Value(text("a/b"))], r#"finalizers[="a/b"]"#);
    check(vec![field("args"), Step::Index(3)], "args[3]");
    check(vec![field("")], r#"[""]"#);
}

#[test]
fn keys_of_lists_tell_texts_from_numbers() {
    let port =
        |value: Json| vec![Step::Key(vec![("port".to_owned(), Literal::of(&value)), ("protocol".into(), text("TCP"))])];
    check(port(json!(80)), "[port=80,protocol=TCP]");
    check(port(json!("80")), r#"[port="80",protocol=TCP]"#);
    check(port(json!("true")), r#"[port="true",protocol=TCP]"#);
    check(port(json!("a,b]")), r#"[port="a,b]",protocol=TCP]"#);
}

#[test]
fn a_text_that_no_path_has_is_refused() {
    for text in ["a..b", ".a", "a[", "a[x]", "a[01]", "a b", r#"["a"]"#, "[name=\"a\"]", "a]"] {
        assert!(text.parse::<FieldPath>().is_err(), "{text}");
    }
}

#[test]
fn a_key_with_dots_is_one_step() {
    let object = json!({"data": {"app.conf": "x", "app": {"conf": "y"}}});
    assert_eq!(FieldPath::of(["data", "app.conf"]).find(&object), Some(&json!("x")));
    assert_eq!(FieldPath::of(["data", "app", "conf"]).find(&object), Some(&json!("y")));
}

#[test]
fn elements_are_found_by_their_keys_and_values() {
    let object = json!({"c": [{"name": "a", "v": 1}, {"name": "b", "v": 2}], "f": ["x", "y"]});
    let find = |text: &str| text.parse::<FieldPath>().unwrap().find(&object).cloned();
    assert_eq!(find("c[name=b].v"), Some(json!(2)));
    assert_eq!(find("c[name=z]"), None);
    assert_eq!(find(r#"f[="y"]"#), Some(json!("y")));
    assert_eq!(find("f[1]"), Some(json!("y")));
    assert_eq!(find("f[2]"), None);
    assert_eq!("c[name=b].v".parse::<FieldPath>().unwrap().located(&object), "c[1].v".parse().ok());
}

#[test]
fn a_key_that_the_server_fills_in_may_be_missing() {
    let ports = json!([{"containerPort": 53, "protocol": "UDP"}, {"containerPort": 53}, {"containerPort": 53, "protocol": "TCP", "x": 1}]);
    let path: FieldPath = "[containerPort=53,protocol=TCP]".parse().unwrap();
    assert_eq!(path.located(&ports), "[2]".parse().ok());
    let ports = json!([{"containerPort": 53, "protocol": "UDP"}, {"containerPort": 53}]);
    assert_eq!(path.located(&ports), "[1]".parse().ok());
    assert_eq!(path.located(&json!([{"other": 1}])), None);
}

#[test]
fn removing_takes_emptied_containers_along() {
    let mut object = json!({"spec": {"a": {"b": {"c": 1}}, "list": [{"x": 1}], "kept": {}}});
    assert_eq!(FieldPath::of(["spec", "a", "b", "c"]).remove(&mut object), Some(json!(1)));
    assert_eq!(object, json!({"spec": {"list": [{"x": 1}], "kept": {}}}));
    assert_eq!("spec.list[0].x".parse::<FieldPath>().unwrap().remove(&mut object), Some(json!(1)));
    assert_eq!(object, json!({"spec": {"kept": {}}}));
    assert_eq!(FieldPath::of(["spec", "none"]).remove(&mut object), None);
    assert_eq!(object, json!({"spec": {"kept": {}}}));
}

#[test]
fn a_place_covers_itself_and_what_is_inside() {
    let path = |text: &str| text.parse::<FieldPath>().unwrap();
    assert!(path("a.b").covers(&path("a.b")));
    assert!(path("a.b").covers(&path("a.b[0].c")));
    assert!(!path("a.b").covers(&path("a.bc")));
    assert!(!path("a.b").covers(&path("a")));
}

fn scalar() -> impl Strategy<Value = Json> {
    prop_oneof![
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        "\\PC{0,6}".prop_map(Json::from),
        "[a-z0-9.\\-/:]{0,6}".prop_map(Json::from),
        Just(Json::Null),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let names = prop_oneof!["[a-z0-9_.\\-\"=\\[\\]]{0,6}", "\\PC{0,4}"];
    let key = (names.clone(), scalar().prop_map(|json| Literal::of(&json)));
    prop_oneof![
        names.prop_map(Step::Field),
        proptest::collection::vec(key, 0..3).prop_map(Step::Key),
        scalar().prop_map(|json| Step::Value(Literal::of(&json))),
        any::<usize>().prop_map(Step::Index),
    ]
}

fn path() -> impl Strategy<Value = FieldPath> {
    proptest::collection::vec(step(), 0..5).prop_map(FieldPath)
}

fn tree() -> impl Strategy<Value = Json> {
    scalar().prop_recursive(4, 40, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            proptest::collection::btree_map("[a-c.]{1,2}", inner, 0..4)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

/// Every place in an object.
fn places(json: &Json) -> Vec<FieldPath> {
    let steps: Vec<(Step, &Json)> = match json {
        Json::Object(members) => members.iter().map(|(name, value)| (Step::Field(name.clone()), value)).collect(),
        Json::Array(items) => items.iter().enumerate().map(|(at, item)| (Step::Index(at), item)).collect(),
        _ => Vec::new(),
    };
    let mut found = vec![FieldPath::default()];
    for (step, value) in steps {
        found.extend(places(value).into_iter().map(|mut path| {
            path.0.insert(0, step.clone());
            path
        }));
    }
    found
}

proptest! {
    #[test]
    fn every_path_is_read_back_from_its_text(path in path()) {
        prop_assert_eq!(path.to_string().parse(), Ok(path));
    }

    #[test]
    fn two_paths_never_share_a_text(a in path(), b in path()) {
        prop_assert_eq!(a.to_string() == b.to_string(), a == b);
    }

    #[test]
    fn any_text_is_read_without_harm(text in "\\PC{0,20}") {
        if let Ok(path) = text.parse::<FieldPath>() {
            prop_assert_eq!(path.to_string(), text);
        }
    }

    #[test]
    fn what_is_removed_is_what_was_found(object in tree(), at in any::<prop::sample::Index>()) {
        let all = places(&object);
        let path = at.get(&all);
        let found = path.find(&object).cloned();
        let mut rest = object.clone();
        let removed = path.remove(&mut rest);
        if path.0.is_empty() {
            prop_assert_eq!(removed, None);
        } else {
            prop_assert!(found.is_some());
            prop_assert_eq!(removed, found);
            prop_assert!(places(&rest).len() < all.len());
            if path.0.iter().all(|step| matches!(step, Step::Field(_))) {
                prop_assert_eq!(path.find(&rest), None);
            }
        }
        prop_assert_eq!(path.located(&object), Some(path.clone()));
    }
}
