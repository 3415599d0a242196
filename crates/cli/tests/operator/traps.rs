//! What others fall into, by the numbers of the specification.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::hook::{Hook, Reply};
use crate::stage::{Stage, condition, message, now};

/// A configuration with a file that says what goes in.
fn file(path: &Path) -> String {
    let head = "variable \"text\" {\n  default = \"none\"\n}\n";
    format!("{head}resource \"local_file\" \"it\" {{\n  filename = \"{}\"\n  content  = var.text\n}}\n", path.display())
}

fn inline(path: &Path) -> Value {
    json!({"source": {"inline": {"main.tf": file(path)}}})
}

#[test]
fn t1_a_suspended_stack_can_be_deleted() {
    let stage = Stage::new();
    let path = stage.path("file");
    stage.stack("it", inline(&path));
    stage.ready("it");
    stage.edit("it", &json!({"spec": {"suspend": true}}));
    stage.delete("it");
    assert!(!path.exists());
}

#[test]
fn t2_a_missing_source_does_not_block_deletion() {
    let stage = Stage::new();
    let path = stage.path("file");
    stage.config_map("code", &json!({"main.tf": file(&path)}));
    stage.stack("it", json!({"source": {"configMap": {"name": "code"}}}));
    stage.ready("it");
    stage.api.delete(&stage.at("v1", "configmaps", "code"));
    let stack = stage.says("it", "False", "InvalidSpec");
    assert!(message(&stack).contains("ConfigMap \"code\" is not there"), "{}", message(&stack));
    stage.delete("it");
    assert!(!path.exists());
}

#[test]
fn t3_a_missing_secret_does_not_block_deletion() {
    let stage = Stage::new();
    let path = stage.path("file");
    stage.secret("vars", &json!({"text": "secret"}));
    let mut spec = inline(&path);
    spec["inputs"] = json!({"varsFrom": [{"kind": "Secret", "name": "vars"}]});
    stage.stack("it", spec);
    stage.ready("it");
    assert_eq!(fs::read_to_string(&path).unwrap(), "secret");
    stage.api.delete(&stage.at("v1", "secrets", "vars"));
    stage.says("it", "False", "InvalidSpec");
    stage.delete("it");
    assert!(!path.exists());
}

#[test]
fn t4_a_missing_dependency_does_not_block_deletion() {
    let stage = Stage::new();
    let (one, two) = (stage.path("one"), stage.path("two"));
    stage.stack("one", inline(&one));
    let mut spec = inline(&two);
    spec["dependsOn"] = json!([{"name": "one"}]);
    stage.stack("two", spec);
    stage.ready("two");
    // It is kept while it is needed; but who takes it away by force is not asked.
    stage.api.delete(&stage.at_stack("one"));
    stage.says("one", "False", "DeletionBlockedByDependants");
    stage.edit("one", &json!({"metadata": {"finalizers": null}}));
    stage.gone("one");
    stage.delete("two");
    assert!(!two.exists());
}

#[test]
fn t5_a_dependency_that_is_removed_holds_nothing() {
    let stage = Stage::new();
    let (one, two) = (stage.path("one"), stage.path("two"));
    stage.stack("one", inline(&one));
    let mut spec = inline(&two);
    spec["dependsOn"] = json!([{"name": "one"}]);
    stage.stack("two", spec);
    stage.ready("two");
    stage.api.delete(&stage.at_stack("one"));
    stage.says("one", "False", "DeletionBlockedByDependants");
    stage.edit("two", &json!({"spec": {"dependsOn": null}}));
    stage.gone("one");
    assert!(!one.exists());
}

