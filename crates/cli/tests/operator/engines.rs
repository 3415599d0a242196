//! Stacks that want OpenTofu or Terraform themselves: the real programs, with the state where it always is, and plans that are agreed to as
//! all others are.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::hook::{Hook, Reply};
use crate::stage::{Stage, condition, message};

const ENGINES: [&str; 2] = ["tofu", "terraform"];

/// The program that the environment names.
#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
fn peer(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set; run `cargo xtask test`")).into()
}

/// A configuration that needs no plugin.
const DATA: &str = r#"
variable "text" {
  default = "one"
}
variable "numbers" {
  type    = list(number)
  default = []
}
resource "terraform_data" "it" {
  input            = var.text
  triggers_replace = var.numbers
}
output "text" {
  value = terraform_data.it.output
}
output "sum" {
  value = sum(concat([0], var.numbers))
}
"#;

/// An operator that knows where both programs are, and where they find their plugins.
fn stage() -> Stage {
    stage_with(&[])
}

fn stage_with(more: &[&str]) -> Stage {
    let (tofu, terraform) = (peer("GROMA_TOFU"), peer("GROMA_TERRAFORM"));
    let words = ["-tofu", tofu.to_str().unwrap(), "-terraform", terraform.to_str().unwrap()];
    let mut stage = Stage::idle(&[&words[..], more].concat());
    let mirror = stage.path("mirror");
    for registry in ["registry.opentofu.org", "registry.terraform.io"] {
        let package = mirror.join(registry).join("hashicorp/local/2.9.0/linux_amd64");
        fs::create_dir_all(&package).unwrap();
        fs::copy(peer("GROMA_PROVIDER_LOCAL_CURRENT"), package.join("terraform-provider-local_v2.9.0")).unwrap();
    }
    let settings =
        format!("provider_installation {{\n  filesystem_mirror {{\n    path = \"{}\"\n  }}\n}}\n", mirror.display());
    for name in [".tofurc", ".terraformrc"] {
        fs::write(stage.path(name), &settings).unwrap();
    }
    stage.start();
    stage
}

fn spec(engine: &str, main: &str) -> Value {
    json!({"source": {"inline": {"main.tf": main}}, "engine": engine, "outputs": {"secret": {"name": format!("{engine}-out")}}})
}

fn file(path: &Path) -> String {
    format!("resource \"local_file\" \"it\" {{\n  filename = \"{}\"\n  content  = \"x\"\n}}\n", path.display())
}

/// From a Stack to infrastructure, to another one, and to nothing.
#[test]
fn engines_make_change_and_take_down() {
    let stage = stage();
    for engine in ENGINES {
        stage.stack(engine, spec(engine, DATA));
        let stack = stage.ready(engine);
        assert_eq!(message(&stack), "Applied: 1 added, 0 changed, 0 destroyed.");
        assert_eq!(stage.secret_data(&format!("{engine}-out"))["text"], "one");
        let run = stage.runs(engine).remove(0);
        assert_eq!((&run["spec"]["engine"], &run["status"]["resources"]), (&json!(engine), &json!(1)));
        assert!(run["status"]["plan"]["text"].as_str().unwrap().contains("terraform_data.it"), "{run}");
        let secret = format!("tfstate-default-{engine}");
        assert!(stage.api.find(&stage.at("v1", "secrets", &secret)).is_some());

        stage.edit(engine, &json!({"spec": {"inputs": {"values": {"text": "two", "numbers": [1, 2]}}}}));
        let stack = stage.ready(engine);
        assert_eq!(message(&stack), "Applied: 1 added, 0 changed, 1 destroyed.");
        let outputs = stage.secret_data(&format!("{engine}-out"));
        assert_eq!((outputs["text"].as_str(), outputs["sum"].as_str()), ("two", "3"));

        // Whoever took it over from there finds the same state.
        stage.edit(engine, &json!({"spec": {"engine": "native"}}));
        let stack = stage.until("it is looked at by groma", || {
            let stack = stage.ready(engine);
            (stage.runs(engine).last()?["spec"]["engine"] == "native").then_some(stack)
        });
        assert!(message(&stack).contains("No changes"), "{}", message(&stack));
        stage.edit(engine, &json!({"spec": {"engine": engine}}));
        stage.ready(engine);

        stage.delete(engine);
        assert!(stage.api.find(&stage.at("v1", "secrets", &secret)).is_none());
    }
}

