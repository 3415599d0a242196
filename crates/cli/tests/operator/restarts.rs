//! Operators that are killed while plans are carried out, with another one that stands by, and with many that wait: nothing is lost, nothing is made
//! twice, and there are never more at once than there may be.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::faults::each_plan_once;
use crate::stage::Stage;

/// How many runs there may be at once.
const MOST: usize = 20;

/// Two programs that leave a line each, one after the other, and something that takes a while. The second begins when it is written down that the first
/// is done, so whoever sees its line knows that.
fn two_steps(stage: &Stage, name: &str, wait: &str) -> Value {
    let path = |end: &str| stage.path(&format!("{name}.{end}")).display().to_string();
    let (first, second) = (path("first"), path("second"));
    let main = format!(
        "resource \"random_string\" \"it\" {{\n  length  = 8\n  special = false\n}}\n\
         resource \"terraform_data\" \"first\" {{\n  input = random_string.it.result\n  provisioner \"local-exec\" {{\n    command = \"echo ${{self.input}} >> {first}\"\n  }}\n}}\n\
         resource \"terraform_data\" \"second\" {{\n  input = terraform_data.first.output\n  provisioner \"local-exec\" {{\n    command = \"echo ${{self.input}} >> {second}\"\n  }}\n}}\n\
         resource \"time_sleep\" \"it\" {{\n  create_duration = {wait:?}\n  triggers = {{ it = terraform_data.second.output }}\n}}\n\
         output \"it\" {{\n  value = time_sleep.it.triggers.it\n}}\n"
    );
    json!({
        "source": {"inline": {"main.tf": main}}, "allowExec": true, "retry": {"interval": "100ms"},
        "outputs": {"secret": {"name": format!("{name}-out")}},
    })
}

fn lines(stage: &Stage, name: &str, end: &str) -> Vec<String> {
    let text = fs::read_to_string(stage.path(&format!("{name}.{end}"))).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// What was made before is what there is now, and it was made once.
#[track_caller]
fn nothing_was_lost(stage: &Stage, name: &str) {
    let value = stage.secret_data(&format!("{name}-out"))["it"].clone();
    assert_eq!(lines(stage, name, "first"), [value.as_str()], "{name}\n{}", stage.log());
    assert!(lines(stage, name, "second").iter().all(|line| *line == value), "{name}");
    each_plan_once(stage, name);
    let mut last_end = String::new();
    for run in stage.runs(name) {
        let phases = run["status"]["phases"].as_array().unwrap().clone();
        let began = phases.first().unwrap()["began"].as_str().unwrap().to_owned();
        assert!(began >= last_end, "{name}: {run}");
        phases.last().unwrap()["began"].as_str().unwrap().clone_into(&mut last_end);
    }
}

/// The one that works is killed while it carries out a plan. The one that stood by finds what was done, and goes on from there.
#[test]
fn a_leader_that_is_killed_while_it_applies_is_followed() {
    let mut one = Stage::idle(&[]);
    one.lease_in_own_namespace();
    let mut two = one.beside();
    one.start();
    one.until("it works", || one.log().contains("this operator works").then_some(()));
    two.start();
    two.until("the other one waits", || two.log().contains("another operator leads").then_some(()));
    one.stack("it", two_steps(&one, "it", "5s"));
    one.until("it is carried out", || (!lines(&one, "it", "second").is_empty()).then_some(()));
    assert_eq!(one.runs("it")[0]["status"]["phase"], "Applying");
    one.kill();
    two.until("it is written down that it was cut off", || {
        (two.runs("it").first()?["status"]["failure"] == "Interrupted").then_some(())
    });
    two.ready("it");
    nothing_was_lost(&one, "it");
    let runs = two.runs("it");
    assert_eq!((runs.len(), &runs[1]["status"]["phase"]), (2, &json!("Succeeded")), "{runs:?}");
    // The state has its resources in it once, and nobody holds its lock.
    assert_eq!(two.get("it")["status"]["resources"], 4);
    let lease = two.api.find(&two.at("coordination.k8s.io/v1", "leases", "lock-tfstate-default-it"));
    let holder = lease.map(|lease| lease["spec"]["holderIdentity"].clone()).unwrap_or_default();
    assert!(holder.is_null() || holder == "", "{holder}");
}

/// How many Runs each operator works on.
fn at_work(stage: &Stage) -> BTreeMap<String, usize> {
    let busy = ["Initialising", "Planning", "Applying", "Verifying"];
    let mut found = BTreeMap::new();
    for run in stage.api.get(&stage.at("groma.dev/v1alpha1", "runs", ""))["items"].as_array().unwrap() {
        let status = &run["status"];
        if let Some(holder) = status["holder"].as_str().filter(|_| busy.iter().any(|phase| status["phase"] == *phase)) {
            *found.entry(holder.to_owned()).or_default() += 1;
        }
    }
    found
}

/// Killed with as many runs under way as there may be, and more that wait: those that come after it do what is left, and no more of them at once.
#[test]
fn a_restart_with_many_runs_under_way_makes_nothing_twice() {
    let mut stage = Stage::idle(&["-runs", &MOST.to_string()]);
    let names: Vec<String> = (0..MOST + 6).map(|number| format!("it-{number:02}")).collect();
    for name in &names {
        stage.stack(name, two_steps(&stage, name, "8s"));
    }
    stage.start();
    let begun = |stage: &Stage| names.iter().filter(|name| !lines(stage, name, "second").is_empty()).count();
    stage.until("as many as there may be are carried out", || (begun(&stage) >= MOST).then_some(()));
    assert!(at_work(&stage).values().all(|many| *many <= MOST), "{:?}", at_work(&stage));
    stage.kill();
    // What they had still to do takes less long now, so that it is not waited for.
    for name in &names {
        stage.edit(name, &json!({"spec": {"source": two_steps(&stage, name, "1s")["source"]}}));
    }
    stage.start();
    let mut left: BTreeSet<&String> = names.iter().collect();
    let mut most = 0;
    stage.until("everything is there", || {
        most = at_work(&stage).into_values().max().unwrap_or_default().max(most);
        let stacks = stage.api.get(&stage.at_stack(""));
        for stack in stacks["items"].as_array().unwrap() {
            let name = stack["metadata"]["name"].as_str().unwrap().to_owned();
            let is_current = stack["status"]["observedGeneration"] == stack["metadata"]["generation"];
            if is_current && crate::stage::condition(stack, "Ready").is_some_and(|ready| ready["status"] == "True") {
                left.remove(&name);
            }
        }
        std::thread::sleep(Duration::from_millis(100));
        left.is_empty().then_some(())
    });
    assert!((1..=MOST).contains(&most), "{most}");
    for name in &names {
        nothing_was_lost(&stage, name);
        let runs = stage.runs(name);
        assert!(runs.len() <= 2, "{name}: {runs:?}");
    }
}