#[test]
fn t6_a_pending_plan_is_looked_at_again() {
    let stage = Stage::new();
    let path = stage.path("file");
    let mut spec = inline(&path);
    spec["approval"] = json!({"mode": "auto"});
    spec["interval"] = json!("1s");
    stage.stack("it", spec);
    stage.ready("it");
    stage.edit("it", &json!({"spec": {"approval": {"mode": "manual"}, "inputs": {"values": {"text": "new"}}}}));
    let first = stage.says("it", "Unknown", "AwaitingApproval")["status"]["pending"]["plan"].clone();
    // Somebody takes the file away, so another plan is right now.
    fs::remove_file(&path).unwrap();
    let second = stage.until("another plan", || {
        let plan = stage.get("it")["status"]["pending"]["plan"].clone();
        (!plan.is_null() && plan != first).then_some(plan)
    });
    stage.edit("it", &json!({"metadata": {"annotations": {"groma.dev/approve": second}}}));
    stage.until("it is applied", || fs::read_to_string(&path).ok().filter(|text| text == "new"));
}

#[test]
fn t7_drift_makes_a_plan_that_waits() {
    let stage = Stage::new();
    let path = stage.path("file");
    let mut spec = inline(&path);
    spec["interval"] = json!("1s");
    stage.stack("it", spec);
    stage.ready("it");
    stage.edit("it", &json!({"spec": {"approval": {"mode": "manual"}}}));
    stage.ready("it");
    fs::remove_file(&path).unwrap();
    let stack = stage.says("it", "Unknown", "AwaitingApproval");
    assert_eq!(stack["status"]["pending"]["changes"]["add"], 1);
}

#[test]
fn t8_the_id_of_a_plan_is_its_content() {
    let stage = Stage::new();
    let path = stage.path("file");
    let mut spec = inline(&path);
    spec["approval"] = json!({"mode": "manual"});
    stage.stack("it", spec);
    let first = stage.says("it", "Unknown", "AwaitingApproval")["status"]["pending"]["plan"].clone();
    let another = |text: &str| {
        stage.edit("it", &json!({"spec": {"inputs": {"values": {"text": text}}}}));
        stage.until("another plan", || {
            let stack = stage.get("it");
            let runs = stage.runs("it");
            let is_new = runs.last()?["status"]["phase"] == "AwaitingApproval" && runs.len() > 1;
            let is_current = stack["status"]["observedGeneration"] == stack["metadata"]["generation"];
            let plan = stack["status"]["pending"]["plan"].clone();
            (is_new && is_current && plan == runs.last()?["status"]["plan"]["id"] && !plan.is_null()).then_some(plan)
        })
    };
    let second = another("other");
    assert_ne!(first, second);
    // The approval of what was there before is none of what is there now.
    stage.edit("it", &json!({"metadata": {"annotations": {"groma.dev/approve": first}}}));
    std::thread::sleep(Duration::from_secs(1));
    assert!(!path.exists());
    stage.edit("it", &json!({"metadata": {"annotations": {"groma.dev/approve": second}}}));
    stage.ready("it");
    assert_eq!(fs::read_to_string(&path).unwrap(), "other");
}

#[test]
fn t9_what_does_not_matter_gives_the_same_plan() {
    let stage = Stage::new();
    let path = stage.path("file");
    let mut spec = inline(&path);
    spec["approval"] = json!({"mode": "manual"});
    stage.stack("it", spec);
    let first = stage.says("it", "Unknown", "AwaitingApproval")["status"]["pending"]["plan"].clone();
    stage.edit("it", &json!({"spec": {"source": {"inline": {"README.md": "words"}}}}));
    let run = stage.until("another run", || {
        stage.runs("it").get(1).filter(|run| run["status"]["phase"] == "AwaitingApproval").cloned()
    });
    assert_eq!(run["status"]["plan"]["id"], first);
}

#[test]
fn t10_a_failing_health_check_is_not_masked() {
    let stage = Stage::new();
    let path = stage.path("file");
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let mut spec = inline(&path);
    spec["healthChecks"] = json!([{"name": "door", "tcp": address, "timeout": "500ms"}]);
    spec["interval"] = json!("1s");
    spec["retry"] = json!({"interval": "1s"});
    stage.stack("it", spec);
    let stack = stage.says("it", "False", "NotReady");
    assert!(message(&stack).contains("Health check \"door\""), "{}", message(&stack));
    stage.until("it is tried again", || (stage.runs("it").len() > 2).then_some(()));
    assert_ne!(condition(&stage.get("it"), "Ready").unwrap()["status"], "True");
    let _door = TcpListener::bind(&address).unwrap();
    stage.ready("it");
}

