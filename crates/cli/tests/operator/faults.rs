//! What fails around an operator: the API server, other operators, those who write all the time, and the operator itself, which is asked to end. Where it
//! is killed is in `kills` and `restarts`, and what comes of requests that are not answered in `storms`.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::server::OwnServer;
use crate::stage::{Stage, now};

/// A configuration that takes a while, and counts how often it was carried out.
pub(crate) fn counted(stage: &Stage, name: &str, wait: &str) -> Value {
    let count = stage.path(&format!("{name}.count"));
    let main = format!(
        "resource \"random_string\" \"it\" {{\n  length = 8\n}}\n\
         resource \"terraform_data\" \"it\" {{\n  input = random_string.it.result\n  provisioner \"local-exec\" {{\n    command = \"echo made >> {}\"\n  }}\n}}\n\
         resource \"time_sleep\" \"it\" {{\n  create_duration = {wait:?}\n  triggers = {{ it = terraform_data.it.output }}\n}}\n\
         output \"it\" {{\n  value = random_string.it.result\n}}\n",
        count.display()
    );
    json!({
        "source": {"inline": {"main.tf": main}}, "allowExec": true, "retry": {"interval": "100ms"},
        "outputs": {"secret": {"name": format!("{name}-out")}},
    })
}

/// How often it was carried out.
pub(crate) fn count(stage: &Stage, name: &str) -> usize {
    fs::read_to_string(stage.path(&format!("{name}.count"))).unwrap_or_default().lines().count()
}

#[track_caller]
pub(crate) fn begun(stage: &Stage, name: &str) {
    stage.until(&format!("{name} is carried out"), || (count(stage, name) > 0).then_some(()));
}

/// No plan was carried out by two Runs. One that was killed before anything was written down has carried out nothing: the next plan is the same.
#[track_caller]
pub(crate) fn each_plan_once(stage: &Stage, name: &str) {
    let applied =
        |run: &Value| (run["status"]["phase"] == "Succeeded").then(|| run["status"]["plan"]["id"].to_string());
    let plans: Vec<String> = stage.runs(name).iter().filter_map(applied).collect();
    let different: BTreeSet<&String> = plans.iter().collect();
    assert_eq!(different.len(), plans.len(), "{plans:?}");
}

/// Nothing is lost when the API server is away while plans are carried out, and nothing is made twice.
#[test]
fn an_api_server_that_goes_and_comes_loses_nothing() {
    let mut server = OwnServer::start();
    let stage = Stage::on(server.reach(), &[]);
    let names = ["one", "two", "three"];
    for name in names {
        stage.stack(name, counted(&stage, name, "1s"));
    }
    for name in &names {
        begun(&stage, name);
    }
    server.kill();
    // What is under way ends while nobody answers.
    std::thread::sleep(Duration::from_secs(2));
    server.start_again(&[]);
    let start = now();
    for name in names {
        stage.ready(name);
        assert_eq!(count(&stage, name), 1, "{name}\n{}", stage.log());
        each_plan_once(&stage, name);
        assert_eq!(stage.secret_data(&format!("{name}-out"))["it"].len(), 8);
    }
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
    // It goes on as before.
    stage.inline("four", "output \"it\" {\n  value = 1\n}\n");
    stage.ready("four");
}

/// One of two operators works; the other one begins when that is gone, soon if it says so, and after a while if it does not.
#[test]
fn one_of_two_operators_works() {
    let mut one = Stage::idle(&[]);
    one.lease_in_own_namespace();
    let mut two = one.beside();
    one.start();
    one.inline("first", "output \"it\" {\n  value = 1\n}\n");
    one.ready("first");
    two.start();
    one.until("the other one waits", || two.log().contains("another operator leads").then_some(()));
    one.inline("second", "output \"it\" {\n  value = 1\n}\n");
    one.ready("second");
    assert!(!two.log().contains("this operator works"));
    let start = now();
    assert_eq!(one.end(), 0);
    one.inline("third", "output \"it\" {\n  value = 1\n}\n");
    two.ready("third");
    // The lease would have held for longer than that.
    assert!(start.elapsed() < Duration::from_secs(14), "{:?}", start.elapsed());
    // Now the other way round, without a word.
    one.start();
    two.kill();
    let start = now();
    one.inline("fourth", "output \"it\" {\n  value = 1\n}\n");
    one.ready("fourth");
    assert!(start.elapsed() < Duration::from_secs(50), "{:?}", start.elapsed());
    for name in ["first", "second", "third", "fourth"] {
        assert_eq!(one.runs(name).len(), 1);
    }
}

/// Somebody who writes on everything all the time keeps nobody from getting there.
#[test]
fn a_storm_of_writes_is_weathered() {
    let stage = Stage::new();
    let names: Vec<String> = (0..4).map(|number| format!("it-{number}")).collect();
    let over = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = ["stacks", "runs"]
        .into_iter()
        .map(|plural| {
            let (api, over, list) = (stage.api.clone(), Arc::clone(&over), stage.at("groma.dev/v1alpha1", plural, ""));
            std::thread::spawn(move || {
                let mut count = 0_u32;
                while !over.load(Ordering::SeqCst) {
                    // A server that has just learnt of a kind may have no time yet.
                    let Ok((_, found)) = api.ask("GET", &list, "application/json", None) else { continue };
                    for object in found["items"].as_array().cloned().unwrap_or_default() {
                        count += 1;
                        let path = format!("{list}/{}", object["metadata"]["name"].as_str().unwrap());
                        let note = json!({"metadata": {"annotations": {"storm": count.to_string()}}});
                        // It may be gone by now.
                        let _ = api.ask("PATCH", &path, "application/merge-patch+json", Some(&note));
                    }
                }
                count
            })
        })
        .collect();
    for name in &names {
        stage.stack(name, counted(&stage, name, "10ms"));
    }
    for name in &names {
        stage.ready(name);
        assert_eq!((count(&stage, name), stage.runs(name).len()), (1, 1));
    }
    for name in &names {
        stage.api.delete(&stage.at_stack(name));
    }
    for name in &names {
        stage.gone(name);
    }
    over.store(true, Ordering::SeqCst);
    let written: u32 = writers.into_iter().map(|writer| writer.join().unwrap()).sum();
    assert!(written > 50, "{written}");
}

/// An operator that is asked to end while a plan is carried out does so in an orderly way, and the next one goes on.
#[test]
fn an_operator_ends_in_an_orderly_way() {
    let mut stage = Stage::new();
    stage.stack("it", counted(&stage, "it", "60s"));
    begun(&stage, "it");
    let start = now();
    assert_eq!(stage.end(), 0);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    let run = stage.runs("it").remove(0);
    assert_eq!(
        (&run["status"]["phase"], &run["status"]["failure"]),
        (&json!("Failed"), &json!("Interrupted")),
        "{run}"
    );
    let lease = stage.api.find(&stage.at("coordination.k8s.io/v1", "leases", "lock-tfstate-default-it"));
    let holder = lease.map(|lease| lease["spec"]["holderIdentity"].clone()).unwrap_or_default();
    assert!(holder.is_null() || holder == "", "{holder}");
    let quick = counted(&stage, "it", "10ms");
    stage.edit("it", &json!({"spec": {"source": quick["source"]}}));
    stage.start();
    stage.ready("it");
    // What was made before is known.
    assert_eq!(count(&stage, "it"), 1);
    each_plan_once(&stage, "it");
}
