//! Conditions: what they may use, what they come to, and what they must not tell.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use groma_model::mark::Mark;
use groma_model::span::SourceMap;

use super::*;
use crate::replace::secrecy::sensitive_reads;
use crate::replace::testing::{Scene, boxed, cfg, disks, sim_box};

fn parse(text: &str) -> (SourceMap, Result<StateCheck, Diagnostics>) {
    let mut map = SourceMap::new();
    let file = map.add("a.groma.hcl", text);
    let parsed = groma_syntax::parse_expr(&map, file);
    assert!(parsed.diagnostics.is_empty(), "{text}");
    (map, StateCheck::new(Arc::new(parsed.value)))
}

fn check(text: &str) -> StateCheck {
    parse(text).1.unwrap()
}

/// Each problem: its summary, and the text that it is about.
fn problems(text: &str) -> Vec<(String, String)> {
    let (map, found) = parse(text);
    let told = |problem: Diagnostic| (problem.summary, map.text(problem.subject.unwrap()).to_owned());
    found.unwrap_err().into_iter().map(told).collect()
}

fn scene() -> Scene {
    let old = boxed([("zone", "a".into()), ("size", 12.into()), ("cfg", cfg(true)), ("disk", disks(["x", "y"]))]);
    let upd = boxed([("zone", "b".into()), ("size", 12.into()), ("name", Value::unknown(Type::String))]);
    Scene::change(old, upd).because_of(["zone"])
}

fn ask(text: &str) -> Truth {
    let (predicate, scene) = (check(text), scene());
    let found = predicate.ask(&scene.case(), true).unwrap();
    assert_eq!(predicate.ask(&scene.case(), false).unwrap(), Found { truth: found.truth, steps: vec![] });
    found.truth
}

