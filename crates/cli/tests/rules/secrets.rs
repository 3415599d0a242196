//! Rules read what is sensitive, and nobody is told what they have read: not on the streams, not in logs, not in what is kept of a decision,
//! not where rules are tried. Plans hold the values as other tools' plans do; what is ours in them does not.

use serde_json::Value;

use crate::sandbox::{Outcome, Sandbox};

const OLD: &str = "zq7oldx9k";
const NEW: &str = "zq7newx9k";
const PIN: &str = "70707";
const NEXT_PIN: &str = "80808";
const CANARIES: [&str; 4] = [OLD, NEW, PIN, NEXT_PIN];

const CONFIG: &str = r#"
variable "secret" {
  sensitive = true
}

variable "pin" {
  type      = number
  sensitive = true
}

variable "shown" {}

resource "terraform_data" "text" {
  triggers_replace = var.secret
  lifecycle {
    create_before_destroy = true
  }
}

resource "terraform_data" "number" {
  triggers_replace = var.pin
  lifecycle {
    create_before_destroy = true
  }
}

resource "terraform_data" "map" {
  triggers_replace = { hidden = var.secret, shown = var.shown }
  lifecycle {
    create_before_destroy = true
  }
}

resource "local_sensitive_file" "file" {
  filename = "${path.module}/file.txt"
  content  = sha1(nonsensitive(var.secret))
  lifecycle {
    create_before_destroy = true
  }
}
"#;

const RULES: &str = r#"
replace_rule "changed" {
  resource = "terraform_data"
  predicate "field_changed" "changed" {
    field = "triggers_replace"
  }
}

replace_rule "equals" {
  resource = "terraform_data"
  target   = ["terraform_data.text"]
  predicate "field_equals" "is" {
    field = "triggers_replace"
    value = "zq7oldx9k"
  }
}

replace_rule "equals-allowed" {
  resource = "terraform_data"
  target   = ["terraform_data.text"]
  predicate "field_equals" "is" {
    field           = "triggers_replace"
    values          = ["zq7oldx9k", "zq7newx9k"]
    allow_sensitive = true
  }
}

replace_rule "matches-allowed" {
  resource = "terraform_data"
  target   = ["terraform_data.text"]
  predicate "field_matches" "is" {
    field           = "triggers_replace"
    pattern         = "^zq7oldx"
    allow_sensitive = true
  }
}

replace_rule "condition" {
  resource = "terraform_data"
  target   = ["terraform_data.text"]
  predicate "state_check" "long" {
    condition = length(old.triggers_replace) > 3
  }
}

replace_rule "threshold" {
  resource = "terraform_data"
  target   = ["terraform_data.number"]
  predicate "field_changed" "far" {
    field           = "triggers_replace"
    threshold       = 100
    allow_sensitive = true
  }
}

replace_rule "beside-a-secret" {
  resource = "terraform_data"
  target   = ["terraform_data.map"]
  predicate "field_changed" "shown" {
    field = "triggers_replace.shown"
  }
}

replace_rule "file" {
  resource = "local_sensitive_file"
  predicate "field_changed" "content" {
    field = "content"
  }
}
"#;

struct Place {
    sandbox: Sandbox,
}

impl Place {
    fn new() -> Self {
        let sandbox = Sandbox::new()
            .file("main.tf", CONFIG)
            .file("order.groma.hcl", RULES)
            .env("TF_LOG", "trace")
            .env("TF_LOG_PATH", "log")
            .env("TF_VAR_secret", OLD)
            .env("TF_VAR_pin", PIN)
            .env("TF_VAR_shown", "before");
        let first = sandbox.run(&["apply", "-auto-approve"]);
        assert_eq!(first.code, 0, "{}", first.stderr);
        let sandbox = sandbox.env("TF_VAR_secret", NEW).env("TF_VAR_pin", NEXT_PIN).env("TF_VAR_shown", "after");
        Self { sandbox }
    }

    /// Runs something that must not tell any of the secrets.
    fn run(&self, arguments: &[&str]) -> Outcome {
        let outcome = self.sandbox.run(arguments);
        for (name, text) in [("stdout", &outcome.stdout), ("stderr", &outcome.stderr)] {
            assert!(!tells(text), "{arguments:?} tells a secret on {name}: {text}");
        }
        outcome
    }
}

/// Whether a secret is in a text.
fn tells(text: &str) -> bool {
    CANARIES.iter().any(|canary| text.contains(canary))
}

