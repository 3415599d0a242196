//! Every mistake that is found without schemas: its number, its place, the text that is marked, and the words.

use expect_test::{Expect, expect};

use super::{in_rule, load_files, mistakes, told};

fn check(found: &str, expected: &Expect) {
    expected.assert_eq(found);
}

#[test]
fn unknown_blocks_and_arguments() {
    check(
        &mistakes("replace_rul \"r\" {\n}\n"),
        &expect![[r#"
        a.groma.hcl:1:1: Unsupported block type (GR1101)
          replace_rul "r" {
          ^^^^^^^^^^^
          Blocks of type "replace_rul" are not expected here. Did you mean "replace_rule"?
    "#]],
    );
    check(
        &mistakes("replace_rule {\n}\n"),
        &expect![[r#"
        a.groma.hcl:1:14: Missing id for replace_rule (GR1101)
          replace_rule {
                       ^
          All replace_rule blocks must have 1 labels (id).
    "#]],
    );
    check(
        &mistakes("replace_rule \"r\" {\n  order = \"delete_first\"\n}\n"),
        &expect![[r#"
        a.groma.hcl:1:18: Missing required argument (GR1101)
          replace_rule "r" {
                           ^
          The argument "resource" is required, but no definition was found.
    "#]],
    );
    check(
        &in_rule("  ordre = \"delete_first\""),
        &expect![[r#"
        a.groma.hcl:3:3: Unsupported argument (GR1101)
            ordre = "delete_first"
            ^^^^^
          An argument named "ordre" is not expected here. Did you mean "order"?
    "#]],
    );
    check(
        &in_rule("  predicat \"field_changed\" {\n  }"),
        &expect![[r#"
        a.groma.hcl:3:3: Unsupported block type (GR1101)
            predicat "field_changed" {
            ^^^^^^^^
          Blocks of type "predicat" are not expected here. Did you mean "predicate"?
    "#]],
    );
    check(
        &in_rule("  predicate {\n  }"),
        &expect![[r#"
        a.groma.hcl:3:13: Missing kind for predicate (GR1101)
            predicate {
                      ^
          All predicate blocks must have 1 labels (kind).
    "#]],
    );
    check(
        &in_rule("  predicate \"field_changed\" \"a\" \"b\" {\n    field = \"name\"\n  }"),
        &expect![[r#"
        a.groma.hcl:3:33: Extraneous label for predicate (GR1101)
            predicate "field_changed" "a" "b" {
                                          ^^^
          A predicate has one or two labels: its kind, and a name for expressions.
    "#]],
    );
}

#[test]
fn unknown_arguments_of_predicates_and_other_blocks() {
    check(
        &in_rule("  predicate \"field_changed\" {\n    feild = \"name\"\n  }"),
        &expect![[r#"
        a.groma.hcl:4:5: Unsupported argument (GR1101)
              feild = "name"
              ^^^^^
          An argument named "feild" is not expected here. Did you mean "field"?
    "#]],
    );
    check(
        &in_rule(
            "  predicate \"field_changed\" {\n    field = \"ports\"\n    ignore_order = true\n    ignoreOrder = true\n  }",
        ),
        &expect![[r#"
            a.groma.hcl:6:5: Attribute redefined (GR1101)
                  ignoreOrder = true
                  ^^^^^^^^^^^
              The argument "ignore_order" is set twice: the two spellings of it mean the same.
        "#]],
    );
    check(
        &in_rule("  predicate \"field_changed\" {\n    field = \"name\"\n    x {\n    }\n  }"),
        &expect![[r#"
        a.groma.hcl:5:5: Unexpected "x" block (GR1101)
              x {
              ^
          Blocks are not allowed here.
    "#]],
    );
    check(
        &in_rule("  field  = \"name\"\n  fields = [\"zone\"]"),
        &expect![[r#"
        a.groma.hcl:4:3: Both field and fields (GR1101)
            fields = ["zone"]
            ^^^^^^
          Either field or fields says what must be the cause of the replacement, not both.
    "#]],
    );
    check(
        &in_rule("  order = \"create_first\"\n  replace_dependents = [\"sim_user\"]"),
        &expect![[r#"
        a.groma.hcl:4:3: Unsupported argument (GR1101)
            replace_dependents = ["sim_user"]
            ^^^^^^^^^^^^^^^^^^
          Dependents are replaced with an object that is deleted first, and this rule wants it to be created first.
    "#]],
    );
    check(
        &mistakes("attachment \"x\" {\n}\n"),
        &expect![[r#"
        a.groma.hcl:1:16: Missing required argument (GR1101)
          attachment "x" {
                         ^
          An attachment needs "block", a block of the object itself, or "types", the types of other objects.
    "#]],
    );
    check(
        &mistakes("replace_settings {\n  modus = \"off\"\n}\n"),
        &expect![[r#"
        a.groma.hcl:2:3: Unsupported argument (GR1101)
            modus = "off"
            ^^^^^
          An argument named "modus" is not expected here. Did you mean "mode"?
    "#]],
    );
}

#[test]
fn unknown_kinds_of_predicates() {
    check(
        &in_rule("  predicate \"field_chnged\" \"c\" {\n    field = \"name\"\n  }"),
        &expect![[r#"
        a.groma.hcl:3:13: Unknown kind of predicate (GR1102)
            predicate "field_chnged" "c" {
                      ^^^^^^^^^^^^^^
          There is no predicate "field_chnged". It can be "field_changed", "has_attached_resources", "field_equals", "field_matches", "resource_count" or "state_check". Did you mean "field_changed"?
    "#]],
    );
    check(
        &in_rule("  predicate \"cosmic_rays\" {\n  }"),
        &expect![[r#"
        a.groma.hcl:3:13: Unknown kind of predicate (GR1102)
            predicate "cosmic_rays" {
                      ^^^^^^^^^^^^^
          There is no predicate "cosmic_rays". It can be "field_changed", "has_attached_resources", "field_equals", "field_matches", "resource_count" or "state_check".
    "#]],
    );
}

#[test]
fn fields_that_cannot_be_read() {
    check(
        &in_rule("  field = \"disk[0.source\""),
        &expect![[r#"
        a.groma.hcl:3:18: Invalid field (GR1103)
            field = "disk[0.source"
                           ^
          Here must be "]", not '.'. A field is written as a name, followed by further names, indexes and keys: name, disk[0].source, labels["env"], nic[*].ip.
    "#]],
    );
    check(
        &in_rule("  fields = [\"name\", \"\"]"),
        &expect![[r#"
        a.groma.hcl:3:22: Invalid field (GR1103)
            fields = ["name", ""]
                               ^
          Here must be the name of an attribute or block, not the end. A field is written as a name, followed by further names, indexes and keys: name, disk[0].source, labels["env"], nic[*].ip.
    "#]],
    );
    check(
        &in_rule("  field = \"labels[\\\"env\\\"]x\""),
        &expect![[r#"
        a.groma.hcl:3:11: Invalid field (GR1103)
            field = "labels[\"env\"]x"
                    ^^^^^^^^^^^^^^^^^^
          Here must be "." or "[", not 'x'. A field is written as a name, followed by further names, indexes and keys: name, disk[0].source, labels["env"], nic[*].ip. This is at offset 13 of the text.
    "#]],
    );
}

#[test]
fn values_that_do_not_fit() {
    check(
        &in_rule("  order = \"delete_frist\""),
        &expect![[r#"
        a.groma.hcl:3:11: Unsuitable value (GR1104)
            order = "delete_frist"
                    ^^^^^^^^^^^^^^
          order is "delete_frist". It can be "delete_first" or "create_first". Did you mean "delete_first"?
    "#]],
    );
    check(
        &in_rule("  behavior = true"),
        &expect![[r#"
        a.groma.hcl:3:14: Unsuitable value (GR1104)
            behavior = true
                       ^^^^
          behavior must be a string, and this is a bool.
    "#]],
    );
    check(
        &in_rule("  suggestions = \"one\""),
        &expect![[r#"
        a.groma.hcl:3:17: Unsuitable value (GR1104)
            suggestions = "one"
                          ^^^^^
          suggestions must be a list of strings, and this is a string.
    "#]],
    );
    check(
        &in_rule("  suggestions = [\"one\", 2]"),
        &expect![[r#"
        a.groma.hcl:3:25: Unsuitable value (GR1104)
            suggestions = ["one", 2]
                                  ^
          Each element of suggestions must be a string, and this is a number.
    "#]],
    );
    check(
        &mistakes("replace_rule \"Über Rule\" {\n  resource = \"sim_box\"\n}\n"),
        &expect![[r#"
        a.groma.hcl:1:14: Invalid name (GR1104)
          replace_rule "Über Rule" {
                       ^^^^^^^^^^^
          "Über Rule" cannot be the name of a rule: it must be of small letters, digits, ".", "_" and "-".
    "#]],
    );
    check(
        &mistakes("replace_rule \"r\" {\n  resource = \"sim_box.a\"\n}\n"),
        &expect![[r#"
        a.groma.hcl:2:14: Invalid resource type (GR1104)
            resource = "sim_box.a"
                       ^^^^^^^^^^^
          "sim_box.a" is no resource type. Write a type such as "aws_instance", or a pattern of types such as "aws_*"; addresses go into target.
    "#]],
    );
    check(
        &in_rule("  target = [\"module.m\"]"),
        &expect![[r#"
        a.groma.hcl:3:13: Invalid pattern (GR1104)
            target = ["module.m"]
                      ^^^^^^^^^^
          "module.m" does not say which resources are meant: it names a module; name the resources in it, as in module.name.type.name.
    "#]],
    );
    check(
        &in_rule("  provider = \"a/b/c/d\""),
        &expect![[r#"
        a.groma.hcl:3:14: Invalid provider source string (GR1104)
            provider = "a/b/c/d"
                       ^^^^^^^^^
          The "source" attribute must be in the format "[hostname/][namespace/]name"
    "#]],
    );
    check(
        &in_rule("  provider_version = \"=> 1\""),
        &expect![[r#"
        a.groma.hcl:3:22: Invalid version constraint (GR1104)
            provider_version = "=> 1"
                               ^^^^^^
          "=> 1" does not say which versions are meant: invalid specification "=> 1": invalid constraint operator "=>"; did you mean ">="?
    "#]],
    );
    check(
        &in_rule("  predicate \"field_changed\" \"not\" {\n    field = \"name\"\n  }"),
        &expect![[r#"
        a.groma.hcl:3:29: Invalid name (GR1104)
            predicate "field_changed" "not" {
                                      ^^^^^
          "not" cannot be the name of a predicate: it must begin with a letter, go on with letters, digits, "_" and "-", and be none of AND, OR, NOT, TRUE and FALSE.
    "#]],
    );
    check(
        &mistakes("replace_settings {\n  catalogue = \"no\"\n}\n"),
        &expect![[r#"
        a.groma.hcl:2:15: Unsuitable value (GR1104)
            catalogue = "no"
                        ^^^^
          catalogue must be true or false, and this is a string.
    "#]],
    );
}

#[test]
fn counts_and_operators() {
    let attached = |more: &str| {
        in_rule(&format!(
            "  predicate \"has_attached_resources\" {{\n    resource_types = [\"sim_user\"]\n    {more}\n  }}"
        ))
    };
    check(
        &attached("minimum_count = 3\n    maximum_count = 2"),
        &expect![[r#"
        a.groma.hcl:6:21: Minimum above maximum (GR1110)
              maximum_count = 2
                              ^
          At least 3, and at most 2: that is never so. To ask whether nothing is attached, set both minimum_count and maximum_count to 0.
    "#]],
    );
    check(
        &attached("maximum_count = 0"),
        &expect![[r#"
        a.groma.hcl:5:21: Minimum above maximum (GR1110)
              maximum_count = 0
                              ^
          At least 1, which is what holds if nothing is said, and at most 0: that is never so. To ask whether nothing is attached, set both minimum_count and maximum_count to 0.
    "#]],
    );
    check(
        &attached("minimum_count = 1.5"),
        &expect![[r#"
        a.groma.hcl:5:21: Invalid count (GR1111)
              minimum_count = 1.5
                              ^^^
          minimum_count must be a whole number that is not negative.
    "#]],
    );
    check(
        &attached("via = \"siblings\""),
        &expect![[r#"
        a.groma.hcl:5:11: Unsuitable value (GR1104)
              via = "siblings"
                    ^^^^^^^^^^
          via is "siblings". It can be "auto", "dependents", "embedded" or "references".
    "#]],
    );
    let counted = |operator: &str, count: &str| {
        in_rule(&format!(
            "  predicate \"resource_count\" {{\n    resource_type = \"sim_user\"\n    operator = \"{operator}\"\n    count = {count}\n  }}"
        ))
    };
    check(
        &counted("=>", "1"),
        &expect![[r#"
        a.groma.hcl:5:16: Invalid operator (GR1111)
              operator = "=>"
                         ^^^^
          The operator must be one of >=, <=, ==, !=, >, <.
    "#]],
    );
    check(
        &counted(">=", "-1"),
        &expect![[r#"
        a.groma.hcl:6:13: Invalid count (GR1111)
              count = -1
                      ^^
          count must be a whole number that is not negative.
    "#]],
    );
    check(
        &counted(">=", "\"one\""),
        &expect![[r#"
        a.groma.hcl:6:13: Invalid count (GR1111)
              count = "one"
                      ^^^^^
          count must be a whole number that is not negative, and this is a string.
    "#]],
    );
}

#[test]
fn parameters_of_predicates_about_fields() {
    let with =
        |kind: &str, more: &str| in_rule(&format!("  predicate \"{kind}\" {{\n    field = \"size\"\n    {more}\n  }}"));
    check(
        &with("field_changed", "threshold = -1"),
        &expect![[r#"
        a.groma.hcl:5:17: Bad threshold (GR1105)
              threshold = -1
                          ^^
          A threshold must not be less than zero: it is compared with the amount of the change.
    "#]],
    );
    check(
        &with("field_changed", "threshold = \"much\""),
        &expect![[r#"
        a.groma.hcl:5:17: Bad threshold (GR1105)
              threshold = "much"
                          ^^^^^^
          A threshold is a number, or a share such as "10%".
    "#]],
    );
    check(
        &with("field_changed", "threshold = 1\n    ignore_order = true"),
        &expect![[r#"
        a.groma.hcl:5:17: Threshold with ignore_order (GR1108)
              threshold = 1
                          ^
          A threshold is for numbers and ignore_order is for lists, so there is nothing that both make sense for.
    "#]],
    );
    check(
        &with("field_changed", "ignore_order = \"depe\""),
        &expect![[r#"
        a.groma.hcl:5:20: Unsuitable value (GR1104)
              ignore_order = "depe"
                             ^^^^^^
          ignore_order must be true, false or "deep", and this is a string.
    "#]],
    );
    check(
        &with("field_changed", "null_equals_empty = 1"),
        &expect![[r#"
        a.groma.hcl:5:25: Unsuitable value (GR1104)
              null_equals_empty = 1
                                  ^
          null_equals_empty must be true, false or "auto", and this is a number.
    "#]],
    );
    check(
        &with("field_changed", "against = \"delete\""),
        &expect![[r#"
        a.groma.hcl:5:15: Unsuitable value (GR1104)
              against = "delete"
                        ^^^^^^^^
          against is "delete". It can be "update" or "create".
    "#]],
    );
}

#[test]
fn values_and_patterns_of_predicates() {
    let with =
        |kind: &str, more: &str| in_rule(&format!("  predicate \"{kind}\" {{\n    field = \"size\"\n    {more}\n  }}"));
    check(
        &with("field_equals", "value = 1\n    values = [1]"),
        &expect![[r#"
        a.groma.hcl:6:5: Unsupported argument (GR1101)
              values = [1]
              ^^^^^^
          Either value or values can be given, not both.
    "#]],
    );
    check(
        &with("field_equals", "on = \"old\""),
        &expect![[r#"
        a.groma.hcl:3:28: Missing required argument (GR1101)
            predicate "field_equals" {
                                     ^
          One of the arguments "value" and "values" is required, and there is neither.
    "#]],
    );
    check(
        &with("field_equals", "valeu = 1"),
        &expect![[r#"
        a.groma.hcl:5:5: Unsupported argument (GR1101)
              valeu = 1
              ^^^^^
          An argument named "valeu" is not expected here. Did you mean "value"?
    "#]],
    );
    check(
        &with("field_equals", "values = 1"),
        &expect![[r#"
        a.groma.hcl:5:14: Unsuitable value (GR1104)
              values = 1
                       ^
          values must be a list of values, and this is a number.
    "#]],
    );
    check(
        &with("field_equals", "value = null\n    on = \"odl\""),
        &expect![[r#"
        a.groma.hcl:6:10: Unsuitable value (GR1104)
              on = "odl"
                   ^^^^^
          on is "odl". It can be "old", "new", "either" or "both". Did you mean "old"?
    "#]],
    );
    check(
        &with("field_matches", "pattern = \"(\""),
        &expect![[r#"
        a.groma.hcl:5:16: Bad regular expression (GR1109)
              pattern = "("
                         ^
          This is not a regular expression: unclosed group, at offset 0.
    "#]],
    );
    check(
        &with("field_matches", "pattern = \"a\\\\d)\""),
        &expect![[r#"
        a.groma.hcl:5:15: Bad regular expression (GR1109)
              pattern = "a\\d)"
                        ^^^^^^^
          This is not a regular expression: unopened group, at offset 3. This is at offset 3 of the text.
    "#]],
    );
    check(
        &with("field_matches", "glob = \"a*\"\n    match = \"some\""),
        &expect![[r#"
        a.groma.hcl:6:13: Unsuitable value (GR1104)
              match = "some"
                      ^^^^^^
          match is "some". It can be "any", "all" or "none". Did you mean "none"?
    "#]],
    );
    let found = with("field_matches", &format!("pattern = \"{}\"", "a".repeat(2048)));
    assert!(found.starts_with("a.groma.hcl:5:15: Pattern is too large (GR1119)\n"), "{found}");
}

#[test]
fn conditions_cannot_reach_anything() {
    let with = |condition: &str| in_rule(&format!("  predicate \"state_check\" {{\n    condition = {condition}\n  }}"));
    check(&with("old.size > 10 && changed(\"zone\") && meta.workspace == \"x\""), &expect![""]);
    check(
        &with("old.size > 10 && var.x"),
        &expect![[r#"
        a.groma.hcl:4:34: Not allowed in a condition (GR1115)
              condition = old.size > 10 && var.x
                                           ^^^^^
          "var" means nothing in the condition of a rule. It can use old, new, upd and meta, and the function changed.
    "#]],
    );
    check(
        &with("file(\"a\") == upper(old.name)"),
        &expect![[r#"
        a.groma.hcl:4:17: Not allowed in a condition (GR1115)
              condition = file("a") == upper(old.name)
                          ^^^^
          file cannot be called in the condition of a rule, where nothing is there but the object.
    "#]],
    );
    check(
        &with("changed(old.name)"),
        &expect![[r#"
        a.groma.hcl:4:17: Not allowed in a condition (GR1115)
              condition = changed(old.name)
                          ^^^^^^^^^^^^^^^^^
          changed takes the name of a field, which must be a constant: changed("zone").
    "#]],
    );
    check(
        &in_rule("  predicate \"state_check\" {\n  }"),
        &expect![[r#"
        a.groma.hcl:3:27: Missing required argument (GR1101)
            predicate "state_check" {
                                    ^
          The argument "condition" is required, but no definition was found.
    "#]],
    );
}

const CHANGED: &str = "  predicate \"field_changed\" {\n    field = \"name\"\n  }\n";

#[test]
fn logic_and_expressions() {
    check(
        &in_rule(&format!("  logic = \"AND\"\n  expr  = \"A\"\n{CHANGED}")),
        &expect![[r#"
        a.groma.hcl:4:3: Both logic and expr (GR1112)
            expr  = "A"
            ^^^^^^^^^^^
          Either logic or expr says how the predicates are joined, not both: logic is set at a.groma.hcl:3.
    "#]],
    );
    check(
        &in_rule("  logic = \"OR\""),
        &expect![[r#"
        a.groma.hcl:3:3: No predicates to join (GR1113)
            logic = "OR"
            ^^^^^^^^^^^^
          logic joins predicates, and there are none here. Add some, or leave logic out.
    "#]],
    );
    check(
        &in_rule("  expr = \"TRUE\""),
        &expect![[r#"
        a.groma.hcl:3:3: No predicates to join (GR1113)
            expr = "TRUE"
            ^^^^^^^^^^^^^
          expr joins predicates, and there are none here. Add some, or leave expr out.
    "#]],
    );
    check(
        &in_rule("  group \"g\" {\n  }"),
        &expect![[r#"
        a.groma.hcl:3:3: No predicates to join (GR1113)
            group "g" {
            ^^^^^^^^^
          A group without predicates says nothing. Add some, or leave it out.
    "#]],
    );
    check(
        &mistakes("condition \"c\" {\n  logic = \"AND\"\n}\n"),
        &expect![[r#"
        a.groma.hcl:2:3: No predicates to join (GR1113)
            logic = "AND"
            ^^^^^^^^^^^^^
          logic joins predicates, and there are none here. Add some, or leave logic out.
    "#]],
    );
    check(
        &in_rule(&format!("  logic = \"XOR\"\n{CHANGED}")),
        &expect![[r#"
        a.groma.hcl:3:11: Unsuitable value (GR1104)
            logic = "XOR"
                    ^^^^^
          logic is "XOR". It can be "AND", "OR" or "NOT". Did you mean "OR"?
    "#]],
    );
}

#[test]
fn conditions_in_a_circle() {
    let text = "condition \"a\" {\n  use = [\"b\"]\n}\ncondition \"b\" {\n  group \"g\" {\n    use = [\"a\"]\n  }\n}\n\
                condition \"c\" {\n  use = [\"c\"]\n}\n\
                replace_rule \"r\" {\n  resource = \"sim_box\"\n  use      = [\"a\"]\n}\n";
    check(
        &mistakes(text),
        &expect![[r#"
        a.groma.hcl:6:12: Condition uses itself (GR1114)
              use = ["a"]
                     ^^^
          Conditions must not use each other in a circle: a -> b -> a.
        a.groma.hcl:10:10: Condition uses itself (GR1114)
            use = ["c"]
                   ^^^
          Conditions must not use each other in a circle: c -> c.
    "#]],
    );
}

#[test]
fn only_literals() {
    check(
        &in_rule("  field = var.field"),
        &expect![[r#"
        a.groma.hcl:3:11: Only literals are allowed (GR1115)
            field = var.field
                    ^^^^^^^^^
          The reference var.field cannot stand here: arguments of rules are strings, numbers, bools, null, and lists of those.
    "#]],
    );
    check(
        &in_rule("  order = delete_first"),
        &expect![[r#"
        a.groma.hcl:3:11: Only literals are allowed (GR1115)
            order = delete_first
                    ^^^^^^^^^^^^
          The name delete_first cannot stand here: arguments of rules are strings, numbers, bools, null, and lists of those.
          Write it in quotes: "delete_first".
    "#]],
    );
    check(
        &in_rule("  reasoning = \"in ${terraform.workspace}\""),
        &expect![[r#"
        a.groma.hcl:3:15: Only literals are allowed (GR1115)
            reasoning = "in ${terraform.workspace}"
                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^
          A string with "${" or "%{" in it cannot stand here: arguments of rules are strings, numbers, bools, null, and lists of those.
    "#]],
    );
    check(
        &in_rule("  suggestions = [upper(\"a\")]"),
        &expect![[r#"
        a.groma.hcl:3:18: Only literals are allowed (GR1115)
            suggestions = [upper("a")]
                           ^^^^^^^^^^
          A call of upper cannot stand here: arguments of rules are strings, numbers, bools, null, and lists of those.
    "#]],
    );
    check(
        &in_rule("  reasoning = true ? \"a\" : \"b\""),
        &expect![[r#"
        a.groma.hcl:3:15: Only literals are allowed (GR1115)
            reasoning = true ? "a" : "b"
                        ^^^^^^^^^^^^^^^^
          This cannot stand here: arguments of rules are strings, numbers, bools, null, and lists of those.
    "#]],
    );
}

#[test]
fn expressions_that_cannot_be_read() {
    let three = CHANGED.repeat(3);
    let with = |expr: &str| in_rule(&format!("  expr = {expr}\n{three}"));
    check(
        &with("\"A AND B OR C AND\""),
        &expect![[r#"
        a.groma.hcl:3:27: Invalid expression (GR1116)
            expr = "A AND B OR C AND"
                                    ^
          Expected a name, NOT, TRUE, FALSE or "(", found the end of the expression.
          An expression joins the names of predicates by AND, OR, NOT and parentheses: (A AND B) OR C.
    "#]],
    );
    check(
        &with("\"(A OR B OR C\""),
        &expect![[r#"
        a.groma.hcl:3:23: Invalid expression (GR1116)
            expr = "(A OR B OR C"
                                ^
          Expected AND, OR or ")", found the end of the expression.
          An expression joins the names of predicates by AND, OR, NOT and parentheses: (A AND B) OR C.
    "#]],
    );
    check(
        &with("\"A B C\""),
        &expect![[r#"
        a.groma.hcl:3:13: Invalid expression (GR1116)
            expr = "A B C"
                      ^
          Expected AND, OR or the end of the expression, found "B".
          An expression joins the names of predicates by AND, OR, NOT and parentheses: (A AND B) OR C.
    "#]],
    );
    check(
        &with("\"A XOR B OR C\""),
        &expect![[r#"
        a.groma.hcl:3:13: Invalid expression (GR1116)
            expr = "A XOR B OR C"
                      ^^^
          Expected AND, OR or the end of the expression, found "XOR".
          An expression joins the names of predicates by AND, OR, NOT and parentheses: (A AND B) OR C.
    "#]],
    );
    check(
        &with("\"\""),
        &expect![[r#"
        a.groma.hcl:3:11: Invalid expression (GR1116)
            expr = ""
                    ^
          Expected a name, NOT, TRUE, FALSE or "(", found the end of the expression.
          An expression joins the names of predicates by AND, OR, NOT and parentheses: (A AND B) OR C.
    "#]],
    );
    // Where a byte of these comes from cannot be told.
    check(
        &with("\"A AND\\tB OR C)\""),
        &expect![[r#"
        a.groma.hcl:3:10: Invalid expression (GR1116)
            expr = "A AND\tB OR C)"
                   ^^^^^^^^^^^^^^^^
          Expected AND, OR or the end of the expression, found ")". This is at offset 12 of the text.
          An expression joins the names of predicates by AND, OR, NOT and parentheses: (A AND B) OR C.
    "#]],
    );
    check(
        &with("<<EOT\n  A AND B\n  OR C C\nEOT\n"),
        &expect![[r#"
        a.groma.hcl:3:10: Invalid expression (GR1116)
            expr = <<EOT
                   ^^^^^
          Expected AND, OR or the end of the expression, found "C". This is at offset 17 of the text.
          An expression joins the names of predicates by AND, OR, NOT and parentheses: (A AND B) OR C.
    "#]],
    );
}

#[test]
fn names_that_mean_nothing() {
    let three = CHANGED.repeat(3);
    check(
        &in_rule(&format!("  expr = \"A AND D OR C AND B\"\n{three}")),
        &expect![[r#"
        a.groma.hcl:3:17: Unknown name (GR1117)
            expr = "A AND D OR C AND B"
                          ^
          There is nothing named "D" here. It can be A, B or C.
    "#]],
    );
    check(
        &in_rule(
            "  expr = \"chnged AND\\tnothing\"\n  predicate \"field_changed\" \"changed\" {\n    field = \"name\"\n  }",
        ),
        &expect![[r#"
            a.groma.hcl:3:10: Unknown name (GR1117)
                expr = "chnged AND\tnothing"
                       ^^^^^^^^^^^^^^^^^^^^^
              There is nothing named "chnged" here. It can be changed. Did you mean "changed"? This is at offset 0 of the text.
            a.groma.hcl:3:10: Unknown name (GR1117)
                expr = "chnged AND\tnothing"
                       ^^^^^^^^^^^^^^^^^^^^^
              There is nothing named "nothing" here. It can be changed. This is at offset 11 of the text.
        "#]],
    );
    check(
        &in_rule("  use = [\"held\"]"),
        &expect![[r#"
        a.groma.hcl:3:10: Unknown name (GR1117)
            use = ["held"]
                   ^^^^^^
          There is no condition named "held". There are none in this module.
    "#]],
    );
    check(
        &mistakes(
            "condition \"held\" {\n  predicate \"field_changed\" {\n    field = \"name\"\n  }\n}\nreplace_rule \"r\" {\n  resource = \"sim_box\"\n  use = [\"hold\"]\n}\n",
        ),
        &expect![[r#"
            a.groma.hcl:8:10: Unknown name (GR1117)
                use = ["hold"]
                       ^^^^^^
              There is no condition named "hold". It can be "held". Did you mean "held"?
        "#]],
    );
}

#[test]
fn names_that_are_taken() {
    let rule = "replace_rule \"r\" {\n  resource = \"sim_box\"\n}\n";
    let loaded = load_files(&[("a.groma.hcl", rule), ("b.groma.hcl", rule)]);
    check(
        &told(&loaded.map, &loaded.found),
        &expect![[r#"
        b.groma.hcl:1:14: Duplicate name (GR1118)
          replace_rule "r" {
                       ^^^
          There is a rule named "r" already, at a.groma.hcl:1.
    "#]],
    );
    // A rule of another module is another rule.
    let loaded = load_files(&[("a.groma.hcl", rule), ("m/b.groma.hcl", rule)]);
    check(&told(&loaded.map, &loaded.found), &expect![""]);
    check(
        &in_rule(
            "  predicate \"field_changed\" \"A\" {\n    field = \"name\"\n  }\n  predicate \"field_changed\" {\n    field = \"name\"\n  }",
        ),
        &expect![[r#"
        a.groma.hcl:6:13: Duplicate name (GR1118)
            predicate "field_changed" {
                      ^^^^^^^^^^^^^^^
          The name "A" is taken already, at a.groma.hcl:3. Predicates without a name are called A, B, C and so on.
    "#]],
    );
    check(
        &in_rule(
            "  predicate \"field_changed\" \"x\" {\n    field = \"name\"\n  }\n  group \"x\" {\n    predicate \"field_changed\" \"x\" {\n      field = \"name\"\n    }\n  }",
        ),
        &expect![[r#"
            a.groma.hcl:6:9: Duplicate name (GR1118)
                group "x" {
                      ^^^
              The name "x" is taken already, at a.groma.hcl:3.
        "#]],
    );
    let condition = "condition \"c\" {\n  predicate \"field_changed\" {\n    field = \"name\"\n  }\n}\n";
    check(
        &mistakes(&condition.repeat(2)),
        &expect![[r#"
        a.groma.hcl:6:11: Duplicate name (GR1118)
          condition "c" {
                    ^^^
          There is a condition named "c" already, at a.groma.hcl:1.
    "#]],
    );
    check(
        &mistakes(&"attachment \"x\" {\n  types = [\"sim_user\"]\n}\n".repeat(2)),
        &expect![[r#"
        a.groma.hcl:4:12: Duplicate name (GR1118)
          attachment "x" {
                     ^^^
          There is an attachment named "x" already, at a.groma.hcl:1.
    "#]],
    );
    check(
        &mistakes(&"replace_settings {\n}\n".repeat(2)),
        &expect![[r#"
        a.groma.hcl:3:1: Duplicate settings (GR1118)
          replace_settings {
          ^^^^^^^^^^^^^^^^
          There is a replace_settings block already, at a.groma.hcl:1.
    "#]],
    );
}

#[test]
fn what_modules_must_not_do() {
    let outside = "replace_rule \"r\" {\n  resource = \"sim_box\"\n  target   = [\"sim_box.a\"]\n}\n";
    let loaded = load_files(&[("m/a.groma.hcl", outside)]);
    check(
        &told(&loaded.map, &loaded.found),
        &expect![[r#"
        m/a.groma.hcl:3:15: Rule reaches outside of its module (GR1120)
            target   = ["sim_box.a"]
                        ^^^^^^^^^^^
          There is no "sim_box.a" in module.m, and a rule in a module is about the resources of that module and of those that it calls. sim_box.a is outside of it: to decide about that, move the rule to the root module.
    "#]],
    );
    let absolute = "replace_rule \"r\" {\n  resource = \"sim_box\"\n  target   = [\"module.m.sim_box.inner\"]\n}\n";
    let loaded = load_files(&[("m/a.groma.hcl", absolute)]);
    check(
        &told(&loaded.map, &loaded.found),
        &expect![[r#"
        warning: m/a.groma.hcl:3:15: Rule matches nothing
            target   = ["module.m.sim_box.inner"]
                        ^^^^^^^^^^^^^^^^^^^^^^^^
          No resource that is declared matches "module.m.sim_box.inner". Addresses are relative to the module whose directory the file is in.
    "#]],
    );
    let own = "replace_rule \"r\" {\n  resource = \"sim_box\"\n  target   = [\"sim_box.inner\"]\n}\n";
    let loaded = load_files(&[("m/a.groma.hcl", own)]);
    check(&told(&loaded.map, &loaded.found), &expect![""]);
    let loaded = load_files(&[("m/a.groma.hcl", "replace_settings {\n  mode = \"auto\"\n}\n")]);
    check(
        &told(&loaded.map, &loaded.found),
        &expect![[r#"
        m/a.groma.hcl:1:1: Settings outside of the root module (GR1122)
          replace_settings {
          ^^^^^^^^^^^^^^^^
          Only the root module can say what becomes of rules: a module that is called is not asked whether they are heeded. Move this block to the root module.
    "#]],
    );
    assert_eq!(loaded.rules.replace.settings.mode, None);
}

#[test]
fn what_matches_nothing_is_a_warning() {
    check(
        &in_rule("  target = [\"sim_box.gone\"]"),
        &expect![[r#"
        warning: a.groma.hcl:3:13: Rule matches nothing
            target = ["sim_box.gone"]
                      ^^^^^^^^^^^^^^
          No resource that is declared matches "sim_box.gone". Addresses are relative to the module whose directory the file is in.
    "#]],
    );
    check(
        &mistakes("replace_rule \"r\" {\n  resource = \"gone_*\"\n}\n"),
        &expect![[r#"
        warning: a.groma.hcl:2:14: Rule matches nothing
            resource = "gone_*"
                       ^^^^^^^^
          No resource that is declared matches "gone_*". Addresses are relative to the module whose directory the file is in.
    "#]],
    );
}

#[test]
fn five_mistakes_are_five_errors() {
    let text = r#"replace_rule "r" {
  resource = "sim_box"
  ordre    = "delete_first"
  field    = "disk["
  expr     = "A AND"
  predicate "field_chnged" {
    field = "name"
  }
  predicate "resource_count" {
    resource_type = "sim_user"
    operator      = "=>"
    count         = 1
  }
}
"#;
    let loaded = load_files(&[("a.groma.hcl", text)]);
    assert_eq!(loaded.found.iter().filter(|found| found.is_error()).count(), 5);
    check(
        &told(&loaded.map, &loaded.found),
        &expect![[r#"
        a.groma.hcl:3:3: Unsupported argument (GR1101)
            ordre    = "delete_first"
            ^^^^^
          An argument named "ordre" is not expected here. Did you mean "order"?
        a.groma.hcl:4:20: Invalid field (GR1103)
            field    = "disk["
                             ^
          Here must be an index, a key in quotes or "*", not the end. A field is written as a name, followed by further names, indexes and keys: name, disk[0].source, labels["env"], nic[*].ip.
        a.groma.hcl:5:20: Invalid expression (GR1116)
            expr     = "A AND"
                             ^
          Expected a name, NOT, TRUE, FALSE or "(", found the end of the expression.
          An expression joins the names of predicates by AND, OR, NOT and parentheses: (A AND B) OR C.
        a.groma.hcl:6:13: Unknown kind of predicate (GR1102)
            predicate "field_chnged" {
                      ^^^^^^^^^^^^^^
          There is no predicate "field_chnged". It can be "field_changed", "has_attached_resources", "field_equals", "field_matches", "resource_count" or "state_check". Did you mean "field_changed"?
        a.groma.hcl:11:21: Invalid operator (GR1111)
              operator      = "=>"
                              ^^^^
          The operator must be one of >=, <=, ==, !=, >, <.
    "#]],
    );
}

#[test]
fn mistakes_in_the_other_syntax() {
    let text = r#"{
  "replace_rule": {
    "r": {
      "resource": "sim_box",
      "ordre": "delete_first",
      "expr": "A AND D",
      "predicate": {
        "field_changed": {"field": "name", "feild": "zone"},
        "field_chnged": {"B": {"field": "name"}}
      }
    }
  }
}
"#;
    let loaded = load_files(&[("a.groma.json", text)]);
    check(
        &told(&loaded.map, &loaded.found),
        &expect![[r#"
        a.groma.json:5:7: Extraneous JSON object property (GR1101)
                "ordre": "delete_first",
                ^^^^^^^
          No argument or block type is named "ordre". Did you mean "order"?
        a.groma.json:6:22: Unknown name (GR1117)
                "expr": "A AND D",
                               ^
          There is nothing named "D" here. It can be A or B.
        a.groma.json:8:44: Unsupported argument (GR1101)
                  "field_changed": {"field": "name", "feild": "zone"},
                                                     ^^^^^^^
          An argument named "feild" is not expected here. Did you mean "field"?
        a.groma.json:9:9: Unknown kind of predicate (GR1102)
                  "field_chnged": {"B": {"field": "name"}}
                  ^^^^^^^^^^^^^^
          There is no predicate "field_chnged". It can be "field_changed", "has_attached_resources", "field_equals", "field_matches", "resource_count" or "state_check". Did you mean "field_changed"?
    "#]],
    );
}
