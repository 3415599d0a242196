//! Every field of the kinds, wrong and right again. Nobody has to do anything else in between, and nobody can add a field without saying here what
//! becomes of it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::kind::{self, kind};
use crate::stage::{Stage, condition, message};

/// What comes of something wrong.
enum Wrong {
    /// The API server does not take it.
    Refused,
    /// It is taken, and the Stack says this about whether it is ready.
    Says(&'static str, &'static str),
}

use Wrong::{Refused, Says};

/// A field, with something wrong and what comes of that, and with something right.
struct Row {
    field: &'static str,
    wrong: Value,
    comes: Wrong,
    right: Value,
}

fn row(field: &'static str, wrong: Value, comes: Wrong, right: Value) -> Row {
    Row { field, wrong, comes, right }
}

const MAIN: &str = "variable \"text\" {\n  default = \"none\"\n}\nresource \"terraform_data\" \"it\" {\n  input = var.text\n}\n\
                    output \"it\" {\n  value = terraform_data.it.output\n}\n";

/// Something else to do, so that there is a run.
fn other() -> Value {
    json!({"values": {"text": "other"}})
}

#[rustfmt::skip]
fn rows() -> Vec<Row> {
    vec![
        row("source", json!({"source": {"inline": {"main.tf": "bad"}}}), Says("False", "InvalidConfiguration"), json!({"source": {"inline": {"main.tf": MAIN}}})),
        row("source", json!({"source": {"inline": null, "configMap": {"name": "missing"}}}), Says("False", "InvalidSpec"), json!({"source": {"inline": {"main.tf": MAIN}, "configMap": null}})),
        row("source", json!({"source": {"configMap": {"name": "missing"}}}), Refused, json!({})),
        row("path", json!({"path": "../up"}), Says("False", "InvalidSpec"), json!({"path": null})),
        row("inputs", json!({"inputs": {"varsFrom": [{"kind": "Secret", "name": "missing"}]}}), Says("False", "InvalidSpec"), json!({"inputs": null})),
        row("inputs", json!({"inputs": {"env": [{"name": "A"}]}}), Refused, json!({})),
        row("inputs", json!({"inputs": {"env": [{"name": "A", "value": "a", "phases": ["never"]}]}}), Refused, json!({})),
        row("engine", json!({"engine": "pulumi"}), Refused, json!({})),
        row("executor", json!({"executor": "nowhere"}), Refused, json!({})),
        // There is no node here: a pod never begins.
        row("executor", json!({"executor": "job"}), Says("Unknown", "Progressing"), json!({"executor": null})),
        row("podTemplate", json!({"executor": "job", "podTemplate": {"spec": {"containers": "none"}}}), Says("Unknown", "Progressing"), json!({"executor": null, "podTemplate": null})),
        row("serviceAccountName", json!({"executor": "job", "serviceAccountName": "nobody"}), Says("Unknown", "Progressing"), json!({"executor": null, "serviceAccountName": null})),
        row("approval", json!({"approval": {"mode": "never"}}), Refused, json!({})),
        row("approval", json!({"approval": {"mode": "manual"}, "inputs": other()}), Says("Unknown", "AwaitingApproval"), json!({"approval": {"mode": "auto"}})),
        row("planOnly", json!({"planOnly": true, "inputs": other()}), Says("True", "Planned"), json!({"planOnly": null})),
        row("destroy", json!({"destroy": true}), Says("True", "Destroyed"), json!({"destroy": null})),
        row("interval", json!({"interval": "soon"}), Refused, json!({})),
        row("schedule", json!({"schedule": "every now and then"}), Says("False", "InvalidSpec"), json!({"schedule": null})),
        row("schedule", json!({"schedule": "0 0 * * *", "interval": "1h"}), Refused, json!({})),
        row("retry", json!({"retry": {"limit": 0}}), Refused, json!({})),
        row("timeouts", json!({"timeouts": {"plan": "never"}}), Refused, json!({})),
        row("timeouts", json!({"timeouts": {"init": "1ms"}, "inputs": other()}), Says("False", "Timeout"), json!({"timeouts": null})),
        row("drift", json!({"drift": "ignore"}), Refused, json!({})),
        row("deletionPolicy", json!({"deletionPolicy": "never"}), Refused, json!({})),
        row("dependsOn", json!({"dependsOn": [{"name": "missing"}], "inputs": other()}), Says("False", "DependencyNotReady"), json!({"dependsOn": null})),
        row("outputs", json!({"outputs": {"secret": {"name": "out", "select": ["missing"]}}}), Says("False", "InvalidConfiguration"), json!({"outputs": null})),
        row("healthChecks", json!({"healthChecks": [{"name": "door"}]}), Refused, json!({})),
        row("healthChecks", json!({"healthChecks": [{"name": "door", "tcp": "127.0.0.1:1", "timeout": "100ms"}]}), Says("False", "NotReady"), json!({"healthChecks": null})),
        row("history", json!({"history": {"failed": -1}}), Refused, json!({})),
        row("suspend", json!({"suspend": true, "inputs": other()}), Says("True", "Applied"), json!({"suspend": null})),
        row("targets", json!({"targets": ["no address"]}), Says("False", "InvalidConfiguration"), json!({"targets": null})),
        row("workspace", json!({"workspace": "Not/A Name"}), Says("False", "Transient"), json!({"workspace": null})),
        row("backend", json!({"backend": {"kind": "s3", "configFrom": [{"kind": "Secret", "name": "missing"}]}}), Says("False", "InvalidSpec"), json!({"backend": null})),
        row("allowExec", json!({"allowExec": "yes"}), Refused, json!({})),
        row("webhooks", json!({"webhooks": [{"url": "https://policy.example"}]}), Refused, json!({})),
        row("webhooks", json!({"webhooks": [{"name": "policy", "url": "http://127.0.0.1:1/"}], "inputs": other()}), Says("False", "WebhookFailed"), json!({"webhooks": null})),
        row("parallelism", json!({"parallelism": 0}), Refused, json!({})),
        row("adoption", json!({"adoption": {"mode": "maybe"}}), Refused, json!({})),
        row("orphanPolicy", json!({"orphanPolicy": "sometimes"}), Refused, json!({})),
        row("refreshSourceOnRetry", json!({"refreshSourceOnRetry": "yes"}), Refused, json!({})),
        row("notifications", json!({"notifications": [{"events": ["failed"]}]}), Refused, json!({})),
        row("state", json!({"state": "mine"}), Refused, json!({})),
        row("planCopy", json!({"planCopy": {"readable": "human"}}), Refused, json!({})),
        row("planUnlocked", json!({"planUnlocked": "yes"}), Refused, json!({})),
        row("previewOf", json!({"previewOf": ""}), Refused, json!({})),
        row("source", json!({"source": {"inline": null, "git": {"url": ""}}}), Refused, json!({})),
        row("source", json!({"source": {"inline": null, "flux": {"kind": "GitRepository", "name": "missing"}}}), Says("False", "SourceNotFound"), json!({"source": {"flux": null, "inline": {"main.tf": MAIN}}})),
    ]
}

