//! Paths: what is one, where it leads in schemas and values, and what it has to do with other paths.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use groma_model::mark::Mark;
use groma_model::path::{Path, PathStep};
use groma_model::span::{SourceMap, Span};
use groma_model::ty::Type;
use groma_model::value::Value;
use proptest::prelude::*;

use super::{FieldPath, FieldStep, Reading, Spot};
use crate::replace::testing::{boxed, cfg, disks, fields, items, nics, path, sim_box};

fn one(text: &str, object: &Value) -> Value {
    match path(text).read(object) {
        Reading::One(value) => value,
        Reading::Many(elements) => panic!("{text}: {elements:?}"),
    }
}

fn many(text: &str, object: &Value) -> Vec<Value> {
    match path(text).read(object) {
        Reading::One(value) => panic!("{text}: {value:?}"),
        Reading::Many(elements) => elements.into_iter().map(|element| element.value).collect(),
    }
}

#[test]
fn a_path_is_names_indexes_keys_and_stars() {
    let name = |text: &str| FieldStep::Name(text.into());
    let steps = |text: &str| path(text).steps().to_vec();
    assert_eq!(steps("name"), [name("name")]);
    assert_eq!(
        steps("cfg[0].net[*].private"),
        [name("cfg"), FieldStep::Index(0), name("net"), FieldStep::Every, name("private")]
    );
    assert_eq!(steps(r#"labels["a.b[\"\\"]"#), [name("labels"), FieldStep::Key(r#"a.b["\"#.into())]);
    assert_eq!(steps("cfg.0.net.12"), [name("cfg"), FieldStep::Index(0), name("net"), FieldStep::Index(12)]);
    assert_eq!(steps("größe-1"), [name("größe-1")]);
}

#[test]
fn what_is_no_path_is_told_with_its_offset() {
    let offset = |text: &str| FieldPath::parse(text, None).unwrap_err().offset;
    let cases = [
        ("", 0),
        (".a", 0),
        ("0", 0),
        ("a.", 2),
        ("a..b", 2),
        ("a b", 1),
        ("a[", 2),
        ("a[x]", 2),
        ("a[-1]", 2),
        ("a[0", 3),
        ("a[0x]", 3),
        ("a[\"x]", 2),
        ("a[\"\\x\"]", 3),
        ("a[*", 3),
        ("a[0]b", 4),
        ("a.*", 2),
        ("a[99999999999999999999]", 2),
        ("a.99999999999999999999", 2),
        ("a.\u{e9}\u{301}\n", 6),
    ];
    for (text, at) in cases {
        assert_eq!(offset(text), at, "{text:?}");
    }
    assert_eq!(offset(&"a".repeat(2000)), 1024);
}

/// The text that a diagnostic points at, if `written` is in the source and `text` is what it means.
fn pointed_at(written: &str, found: impl FnOnce(Span) -> groma_model::diag::Diagnostic) -> (String, u32, String) {
    let mut map = SourceMap::new();
    let source = format!("  field = {written}\n");
    let file = map.add("a.groma.hcl", source);
    let diagnostic = found(Span::new(file, 10, 10 + written.len()));
    let span = diagnostic.subject.unwrap();
    (map.text(span).to_owned(), map.start(span).column, format!("{}: {}", diagnostic.summary, diagnostic.detail))
}

fn checked(text: &str) -> (String, u32, String) {
    pointed_at(&format!("\"{text}\""), |place| {
        FieldPath::parse(text, Some(place)).unwrap().check(sim_box()).pop().unwrap()
    })
}

#[test]
fn an_index_on_a_set_is_refused_where_it_stands() {
    let (text, column, message) = checked("nic[0].ip");
    assert_eq!((text.as_str(), column), ("[0]", 15));
    assert_eq!(
        message,
        "Index on a set (GR1106): \"nic\" is a set, whose elements have no index. Use [*] for all of them."
    );
    assert_eq!(checked("tags[1]").0, "[1]");
}

#[test]
fn a_field_that_does_not_exist_is_told_with_the_one_that_was_meant() {
    let (text, column, message) = checked("nam");
    assert_eq!((text.as_str(), column), ("nam", 12));
    assert_eq!(
        message,
        "No such field (GR1103): There is no attribute or block \"nam\" in the resource. Did you mean \"name\"?"
    );
    let (text, _, message) = checked("cfg[0].net[0].privat");
    assert_eq!(text, ".privat");
    assert!(message.contains("Did you mean \"private\"?"), "{message}");
    for wrong in [
        "name.x",
        "name[0]",
        "ports.x",
        "labels[0]",
        "cfg[\"a\"]",
        "disk[0][0]",
        "disk[*][*]",
        "nothing",
        "nic[\"a\"]",
        "ports[\"a\"]",
        "size[*]",
    ] {
        assert!(checked(wrong).2.starts_with("No such field (GR1103)"), "{wrong}");
    }
}

#[test]
fn where_a_text_has_escapes_the_offset_is_told() {
    let (text, _, message) = pointed_at(r#""nic[0].\u0069p""#, |place| {
        FieldPath::parse("nic[0].ip", Some(place)).unwrap().check(sim_box()).pop().unwrap()
    });
    assert_eq!(text, r#""nic[0].\u0069p""#);
    assert!(message.ends_with("This is at offset 3 of the text."), "{message}");
    let (text, column, _) = pointed_at("\"a[x]\"", |place| {
        FieldPath::parse("a[x]", Some(place)).unwrap_err().diagnostic("a[x]", Some(place))
    });
    assert_eq!((text.as_str(), column), ("x", 14));
    let (text, column, _) =
        pointed_at("\"a[\"", |place| FieldPath::parse("a[", Some(place)).unwrap_err().diagnostic("a[", Some(place)));
    assert_eq!((text.as_str(), column), ("", 14));
}

#[test]
fn fields_that_exist_are_fine() {
    let good = [
        "name",
        "cfg[0].net[0].private",
        "cfg.net.private",
        "cfg.0.net.0.private",
        "labels[\"env\"]",
        "labels.env",
        "ports[1]",
        "ports[*]",
        "tags[*]",
        "nic[*].ip",
        "nic.ip",
        "disk[*].source",
        "blob.a[0][\"x\"][*].b",
        "cfg",
        "labels[*]",
    ];
    for text in good {
        assert_eq!(path(text).check(sim_box()), [], "{text}");
    }
    assert_eq!(path("ports[*]").ty(sim_box()), Some(Type::Number));
    assert_eq!(path("labels.env").ty(sim_box()), Some(Type::String));
    assert_eq!(path("blob.x").ty(sim_box()), Some(Type::Dynamic));
    assert_eq!(path("nic").ty(sim_box()), Some(Type::set(Type::object([("ip", Type::String)]))));
    assert_eq!(path("nam").ty(sim_box()), None);
    assert!(path("disk").leads_to_blocks(sim_box()) && !path("ports").leads_to_blocks(sim_box()));
}

#[test]
fn old_indexes_are_hinted_at() {
    let (text, column, message) = pointed_at("\"cfg.0.net[0].private\"", |place| {
        FieldPath::parse("cfg.0.net[0].private", Some(place)).unwrap().lints().pop().unwrap()
    });
    assert_eq!((text.as_str(), column), (".0", 15));
    assert_eq!(
        message,
        "Index in the old form (GR4002): An index is better written in brackets: [0] instead of \".0\"."
    );
    assert_eq!(path("cfg.0.net.0.private").lints().len(), 2);
    assert_eq!(path("cfg[0].net").lints(), []);
}

#[test]
fn values_are_found() {
    let object = boxed([
        ("name", "a".into()),
        ("cfg", cfg(true)),
        ("labels", fields([("env", "dev".into())])),
        ("ports", items([80, 443])),
        ("disk", disks(["x", "y"])),
        ("nic", nics(["1.1.1.1"])),
        ("blob", fields([("l", items([items([1, 2])])), ("0", "zero".into())])),
    ]);
    assert_eq!(one("name", &object), "a".into());
    assert_eq!(one("cfg[0].net[0].private", &object), true.into());
    assert_eq!(one("labels[\"env\"]", &object), "dev".into());
    assert_eq!(one("labels.env", &object), "dev".into());
    assert_eq!(one("ports[1]", &object), 443.into());
    assert_eq!(one("blob.l[0][1]", &object), 2.into());
    assert_eq!(one("blob.0", &object), "zero".into());
    assert_eq!(many("cfg.net.private", &object), [true.into()]);
    assert_eq!(many("disk[*].source", &object), many("disk.source", &object));
    assert_eq!(many("disk[*].source", &object), ["x".into(), "y".into()]);
    assert_eq!(many("nic[*].ip", &object), ["1.1.1.1".into()]);
    assert_eq!(many("labels[*]", &object), ["dev".into()]);
    for missing in [
        "labels[\"x\"]",
        "ports[7]",
        "cfg[1].net",
        "zone.x",
        "name.x",
        "blob.m.n",
        "tags[0]",
        "ports[18446744073709551615]",
    ] {
        assert!(one(missing, &object).is_null(), "{missing}");
    }
    let Reading::Many(elements) = path("cfg.net.private").read(&object) else { panic!("one") };
    assert_eq!(elements[0].at, [Spot::Index(0), Spot::Index(0)].into_iter().collect());
    assert_eq!(path("disk.mode").read(&object).values().filter(|value| value.is_null()).count(), 2);
}

#[test]
fn what_is_in_something_unknown_is_unknown_and_in_null_is_null() {
    let object = boxed([("ports", Value::unknown(Type::list(Type::Number))), ("blob", Value::dynamic())]);
    for text in ["ports[0]", "ports[*]", "blob.a.b"] {
        assert!(!one(text, &object).is_known(), "{text}");
    }
    for text in ["labels[*]", "labels[\"a\"]", "tags[*]"] {
        assert!(one(text, &object).is_null(), "{text}");
    }
    assert!(one("name", &Value::null(Type::Dynamic)).is_null());
    assert!(!one("name", &Value::dynamic()).is_known());
    assert_eq!(many("disk[*].source", &object), []);
}

#[test]
fn marks_of_what_is_around_are_kept_and_those_of_others_are_not() {
    let sensitive = |value: Value| value.mark(Mark::Sensitive);
    let by_key = boxed([("labels", fields([("a", sensitive("x".into())), ("b", "y".into())]))]);
    assert!(one("labels[\"a\"]", &by_key).contains_marks());
    assert!(!one("labels[\"b\"]", &by_key).contains_marks());
    assert!(one("labels", &by_key).contains_marks());
    let whole = boxed([("labels", sensitive(fields([("b", "y".into())])))]);
    assert!(one("labels[\"b\"]", &whole).marks().is_sensitive());
    assert!(one("labels[\"c\"]", &whole).marks().is_sensitive());
    assert!(many("labels[*]", &whole)[0].marks().is_sensitive());
    let unknown = boxed([("labels", sensitive(Value::unknown(Type::map(Type::String))))]);
    assert!(one("labels[\"b\"]", &unknown).marks().is_sensitive());
}

#[test]
fn the_schema_says_what_is_secret() {
    let secret = |text: &str| {
        let secrecy = path(text).secrecy(sim_box());
        (secrecy.sensitive, secrecy.write_only, secrecy.inside)
    };
    assert_eq!(secret("secret"), (true, false, false));
    assert_eq!(secret("token_wo"), (false, true, false));
    assert_eq!(secret("cfg.net"), (false, false, false));
    let place = Span::new(SourceMap::new().add("a", ""), 0, 0);
    let whole = FieldPath::of_steps(place, Vec::new());
    assert!(whole.secrecy(sim_box()).inside && whole.secrecy(sim_box()).is_secret());
}

#[test]
fn paths_overlap_if_one_leads_to_the_other() {
    let root = Path::root();
    let disk = root.attr("disk").index(1).attr("source");
    let element = Box::new(fields([("ip", "1".into())]));
    let nic = root.attr("nic").join(PathStep::Element(element)).attr("ip");
    let private = root.attr("cfg").index(0).attr("net").index(0).attr("private");
    let yes: [(&str, &Path); 14] = [
        ("disk", &disk),
        ("disk[1]", &disk),
        ("disk[*].source", &disk),
        ("disk.source", &disk),
        ("disk[1].source", &root.attr("disk")),
        ("disk[1].source.x", &disk),
        ("nic[*].ip", &nic),
        ("nic.ip", &nic),
        ("cfg.net.private", &private),
        ("cfg.0.net.0.private", &private),
        ("labels[\"a\"]", &root.attr("labels").key("a")),
        ("labels.a", &root.attr("labels").key("a")),
        ("labels[*]", &root.attr("labels").key("a")),
        ("name", &root),
    ];
    for (text, other) in yes {
        assert!(path(text).overlaps(other), "{text} {other}");
    }
    let no: [(&str, &Path); 8] = [
        ("disk[0]", &disk),
        ("disk.mode", &disk),
        ("disk[*].mode", &disk),
        ("disks", &disk),
        ("nic.mac", &nic),
        ("cfg[1].net", &private),
        ("labels[\"b\"]", &root.attr("labels").key("a")),
        ("labels.b", &root.attr("labels").key("a")),
    ];
    for (text, other) in no {
        assert!(!path(text).overlaps(other), "{text} {other}");
    }
    assert!(path("disk[*].source").overlaps_at(&disk, &[Spot::Index(1)].into_iter().collect()));
    assert!(!path("disk[*].source").overlaps_at(&disk, &[Spot::Index(0)].into_iter().collect()));
    assert!(!path("disk.source").overlaps_at(&disk, &[Spot::Index(0)].into_iter().collect()));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn any_text_is_a_path_or_is_not(text in r#"[a-z0-9_.\[\]"*\\ é\n-]{0,24}"#) {
        let object = boxed([("cfg", cfg(true)), ("blob", fields([("a", items([items([1])]))]))]);
        match FieldPath::parse(&text, None) {
            Ok(path) => {
                prop_assert_eq!(path.to_string(), groma_model::text::Str::from(&text).to_string());
                let _ = (path.check(sim_box()), path.read(&object), path.lints(), path.secrecy(sim_box()));
            }
            Err(problem) => prop_assert!(text.is_char_boundary(problem.offset)),
        }
    }

    #[test]
    fn any_path_can_be_read_in_any_value(
        path in r#"(name|blob|cfg|disk|labels|nic|tags)(\.(a|net|0)|\[(\*|0|"a")\]){0,5}"#,
        value in crate::replace::testing::any_value(),
    ) {
        let path = FieldPath::parse(&path, None).unwrap();
        let object = boxed([("blob", value.clone())]);
        for object in [&object, &value] {
            let _ = path.read(object);
        }
        for diagnostic in path.check(sim_box()) {
            prop_assert!(diagnostic.is_error());
        }
    }
}
