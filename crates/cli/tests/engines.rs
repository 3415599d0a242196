//! Terraform and OpenTofu as engines, the real ones, with plugins made with each of the usual libraries: what a failed creation leaves
//! tainted is kept by rule, or stays tainted for a reason that is said.
//!
//! `cargo xtask test` says where all of them are.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

#[path = "cli/fixtures.rs"]
mod fixtures;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "cli/sandbox.rs"]
mod sandbox;

use std::collections::BTreeSet;
use std::process::Command;

use fixtures::peer;
use sandbox::{Outcome, Sandbox};
use serde_json::Value;

/// The engines: what they are called, and who knows where they are.
const ENGINES: [(&str, &str); 2] = [("terraform", "GROMA_TERRAFORM"), ("tofu", "GROMA_TOFU")];

const CONFIG: &str = "\
terraform {
  required_providers {
    fixsdk = { source = \"groma/fixsdk\" }
    fixfw  = { source = \"groma/fixfw\" }
  }
}

variable \"error\" {
  type = string
}

resource \"fixsdk_thing\" \"a\" {
  name = \"a\"
  cues = { create_error = var.error, ready_after = 4 }
}

resource \"fixfw_thing\" \"b\" {
  name = \"b\"
  cues = { create_error = var.error, ready_after = 4 }
}

resource \"fixfw_thing\" \"dependent\" {
  name = \"on ${fixsdk_thing.a.id} and ${fixfw_thing.b.id}\"
}
";

const WAIT: &str = "\
wait \"fix*_thing\" {
  until    = self.status == \"available\"
  timeout  = \"1ms\"
  interval = \"1ms\"
}
";

const KEEP: &str = "on_create_error \"fix*_thing\" {\n  keep = true\n}\n";

/// A directory to drive an engine in.
struct Place {
    sandbox: Sandbox,
    engine: &'static str,
    variable: &'static str,
}

impl Place {
    fn new((engine, variable): (&'static str, &'static str), config: &str, rules: &str) -> Self {
        let sandbox = Sandbox::new()
            .file("main.tf", config)
            .file("rules.groma.hcl", rules)
            .file("cli.tfrc", &fixtures::cli_configuration())
            .file("world/.keep", "");
        let paths = ["cli.tfrc", "world"].map(|name| sandbox.path(name).display().to_string());
        let sandbox = sandbox
            .env("TF_CLI_CONFIG_FILE", &paths[0])
            .env("FIXTURE_WORLD", &paths[1])
            .env("CHECKPOINT_DISABLE", "1")
            .env("TF_VAR_error", "partial")
            .env("GROMA_ENGINE_BINARY", &peer(variable).display().to_string());
        Self { sandbox, engine, variable }
    }

