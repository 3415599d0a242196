//! Fields of Stacks that are seen nowhere else: each does what it says.

use std::fs;
use std::path::Path;
use std::time::Duration;

use groma_operator::api::shared::Moment;
use serde_json::{Value, json};

use crate::stage::{Stage, condition, message};

fn inline(main: &str) -> Value {
    json!({"source": {"inline": {"main.tf": main}}})
}

fn with(mut spec: Value, more: Value) -> Value {
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    spec
}

fn file(path: &Path) -> String {
    format!("resource \"local_file\" \"it\" {{\n  filename = \"{}\"\n  content  = \"words\"\n}}\n", path.display())
}

fn moment(value: &Value) -> Moment {
    serde_json::from_value(value.clone()).unwrap()
}

/// `timeouts.plan`: what takes too long to plan is ended, and can be right again.
#[test]
fn plans_have_a_limit() {
    let stage = Stage::new();
    let main = |seconds: u32| {
        format!(
            "data \"external\" \"it\" {{\n  program = [\"sh\", \"-c\", \"sleep {seconds}; echo '{{}}'\"]\n}}\noutput \"it\" {{\n  value = data.external.it.result\n}}\n"
        )
    };
    let more = json!({"allowExec": true, "timeouts": {"plan": "1s", "apply": "5m"}});
    stage.stack("slow", with(inline(&main(30)), more));
    let stack = stage.says("slow", "False", "Timeout");
    assert!(message(&stack).contains("Planning took longer than it may"), "{}", message(&stack));
    stage.edit("slow", &json!({"spec": {"timeouts": {"plan": "1m"}, "source": inline(&main(0))["source"]}}));
    stage.ready("slow");
}

/// `retry.interval` and `retry.maxInterval`: what gives the same again is waited for twice as long each time, and never longer than it may be.
#[test]
fn failures_are_waited_for_ever_longer() {
    let stage = Stage::new();
    stage.stack("bad", with(inline("bad"), json!({"retry": {"interval": "1s", "maxInterval": "3s"}})));
    // After so many failures in a row, how long it is until the next try.
    let mut waits: Vec<Duration> = Vec::new();
    stage.until("it has failed often", || {
        let stack = stage.get("bad");
        let failures = &stack["status"]["failures"];
        let count = usize::try_from(failures["count"].as_u64()?).unwrap();
        if count > waits.len() && failures["retryAt"].is_string() {
            let runs = stage.runs("bad");
            let run = runs.iter().find(|run| run["spec"]["number"] == count)?;
            let ended = moment(&run["status"]["phases"].as_array()?.last()?["began"]);
            let wait = moment(&failures["retryAt"]).0.duration_since(ended.0);
            assert_eq!(waits.len() + 1, count, "one was missed: {waits:?}");
            waits.push(Duration::try_from(wait).unwrap());
        }
        (waits.len() >= 4).then_some(())
    });
    let seconds: Vec<u64> = waits.iter().map(Duration::as_secs).collect();
    assert_eq!(seconds, [1, 2, 3, 3], "{waits:?}");
}

/// `parallelism`: with one at a time, nothing begins before what was before it has ended.
#[test]
fn so_much_is_under_way_at_once() {
    let stage = Stage::new();
    let path = stage.path("steps");
    let main = format!(
        "resource \"terraform_data\" \"it\" {{\n  count = 5\n  provisioner \"local-exec\" {{\n    command = \"echo begin >> {0}; sleep 0.2; echo end >> {0}\"\n  }}\n}}\n",
        path.display()
    );
    stage.stack("it", with(inline(&main), json!({"parallelism": 1, "allowExec": true})));
    stage.ready("it");
    let steps: Vec<String> = fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(steps, ["begin", "end"].repeat(5));
}

