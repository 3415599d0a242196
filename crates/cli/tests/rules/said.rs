//! What the commands about rules say, and who has a say in whether rules are heeded.

use expect_test::expect;
use serde_json::Value;

use crate::RELEASED;
use crate::sandbox::{Outcome, Sandbox};

const RULES: &str = r#"replace_rule "obeyed" {
  resource = "terraform_data"
  field    = "triggers_replace"
  behavior = "auto"
}

replace_rule "told" {
  resource = "terraform_data"
  field    = "input"
}

replace_rule "left-out" {
  resource = "terraform_data"
  behavior = "auto"
  order    = "create_first"
}
"#;

fn settings(mode: &str) -> String {
    format!("replace_settings {{\n  {mode}\n  disable_rules = [\"left-*\"]\n  catalogue     = false\n}}\n")
}

fn sandbox(rules: &str) -> Sandbox {
    Sandbox::new().file("main.tf", RELEASED).file("order.groma.hcl", rules)
}

fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {}", outcome.stdout))
}

#[test]
fn the_list_says_what_becomes_of_rules() {
    let listed = sandbox(RULES).file("settings.groma.hcl", &settings("mode = \"auto\"")).run(&["rules", "list"]);
    expect![[r#"
        RULE      RESOURCE        ORDER         BEHAVIOR  STATUS    FROM
        obeyed    terraform_data  delete_first  auto      obeyed    order.groma.hcl:1
        told      terraform_data  delete_first  warn      told      order.groma.hcl:7
        left-out  terraform_data  create_first  auto      disabled  order.groma.hcl:12

        The mode is auto: replace_settings says so.
    "#]]
    .assert_eq(&listed.stdout);
    let statuses = |sandbox: Sandbox| {
        let listed = json(&sandbox.run(&["rules", "list", "-json"]));
        let rules = listed["rules"].as_array().unwrap().clone();
        let statuses: Vec<String> = rules.iter().map(|rule| rule["status"].as_str().unwrap().to_owned()).collect();
        (
            format!("{} {}", listed["mode"].as_str().unwrap(), listed["mode_source"].as_str().unwrap()),
            statuses.join(" "),
        )
    };
    let with = |mode: &str| sandbox(RULES).file("settings.groma.hcl", &settings(mode));
    let expected = |mode: &str, statuses: &str| (mode.to_owned(), statuses.to_owned());
    assert_eq!(statuses(with("")), expected("warn default", "told told disabled"));
    assert_eq!(statuses(with("mode = \"off\"")), expected("off settings", "off off disabled"));
    let heard = with("mode = \"off\"").env("GROMA_REPLACE_RULES", "AUTO");
    assert_eq!(statuses(heard), expected("auto env", "obeyed told disabled"));
    let whole = json(&sandbox(RULES).run(&["rules", "list", "-json", "-type=terraform_data"]));
    assert_eq!(whole["rules"].as_array().unwrap().len(), 3);
    let first = &whole["rules"][0];
    assert_eq!([&first["id"], &first["status"], &first["place"]], ["obeyed", "told", "order.groma.hcl:1"]);
}

#[test]
fn hints_fail_only_where_that_is_wanted() {
    let hinted = RULES.replace("\"input\"", "\"input.0.a\"");
    for (rules, arguments, code) in [
        (RULES, &["rules", "lint", "-strict"][..], 0),
        (&hinted, &["rules", "lint"], 0),
        (&hinted, &["rules", "lint", "-strict"], 1),
        ("replace_rule \"x\" {\n}\n", &["rules", "lint"], 1),
    ] {
        let outcome = sandbox(rules).run(arguments);
        let all = outcome.stdout + &outcome.stderr;
        assert_eq!(outcome.code, code, "{all}");
        assert_eq!(all.contains("GR4002"), rules == hinted, "{all}");
        assert_eq!(all.contains("The rules are in order."), rules == RULES, "{all}");
    }
}

#[test]
fn documentation_is_for_machines_too() {
    let sandbox = sandbox(RULES);
    let docs = json(&sandbox.run(&["rules", "docs", "-format=json", "-type=terraform_data"]));
    let text = docs.to_string();
    assert!(["obeyed", "told", "left-out"].iter().all(|rule| text.contains(&format!("{rule:?}"))), "{docs:#}");
    let refused = sandbox.run(&["rules", "docs", "-format=yaml"]);
    assert_ne!(refused.code, 0);
}

#[test]
fn a_rule_that_is_not_there_is_not_explained() {
    let outcome = sandbox(RULES).run(&["explain", "rule", "obeye"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("No such rule"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("mean \"obeyed\"?"), "{}", outcome.stderr);
}

/// What is no mode is an error, wherever it stands, and not taken for `off`.
#[test]
fn bad_values_of_flags_and_variables_are_refused() {
    for (variable, value) in [
        ("GROMA_REPLACE_RULES", "on"),
        ("GROMA_EXPERIMENTAL_AUTO_DELETE_BEFORE_REPLACE", "yes"),
        ("PULUMI_EXPERIMENTAL_AUTO_DELETE_BEFORE_REPLACE", "2"),
    ] {
        for arguments in [&["plan"][..], &["rules", "list"]] {
            let outcome = sandbox(RULES).env(variable, value).run(arguments);
            assert_eq!(outcome.code, 1, "{variable} {arguments:?}: {}", outcome.stdout);
            assert!(outcome.stderr.contains("GR3001") && outcome.stderr.contains(variable), "{}", outcome.stderr);
        }
    }
    for flag in [
        "-replace-rules=on",
        "-replace-order=terraform_data.web",
        "-replace-order=terraform_data.web=first",
        "-replace-order=terraform_data.web[=delete_first",
        "-replace-order=data.local_file.web=delete_first",
        // It is not replaced.
        "-replace-order=terraform_data.web=delete_first",
    ] {
        let outcome = sandbox(RULES).run(&["plan", flag]);
        assert_eq!(outcome.code, 1, "{flag}: {}", outcome.stdout);
        let all = outcome.stdout + &outcome.stderr;
        assert!(all.contains("GR3001"), "{flag}: {all}");
        assert!(all.contains(&flag[..flag.find('=').unwrap()]), "{flag}: {all}");
    }
}

/// The command line, then the environment, then the root module.
#[test]
fn whoever_is_nearer_to_the_command_says_whether_rules_are_heeded() {
    for (mode, variable, flag, order, source) in [
        ("", None, None, "create_first", "default"),
        ("mode = \"auto\"", None, None, "delete_first", "settings"),
        ("mode = \"off\"", Some("auto"), None, "delete_first", "env"),
        ("mode = \"auto\"", Some("Warn"), None, "create_first", "env"),
        ("mode = \"auto\"", Some("warn"), Some("-replace-rules=AUTO"), "delete_first", "cli"),
        ("mode = \"auto\"", Some("auto"), Some("-replace-rules=warn"), "create_first", "cli"),
    ] {
        let mut sandbox = sandbox(RULES).file("settings.groma.hcl", &settings(mode));
        if let Some(value) = variable {
            sandbox = sandbox.env("GROMA_REPLACE_RULES", value);
        }
        assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 0);
        let arguments: Vec<&str> = ["plan", "-var=release=2", "-out=p"].into_iter().chain(flag).collect();
        let planned = sandbox.run(&arguments);
        assert_eq!(planned.code, 0, "{}", planned.stderr);
        let shown = json(&sandbox.run(&["show", "-json", "p"]));
        let decided = &shown["resource_changes"][0]["groma"]["replace_order"];
        assert_eq!(decided["order"], order, "{mode} {variable:?} {flag:?}");
        assert_eq!(shown["groma"]["replace_rules"]["mode_source"], source, "{mode} {variable:?} {flag:?}");
    }
}

/// Two that are both obeyed are an error with both places; two that warn are a warning with both.
#[test]
fn rules_that_disagree_are_named_with_their_places() {
    let rules = RULES.replace("left-out", "other");
    for (mode, code, number) in [("auto", 1, "GR2003"), ("warn", 0, "GR2002")] {
        let sandbox = sandbox(&rules);
        assert_eq!(sandbox.run(&["apply", "-auto-approve", "-replace-rules=off"]).code, 0);
        let outcome = sandbox.run(&["plan", "-var=release=2", &format!("-replace-rules={mode}")]);
        assert_eq!(outcome.code, code);
        let all = (outcome.stdout + &outcome.stderr).replace('\n', " ");
        assert!(all.contains(number), "{all}");
        for named in ["rule \"obeyed\", order.groma.hcl:1", "rule \"other\", order.groma.hcl:12"] {
            assert!(all.split_whitespace().collect::<Vec<_>>().join(" ").contains(named), "{all}");
        }
    }
}

/// Both what groma knows and what the author of the rule says.
#[test]
fn people_are_told_both_places_to_read_on() {
    let rules = RULES.replacen("behavior = \"auto\"", "learn_more = \"https://example.com/releases\"", 1);
    let sandbox = sandbox(&rules).file("settings.groma.hcl", &settings(""));
    assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 0);
    let outcome = sandbox.run(&["plan", "-var=release=2"]);
    assert!(outcome.stdout.contains("|- Learn more: groma explain rule obeyed\n"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("`- Learn more: https://example.com/releases\n"), "{}", outcome.stdout);
}
