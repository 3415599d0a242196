//! What only schemas tell: fields and types that are not there.

use std::sync::Arc;

use expect_test::{Expect, expect};
use groma_lang::config::ProviderSource;
use groma_lang::oracle::{NothingExists, SchemaSource};
use groma_model::address::ResourceMode;
use groma_model::schema::{Attribute, Block, Schema};
use groma_model::ty::Type;

use super::{load_files, told};
use crate::check as check_rules;
use crate::replace::testing::sim_box;

/// One provider, with boxes and users.
pub(super) struct Simulator;

impl SchemaSource for Simulator {
    fn provider(&self, _: &ProviderSource) -> Option<Arc<Schema>> {
        Some(Arc::new(Schema { version: 0, block: Block::default() }))
    }

    fn resource(&self, _: &ProviderSource, mode: ResourceMode, kind: &str) -> Option<Arc<Schema>> {
        match (mode, kind) {
            (ResourceMode::Managed, "sim_box") => Some(Arc::new(sim_box().clone())),
            (ResourceMode::Managed, "sim_user" | "sim_link") => {
                let mut block = Block::default();
                block.attributes.insert("box_id".into(), Attribute::of_type(Type::String));
                Some(Arc::new(Schema { version: 0, block }))
            }
            _ => None,
        }
    }
}

fn check_file(text: &str, expected: &Expect) {
    let loaded = load_files(&[("a.groma.hcl", text)]);
    assert_eq!(told(&loaded.map, &loaded.found), "");
    let oracle = NothingExists(Simulator);
    let found = check_rules(&loaded.rules, &loaded.tree, &Simulator, &loaded.settings(&oracle));
    expected.assert_eq(&told(&loaded.map, &found));
}

fn check(contents: &str, expected: &Expect) {
    check_file(&format!("replace_rule \"r\" {{\n  resource = \"sim_box\"\n{contents}\n}}\n"), expected);
}

