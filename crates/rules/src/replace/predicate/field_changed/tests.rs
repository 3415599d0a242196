//! What counts as a change, and what is told about it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use groma_model::mark::Mark;
use groma_model::path::Path;
use proptest::prelude::*;

use super::*;
use crate::replace::step::Step;
use crate::replace::testing::{
    CANARY, Scene, any_known_value, any_marked_value, any_value, boxed, by_its_parts, cfg, disks, fields, items, nics,
    path, sim_box,
};

fn changed(field: &str) -> FieldChanged {
    FieldChanged::new(path(field))
}

/// The answer and what it follows from; the answer is the same without the latter.
fn told(predicate: &FieldChanged, scene: &Scene) -> (Truth, Vec<String>) {
    assert_eq!(predicate.check(sim_box()), []);
    let found = predicate.ask(&scene.case(), true).unwrap();
    assert_eq!(predicate.ask(&scene.case(), false).unwrap(), Found { truth: found.truth, steps: Vec::new() });
    (found.truth, found.steps.iter().map(Step::to_string).collect())
}

fn truth(predicate: &FieldChanged, scene: &Scene) -> Truth {
    told(predicate, scene).0
}

fn from_to(name: &str, old: impl Into<Value>, new: impl Into<Value>) -> Scene {
    Scene::change(boxed([(name, old.into())]), boxed([(name, new.into())]))
}

fn unknown() -> Value {
    Value::unknown(Type::String)
}

fn null() -> Value {
    Value::null(Type::Dynamic)
}

const YES: Truth = Truth::True;
const NO: Truth = Truth::False;