/// `planUnlocked`: a plan that is never carried out needs no lock, and leaves that of others alone.
#[test]
fn plans_can_be_made_without_a_lock() {
    let stage = Stage::new();
    let leases = stage.at("coordination.k8s.io/v1", "leases", "");
    for name in ["free", "waits"] {
        let lease = json!({"metadata": {"name": format!("lock-tfstate-default-{name}")}, "spec": {"holderIdentity": "somebody"}});
        stage.api.create(&leases, &lease);
    }
    let path = stage.path("file");
    stage.stack("free", with(inline(&file(&path)), json!({"planOnly": true, "planUnlocked": true})));
    stage.stack("waits", with(inline(&file(&path)), json!({"planOnly": true})));
    let stack = stage.says("free", "True", "Planned");
    assert_eq!(message(&stack), "Planned: 1 to add, 0 to change, 0 to destroy.");
    let lease = stage.api.get(&format!("{leases}/lock-tfstate-default-free"));
    assert_eq!(lease["spec"]["holderIdentity"], "somebody");
    let stack = stage.says("waits", "False", "StateLocked");
    assert!(message(&stack).contains("somebody"), "{}", message(&stack));
    stage.edit("waits", &json!({"spec": {"planUnlocked": true}}));
    stage.says("waits", "True", "Planned");
    assert!(!path.exists());
}

/// `state.suffix` and `state.labels`: where others look for it.
#[test]
fn a_state_is_called_as_people_want_it() {
    let stage = Stage::new();
    let more = json!({"state": {"suffix": "own", "labels": {"team": "a"}}});
    stage.stack("it", with(inline("resource \"terraform_data\" \"it\" {\n}\n"), more));
    stage.ready("it");
    let own = stage.at("v1", "secrets", "tfstate-default-own");
    assert_eq!(stage.api.get(&own)["metadata"]["labels"]["team"], "a");
    assert!(stage.api.find(&stage.at("v1", "secrets", "tfstate-default-it")).is_none());
    stage.edit("it", &json!({"spec": {"inputs": {"values": {}}, "path": "."}}));
    stage.ready("it");
    stage.delete("it");
    assert!(stage.api.find(&own).is_none());
}

/// `inputs.envFrom` and `inputs.templated`: variables of the environment as Secrets have them, and values with keys of Secrets in their texts.
#[test]
fn variables_and_texts_come_from_secrets() {
    let stage = Stage::new();
    stage.secret("words", &json!({"ONE": "from a secret", "TWO": "hidden", "PASS": "p\"${x}"}));
    let path = stage.path("said");
    let main = format!(
        "variable \"address\" {{\n  default = {{}}\n}}\nresource \"terraform_data\" \"it\" {{\n  provisioner \"local-exec\" {{\n    command = \"echo $ONE, $TWO > {}\"\n  }}\n}}\n\
         output \"it\" {{\n  value = var.address\n  sensitive = true\n}}\n",
        path.display()
    );
    let more = json!({
        "allowExec": true, "outputs": {"secret": {"name": "out"}},
        "inputs": {
            "envFrom": [{"kind": "Secret", "name": "words", "keys": ["ONE", "TWO"]}], "env": [{"name": "TWO", "value": "said"}],
            "templated": [{"name": "address", "value": {"url": "db://me:${{ .db.PASS }}@host", "port": 5432}, "secrets": {"db": "words"}}],
        },
    });
    stage.stack("it", with(inline(&main), more));
    stage.ready("it");
    assert_eq!(fs::read_to_string(&path).unwrap(), "from a secret, said\n");
    let told: Value = serde_json::from_str(&stage.secret_data("out")["it"]).unwrap();
    assert_eq!(told, json!({"url": "db://me:p\"${x}@host", "port": 5432}));
    // Both are looked at again when the Secret is another one.
    stage.api.edit(&stage.at("v1", "secrets", "words"), &json!({"stringData": {"PASS": "other"}}));
    stage.until("the change counts", || {
        let told: Value = serde_json::from_str(&stage.secret_data("out")["it"]).unwrap();
        (told["url"] == "db://me:other@host").then_some(())
    });
}

