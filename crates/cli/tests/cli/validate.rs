//! `groma validate`.

use expect_test::expect;

use crate::sandbox::Sandbox;

#[test]
fn a_valid_module() {
    let sandbox = Sandbox::new().file(
        "main.tf",
        "variable \"n\" {\n  type = number\n}\n\nresource \"terraform_data\" \"a\" {\n  input = var.n + 1\n}\n",
    );
    sandbox.run(&["validate"]).is(expect![[r#"
        exit code 0
        ----- stdout
        Success! The configuration is valid.
    "#]]);
    sandbox.run(&["validate", "-json"]).is(expect![[r#"
        exit code 0
        ----- stdout
        {
          "format_version": "1.0",
          "valid": true,
          "error_count": 0,
          "warning_count": 0,
          "diagnostics": []
        }
    "#]]);
}

#[test]
fn an_error_shows_its_place() {
    let sandbox = Sandbox::new().file("main.tf", "resource \"terraform_data\" \"a\" {\n  inptu = 1\n}\n");
    sandbox.run(&["validate"]).is(expect![[r#"
        exit code 1
        ----- stderr

        Error: Unsupported argument

          with terraform_data.a,
          on main.tf line 2, in resource "terraform_data" "a":
           2:   inptu = 1

        An argument named "inptu" is not expected here. Did you mean "input"?
    "#]]);
    sandbox.run(&["validate", "-json"]).is(expect![[r#"
        exit code 1
        ----- stdout
        {
          "format_version": "1.0",
          "valid": false,
          "error_count": 1,
          "warning_count": 0,
          "diagnostics": [
            {
              "severity": "error",
              "summary": "Unsupported argument",
              "detail": "An argument named \"inptu\" is not expected here. Did you mean \"input\"?",
              "address": "terraform_data.a",
              "range": {
                "filename": "main.tf",
                "start": {
                  "line": 2,
                  "column": 3,
                  "byte": 34
                },
                "end": {
                  "line": 2,
                  "column": 8,
                  "byte": 39
                }
              },
              "snippet": {
                "context": "resource \"terraform_data\" \"a\"",
                "code": "  inptu = 1",
                "start_line": 2,
                "highlight_start_offset": 2,
                "highlight_end_offset": 7,
                "values": []
              }
            }
          ]
        }
    "#]]);
}

#[test]
fn an_error_shows_the_values_involved() {
    let config = "locals {\n  names = [\"a\", \"b\"]\n  key = \"x\"\n  bad = upper(local.names)\n  worse = element(local.names, local.key)\n}\n";
    Sandbox::new().file("main.tf", config).run(&["validate"]).is(expect![[r#"
        exit code 1
        ----- stderr

        Error: Invalid function argument

          on main.tf line 4, in locals:
           4:   bad = upper(local.names)
            ├────────────────
            │ while calling upper(str)
            │ local.names is tuple with 2 elements

        Invalid value for "str" parameter: string required, but have tuple.

        Error: Invalid function argument

          on main.tf line 5, in locals:
           5:   worse = element(local.names, local.key)
            ├────────────────
            │ while calling element(list, index)
            │ local.key is "x"

        Invalid value for "index" parameter: a number is required.
    "#]]);
}

#[test]
fn five_mistakes_give_five_errors() {
    let config = "\
resource \"terraform_data\" \"a\" {
  nonsense = 1
}
locals {
  b = var.missing
  c = upper(1, 2)
  d = [1, 2][5]
}
output \"e\" {
  value = module.nowhere.x
}
";
    let outcome = Sandbox::new().file("main.tf", config).run(&["validate"]);
    assert_eq!(outcome.stderr.matches("\nError: ").count(), 5, "{}", outcome.stderr);
    assert_eq!(outcome.code, 1);
}

#[test]
fn syntax_errors_do_not_hide_each_other() {
    let config = "locals {\n  a = [1 2]\n}\n\nlocals {\n  b = \n}\n\nlocals {\n  c = 'x'\n}\n\nlocals {\n  d = 1 e = 2\n}\n\nvariable {\n}\n";
    Sandbox::new().file("main.tf", config).run(&["validate"]).is(expect![[r#"
        exit code 1
        ----- stderr

        Error: Missing item separator

          on main.tf line 2, in locals:
           2:   a = [1 2]

        Expected a comma to mark the beginning of the next item.

        Error: Invalid expression

          on main.tf line 6, in locals:
           6:   b =

        Expected the start of an expression, but found an invalid expression token.

        Error: Invalid character

          on main.tf line 10, in locals:
          10:   c = 'x'

        Single quotes are not valid. Use double quotes (") to enclose strings.

        Error: Invalid expression

          on main.tf line 10, in locals:
          10:   c = 'x'

        Expected the start of an expression, but found an invalid expression token.

        Error: Missing newline after argument

          on main.tf line 14, in locals:
          14:   d = 1 e = 2

        An argument definition must end with a newline.

        Error: Missing name for variable

          on main.tf line 17, in variable:
          17: variable {

        All variable blocks must have 1 labels (name).
    "#]]);
}

#[test]
fn warnings_do_not_fail() {
    let sandbox = Sandbox::new()
        .file("main.tf", "variable \"a\" {\n  default = 1\n}\n")
        .file("terraform.tfvars", "a = 2\nb = 3\n");
    sandbox.run(&["validate"]).is(expect![[r#"
        exit code 0
        ----- stdout
        Success! The configuration is valid.
    "#]]);
}

#[test]
fn child_modules_are_checked_too() {
    let sandbox = Sandbox::new()
        .file("main.tf", "module \"child\" {\n  source = \"./child\"\n  size   = \"big\"\n}\n")
        .file("child/main.tf", "variable \"size\" {\n  type = number\n}\n");
    sandbox.run(&["validate"]).is(expect![[r#"
        exit code 1
        ----- stderr

        Error: Invalid value for input variable

          on child/main.tf line 1, in variable "size":
           1: variable "size" {

        The given value is not suitable for module.child.var.size: a number is
        required.
    "#]]);
}

#[test]
fn test_files_are_checked_where_they_are() {
    let sandbox = Sandbox::new().file("main.tf", "").file("other/bad.tftest.hcl", "run \"a\" {\n  nope = 1\n}\n");
    let code = |flags: &[&str]| sandbox.run(&[&["validate"], flags].concat()).code;
    assert_eq!(code(&[]), 0);
    assert_eq!(code(&["-test-directory=other"]), 1);
    assert_eq!(code(&["-test-directory=other", "-no-tests"]), 0);
}

#[test]
fn the_result_goes_to_a_file_as_well() {
    let sandbox = Sandbox::new().file("main.tf", "nope {\n}\n");
    let outcome = sandbox.run(&["validate", "-json-into=result.json"]);
    assert!(outcome.stderr.contains("Error: Unsupported block type"), "{}", outcome.stderr);
    assert_eq!(sandbox.read("result.json"), sandbox.run(&["validate", "-json"]).stdout);
}
