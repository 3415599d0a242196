//! What is wrong is told with its place, nothing is done, and the state stays as it is, to the byte.

use std::sync::OnceLock;

use crate::sandbox::{Outcome, Sandbox};

/// What exists before anything goes wrong.
const START: &str = "resource \"terraform_data\" \"a\" {\n  input = \"one\"\n}\n";

/// The state after START was applied.
fn state() -> &'static str {
    static STATE: OnceLock<String> = OnceLock::new();
    STATE.get_or_init(|| {
        let sandbox = Sandbox::new().file("main.tf", START);
        let outcome = sandbox.run(&["apply", "-auto-approve"]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        sandbox.read("terraform.tfstate")
    })
}

/// A directory in which START was applied and the configuration was changed afterwards.
fn changed(config: &str) -> Sandbox {
    Sandbox::new().file("terraform.tfstate", state()).file("main.tf", config)
}

/// Neither plans nor applies, says why and where, and leaves the state alone.
#[track_caller]
fn refuses(sandbox: &Sandbox, flags: &[&str], summary: &str, place: &str) {
    let before = sandbox.read("terraform.tfstate");
    for command in [&["plan", "-input=false"][..], &["apply", "-input=false", "-auto-approve"][..]] {
        let outcome = sandbox.run(&[command, flags].concat());
        let all = told(&outcome);
        assert_eq!(outcome.code, 1, "{command:?}: {all}");
        assert!(outcome.stderr.contains(&format!("Error: {summary}")), "{summary} is not in {all}");
        assert!(outcome.stderr.contains(place), "{place} is not in {all}");
        assert_eq!(sandbox.read("terraform.tfstate"), before, "{command:?} changed the state");
        assert!(!sandbox.exists(".terraform.tfstate.lock.info"), "{command:?} left a lock behind");
    }
}

fn told(outcome: &Outcome) -> String {
    format!("{}{}", outcome.stdout, outcome.stderr)
}

/// Configurations as they are, with the error and its place.
#[track_caller]
fn all_refuse(cases: &[(&str, &str, &str)]) {
    for (config, summary, place) in cases {
        refuses(&changed(config), &[], summary, place);
    }
}

/// Configurations behind what was applied.
#[track_caller]
fn all_refuse_more(cases: &[(&str, &str, &str)]) {
    for (config, summary, place) in cases {
        refuses(&changed(&format!("{START}\n{config}")), &[], summary, place);
    }
}

#[test]
fn what_cannot_be_read() {
    all_refuse(&[
        ("resource \"terraform_data\" \"a\" {\n  input = \n}\n", "Invalid expression", "on main.tf line 2"),
        ("resource \"terraform_data\" \"a\" {\n  input = 1\n", "Unclosed configuration block", "on main.tf line 1"),
        ("nope \"a\" {\n}\n", "Unsupported block type", "on main.tf line 1"),
        ("resource \"terraform_data\" \"a\" {\n  nope = 1\n}\n", "Unsupported argument", "on main.tf line 2"),
        ("resource \"terraform_data\" \"a\" {\n  nope {\n  }\n}\n", "Unsupported block type", "on main.tf line 2"),
        ("resource \"terraform_nope\" \"a\" {\n}\n", "Invalid resource type", "on main.tf line 1"),
        (
            "resource \"terraform_data\" \"a\" {\n  input = nope(1)\n}\n",
            "Call to unknown function",
            "on main.tf line 2",
        ),
        (&format!("{START}\n{START}"), "Duplicate resource", "on main.tf line 5"),
    ]);
}