/// All objects of ours in a document.
fn ours<'d>(document: &'d Value, found: &mut Vec<&'d Value>) {
    match document {
        Value::Object(entries) => {
            found.extend(entries.get("groma"));
            entries.values().for_each(|value| ours(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| ours(item, found)),
        _ => {}
    }
}

#[test]
fn nothing_tells_what_rules_have_read() {
    let place = Place::new();
    let planned = place.run(&["plan", "-out=p"]);
    assert_eq!(planned.code, 0, "{}", planned.stderr);
    assert!(planned.stdout.contains("(sensitive)"), "{}", planned.stdout);
    assert_eq!(place.run(&["plan", "-json"]).code, 0);
    assert_eq!(place.run(&["show", "p"]).code, 0);
    for name in ["terraform_data.text", "terraform_data.number", "terraform_data.map", "local_sensitive_file.file"] {
        assert_eq!(place.run(&["explain", "replace", name, "p"]).code, 0);
        assert_eq!(place.run(&["explain", "-json", "replace", name, "p"]).code, 0);
        assert_eq!(place.run(&["explain", "replace", name]).code, 0);
    }
    // The plan has the values, as everybody's do; what we have added has not.
    let shown = place.sandbox.run(&["show", "-json", "p"]).stdout;
    assert!(tells(&shown));
    let document: Value = serde_json::from_str(&shown).unwrap();
    let mut found = Vec::new();
    ours(&document, &mut found);
    assert_eq!(found.len(), 5, "four objects, and the plan");
    assert!(!found.iter().any(|ours| tells(&ours.to_string())));
    assert_eq!(place.run(&["apply", "-json", "p"]).code, 0);
    let log = place.sandbox.read("log");
    assert!(log.contains("groma::replace_order") && log.contains("(sensitive)"));
    assert!(!tells(&log), "the log tells a secret");
}

#[test]
fn what_may_not_be_asked_is_refused_with_its_place() {
    let place = Place::new();
    let planned = place.run(&["plan", "-out=p", "-consolidate-warnings=false"]);
    assert_eq!(planned.stdout.matches("(GR2005)").count(), 2, "{}", planned.stdout);
    // Of the condition, the very name that leads to the secret.
    assert!(planned.stdout.contains("condition = length(old.triggers_replace) > 3"), "{}", planned.stdout);
    let document: Value = serde_json::from_str(&place.sandbox.run(&["show", "-json", "p"]).stdout).unwrap();
    let changes = document["resource_changes"].as_array().unwrap();
    let rules = |address: &str| {
        let change = changes.iter().find(|change| change["address"] == *address).unwrap();
        change["groma"]["replace_order"]["rules"].as_array().unwrap().clone()
    };
    let result = |address: &str, id: &str| {
        let rule = rules(address).into_iter().find(|rule| rule["id"] == *id).unwrap();
        (rule["result"].as_str().unwrap().to_owned(), rule["tree"].clone())
    };
    let text = "terraform_data.text";
    assert_eq!(result(text, "equals").0, "error");
    assert_eq!(result(text, "condition").0, "error");
    for allowed in ["equals-allowed", "matches-allowed"] {
        let (found, tree) = result(text, allowed);
        assert_eq!(found, "true");
        assert!(tree.to_string().contains("(sensitive)"), "{tree}");
    }
    let (found, tree) = result("terraform_data.number", "threshold");
    assert_eq!(found, "true");
    assert!(!tree.to_string().contains("10101"), "the difference is told: {tree}");
    // What stands beside a secret is none.
    let (found, tree) = result("terraform_data.map", "beside-a-secret");
    assert_eq!(found, "true");
    assert!(tree.to_string().contains("before") && tree.to_string().contains("after"), "{tree}");
    assert!(result("local_sensitive_file.file", "file").1.to_string().contains("(sensitive)"));
}

#[test]
fn trying_rules_tells_nothing_either() {
    let place = Place::new();
    let cases = format!(
        "case \"wrong\" {{\n  resource = \"terraform_data.text\"\n  old = {{ triggers_replace = sensitive(\"{OLD}\") }}\n  new = {{ \
         triggers_replace = sensitive(\"{NEW}\") }}\n  order = \"none\"\n  rule \"changed\" {{\n    result = \"false\"\n    steps = []\n  }}\n  \
         rule \"equals\" {{\n    result = \"true\"\n  }}\n  rule \"equals-allowed\" {{\n    result = \"false\"\n    steps = []\n  }}\n}}\n"
    );
    let place = Place { sandbox: place.sandbox.file("c.hcl", &cases) };
    for arguments in [&["rules", "test", "c.hcl"][..], &["rules", "test", "-json", "c.hcl"]] {
        let outcome = place.run(arguments);
        assert_eq!(outcome.code, 1);
        assert!(outcome.stdout.contains("(sensitive)") && outcome.stdout.contains("GR2005"), "{}", outcome.stdout);
    }
    assert!(!tells(&place.sandbox.read("log")));
}
