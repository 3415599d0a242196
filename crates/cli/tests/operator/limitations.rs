//! The seven limitations that the document names which this began with, each with what takes its place.

use std::fs;
use std::time::Duration;

use serde_json::json;

use crate::api::eventually;
use crate::stage::{Stage, condition, message, now};

const NAME: &str = "resource \"random_string\" \"name\" {\n  length = 8\n}\noutput \"name\" {\n  value = random_string.name.result\n}\n";

/// A configuration with a file, which others may take away.
fn file(path: &str) -> String {
    format!("resource \"local_file\" \"it\" {{\n  filename = {path:?}\n  content  = \"ours\"\n}}\n")
}

/// 1: state is kept. Whatever of runs is gone, the object is still the same one.
#[test]
fn limitation_1_the_state_outlives_everything_else() {
    let mut stage = Stage::new();
    stage.stack("name", json!({"source": {"inline": {"main.tf": NAME}}, "outputs": {"secret": {"name": "out"}}}));
    stage.ready("name");
    let first = stage.secret_data("out")["name"].clone();
    stage.kill();
    stage.api.delete(&stage.at("groma.dev/v1alpha1", "runs", "name-1"));
    stage.api.delete(&stage.at("v1", "secrets", "out"));
    let secrets = stage.api.get(&stage.at("v1", "secrets", ""));
    for secret in secrets["items"].as_array().unwrap() {
        let name = secret["metadata"]["name"].as_str().unwrap();
        if name.starts_with("name-bundle") {
            stage.api.delete(&stage.at("v1", "secrets", name));
        }
    }
    fs::remove_dir_all(stage.path("runs")).unwrap();
    stage.start();
    stage.edit("name", &json!({"metadata": {"annotations": {"groma.dev/requested-at": "now"}}}));
    let run = stage.until("another run", || {
        stage.runs("name").last().filter(|run| run["status"]["phase"] == "Succeeded").cloned()
    });
    assert_eq!(run["status"]["message"], "No changes: all is as it should be.");
    stage.ready("name");
    assert_eq!(stage.secret_data("out")["name"], first);
}

/// 2: what others change is noticed, and mended.
#[test]
fn limitation_2_drift_is_corrected() {
    let stage = Stage::new();
    let path = stage.path("file");
    stage.stack("file", json!({"source": {"inline": {"main.tf": file(path.to_str().unwrap())}}, "interval": "1s"}));
    stage.ready("file");
    fs::remove_file(&path).unwrap();
    stage.until("the file comes back", || fs::read_to_string(&path).ok().filter(|text| text == "ours"));
    let runs = stage.runs("file");
    assert!(runs.iter().any(|run| run["status"]["drifted"] == json!(["local_file.it"])), "{runs:?}");
}

/// 2: or only told.
#[test]
fn limitation_2_drift_is_reported() {
    let stage = Stage::new();
    let path = stage.path("file");
    let main = file(path.to_str().unwrap());
    stage.stack("file", json!({"source": {"inline": {"main.tf": main}}, "interval": "1s", "drift": "report"}));
    stage.ready("file");
    fs::remove_file(&path).unwrap();
    let stack = stage.says("file", "False", "DriftDetected");
    assert_eq!(message(&stack), "Changed by others, and left as it is: local_file.it.");
    assert_eq!(stack["status"]["drift"]["addresses"], json!(["local_file.it"]));
    assert!(!path.exists());
    fs::write(&path, "ours").unwrap();
    stage.edit("file", &json!({"spec": {"drift": "correct"}}));
    stage.ready("file");
}

/// 2: or mended when somebody agrees.
#[test]
fn limitation_2_drift_is_mended_when_somebody_agrees() {
    let stage = Stage::new();
    let path = stage.path("file");
    let main = file(path.to_str().unwrap());
    stage.stack("file", json!({"source": {"inline": {"main.tf": main}}, "interval": "1s", "drift": "approve"}));
    stage.ready("file");
    fs::remove_file(&path).unwrap();
    let stack = stage.says("file", "Unknown", "AwaitingApproval");
    assert!(!path.exists());
    let plan = stack["status"]["pending"]["plan"].clone();
    stage.edit("file", &json!({"metadata": {"annotations": {"groma.dev/approve": plan}}}));
    stage.until("the file comes back", || path.exists().then_some(()));
}

/// 3: of what failed, only so much is kept.
#[test]
fn limitation_3_failed_runs_do_not_pile_up() {
    let stage = Stage::new();
    let bad =
        |number: usize| json!({"source": {"inline": {"main.tf": format!("bad {number}")}}, "history": {"failed": 2}});
    stage.stack("bad", bad(0));
    for number in 1..6 {
        let reason = format!("bad-{number}");
        stage.until("it fails", || {
            let last = stage.runs("bad").pop()?;
            (last["metadata"]["name"] == reason.as_str() && last["status"]["phase"] == "Failed").then_some(())
        });
        stage.edit("bad", &json!({"spec": bad(number)}));
    }
    stage.until("two are left", || {
        let last = stage.runs("bad").pop()?;
        (last["metadata"]["name"] == "bad-6" && last["status"]["phase"] == "Failed" && stage.runs("bad").len() <= 3)
            .then_some(())
    });
    let secrets = stage.api.get(&format!("{}?labelSelector=groma.dev/blob", stage.at("v1", "secrets", "")));
    assert!(secrets["items"].as_array().unwrap().len() <= 3, "{secrets}");
}

