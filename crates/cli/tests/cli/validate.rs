//! `groma validate`.

use expect_test::expect;

use crate::sandbox::Sandbox;

#[test]
fn a_valid_module() {
    let sandbox = Sandbox::new().file(
        "main.tf",
        "variable \"n\" {\n  type = number\n}\n\nresource \"terraform_data\" \"a\" {\n  input = var.n + 1\n}\n",
    );
    sandbox.run(&["validate"]).is(expect![[r#""#]]);
    sandbox.run(&["validate", "-json"]).is(expect![[r#""#]]);
}

#[test]
fn an_error_shows_its_place() {
    let sandbox = Sandbox::new().file("main.tf", "resource \"terraform_data\" \"a\" {\n  inptu = 1\n}\n");
    sandbox.run(&["validate"]).is(expect![[r#""#]]);
    sandbox.run(&["validate", "-json"]).is(expect![[r#""#]]);
}

#[test]
fn an_error_shows_the_values_involved() {
    let config = "locals {\n  names = [\"a\", \"b\"]\n  key = \"x\"\n  bad = upper(local.names)\n  worse = element(local.names, local.key)\n}\n";
    Sandbox::new().file("main.tf", config).run(&["validate"]).is(expect![[r#""#]]);
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
    let config = "locals {\n  a = [1, 2\n}\n\nlocals {\n  b = \n}\n\nlocals {\n  c = 'x'\n}\n";
    Sandbox::new().file("main.tf", config).run(&["validate"]).is(expect![[r#""#]]);
}

#[test]
fn warnings_do_not_fail() {
    let sandbox = Sandbox::new()
        .file("main.tf", "variable \"a\" {\n  default = 1\n}\n")
        .file("terraform.tfvars", "a = 2\nb = 3\n");
    sandbox.run(&["validate"]).is(expect![[r#""#]]);
}

#[test]
fn child_modules_are_checked_too() {
    let sandbox = Sandbox::new()
        .file("main.tf", "module \"child\" {\n  source = \"./child\"\n  size   = \"big\"\n}\n")
        .file("child/main.tf", "variable \"size\" {\n  type = number\n}\n");
    sandbox.run(&["validate"]).is(expect![[r#""#]]);
}