#[test]
fn t11_outputs_that_are_deleted_come_back_at_once() {
    let stage = Stage::new();
    let main = "output \"it\" {\n  value = \"here\"\n}\n";
    stage.stack("it", json!({"source": {"inline": {"main.tf": main}}, "outputs": {"secret": {"name": "out"}}}));
    stage.ready("it");
    stage.api.delete(&stage.at("v1", "secrets", "out"));
    let start = now();
    stage.until("it comes back", || stage.api.find(&stage.at("v1", "secrets", "out")));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(stage.secret_data("out")["it"], "here");
}

#[test]
fn t12_a_restart_runs_nothing_again() {
    let mut stage = Stage::new();
    for number in 0..5 {
        stage.inline(&format!("it-{number}"), "output \"it\" {\n  value = 1\n}\n");
    }
    (0..5).for_each(|number| drop(stage.ready(&format!("it-{number}"))));
    assert_eq!(stage.end(), 0);
    stage.start();
    std::thread::sleep(Duration::from_secs(2));
    (0..5).for_each(|number| assert_eq!(stage.runs(&format!("it-{number}")).len(), 1));
}

#[test]
fn t13_nobody_waits_for_a_run() {
    let stage = Stage::with(&["-workers", "1"]);
    stage.inline("slow", "resource \"time_sleep\" \"it\" {\n  create_duration = \"20s\"\n}\n");
    stage.until("it is applied", || (stage.runs("slow").first()?["status"]["phase"] == "Applying").then_some(()));
    let start = now();
    stage.inline("quick", "output \"it\" {\n  value = 1\n}\n");
    stage.ready("quick");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert_eq!(stage.runs("slow")[0]["status"]["phase"], "Applying");
}

#[test]
fn t14_taking_down_has_a_limit_too() {
    let stage = Stage::new();
    let slow = "resource \"time_sleep\" \"it\" {\n  destroy_duration = \"60s\"\n}\n";
    stage.stack("it", json!({"source": {"inline": {"main.tf": slow}}, "timeouts": {"destroy": "1s"}}));
    stage.ready("it");
    stage.api.delete(&stage.at_stack("it"));
    let stack = stage.says("it", "False", "DestroyFailed");
    assert!(message(&stack).contains("took longer than it may"), "{}", message(&stack));
    // Nobody has to wait for ever: another answer ends it.
    stage.edit("it", &json!({"spec": {"deletionPolicy": "orphan"}}));
    stage.gone("it");
}

#[test]
fn t15_the_lock_of_a_run_that_is_dead_is_released() {
    let mut stage = Stage::new();
    let slow = "resource \"random_string\" \"it\" {\n  length = 4\n}\nresource \"time_sleep\" \"it\" {\n  create_duration = \"3s\"\n  triggers = { it = \
                random_string.it.result }\n}\noutput \"it\" {\n  value = random_string.it.result\n}\n";
    stage.stack("slow", json!({"source": {"inline": {"main.tf": slow}}, "retry": {"interval": "1s"}}));
    stage.until("it is applied", || (stage.runs("slow").first()?["status"]["phase"] == "Applying").then_some(()));
    std::thread::sleep(Duration::from_millis(700));
    let lease = stage.at("coordination.k8s.io/v1", "leases", "lock-tfstate-default-slow");
    let uid = stage.runs("slow")[0]["metadata"]["uid"].as_str().unwrap().to_owned();
    let holder = stage.api.get(&lease)["spec"]["holderIdentity"].as_str().unwrap().to_owned();
    assert!(holder.starts_with(&uid), "{holder}");
    stage.kill();
    stage.start();
    let start = now();
    stage.ready("slow");
    // Nobody waits until the lock has been silent for so long that its holder must be gone.
    assert!(start.elapsed() < Duration::from_secs(16), "{:?}", start.elapsed());
    let runs = stage.runs("slow");
    assert_eq!(runs[0]["status"]["failure"], "Interrupted", "{runs:?}");
}

