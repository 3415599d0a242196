//! Files that are too large or too deep, and texts of all kinds: nothing takes long, nothing panics.

use expect_test::expect;
use proptest::prelude::*;

use super::{in_rule, load, load_files, mistakes, told};

const CHANGED: &str = "predicate \"field_changed\" {\n field = \"name\"\n}\n";

#[test]
fn a_rule_has_sixty_four_predicates() {
    assert_eq!(in_rule(&CHANGED.repeat(64)), "");
    expect![[r#"
        a.groma.hcl:1:14: Condition is too large (GR1119)
          replace_rule "r" {
                       ^^^
          It has 65 predicates, with those of the conditions that it uses. There may be 64 predicates, and groups 16 deep.
    "#]].assert_eq(&in_rule(&CHANGED.repeat(65)));
}

#[test]
fn predicates_of_conditions_count() {
    let text = format!(
        "condition \"c\" {{\n{}}}\nreplace_rule \"r\" {{\n  resource = \"sim_box\"\n  use = [\"c\"]\n{}}}\n",
        CHANGED.repeat(60),
        CHANGED.repeat(5)
    );
    expect![[r#"
        a.groma.hcl:183:14: Condition is too large (GR1119)
          replace_rule "r" {
                       ^^^
          It has 65 predicates, with those of the conditions that it uses. There may be 64 predicates, and groups 16 deep.
    "#]].assert_eq(&mistakes(&text));
}

#[test]
fn groups_stand_sixteen_deep_in_each_other() {
    let nested = |depth: usize| format!("{}{CHANGED}{}", "group \"g\" {\n".repeat(depth), "}\n".repeat(depth));
    assert_eq!(in_rule(&nested(16)), "");
    expect![[r#"
        a.groma.hcl:19:1: Too many groups (GR1119)
          group "g" {
          ^^^^^^^^^
          Groups must not stand more than 16 deep in each other.
    "#]]
    .assert_eq(&in_rule(&nested(17)));
}

#[test]
fn conditions_count_as_groups() {
    let condition = |at: usize| format!("condition \"c{at}\" {{\n  use = [\"c{}\"]\n}}\n", at + 1);
    let chain = |length: usize| -> String {
        let all: String = (1..length).map(condition).collect();
        format!(
            "{all}condition \"c{length}\" {{\n{CHANGED}}}\nreplace_rule \"r\" {{\n  resource = \"sim_box\"\n  use = [\"c1\"]\n}}\n"
        )
    };
    assert_eq!(mistakes(&chain(16)), "");
    expect![[r#"
        a.groma.hcl:54:14: Condition is too large (GR1119)
          replace_rule "r" {
                       ^^^
          Its groups and conditions stand more than 16 deep in each other. There may be 64 predicates, and groups 16 deep.
    "#]].assert_eq(&mistakes(&chain(17)));
    // However long it is, it is walked without recursion.
    assert!(load(&chain(5_000)).found.has_errors());
}

#[test]
fn expressions_that_multiply_are_refused() {
    let wide = vec!["x"; 500].join(" AND ");
    let text = format!(
        "condition \"x\" {{\n{CHANGED}}}\ncondition \"y\" {{\n  use = [\"x\"]\n  expr = \"{wide}\"\n}}\n\
         replace_rule \"r\" {{\n  resource = \"sim_box\"\n  use = [\"y\"]\n  expr = \"{}\"\n}}\n",
        wide.replace('x', "y")
    );
    expect![[r#"
        a.groma.hcl:10:14: Condition is too large (GR1119)
          replace_rule "r" {
                       ^^^
          Its expressions name the same predicates too often. There may be 64 predicates, and groups 16 deep.
    "#]]
    .assert_eq(&mistakes(&text));
}

#[test]
fn long_and_deep_expressions_are_refused() {
    let with = |expr: &str| {
        let found =
            load(&format!("replace_rule \"r\" {{\n  resource = \"sim_box\"\n  expr = \"{expr}\"\n{CHANGED}}}\n")).found;
        found.iter().map(|found| found.summary.clone()).collect::<Vec<_>>()
    };
    let nested = |depth: usize| format!("{}A{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(with(&nested(64)), Vec::<String>::new());
    assert_eq!(with(&nested(65)), ["Expression is too large (GR1119)"]);
    assert_eq!(with(&" ".repeat(5 * 1024)), ["Expression is too large (GR1119)"]);
}

proptest! {
    #[test]
    fn no_file_makes_it_panic(
        text in "(replace_rule|condition|predicate|group|use|expr|logic|field|\"[a-d]\"|\"A AND\"| = |\\{\n|\n\\}\n|\\[|\\]|\"|,|\n){0,30}"
    ) {
        let _ = load(&text);
    }

    #[test]
    fn no_rule_makes_it_panic(
        names in prop::collection::vec("(field|fields|target|expr|logic|use|order|resource|suggestions|provider|provider_version)", 0..4),
        values in prop::collection::vec("(\"\\PC{0,6}\"|\"[a-zA-Z*.\\[\\]0-9/ ]{0,8}\"|true|null|-?[0-9]{1,3}|\\[\"[a-z.]{0,4}\"\\]|x\\.y)", 4),
    ) {
        let lines: Vec<String> = names.iter().zip(&values).map(|(name, value)| format!("{name} = {value}\n")).collect();
        let lines = lines.concat();
        let _ = load(&format!("replace_rule \"r\" {{\n{lines}{CHANGED}}}\n"));
    }
}

/// With nothing in them, nothing could ever be so.
#[test]
fn empty_lists_are_refused() {
    expect![[r#"
        a.groma.hcl:5:14: Unsuitable value (GR1104)
              values = []
                       ^^
          values is empty. It must have a value at least, or there is nothing to ask.
    "#]]
    .assert_eq(&in_rule("  predicate \"field_equals\" {\n    field  = \"name\"\n    values = []\n  }"));
    expect![[r#"
        a.groma.hcl:4:22: Unsuitable value (GR1104)
              resource_types = []
                               ^^
          resource_types is empty. It must have a type at least, or there is nothing to ask.
    "#]]
    .assert_eq(&in_rule("  predicate \"has_attached_resources\" {\n    resource_types = []\n  }"));
}

/// In JSON, an expression that lacks its braces is only a text.
#[test]
fn conditions_that_are_texts_are_refused() {
    expect![[r#"
        a.groma.hcl:4:17: Condition is not a bool (GR2004)
              condition = "old.size > 10"
                          ^^^^^^^^^^^^^^^
          The condition of state_check must be true or false, and this one is a string.
          An expression is written without quotes; in JSON files, in braces behind a dollar: "${old.size > 10}".
    "#]]
    .assert_eq(&in_rule("  predicate \"state_check\" {\n    condition = \"old.size > 10\"\n  }"));
    let json =
        r#"{"replace_rule": {"r": {"resource": "sim_box", "predicate": {"state_check": {"condition": "CONDITION"}}}}}"#;
    let found = |condition: &str| {
        let loaded = load_files(&[("a.groma.json", &json.replace("CONDITION", condition))]);
        told(&loaded.map, &loaded.found)
    };
    assert_eq!(found("${old.size > 10}"), "");
    let told = found("old.size > 10");
    assert!(told.starts_with("a.groma.json:1:") && told.contains("Condition is not a bool (GR2004)"), "{told}");
}