#[test]
fn what_refers_to_nothing_or_to_itself() {
    all_refuse(&[
        (
            "resource \"terraform_data\" \"a\" {\n  input = var.nope\n}\n",
            "Reference to undeclared input variable",
            "on main.tf line 2",
        ),
        (
            "resource \"terraform_data\" \"a\" {\n  input = terraform_data.nope.id\n}\n",
            "Reference to undeclared resource",
            "on main.tf line 2",
        ),
        (
            "resource \"terraform_data\" \"a\" {\n  depends_on = [terraform_data.nope]\n}\n",
            "Reference to undeclared resource",
            "on main.tf line 2",
        ),
        (
            "resource \"terraform_data\" \"a\" {\n  input = terraform_data.a.id\n}\n",
            "Self-referential block",
            "on main.tf line 2",
        ),
        (
            "resource \"terraform_data\" \"a\" {\n  input = terraform_data.b.id\n}\n\nresource \"terraform_data\" \"b\" {\n  \
             input = terraform_data.a.id\n}\n",
            "Cycle: terraform_data.a, terraform_data.b",
            "on main.tf line 1",
        ),
        (
            "locals {\n  x = local.y\n  y = local.x\n}\n\noutput \"o\" {\n  value = local.x\n}\n",
            "Cycle: local.x, local.y",
            "on main.tf line 2",
        ),
        (
            "resource \"terraform_data\" \"a\" {\n  lifecycle {\n    replace_triggered_by = [terraform_data.nope]\n  }\n}\n",
            "Undeclared resource in replace_triggered_by",
            "on main.tf line 3",
        ),
        (
            "resource \"terraform_data\" \"a\" {\n  lifecycle {\n    ignore_changes = [nope]\n  }\n}\n",
            "Unsupported attribute",
            "on main.tf line 3",
        ),
    ]);
    all_refuse_more(&[
        (
            "resource \"terraform_data\" \"c\" {\n  count = 1\n}\n\noutput \"o\" {\n  value = terraform_data.c.id\n}\n",
            "Missing resource instance key",
            "on main.tf line 10",
        ),
        (
            "check \"c\" {\n  assert {\n    condition     = terraform_data.nope.id == 1\n    error_message = \"x\"\n  }\n}\n",
            "Reference to undeclared resource",
            "on main.tf line 7",
        ),
    ]);
}

#[test]
fn how_often_must_be_known_and_possible() {
    let counted = |expression: &str| format!("resource \"terraform_data\" \"c\" {{\n  {expression}\n}}\n");
    let unknown = "resource \"terraform_data\" \"n\" {\n}\n\n";
    for (text, summary, line) in [
        (format!("{unknown}{}", counted("for_each = toset([terraform_data.n.id])")), "Invalid for_each argument", 9),
        (format!("{unknown}{}", counted("count = length(terraform_data.n.id)")), "Invalid count argument", 9),
        (counted("for_each = [\"a\"]"), "Invalid for_each argument", 6),
        (counted("for_each = null"), "Invalid for_each argument", 6),
        (counted("for_each = sensitive(toset([\"a\"]))"), "Invalid for_each argument", 6),
        (counted("count = -1"), "Invalid count argument", 6),
        (counted("count = \"x\""), "Incorrect value type", 6),
    ] {
        all_refuse_more(&[(&text, summary, &format!("on main.tf line {line}"))]);
    }
}

#[test]
fn values_of_variables() {
    let sandbox = changed(START);
    refuses(&sandbox, &["-var", "nope=1"], "Value for undeclared variable", "\"nope\"");
    refuses(&sandbox, &["-var", "nope"], "Invalid -var option", "\"nope\"");
    refuses(&sandbox, &["-var-file=nope.tfvars"], "Failed to read variables file", "nope.tfvars");
    let number = changed(&format!("{START}\nvariable \"v\" {{\n  type = number\n}}\n"));
    refuses(&number, &[], "No value for required variable", "on main.tf line 5");
    refuses(&number, &["-var", "v=x"], "Invalid value for input variable", "on main.tf line 5");
    let file = number.file("bad.tfvars", "v = [\n").file("wrong.tfvars", "\nv = \"x\"\n");
    refuses(&file, &["-var-file=bad.tfvars"], "", "on bad.tfvars line");
    refuses(&file, &["-var-file=wrong.tfvars"], "Invalid value for input variable", "on main.tf line 5");
    all_refuse_more(&[
        (
            "variable \"v\" {\n  type    = number\n  default = \"x\"\n}\n",
            "Invalid default value for variable",
            "on main.tf line 7",
        ),
        (
            "variable \"v\" {\n  default = 1\n\n  validation {\n    condition     = var.v > 1\n    error_message = \"too \
             small\"\n  }\n}\n",
            "Invalid value for variable",
            "too small",
        ),
        (
            "variable \"e\" {\n  ephemeral = true\n  default   = \"x\"\n}\n\nresource \"terraform_data\" \"b\" {\n  input = \
             var.e\n}\n",
            "Ephemeral value used in non-ephemeral context",
            "on main.tf line 11",
        ),
    ]);
}