/// An engine ends with the operator, so that nobody else writes what only one may; and its lock is nobody's.
#[test]
fn t15_the_lock_of_an_engine_that_is_dead_is_released() {
    #[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
    let tofu = std::env::var("GROMA_TOFU").expect("GROMA_TOFU is not set; run `cargo xtask test`");
    let mut stage = Stage::with(&["-tofu", &tofu]);
    let (begun, done) = (stage.path("begun"), stage.path("done"));
    let slow = format!(
        "resource \"terraform_data\" \"it\" {{\n  provisioner \"local-exec\" {{\n    command = \"echo >> {}; exec sleep 5\"\n  }}\n  \
         provisioner \"local-exec\" {{\n    command = \"echo >> {}\"\n  }}\n}}\n",
        begun.display(),
        done.display()
    );
    let spec = json!({"source": {"inline": {"main.tf": slow}}, "retry": {"interval": "1s"}, "engine": "tofu", "allowExec": true});
    stage.stack("slow", spec);
    stage.until("it has begun", || begun.exists().then_some(()));
    stage.kill();
    stage.start();
    stage.ready("slow");
    let runs = stage.runs("slow");
    assert_eq!(runs[0]["status"]["failure"], "Interrupted", "{runs:?}");
    let lines = |path: &Path| fs::read_to_string(path).unwrap().lines().count();
    assert_eq!((lines(&begun), lines(&done)), (2, 1));
}

#[test]
fn t16_nothing_is_left_after_everything_was_taken_down() {
    let stage = Stage::new();
    let path = stage.path("file");
    stage.stack("it", inline(&path));
    stage.ready("it");
    stage.delete("it");
    let left = |plural: &str, version: &str| {
        let list = stage.api.get(&stage.at(version, plural, ""));
        let names =
            list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].as_str().unwrap().to_owned());
        names.filter(|name| name.contains("it")).collect::<Vec<_>>()
    };
    let nothing: Vec<String> = Vec::new();
    assert_eq!(left("leases", "coordination.k8s.io/v1"), nothing);
    assert_eq!(left("secrets", "v1"), nothing);
}

#[test]
fn t17_drift_uses_up_no_retries() {
    let stage = Stage::new();
    let path = stage.path("file");
    let mut spec = inline(&path);
    spec["interval"] = json!("300ms");
    spec["retry"] = json!({"interval": "200ms", "limit": 2});
    stage.stack("it", spec);
    stage.ready("it");
    // More often than it would be tried again.
    for _ in 0..4 {
        fs::remove_file(&path).unwrap();
        stage.until("it is mended", || path.exists().then_some(()));
    }
    let stack = stage.ready("it");
    assert_eq!((&stack["status"]["failures"], condition(&stack, "Stalled")), (&Value::Null, None));
    // All tries are left for what really fails.
    let failed = |stage: &Stage| stage.runs("it").iter().filter(|run| run["status"]["phase"] == "Failed").count();
    stage.edit("it", &json!({"spec": {"source": {"inline": {"main.tf": "bad"}}}}));
    let stack = stage.until("it gives up", || {
        let stack = stage.get("it");
        condition(&stack, "Stalled").is_some_and(|stalled| stalled["status"] == "True").then_some(stack)
    });
    assert_eq!((stack["status"]["failures"]["count"].as_u64(), failed(&stage)), (Some(2), 2), "{stack}");
}

#[test]
fn t18_retrying_without_a_limit_does_not_stall() {
    let stage = Stage::new();
    stage.stack("bad", json!({"source": {"inline": {"main.tf": "bad"}}, "retry": {}}));
    let stack = stage.until("it fails", || {
        let stack = stage.get("bad");
        (condition(&stack, "Ready")?["status"] == "False").then_some(stack)
    });
    assert_eq!(condition(&stack, "Stalled"), None);
    assert!(stack["status"]["failures"]["retryAt"].is_string(), "{stack}");
    stage.edit("bad", &json!({"spec": {"retry": {"interval": "200ms", "limit": 3}}}));
    stage.edit("bad", &json!({"metadata": {"annotations": {"groma.dev/requested-at": "now"}}}));
    stage.until("it gives up", || {
        let stack = stage.get("bad");
        (condition(&stack, "Stalled")?["status"] == "True").then_some(())
    });
}

