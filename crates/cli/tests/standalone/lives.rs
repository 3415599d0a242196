//! A Stack from its beginning to its end: what it asks for is there, stays, and goes.

use crate::stage::{AUTO, Stage, stack};

fn page(stage: &Stage, text: &str) -> String {
    let path = stage.path("out/page.txt");
    format!("resource \"local_file\" \"page\" {{\n  filename = \"{}\"\n  content  = \"{text}\"\n}}\n", path.display())
}

#[test]
fn what_files_ask_for_is_there_stays_and_goes() {
    let mut stage = Stage::new();
    let output = "output \"where\" {\n  value = local_file.page.filename\n}\n";
    stage.write(
        "stacks/app.yaml",
        &stack(
            "app",
            &format!("{AUTO}\noutputs: {{configMap: {{name: app}}}}"),
            &[("main.tf", &(page(&stage, "one") + output))],
        ),
    );
    stage.wait_until("app", "True", "");
    assert_eq!(stage.read("out/page.txt"), "one");
    assert_eq!(stage.state("app")["resources"][0]["type"], "local_file");
    assert_eq!(
        stage.well(&["stack", "outputs", "app", "-raw", "where"]).trim(),
        stage.path("out/page.txt").display().to_string()
    );
    // Another text, and it is changed.
    stage.write("stacks/app.yaml", &stack("app", AUTO, &[("main.tf", &page(&stage, "two"))]));
    stage.wait_for("the second page", || stage.read("out/page.txt") == "two");
    stage.wait_until("app", "True", "");
    // Somebody else changes it, and it is put right.
    stage.write("out/page.txt", "vandals");
    stage.well(&["stack", "reconcile", "app", "-wait"]);
    assert_eq!(stage.read("out/page.txt"), "two");
    // It is what it should be, and nothing is written.
    let runs = || std::fs::read_dir(stage.path(".groma/objects/runs.groma.dev/default")).unwrap().count();
    let (before, serial) = (runs(), stage.state("app")["serial"].clone());
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!((runs(), stage.state("app")["serial"].clone()), (before, serial));
    // Nobody wants it any more.
    stage.remove("stacks/app.yaml");
    stage.wait_for("the end", || stage.groma(&["stack", "get", "app"]).code == 1);
    assert_eq!(stage.read("out/page.txt"), "");
    assert!(!stage.path("out/page.txt").exists());
    assert!(!stage.path(".groma/states/default/app").exists());
    assert!(!stage.path(".groma/status/default/app.yaml").exists());
    assert_eq!(stage.stop(), Some(0));
}

#[test]
fn what_is_not_ready_is_told_and_mended_without_being_made_anew() {
    let stage = Stage::new();
    let main = |value: &str| format!("resource \"terraform_data\" \"release\" {{\n  input = \"{value}\"\n}}\n");
    let rule = "wait \"terraform_data.release\" {\n  until    = self.output == \"up\"\n  timeout  = \"200ms\"\n  interval = \"50ms\"\n}\n";
    let files = |value: &str| stack("app", AUTO, &[("main.tf", &main(value)), ("waits.groma.hcl", rule)]);
    stage.write("app.yaml", &files("broken"));
    stage.wait_until("app", "False", "not ready");
    let instance = stage.state("app")["resources"][0]["instances"][0].clone();
    assert_eq!(instance["status"], serde_json::Value::Null, "tainted");
    stage.write("app.yaml", &files("up"));
    stage.wait_until("app", "True", "");
    let after = stage.state("app")["resources"][0]["instances"][0].clone();
    assert_eq!(after["attributes"]["id"], instance["attributes"]["id"]);
}

#[test]
fn stacks_take_values_from_secrets_and_wait_for_each_other() {
    let stage = Stage::new();
    let value = "variable \"password\" {\n  sensitive = true\n}\nresource \"terraform_data\" \"a\" {\n  input = sha256(var.password)\n}\n";
    let spec = format!("{AUTO}\ninputs: {{varsFrom: [{{kind: Secret, name: db}}]}}");
    stage.write("app.yaml", &stack("app", &spec, &[("main.tf", value)]));
    stage.write("after.yaml", &stack("after", &format!("{AUTO}\ndependsOn: [{{name: app}}]"), &[("main.tf", "")]));
    stage.wait_until("app", "False", "Secret \"db\" is not there");
    stage.wait_until("after", "False", "");
    let secret =
        |text: &str| format!("apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\nstringData:\n  password: {text}\n");
    stage.write("secrets/db.yaml", &secret("hunter-one"));
    stage.wait_until("app", "True", "");
    stage.wait_until("after", "True", "");
    let before = stage.state("app")["serial"].clone();
    stage.write("secrets/db.yaml", &secret("hunter-two"));
    stage.wait_for("the new value", || stage.state("app")["serial"] != before);
    stage.wait_until("app", "True", "");
    for text in [stage.log(), stage.read(".groma/status/default/app.yaml"), stage.well(&["stack", "events", "app"])] {
        assert!(!text.contains("hunter"), "{text}");
    }
}

#[test]
fn programs_and_plugins_are_for_those_who_are_not_confined() {
    let mut stage = Stage::quiet();
    stage.start_with(&["-confine", "-files", "/nonexistent"]);
    stage.write("app.yaml", &stack("app", AUTO, &[("main.tf", &page(&stage, "one"))]));
    stage.wait_until("app", "False", "");
    assert_eq!(stage.read("out/page.txt"), "");
    stage.stop();
    stage.start();
    stage.well(&["stack", "reconcile", "app", "-wait"]);
    assert_eq!(stage.read("out/page.txt"), "one");
}