/// Values of Secrets are texts, which are read as the declarations say, and are told nobody.
#[test]
fn engines_get_what_goes_in() {
    let stage = stage();
    stage.secret("vars", &json!({"text": "hunter2-hunter2", "numbers": "[3, 4]", "unknown": "x"}));
    for engine in ENGINES {
        let mut spec = spec(engine, DATA);
        spec["workspace"] = json!("other");
        spec["inputs"] = json!({
            "values": {"text": "not this"},
            "varsFrom": [{"kind": "Secret", "name": "vars"}],
        });
        stage.stack(engine, spec);
        stage.ready(engine);
        let outputs = stage.secret_data(&format!("{engine}-out"));
        assert_eq!((outputs["text"].as_str(), outputs["sum"].as_str()), ("hunter2-hunter2", "7"));
        let run = stage.runs(engine).remove(0).to_string();
        assert!(!run.contains("hunter2"), "{run}");
        assert!(stage.api.find(&stage.at("v1", "secrets", &format!("tfstate-other-{engine}"))).is_some());
        stage.delete(engine);
    }
    assert!(!stage.log().contains("hunter2"));
}

/// The plan that is carried out is the one that was agreed to, by the whole of its id.
#[test]
fn engines_wait_for_somebody_to_agree() {
    let stage = stage();
    for engine in ENGINES {
        let mut spec = spec(engine, DATA);
        spec["approval"] = json!({"mode": "manual"});
        spec["interval"] = json!("2s");
        stage.stack(engine, spec);
        let plan = stage.says(engine, "Unknown", "AwaitingApproval")["status"]["pending"]["plan"].clone();
        let id = plan.as_str().unwrap();
        let agree = |id: &str| json!({"metadata": {"annotations": {"groma.dev/approve": id}}});
        stage.edit(engine, &agree(&id[..id.len() - 1]));
        // The same plan is the same plan, however often it is made.
        stage.until("it is planned again", || (stage.runs(engine).len() > 1).then_some(()));
        let again = stage.says(engine, "Unknown", "AwaitingApproval");
        assert_eq!(again["status"]["pending"]["plan"], plan);
        stage.edit(engine, &agree(id));
        stage.ready(engine);
        let run = stage.runs(engine).into_iter().find(|run| !run["status"]["done"].is_null()).unwrap();
        assert_eq!(run["status"]["approval"]["plan"], plan);
        assert_eq!(run["status"]["done"]["add"], 1);
        stage.edit(engine, &json!({"spec": {"approval": {"mode": "auto"}}}));
        stage.delete(engine);
    }
}

/// What others change is found, and mended.
#[test]
fn engines_mend_what_others_change() {
    let stage = stage();
    for engine in ENGINES {
        let path = stage.path(engine);
        let mut spec = spec(engine, &file(&path));
        spec["interval"] = json!("1s");
        stage.stack(engine, spec);
        stage.ready(engine);
        fs::remove_file(&path).unwrap();
        stage.until("it is mended", || fs::read_to_string(&path).ok().filter(|text| text == "x"));
        let drifted = stage.until("it is said", || {
            let runs = stage.runs(engine);
            runs.iter().map(|run| run["status"]["drifted"].clone()).find(|drifted| !drifted.is_null())
        });
        assert_eq!(drifted, json!(["local_file.it"]));
        stage.delete(engine);
        assert!(!path.exists());
    }
}

/// What is wrong is told with file and line, and goes away when it is right.
#[test]
fn engines_say_what_is_wrong() {
    let stage = stage();
    for engine in ENGINES {
        let failed = |name: &str| {
            stage.until("the mistake", || {
                let stack = stage.get(name);
                (condition(&stack, "Ready")?["status"] == "False").then_some(stack)
            })
        };
        let mut wrong = spec(engine, "output \"it\" {\n  value = var.missing\n}\n");
        wrong["allowExec"] = json!(true);
        stage.stack(engine, wrong);
        let stack = failed(engine);
        assert!(message(&stack).contains("main.tf:2"), "{}", message(&stack));
        let told = stage.runs(engine)[0]["status"]["diagnostics"][0].clone();
        assert_eq!((&told["severity"], &told["at"]), (&json!("error"), &json!("main.tf:2")));
        stage.edit(engine, &json!({"spec": {"source": {"inline": {"main.tf": DATA}}}}));
        stage.ready(engine);
        stage.delete(engine);
        let refused = format!("{engine}-refused");
        stage.stack(&refused, spec(engine, &file(Path::new("/proc/nowhere/file"))));
        let stack = failed(&refused);
        assert_eq!(condition(&stack, "Ready").unwrap()["reason"], "ProviderRefused", "{}", message(&stack));
        assert!(message(&stack).contains("local_file.it"), "{}", message(&stack));
        stage.delete(&refused);
    }
}