#[test]
fn t19_a_changed_secret_starts_a_run() {
    let stage = Stage::new();
    let path = stage.path("file");
    stage.secret("vars", &json!({"text": "one", "other": "x"}));
    let mut spec = inline(&path);
    spec["inputs"] = json!({"varsFrom": [{"kind": "Secret", "name": "vars", "keys": ["text"]}]});
    stage.stack("it", spec);
    stage.ready("it");
    let start = now();
    stage.api.edit(&stage.at("v1", "secrets", "vars"), &json!({"stringData": {"text": "two"}}));
    stage.until("it is applied", || fs::read_to_string(&path).ok().filter(|text| text == "two"));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    stage.until("it is over", || (stage.runs("it").get(1)?["status"]["phase"] == "Succeeded").then_some(()));
    let run = stage.runs("it").remove(1);
    assert_eq!(run["spec"]["causes"], json!([{"reason": "InputsChanged", "about": ["Secret vars/text"]}]));
    // A key that is not used makes no difference.
    stage.api.edit(&stage.at("v1", "secrets", "vars"), &json!({"stringData": {"other": "y"}}));
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(stage.runs("it").len(), 2);
}

#[test]
fn t20_a_plan_that_waits_outlives_the_operator() {
    let mut stage = Stage::new();
    let path = stage.path("file");
    let mut spec = inline(&path);
    spec["approval"] = json!({"mode": "manual"});
    stage.stack("it", spec);
    let plan = stage.says("it", "Unknown", "AwaitingApproval")["status"]["pending"]["plan"].clone();
    stage.kill();
    stage.edit("it", &json!({"metadata": {"annotations": {"groma.dev/approve": plan}}}));
    stage.start();
    stage.ready("it");
    assert!(path.exists());
    assert_eq!(stage.runs("it").len(), 1);
    let secrets = stage.api.get(&format!("{}?labelSelector=groma.dev/blob=plan", stage.at("v1", "secrets", "")));
    assert_eq!(secrets["items"], json!([]));
}

/// Where a source has no revision, its content tells plans apart.
#[test]
fn t21_plans_of_sources_without_a_revision_are_told_apart() {
    let stage = Stage::new();
    let path = stage.path("file");
    let code = |text: &str| file(&path).replace("\"none\"", &format!("{text:?}"));
    stage.config_map("code", &json!({"main.tf": code("0")}));
    stage.stack("it", json!({"source": {"configMap": {"name": "code"}}, "approval": {"mode": "manual"}}));
    let mut seen: Vec<Value> = Vec::new();
    for round in 1..=4 {
        let plan = stage.until("another plan", || {
            let run = stage.runs("it").pop()?;
            let is_pending = run["status"]["phase"] == "AwaitingApproval" && run["spec"]["number"] == round;
            let plan = stage.get("it")["status"]["pending"]["plan"].clone();
            (is_pending && plan == run["status"]["plan"]["id"]).then_some(plan)
        });
        assert!(!seen.contains(&plan), "{plan} of {seen:?}");
        seen.push(plan);
        if round < 4 {
            stage
                .api
                .edit(&stage.at("v1", "configmaps", "code"), &json!({"data": {"main.tf": code(&round.to_string())}}));
        }
    }
    // An earlier one is none of the last one, and neither is a part of it.
    let last = seen[3].as_str().unwrap().to_owned();
    for other in [seen[0].as_str().unwrap(), &last[..12]] {
        stage.edit("it", &json!({"metadata": {"annotations": {"groma.dev/approve": other}}}));
        std::thread::sleep(Duration::from_millis(700));
        assert!(!path.exists(), "{other}");
    }
    stage.edit("it", &json!({"metadata": {"annotations": {"groma.dev/approve": last}}}));
    stage.ready("it");
    assert_eq!(fs::read_to_string(&path).unwrap(), "3");
}