#[test]
fn conditions_that_do_not_hold() {
    let with = |condition: &str| {
        format!(
            "resource \"terraform_data\" \"a\" {{\n  input = \"one\"\n\n  lifecycle {{\n    {condition}\n  }}\n}}\n"
        )
    };
    let rule = |kind: &str, test: &str| {
        with(&format!("{kind} {{\n      condition     = {test}\n      error_message = \"never\"\n    }}"))
    };
    let never = |rule: &str| format!("{rule}\nlocals {{\n  never = false\n}}\n");
    let precondition = never(&rule("precondition", "local.never"));
    refuses(&changed(&precondition), &[], "Resource precondition failed", "on main.tf line 6");
    refuses(
        &changed(&rule("postcondition", "self.input == 2")),
        &[],
        "Resource postcondition failed",
        "on main.tf line 6",
    );
    let kept = "resource \"terraform_data\" \"a\" {\n  input            = \"one\"\n  triggers_replace = 1\n\n  lifecycle {\n    \
                prevent_destroy = true\n  }\n}\n";
    refuses(&changed(kept), &[], "Resource instance cannot be destroyed", "on main.tf line 1");
    refuses(&changed(kept), &["-destroy"], "Resource instance cannot be destroyed", "on main.tf line 1");
    all_refuse_more(&[
        (
            "output \"o\" {\n  value = 1\n\n  precondition {\n    condition     = local.never\n    error_message = \"never\"\n  }\n}\n\n\
             locals {\n  never = false\n}\n",
            "Module output value precondition failed",
            "on main.tf line 9",
        ),
        ("output \"o\" {\n  value = sensitive(\"x\")\n}\n", "Output refers to sensitive values", "on main.tf line 5"),
    ]);
}

#[test]
fn providers_modules_and_backends_that_are_not_there() {
    all_refuse_more(&[
        ("resource \"nope_thing\" \"x\" {\n}\n", "Inconsistent dependency lock file", "hashicorp/nope"),
        ("module \"m\" {\n  source = \"./nowhere\"\n}\n", "Module not installed", "nowhere"),
        ("module \"m\" {\n  source = \"example.com/a/b/c\"\n}\n", "Module not installed", "on main.tf line 5"),
        ("resource \"random_id\" \"x\" {\n}\n", "Missing required argument", "on main.tf line 5"),
        (
            "provider \"random\" {\n  nope = 1\n}\n\nresource \"random_id\" \"x\" {\n  byte_length = 1\n}\n",
            "Unsupported argument",
            "on main.tf line 6",
        ),
        (
            "resource \"random_id\" \"x\" {\n  provider    = random.nope\n  byte_length = 1\n}\n",
            "Provider configuration not present",
            "on main.tf line 6",
        ),
        (
            "resource \"terraform_data\" \"b\" {\n  provisioner \"nope\" {\n  }\n}\n",
            "Missing required provisioner plugin",
            "on main.tf line 6",
        ),
        (
            "data \"terraform_remote_state\" \"x\" {\n  backend = \"local\"\n\n  config = {\n    path = \"nowhere.tfstate\"\n  \
             }\n}\n",
            "Unable to find remote state",
            "on main.tf line 5",
        ),
        ("terraform {\n  backend \"nope\" {\n  }\n}\n", "", "on main.tf line 6"),
        ("terraform {\n  cloud {\n  }\n}\n", "Unsupported backend type", "on main.tf line 6"),
    ]);
}

