//! What a `sim_box` claims, and whether its successor claims the same.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use groma_model::mark::Mark;
use groma_model::ty::Type;
use groma_model::value::Value;

use super::range::Range;
use super::{Claim, ClaimReused, Part};
use crate::replace::predicate::Predicate;
use crate::replace::testing::{Scene, boxed, disks, items, path};
use crate::replace::truth::Truth;

fn asked(parts: &[&str], scene: &Scene) -> (Truth, Vec<String>) {
    let part = |text: &&str| Part { path: path(text.trim_start_matches('~')), range: text.starts_with('~') };
    let predicate = ClaimReused::new(vec![Claim(parts.iter().map(part).collect())], Vec::new());
    let found = predicate.ask(&scene.case(), true).unwrap();
    assert_eq!(predicate.ask(&scene.case(), false).unwrap().truth, found.truth);
    (found.truth, found.steps.iter().map(ToString::to_string).collect())
}

fn one(step: &str) -> Vec<String> {
    vec![step.to_owned()]
}

#[test]
fn a_name_is_used_again_or_is_not() {
    let web = || boxed([("name", "web".into())]);
    assert_eq!(asked(&["name"], &Scene::change(web(), web())), (Truth::True, one("name \"web\" is used again")));
    let other = Scene::change(web(), boxed([("name", "api".into())]));
    assert_eq!(asked(&["name"], &other), (Truth::False, one("name \"web\" -> \"api\"")));
    let open = Scene::change(web(), boxed([("name", Value::unknown(Type::String))]));
    let step = "name \"web\" may be used again (known after apply)";
    assert_eq!(asked(&["name"], &open), (Truth::Unknown, one(step)));
    assert_eq!(asked(&["name"], &Scene::change(boxed([]), web())), (Truth::False, Vec::new()));
    let empty = || boxed([("name", "".into())]);
    assert_eq!(asked(&["name"], &Scene::change(empty(), empty())).0, Truth::False);
}

#[test]
fn what_is_made_up_afresh_is_not_used_again() {
    let old = || boxed([("ip", "10.0.0.5".into()), ("name", "a".into())]);
    let new = boxed([("ip", Value::unknown(Type::String)), ("name", "a".into())]);
    let scene = Scene::new(old(), old(), new).configured(boxed([("name", "a".into())]));
    assert_eq!(asked(&["ip"], &scene), (Truth::False, one("ip \"10.0.0.5\" -> generated anew")));
    // But what only says where the claim is, and is left to the provider as before, stays.
    assert_eq!(asked(&["name", "ip"], &scene).0, Truth::True);
}

#[test]
fn all_parts_must_be_the_same() {
    let here = || boxed([("name", "a".into()), ("zone", "z".into())]);
    let there = boxed([("name", "a".into()), ("zone", "y".into())]);
    let step = "name \"a\", zone \"z\" are used again";
    assert_eq!(asked(&["name", "zone"], &Scene::change(here(), here())), (Truth::True, one(step)));
    assert_eq!(asked(&["name", "zone"], &Scene::change(here(), there)), (Truth::False, one("zone \"z\" -> \"y\"")));
    let nowhere = || boxed([("name", "a".into())]);
    assert_eq!(
        asked(&["name", "zone"], &Scene::change(nowhere(), nowhere())),
        (Truth::True, one("name \"a\" is used again"))
    );
}

#[test]
fn one_element_is_enough() {
    let disk = |sources: [&str; 2]| boxed([("disk", disks(sources))]);
    let scene = Scene::change(disk(["a", "b"]), disk(["b", "c"]));
    let step = one("disk[*].source \"b\" is used again");
    assert_eq!(asked(&["disk[*].source"], &scene), (Truth::True, step.clone()));
    assert_eq!(asked(&["disk.source"], &scene).0, Truth::True);
    let none = Scene::change(disk(["a", "b"]), disk(["c", "d"]));
    assert_eq!(asked(&["disk[*].source"], &none).0, Truth::False);
    assert_eq!(asked(&["disk[*].source"], &Scene::change(disk(["a", "b"]), boxed([]))).0, Truth::False);
    // With something that is the same for all elements.
    let here = |zone: &str| boxed([("disk", disks(["a"])), ("zone", zone.into())]);
    assert_eq!(asked(&["disk[*].source", "zone"], &Scene::change(here("z"), here("z"))).0, Truth::True);
    assert_eq!(asked(&["disk[*].source", "zone"], &Scene::change(here("z"), here("y"))).0, Truth::False);
}

#[test]
fn ranges_must_not_overlap() {
    let range = |text: &str| boxed([("ip", text.into())]);
    let truth = |old: &str, new: &str| asked(&["~ip"], &Scene::change(range(old), range(new))).0;
    assert_eq!(truth("10.0.0.0/24", "10.0.0.128/25"), Truth::True);
    assert_eq!(truth("10.0.0.0/24", "10.0.1.0/24"), Truth::False);
    assert_eq!(truth("fd00::/8", "fd00:1::/64"), Truth::True);
    assert_eq!(truth("0.0.0.0/0", "::/0"), Truth::False);
    assert_eq!(truth("something", "something"), Truth::True);
    for bad in ["", "10.0.0.0", "10.0.0.0/33", "10.0.0.0/-1", "x/8", "::/129"] {
        assert_eq!(Range::parse(bad), None, "{bad}");
    }
    assert!(Range::parse("::/0").is_some());
}

#[test]
fn what_is_sensitive_is_compared_and_not_shown() {
    let secret = || boxed([("name", Value::from("hunter2").mark(Mark::Sensitive))]);
    let found = asked(&["name"], &Scene::change(secret(), boxed([("name", "hunter2".into())])));
    assert_eq!(found, (Truth::True, one("name (sensitive) is used again")));
    // What the schema says is sensitive, too.
    let plain = |text: &str| boxed([("secret", text.into())]).unmark_deep().0;
    let found = asked(&["secret"], &Scene::change(plain("hunter2"), plain("hunter3")));
    assert_eq!(found, (Truth::False, one("secret (sensitive) -> (sensitive)")));
}

#[test]
fn some_let_go_at_once() {
    let claim = Claim(vec![Part { path: path("name"), range: false }]);
    let predicate = ClaimReused::new(vec![claim], vec![(path("size"), Value::from(0))]);
    let sized = |size: i64| boxed([("name", "a".into()), ("size", size.into())]);
    let truth = |size: i64| predicate.ask(&Scene::change(sized(size), sized(7)).case(), true).unwrap().truth;
    assert_eq!((truth(0), truth(30)), (Truth::False, Truth::True));
}

#[test]
fn ten_thousand_elements_are_compared_at_once() {
    let many = |from: usize| {
        let names: Vec<String> = (from..from + 10_000).map(|at| format!("disk-{at}")).collect();
        boxed([("tags", items(names.iter().map(String::as_str)))])
    };
    assert_eq!(
        asked(&["tags[*]"], &Scene::change(many(0), many(9_999))),
        (Truth::True, one("tags[*] \"disk-9999\" is used again"))
    );
    assert_eq!(asked(&["tags[*]"], &Scene::change(many(0), many(10_000))).0, Truth::False);
}
