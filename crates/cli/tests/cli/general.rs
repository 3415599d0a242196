//! What all commands have in common: version, help, directories, arguments from the environment.

use expect_test::expect;

use crate::sandbox::Sandbox;

#[test]
fn the_version_is_told_in_three_ways() {
    let sandbox = Sandbox::new();
    let plain = sandbox.run(&["version"]);
    assert!(plain.stdout.starts_with("groma v"), "{}", plain.stdout);
    assert_eq!(sandbox.run(&["-version"]).stdout, plain.stdout);
    assert_eq!(sandbox.run(&["-v"]).stdout, plain.stdout);
    let json = sandbox.run(&["version", "-json"]).stdout;
    assert!(json.contains("\"terraform_version\": \"1.12.0\""), "{json}");
}

#[test]
fn an_unknown_command_is_refused() {
    let outcome = Sandbox::new().run(&["aply"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("aply"), "{}", outcome.stderr);
}

#[test]
fn help_names_every_command() {
    let help = Sandbox::new().run(&["-help"]).stdout;
    for command in ["fmt", "validate", "console", "version", "metadata", "completions"] {
        assert!(help.contains(command), "{command} is missing in {help}");
    }
}

#[test]
fn chdir_comes_first() {
    let sandbox = Sandbox::new().file("sub/main.tf", "output \"a\" {\n  value = path.cwd != \"\" ? 1 : 2\n}\n");
    sandbox.run(&["-chdir=sub", "validate"]).is(expect![[r#"
        exit code 0
        ----- stdout
        Success! The configuration is valid.
    "#]]);
    let missing = sandbox.run(&["-chdir=nowhere", "validate"]);
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("nowhere"), "{}", missing.stderr);
}

#[test]
fn the_environment_adds_arguments() {
    let sandbox = Sandbox::new().file("main.tf", "locals {\n a=1\n}\n").env("TF_CLI_ARGS_fmt", "-check");
    let outcome = sandbox.run(&["fmt"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (3, "main.tf\n"));
    let broken = Sandbox::new().env("TF_CLI_ARGS", "'open").run(&["version"]);
    assert_eq!(broken.code, 1);
    assert!(broken.stderr.contains("TF_CLI_ARGS"), "{}", broken.stderr);
}

#[test]
fn completions_and_man_pages_are_made() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(sandbox.run(&["completions", shell]).stdout.contains("groma"), "{shell}");
    }
    assert_eq!(sandbox.run(&["man", "pages"]).code, 0);
    assert!(sandbox.read("pages/groma-fmt.1").contains("canonical"));
}

#[test]
fn functions_are_described_under_both_names() {
    let json = Sandbox::new().run(&["metadata", "functions", "-json"]).stdout;
    assert!(json.contains("\"core::upper\":{\"description\""), "{}", &json[..200]);
    assert!(json.contains("\"upper\":{\"description\""));
    assert_eq!(Sandbox::new().run(&["metadata", "functions"]).code, 1);
}