#[test]
fn moves_and_imports_that_cannot_be() {
    all_refuse(&[(
        "moved {\n  from = terraform_data.a\n  to   = terraform_data.x\n}\n\nmoved {\n  from = terraform_data.a\n  to   = \
         terraform_data.y\n}\n\nresource \"terraform_data\" \"x\" {\n}\n\nresource \"terraform_data\" \"y\" {\n}\n",
        "Ambiguous move statements",
        "on main.tf line 6",
    )]);
    all_refuse_more(&[
        (
            "moved {\n  from = terraform_data.a\n  to   = terraform_data.b\n}\n\nresource \"terraform_data\" \"b\" {\n}\n",
            "Moved object still exists",
            "on main.tf line 5",
        ),
        (
            "moved {\n  from = terraform_data.x\n  to   = terraform_data.y\n}\n\nmoved {\n  from = terraform_data.y\n  to   = \
             terraform_data.x\n}\n",
            "Cyclic dependency in move statements",
            "terraform_data.x",
        ),
        ("removed {\n  from = terraform_data.a\n}\n", "Removed resource block still exists", "on main.tf line 5"),
        ("import {\n  to = terraform_data.b\n  id = \"x\"\n}\n", "", "on main.tf line 5"),
        (
            "import {\n  to = random_integer.b\n  id = \"x\"\n}\n\nresource \"random_integer\" \"b\" {\n  min = 1\n  max = 2\n}\n",
            "Import Random Integer Error",
            "random_integer.b",
        ),
        (
            "import {\n  to = terraform_data.b\n  id = \"x\"\n}\n\nimport {\n  to = terraform_data.b\n  id = \"y\"\n}\n\n\
             resource \"terraform_data\" \"b\" {\n}\n",
            "Duplicate import configuration for \"terraform_data.b\"",
            "on main.tf line 10",
        ),
    ]);
}

#[test]
fn states_that_cannot_be_used() {
    let with = |text: &str| Sandbox::new().file("main.tf", START).file("terraform.tfstate", text);
    let newer = state().replacen("\"version\": 4", "\"version\": 5", 1);
    refuses(&with(&newer), &[], "Unsupported state file format", "terraform.tfstate");
    refuses(&with("not a state\n"), &[], "", "terraform.tfstate");
    refuses(&with(&state()[..state().len() / 2]), &[], "", "terraform.tfstate");
    refuses(&with("{}"), &[], "", "terraform.tfstate");
    refuses(&changed(START), &["-state=."], "", "");
}

#[test]
fn plan_files_that_cannot_be_used() {
    let sandbox = changed(&START.replace("one", "two")).file("junk", "no plan\n").file("zipped", "PK\u{3}\u{4}junk");
    assert_eq!(sandbox.run(&["plan", "-out=plan"]).code, 0);
    let before = sandbox.read("terraform.tfstate");
    let applies = |file: &str| {
        let outcome = sandbox.run(&["apply", file]);
        assert_eq!((outcome.code, sandbox.read("terraform.tfstate") == before), (1, true), "{}", told(&outcome));
        outcome.stderr
    };
    for file in ["nowhere", "junk", "zipped", "main.tf", "."] {
        let text = applies(file);
        assert!(text.contains(&format!("Error: Failed to load \"{file}\" as a plan file")), "{text}");
    }
    let (destroyed, options) =
        (sandbox.run(&["destroy", "plan"]), sandbox.run(&["apply", "-destroy", "-target=a.b", "plan"]));
    assert!(destroyed.stderr.contains("Error: Destroy can't be called with a plan file"), "{}", destroyed.stderr);
    assert!(options.stderr.contains("-target, -destroy"), "{}", options.stderr);
    assert_eq!((destroyed.code, options.code), (1, 1));
    let undeclared = sandbox.run(&["apply", "-var", "nope=1", "plan"]);
    assert!(undeclared.stderr.contains("Error: Value for undeclared variable"), "{}", undeclared.stderr);
    assert_eq!(sandbox.read("terraform.tfstate"), before);
}

#[test]
fn plan_files_of_another_time_or_place() {
    let sandbox = changed(&START.replace("one", "two"));
    assert_eq!(sandbox.run(&["plan", "-out=plan"]).code, 0);
    let other = state().replacen("\"lineage\": \"", "\"lineage\": \"0", 1);
    let later = state().replacen("\"serial\": 1", "\"serial\": 7", 1);
    for (text, summary) in [(other, "Saved plan does not match the given state"), (later, "Saved plan is stale")] {
        let sandbox =
            Sandbox::new().file("main.tf", START).file("terraform.tfstate", &text).copy("plan", &sandbox.path("plan"));
        let outcome = sandbox.run(&["apply", "plan"]);
        assert!(outcome.stderr.contains(&format!("Error: {summary}")), "{}", told(&outcome));
        assert_eq!((outcome.code, sandbox.read("terraform.tfstate")), (1, text));
    }
}