#[test]
fn a_value_changes_or_it_does_not() {
    assert_eq!(told(&changed("name"), &from_to("name", "a", "b")), (YES, vec![r#""a" -> "b""#.to_owned()]));
    assert_eq!(told(&changed("name"), &from_to("name", "a", "a")), (NO, vec![r#""a", unchanged"#.to_owned()]));
    assert_eq!(truth(&changed("name"), &from_to("name", null(), null())), NO);
    assert_eq!(
        truth(&changed("size"), &from_to("size", 1, Value::number(groma_model::number::Number::parse("1.0").unwrap()))),
        NO
    );
    assert_eq!(truth(&changed("name"), &from_to("zone", "a", "b")), NO);
}

#[test]
fn nested_blocks_are_reached_in_three_ways() {
    let scene = from_to("cfg", cfg(false), cfg(true));
    assert_eq!(told(&changed("cfg[0].net[0].private"), &scene), (YES, vec!["false -> true".to_owned()]));
    let implied = told(&changed("cfg.net.private"), &scene);
    assert_eq!(implied, (YES, vec!["cfg[0].net[0].private: false -> true".to_owned()]));
    assert_eq!(truth(&changed("cfg.0.net.0.private"), &scene), YES);
    assert_eq!(path("cfg.0.net.0.private").lints().len(), 2);
    assert_eq!(told(&changed("cfg"), &scene), (YES, vec!["cfg[0].net[0].private: false -> true".to_owned()]));
    assert_eq!(truth(&changed("cfg"), &from_to("cfg", cfg(true), cfg(true))), NO);
}

#[test]
fn keys_and_indexes_that_are_not_there_are_null() {
    let labels = |key: &str, value: Value| fields([(key, value)]);
    let env = changed("labels[\"env\"]");
    assert_eq!(truth(&env, &from_to("labels", labels("env", "dev".into()), labels("env", "prod".into()))), YES);
    assert_eq!(truth(&env, &from_to("labels", labels("x", "a".into()), labels("x", "b".into()))), NO);
    assert_eq!(truth(&env, &from_to("labels", labels("x", "a".into()), labels("env", Value::null(Type::String)))), NO);
    assert_eq!(truth(&env, &from_to("labels", labels("x", "a".into()), labels("env", "p".into()))), YES);
    let ports = from_to("ports", items([80]), items([80, 443]));
    assert_eq!(told(&changed("ports[1]"), &ports), (YES, vec!["null -> 443".to_owned()]));
    assert_eq!(truth(&changed("ports[7]"), &ports), NO);
}

#[test]
fn the_order_of_lists_can_be_ignored() {
    let ignoring = |field: &str, ignore_order| FieldChanged { ignore_order, ..changed(field) };
    let swapped = from_to("ports", items([80, 443]), items([443, 80]));
    assert_eq!(truth(&changed("ports"), &swapped), YES);
    let found = told(&ignoring("ports", IgnoreOrder::Outer), &swapped);
    assert_eq!(found, (NO, vec!["[80, 443] -> [443, 80], which is the same".to_owned()]));
    let counted = from_to("ports", items([1, 1, 2]), items([1, 2, 2]));
    let found = told(&ignoring("ports", IgnoreOrder::Outer), &counted);
    assert_eq!(found, (YES, vec!["[1, 1, 2] -> [1, 2, 2]".to_owned()]));
    let tags = from_to("tags", items(["a", "b"]), items(["b", "a"]));
    assert_eq!(truth(&changed("tags"), &tags), NO);
    let nested = |inner: [i64; 2]| fields([("l", items([items(inner), items([3])]))]);
    let deep = from_to("blob", nested([1, 2]), nested([2, 1]));
    assert_eq!(truth(&ignoring("blob.l", IgnoreOrder::Outer), &deep), YES);
    assert_eq!(truth(&ignoring("blob.l", IgnoreOrder::Deep), &deep), NO);
    assert_eq!(truth(&ignoring("blob", IgnoreOrder::Deep), &deep), NO);
    let list = Value::unknown(Type::list(Type::Number));
    assert_eq!(truth(&ignoring("ports", IgnoreOrder::Outer), &from_to("ports", items([1]), list)), Truth::Unknown);
    // One unknown element cannot be two known ones.
    let partly = |known: i64| Value::list(Type::Number, vec![known.into(), 7.into(), Value::unknown(Type::Number)]);
    let scene = |known| from_to("ports", items([1, 2, 3]), partly(known));
    assert_eq!(truth(&ignoring("ports", IgnoreOrder::Outer), &scene(1)), YES);
    let fits = from_to("ports", items([7, 2, 1]), partly(1));
    assert_eq!(truth(&ignoring("ports", IgnoreOrder::Outer), &fits), Truth::Unknown);
}

#[test]
fn of_several_values_any_all_or_none() {
    let scene = from_to("disk", disks(["a", "b", "c"]), disks(["a", "x", "c"]));
    let matching = |scene: &Scene| {
        [Match::Any, Match::All, Match::None]
            .map(|matching| truth(&FieldChanged { matching, ..changed("disk[*].source") }, scene))
    };
    assert_eq!(matching(&scene), [YES, NO, NO]);
    assert_eq!(told(&changed("disk[*].source"), &scene).1, [r#"disk[1].source: "b" -> "x""#]);
    let same = from_to("disk", disks(["a"]), disks(["a"]));
    assert_eq!(matching(&same), [NO, NO, YES]);
    assert_eq!(told(&changed("disk[*].source"), &same).1, ["unchanged"]);
    assert_eq!(matching(&from_to("disk", disks(["a"]), disks(["b"]))), [YES, YES, NO]);
    assert_eq!(matching(&from_to("disk", disks([]), disks([]))), [NO, NO, YES]);
    let more = from_to("disk", disks(["a"]), disks(["a", "b"]));
    assert_eq!(told(&changed("disk.source"), &more), (YES, vec![r#"disk[1].source: null -> "b""#.to_owned()]));
    let many = from_to("ports", Value::list(Type::Number, Vec::new()), items(0..20));
    let steps = told(&changed("ports[*]"), &many).1;
    assert_eq!((steps.len(), steps.last().unwrap().as_str()), (11, "and 10 more"));
}

#[test]
fn elements_of_sets_are_what_they_are() {
    let scene = from_to("nic", nics(["1", "2"]), nics(["3", "1"]));
    assert_eq!(told(&changed("nic[*].ip"), &scene), (YES, vec![r#"nic[*].ip: "2" -> "3""#.to_owned()]));
    let all = FieldChanged { matching: Match::All, ..changed("nic[*].ip") };
    assert_eq!(truth(&all, &scene), NO);
    assert_eq!(truth(&changed("nic[*].ip"), &from_to("nic", nics(["1", "2"]), nics(["2", "1"]))), NO);
    assert_eq!(truth(&changed("nic"), &scene), YES);
    let member = fields([("ip", unknown())]);
    let partly = Value::set(member.ty(), vec![member, fields([("ip", "1".into())])]);
    assert_eq!(truth(&changed("nic[*].ip"), &from_to("nic", nics(["1", "2"]), partly)), Truth::Unknown);
}

#[test]
fn numbers_may_have_to_change_by_some_amount() {
    let by = |threshold: Value| FieldChanged { threshold: Some(Threshold::of(&threshold).unwrap()), ..changed("size") };
    let size = |old: Value, new: Value| from_to("size", old, new);
    let ten = by(10.into());
    let found = told(&ten, &size(100.into(), 105.into()));
    assert_eq!(found, (NO, vec!["100 -> 105, less than 10 apart".to_owned()]));
    assert_eq!(told(&ten, &size(100.into(), 110.into())), (YES, vec!["100 -> 110, at least 10 apart".to_owned()]));
    assert_eq!(truth(&ten, &size(100.into(), 90.into())), YES);
    let share = by("10%".into());
    let of = |old: i64, new: i64| truth(&share, &size(old.into(), new.into()));
    assert_eq!([of(200, 219), of(200, 220), of(0, 1), of(0, 0), of(-200, -220)], [NO, YES, YES, NO, YES]);
    assert_eq!([truth(&ten, &size(null(), 5.into())), truth(&ten, &size(5.into(), null()))], [YES, YES]);
    assert_eq!(truth(&ten, &size(null(), null())), NO);
    let none = by(0.into());
    assert_eq!([truth(&none, &size(5.into(), 5.into())), truth(&none, &size(5.into(), 6.into()))], [NO, YES]);
    assert_eq!(truth(&ten, &size(5.into(), Value::unknown(Type::Number))), Truth::Unknown);
    let each = FieldChanged { threshold: ten.threshold.clone(), ..changed("ports[*]") };
    assert_eq!(truth(&each, &from_to("ports", items([1, 2]), items([5, 12]))), YES);
    let mixed = FieldChanged { threshold: ten.threshold.clone(), ..changed("blob[*]") };
    let scene = from_to("blob", items([Value::from(1), "a".into()]), items([Value::from(100), "b".into()]));
    assert!([true, false].iter().all(|steps| mixed.ask(&scene.case(), *steps).is_err()));
    let blob = FieldChanged { threshold: ten.threshold, ..changed("blob") };
    let failed = blob.ask(&from_to("blob", "a", "b").case(), false).unwrap_err();
    assert!(format!("{failed:?}").contains("GR1105"));
}

#[test]
fn bad_thresholds_are_refused() {
    let of = |value: Value| Threshold::of(&value).map_err(|problem| problem.code.0);
    for wrong in [Value::from(-1), "-5%".into(), "10".into(), "ten%".into(), "%".into(), true.into(), null(), unknown()]
    {
        assert_eq!(of(wrong.clone()), Err(1105), "{wrong:?}");
    }
    assert!(of("2.5%".into()).is_ok() && of(0.into()).is_ok());
    let threshold = Some(Threshold::of(&1.into()).unwrap());
    let on_text = FieldChanged { threshold: threshold.clone(), ..changed("name") }.check(sim_box());
    assert_eq!(on_text[0].summary, "Bad threshold (GR1105)");
    let both = FieldChanged { threshold, ignore_order: IgnoreOrder::Outer, ..changed("size") }.problems();
    assert_eq!(both[0].code.0, 1108);
    assert_eq!(both[0].diagnostic(None, "").summary, "Threshold with ignore_order (GR1108)");
    assert!(changed("size").problems().is_empty());
}

#[test]
fn null_is_empty_where_the_provider_means_it() {
    let legacy = |legacy_type_system, null_equals_empty, name: &str, empty: Value| {
        let scene = Scene { legacy_type_system, ..from_to(name, null(), empty) };
        truth(&FieldChanged { null_equals_empty, ..changed(name) }, &scene)
    };
    assert_eq!([legacy(true, None, "name", "".into()), legacy(false, None, "name", "".into())], [NO, YES]);
    assert_eq!([legacy(true, Some(false), "name", "".into()), legacy(false, Some(true), "name", "".into())], [YES, NO]);
    assert_eq!(legacy(true, None, "size", 0.into()), NO);
    assert_eq!(legacy(true, None, "active", false.into()), NO);
    assert_eq!(legacy(true, None, "ports", Value::list(Type::Number, vec![])), NO);
    assert_eq!(legacy(true, None, "labels", Value::empty_object()), NO);
    assert_eq!(legacy(true, None, "name", "a".into()), YES);
    // There are no blocks, rather than null.
    assert_eq!(legacy(false, None, "disk", disks([])), NO);
    assert_eq!(legacy(false, None, "disk", disks(["a"])), YES);
    assert_eq!(legacy(false, None, "ports", Value::list(Type::Number, vec![])), YES);
}

#[test]
fn what_the_provider_makes_up_is_generated_anew() {
    let of = |ip: Value| boxed([("ip", ip)]);
    let scene = Scene::new(of("10.0.0.5".into()), of("10.0.0.5".into()), of(unknown())).configured(of(null()));
    let against = |against| FieldChanged { against, ..changed("ip") };
    assert_eq!(truth(&against(Against::Update), &scene), NO);
    let found = told(&against(Against::Create), &scene);
    assert_eq!(found, (YES, vec![r#""10.0.0.5" -> (known after apply), generated anew"#.to_owned()]));
    let scene = scene.configured(of(unknown()));
    assert_eq!(truth(&against(Against::Create), &scene), Truth::Unknown);
    let same = Scene::new(of("a".into()), of("b".into()), of("a".into()));
    assert_eq!(truth(&against(Against::Create), &same), NO);
    let inside = |mode: Value| boxed([("disk", items([fields([("source", "a".into()), ("mode", mode)])]))]);
    let scene = Scene::new(inside("rw".into()), inside("rw".into()), inside(unknown()));
    let disk = FieldChanged { against: Against::Create, ..changed("disk") };
    assert_eq!(truth(&disk, &scene.configured(inside(Value::null(Type::String)))), YES);
    let each = FieldChanged { against: Against::Create, ..changed("disk.mode") };
    let scene = Scene::new(inside("rw".into()), inside("rw".into()), inside(unknown()));
    assert_eq!(truth(&each, &scene.configured(inside(Value::null(Type::String)))), YES);
}

#[test]
fn what_is_not_known_counts_if_it_is_the_reason() {
    let scene = from_to("name", "a", unknown());
    assert_eq!(told(&changed("name"), &scene), (Truth::Unknown, vec![r#""a" -> (known after apply)"#.to_owned()]));
    let scene = scene.because_of(["name"]);
    let found = told(&changed("name"), &scene);
    assert_eq!(found, (YES, vec![r#""a" -> (known after apply), counted as changed"#.to_owned()]));
    let zone = from_to("zone", "a", unknown()).because_of(["name"]);
    assert_eq!(truth(&changed("zone"), &zone), Truth::Unknown);
    let create = FieldChanged { against: Against::Create, ..changed("name") };
    assert_eq!(truth(&create, &scene.configured(boxed([("name", unknown())]))), Truth::Unknown);
    let list = Value::list(Type::Number, vec![Value::unknown(Type::Number), Value::unknown(Type::Number)]);
    let mut ports = from_to("ports", items([1, 2]), list);
    ports.replace_paths = vec![Path::root().attr("ports").index(1)];
    let all = FieldChanged { matching: Match::All, ..changed("ports[*]") };
    assert_eq!([truth(&changed("ports[*]"), &ports), truth(&all, &ports)], [YES, Truth::Unknown]);
    assert_eq!(truth(&changed("ports[0]"), &ports), Truth::Unknown);
}

#[test]
fn of_write_only_values_only_the_provider_knows() {
    let scene = from_to("name", "a", "b");
    assert_eq!(told(&changed("token_wo"), &scene), (NO, vec!["unchanged (write-only)".to_owned()]));
    let scene = scene.because_of(["token_wo"]);
    assert_eq!(told(&changed("token_wo"), &scene), (YES, vec!["changed (write-only)".to_owned()]));
}

#[test]
fn secrets_are_compared_but_not_shown() {
    let scene = from_to("secret", "hunter2-old", "hunter2-new");
    assert!(!changed("secret").is_oracle());
    assert_eq!(told(&changed("secret"), &scene), (YES, vec!["changed (sensitive)".to_owned()]));
    let same = from_to("secret", "hunter2", "hunter2");
    assert_eq!(told(&changed("secret"), &same), (NO, vec!["unchanged (sensitive)".to_owned()]));
    // Also if the marks of the schema are missing.
    let plain = Scene::change(scene.old.clone().unmark_deep().0, scene.upd.clone().unmark_deep().0);
    assert_eq!(told(&changed("secret"), &plain), (YES, vec!["changed (sensitive)".to_owned()]));
    // Sensitive in the new configuration only.
    let named = from_to("name", "hunter2-old", Value::from("hunter2-new").mark(Mark::Sensitive));
    assert_eq!(told(&changed("name"), &named), (YES, vec!["changed (sensitive)".to_owned()]));
    let pin = FieldChanged { threshold: Some(Threshold::of(&10.into()).unwrap()), ..changed("pin") };
    assert_eq!(told(&pin, &from_to("pin", 1000, 1234)), (YES, vec!["threshold reached (sensitive)".to_owned()]));
    assert_eq!(told(&pin, &from_to("pin", 1000, 1001)), (NO, vec!["threshold not reached (sensitive)".to_owned()]));
}

#[test]
fn of_a_map_only_what_is_sensitive_is_hidden() {
    let labels =
        |key: &str, other: &str| fields([("key", Value::from(key).mark(Mark::Sensitive)), ("other", other.into())]);
    let scene = from_to("labels", labels("hunter2", "x"), labels("hunter3", "y"));
    let steps = told(&changed("labels"), &scene).1;
    assert_eq!(steps, [r#"labels["key"]: changed (sensitive)"#, r#"labels["other"]: "x" -> "y""#]);
    assert_eq!(told(&changed("labels[\"other\"]"), &scene).1, [r#""x" -> "y""#]);
    assert_eq!(told(&changed("labels[\"key\"]"), &scene).1, ["changed (sensitive)"]);
    let whole = |other: &str| fields([("other", other.into())]).mark(Mark::Sensitive);
    let scene = from_to("labels", whole("x"), whole("y"));
    assert_eq!(told(&changed("labels[\"other\"]"), &scene).1, ["changed (sensitive)"]);
    assert_eq!(told(&changed("labels"), &scene).1, ["labels: changed (sensitive)"]);
    let nics = |ip: &str| nics([ip]).mark(Mark::Sensitive);
    let scene = from_to("nic", nics("hunter2"), nics("hunter3"));
    assert_eq!(told(&changed("nic.ip"), &scene).1, ["nic[*].ip: changed (sensitive)"]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn what_is_known_changes_if_it_differs(old in any_known_value(), new in any_known_value()) {
        let scene = from_to("blob", old.clone(), new.clone());
        let differ = by_its_parts(&old) != by_its_parts(&new);
        prop_assert_eq!(truth(&changed("blob"), &scene), Truth::from(differ));
        prop_assert_eq!(truth(&changed("blob"), &from_to("blob", old.clone(), old)), NO);
    }

    #[test]
    fn order_never_makes_more_of_a_change(old in any_value(), new in any_value()) {
        let scene = from_to("blob", old.clone(), new.clone());
        let with = |ignore_order| truth(&FieldChanged { ignore_order, ..changed("blob") }, &scene);
        let [no, outer, deep] = [IgnoreOrder::No, IgnoreOrder::Outer, IgnoreOrder::Deep].map(with);
        prop_assert!(deep <= outer && outer <= no, "{:?} {:?} {:?}", no, outer, deep);
        if !scene.upd.is_wholly_known() || !scene.old.is_wholly_known() {
            let reason = scene.because_of(["blob"]);
            prop_assert!(truth(&changed("blob"), &reason) != Truth::Unknown);
        }
    }

    #[test]
    fn nothing_marked_is_ever_told(
        old in any_marked_value(),
        new in any_marked_value(),
        field in r"blob((\.|\[0\]\.|\[\*\]\.)[abc]){0,2}(\[\*\]|\[0\])?",
        ignore_order in prop::sample::select(vec![IgnoreOrder::No, IgnoreOrder::Outer, IgnoreOrder::Deep]),
    ) {
        // Also where what was in the open becomes a secret.
        let open = old.clone().unmark_deep().0;
        for (old, new) in [(&old, &new), (&new, &old)] {
            let scene = from_to("blob", old.clone(), new.clone());
            let (_, steps) = told(&FieldChanged { ignore_order, ..changed(&field) }, &scene);
            prop_assert!(!steps.join("\n").contains(CANARY), "{:?}", steps);
        }
        let closed = from_to("blob", open.clone(), open.mark(Mark::Sensitive));
        let (_, steps) = told(&FieldChanged { ignore_order, ..changed("blob") }, &closed);
        prop_assert!(!steps.join("\n").contains(CANARY), "{:?}", steps);
    }

    #[test]
    fn a_shuffled_list_is_the_same(items in prop::collection::vec(any_known_value(), 0..12), seed in any::<u64>()) {
        let mut shuffled = items.clone();
        let count = shuffled.len();
        for at in 0..count {
            shuffled.swap(at, (seed as usize).wrapping_mul(at + 7) % count);
        }
        let scene = from_to("blob", Value::tuple(items.clone()), Value::tuple(shuffled.clone()));
        let unordered = FieldChanged { ignore_order: IgnoreOrder::Outer, ..changed("blob") };
        prop_assert_eq!(truth(&unordered, &scene), NO);
        if let Some(last) = shuffled.last_mut() {
            *last = "another one".into();
            let scene = from_to("blob", Value::tuple(items), Value::tuple(shuffled));
            prop_assert_eq!(truth(&unordered, &scene), YES);
        }
    }
}

/// Elements of sets have no partners, so how far one has moved cannot be asked.
#[test]
fn thresholds_are_not_for_elements_of_sets() {
    use groma_model::schema::{Attribute, Block, Schema};

    let mut block = Block::default();
    let one = Type::object([("size", Type::Number)]);
    for (name, ty) in [
        ("set", Type::set(Type::Number)),
        ("list", Type::list(Type::Number)),
        ("objects", Type::set(one.clone())),
        ("sets", Type::list(Type::set(one.clone()))),
        ("lists", Type::list(one)),
    ] {
        block.attributes.insert(name.into(), Attribute::of_type(ty));
    }
    let schema = Schema { version: 0, block };
    for (field, refused) in [
        ("set[*]", true),
        ("objects[*].size", true),
        ("objects.size", true),
        ("sets[0][*].size", true),
        ("sets.size", true),
        ("list[*]", false),
        ("lists.size", false),
    ] {
        let threshold = Some(Threshold::of(&5.into()).unwrap());
        let found = FieldChanged { threshold, ..FieldChanged::new(path(field)) }.check(&schema);
        let summaries: Vec<&str> = found.iter().map(|problem| problem.summary.as_str()).collect();
        assert_eq!(summaries, if refused { vec!["Bad threshold (GR1105)"] } else { vec![] }, "{field}");
        assert_eq!(FieldChanged::new(path(field)).check(&schema), [], "{field}");
    }
}
