//! The JSON syntax says the same as the native one.

use super::{load_files, told};

/// All rules, but for where they stand.
fn without_places(name: &str, text: &str) -> String {
    let loaded = load_files(&[(name, text)]);
    assert_eq!(told(&loaded.map, &loaded.found), "");
    let rules = &loaded.rules.replace;
    assert!(!rules.is_empty());
    let debug = format!("{:?} {:?} {:?}", rules.rules(), rules.settings, rules.attachments);
    regex::Regex::new(r"Span \{[^}]*\}").unwrap().replace_all(&debug, "Span").into_owned()
}

#[test]
fn both_syntaxes_make_the_same_rules() {
    let native = r#"
attachment "disk" {
  block     = "disk"
  exclusive = ["source"]
}
condition "grown" {
  predicate "field_changed" "size" {
    field     = "size"
    threshold = "10%"
  }
}
replace_rule "boxes" {
  resource    = "sim_box"
  fields      = ["name", "labels[\"env\"]"]
  target      = ["sim_box.a"]
  order       = "create_first"
  behavior    = "auto"
  on_unknown  = "match"
  suggestions = ["a", "b"]
  use         = ["grown"]
  expr        = "(A OR B) AND disks AND grown AND g"
  predicate "field_equals" {
    field  = "zone"
    values = ["a", null]
  }
  predicate "field_equals" {
    field = "size"
    value = 3
  }
  predicate "has_attached_resources" "disks" {
    resource_types  = ["disk"]
    check_conflicts = true
  }
  group "g" {
    logic = "NOT"
    predicate "state_check" "s" {
      condition = old.size > 10
    }
  }
}
replace_settings {
  mode = "auto"
}
"#;
    let json = r#"{
  "attachment": {"disk": {"block": "disk", "exclusive": ["source"]}},
  "condition": {"grown": {"predicate": {"field_changed": {"size": {"field": "size", "threshold": "10%"}}}}},
  "replace_rule": {"boxes": {
    "//": "a comment",
    "resource": "sim_box",
    "fields": ["name", "labels[\"env\"]"],
    "target": ["sim_box.a"],
    "order": "create_first",
    "behavior": "auto",
    "on_unknown": "match",
    "suggestions": ["a", "b"],
    "use": ["grown"],
    "expr": "(A OR B) AND disks AND grown AND g",
    "predicate": [
      {"field_equals": [{"field": "zone", "values": ["a", null]}, {"field": "size", "value": 3}]},
      {"has_attached_resources": {"disks": {"resource_types": ["disk"], "check_conflicts": true}}}
    ],
    "group": {"g": {"logic": "NOT", "predicate": {"state_check": {"s": {"condition": "${old.size > 10}"}}}}}
  }},
  "replace_settings": {"mode": "auto"}
}"#;
    assert_eq!(without_places("a.groma.hcl", native), without_places("a.groma.json", json));
}

#[test]
fn camel_case_is_another_spelling() {
    let snake = "replace_rule \"r\" {\n resource = \"sim_box\"\n predicate \"has_attached_resources\" {\n resource_types = [\"disk\"]\n \
                 check_conflicts = true\n minimum_count = 2\n maximum_count = 3\n}\n predicate \"field_changed\" {\n field = \"ports\"\n \
                 ignore_order = true\n allow_sensitive = true\n}\n predicate \"resource_count\" {\n resource_type = \"sim_user\"\n operator = \
                 \">=\"\n count = 2\n}\n predicate \"field_equals\" {\n field = \"name\"\n value = \"x\"\n}\n predicate \"field_matches\" {\n \
                 field = \"name\"\n pattern = \"x\"\n case_insensitive = true\n}\n predicate \"state_check\" {\n condition = true\n}\n}\n";
    let pairs = [
        ("has_attached_resources", "hasAttachedResources"),
        ("resource_types", "resourceTypes"),
        ("check_conflicts", "checkConflicts"),
        ("minimum_count", "minimumCount"),
        ("maximum_count", "maximumCount"),
        ("field_changed", "fieldChanged"),
        ("ignore_order", "ignoreOrder"),
        ("allow_sensitive", "allowSensitive"),
        ("resource_count", "resourceCount"),
        ("resource_type", "resourceType"),
        ("field_equals", "fieldEquals"),
        ("field_matches", "fieldMatches"),
        ("case_insensitive", "caseInsensitive"),
        ("state_check", "stateCheck"),
    ];
    let camel = pairs.iter().fold(snake.to_owned(), |text, (snake, camel)| text.replace(snake, camel));
    assert!(!camel.contains("_changed"));
    assert_eq!(without_places("a.groma.hcl", snake), without_places("a.groma.hcl", &camel));
}
