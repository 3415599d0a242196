//! What `TF_LOG` tells about rules, and what the stream of an apply does.

use serde_json::Value;

use crate::RELEASED;
use crate::sandbox::Sandbox;

const RULES: &str = r#"
replace_rule "release-first" {
  resource = "terraform_data"
  field    = "triggers_replace"
  behavior = "auto"
  predicate "field_changed" "release" {
    field = "triggers_replace"
  }
}

replace_rule "never" {
  resource = "terraform_data"
  predicate "field_equals" "place" {
    field = "triggers_replace"
    value = "0"
  }
}
"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new().file("main.tf", RELEASED).file("order.groma.hcl", RULES);
    assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 0);
    sandbox
}

/// The events about rules in a log of JSON.
fn events(log: &str) -> Vec<Value> {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|event| event["target"] == "groma::replace_order").collect()
}

#[test]
fn every_rule_that_is_considered_is_logged() {
    let sandbox = sandbox().env("TF_LOG", "JSON").env("TF_LOG_PATH", "log");
    let outcome = sandbox.run(&["plan", "-var=release=2", "-replace-rules=auto"]);
    assert_eq!((outcome.code, outcome.stderr.contains("replace_order")), (0, false), "{}", outcome.stderr);
    let found = events(&sandbox.read("log"));
    let about = |rule: &str| found.iter().filter(|event| event["fields"]["rule"] == *rule).collect::<Vec<_>>();
    let [step, decided] = about("release-first")[..] else { panic!("{found:?}") };
    assert_eq!((&step["level"], &decided["level"]), (&"TRACE".into(), &"INFO".into()));
    let fields = &step["fields"];
    assert_eq!((&fields["predicate"], &fields["kind"]), (&"release".into(), &"field_changed".into()));
    assert_eq!((&fields["result"], &fields["step"]), (&"true".into(), &"\"1\" -> \"2\"".into()));
    let fields = &decided["fields"];
    let json = sandbox.run(&["plan", "-var=release=2", "-replace-rules=auto", "-out=p"]);
    assert_eq!(json.code, 0, "{}", json.stderr);
    let plan: Value = serde_json::from_str(&sandbox.run(&["show", "-json", "p"]).stdout).unwrap();
    for (name, value) in [
        ("address", "terraform_data.web"),
        ("layer", "root_rule"),
        ("mode", "auto"),
        ("mode_source", "cli"),
        ("result", "true"),
        ("status", "applied"),
        ("order", "delete_first"),
        ("forced_by", ""),
        ("digest", plan["groma"]["replace_rules"]["files"][0]["sha256"].as_str().unwrap()),
    ] {
        assert_eq!(fields[name], value, "{name}");
    }
    // What does not hold has been asked about, too.
    let [step, decided] = about("never")[..] else { panic!("{found:?}") };
    assert_eq!((&step["fields"]["result"], &decided["level"]), (&"false".into(), &"DEBUG".into()));
    assert_eq!(decided["fields"]["status"], "no_match");
}

#[test]
fn levels_are_heeded() {
    let count = |level: &str, mode: &str| {
        let sandbox = sandbox().env("TF_LOG", level);
        let outcome = sandbox.run(&["plan", "-var=release=2", &format!("-replace-rules={mode}")]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        outcome.stderr.lines().filter(|line| line.contains("groma::replace_order")).count()
    };
    // Two predicates and two rules; who is not obeyed is worth no more than a debugger's attention.
    let counts = ["trace", "debug", "info", "warn"].map(|level| ["off", "warn", "auto"].map(|mode| count(level, mode)));
    assert_eq!(counts, [[0, 4, 4], [0, 2, 2], [0, 0, 1], [0, 0, 0]]);
}

/// What a plan shows does not depend on who listens.
#[test]
fn listening_changes_nothing() {
    let sandbox = sandbox();
    let documents = || {
        assert_eq!(sandbox.run(&["plan", "-var=release=2", "-out=p"]).code, 0);
        let plan: Value = serde_json::from_str(&sandbox.run(&["show", "-json", "p"]).stdout).unwrap();
        (plan["groma"].clone(), plan["resource_changes"][0]["groma"].clone())
    };
    let quiet = documents();
    let sandbox = sandbox.env("TF_LOG", "trace").env("TF_LOG_PATH", "log");
    assert_eq!(sandbox.run(&["plan", "-var=release=2", "-out=p"]).code, 0);
    let plan: Value = serde_json::from_str(&sandbox.run(&["show", "-json", "p"]).stdout).unwrap();
    assert_eq!((plan["groma"].clone(), plan["resource_changes"][0]["groma"].clone()), quiet);
}

/// The stream of an apply is what is kept of it, so it has the decisions: also when the plan was made earlier.
#[test]
fn an_apply_repeats_what_was_decided() {
    let sandbox = sandbox();
    assert_eq!(sandbox.run(&["plan", "-var=release=2", "-replace-rules=auto", "-out=p"]).code, 0);
    let decided = |arguments: &[&str]| {
        let outcome = sandbox.run(arguments);
        assert_eq!(outcome.code, 0, "{}", outcome.stdout);
        let lines = outcome.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let decided: Vec<Value> = lines.filter(|line| line["type"] == "groma_replace_order").collect();
        assert_eq!(decided.len(), 1, "{arguments:?}");
        assert_eq!(decided[0]["address"], "terraform_data.web");
        let order = &decided[0]["replace_order"];
        assert_eq!((&order["order"], &order["status"]), (&"delete_first".into(), &"applied".into()));
        assert_eq!(order["decided_by"]["rule"], "release-first");
    };
    decided(&["apply", "-json", "p"]);
    decided(&["apply", "-json", "-auto-approve", "-var=release=3", "-replace-rules=auto"]);
    let silent = sandbox.run(&["apply", "-json", "-auto-approve", "-var=release=4", "-replace-rules=off"]);
    assert!(!silent.stdout.contains("groma_replace_order"), "{}", silent.stdout);
}