/// The objects of one kind that have to do with a Stack, whatever they are.
fn left(stage: &Stage, plural: &str) -> Vec<String> {
    let all = stage.api.get(&stage.at("v1", plural, ""))["items"].as_array().unwrap().clone();
    let names = all.iter().map(|object| object["metadata"]["name"].as_str().unwrap().to_owned());
    names.filter(|name| name != "kube-root-ca.crt").collect()
}

/// 3: and nothing of what there was beside them: neither plans that are read in full, nor earlier states than the last ones, nor bundles.
#[test]
fn limitation_3_nothing_is_left_of_runs_that_are_forgotten() {
    let stage = Stage::new();
    // So many that their plan is too long for a Run.
    let many = |text: &str, ending: &str| {
        let main = format!(
            "resource \"terraform_data\" \"it\" {{\n  count = 150\n  input = \"{text} ${{count.index}} {}\"\n}}\n{ending}",
            "words ".repeat(40)
        );
        json!({
            "source": {"inline": {"main.tf": main}}, "history": {"succeeded": 0, "failed": 0}, "retry": {"limit": 1},
            "outputs": {"configMap": {"name": "out"}}, "planCopy": {"name": "copy", "readable": "human"},
        })
    };
    let fails = "output \"it\" {\n  value = 1\n  precondition {\n    condition     = terraform_data.it[0].id == \"\"\n    \
                 error_message = \"never\"\n  }\n}\n";
    stage.stack("it", many("0", ""));
    stage.ready("it");
    for number in 1..6 {
        let is_bad = number % 2 == 1;
        stage.edit("it", &json!({"spec": many(&number.to_string(), if is_bad { fails } else { "" })}));
        if is_bad {
            stage.until("it fails", || {
                let stack = stage.get("it");
                let is_current = stack["status"]["observedGeneration"] == stack["metadata"]["generation"];
                (is_current && condition(&stack, "Stalled")?["status"] == "True").then_some(())
            });
        } else {
            stage.ready("it");
        }
    }
    stage.edit("it", &json!({"spec": many("last", "")}));
    stage.ready("it");
    // The last Run, its plan in full and as it was asked for, the state with the last ones, and one bundle to take everything down with.
    let runs = stage.until("one Run is left", || {
        let runs = stage.runs("it");
        (runs.len() == 1).then_some(runs)
    });
    let number = &runs[0]["spec"]["number"];
    let text = runs[0]["status"]["plan"]["textSecret"].as_str().unwrap().to_owned();
    let surplus = || {
        let secrets = left(&stage, "secrets");
        let of = |part: &str| secrets.iter().filter(|name| name.starts_with(part)).count();
        let is_known = |name: &&String| {
            name.starts_with("it-bundle")
                || name.starts_with("it-state-")
                || [&text, "tfstate-default-it", "groma-salt"].contains(&name.as_str())
        };
        let is_more = of("it-bundle") > 1 || of("it-state-") > 3;
        let unknown: Vec<String> =
            secrets.iter().filter(|name| !is_known(name) && !name.contains("copy")).cloned().collect();
        if is_more { secrets } else { unknown }
    };
    assert!(eventually(|| surplus().is_empty()), "after Run {number}: {:?}", surplus());
    let maps = left(&stage, "configmaps");
    assert!(maps.iter().all(|name| name == "out" || name.contains("copy")) && maps.len() <= 2, "{maps:?}");
    stage.delete("it");
    stage.until("nothing at all is left", || {
        let secrets = left(&stage, "secrets").into_iter().filter(|name| name != "groma-salt").count();
        (secrets == 0 && left(&stage, "configmaps").is_empty()).then_some(())
    });
}

/// What is wrong is told where it is wrong, and goes away by itself when it is right.
#[test]
fn limitation_4_errors_say_where_they_are() {
    let stage = Stage::new();
    stage.inline("bad", "resource \"random_string\" \"a\" {\n  length = \n}\n");
    let stack = stage.until("the mistake", || {
        let stack = stage.get("bad");
        (condition(&stack, "Ready")?["status"] == "False").then_some(stack)
    });
    assert!(message(&stack).contains("main.tf:2"), "{}", message(&stack));
    let told = &stage.runs("bad")[0]["status"]["diagnostics"][0];
    assert_eq!((&told["severity"], &told["at"]), (&json!("error"), &json!("main.tf:2")));
    let warned = stage.until("an Event", || {
        let about = format!("{}?fieldSelector=involvedObject.name=bad,type=Warning", stage.at("v1", "events", ""));
        stage.api.get(&about)["items"].as_array()?.first().cloned()
    });
    assert!(warned["message"].as_str().unwrap().contains("main.tf:2"), "{warned}");
    stage.edit("bad", &json!({"spec": {"source": {"inline": {"main.tf": "output \"it\" {\n  value = 1\n}\n"}}}}));
    stage.ready("bad");
}

