//! Environment variables: each does what it is known for, or is refused by name.

use crate::sandbox::Sandbox;

const CONFIG: &str = "variable \"v\" {\n  default = \"one\"\n}\n\nresource \"terraform_data\" \"a\" {\n  input = var.v\n}\n\noutput \
                      \"o\" {\n  value = \"${terraform.workspace} ${var.v}\"\n}\n";

fn configured() -> Sandbox {
    Sandbox::new().file("main.tf", CONFIG)
}

#[track_caller]
fn plans(sandbox: &Sandbox, expected: &str) {
    let outcome = sandbox.run(&["plan"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{}", outcome.stdout);
    assert!(outcome.stdout.contains(expected), "{expected} is not in {}", outcome.stdout);
}

#[test]
fn values_of_variables() {
    plans(&configured().env("TF_VAR_v", "two"), "+ o = \"default two\"");
    let unknown = configured().env("TF_VAR_nope", "two");
    plans(&unknown, "+ o = \"default one\"");
}

#[test]
fn the_workspace() {
    let sandbox = configured().env("TF_WORKSPACE", "live");
    plans(&sandbox, "+ o = \"live one\"");
    assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 0);
    assert!(sandbox.exists("terraform.tfstate.d/live/terraform.tfstate") && !sandbox.exists("terraform.tfstate"));
    let outcome = sandbox.env("TF_WORKSPACE", "a/b").run(&["plan"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("TF_WORKSPACE"), "{}", outcome.stderr);
}

#[test]
fn the_data_directory() {
    let sandbox = configured().file("data/environment", "elsewhere").env("TF_DATA_DIR", "data");
    plans(&sandbox, "+ o = \"elsewhere one\"");
    assert!(!sandbox.exists(".terraform"));
}

#[test]
fn arguments() {
    plans(&configured().env("TF_CLI_ARGS_plan", "-var 'v=a b'"), "+ o = \"default a b\"");
    plans(
        &configured().env("TF_CLI_ARGS", "-var v=all").env("TF_CLI_ARGS_plan", "-var v=plan"),
        "+ o = \"default plan\"",
    );
    plans(&configured().env("TF_CLI_ARGS_apply", "-var v=apply"), "+ o = \"default one\"");
    // What is typed comes last, and the last one counts.
    let sandbox = configured().env("TF_CLI_ARGS_plan", "-detailed-exitcode -parallelism=0");
    assert_eq!(sandbox.run(&["plan"]).code, 2);
    assert_eq!(sandbox.run(&["plan", "-detailed-exitcode=false", "-parallelism=1"]).code, 0);
}

#[test]
fn automation_needs_no_advice() {
    let told = |sandbox: Sandbox| sandbox.run(&["plan"]).stdout.contains("You didn't use the -out option");
    assert!(told(configured()));
    assert!(!told(configured().env("TF_IN_AUTOMATION", "1")));
}

#[test]
fn logs_go_where_they_are_wanted() {
    let quiet = configured();
    plans(&quiet, "+ o");
    let outcome = configured().env("TF_LOG", "trace").run(&["plan"]);
    let begins = "groma begins";
    assert!(outcome.code == 0 && outcome.stderr.contains(begins), "{}", outcome.stderr);
    let filed = configured().env("TF_LOG", "trace").env("TF_LOG_PATH", "log.txt");
    plans(&filed, "+ o");
    assert!(filed.read("log.txt").contains(begins), "{}", filed.read("log.txt"));
    let off = configured().env("TF_LOG", "off").env("TF_LOG_PATH", "log.txt");
    plans(&off, "+ o");
    let json = configured().env("TF_LOG", "json").run(&["plan"]);
    assert!(json.stderr.lines().all(|line| line.starts_with('{')), "{}", json.stderr);
    let core = configured().env("TF_LOG_CORE", "trace").run(&["plan"]);
    assert!(core.stderr.contains(begins), "{}", core.stderr);
    let provider = configured().env("TF_LOG_PROVIDER", "trace");
    plans(&provider, "+ o");
}

#[test]
fn secrets_are_not_logged() {
    let config = "variable \"s\" {\n  sensitive = true\n}\n\nresource \"terraform_data\" \"a\" {\n  input = var.s\n}\n";
    let sandbox = Sandbox::new().file("main.tf", config).env("TF_LOG", "trace").env("TF_VAR_s", "hush-hush");
    for arguments in [&["plan"][..], &["apply", "-auto-approve"]] {
        let outcome = sandbox.run(arguments);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        assert!(!outcome.stderr.contains("hush-hush") && !outcome.stdout.contains("hush-hush"), "{}", outcome.stderr);
    }
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    for (name, value) in [
        ("TF_ENCRYPTION", "state {"),
        ("TF_WARN_OUTPUT_ERRORS", "1"),
        ("TF_STATE_PERSIST_INTERVAL", "soon"),
        ("TF_TEMPLATE_RECURSION_DEPTH", "deep"),
    ] {
        let sandbox = configured().env(name, value);
        let outcome = sandbox.run(&["apply", "-auto-approve"]);
        assert_eq!((outcome.code, sandbox.exists("terraform.tfstate")), (1, false), "{name}");
        assert!(outcome.stderr.contains(name), "{name}: {}", outcome.stderr);
        assert_eq!(sandbox.run(&["version"]).code, 0, "{name}");
    }
    for name in ["TOFU_CPU_PROFILE", "TOFU_X_EXPERIMENTAL_RUNTIME", "TF_IGNORE"] {
        let outcome = configured().env(name, "1").run(&["plan"]);
        assert!(outcome.stderr.contains(&format!("Warning: {name} has no effect")), "{}", outcome.stderr);
        assert_eq!(outcome.code, 0);
    }
    plans(&configured().env("TF_STATE_PERSIST_INTERVAL", "30"), "+ o");
}

#[test]
fn recursion_and_colours() {
    let outcome = configured().env("NO_COLOR", "1").run(&["plan"]);
    assert!(!outcome.stdout.contains('\u{1b}'), "{}", outcome.stdout);
    let config = "output \"o\" {\n  value = templatefile(\"t.tpl\", {})\n}\n";
    let deep = Sandbox::new().file("main.tf", config).file("t.tpl", "${templatefile(\"t.tpl\", {})}");
    let outcome = deep.env("TF_TEMPLATE_RECURSION_DEPTH", "3").run(&["plan"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("maximum recursion depth"), "{}", outcome.stderr);
}