/// `approval.rules`: by what is done, by type and by address; the first that fits decides, and one change that must be agreed to is enough.
#[test]
fn rules_say_who_has_to_agree() {
    let stage = Stage::new();
    let main = |name: &str, more: &str| {
        format!(
            "resource \"terraform_data\" \"{name}\" {{\n  input = 1\n}}\nresource \"random_string\" \"it\" {{\n  length = 4\n}}\n{more}"
        )
    };
    let rules = |rules: Value| json!({"approval": {"mode": "auto", "rules": rules}});
    let manual = |rule: Value| rules(json!([with(rule, json!({"mode": "manual"}))]));
    let auto_first = rules(json!([
        {"addresses": ["terraform_data.*"], "mode": "auto"}, {"types": ["random_*"], "mode": "auto"}, {"mode": "manual"},
    ]));
    for (name, rules) in [
        ("action", manual(json!({"actions": ["delete"]}))),
        ("kind", manual(json!({"types": ["random_*"]}))),
        ("address", manual(json!({"addresses": ["terraform_data.guarded"]}))),
        ("first", auto_first),
    ] {
        let resource = if name == "address" { "guarded" } else { "it" };
        stage.stack(name, with(inline(&main(resource, "")), rules));
    }
    for name in ["kind", "address"] {
        let stack = stage.says(name, "Unknown", "AwaitingApproval");
        assert_eq!(stack["status"]["applied"], Value::Null);
        let agreed = json!({"metadata": {"annotations": {"groma.dev/approve": stack["status"]["pending"]["plan"]}}});
        stage.edit(name, &agreed);
        stage.ready(name);
    }
    stage.ready("action");
    stage.ready("first");
    // What is made or changed needs nobody, what goes does.
    let changed = inline(&main("it", "resource \"terraform_data\" \"more\" {\n}\n"));
    stage.edit("action", &json!({"spec": {"source": changed["source"]}}));
    assert_eq!(stage.ready("action")["status"]["resources"], 3);
    stage.edit("action", &json!({"spec": {"source": inline(&main("it", ""))["source"]}}));
    let stack = stage.says("action", "Unknown", "AwaitingApproval");
    assert_eq!(stack["status"]["resources"], 3);
    stage.edit("action", &json!({"spec": {"approval": {"rules": null}}}));
    assert_eq!(stage.ready("action")["status"]["resources"], 2);
}

/// `deletionPolicy: orphan`: everything stays but the state. `history`: so many Runs are kept.
#[test]
fn what_stays_and_what_is_kept() {
    let stage = Stage::new();
    let path = stage.path("file");
    stage.stack("it", with(inline(&file(&path)), json!({"deletionPolicy": "orphan", "history": {"succeeded": 1}})));
    stage.ready("it");
    for number in 2..=4 {
        stage.edit("it", &json!({"metadata": {"annotations": {"groma.dev/requested-at": number.to_string()}}}));
        stage.until("another run", || {
            (stage.runs("it").last()?["spec"]["number"] == number
                && condition(&stage.get("it"), "Reconciling").is_none())
            .then_some(())
        });
        stage.until("it is over", || (stage.runs("it").last()?["status"]["phase"] == "Succeeded").then_some(()));
    }
    // The last one is always there, and one of those before.
    stage.until("two are kept", || {
        let numbers: Vec<Value> = stage.runs("it").iter().map(|run| run["spec"]["number"].clone()).collect();
        (numbers == [3, 4]).then_some(())
    });
    stage.delete("it");
    assert!(path.exists());
    assert!(stage.api.find(&stage.at("v1", "secrets", "tfstate-default-it")).is_none());
    // A Stack of the same name does not know of it.
    stage.stack("it", inline(&file(&path)));
    assert_eq!(message(&stage.ready("it")), "Applied: 1 added, 0 changed, 0 destroyed.");
}
