//! `groma rules test`.

use expect_test::expect;
use serde_json::Value;

use crate::sandbox::Sandbox;

const CONFIG: &str = "resource \"local_file\" \"a\" {\n  filename = \"a.txt\"\n}\n";

const RULES: &str = r#"
replace_rule "box-name" {
  resource = "sim_box"
  fields   = ["name", "size"]
  logic    = "NOT"
  predicate "field_changed" "renamed" {
    field   = "name"
    against = "create"
  }
}

replace_rule "box-in-use" {
  resource = "sim_box"
  order    = "create_first"
  predicate "has_attached_resources" "users" {
    resource_types  = ["sim_user"]
    check_conflicts = true
  }
}

replace_rule "box-secret" {
  resource = "sim_box"
  field    = "secret"
  predicate "field_changed" "secret" {
    field = "secret"
  }
}
"#;

fn sandbox(cases: &str) -> Sandbox {
    Sandbox::new().file("main.tf", CONFIG).file("order.groma.hcl", RULES).file("boxes.test.hcl", cases)
}

const CASES: &str = r#"
case "the same name, another size" {
  resource   = "sim_box.web"
  old        = { name = "web", size = 1 }
  new        = { name = "web", size = 2 }
  dependents = {}
  order      = "delete_first"

  rule "box-name" {
    result  = true
    matched = []
    steps   = ["\"web\", unchanged"]
  }
}

case "another name, and somebody uses it" {
  resource   = "sim_box.web"
  old        = { name = "web" }
  new        = { name = "web2" }
  dependents = { "sim_user.a" = "update", "sim_user.b" = "delete", "other.c" = "update" }
  order      = "create_first"

  rule "box-in-use" {
    matched = ["users"]
  }
}

case "who uses it is not known" {
  resource = "sim_box"
  old      = { name = "web" }
  new      = { name = "web2" }
  order    = "unknown"

  rule "box-in-use" {
    result = "unknown"
    steps  = ["attachment data unavailable"]
  }
}

case "a name that is not known yet" {
  resource   = "sim_box"
  old        = { name = "web", size = 1 }
  new        = { name = "(known after apply)", size = 1 }
  dependents = {}
  rule "box-name" { result = "unknown" }
}

case "a name that the provider chooses" {
  resource   = "sim_box"
  old        = { name = "web-1", size = 1 }
  new        = { name = "(generated)", size = 2 }
  dependents = {}
  rule "box-name" { result = "false" }
}

case "another cause" {
  resource = "sim_box"
  old      = { name = "web" }
  new      = { name = "web" }
  meta     = { replace_paths = ["zone"] }
  rule "box-name" { result = "not_applicable" }
}

case "what the catalogue knows" {
  resource = "local_file.a"
  old      = { filename = "a.txt", content = "x" }
  new      = { filename = "a.txt", content = "y" }
  order    = "delete_first"
  rule "local.file" { result = "true" }
}
"#;