    fn words<'a>(engine: &'a str, arguments: &[&'a str]) -> Vec<&'a str> {
        // What is being developed cannot be installed.
        ["run", "-engine", engine, "-init=never"].iter().chain(arguments).copied().collect()
    }

    /// Drives the engine.
    fn run(&self, arguments: &[&str]) -> Outcome {
        self.sandbox.run(&Self::words(self.engine, arguments))
    }

    /// What the engine itself says.
    fn engine(&self, arguments: &[&str]) -> String {
        let output = Command::new(peer(self.variable))
            .args(arguments)
            .current_dir(self.sandbox.path("."))
            .env_clear()
            .env("TF_CLI_CONFIG_FILE", self.sandbox.path("cli.tfrc"))
            .env("HOME", self.sandbox.path("."))
            .env("CHECKPOINT_DISABLE", "1")
            .env("TF_VAR_error", "partial")
            .env("FIXTURE_WORLD", self.sandbox.path("world"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The objects that there really are, by file name.
    fn objects(&self) -> BTreeSet<String> {
        fixtures::objects(&self.sandbox)
    }

    /// The addresses of tainted objects, as the engine shows them.
    fn tainted(&self) -> Vec<String> {
        let shown: Value = serde_json::from_str(&self.engine(&["show", "-json"])).unwrap();
        let resources = shown["values"]["root_module"]["resources"].as_array().cloned().unwrap_or_default();
        let tainted = resources.into_iter().filter(|resource| resource["tainted"] == true);
        tainted.map(|resource| resource["address"].as_str().unwrap().to_owned()).collect()
    }
}

/// What was said about tainted objects: address, whether it stays tainted, why.
fn settled(outcome: &Outcome) -> Vec<(String, bool, String)> {
    let lines = outcome.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect(line));
    let settled = lines.filter(|line| line["type"] == "taint_settled");
    let each = settled.map(|line| {
        let hook = &line["hook"];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&hook["resource"]["addr"]), hook["tainted"].as_bool().unwrap(), text(&hook["reason"]))
    });
    each.collect()
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_a_rule_keeps_is_the_same_object_until_the_apply_succeeds() {
    for engine in ENGINES {
        let place = Place::new(engine, CONFIG, &format!("{WAIT}{KEEP}"));
        let outcome = place.run(&["apply", "-auto-approve", "-no-color"]);
        assert_eq!(outcome.code, 1, "{}", outcome.stderr);
        let said = flat(&outcome.stdout);
        assert!(said.contains("fixfw_thing.b is kept, and not tainted any more: on_create_error at"), "{said}");
        assert!(
            said.contains("waiting for self.status == \"available\", last seen: self.status is \"pending\""),
            "{said}"
        );
        assert!(flat(&outcome.stderr).contains("Error: Failed on cue"), "{}", outcome.stderr);
        let made = place.objects();
        assert_eq!((made.len(), place.tainted()), (2, Vec::new()));
        let plan = place.run(&["plan", "-no-color", "-detailed-exitcode"]);
        assert_eq!(plan.code, 2);
        assert!(plan.stdout.contains("fixsdk_thing.a is not ready: waiting for self.status"), "{}", plan.stdout);
        // Nothing is built on what is not ready, however often it is tried.
        let mut codes = Vec::new();
        while codes.last() != Some(&0) {
            assert!(codes.len() < 10, "it never became ready");
            let outcome = place.run(&["apply", "-auto-approve", "-no-color"]);
            assert!(made.is_subset(&place.objects()), "something was made anew");
            if outcome.code != 0 {
                assert!(flat(&outcome.stderr).contains("Error: Resource not ready"), "{}", outcome.stderr);
                assert_eq!(place.objects(), made);
            }
            codes.push(outcome.code);
        }
        assert!(codes.len() > 1, "it was waited for");
        assert_eq!(place.objects().len(), 3);
        assert_eq!(place.run(&["plan", "-detailed-exitcode"]).code, 0);
        assert!(!place.engine(&["state", "pull"]).contains("groma_not_ready"));
        assert_eq!(place.run(&["destroy", "-auto-approve"]).code, 0);
        assert!(place.objects().is_empty());
    }
}

#[test]
fn without_a_rule_they_stay_tainted_and_machines_are_told_why() {
    for engine in ENGINES {
        let place = Place::new(engine, CONFIG, "on_create_error \"fixfw_thing\" {\n  keep = true\n}\n");
        let outcome = place.run(&["apply", "-auto-approve", "-json"]);
        assert_eq!(outcome.code, 1);
        let expected = [("fixfw_thing.b", false, "on_create_error"), ("fixsdk_thing.a", true, "no_rule")];
        assert_eq!(settled(&outcome), expected.map(|(address, tainted, why)| (address.into(), tainted, why.into())));
        // What the engine says is passed on.
        assert!(outcome.stdout.contains("\"type\":\"apply_errored\""), "{}", outcome.stdout);
        assert_eq!(place.tainted(), ["fixsdk_thing.a"]);
        let plan = place.engine(&["plan", "-no-color"]);
        assert!(plan.contains("fixsdk_thing.a is tainted, so"), "{plan}");
        // The next run finds it tainted and replaces it; what replaces it fails as well.
        let kept = place.objects().into_iter().find(|name| name.starts_with("fixfw")).unwrap();
        let outcome = place.run(&["apply", "-auto-approve", "-json"]);
        assert_eq!(settled(&outcome), [("fixsdk_thing.a".to_owned(), true, "no_rule".to_owned())]);
        assert!(place.objects().contains(&kept));
    }
}

#[test]
fn what_is_not_there_or_cannot_be_read_stays_tainted() {
    let thing = |kind: &str, name: &str, cue: &str| {
        format!(
            "resource \"{kind}_thing\" \"{name}\" {{\n  name = \"{name}\"\n  \
             cues = {{ create_error = \"partial\", {cue} = \"1\" }}\n}}\n"
        )
    };
    let things = [("fixsdk", "gone", "gone"), ("fixfw", "hidden", "read_error"), ("fixfw", "there", "warning")];
    let things = things.map(|(kind, name, cue)| thing(kind, name, cue)).concat();
    let config = format!("{}{things}", CONFIG.split("variable").next().unwrap());
    for engine in ENGINES {
        let place = Place::new(engine, &config, KEEP);
        let outcome = place.run(&["apply", "-auto-approve", "-json"]);
        assert_eq!(outcome.code, 1);
        let expected = [
            ("fixfw_thing.hidden", true, "unreadable"),
            ("fixfw_thing.there", false, "on_create_error"),
            ("fixsdk_thing.gone", true, "gone"),
        ];
        assert_eq!(settled(&outcome), expected.map(|(address, tainted, why)| (address.into(), tainted, why.into())));
        assert_eq!(place.tainted(), ["fixfw_thing.hidden", "fixsdk_thing.gone"]);
    }
}

#[test]
fn provisioners_are_not_left_out() {
    let provisioner = "  provisioner \"local-exec\" {\n    command = \"exit 1\"\n  }\n}\n";
    let config = "resource \"terraform_data\" \"d\" {\n".to_owned() + provisioner;
    for engine in ENGINES {
        let place = Place::new(engine, &config, "on_create_error \"terraform_data\" {\n  keep = true\n}\n");
        let outcome = place.run(&["apply", "-auto-approve", "-json"]);
        assert_eq!(outcome.code, 1);
        assert_eq!(settled(&outcome), [("terraform_data.d".to_owned(), true, "provisioners".to_owned())]);
    }
}

#[test]
fn a_saved_plan_has_the_values_that_are_needed_afterwards() {
    for engine in ENGINES {
        let place = Place::new(engine, &CONFIG.replace("var.error, ", "var.error, note = var.note, "), KEEP);
        let place = Place { sandbox: place.sandbox.file("note.tf", "variable \"note\" {}\n"), ..place };
        let plan = place.run(&["plan", "-var", "note=x", "-out=p.bin", "-no-color"]);
        assert_eq!(plan.code, 0, "{}", plan.stderr);
        let outcome = place.run(&["apply", "-json", "p.bin"]);
        assert_eq!(outcome.code, 1, "{}", outcome.stdout);
        assert!(
            settled(&outcome).iter().all(|(_, tainted, why)| !tainted && why == "on_create_error"),
            "{}",
            outcome.stdout
        );
        assert_eq!((place.tainted().len(), place.objects().len()), (0, 2));
        // Once nothing fails any more, the rest follows.
        let made = place.objects();
        let outcome = place.run(&["apply", "-auto-approve", "-var=note=x", "-no-color"]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        assert!(made.is_subset(&place.objects()) && place.objects().len() == 3);
    }
}

#[test]
fn an_interrupt_reaches_the_engine_once() {
    let config = CONFIG.replace("create_error = var.error", "create_delay = \"60s\", create_error = var.error");
    for engine in ENGINES {
        let place = Place::new(engine, &config, KEEP);
        let mut running = place.sandbox.begin(&Place::words(place.engine, &["apply", "-auto-approve", "-json"]));
        running.wait_for("\"type\":\"apply_start\"");
        running.signal("INT");
        let outcome = running.end();
        assert_eq!(outcome.code, 1);
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(said.contains("Stopping operation"), "{said}");
        assert!(!said.contains("Two interrupts"), "{said}");
    }
}

#[test]
fn working_directories_are_made_ready_when_they_are_not() {
    let config = "module \"m\" {\n  source = \"./m\"\n}\n";
    for (engine, variable) in ENGINES {
        let binary = format!("-engine-binary={}", peer(variable).display());
        let sandbox = Sandbox::new().file("main.tf", config).file("m/m.tf", "resource \"terraform_data\" \"d\" {}\n");
        let sandbox = sandbox.env("CHECKPOINT_DISABLE", "1");
        let run = |init: &str, arguments: &[&str]| {
            let init = format!("-init={init}");
            let words = [&["run", "-engine", engine, binary.as_str(), init.as_str()], arguments].concat();
            sandbox.run(&words)
        };
        let refused = run("never", &["apply", "-auto-approve", "-no-color"]);
        assert_eq!(refused.code, 1, "{}", refused.stdout);
        let outcome = run("auto", &["apply", "-auto-approve", "-no-color"]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        assert!(outcome.stdout.starts_with("Initializing with"), "{}", outcome.stdout);
        // A module more, and it is done again.
        let sandbox = Sandbox::file(sandbox, "more.tf", "module \"n\" {\n  source = \"./m\"\n}\n");
        let outcome = sandbox.run(&["run", "-engine", engine, &binary, "plan", "-no-color", "-detailed-exitcode"]);
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        let outcome = sandbox.run(&["run", "-engine", engine, &binary, "plan", "-no-color"]);
        assert!(!outcome.stdout.contains("Initializing with"), "{}", outcome.stdout);
    }
}

#[test]
fn the_wrong_program_is_named() {
    let place = Place::new(ENGINES[0], CONFIG, "");
    let outcome = place.sandbox.run(&["run", "-engine=tofu", "plan"]);
    assert_eq!(outcome.code, 1);
    assert!(flat(&outcome.stderr).contains("is Terraform 1."), "{}", outcome.stderr);
    let outcome = place.run(&["apply", "-state=other"]);
    assert!(outcome.stderr.contains("Unsupported argument for another engine"), "{}", outcome.stderr);
    let wrong = Place::new(ENGINES[0], CONFIG, "wait \"fixfw_thing\" {}\n");
    let outcome = wrong.run(&["plan", "-no-color"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("rules.groma.hcl"), "{}", outcome.stderr);
}

/// OpenTofu, but for what a script does first.
fn between(place: Place, script: &str) -> Place {
    use std::os::unix::fs::PermissionsExt as _;
    let text = format!("#!/bin/sh\nREAL={}\n{script}\nexec $REAL \"$@\"\n", peer(place.variable).display());
    let sandbox = place.sandbox.file("between", &text);
    let path = sandbox.path("between");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let sandbox = sandbox.env("GROMA_ENGINE_BINARY", &path.display().to_string());
    Place { sandbox, ..place }
}

const KEEP_B: &str = "on_create_error \"fixfw_thing\" {\n  keep = true\n}\n";

#[test]
fn what_others_have_done_to_the_state_meanwhile_is_not_lost() {
    let place = Place::new(ENGINES[1], CONFIG, KEEP_B);
    let script =
        "if [ \"$1 $2\" = 'state push' ] && [ ! -e moved ]; then touch moved; $REAL untaint fixsdk_thing.a >moved; fi";
    let place = between(place, script);
    let outcome = place.run(&["apply", "-auto-approve", "-json"]);
    assert_eq!(outcome.code, 1);
    assert!(place.sandbox.read("moved").contains("has been successfully untainted"));
    assert_eq!(settled(&outcome), [("fixfw_thing.b".to_owned(), false, "on_create_error".to_owned())]);
    assert_eq!(place.tainted(), Vec::<String>::new());
}

#[test]
fn what_cannot_be_written_down_stays_tainted() {
    let place = between(Place::new(ENGINES[1], CONFIG, KEEP_B), "[ \"$1 $2\" = 'state push' ] && exit 3");
    let outcome = place.run(&["apply", "-auto-approve", "-json"]);
    assert_eq!(outcome.code, 1);
    let expected = [("fixfw_thing.b", true, "not_written"), ("fixsdk_thing.a", true, "no_rule")];
    assert_eq!(settled(&outcome), expected.map(|(address, tainted, why)| (address.into(), tainted, why.into())));
    assert_eq!(place.tainted(), ["fixfw_thing.b", "fixsdk_thing.a"]);
}

#[test]
fn an_engine_that_is_ended_from_outside_is_no_success() {
    let place = between(Place::new(ENGINES[1], CONFIG, KEEP_B), "[ \"$1\" = apply ] && kill -KILL $$");
    let outcome = place.run(&["apply", "-auto-approve", "-no-color"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("Error: Engine ended early"), "{}", outcome.stderr);
}

#[test]
fn a_configuration_that_keeps_an_object_from_being_ready_can_be_mended() {
    let rules =
        "wait \"fixsdk_thing.a\" {\n  until    = self.size == 2\n  timeout  = \"1ms\"\n  interval = \"1ms\"\n}\n";
    let things = "resource \"fixsdk_thing\" \"a\" {\n  name = \"a\"\n  size = SIZE\n  cues = { create_error = \"partial\" }\n}\n\
                  resource \"fixsdk_thing\" \"dependent\" {\n  name = fixsdk_thing.a.id\n}\n";
    let config = format!("{}{things}", CONFIG.split("variable").next().unwrap());
    for engine in ENGINES {
        let place = Place::new(engine, &config.replace("SIZE", "1"), rules);
        let outcome = place.run(&["apply", "-auto-approve", "-json"]);
        assert_eq!(settled(&outcome), [("fixsdk_thing.a".to_owned(), false, "wait".to_owned())]);
        let made = place.objects();
        let place = Place { sandbox: place.sandbox.file("main.tf", &config.replace("SIZE", "3")), ..place };
        let outcome = place.run(&["apply", "-auto-approve", "-no-color"]);
        assert_eq!(outcome.code, 1);
        assert!(flat(&outcome.stderr).contains("-target=fixsdk_thing.a"), "{}", outcome.stderr);
        let outcome = place.run(&["apply", "-auto-approve", "-no-color", "-target=fixsdk_thing.a"]);
        assert_eq!(outcome.code, 1, "{}", outcome.stderr);
        assert!(flat(&outcome.stderr).contains("Last seen: self.size is 3"), "{}", outcome.stderr);
        let pulled = place.engine(&["state", "pull"]);
        assert!(!pulled.contains("tainted"), "{pulled}");
        let place = Place { sandbox: place.sandbox.file("main.tf", &config.replace("SIZE", "2")), ..place };
        assert_eq!(place.run(&["apply", "-auto-approve", "-no-color"]).code, 1, "it is still waited for");
        let outcome = place.run(&["apply", "-auto-approve", "-json", "-target=fixsdk_thing.a"]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        assert!(outcome.stdout.contains("\"type\":\"wait_complete\""), "{}", outcome.stdout);
        assert_eq!(place.objects(), made, "it was changed in place");
        let outcome = place.run(&["apply", "-auto-approve", "-json"]);
        assert_eq!(outcome.code, 0, "{}", outcome.stdout);
        assert!(made.is_subset(&place.objects()) && place.objects().len() == 2);
    }
}

#[test]
fn with_groma_itself_it_is_the_same_as_without_run() {
    let sandbox = Sandbox::new().file("main.tf", "resource \"terraform_data\" \"d\" {}\n");
    let outcome = sandbox.run(&["run", "apply", "-auto-approve", "-no-color"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert_eq!(sandbox.run(&["run", "-engine=groma", "plan", "-detailed-exitcode"]).code, 0);
    assert_eq!(sandbox.run(&["run", "-engine=nope", "plan"]).code, 1);
    let outcome = sandbox.run(&["run", "-engine=tofu", "state", "list"]);
    assert_eq!(outcome.code, 1);
    assert!(flat(&outcome.stderr).contains("init, plan, apply, destroy, refresh"), "{}", outcome.stderr);
    let help = sandbox.run(&["run", "-help"]);
    assert_eq!(help.code, 0);
    assert!(help.stdout.contains("groma run -engine=terraform apply -auto-approve -json"), "{}", help.stdout);
}

#[test]
fn nothing_of_a_secret_is_said() {
    const SECRET: &str = "canary-of-the-engines";
    let rules = "wait \"fixsdk_thing\" {\n  until    = self.secret == self.name\n  timeout  = \"1ms\"\n  interval = \"1ms\"\n}\n";
    let thing = format!(
        "resource \"fixsdk_thing\" \"a\" {{\n  name = \"a\"\n  secret = \"{SECRET}\"\n  cues = {{ create_error = \"partial\" }}\n}}\n"
    );
    let config = format!("{}{thing}", CONFIG.split("variable").next().unwrap());
    for engine in ENGINES {
        let place = Place::new(engine, &config, rules);
        let first = place.run(&["apply", "-auto-approve", "-json"]);
        assert_eq!(settled(&first), [("fixsdk_thing.a".to_owned(), false, "wait".to_owned())]);
        let second = place.run(&["apply", "-auto-approve", "-no-color"]);
        assert_eq!(second.code, 1);
        assert!(flat(&second.stderr).contains("Last seen: self.name is \"a\"."), "{}", second.stderr);
        for said in [&first.stdout, &first.stderr, &second.stdout, &second.stderr] {
            assert!(!said.contains(SECRET), "{said}");
        }
    }
}
