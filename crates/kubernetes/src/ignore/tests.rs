//! What is left out, what is kept, and what cannot be ignored.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn ignored(paths: &[&str]) -> Ignored {
    Ignored::parse(paths.iter().copied()).unwrap()
}

fn deployment() -> Json {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "n", "annotations": {"a.b/c": "x", "k8sconnect.terraform.io/terraform-id": "i"}},
        "spec": {
            "replicas": 3,
            "template": {"spec": {"containers": [
                {"name": "a", "image": "i1", "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}]},
                {"name": "b", "image": "i2"},
            ]}},
        },
    })
}

#[track_caller]
fn check(paths: &[&str], removed: &[&str]) {
    let mut expected = deployment();
    for place in removed {
        place.parse::<FieldPath>().unwrap().remove(&mut expected).unwrap();
    }
    assert_eq!(ignored(paths).without(&deployment()), expected);
}

#[test]
fn what_is_ignored_is_left_out() {
    check(&[], &[]);
    check(&["spec.replicas"], &["spec.replicas"]);
    check(&["spec.none", "spec.template.spec.containers[9].image"], &[]);
    check(&["spec.template.spec.containers[0].image"], &["spec.template.spec.containers[0].image"]);
    check(&["spec.template.spec.containers[?(@.name=='b')].image"], &["spec.template.spec.containers[name=b].image"]);
    check(&["spec.template.spec.containers[name=b].image"], &["spec.template.spec.containers[name=b].image"]);
}

#[test]
fn a_star_and_a_missing_index_stand_for_all_elements() {
    let images = ["spec.template.spec.containers[0].image", "spec.template.spec.containers[1].image"];
    check(&["spec.template.spec.containers[*].image"], &images);
    check(&["spec.template.spec.containers.image"], &images);
    check(&["..image"], &images);
}

#[test]
fn a_pattern_covers_what_is_inside() {
    check(&["spec.template", "spec.template.spec.containers[0].image"], &["spec.template"]);
}

#[test]
fn keys_with_dots_are_ignored_too() {
    for path in ["metadata.annotations['a.b/c']", r"metadata.annotations.a\.b/c", "{.metadata.annotations[\"a.b/c\"]}"]
    {
        check(&[path], &["metadata.annotations[\"a.b/c\"]"]);
    }
}

#[test]
fn several_elements_of_a_list_are_the_right_ones() {
    let env = "spec.template.spec.containers[0].env";
    check(&[&format!("{env}[0]"), &format!("{env}[1].value")], &[&format!("{env}[1].value"), &format!("{env}[0]")]);
    check(&[&format!("{env}[*]")], &[env]);
}

#[test]
fn what_the_object_is_known_by_stays() {
    check(&["metadata.annotations"], &["metadata.annotations[\"a.b/c\"]"]);
    check(&["metadata.*"], &["metadata.annotations[\"a.b/c\"]"]);
    let rest = ignored(&[".*"]).without(&deployment());
    assert_eq!(rest["metadata"]["name"], "d");
    assert_eq!(rest.get("spec"), None);
}

#[test]
fn what_is_ours_is_refused_by_name() {
    let refused = |path: &str| Ignored::parse([path].into_iter()).unwrap_err()[0].1.what.clone();
    assert!(
        refused("metadata.annotations['k8sconnect.terraform.io/terraform-id']")
            .contains("k8sconnect.terraform.io/terraform-id")
    );
    assert!(refused(r"metadata.annotations.k8sconnect\.terraform\.io/created-at").contains("created-at"));
    for (path, name) in
        [("metadata", "metadata "), ("metadata.name", "metadata.name"), ("kind", "kind"), ("$", "the whole object")]
    {
        assert!(refused(path).starts_with(name), "{}", refused(path));
    }
}

#[test]
fn every_mistake_has_its_index() {
    let mistakes = Ignored::parse(["a.b", "a[", "c", "kind"].into_iter()).unwrap_err();
    assert_eq!(mistakes.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn what_another_manager_takes_over_can_stand_for_itself() {
    let part = ignored(&["spec.replicas", "..env[name=Y].value"]).only(&deployment()).unwrap();
    let expected = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "n"},
        "spec": {"replicas": 3, "template": {"spec": {"containers": [{"name": "a", "env": [{"name": "Y", "value": "2"}]}]}}},
    });
    assert_eq!(part, expected);
    assert_eq!(ignored(&["spec.none"]).only(&deployment()), None);
    assert_eq!(Ignored::default().only(&deployment()), None);
}

#[test]
fn a_live_object_says_what_its_lists_are_like() {
    let live = json!({
        "apiVersion": "x.io/v1", "kind": "Thing",
        "metadata": {"name": "t", "managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {
            "f:rules": {}, "f:zones": {"k:{\"zone\":\"a\"}": {".": {}, "f:zone": {}, "f:size": {}}},
        }}}]},
        "spec": {"rules": [{"name": "r", "host": "h"}], "zones": [{"name": "n", "zone": "a", "size": 1}]},
    });
    let part = ignored(&["spec.rules[0].host", "spec.zones[0].size"]).only(&live).unwrap();
    assert_eq!(part["spec"], json!({"rules": [{"name": "r", "host": "h"}], "zones": [{"zone": "a", "size": 1}]}));
}

proptest! {
    #[test]
    fn nothing_is_lost_between_what_is_left_out_and_what_is_kept(paths in proptest::collection::vec(
        prop_oneof![
            Just("spec.replicas"), Just("..image"), Just("spec.template.spec.containers[0]"), Just("..env[*].value"),
            Just("spec.template.spec.containers[-1].name"), Just("metadata.annotations"), Just("spec..env[1]"), Just("..name"),
        ],
        0..4,
    )) {
        let ignored = ignored(&paths);
        let rest = ignored.without(&deployment());
        let part = ignored.only(&deployment());
        prop_assert_eq!(&rest["metadata"]["name"], "d");
        prop_assert_eq!(part.is_none(), ignored.places(&deployment()).is_empty());
        let part = part.unwrap_or_default();
        prop_assert!(scalars(&rest) + scalars(&part) >= scalars(&deployment()), "{rest}\n{part}");
    }
}

fn scalars(json: &Json) -> usize {
    match json {
        Json::Object(members) => members.values().map(scalars).sum(),
        Json::Array(items) => items.iter().map(scalars).sum(),
        Json::Null => 0,
        _ => 1,
    }
}