#[test]
fn fields_must_be_there() {
    check(
        "  field = \"nam\"",
        &expect![[r#"
        a.groma.hcl:3:12: No such field (GR1103)
            field = "nam"
                     ^^^
          There is no attribute or block "nam" in the resource. Did you mean "name"?
    "#]],
    );
    check(
        "  fields = [\"zone\", \"cfg[0].net.privat\"]",
        &expect![[r#"
        a.groma.hcl:3:32: No such field (GR1103)
            fields = ["zone", "cfg[0].net.privat"]
                                         ^^^^^^^
          There is no attribute or block "privat" in "cfg[0].net". Did you mean "private"?
    "#]],
    );
    check(
        "  predicate \"field_changed\" {\n    field = \"labels[\\\"env\\\"].x\"\n  }",
        &expect![[r#"
        a.groma.hcl:4:13: No such field (GR1103)
              field = "labels[\"env\"].x"
                      ^^^^^^^^^^^^^^^^^^^
          "labels[\"env\"]" has no parts. This is at offset 13 of the text.
    "#]],
    );
    check(
        "  field = \"nic[0].ip\"",
        &expect![[r#"
        a.groma.hcl:3:15: Index on a set (GR1106)
            field = "nic[0].ip"
                        ^^^
          "nic" is a set, whose elements have no index. Use [*] for all of them.
    "#]],
    );
    check("  field = \"blob.what.ever[3]\"", &expect![""]);
}

#[test]
fn values_must_fit_their_fields() {
    let with = |kind: &str, field: &str, more: &str| {
        format!("  predicate \"{kind}\" {{\n    field = \"{field}\"\n    {more}\n  }}")
    };
    check(&with("field_equals", "size", "values = [\"3\", 4, null]"), &expect![""]);
    check(&with("field_equals", "active", "value = \"true\""), &expect![""]);
    check(
        &with("field_equals", "size", "values = [1, \"abc\"]"),
        &expect![[r#"
        a.groma.hcl:5:18: Value does not fit the field (GR1104)
              values = [1, "abc"]
                           ^^^^^
          size is a number, and this value cannot be made one: a number is required.
    "#]],
    );
    check(
        &with("field_changed", "name", "threshold = 10"),
        &expect![[r#"
        a.groma.hcl:4:13: Bad threshold (GR1105)
              field = "name"
                      ^^^^^^
          A threshold is for numbers, and name is none.
    "#]],
    );
    check(
        &with("field_matches", "ports", "pattern = \"x\""),
        &expect![[r#"
        a.groma.hcl:4:13: Value does not fit the field (GR1104)
              field = "ports"
                      ^^^^^^^
          A pattern is for texts, numbers and bools, and ports is a list of number.
    "#]],
    );
    check(
        "  predicate \"state_check\" {\n    condition = old.nmae == \"x\"\n  }",
        &expect![[r#"
        a.groma.hcl:4:17: No such field (GR1103)
              condition = old.nmae == "x"
                          ^^^^^^^^
          There is no attribute or block "nmae" in the resource. Did you mean "name"?
    "#]],
    );
    check(
        "  predicate \"state_check\" {\n    condition = changed(\"zoen\")\n  }",
        &expect![[r#"
        a.groma.hcl:4:26: No such field (GR1103)
              condition = changed("zoen")
                                   ^^^^
          There is no attribute or block "zoen" in the resource. Did you mean "zone"?
    "#]],
    );
}

#[test]
fn a_mistake_in_a_condition_is_told_once() {
    let text = "condition \"c\" {\n  predicate \"field_changed\" {\n    field = \"nam\"\n  }\n}\n\
                replace_rule \"r\" {\n  resource = \"sim_box\"\n  use      = [\"c\"]\n}\n\
                replace_rule \"s\" {\n  resource = \"sim_box\"\n  use      = [\"c\"]\n}\n";
    check_file(
        text,
        &expect![[r#"
        a.groma.hcl:3:14: No such field (GR1103)
              field = "nam"
                       ^^^
          There is no attribute or block "nam" in the resource. Did you mean "name"?
    "#]],
    );
}

#[test]
fn a_rule_about_many_types_may_name_what_some_have() {
    check_file("replace_rule \"r\" {\n  resource = \"sim_*\"\n  field    = \"zone\"\n}\n", &expect![""]);
    check_file(
        "replace_rule \"r\" {\n  resource = \"sim_*\"\n  field    = \"zoen\"\n}\n",
        &expect![[r#"
        a.groma.hcl:3:15: No such field (GR1103)
            field    = "zoen"
                        ^^^^
          There is no attribute or block "zoen" in the resource. Did you mean "zone"?
    "#]],
    );
}

#[test]
fn attached_types_must_be_there() {
    let attached =
        |types: &str| format!("  predicate \"has_attached_resources\" {{\n    resource_types = [{types}]\n  }}");
    check(&attached("\"sim_user\", \"sim_link\", \"disk\", \"sim_*\""), &expect![""]);
    check(
        &attached("\"foo\""),
        &expect![[r#"
        a.groma.hcl:4:23: Unknown attachment type (GR1107)
              resource_types = ["foo"]
                                ^^^^^
          "foo" is neither a block or collection of sim_box, nor an "attachment" for it, nor a resource type of a provider of this configuration.
    "#]],
    );
    check_file(
        "attachment \"networkInterface\" {\n  types = [\"sim_user\"]\n}\nreplace_rule \"r\" {\n  resource = \"sim_box\"\n  predicate \
         \"resource_count\" {\n    resource_type = \"networkInterface\"\n    operator = \">\"\n    count = 0\n  }\n}\n",
        &expect![""],
    );
    check(
        "  predicate \"resource_count\" {\n    resource_type = \"sim_usr\"\n    operator = \">\"\n    count = 0\n  }",
        &expect![[r#"
            a.groma.hcl:4:21: Unknown attachment type (GR1107)
                  resource_type = "sim_usr"
                                  ^^^^^^^^^
              "sim_usr" is neither a block or collection of sim_box, nor an "attachment" for it, nor a resource type of a provider of this configuration.
        "#]],
    );
}

#[test]
fn blocks_of_attachments_are_those_of_their_resource() {
    let with = |resource: &str, block: &str| {
        format!(
            "attachment \"x\" {{\n  resource = \"{resource}\"\n  block    = \"{block}\"\n}}\nreplace_rule \"r\" {{\n  resource = \"sim_*\"\n  \
             predicate \"has_attached_resources\" {{\n    resource_types = [\"x\"]\n    via = \"auto\"\n  }}\n}}\n"
        )
    };
    check_file(&with("sim_box", "disk"), &expect![""]);
    check_file(
        &with("*", "dsk"),
        &expect![[r#"
        a.groma.hcl:3:15: No such field (GR1103)
            block    = "dsk"
                        ^^^
          There is no attribute or block "dsk" in the resource. Did you mean "disk"?
    "#]],
    );
}

#[test]
fn types_must_be_there() {
    check_file(
        "replace_rule \"r\" {\n  resource = \"sim_bx\"\n}\n",
        &expect![[r#"
        a.groma.hcl:2:14: No such resource type (GR1121)
            resource = "sim_bx"
                       ^^^^^^^^
          No provider of this configuration has resources of type "sim_bx". Mend the type, or name the provider that has it: a rule for a provider that is not used is left alone.
    "#]],
    );
    // There, and not declared.
    check_file(
        "replace_rule \"r\" {\n  resource = \"sim_link\"\n}\n",
        &expect![[r#"
        warning: a.groma.hcl:2:14: Rule matches nothing
            resource = "sim_link"
                       ^^^^^^^^^^
          No resource that is declared matches "sim_link". Addresses are relative to the module whose directory the file is in.
    "#]],
    );
    // For a provider that is not used here.
    check_file(
        "replace_rule \"r\" {\n  resource = \"aws_subnet\"\n  provider = \"hashicorp/aws\"\n}\n",
        &expect![[r#"
        warning: a.groma.hcl:2:14: Rule matches nothing
            resource = "aws_subnet"
                       ^^^^^^^^^^^^
          No resource that is declared matches "aws_subnet". Addresses are relative to the module whose directory the file is in.
    "#]],
    );
}
