//! Operators that are killed, and two for one directory.

use crate::stage::{AUTO, Stage, stack};

#[test]
fn a_second_operator_is_told_who_works() {
    let mut stage = Stage::new();
    stage.wait_for("the lock", || !stage.read(".groma/operator.lock").is_empty());
    let said = stage.groma(&["operator", "-standalone", "."]);
    assert_eq!(said.code, 1);
    let text = said.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("another operator works with it: process "), "{text}");
    let elsewhere = stage.groma(&["operator", "-standalone", ".", "-state-dir", "elsewhere"]);
    assert!(elsewhere.stderr.contains("keeps its state"), "{}", elsewhere.stderr);
    stage.kill();
    stage.start();
    stage.write("app.yaml", &stack("app", AUTO, &[("main.tf", "")]));
    stage.wait_until("app", "True", "");
}

#[test]
fn a_killed_apply_is_gone_on_with_and_makes_nothing_twice() {
    let mut stage = Stage::quiet();
    let log = stage.path("made.log");
    let slow = format!(
        "resource \"terraform_data\" \"a\" {{\n  count = 3\n  provisioner \"local-exec\" {{\n    command = \"echo ${{count.index}} >> {0}\"\n  }}\n}}\n\
         resource \"terraform_data\" \"b\" {{\n  depends_on = [terraform_data.a]\n  provisioner \"local-exec\" {{\n    command = \"echo begun >> {0}; test -e {1} || sleep 30\"\n  }}\n}}\n",
        log.display(),
        stage.path("go").display()
    );
    stage.write(
        "app.yaml",
        &stack("app", &format!("{AUTO}\nallowExec: true\nretry: {{interval: 1s}}"), &[("main.tf", &slow)]),
    );
    stage.start();
    stage.wait_for("the middle of an apply", || stage.read("made.log").contains("begun"));
    stage.kill();
    stage.write("go", "");
    stage.start();
    stage.wait_until("app", "True", "");
    let made = stage.read("made.log");
    let of_first = made.lines().filter(|line| *line != "begun").count();
    assert_eq!(of_first, 3, "{made}");
    let ids = |stage: &Stage| stage.state("app")["resources"].to_string();
    let before = ids(&stage);
    // However often it dies while nothing is to be done.
    for _ in 0..3 {
        stage.kill();
        stage.start();
        stage.well(&["stack", "reconcile", "app", "-wait"]);
    }
    assert_eq!(ids(&stage), before);
}

#[test]
fn a_stack_whose_file_goes_while_nobody_works_is_taken_down_later() {
    let mut stage = Stage::new();
    let main = format!(
        "resource \"local_file\" \"a\" {{\n  filename = \"{}\"\n  content = \"a\"\n}}\n",
        stage.path("a.txt").display()
    );
    stage.write("app.yaml", &stack("app", AUTO, &[("main.tf", &main)]));
    stage.write("other.yaml", &stack("other", AUTO, &[("main.tf", "")]));
    stage.wait_until("app", "True", "");
    assert_eq!(stage.stop(), Some(0));
    stage.remove("app.yaml");
    let said = stage.groma(&["stack", "-h"]);
    assert_eq!(said.code, 0);
    let said = stage.groma(&["stack", "get", "-standalone", "."]);
    assert!(said.stderr.contains("No operator works here now"), "{}", said.stderr);
    stage.start();
    stage.wait_for("the end", || !stage.path("a.txt").exists());
    stage.wait_for("the end", || !stage.path(".groma/status/default/app.yaml").exists());
}

#[test]
fn an_operator_that_is_asked_to_end_stores_what_was_done() {
    let mut stage = Stage::quiet();
    let main = format!(
        "resource \"local_file\" \"a\" {{\n  filename = \"{1}\"\n  content = \"a\"\n}}\n\
         resource \"terraform_data\" \"b\" {{\n  depends_on = [local_file.a]\n  provisioner \"local-exec\" {{\n    command = \"echo begun >> {0}; test -e {2} || sleep 30\"\n  }}\n}}\n",
        stage.path("made.log").display(),
        stage.path("a.txt").display(),
        stage.path("go").display()
    );
    let spec = format!("{AUTO}\nallowExec: true\nretry: {{interval: 1s}}");
    stage.write("app.yaml", &stack("app", &spec, &[("main.tf", &main)]));
    stage.start();
    stage.wait_for("the middle of an apply", || stage.read("made.log").contains("begun"));
    assert_eq!(stage.stop(), Some(0));
    let state = stage.state("app");
    let names: Vec<&str> =
        state["resources"].as_array().unwrap().iter().map(|known| known["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "b"]);
    let run = stage.read(".groma/objects/runs.groma.dev/default/app-1.json");
    let run: serde_json::Value = serde_json::from_str(&run).unwrap();
    assert_eq!(run["object"]["status"]["phase"], "Failed", "{run}");
    stage.write("go", "");
    stage.start();
    stage.wait_until("app", "True", "");
    assert_eq!(stage.read("a.txt"), "a");
}
