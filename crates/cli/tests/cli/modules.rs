//! `groma get`, and modules that are copied.

use expect_test::expect;

use crate::sandbox::Sandbox;

#[test]
fn local_modules_are_recorded() {
    let sandbox = Sandbox::new()
        .file("main.tf", "module \"a\" {\n  source = \"./x/../a\"\n}\n")
        .file("a/main.tf", "module \"b\" {\n  source = \"../b\"\n}\n")
        .file("b/main.tf", "");
    sandbox.run(&["get"]).is(expect![[r#"
        exit code 0
        ----- stdout
        - a in a
        - a.b in b
    "#]]);
    expect![[r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a","Source":"./a","Dir":"a"},{"Key":"a.b","Source":"../b","Dir":"b"}]}"#]].assert_eq(&sandbox.read(".terraform/modules/modules.json"));
    // What is recorded needs no word.
    sandbox.run(&["get"]).is(expect![[r#"
        exit code 0
    "#]]);
    assert!(sandbox.run(&["get", "-update"]).stdout.contains("- a.b in b"));
}

#[test]
fn a_directory_that_is_not_there() {
    let sandbox = Sandbox::new().file("main.tf", "module \"a\" {\n  source = \"./a\"\n}\n");
    sandbox.run(&["get"]).is(expect![[r#"
        exit code 1
        ----- stderr

        Error: Unreadable module directory

          on main.tf line 1, in module "a":
           1: module "a" {

        The directory a could not be read for module "a".
    "#]]);
}

#[test]
fn other_mistakes_do_not_keep_modules_from_being_installed() {
    let sandbox =
        Sandbox::new().file("main.tf", "module \"a\" {\n  source = \"./a\"\n  nope   = 1\n}\n").file("a/main.tf", "");
    let outcome = sandbox.run(&["get"]);
    assert_eq!(outcome.code, 0);
    assert!(outcome.stderr.contains("Warning: Unsupported argument"), "{}", outcome.stderr);
    assert_eq!(sandbox.run(&["init"]).code, 1);
}

#[test]
fn a_module_must_be_installed_as_it_is_called() {
    let record = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a","Source":"registry.opentofu.org/x/y/z","Version":"1.2.0","Dir":".terraform/modules/a"}]}"#;
    let with = |call: &str| {
        Sandbox::new()
            .file("main.tf", &format!("module \"a\" {{\n{call}\n}}\n"))
            .file(".terraform/modules/modules.json", record)
            .file(".terraform/modules/a/main.tf", "")
            .run(&["validate"])
    };
    assert_eq!(with("source = \"x/y/z\"").code, 0);
    assert_eq!(with("source = \"x/y/z\"\nversion = \"~> 1.0\"").code, 0);
    with("source = \"x/y/z\"\nversion = \"~> 2.0\"").is(expect![[r#"
        exit code 1
        ----- stderr

        Error: Module version requirements have changed

          on main.tf line 2, in module "a":
           2: source = "x/y/z"

        The version requirements have changed since this module was installed and
        the installed version (1.2.0) is no longer acceptable. Run "groma init" to
        install all modules required by this configuration.
    "#]]);
    with("source = \"x/y/other\"").is(expect![[r#"
        exit code 1
        ----- stderr

        Error: Module source has changed

          on main.tf line 2, in module "a":
           2: source = "x/y/other"

        The source address was changed from "registry.opentofu.org/x/y/z" to
        "registry.opentofu.org/x/y/other" since this module was installed. Run
        "groma init" to install all modules required by this configuration.
    "#]]);
}

#[test]
fn a_module_becomes_the_beginning() {
    let sandbox = Sandbox::new()
        .file("template/main.tf", "module \"inner\" {\n  source = \"./inner\"\n}\n")
        .file("template/inner/main.tf", "")
        .file("work/.keep", "");
    let outcome = sandbox.run(&["-chdir=work", "init", "-from-module=../template"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("Copying configuration from \"../template\"..."), "{}", outcome.stdout);
    assert!(sandbox.exists("work/main.tf") && sandbox.exists("work/inner/main.tf"));
    sandbox.run(&["-chdir=work", "init", "-from-module=../template"]).is(expect![[r#"
        exit code 1
        ----- stdout
        Copying configuration from "../template"...
        ----- stderr

        Error: The working directory already contains files

        The -from-module option requires an empty directory into which a copy of the
        referenced module will be placed.

        To initialize the configuration already in this working directory, omit the
        -from-module option.
    "#]]);
}

#[test]
fn a_module_that_cannot_be_fetched() {
    let sandbox = Sandbox::new()
        .file("main.tf", "module \"a\" {\n  source = \"http://127.0.0.1:1/x.zip\"\n}\n")
        .env("TF_PROVIDER_DOWNLOAD_RETRY", "0");
    let outcome = sandbox.run(&["get"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stdout.contains("Downloading http://127.0.0.1:1/x.zip for a..."), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("Error: Failed to download module"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("on main.tf line 1"), "{}", outcome.stderr);
}
