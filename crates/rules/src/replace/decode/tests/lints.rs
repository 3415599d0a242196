//! Hints that only those see who ask for them.

use expect_test::{Expect, expect};

use super::schemas::Simulator;
use super::{load, told};
use crate::lint;

fn check(contents: &str, expected: &Expect) {
    let loaded = load(&format!("replace_rule \"r\" {{\n  resource = \"sim_box\"\n{contents}\n}}\n"));
    assert_eq!(told(&loaded.map, &loaded.found), "");
    expected.assert_eq(&told(&loaded.map, &lint(&loaded.rules, &loaded.tree, &Simulator)));
}

#[test]
fn predicates_that_are_never_asked() {
    let both = "  predicate \"field_changed\" \"a\" {\n    field = \"name\"\n  }\n  predicate \"field_changed\" {\n    field = \"zone\"\n  }\n";
    check(
        &format!("  expr = \"a\"\n{both}"),
        &expect![[r#"
        warning: a.groma.hcl:7:13: Unused predicate (GR4001)
            predicate "field_changed" {
                      ^^^^^^^^^^^^^^^
          The expression does not name "A", so it is never asked.
    "#]],
    );
    check(&format!("  expr = \"a OR A\"\n{both}"), &expect![""]);
}

#[test]
fn indexes_in_the_old_form() {
    check(
        "  field = \"cfg.0.net.0.private\"",
        &expect![[r#"
        warning: a.groma.hcl:3:15: Index in the old form (GR4002)
            field = "cfg.0.net.0.private"
                        ^^
          An index is better written in brackets: [0] instead of ".0".
        warning: a.groma.hcl:3:21: Index in the old form (GR4002)
            field = "cfg.0.net.0.private"
                              ^^
          An index is better written in brackets: [0] instead of ".0".
    "#]],
    );
}

#[test]
fn values_of_which_object_is_not_said() {
    let equals = |field: &str, on: &str| {
        "  predicate \"field_equals\" \"z\" {\n    field = \"{field}\"\n    value = \"a\"\n{on}  }\n"
            .replace("{field}", field)
            .replace("{on}", on)
    };
    check(
        &equals("zone", ""),
        &expect![[r#"
        warning: a.groma.hcl:4:13: Nothing is said about which object (GR4003)
              field = "zone"
                      ^^^^^^
          zone may be another one in the new object. Without "on" the old object is looked at; say so with on = "old", or use "new", "either" or "both".
    "#]],
    );
    check(&equals("zone", "    on = \"old\"\n"), &expect![""]);
    // The provider decides it.
    check(&equals("arn", ""), &expect![""]);
    let glob = "  predicate \"field_matches\" {\n    field = \"disk.0.source\"\n    glob  = \"x*\"\n  }\n";
    check(
        glob,
        &expect![[r#"
        warning: a.groma.hcl:4:13: Nothing is said about which object (GR4003)
              field = "disk.0.source"
                      ^^^^^^^^^^^^^^^
          disk.0.source may be another one in the new object. Without "on" the old object is looked at; say so with on = "old", or use "new", "either" or "both".
        warning: a.groma.hcl:4:18: Index in the old form (GR4002)
              field = "disk.0.source"
                           ^^
          An index is better written in brackets: [0] instead of ".0".
    "#]],
    );
}

#[test]
fn rules_that_can_never_fire() {
    let both = "  predicate \"field_changed\" {\n    field = \"name\"\n  }\n  predicate \"field_changed\" {\n    field = \"zone\"\n  }\n";
    check(
        &format!("  expr = \"A AND B AND NOT A\"\n{both}"),
        &expect![[r#"
        warning: a.groma.hcl:1:14: Rule can never fire (GR4004)
          replace_rule "r" {
                       ^^^
          Whatever its predicates find, the condition of this rule is false.
    "#]],
    );
    check(
        &format!("  expr = \"(A OR B) AND FALSE\"\n{both}"),
        &expect![[r#"
        warning: a.groma.hcl:1:14: Rule can never fire (GR4004)
          replace_rule "r" {
                       ^^^
          Whatever its predicates find, the condition of this rule is false.
    "#]],
    );
    check(&format!("  expr = \"A AND NOT B\"\n{both}"), &expect![""]);
}
