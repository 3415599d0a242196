//! `groma fmt`.

use expect_test::expect;

use crate::sandbox::Sandbox;

const UGLY: &str = "locals{\n a=1\n  long_name   = \"${local.a}\"\n}\n";

#[test]
fn files_are_rewritten_and_listed() {
    let sandbox =
        Sandbox::new().file("main.tf", UGLY).file("good.tf", "locals {\n  b = 2\n}\n").file("notes.txt", "x=1");
    sandbox.run(&["fmt"]).is(expect![[r#"
        exit code 0
        ----- stdout
        main.tf
    "#]]);
    expect![[r#"
        locals {
          a         = 1
          long_name = local.a
        }
    "#]]
    .assert_eq(&sandbox.read("main.tf"));
    assert_eq!(sandbox.run(&["fmt"]).stdout, "");
}

#[test]
fn check_writes_nothing_and_exits_with_3() {
    let sandbox = Sandbox::new().file("main.tf", UGLY);
    let outcome = sandbox.run(&["fmt", "-check"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (3, "main.tf\n"));
    assert_eq!(sandbox.read("main.tf"), UGLY);
}

#[test]
fn diff_shows_what_changes() {
    let sandbox = Sandbox::new().file("main.tf", UGLY);
    sandbox.run(&["fmt", "-diff", "-write=false", "-list=false"]).is(expect![[r#"
        exit code 0
        ----- stdout
        --- old/main.tf
        +++ new/main.tf
        @@ -1,4 +1,4 @@
        -locals{
        - a=1
        -  long_name   = "${local.a}"
        +locals {
        +  a         = 1
        +  long_name = local.a
         }
    "#]]);
    assert_eq!(sandbox.read("main.tf"), UGLY);
}

#[test]
fn standard_input_goes_to_standard_output() {
    Sandbox::new().run_with(&["fmt", "-"], UGLY).is(expect![[r#"
        exit code 0
        ----- stdout
        locals {
          a         = 1
          long_name = local.a
        }
    "#]]);
}

#[test]
fn subdirectories_only_on_request() {
    let sandbox = Sandbox::new().file("sub/main.tf", UGLY).file(".hidden/main.tf", UGLY);
    assert_eq!(sandbox.run(&["fmt"]).stdout, "");
    assert_eq!(sandbox.run(&["fmt", "-recursive"]).stdout, "sub/main.tf\n");
}

#[test]
fn what_cannot_be_read_is_left_alone() {
    let sandbox = Sandbox::new().file("bad.tf", "locals {\n  a = \n}\n").file("ugly.tf", UGLY);
    let outcome = sandbox.run(&["fmt"]);
    assert_eq!(outcome.code, 2);
    assert_eq!(outcome.stdout, "ugly.tf\n");
    assert!(outcome.stderr.contains("bad.tf line 2"), "{}", outcome.stderr);
    assert_eq!(sandbox.read("bad.tf"), "locals {\n  a = \n}\n");
    let missing = sandbox.run(&["fmt", "nowhere"]);
    assert!(missing.stderr.contains("nowhere"), "{}", missing.stderr);
}
