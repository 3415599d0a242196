//! YAML to JSON, as kubectl reads it, with lines.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn words_and_numbers_are_those_of_yaml_1_1() {
    let text = "a: yes\nb: Off\nc: y\nd: N\ne: 0644\nf: 0x1F\ng: 1_000\nh: 0b11\ni: 1e3\nj: 1.5\nk: ~\nl: 089\nm: 1:30\no: 3.0";
    let expected = json!({
        "a": true, "b": false, "c": true, "d": false, "e": 420, "f": 31, "g": 1000, "h": 3, "i": 1000, "j": 1.5, "k": null,
        "l": 89, "m": "1:30", "o": 3,
    });
    assert_eq!(json(text), expected);
}

#[test]
fn large_whole_numbers_stay_whole() {
    assert_eq!(json("a: 18446744073709551615\nb: -9223372036854775808"), json!({"a": u64::MAX, "b": i64::MIN}));
}

#[test]
fn quotes_and_blocks_make_texts() {
    assert_eq!(
        json("a: 'yes'\nb: \"1\"\nc: |\n  1\nd: !!str 1\ne: !!binary aGk="),
        json!({"a": "yes", "b": "1", "c": "1\n", "d": "1", "e": "hi"})
    );
    assert_eq!(json("a: !!int '3'\nb: !!float 3\nc: !other 1"), json!({"a": 3, "b": 3, "c": "1"}));
    assert!(complaints("a: !!int x")[0].contains("tagged as int, and is none"));
}

#[test]
fn dates_stay_texts() {
    assert_eq!(json("a: 2001-12-14\nb: 2001-12-14T21:59:43Z"), json!({"a": "2001-12-14", "b": "2001-12-14T21:59:43Z"}));
}

#[test]
fn names_that_are_no_texts_become_texts() {
    assert_eq!(json("1: a\ntrue: b\nno: c\n1.5: d"), json!({"1": "a", "true": "b", "false": "c", "1.5": "d"}));
}

#[test]
fn anchors_stand_for_what_they_are_put_on() {
    assert_eq!(json("a: &x {k: 1}\nb: *x\nc: [*x]"), json!({"a": {"k": 1}, "b": {"k": 1}, "c": [{"k": 1}]}));
}

#[test]
fn merge_keys_give_what_is_not_written() {
    let text = "base: &b {a: 1, b: 2}\nmore: &m {b: 3, c: 4}\none:\n  b: 9\n  <<: *b\ntwo:\n  <<: [*b, *m]\n  c: 5";
    let object = json(text);
    assert_eq!(object["one"], json!({"b": 9, "a": 1}));
    assert_eq!(object["two"], json!({"a": 1, "b": 2, "c": 5}));
}

#[test]
fn a_block_at_the_very_end_has_no_line_break_that_is_not_there() {
    assert_eq!(json("a: |\n  x"), json!({"a": "x"}));
    assert_eq!(json("a: |\n  x\n"), json!({"a": "x\n"}));
}

#[test]
fn json_is_yaml() {
    assert_eq!(json("{\n\t\"a\": [1, null],\n\t\"b\": {}\n}\n"), json!({"a": [1, null], "b": {}}));
}

#[test]
fn every_mistake_names_its_line() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  name: b\ndata:\n  x: .nan\n  x: 1\n";
    assert_eq!(
        complaints(text),
        [
            "Duplicate key in YAML: Line 5 of the YAML (`name: b`): \"name\" is given twice in one object, first on line 4.",
            "Invalid YAML: Line 7 of the YAML (`x: .nan`): .nan is a number that JSON does not have; quote it if it is meant \
             as text.",
            "Duplicate key in YAML: Line 8 of the YAML (`x: 1`): \"x\" is given twice in one object, first on line 7.",
        ]
    );
}

#[test]
fn broken_yaml_names_the_line() {
    let found = complaints("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n bad\n");
    assert!(found[0].starts_with("Invalid YAML: Line 5 of the YAML (`bad`): "), "{found:?}");
    let found = complaints("a:\n  b: 1\n c: 2\n");
    assert!(found[0].contains("Line 3 of the YAML (`c: 2`): a name is expected here"), "{found:?}");
    let found = complaints("a:\n\tb: 1\n");
    assert!(found[0].contains("tabs cannot indent YAML"), "{found:?}");
    let found = complaints("a: [1, 2\n");
    assert!(found[0].starts_with("Invalid YAML: Line 1 of the YAML"), "{found:?}");
}

#[test]
fn lines_of_secrets_are_not_shown() {
    let found = complaints("apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n  p: 'hunter2\n");
    assert_eq!(found.len(), 1);
    assert!(!found[0].contains("hunter2"), "{found:?}");
    let manifest =
        Manifest::parse("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {p: hunter2}").unwrap();
    assert!(!format!("{manifest:?}").contains("hunter2"));
}

