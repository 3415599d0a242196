//! What the blocks mean: the examples of the documentation, and the forms that conditions can have.

use expect_test::expect;
use groma_model::address::Provider;

use super::{condition, load_files, rules, shown, told};
use crate::replace::ReplaceRules;
use crate::replace::rule::{Behavior, Mode, OnError, OnUnknown, Order, Origin, ReplaceRule};
use crate::tests::instance;

const PRIVATE_NODES: &str = r#"
attachment "networkInterface" {
  resource = "google_container_cluster"
  types    = ["google_container_node_pool"]
  identity = ["name", "id"]
}
replace_rule "gke-private-nodes" {
  resource = "google_container_cluster"
  field    = "private_cluster_config[0].enable_private_nodes"
  order    = "delete_first"
  behavior = "warn"
  logic    = "AND"
  predicate "has_attached_resources" "nics" {
    resource_types  = ["networkInterface"]
    check_conflicts = true
    description     = "Network interfaces that cannot be shared"
  }
  predicate "field_changed" "changed" {
    field       = "private_cluster_config[0].enable_private_nodes"
    description = "Private nodes setting is changing"
  }
  reasoning = "Private node changes may conflict with attached network interfaces"
}
"#;

const ROOT_PASS: &str = r#"
replace_rule "linode-root-pass" {
  resource = "linode_instance"
  field    = "root_pass"
  expr     = "A AND NOT B"
  behavior = "auto"
  predicate "field_equals" {
    field       = "type"
    values      = ["g6-standard-1", "g6-standard-2"]
    description = "Instance type requires special handling"
  }
  predicate "field_changed" {
    field       = "label"
    against     = "create"
    description = "Label changes, so no clash"
  }
  reasoning   = "Labels are unique per account: the old instance must go first"
  suggestions = ["Give the replacement another label"]
}
"#;

const TARGET_GROUPS: &str = r#"
condition "same-name" {
  logic = "NOT"
  predicate "field_changed" "n" {
    field   = "name"
    against = "create"
  }
}
condition "held" {
  predicate "has_attached_resources" "listeners" {
    resource_types  = ["aws_lb_listener", "aws_lb_listener_rule"]
    check_conflicts = true
  }
}
replace_rule "tg-in-use" {
  resource  = "aws_lb_target_group"
  order     = "create_first"
  behavior  = "auto"
  use       = ["held", "same-name"]
  expr      = "held AND NOT same-name"
  reasoning = "A listener still uses the old target group"
}
replace_rule "tg-name-clash" {
  resource  = "aws_lb_target_group"
  fields    = ["port", "protocol", "target_type"]
  order     = "delete_first"
  behavior  = "auto"
  use       = ["held", "same-name"]
  expr      = "same-name AND NOT held"
  reasoning = "Target group names are unique"
}
"#;

fn described(rule: &ReplaceRule) -> String {
    let fields: Vec<String> = rule.fields.iter().map(ToString::to_string).collect();
    let logic = rule.logic.as_ref().map(shown).unwrap_or_default();
    format!(
        "{} {} {:?} {} {:?} {logic} {:?} {:?}\n",
        rule.id,
        rule.resource.as_str(),
        fields,
        rule.order.name(),
        rule.behavior,
        rule.reasoning,
        rule.suggestions
    )
}

fn all_described(rules: &ReplaceRules) -> String {
    rules.rules().iter().map(|rule| described(rule)).collect()
}

