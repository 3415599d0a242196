//! What is ours in the JSON of a plan is as the schema says that we publish.

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const SCHEMA: &str = include_str!("../../../../docs/book/src/schema/groma-plan.schema.json");

const CONFIG: &str = r#"
variable "release" {
  default = "1"
}

resource "terraform_data" "base" {
  triggers_replace = { release = var.release, ports = [1, 2] }

  lifecycle {
    create_before_destroy = true
  }
}

resource "terraform_data" "user" {
  triggers_replace = terraform_data.base.id

  lifecycle {
    create_before_destroy = true
  }
}

resource "local_file" "file" {
  filename = "${path.module}/a.txt"
  content  = var.release

  lifecycle {
    create_before_destroy = true
  }
}
"#;

/// Every kind of predicate, every operator, and something of every result.
const RULES: &str = r#"
condition "shared" {
  logic = "OR"
  predicate "field_matches" "old-one" {
    field = "triggers_replace.release"
    glob  = "1"
  }
  predicate "resource_count" "alone" {
    resource_type = "terraform_data"
    operator      = "<"
    count         = 5
    via           = "siblings"
  }
}

replace_rule "base" {
  resource = "terraform_data"
  target   = ["terraform_data.base"]
  behavior = "auto"
  use      = ["shared"]
  expr     = "(changed AND NOT same) OR (shared AND TRUE) OR used OR checked"
  predicate "field_changed" "changed" {
    field       = "triggers_replace"
    description = "The release is another one"
  }
  predicate "field_equals" "same" {
    field = "triggers_replace.release"
    value = "7"
  }
  predicate "has_attached_resources" "used" {
    resource_types  = ["terraform_data"]
    check_conflicts = true
  }
  predicate "state_check" "checked" {
    condition = old.triggers_replace.release == "1"
  }
  reasoning   = "Because"
  suggestions = ["Do not"]
}

replace_rule "user" {
  resource = "terraform_data"
  target   = ["terraform_data.user"]
  order    = "create_first"
  behavior = "auto"
}

replace_rule "unknown" {
  resource = "terraform_data"
  target   = ["terraform_data.user"]
  predicate "field_equals" "id" {
    field = "triggers_replace"
    value = "x"
    on    = "new"
  }
}

replace_rule "error" {
  resource = "terraform_data"
  predicate "state_check" "wrong" {
    condition = 1 / (length(old.id) - length(old.id)) > 0
  }
}
"#;

/// Checks documents by the schema.
struct Published {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Published {
    fn new() -> Self {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        compiler.add_resource("groma-plan.schema.json", schema).unwrap();
        let index = compiler.compile("groma-plan.schema.json", &mut schemas).unwrap();
        Self { schemas, index }
    }

    fn check(&self, document: &Value) -> Result<(), String> {
        self.schemas.validate(document, self.index).map_err(|problem| format!("{problem:#}"))
    }
}

#[test]
fn plans_are_as_published() {
    let published = Published::new();
    let sandbox = Sandbox::new().file("main.tf", CONFIG).file("order.groma.hcl", RULES);
    assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 0);
    let mut statuses = std::collections::BTreeSet::new();
    for arguments in [
        &["-replace-rules=off"][..],
        &["-replace-rules=warn"],
        &["-replace-rules=auto"],
        &["-replace-rules=auto", "-replace-order=terraform_data.base=create_first"],
        &["-destroy"],
        &["-refresh-only"],
    ] {
        let planned = sandbox.run(&[&["plan", "-var=release=2", "-out=p"], arguments].concat());
        // Orders that exclude each other make no plan.
        if planned.code != 0 {
            assert!(planned.stderr.contains("GR2001"), "{arguments:?}: {}", planned.stderr);
            continue;
        }
        let document: Value = serde_json::from_str(&sandbox.run(&["show", "-json", "p"]).stdout).unwrap();
        published.check(&document).unwrap_or_else(|problem| panic!("{arguments:?}: {problem}"));
        let is_off = arguments == ["-replace-rules=off"];
        let changes = document["resource_changes"].as_array().into_iter().flatten();
        for change in changes {
            let rules = change["groma"]["replace_order"]["rules"].as_array();
            assert!(!is_off || change.get("groma").is_none(), "{change}");
            statuses.extend(rules.into_iter().flatten().map(|rule| rule["status"].as_str().unwrap().to_owned()));
        }
        assert_eq!(document["groma"].get("replace_rules").is_none(), is_off, "{arguments:?}");
    }
    for status in ["applied", "recommended", "satisfied", "unknown", "error"] {
        assert!(statuses.contains(status), "no rule was {status}: {statuses:?}");
    }
}

/// A schema that everything fits would say nothing.
#[test]
fn the_schema_refuses_what_we_do_not_write() {
    let published = Published::new();
    let rule = json!({
        "id": "r", "layer": "catalogue", "order": "delete_first", "behavior": "auto", "field": null, "result": "true", "status": "applied",
        "matched": [], "tree": { "kind": "field_changed", "result": "true", "steps": [] }, "reasoning": [], "suggestions": [], "learn_more": "x",
    });
    let document = |edit: &dyn Fn(&mut Value)| {
        let mut document = json!({
            "format_version": "1.2",
            "groma": { "version": "0.1.0", "mode": "normal", "execution": {} },
            "resource_changes": [{ "address": "a.b", "change": {}, "groma": { "replace_order": {
                "order": "delete_first", "status": "applied", "decided_by": { "layer": "catalogue" }, "forced_by": [], "demotes": [],
                "without_rules": "create_first", "rules": [rule], "warnings": [],
            } } }],
        });
        edit(&mut document["resource_changes"][0]["groma"]["replace_order"]);
        published.check(&document)
    };
    document(&|_| {}).unwrap();
    let wrong: [&dyn Fn(&mut Value); 7] = [
        &|order| order["order"] = "sideways".into(),
        &|order| order["surprise"] = 1.into(),
        &|order| order["decided_by"] = json!({}),
        &|order| order["rules"][0]["status"] = "told".into(),
        &|order| order["rules"][0]["tree"]["steps"] = json!([1]),
        &|order| order["rules"][0]["tree"] = json!({ "result": "true" }),
        &|order| drop(order.as_object_mut().unwrap().remove("rules")),
    ];
    for (at, edit) in wrong.iter().enumerate() {
        assert!(document(edit).is_err(), "{at}");
    }
}