/// A webhook on a Stack that makes one object.
fn asking(hook: &Hook, more: &Value) -> Value {
    let mut webhook = json!({"name": "policy", "url": hook.url, "timeout": "2s", "retries": 2});
    webhook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let main =
        "variable \"text\" {\n  default = \"a\"\n}\nresource \"terraform_data\" \"it\" {\n  input = var.text\n}\n";
    json!({"source": {"inline": {"main.tf": main}}, "webhooks": [webhook], "retry": {"limit": 1}})
}

#[test]
fn t22_a_webhook_needs_no_certificates_of_ours_and_is_signed() {
    let stage = Stage::new();
    let hook = Hook::secure(false);
    hook.answers(&[Reply::new(200, json!({"allowed": true}))]);
    stage.secret("hook", &json!({"key": "of the webhook"}));
    stage.secret("vars", &json!({"text": "hunter2-hunter2"}));
    stage.config_map("roots", &json!({"ca.crt": hook.certificate}));
    // Usual roots do not know it, and nobody is asked who is not known.
    let mut spec = asking(&hook, &json!({"secretRef": {"name": "hook", "key": "key"}}));
    spec["inputs"] = json!({"varsFrom": [{"kind": "Secret", "name": "vars"}]});
    stage.stack("it", spec.clone());
    let stack = stage.says("it", "False", "WebhookFailed");
    assert!(message(&stack).contains("Webhook \"policy\": no answer"), "{}", message(&stack));
    assert!(hook.asked().is_empty());

    spec["webhooks"][0]["caFrom"] = json!({"configMapKeyRef": {"name": "roots", "key": "ca.crt"}});
    stage.edit("it", &json!({"spec": spec}));
    stage.ready("it");
    let asked = hook.asked();
    assert_eq!(asked.len(), 1, "{asked:?}");
    let body = &asked[0].body;
    assert_eq!((&body["stage"], &body["stack"]["metadata"]["name"]), (&json!("post-planning"), &json!("it")));
    let change = json!([{"address": "terraform_data.it", "type": "terraform_data", "action": "create"}]);
    assert_eq!(body["plan"]["changes"], change);
    assert!(body["plan"]["text"].as_str().unwrap().contains("terraform_data.it"), "{body}");
    assert!(!asked[0].text.contains("hunter2"), "{body}");
    let details = &body["plan"]["resourceChanges"][0]["change"];
    assert_eq!((&details["actions"], &details["after_unknown"]["id"]), (&json!(["create"]), &json!(true)));
    let mut mac = Hmac::<Sha256>::new_from_slice(b"of the webhook").unwrap();
    mac.update(asked[0].text.as_bytes());
    let expected =
        mac.finalize().into_bytes().iter().fold("sha256=".to_owned(), |text, byte| format!("{text}{byte:02x}"));
    assert_eq!(asked[0].signature.as_deref(), Some(expected.as_str()));
    // Nothing is asked about plans that do nothing, and nobody keeps a Stack from being deleted.
    hook.answers(&[Reply::new(200, json!({"allowed": false}))]);
    stage.delete("it");
    assert_eq!(hook.asked().len(), 1);
}

#[test]
fn t22_a_webhook_can_be_shown_a_certificate() {
    let stage = Stage::new();
    let hook = Hook::secure(true);
    hook.answers(&[Reply::new(200, json!({"allowed": true}))]);
    let (certificate, key) = &hook.client;
    stage.secret("own", &json!({"tls.crt": certificate, "tls.key": key, "ca.crt": hook.certificate}));
    let ca = json!({"caFrom": {"secretKeyRef": {"name": "own", "key": "ca.crt"}}});
    stage.stack("it", asking(&hook, &ca));
    stage.says("it", "False", "WebhookFailed");
    let mut both = ca.clone();
    both["clientCertificate"] = json!("own");
    stage.edit("it", &json!({"spec": asking(&hook, &both)}));
    stage.ready("it");
    assert_eq!(hook.asked().len(), 1);
}