#[test]
fn a_bomb_is_refused_by_name() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        let _ = writeln!(text, "a{level}: &a{level} [{}]", vec![before; 10].join(", "));
    }
    let found = complaints(&text);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("YAML expands too far: Line 6 of the YAML"), "{found:?}");
}

#[test]
fn a_bomb_of_long_texts_is_refused_too() {
    let text = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), vec!["*a"; 1000].join(", "));
    assert!(complaints(&text)[0].starts_with("YAML expands too far"));
}

#[test]
fn anchors_around_anchors_are_counted() {
    let open: Vec<String> = (0..90).map(|at| format!("&a{at} [")).collect();
    let text = format!("{}{}\n{}", open.concat(), "x".repeat(1_000_000), "]".repeat(90));
    assert!(complaints(&text)[0].starts_with("YAML expands too far"), "{:?}", complaints(&text));
}

#[test]
fn nesting_has_a_limit() {
    let text = format!("a: {}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(complaints(&text)[0].starts_with("Invalid YAML"));
    let lines: Vec<String> = (0..1_000).map(|at| format!("{}a:\n", " ".repeat(at))).collect();
    assert!(complaints(&lines.concat())[0].starts_with("Invalid YAML"));
}

#[test]
fn an_anchor_inside_of_itself_is_refused() {
    assert!(complaints("a: &a [*a]")[0].contains("inside of what it stands for"));
    assert!(complaints("a: *b")[0].contains("nothing is; quote it"));
}

#[test]
fn the_line_of_every_place_is_known() {
    let text = "# comment\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - name: x\n    image: i\n  - image: j\n    name: b\n";
    let manifest = Manifest::parse(text).unwrap();
    let line = |path: &str| manifest.line_of(&path.parse().unwrap());
    assert_eq!(line("apiVersion"), Some(2));
    assert_eq!(line("metadata.name"), Some(5));
    assert_eq!(line("spec.containers"), Some(7));
    assert_eq!(line("spec.containers[name=x].image"), Some(9));
    assert_eq!(line("spec.containers[1].name"), Some(11));
    assert_eq!(line("spec.containers[1]"), Some(10));
    assert_eq!(line("spec.none"), None);
}

#[test]
fn documents_are_told_apart_by_their_lines() {
    let text = "# head\n---\n# only a comment\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n--- # second\n\
                apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata:\n  x: |\n    --- not a marker\n...\n";
    let found = Manifest::parse_all(text, "a.yaml").unwrap();
    let names: Vec<_> = found.iter().map(|(manifest, _)| manifest.reference().name).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(found[1].0.line_of(&FieldPath::of(["kind"])), Some(10));
    assert_eq!(found[0].1, "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}");
}

#[test]
fn the_text_of_a_document_keeps_what_it_means() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata:\n  x: |\n    line\n---\n";
    let found = Manifest::parse_all(text, "").unwrap();
    assert!(found[0].1.ends_with("line\n"));
    assert_eq!(Manifest::parse(&found[0].1).unwrap().object, found[0].0.object);
}

#[test]
fn lists_are_taken_apart() {
    let text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n- apiVersion: v1\n  \
                kind: ConfigMapList\n  items:\n  - metadata: {name: b}\n";
    let found = Manifest::parse_all(text, "").unwrap();
    let names: Vec<_> =
        found.iter().map(|(manifest, _)| (manifest.reference().kind, manifest.reference().name)).collect();
    assert_eq!(names, [("ConfigMap".into(), "a".into()), ("ConfigMap".into(), "b".into())]);
    assert_eq!(found[1].1, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n");
    assert_eq!(found[0].0.line_of(&FieldPath::of(["kind"])), Some(5));
}

#[test]
fn what_is_wrong_with_any_document_is_said_with_its_origin() {
    let text = "apiVersion: v1\nkind: Pod\n---\nfoo: bar\n---\na: b: c\n";
    let found = Manifest::parse_all(text, "x/y.yaml").unwrap_err();
    let details: Vec<_> = found.iter().map(|found| found.detail.as_str()).collect();
    assert!(details.iter().all(|detail| detail.contains("of x/y.yaml")), "{details:?}");
    assert!(details.iter().any(|detail| detail.starts_with("Line 6 ")), "{details:?}");
    assert!(details.len() >= 4, "{details:?}");
}

#[test]
fn documents_that_only_look_empty_are_none() {
    assert!(Manifest::parse_all("", "").unwrap().is_empty());
    assert!(Manifest::parse_all("---\n# x\n---\n\n", "").unwrap().is_empty());
}

#[test]
fn dollar_braces_are_just_text() {
    let text =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  run.sh: |\n    echo ${HOME}\nstatus: {a: 1}\n";
    assert_eq!(complaints(text).len(), 1);
}

proptest! {
    #[test]
    fn any_text_is_read_without_harm(text in "[a-z0-9:&*<>\\[\\]{}|#'\"!,%@\\- \n\t]{0,60}") {
        let _ = Manifest::parse(&text);
        let _ = Manifest::parse_all(&text, "");
    }
}