#[test]
fn the_examples_of_the_documentation_are_understood() {
    let expected = expect![[r#"
        gke-private-nodes google_container_cluster ["private_cluster_config[0].enable_private_nodes"] delete_first Warn (all nics=has_attached_resources changed=field_changed) Some("Private node changes may conflict with attached network interfaces") []
        linode-root-pass linode_instance ["root_pass"] delete_first Auto (all A=field_equals (none B=field_changed)) Some("Labels are unique per account: the old instance must go first") ["Give the replacement another label"]
        tg-in-use aws_lb_target_group [] create_first Auto (all held:(all listeners=has_attached_resources) (none same-name:(none n=field_changed))) Some("A listener still uses the old target group") []
        tg-name-clash aws_lb_target_group ["port", "protocol", "target_type"] delete_first Auto (all same-name:(none n=field_changed) (none held:(all listeners=has_attached_resources))) Some("Target group names are unique") []
    "#]];
    expected.assert_eq(&[PRIVATE_NODES, ROOT_PASS, TARGET_GROUPS].map(|text| all_described(&rules(text))).concat());
    let attachments = rules(PRIVATE_NODES).attachments;
    let attachment = &attachments.values().next().unwrap()[0];
    assert_eq!(attachment.alias, "networkInterface");
    assert_eq!(attachment.identity, ["name", "id"]);
}

#[test]
fn a_rule_without_predicates_holds_whenever_it_is_considered() {
    let rules = rules("replace_rule \"r\" {\n resource = \"sim_box\"\n field = \"name\"\n}\n");
    let rule = &rules.rules()[0];
    assert!(rule.logic.is_none());
    assert_eq!((rule.order, rule.behavior), (Order::DeleteFirst, Behavior::Warn));
    assert_eq!((rule.on_unknown, rule.on_error, rule.origin), (None, None, Origin::Root));
}

#[test]
fn what_is_null_is_not_there() {
    let text = r#"
replace_rule "r" {
  resource = "sim_box"
  field    = "name"
  fields   = null
  logic    = null
  expr     = "A"
  order    = null
  predicate "field_equals" {
    field  = "zone"
    value  = null
    values = null
  }
}
replace_rule "s" {
  resource = "sim_box"
  logic    = null
}
"#;
    let rules = rules(text);
    assert_eq!(shown(rules.rules()[0].logic.as_ref().unwrap()), "A=field_equals");
    assert!(rules.rules()[1].logic.is_none());
}

#[test]
fn predicates_are_joined() {
    let one = "predicate \"field_changed\" { field = \"name\" }\n";
    let with = |join: &str, predicates: &str| {
        condition(&format!("replace_rule \"r\" {{\n resource = \"sim_box\"\n {join}\n {predicates}\n}}\n"))
    };
    let three = one.repeat(3);
    assert_eq!(with("", one), "(all A=field_changed)");
    assert_eq!(with("logic = \"AND\"", &three), "(all A=field_changed B=field_changed C=field_changed)");
    assert_eq!(with("logic = \"OR\"", &three), "(any A=field_changed B=field_changed C=field_changed)");
    assert_eq!(with("logic = \"NOT\"", &three), "(none A=field_changed B=field_changed C=field_changed)");
    assert_eq!(
        with("expr = \"(A AND B) OR C\"", &three),
        "(any (all A=field_changed B=field_changed) C=field_changed)"
    );
    assert_eq!(
        with("expr = \"A OR B AND NOT C\"", &three),
        "(any A=field_changed (all B=field_changed (none C=field_changed)))"
    );
    assert_eq!(
        with("expr = \"A && (B || !C) && TRUE\"", &three),
        "(all A=field_changed (any B=field_changed (none C=field_changed)) true)"
    );
    // The twenty-eighth one is AB.
    assert!(with("logic = \"AND\"", &one.repeat(28)).ends_with("Z=field_changed AA=field_changed AB=field_changed)"));
}

#[test]
fn groups_and_conditions_stand_in_each_other() {
    let text = r#"
replace_rule "r" {
  resource = "sim_box"
  expr     = "g AND NOT later"
  use      = ["later"]
  group "g" {
    logic       = "OR"
    description = "either"
    predicate "field_changed" { field = "name" }
    group "inner" {
      use = ["deep"]
      predicate "fieldChanged" "own" { field = "zone" }
    }
  }
}
condition "later" {
  use  = ["deep"]
  expr = "deep"
}
condition "deep" {
  predicate "field_changed" "x" { field = "size" }
}
"#;
    assert_eq!(
        condition(text),
        "(all g:(any A=field_changed inner:(all own=field_changed deep:(all x=field_changed))) \
         (none later:deep:(all x=field_changed)))"
    );
}

#[test]
fn settings_are_those_of_the_root() {
    let text = "replace_settings {\n mode = \"auto\"\n catalogue = false\n disable_rules = [\"aws.*\"]\n on_unknown = \"no_match\"\n \
                on_error = \"fail\"\n}\n";
    let settings = rules(text).settings;
    assert_eq!((settings.mode, settings.catalogue), (Some(Mode::Auto), Some(false)));
    assert_eq!((settings.on_unknown, settings.on_error), (OnUnknown::NoMatch, OnError::Fail));
    assert!(settings.disable_rules[0].matches("aws.subnet"));
    assert_eq!(rules("").settings.mode, None);
}

#[test]
fn rules_are_found_by_the_instances_that_they_are_about() {
    let root = r#"
replace_rule "type" { resource = "sim_box" }
replace_rule "glob" { resource = "sim_*" }
replace_rule "target" {
  resource = "sim_box"
  target   = ["sim_box.b[1]", "module.m.sim_box.*"]
}
replace_rule "provider" {
  resource = "sim_box"
  provider = "acme/sim"
}
"#;
    let module = "replace_rule \"module\" { resource = \"sim_box\" }\n";
    let loaded = load_files(&[("a.groma.hcl", root), ("m/b.groma.hcl", module)]);
    assert_eq!(told(&loaded.map, &loaded.found), "");
    let rules = &loaded.rules.replace;
    let about = |address: &str, source: &str| {
        let provider = Provider::parse_source(source).unwrap();
        let found: Vec<String> = rules.about(&instance(address), &provider).map(|rule| rule.id.to_string()).collect();
        found.join(" ")
    };
    assert_eq!(about("sim_box.a", "sim"), "type glob");
    assert_eq!(about("sim_box.a", "acme/sim"), "type glob provider");
    // The other public registry has the same providers.
    assert_eq!(about("sim_box.a", "registry.terraform.io/acme/sim"), "type glob provider");
    assert_eq!(about("sim_box.b[0]", "sim"), "type glob");
    assert_eq!(about("sim_box.b[1]", "sim"), "type glob target");
    assert_eq!(about("module.m.sim_box.inner", "sim"), "type glob target module");
    assert_eq!(about("module.m[\"k\"].sim_box.inner", "sim"), "type glob target module");
    assert_eq!(about("sim_user.u", "sim"), "glob");
    assert_eq!(about("other.x", "sim"), "");
    let origins: Vec<Origin> = rules.rules().iter().map(|rule| rule.origin).collect();
    assert_eq!(origins, [Origin::Root, Origin::Root, Origin::Root, Origin::Root, Origin::Module]);
}

#[test]
fn files_are_named_with_their_digests() {
    let text = "replace_rule \"r\" { resource = \"sim_box\" }\n";
    let waits = "wait \"sim_box\" {\n until = true\n}\n";
    let loaded = load_files(&[
        ("b.groma.hcl", text),
        ("a.groma.hcl", waits),
        ("m/c.groma.json", "{\"replace_rule\": {\"s\": {\"resource\": \"sim_box\"}}}"),
    ]);
    assert_eq!(told(&loaded.map, &loaded.found), "");
    let files = loaded.rules.replace.files.iter().map(|file| format!("{} {}\n", file.path, file.sha256));
    let files = files.collect::<Vec<_>>().concat();
    expect![[r#"
        b.groma.hcl 1047a9c4afd3d7720485291251b57458e566784d661aadd84083b3483f9d268f
        m/c.groma.json bae976fc92efbda9e6c33b2ca9dfea741dfac45e9c1f01dcac6feb3bb36a8515
    "#]]
    .assert_eq(&files);
}

#[test]
fn what_people_read_cannot_do_anything_to_a_terminal() {
    let text = r#"
replace_rule "r" {
  resource    = "sim_box"
  reasoning   = "red \u001b[31mtext\nand more"
  suggestions = ["a\u0007b"]
  predicate "field_changed" {
    field       = "name"
    description = "\u001b[2Jgone"
  }
}
"#;
    let rules = rules(text);
    let rule = &rules.rules()[0];
    assert_eq!(rule.reasoning.as_deref(), Some("red text and more"));
    assert_eq!(rule.suggestions, ["ab"]);
    assert!(!format!("{rule:?}").contains("\\u{1b}"));
}