#[test]
fn plans_with_errors_can_be_saved_but_not_applied() {
    let config = "resource \"terraform_data\" \"n\" {\n}\n\nresource \"terraform_data\" \"c\" {\n  for_each = toset([terraform_data.n.id])\n}\n";
    let sandbox = changed(&format!("{START}\n{config}"));
    let planned = sandbox.run(&["plan", "-out=plan"]);
    assert_eq!(planned.code, 1);
    let outcome = sandbox.run(&["apply", "plan"]);
    assert!(outcome.stderr.contains("Error: Cannot apply incomplete plan"), "{}", told(&outcome));
    assert_eq!((outcome.code, sandbox.read("terraform.tfstate").as_str()), (1, state()));
}

#[test]
fn nothing_is_planned_where_nothing_is_configured() {
    let sandbox = Sandbox::new().file("terraform.tfstate", state());
    refuses(&sandbox, &[], "No configuration files", "");
    assert_eq!(sandbox.run(&["plan", "-destroy", "-detailed-exitcode"]).code, 2);
}

#[test]
fn flags_that_do_not_go_together() {
    let sandbox = changed(START).file("addresses", "# these\nterraform_data.a\n  terraform_data\n");
    for (flags, summary, place) in [
        (&["-destroy", "-refresh-only"][..], "Incompatible plan mode options", "mutually-exclusive"),
        (&["-refresh-only", "-refresh=false"], "Incompatible refresh options", "-refresh=false"),
        (&["-target=a.b", "-exclude=a.c"], "Invalid combination of arguments", "mutually-exclusive"),
        (&["-target=bad"], "Invalid target \"bad\"", "must include a resource type and name"),
        (&["-exclude=a.b.c"], "Invalid exclude \"a.b.c\"", "square brackets"),
        (&["-target-file=addresses"], "Invalid address", "on addresses line 3"),
        (&["-target-file=nowhere"], "Could not read nowhere", ""),
        (&["-replace=module.x"], "Invalid force-replace address \"module.x\"", "resource instance"),
        (&["-replace=data.a.b"], "Invalid force-replace address \"data.a.b\"", "Only managed resources"),
        (&["-parallelism=-1"], "Invalid parallelism value", "Not -1."),
        (&["-json-into=no/where.json"], "Invalid argument", "no/where.json"),
    ] {
        refuses(&sandbox, flags, summary, place);
    }
    let plan = |flags: &[&str]| sandbox.run(&[&["plan"], flags].concat()).stderr;
    assert!(plan(&["-generate-config-out=main.tf"]).contains("Error: Target generated file already exists"));
    assert!(plan(&["-generate-config-out=x.tf", "-destroy"]).contains("Error: Invalid generate-config-out flag"));
    let replaced = sandbox.run(&["destroy", "-replace=terraform_data.a"]);
    assert!(replaced.stderr.contains("Error: Unsupported plan mode"), "{}", replaced.stderr);
    assert!(plan(&["-destroy", "-replace=terraform_data.a"]).contains("Error: Unsupported plan mode"));
    for flags in [&["destroy", "-destroy"][..], &["destroy", "-refresh-only"]] {
        let outcome = sandbox.run(flags);
        assert!(outcome.stderr.contains("Error: Invalid mode option"), "{}", outcome.stderr);
        assert!(outcome.stderr.ends_with("run:\n  groma destroy -help\n"), "{}", outcome.stderr);
        assert_eq!(outcome.code, 1);
    }
    let json = sandbox.run(&["apply", "-json"]);
    assert!(json.stdout.contains("Plan file or auto-approve required"), "{}", json.stdout);
    let both = sandbox.run(&["plan", "-json", "-json-into=x.json"]);
    assert!(both.stdout.contains("The -json and -json-into arguments are mutually exclusive"), "{}", both.stdout);
    assert_eq!((json.code, both.code, sandbox.exists("x.json")), (1, 1, false));
}