/// Without the program nothing happens, and it is said what to do.
#[test]
fn an_engine_that_is_not_there_is_told() {
    let stage = Stage::with(&["-tofu", "/nowhere/tofu"]);
    stage.stack("it", spec("tofu", DATA));
    let stack = stage.says("it", "False", "InvalidConfiguration");
    for words in ["spec.engine: tofu needs OpenTofu", "/nowhere/tofu is no program", "-tofu=PATH"] {
        assert!(message(&stack).contains(words), "{}", message(&stack));
    }
    stage.edit("it", &json!({"spec": {"engine": "native"}}));
    stage.ready("it");
    stage.delete("it");
}

/// Programs are not started unless the Stack says so, wherever they are asked for; and nothing else of it begins either.
#[test]
fn engines_start_no_programs_unless_allowed() {
    let stage = stage();
    let mark = stage.path("mark");
    let exec = format!(
        "resource \"terraform_data\" \"it\" {{\n  provisioner \"local-exec\" {{\n    command = \"touch {}\"\n  }}\n}}\n",
        mark.display()
    );
    let call = "module \"m\" {\n  source = \"./m\"\n}\n";
    let external = "data \"external\" \"it\" {\n  program = [\"true\"]\n}\n";
    let key = "terraform {\n  encryption {\n    key_provider \"external\" \"k\" {\n      command = [\"true\"]\n    }\n  }\n}\n";
    for engine in ENGINES {
        let other = if engine == "tofu" { "main.tofu" } else { "main.tf" };
        let cases = [
            ("exec", json!({"main.tf": exec}), "local-exec"),
            ("inner", json!({"main.tf": call, "m/main.tf": exec}), "local-exec"),
            ("external", json!({"main.tf": external}), "data.external.it"),
            ("key", json!({"main.tf": key}), "external"),
            // Each of the engines reads another one of the two.
            (
                "hidden",
                json!({"main.tf": if other == "main.tf" { exec.as_str() } else { "" }, "main.tofu": if other == "main.tf" { "" } else { exec.as_str() }}),
                "local-exec",
            ),
        ];
        for (name, files, words) in cases {
            let name = format!("{engine}-{name}");
            stage.stack(&name, json!({"source": {"inline": files}, "engine": engine}));
            let stack = stage.says(&name, "False", "InvalidConfiguration");
            assert!(message(&stack).contains("spec.allowExec"), "{}", message(&stack));
            assert!(message(&stack).contains(words), "{}", message(&stack));
        }
        assert!(!mark.exists());
        let name = format!("{engine}-exec");
        stage.edit(&name, &json!({"spec": {"allowExec": true}}));
        stage.ready(&name);
        fs::remove_file(&mark).unwrap();
    }
    let mut spec = spec("tofu", DATA);
    spec["inputs"] = json!({"env": [{"name": "TF_CLI_CONFIG_FILE", "value": "mine"}]});
    stage.stack("env", spec);
    let stack = stage.says("env", "False", "InvalidSpec");
    assert!(message(&stack).contains("spec.inputs.env: TF_CLI_CONFIG_FILE"), "{}", message(&stack));
}

/// Whatever a configuration says about where its state is, the Stack decides.
#[test]
fn a_backend_of_a_configuration_does_not_hold_with_other_engines() {
    let stage = stage();
    let elsewhere = stage.path("elsewhere.tfstate");
    let own = format!("terraform {{\n  backend \"local\" {{\n    path = {elsewhere:?}\n  }}\n}}\n{DATA}");
    for engine in ["tofu", "terraform", "native"] {
        stage.stack(engine, spec(engine, &own));
        stage.ready(engine);
        let path = format!(
            "{}?fieldSelector=involvedObject.name={engine},reason=BackendOverridden",
            stage.at("v1", "events", "")
        );
        let told = stage.api.get(&path)["items"].as_array().unwrap().clone();
        assert!(told[0]["message"].as_str().unwrap().contains("backend \"local\" (main.tf:2)"), "{told:?}");
        assert!(stage.api.find(&stage.at("v1", "secrets", &format!("tfstate-default-{engine}"))).is_some());
        // Not even in a file that is read after ours.
        let files = json!({"main.tf": DATA, "zzz_override.tf": own.split(DATA).next().unwrap()});
        stage.edit(engine, &json!({"spec": {"source": {"inline": files}}}));
        let stack = stage.says(engine, "False", "InvalidConfiguration");
        assert!(message(&stack).contains("zzz_override.tf:2"), "{}", message(&stack));
    }
    assert!(!elsewhere.exists());
}

