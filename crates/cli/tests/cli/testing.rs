//! `groma test`.

use expect_test::expect;

use crate::sandbox::Sandbox;

fn module() -> Sandbox {
    Sandbox::new().file(
        "main.tf",
        "variable \"n\" {\n  default = 1\n}\n\nresource \"terraform_data\" \"a\" {\n  input = var.n\n}\n\noutput \"o\" {\n  value = \
         terraform_data.a.output\n}\n",
    )
}

#[test]
fn runs_are_told_with_what_failed() {
    let sandbox = module().file(
        "tests/main.tftest.hcl",
        "run \"good\" {\n  command = plan\n  assert {\n    condition     = terraform_data.a.input == 1\n    error_message = \"no\"\n  }\n}\n\nrun \
         \"bad\" {\n  assert {\n    condition     = output.o == 2\n    error_message = \"not two\"\n  }\n}\n",
    );
    sandbox.run(&["test"]).is(expect![[r#"
        exit code 1
        ----- stdout
        tests/main.tftest.hcl... fail
          run "good"... pass
          run "bad"... fail

        Failure! 1 passed, 1 failed.
        ----- stderr

        Error: Test assertion failed

          on tests/main.tftest.hcl line 11, in run "bad":
          11:     condition     = output.o == 2
            ├────────────────
            │ output.o is 1

        not two
    "#]]);
    // Nothing of it is left.
    assert_eq!(sandbox.files(), "main.tf\ntests\ntests/main.tftest.hcl\n");
}

#[test]
fn what_is_left_is_named() {
    let sandbox = Sandbox::new()
        .file("main.tf", "resource \"terraform_data\" \"a\" {\n  lifecycle {\n    prevent_destroy = true\n  }\n}\n")
        .file("main.tftest.hcl", "run \"r\" {}\n");
    let outcome = sandbox.run(&["test"]);
    assert!(outcome.stdout.contains("Success! 1 passed, 0 failed."), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("  - terraform_data.a\n"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("Writing state to file: errored_test.tfstate"), "{}", outcome.stderr);
    assert!(sandbox.files().contains("errored_test.tfstate"));
}

#[test]
fn a_state_that_people_work_with_is_left_alone() {
    let sandbox = module().file("main.tftest.hcl", "run \"r\" {\n  variables {\n    n = 2\n  }\n}\n");
    assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 0);
    let before = sandbox.read("terraform.tfstate");
    assert_eq!(sandbox.run(&["test"]).code, 0);
    assert_eq!(sandbox.read("terraform.tfstate"), before);
}

#[test]
fn secrets_are_not_shown() {
    let sandbox = Sandbox::new()
        .file(
            "main.tf",
            "variable \"s\" {\n  sensitive = true\n  default   = \"hush-hush\"\n}\n\noutput \"s\" {\n  sensitive = true\n  value     = var.s\n}\n",
        )
        .file(
            "main.tftest.hcl",
            "run \"one\" {\n  assert {\n    condition     = output.s == \"x\"\n    error_message = \"it is ${output.s}\"\n  }\n}\n\nrun \"two\" {\n  \
             variables {\n    s = \"${run.one.s}!\"\n  }\n  assert {\n    condition     = run.one.s == \"x\"\n    error_message = \"no\"\n  }\n}\n",
        );
    for arguments in [&["test", "-verbose"][..], &["test", "-json", "-verbose"], &["test", "-junit-xml=out.xml"]] {
        let outcome = sandbox.run(arguments);
        assert_eq!(outcome.code, 1);
        let said = outcome.stdout + &outcome.stderr;
        assert!(said.contains("Failure! 0 passed, 2 failed."), "{said}");
        // States and plans are told whole to machines, as by `show -json`.
        if !arguments.contains(&"-json") {
            assert!(!said.contains("hush"), "{said}");
        }
    }
    assert!(!sandbox.read("out.xml").contains("hush"));
}

#[test]
fn bad_input_names_file_and_line() {
    let sandbox = module().file("main.tftest.hcl", "run \"r\" {\n  command = fly\n}\n");
    let outcome = sandbox.run(&["test"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("Invalid \"command\" keyword"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("on main.tftest.hcl line 2"), "{}", outcome.stderr);
}
