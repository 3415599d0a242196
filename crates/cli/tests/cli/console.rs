//! `groma console` with piped input.

use expect_test::expect;

use crate::sandbox::Sandbox;

#[test]
fn a_line_per_input() {
    let input = "1 + 2\n[for n in [1, 2] : n * 2]\n{\n  a = 1\n}\nupper(\"x\")\ntype([1])\nexit\nnot reached\n";
    Sandbox::new().run_with(&["console"], input).is(expect![[r#"
        exit code 0
        ----- stdout
        3
        [
          2,
          4,
        ]
        {
          "a" = 1
        }
        "X"
        tuple([
            number,
        ])
    "#]]);
}

#[test]
fn the_first_error_ends_it() {
    Sandbox::new().run_with(&["console"], "1\nnope(1)\n2\n").is(expect![[r#"
        exit code 1
        ----- stdout
        1
        ----- stderr

        Error: Call to unknown function

          on <console-input> line 1:
           1: nope(1)

        There is no function named "nope". Did you mean "one"?
    "#]]);
}

#[test]
fn values_come_from_everywhere_in_order() {
    let sandbox = Sandbox::new()
        .file("main.tf", "variable \"a\" {\n  default = \"default\"\n}\nvariable \"n\" {\n  type = list(number)\n  default = []\n}\n")
        .file("x.auto.tfvars", "a = \"file\"\n")
        .env("TF_VAR_a", "environment")
        .env("TF_VAR_n", "[1, 2]");
    assert_eq!(sandbox.run_with(&["console"], "var.a\n").stdout, "\"file\"\n");
    assert_eq!(sandbox.run_with(&["console", "-var", "a=line"], "var.a\n").stdout, "\"line\"\n");
    assert_eq!(sandbox.run_with(&["console"], "sum(var.n)\n").stdout, "3\n");
}

#[test]
fn resources_are_as_the_state_knows_them() {
    let sandbox = Sandbox::new().file("main.tf", "resource \"terraform_data\" \"a\" {\n  input = \"here\"\n}\n");
    assert_eq!(sandbox.run(&["apply", "-auto-approve", "-state=other.tfstate"]).code, 0);
    let asked =
        |arguments: &[&str]| sandbox.run_with(&[&["console"], arguments].concat(), "terraform_data.a.output\n").stdout;
    assert_eq!(asked(&["-state=other.tfstate"]), "\"here\"\n");
    assert_ne!(asked(&[]), "\"here\"\n");
    let mut working = sandbox.begin(&["apply", "-state=other.tfstate", "-replace=terraform_data.a"]);
    working.wait_for("Enter a value:");
    let locked = sandbox.run_with(&["console", "-state=other.tfstate"], "1\n");
    assert!(locked.stderr.contains("Error acquiring the state lock"), "{}", locked.stderr);
    assert_eq!(asked(&["-state=other.tfstate", "-lock=false"]), "\"here\"\n");
    working.answer("no\n");
    assert_eq!(working.end().code, 1);
}

#[test]
fn secrets_are_not_shown() {
    let sandbox = Sandbox::new().file("main.tf", "variable \"s\" {\n  sensitive = true\n  default = \"hunter2\"\n}\n");
    let outcome = sandbox.run_with(&["console"], "var.s\n[var.s]\nlength(var.s)\nvar.s + 1\n");
    outcome.is(expect![[r#"
        exit code 1
        ----- stdout
        (sensitive value)
        [
          (sensitive value),
        ]
        (sensitive value)
        ----- stderr

        Error: Invalid operand

          on <console-input> line 1:
           1: var.s + 1

        Unsuitable value for left operand: a number is required.
    "#]]);
    assert!(!outcome.stdout.contains("hunter2") && !outcome.stderr.contains("hunter2"));
}

#[test]
fn deep_and_large_input_is_refused_not_crashed_on() {
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let outcome = Sandbox::new().run_with(&["console"], &deep);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    let mut bomb = String::from("locals {\n  l0 = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n");
    for level in 1..30 {
        let inner = vec![format!("local.l{}", level - 1); 10].join(", ");
        bomb.extend(["  l", &level.to_string(), " = [", &inner, "]\n"]);
    }
    bomb.push_str("}\n");
    let outcome = Sandbox::new().file("main.tf", &bomb).run(&["validate"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("Value too large"), "{}", outcome.stderr);
}