/// The fields that a kind has.
fn fields_of(kind: &str) -> BTreeSet<String> {
    let definitions = groma_operator::install::definitions();
    let definition = definitions.iter().find(|definition| definition["spec"]["names"]["kind"] == kind).unwrap();
    let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    schema["properties"]["spec"]["properties"].as_object().unwrap().keys().cloned().collect()
}

fn named(fields: &[&str]) -> BTreeSet<String> {
    fields.iter().map(|field| (*field).to_owned()).collect()
}

#[test]
fn every_field_of_a_stack_can_be_wrong_and_right_again() {
    let rows = rows();
    let known: Vec<&str> = rows.iter().map(|row| row.field).collect();
    assert_eq!(fields_of("Stack"), named(&known));
    let stage = Stage::new();
    let name = |at: usize| format!("it-{at}-{}", rows[at].field.to_lowercase());
    for at in 0..rows.len() {
        stage.stack(&name(at), json!({"source": {"inline": {"main.tf": MAIN}}, "retry": {"interval": "200ms"}}));
    }
    (0..rows.len()).for_each(|at| drop(stage.ready(&name(at))));
    for (at, row) in rows.iter().enumerate() {
        let (status, said) = stage
            .api
            .ask("PATCH", &stage.at_stack(&name(at)), "application/merge-patch+json", Some(&json!({"spec": row.wrong})))
            .unwrap();
        let expected = if matches!(row.comes, Refused) { 422 } else { 200 };
        assert_eq!(status, expected, "{}: {said}", row.field);
    }
    for (at, row) in rows.iter().enumerate() {
        if let Says(status, reason) = row.comes {
            let stack = stage.says(&name(at), status, reason);
            assert!(!message(&stack).is_empty(), "{}", row.field);
        }
    }
    for (at, row) in rows.iter().enumerate() {
        stage.edit(&name(at), &json!({"spec": row.right}));
    }
    for (at, row) in rows.iter().enumerate() {
        let stack = stage.until(&format!("{} is right again", row.field), || {
            let stack = stage.get(&name(at));
            let ready = condition(&stack, "Ready")?;
            let is_current = stack["status"]["observedGeneration"] == stack["metadata"]["generation"];
            (is_current && ready["status"] == "True" && ready["reason"] == "Applied").then_some(stack)
        });
        // What was asked for meanwhile was done.
        assert_eq!(stack["status"]["resources"], 1, "{}", row.field);
        assert_eq!(stack["status"]["failures"], Value::Null, "{}: {stack}", row.field);
    }
}