#[test]
fn conditions_are_about_the_object() {
    let holds = [
        r#"old.size > 10 && changed("zone")"#,
        r#"!changed("size")"#,
        r#"changed("zone") == (old.zone != upd.zone)"#,
        "old.cfg[0].net[0].private",
        r#"old["zone"] == "a""#,
        r#"contains(old.disk[*].source, "x")"#,
        "alltrue([for disk in old.disk : length(disk.source) == 1])",
        r#"try(old.labels["a"], "none") == "none""#,
        r#"meta.type == "sim_box" && meta.name == "a" && meta.address == "sim_box.a" && meta.module == """#,
        r#"meta.key == null && meta.workspace == "default" && meta.provider == "example/sim""#,
        r#"meta.provider_version == "1.2.3" && meta.replace_paths == tolist(["zone"])"#,
        r#"meta.replace_reason == "replace_because_cannot_update""#,
        r#"core::upper(new.zone) == "B""#,
    ];
    for text in holds {
        assert_eq!(check(text).check(sim_box()), [], "{text}");
        assert_eq!(ask(text), Truth::True, "{text}");
    }
    assert_eq!(ask("old.size > 100"), Truth::False);
    assert_eq!(ask(r#"new.name == "a""#), Truth::Unknown);
    assert_eq!(ask(r#"changed("name")"#), Truth::Unknown);
    assert_eq!(ask(r#"old.zone == "x" && new.name == "a""#), Truth::False);
}

/// What is seen at a glance is what the language says, for values and types of any kind.
#[test]
fn a_glance_is_as_good_as_an_evaluation() {
    let operands = [
        "old.size",
        "upd.size",
        "old.zone",
        "upd.zone",
        "new.name",
        "old.name",
        "old.active",
        "old.cfg",
        "old.labels",
        "12",
        "12.5",
        "\"12\"",
        "\"a\"",
        "true",
        "false",
        "null",
    ];
    let scene = scene();
    let (mut glances, mut others) = (0, 0);
    let mut compare = |text: String| {
        let predicate = check(&text);
        let [slow, quick] = [true, false].map(|steps| predicate.ask(&scene.case(), steps).map(|found| found.truth));
        assert_eq!(slow.is_err(), quick.is_err(), "{text}");
        assert_eq!(slow.ok(), quick.ok(), "{text}");
        let glance = predicate.plain.as_ref().and_then(|plain| plain.holds(&predicate, &scene.case()));
        *(if glance.is_some() { &mut glances } else { &mut others }) += 1;
    };
    for left in operands {
        for right in operands {
            for op in ["==", "!=", "<", "<=", ">", ">="] {
                compare(format!("{left} {op} {right}"));
                compare(format!("!({left} {op} {right}) && changed(\"zone\")"));
                compare(format!("({left} {op} {right}) || (old.size {op} 12)"));
            }
        }
    }
    assert!(glances > 300 && others > 500, "{glances} {others}");
}

#[test]
fn what_was_read_is_told() {
    let steps = |text: &str| -> Vec<String> {
        check(text).ask(&scene().case(), true).unwrap().steps.iter().map(Step::to_string).collect()
    };
    assert_eq!(
        steps(r#"old.size > 10 && changed("zone") && old.size < 20"#),
        ["old.size = 12", "changed(\"zone\"): true"]
    );
    assert_eq!(steps("old.cfg[0].net[0].private"), ["old.cfg[0].net[0].private = true"]);
    assert_eq!(steps(r#"new.name == "a""#), ["new.name = (known after apply)"]);
}

#[test]
fn only_a_bool_is_a_result() {
    for text in [r#""x""#, "old.zone", "null", "old.active", "[true]", r#""true""#, "upd.name"] {
        let failed = check(text).ask(&scene().case(), false).unwrap_err();
        let summaries: Vec<&str> = failed.iter().map(|problem| problem.summary.as_str()).collect();
        assert_eq!(summaries, ["Condition is not a bool (GR2004)"], "{text}");
        assert!(failed.iter().all(|problem| problem.subject.is_some()));
    }
}

#[test]
fn what_can_never_be_a_bool_is_found_beforehand() {
    for text in [r#""x""#, r#""old.size > 1""#, "5", "(5)", "null", "[true]", "{ a = true }", r#""a${old.zone}""#] {
        let misfit = check(text).misfit().unwrap();
        assert_eq!(misfit.summary, "Condition is not a bool (GR2004)", "{text}");
        assert!(misfit.subject.is_some(), "{text}");
        assert_eq!(!misfit.hints.is_empty(), text.starts_with('"'), "{text}");
    }
    for text in ["old.zone", "old.size", "upd.ports", "old.size > 1 ? \"a\" : \"b\"", "length(old.disk)"] {
        assert_eq!(check(text).misfit(), None, "{text}");
        let found = check(text).check(sim_box());
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert_eq!(found[0].summary, "Condition is not a bool (GR2004)", "{text}");
    }
    for text in ["old.active", "true", "try(old.active, null)", "(old.size > 1)"] {
        assert_eq!(check(text).misfit(), None, "{text}");
        assert_eq!(check(text).check(sim_box()), [], "{text}");
    }
}

#[test]
fn nothing_but_the_object_can_be_used() {
    let refused = |text: &str, subject: &str| {
        assert_eq!(problems(text), [("Not allowed in a condition (GR1115)".to_owned(), subject.to_owned())], "{text}");
    };
    refused(r#"file("a") == """#, "file");
    refused("old.size > var.x", "var.x");
    refused("local.a", "local.a");
    refused("aws_vpc.main.id == old.id", "aws_vpc.main.id");
    refused("data.aws_vpc.main.id == old.id", "data.aws_vpc.main.id");
    refused("self.size > 1", "self.size");
    refused(r#"timestamp() == "a""#, "timestamp");
    refused("plantimestamp() == old.zone", "plantimestamp");
    refused("uuid() == old.zone", "uuid");
    refused("bcrypt(old.zone) == old.zone", "bcrypt");
    refused(r#"core::templatefile("a", {}) == """#, "core::templatefile");
    refused("provider::a::b(1)", "provider::a::b");
    refused("uper(old.zone) == old.zone", "uper");
    refused("changed(old.zone)", "changed(old.zone)");
    refused(r#"changed("a", "b")"#, r#"changed("a", "b")"#);
    for name in ["fileexists", "filemd5", "fileset", "filebase64", "abspath", "pathexpand"] {
        assert!(function_problem(name).is_some(), "{name}");
    }
    assert!(function_problem("upper").is_none() && function_problem("templatestring").is_none());
    let field = problems(r#"changed("a[x]")"#);
    assert_eq!(field, [("Invalid field (GR1103)".to_owned(), "x".to_owned())]);
    assert_eq!(problems(r#"var.a && file("b") == "" && local.c"#).len(), 3);
    // Templates are read when they are needed.
    let hidden = check(r#"templatestring("$${file(\"a\")}", {}) == """#);
    assert!(hidden.ask(&scene().case(), false).is_err());
}

#[test]
fn fields_and_types_are_checked_beforehand() {
    let found = |text: &str| -> Vec<String> {
        let (map, predicate) = parse(text);
        let told = |problem: Diagnostic| format!("{} @ {}", problem.summary, map.text(problem.subject.unwrap()));
        predicate.unwrap().check(sim_box()).into_iter().map(told).collect()
    };
    assert_eq!(found("old.nam == new.zone"), ["No such field (GR1103) @ old.nam"]);
    assert_eq!(found(r#"changed("nic[0].ip")"#), ["Index on a set (GR1106) @ [0]"]);
    assert_eq!(found("upper(old.size, 1) == old.zone"), ["Too many function arguments @ 1"]);
    assert_eq!(found("old.size > 1"), Vec::<String>::new());
}

#[test]
fn what_goes_wrong_at_run_time_is_an_error() {
    for text in [
        "old.size / 0 > 1",
        "1 / (old.size - 12) > 1",
        "1 % (old.size - 12) > 1",
        "0 / (old.size - 12) > 1",
        r#"old.labels["a"] == "b""#,
        "new.cfg[0].net[0].private",
    ] {
        assert!(check(text).ask(&scene().case(), false).unwrap_err().has_errors(), "{text}");
    }
}

#[test]
fn sensitive_fields_are_found_where_they_are_read() {
    let (map, predicate) = parse(r#"old.size > 1 && old.secret == "hunter2""#);
    let predicate = predicate.unwrap();
    let scene = scene();
    let reads = sensitive_reads(&predicate, &scene.case());
    let place = reads[0].place.unwrap();
    assert_eq!((map.text(place), map.start(place).column, reads.len()), ("old.secret", 17, 1));
    let indirect = [
        r#"nonsensitive(old.secret) == "a""#,
        r#"jsonencode(old) == "a""#,
        r#"[for name, value in new : value if name == "secret"] == []"#,
        r#"old[meta.name] == "a""#,
        r#"upd.token_wo == "a""#,
        r#"issensitive(old["secret"])"#,
    ];
    for text in indirect {
        assert_eq!(sensitive_reads(&check(text), &scene.case()).len(), 1, "{text}");
    }
    assert!(sensitive_reads(&check(r#"changed("secret") && old.size > 1"#), &scene.case()).is_empty());
}

#[test]
fn what_is_allowed_to_be_read_is_still_not_shown() {
    let old = boxed([("secret", "hunter2".into()), ("name", Value::from("hunter2").mark(Mark::Sensitive))]);
    let scene = Scene::change(old, boxed([]));
    for text in [r#"old.secret == "hunter2""#, r#"old.name == "hunter2""#, r#"nonsensitive(old.secret) == "hunter2""#] {
        let found = check(text).ask(&scene.case(), true).unwrap();
        assert_eq!((found.truth, found.steps), (Truth::True, vec![Step::text("(sensitive)")]), "{text}");
    }
    for text in ["tonumber(nonsensitive(old.secret)) > 1", r#"regex("[${nonsensitive(old.name)}", "a") == "b""#] {
        let failed = check(text).ask(&scene.case(), true).unwrap_err();
        assert!(failed.has_errors() && !format!("{failed:?}").contains("hunter2"), "{text}");
    }
}