#[test]
fn t22_a_webhook_decides_and_says_why() {
    let stage = Stage::new();
    let hook = Hook::plain();
    hook.answers(&[Reply::new(200, json!({"result": {"ok": false, "why": "too much"}}))]);
    let own = json!({"pass": "result.ok", "message": "policy says ${result.why}", "payload": "PlanOnly"});
    let mut spec = asking(&hook, &own);
    spec["approval"] = json!({"mode": "manual"});
    stage.stack("it", spec);
    // Nobody is asked to agree to what does not pass.
    let stack = stage.says("it", "False", "WebhookDenied");
    assert!(message(&stack).contains("Webhook \"policy\": policy says too much"), "{}", message(&stack));
    let run = stage.runs("it").remove(0);
    assert!(run["status"]["plan"]["text"].as_str().unwrap().contains("terraform_data.it"), "{run}");
    assert!(run["status"]["done"].is_null() && stack["status"]["pending"].is_null(), "{run}");
    assert!(hook.asked()[0].body["stack"].is_null());
    hook.answers(&[Reply::new(200, json!({"result": {"ok": true}}))]);
    stage.edit("it", &json!({"spec": {"inputs": {"values": {"text": "b"}}}}));
    stage.says("it", "Unknown", "AwaitingApproval");
}

#[test]
fn t22_a_webhook_that_does_not_answer_is_asked_again_and_has_a_limit() {
    let stage = Stage::new();
    let hook = Hook::plain();
    let yes = Reply::new(200, json!({"allowed": true}));
    hook.answers(&[Reply::new(503, ""), Reply { after: Duration::from_secs(5), ..yes.clone() }, yes.clone()]);
    stage.stack("again", asking(&hook, &json!({"timeout": "1s"})));
    stage.ready("again");
    assert_eq!(hook.asked().len(), 3);

    // Neither redirects are followed, nor is what says nothing taken for an answer.
    let elsewhere = Hook::plain();
    let redirect = Reply { headers: format!("Location: {}\r\n", elsewhere.url), ..Reply::new(307, "") };
    for (name, reply, words) in [
        ("redirected", redirect, "307"),
        ("silent", Reply::new(200, "{}"), "no \"allowed\""),
        ("long", Reply::new(200, format!("{{\"allowed\": true, \"x\": \"{}\"}}", "x".repeat(100_000))), "longer than"),
    ] {
        hook.answers(&[reply]);
        stage.stack(name, asking(&hook, &json!({})));
        let stack = stage.says(name, "False", "WebhookFailed");
        assert!(message(&stack).contains(words), "{}", message(&stack));
    }
    assert!(elsewhere.asked().is_empty());

    // Who can do without says so.
    hook.answers(&[Reply::new(500, "")]);
    stage.stack("without", asking(&hook, &json!({"failurePolicy": "Ignore", "retries": 0})));
    stage.ready("without");
    let path =
        format!("{}?fieldSelector=involvedObject.name=without,reason=WebhookIgnored", stage.at("v1", "events", ""));
    let told = stage.until("it is said", || stage.api.get(&path)["items"].as_array().unwrap().first().cloned());
    assert!(told["message"].as_str().unwrap().contains("500"), "{told}");
}

#[test]
fn t22_a_webhook_is_not_on_the_machine_of_the_operator() {
    let stage = Stage::walled(&[]);
    let hook = Hook::plain();
    hook.answers(&[Reply::new(200, json!({"allowed": true}))]);
    stage.stack("name", asking(&hook, &json!({"failurePolicy": "Fail"})));
    for (name, url) in [("number", "http://127.0.0.1:1/"), ("mapped", "http://[::ffff:169.254.169.254]/latest")] {
        stage.stack(name, asking(&hook, &json!({"url": url})));
    }
    for name in ["name", "number", "mapped"] {
        let stack = stage.says(name, "False", "WebhookFailed");
        assert!(message(&stack).contains("-allow-networks="), "{}", message(&stack));
    }
    assert!(hook.asked().is_empty());
}