/// Nothing of a Run is changed by people, but that it is cancelled; and one that is over does not mind.
#[test]
fn every_field_of_a_run_stays_as_it_is() {
    let wrong = json!({
        "stack": "other", "number": 7, "action": "destroy", "causes": "none", "bundle": "other", "about": {"specHash": "x"}, "requested": 1, "requestedByFlux": 1,
        "engine": "tofu", "executor": "job", "approval": {"mode": "manual"}, "limits": {"init": "1s"}, "cancel": "perhaps",
        "orphans": "orphans-1", "state": {"lineage": "x", "serial": 1, "resources": 1},
    });
    let known: Vec<&str> = wrong.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields_of("Run"), named(&known));
    let stage = Stage::new();
    stage.inline("it", MAIN);
    stage.ready("it");
    let path = stage.at("groma.dev/v1alpha1", "runs", "it-1");
    for (field, value) in wrong.as_object().unwrap() {
        let change = json!({"spec": {field: value}});
        let (status, said) = stage.api.ask("PATCH", &path, "application/merge-patch+json", Some(&change)).unwrap();
        let is_same = stage.api.get(&path)["spec"][field] != *value;
        assert!(status == 422 && is_same, "{field}: {status} {said}");
    }
    stage.api.edit(&path, &json!({"spec": {"cancel": true}}));
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(stage.api.get(&path)["status"]["phase"], "Succeeded");
    stage.edit("it", &json!({"spec": {"inputs": other()}}));
    stage.ready("it");
    assert_eq!(stage.runs("it").len(), 2);
}