/// A run that somebody cancels is interrupted, and gives the state back.
#[test]
fn engines_are_cancelled() {
    let stage = stage();
    let slow =
        "resource \"terraform_data\" \"it\" {\n  provisioner \"local-exec\" {\n    command = \"sleep 600\"\n  }\n}\n";
    for engine in ENGINES {
        let mut spec = spec(engine, slow);
        spec["allowExec"] = json!(true);
        stage.stack(engine, spec);
        let phase = |wanted: &str| (stage.runs(engine).first()?["status"]["phase"] == wanted).then_some(());
        stage.until("it is applied", || phase("Applying"));
        let run = stage.at("groma.dev/v1alpha1", "runs", &format!("{engine}-1"));
        stage.api.edit(&run, &json!({"spec": {"cancel": true}}));
        stage.until("it is cancelled", || phase("Cancelled"));
        stage.edit(engine, &json!({"spec": {"source": {"inline": {"main.tf": DATA}}}}));
        stage.ready(engine);
    }
}

/// A run that takes too long is interrupted, and gives the state back.
#[test]
fn engines_have_deadlines() {
    let stage = stage();
    let slow =
        "resource \"terraform_data\" \"it\" {\n  provisioner \"local-exec\" {\n    command = \"sleep 60\"\n  }\n}\n";
    for engine in ENGINES {
        let mut spec = spec(engine, slow);
        spec["allowExec"] = json!(true);
        spec["timeouts"] = json!({"apply": "2s"});
        spec["retry"] = json!({"limit": 1});
        stage.stack(engine, spec);
        let stack = stage.says(engine, "False", "Timeout");
        assert!(message(&stack).contains("took longer"), "{}", message(&stack));
        stage.edit(engine, &json!({"spec": {"source": {"inline": {"main.tf": DATA}}, "timeouts": null}}));
        stage.ready(engine);
    }
}

/// Who looks before applying sees the plan of the engine that will make it, and nothing is written.
#[test]
fn a_plan_of_another_engine_can_be_looked_at_before() {
    let stage = stage();
    for (engine, variable) in [("tofu", "GROMA_TOFU_BINARY"), ("terraform", "GROMA_TERRAFORM_BINARY")] {
        let state = stage.at("v1", "secrets", &format!("tfstate-default-{engine}"));
        let look = |text: &str| {
            let mut spec = spec(engine, DATA);
            spec["inputs"] = json!({"values": {"text": text}});
            spec["approval"] = json!({"mode": "auto"});
            let metadata = json!({"name": engine, "namespace": stage.namespace});
            let stack =
                json!({"apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "metadata": metadata, "spec": spec});
            fs::write(stage.path("stack.yaml"), stack.to_string()).unwrap();
            let mut command = stage.groma(&["stack", "plan", "-f", "stack.yaml", "-detailed-exitcode"]);
            let output = command.env(variable, peer(&format!("GROMA_{}", engine.to_uppercase()))).output().unwrap();
            let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            (output.status.code().unwrap(), told)
        };
        let (code, told) = look("one");
        assert!(code == 2 && told.contains("1 to add"), "{told}");
        assert!(stage.api.find(&state).is_none());
        stage.stack(engine, spec(engine, DATA));
        stage.ready(engine);
        let before = stage.api.get(&state)["metadata"]["resourceVersion"].clone();
        assert_eq!(look("one").0, 0);
        let (code, told) = look("two");
        assert!(code == 2 && told.contains("1 to change"), "{told}");
        assert_eq!(stage.api.get(&state)["metadata"]["resourceVersion"], before);
        stage.delete(engine);
    }
}

/// Those who are asked about plans are asked about these, too.
#[test]
fn webhooks_are_asked_about_plans_of_other_engines() {
    let stage = stage_with(&[]);
    let hook = Hook::plain();
    hook.answers(&[Reply::new(200, json!({"allowed": false, "message": "not today"}))]);
    for engine in ENGINES {
        let main = "variable \"key\" {\n  default   = \"hunter2-hunter2\"\n  sensitive = true\n}\n\
                    resource \"terraform_data\" \"it\" {\n  input = var.key\n}\n";
        let mut spec = spec(engine, main);
        spec["webhooks"] = json!([{"name": "policy", "url": hook.url, "payload": "PlanOnly"}]);
        stage.stack(engine, spec);
        let stack = stage.says(engine, "False", "WebhookDenied");
        assert!(message(&stack).contains("not today"), "{}", message(&stack));
        let asked = hook.asked().pop().unwrap();
        let after = &asked.body["plan"]["resourceChanges"][0]["change"]["after"];
        assert_eq!(after["input"], "(sensitive value)", "{}", asked.text);
        assert!(!asked.text.contains("hunter2"), "{}", asked.text);
    }
}