#[test]
fn rules_that_say_what_is_expected() {
    let sandbox = sandbox(CASES);
    let expected = expect![[r#"
        exit code 0
        ----- stdout
        pass  boxes.test.hcl:2: the same name, another size
        pass  boxes.test.hcl:16: another name, and somebody uses it
        pass  boxes.test.hcl:28: who uses it is not known
        pass  boxes.test.hcl:40: a name that is not known yet
        pass  boxes.test.hcl:48: a name that the provider chooses
        pass  boxes.test.hcl:56: another cause
        pass  boxes.test.hcl:64: what the catalogue knows

        7 passed, 0 failed.
    "#]];
    sandbox.run(&["rules", "test", "boxes.test.hcl"]).is(expected);
}

#[test]
fn what_is_not_as_expected_is_shown() {
    let cases = r#"
case "all wrong" {
  resource   = "sim_box.web"
  old        = { name = "web", size = 1 }
  new        = { name = "web", size = 2 }
  dependents = { "sim_user.a" = "update" }
  order      = "delete_first"

  rule "box-name" {
    result  = "false"
    matched = ["renamed"]
    steps   = ["\"web\" -> \"other\"", "and more"]
  }
  rule "box-nmae" { result = "true" }
  rule "local.file" { result = "true" }
}
"#;
    let expected = expect![[r#"
        exit code 1
        ----- stdout
        fail  boxes.test.hcl:2: all wrong
              |- order: expected delete_first, found no_safe_order
              |- rule box-name (line 9)
              |  |- result: expected false, found true
              |  |- matched
              |  |  |- expected
              |  |  |  `- renamed
              |  |  `- found: nothing
              |  `- steps
              |     |- expected
              |     |  |- "web" -> "other"
              |     |  `- and more
              |     `- found
              |        `- "web", unchanged
              |- rule box-nmae (line 14)
              |  `- rule: expected a rule named "box-nmae", found there is no such rule (did you mean "box-name"?)
              `- rule local.file (line 15)
                 `- rule: expected a rule named "local.file", found it is not about sim_box.web, or it is disabled

        0 passed, 1 failed.
    "#]];
    let sandbox = sandbox(cases);
    sandbox.run(&["rules", "test", "boxes.test.hcl"]).is(expected);
    let expected = expect![[r#"
        exit code 1
        ----- stdout
        fail  boxes.test.hcl:2: all wrong
              ├─ order: expected delete_first, found no_safe_order
              ├─ rule box-name (line 9)
              │  ├─ result: expected false, found true
              │  ├─ matched
              │  │  ├─ expected
              │  │  │  └─ renamed
              │  │  └─ found: nothing
              │  └─ steps
              │     ├─ expected
              │     │  ├─ "web" -> "other"
              │     │  └─ and more
              │     └─ found
              │        └─ "web", unchanged
              ├─ rule box-nmae (line 14)
              │  └─ rule: expected a rule named "box-nmae", found there is no such rule (did you mean "box-name"?)
              └─ rule local.file (line 15)
                 └─ rule: expected a rule named "local.file", found it is not about sim_box.web, or it is disabled

        0 passed, 1 failed.
    "#]];
    let sandbox = sandbox.env("LANG", "en_GB.UTF-8");
    sandbox.run(&["rules", "test", "boxes.test.hcl"]).is(expected);
}

#[test]
fn machines_are_told_the_same() {
    let sandbox = sandbox(CASES);
    let outcome = sandbox.run(&["rules", "test", "-json", "boxes.test.hcl"]);
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    assert_eq!((&json["passed"], &json["failed"]), (&7.into(), &0.into()));
    let case = &json["cases"][0];
    assert_eq!((&case["file"], &case["line"], &case["column"]), (&"boxes.test.hcl".into(), &2.into(), &6.into()));
    assert_eq!(case["rules"][0]["tree"]["children"][0]["steps"][0], "\"web\", unchanged");
    let wrong = CASES.replacen("delete_first", "create_first", 1);
    let outcome = sandbox.file("boxes.test.hcl", &wrong).run(&["rules", "test", "-json", "boxes.test.hcl"]);
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((outcome.code, &json["failed"]), (1, &1.into()));
    let difference = &json["cases"][0]["differences"][0];
    assert_eq!(difference["what"], "order");
    assert_eq!((&difference["expected"][0], &difference["found"][0]), (&"create_first".into(), &"delete_first".into()));
}

/// Both syntaxes say the same.
#[test]
fn cases_can_be_json() {
    let cases = r#"{"case": {"the same name": {
      "resource": "sim_box", "old": {"name": "web", "size": 1}, "new": {"name": "web", "size": 2}, "dependents": {},
      "order": "delete_first", "rule": {"box-name": {"result": true}}
    }}}"#;
    let outcome = sandbox("").file("boxes.json", cases).run(&["rules", "test", "boxes.json"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{}", outcome.stdout);
    assert!(outcome.stdout.ends_with("\n1 passed, 0 failed.\n"), "{}", outcome.stdout);
}

#[test]
fn mistakes_in_files_are_told_with_their_places() {
    let cases = r#"
case "a" {
  resource = "sim_box..x"
  old      = { name = var.name }
  new      = "text"
  order    = "sideways"
  rules    = []
}

case "a" {
  resource = "sim_box"
}

case "b" {
  resource   = "data.sim_box.x"
  old        = { name = file("secret") }
  new        = {}
  meta       = { provder = "x", replace_reason = "because" }
  dependents = { "sim_user.a" = "sleep" }
}

case "good" {
  resource   = "sim_box"
  old        = { name = "web", size = 1 }
  new        = { name = "web", size = 2 }
  dependents = {}
  order      = "delete_first"
}
"#;
    let expected = expect![[r#"
        exit code 1
        ----- stdout
        pass  boxes.test.hcl:22: good

        1 passed, 0 failed.
        ----- stderr

        Error: Unsupported argument

          on boxes.test.hcl line 7, in case "a":
           7:   rules    = []

        An argument named "rules" is not expected here.

        Error: Invalid address

          on boxes.test.hcl line 3, in case "a":
           3:   resource = "sim_box..x"

        "sim_box..x" is neither a resource type nor the address of an object: Dot
        must be followed by attribute name.

        Error: No references in cases

          on boxes.test.hcl line 4, in case "a":
           4:   old      = { name = var.name }

        "var" means nothing in a case: its objects are written as values. A string
        is written in quotes.

        Error: Unsuitable value

          on boxes.test.hcl line 5, in case "a":
           5:   new      = "text"

        new must be an object, as in { name = "web" }.

        Error: Unsuitable value

          on boxes.test.hcl line 6, in case "a":
           6:   order    = "sideways"

        order must be "delete_first", "create_first", "no_safe_order", "unknown" or
        "none".

        Error: Duplicate case

          on boxes.test.hcl line 10, in case "a":
          10: case "a" {

        There is a case named "a" already, in line 2.

        Error: Invalid address

          on boxes.test.hcl line 15, in case "b":
          15:   resource   = "data.sim_box.x"

        "data.sim_box.x" is neither a resource type nor the address of an object:
        Only managed resources are replaced.

        Error: Not allowed in a case

          on boxes.test.hcl line 16, in case "b":
          16:   old        = { name = file("secret") }

        There is no function "file" in a case, where nothing is there but values.

        Error: Unsuitable value

          on boxes.test.hcl line 19, in case "b":
          19:   dependents = { "sim_user.a" = "sleep" }

        What is planned for sim_user.a must be "none", "update", "replace", "delete"
        or "deferred".

        Error: Nothing is expected

          on boxes.test.hcl line 14, in case "b":
          14: case "b" {

        A case says what is expected: the order that rules want (order =
        "delete_first"), or what a rule says (rule "its-name" { result = "true" }).
    "#]];
    sandbox(cases).run(&["rules", "test", "boxes.test.hcl"]).is(expected);
    let missing = sandbox("").run(&["rules", "test", "nothing.hcl"]);
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("The file \"nothing.hcl\" could not be read."), "{}", missing.stderr);
    let empty = sandbox("").run(&["rules", "test", "boxes.test.hcl"]);
    assert_eq!(empty.code, 1);
    assert!(empty.stderr.contains("Error: No cases"), "{}", empty.stderr);
}

/// With schemas, what a provider calls sensitive is, and what does not fit is told.
#[test]
fn objects_can_be_what_providers_say() {
    let config = "resource \"local_sensitive_file\" \"a\" {\n  filename = \"a.txt\"\n  content = \"x\"\n}\n";
    let rules = r#"
replace_rule "content" {
  resource = "local_sensitive_file"
  predicate "field_changed" "content" {
    field = "content"
  }
}
"#;
    let cases = r#"
case "another content" {
  resource = "local_sensitive_file.a"
  old      = { filename = "a.txt", content = "hunter2-old" }
  new      = { filename = "a.txt", content = "hunter2-new" }
  rule "content" {
    result = "false"
    steps  = ["nothing"]
  }
}
"#;
    let sandbox = Sandbox::new().file("main.tf", config).file("r.groma.hcl", rules).file("c.hcl", cases);
    let outcome = sandbox.run(&["rules", "test", "-with-schema", "c.hcl"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stdout.contains("(sensitive)"), "{}", outcome.stdout);
    assert!(!(outcome.stdout + &outcome.stderr).contains("hunter2"));
    let sandbox = sandbox.file("c.hcl", &cases.replace("content = \"hunter2-new\"", "contnet = \"x\""));
    let outcome = sandbox.run(&["rules", "test", "-with-schema", "c.hcl"]);
    assert_eq!(outcome.code, 1);
    let told = "there is no attribute or block named \"contnet\". Did you mean \"content\"?";
    assert!(outcome.stderr.replace('\n', " ").contains(told), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("on c.hcl line 5, in case \"another content\":"), "{}", outcome.stderr);
}

#[test]
fn what_would_do_something_to_a_terminal_is_left_out() {
    let cases = "case \"\\u001b[31mred\\nline\" {\n  resource = \"sim_box\"\n  old = {}\n  new = {}\n  order = \"delete_first\"\n  \
                 rule \"\\u001b[2Jx\" {\n    result = true\n    steps = [\"\\u001b[5m\"]\n  }\n}\n";
    let outcome = sandbox(cases).run(&["rules", "test", "boxes.test.hcl"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stdout.contains(": red line\n"), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains('\u{1b}') && !outcome.stderr.contains('\u{1b}'), "{}", outcome.stdout);
}