/// What comes of something wrong in a Blueprint.
enum Comes {
    /// The API server does not take it.
    NotTaken,
    /// The Blueprint is not ready.
    NotReady,
    /// The object of the kind is in this phase.
    Phase(&'static str),
}

#[rustfmt::skip]
fn blueprint_rows() -> Vec<(&'static str, Value, Comes)> {
    use Comes::{NotReady, NotTaken, Phase};
    vec![
        ("for", json!({"for": {"kind": "Another"}}), NotTaken),
        ("source", json!({"source": null}), NotTaken),
        ("source", json!({"source": {"inline": {"main.tf": "bad"}}}), Phase("Error")),
        ("template", json!({"template": {"text": "x"}}), NotTaken),
        ("variables", json!({"variables": {"length": "spec.length"}}), NotReady),
        ("values", json!({"values": "none"}), NotTaken),
        ("status", json!({"status": {"fields": {"phase": "length"}}}), NotReady),
        ("secretName", json!({"secretName": "the-same-for-all"}), NotReady),
        ("finalizer", json!({"finalizer": "example.com/other"}), NotTaken),
        ("engine", json!({"engine": "pulumi"}), NotTaken),
        ("executor", json!({"executor": "nowhere"}), NotTaken),
        ("podTemplate", json!({"podTemplate": {"image": ["a", "b"]}}), NotTaken),
        ("serviceAccountName", json!({"serviceAccountName": 1}), NotTaken),
        ("approval", json!({"approval": "never"}), NotTaken),
        ("approvalRules", json!({"approvalRules": [{"actions": ["look"], "mode": "auto"}]}), NotTaken),
        ("interval", json!({"interval": "soon"}), NotTaken),
        ("drift", json!({"drift": "ignore"}), NotTaken),
        ("retry", json!({"retry": {"limit": 0}}), NotTaken),
        ("allowExec", json!({"allowExec": "yes"}), NotTaken),
        ("timeouts", json!({"timeouts": {"plan": "never"}}), NotTaken),
        ("deletionPolicy", json!({"deletionPolicy": "never"}), NotTaken),
        ("label", json!({"label": "no label"}), NotReady),
    ]
}

#[test]
fn every_field_of_a_blueprint_can_be_wrong_and_right_again() {
    let rows = blueprint_rows();
    let known: Vec<&str> = rows.iter().map(|row| row.0).collect();
    assert_eq!(fields_of("Blueprint"), named(&known));
    let stage = Stage::new();
    let kind = kind(&stage, kind::BLUEPRINT);
    let namespace = stage.namespace.clone();
    let path = format!("/apis/groma.dev/v1alpha1/blueprints/{namespace}");
    let right = stage.api.get(&path)["spec"].clone();
    stage.api.create(&kind.at(&namespace, ""), &kind.sample(&namespace));
    let is_well = |field: &str| {
        stage.until(&format!("{field} is right"), || {
            let blueprint = stage.api.get(&path);
            let is_current = blueprint["status"]["observedGeneration"] == blueprint["metadata"]["generation"];
            (is_current && condition(&blueprint, "Ready")?["status"] == "True").then_some(())
        });
        kind.phase(&stage, &namespace, "simpleresource-sample", "Ready");
    };
    is_well("everything");
    for (field, wrong, comes) in rows {
        let change = json!({"spec": wrong});
        let (status, said) = stage.api.ask("PATCH", &path, "application/merge-patch+json", Some(&change)).unwrap();
        let expected = if matches!(comes, Comes::NotTaken) { 422 } else { 200 };
        assert_eq!(status, expected, "{field}: {said}");
        match comes {
            Comes::NotTaken => continue,
            Comes::NotReady => stage.until(&format!("{field} is told"), || {
                (condition(&stage.api.get(&path), "Ready")?["status"] == "False").then_some(())
            }),
            Comes::Phase(phase) => drop(kind.phase(&stage, &namespace, "simpleresource-sample", phase)),
        }
        stage.until(&format!("{field} is written"), || {
            let mut blueprint = stage.api.get(&path);
            blueprint["spec"] = right.clone();
            let (status, said) = stage.api.ask("PUT", &path, "application/json", Some(&blueprint)).unwrap();
            // What is said about it may be written meanwhile.
            assert!(status == 200 || status == 409, "{field}: {said}");
            (status == 200).then_some(())
        });
        is_well(field);
    }
}
