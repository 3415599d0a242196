//! When runs begin: by the clock, and in turns that are fair to all namespaces.

use std::fs;
use std::time::Duration;

use serde_json::json;

use crate::stage::{Stage, now};

/// A schedule fires at the minute that it names, and mends what was changed.
#[test]
fn a_schedule_fires() {
    let stage = Stage::new();
    let path = stage.path("file");
    let main =
        format!("resource \"local_file\" \"it\" {{\n  filename = \"{}\"\n  content  = \"x\"\n}}\n", path.display());
    stage.stack("it", json!({"source": {"inline": {"main.tf": main}}, "schedule": "* * * * *"}));
    stage.ready("it");
    fs::remove_file(&path).unwrap();
    let start = now();
    while !path.exists() {
        assert!(start.elapsed() < Duration::from_secs(100), "{}", stage.log());
        std::thread::sleep(Duration::from_millis(50));
    }
    let run = stage.until("it is over", || {
        stage.runs("it").into_iter().rfind(|run| run["status"]["phase"] == "Succeeded" && run["spec"]["number"] != 1)
    });
    assert_eq!(run["spec"]["causes"], json!([{"reason": "Due"}]));
    let made = run["metadata"]["creationTimestamp"].as_str().unwrap();
    let second: u32 = made.trim_end_matches('Z').rsplit(':').next().unwrap().parse().unwrap();
    assert!(second < 20, "{made}");
}

/// A namespace with many Stacks that fail again and again does not keep another one waiting for longer than a run takes.
#[test]
fn failures_elsewhere_delay_nobody() {
    let mut stage = Stage::idle(&["-runs", "4"]);
    let other = stage.beside_in_another_namespace();
    stage.also_in(&other.namespace);
    stage.start();
    // Each takes two seconds to fail.
    let bad = "resource \"time_sleep\" \"it\" {\n  create_duration = \"2s\"\n}\n\
               output \"it\" {\n  value = time_sleep.it.id\n  precondition {\n    condition     = time_sleep.it.id == \"\"\n    \
               error_message = \"never\"\n  }\n}\n";
    for number in 0..100 {
        let spec =
            json!({"source": {"inline": {"main.tf": bad}}, "retry": {"interval": "100ms", "maxInterval": "100ms"}});
        stage.stack(&format!("bad-{number}"), spec);
    }
    let in_phase = |phase: &str| {
        let runs = stage.api.get(&stage.at("groma.dev/v1alpha1", "runs", ""));
        runs["items"].as_array().unwrap().iter().filter(|run| run["status"]["phase"] == phase).count()
    };
    stage.until("there is something to wait for", || (in_phase("Applying") == 4).then_some(()));
    let start = now();
    other.inline("good", "output \"it\" {\n  value = 1\n}\n");
    other.ready("good");
    let took = start.elapsed();
    // The others would have taken 50 seconds.
    assert!(took < Duration::from_secs(12), "{took:?}");
    let runs = stage.api.count(&stage.at("groma.dev/v1alpha1", "runs", ""));
    assert!(runs - in_phase("Failed") > 20, "{runs}");
}