/// 4: and however much is wrong, what is told of it has an end.
#[test]
fn limitation_4_two_hundred_errors_are_told_in_bounds() {
    let stage = Stage::new();
    let output = |number| format!("output \"it_{number}\" {{\n  value = var.missing_{number}_{}\n}}\n", "x".repeat(60));
    let main = (0..200).map(output).collect::<Vec<_>>().concat();
    stage.inline("bad", &main);
    let stack = stage.says("bad", "False", "InvalidConfiguration");
    let told = message(&stack);
    assert!(told.contains("main.tf:2") && told.len() <= 4_000, "{} {told}", told.len());
    let status = stage.runs("bad").remove(0)["status"].clone();
    assert!(status["diagnostics"].as_array().unwrap().len() <= 20, "{status}");
    assert!(status.to_string().len() < 64 << 10 && stack["status"].to_string().len() < 16 << 10, "{status}");
    let events = stage.api.get(&stage.at("v1", "events", ""));
    for event in events["items"].as_array().unwrap() {
        assert!(event["message"].as_str().unwrap_or_default().len() <= 1024, "{event}");
    }
    stage.edit("bad", &json!({"spec": {"source": {"inline": {"main.tf": "output \"it\" {\n  value = 1\n}\n"}}}}));
    stage.ready("bad");
}

/// 5: one writer for each state, and everybody else beside it.
#[test]
fn limitation_5_many_run_at_once() {
    let stage = Stage::new();
    let start = now();
    for number in 0..20 {
        let slow = "resource \"time_sleep\" \"it\" {\n  create_duration = \"2s\"\n}\n";
        stage.inline(&format!("slow-{number}"), slow);
    }
    for number in 0..20 {
        stage.ready(&format!("slow-{number}"));
    }
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

/// 5: two changes in short succession give runs one after another, and the last one wins.
#[test]
fn limitation_5_runs_of_one_stack_come_one_after_another() {
    let stage = Stage::new();
    let slow = |text: &str| {
        let main = format!(
            "resource \"time_sleep\" \"it\" {{\n  create_duration = \"1s\"\n  triggers = {{ text = {text:?} }}\n}}\noutput \"text\" {{\n  value = \
             time_sleep.it.triggers.text\n}}\n"
        );
        json!({"source": {"inline": {"main.tf": main}}, "outputs": {"secret": {"name": "out"}}})
    };
    stage.stack("slow", slow("one"));
    stage.until("it is applied", || (stage.runs("slow").first()?["status"]["phase"] == "Applying").then_some(()));
    stage.edit("slow", &json!({"spec": slow("two")}));
    stage.edit("slow", &json!({"spec": slow("three")}));
    stage.ready("slow");
    assert_eq!(stage.secret_data("out")["text"], "three");
    let mut last_end = String::new();
    for run in stage.runs("slow") {
        let phases = run["status"]["phases"].as_array().unwrap().clone();
        let began = phases.first().unwrap()["began"].as_str().unwrap().to_owned();
        assert!(began >= last_end, "{run}");
        phases.last().unwrap()["began"].as_str().unwrap().clone_into(&mut last_end);
    }
}

/// 6: nothing is made before the plan was seen.
#[test]
fn limitation_6_plans_are_seen_first() {
    let stage = Stage::new();
    let path = stage.path("file");
    let main = file(path.to_str().unwrap());
    stage.stack("seen", json!({"source": {"inline": {"main.tf": main}}, "planOnly": true}));
    let stack = stage.ready("seen");
    assert_eq!(message(&stack), "Planned: 1 to add, 0 to change, 0 to destroy.");
    let text = stage.runs("seen")[0]["status"]["plan"]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("# local_file.it will be created"), "{text}");
    assert!(!path.exists());
}

/// 7: every phase has its own time, and what takes too long is ended in an orderly way.
#[test]
fn limitation_7_phases_have_limits() {
    let stage = Stage::new();
    let slow = "resource \"time_sleep\" \"it\" {\n  create_duration = \"60s\"\n}\n";
    stage.stack("slow", json!({"source": {"inline": {"main.tf": slow}}, "timeouts": {"apply": "2s"}}));
    let stack = stage.says("slow", "False", "Timeout");
    assert!(message(&stack).contains("Applying took longer than it may"), "{}", message(&stack));
    let quick = "resource \"time_sleep\" \"it\" {\n  create_duration = \"1s\"\n}\n";
    stage.edit("slow", &json!({"spec": {"source": {"inline": {"main.tf": quick}}}}));
    stage.ready("slow");
    assert_eq!(condition(&stage.get("slow"), "Stalled"), None);
}
