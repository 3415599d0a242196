//! What the API server refuses of our kinds, by what stands in their definitions.

use serde_json::{Value, json};

use crate::team::{Team, plain, run_spec};

/// What is said about a Stack that is not taken.
#[track_caller]
fn refused(team: &Team, spec: &Value) -> String {
    let object = json!({
        "apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "metadata": {"name": "refused"}, "spec": spec,
    });
    let (status, answer) = team.api.ask("POST", &team.path("stacks", ""), "application/json", Some(&object)).unwrap();
    assert_eq!(status, 422, "{spec}: {answer}");
    answer["message"].as_str().unwrap().to_owned()
}

#[test]
fn stacks_that_contradict_themselves_are_refused() {
    let team = Team::new();
    let with = |name: &str, value: Value| {
        let mut spec = plain();
        spec[name] = value;
        spec
    };
    let both = json!({"source": {"inline": {"main.tf": ""}, "configMap": {"name": "a"}}});
    let secret = json!({"name": "a", "key": "k"});
    for (spec, expected) in [
        (json!({"source": {}}), "give exactly one of inline, configMap, git and flux"),
        (both, "give exactly one of inline, configMap, git and flux"),
        (
            json!({"source": {"inline": {}}, "interval": "5m", "schedule": "0 * * * *"}),
            "interval and schedule exclude each other",
        ),
        (with("inputs", json!({"env": [{"name": "A"}]})), "give either value or valueFrom"),
        (
            with("inputs", json!({"env": [{"name": "A", "value": "x", "valueFrom": {"secretKeyRef": secret}}]})),
            "give either value or valueFrom",
        ),
        (
            with("inputs", json!({"env": [{"name": "A", "valueFrom": {}}]})),
            "give either secretKeyRef or configMapKeyRef",
        ),
        (
            with(
                "inputs",
                json!({"files": [{"path": "f", "valueFrom": {"secretKeyRef": secret, "configMapKeyRef": secret}}]}),
            ),
            "give either secretKeyRef or configMapKeyRef",
        ),
        (with("healthChecks", json!([{"name": "a"}])), "give either tcp or http"),
        (with("healthChecks", json!([{"name": "a", "tcp": "x:1", "http": "http://x"}])), "give either tcp or http"),
        (with("interval", json!("5 minutes")), "spec.interval"),
        (with("parallelism", json!(0)), "spec.parallelism"),
        (with("deletionPolicy", json!("keep")), "spec.deletionPolicy"),
    ] {
        let told = refused(&team, &spec);
        assert!(told.contains(expected), "{expected:?} is not in {told:?}");
    }
    // All that may be given is taken.
    team.stack(
        "taken",
        &with("inputs", json!({"env": [{"name": "A", "valueFrom": {"secretKeyRef": secret}}]})),
        &Value::Null,
    );
}

#[test]
fn runs_are_not_changed_but_to_cancel_them() {
    let team = Team::new();
    team.run_object("app", 1, &json!({"phase": "Planning"}));
    let path = team.path("runs", "app-1");
    for (name, value) in
        [("stack", json!("other")), ("number", json!(2)), ("action", json!("destroy")), ("bundle", json!("c"))]
    {
        let change = json!({"spec": {name: value}});
        let (status, answer) = team.api.ask("PATCH", &path, "application/merge-patch+json", Some(&change)).unwrap();
        assert_eq!(status, 422, "{answer}");
        assert!(answer["message"].as_str().unwrap().contains("a Run is not changed, but to cancel it"), "{answer}");
    }
    team.api.edit(&path, &json!({"spec": {"cancel": true}}));
    assert_eq!(run_spec("app", 1)["bundle"], team.api.get(&path)["spec"]["bundle"]);
}

#[test]
fn blueprints_have_one_configuration() {
    let team = Team::new();
    let blueprint = |spec: Value| {
        let mut whole = json!({"for": {"apiVersion": "x.dev/v1", "kind": "X"}});
        whole.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        json!({"apiVersion": "groma.dev/v1alpha1", "kind": "Blueprint", "metadata": {"name": team.namespace}, "spec": whole})
    };
    let path = "/apis/groma.dev/v1alpha1/blueprints";
    for spec in [json!({}), json!({"source": {"inline": {}}, "template": {"text": ""}})] {
        let (status, answer) = team.api.ask("POST", path, "application/json", Some(&blueprint(spec))).unwrap();
        assert_eq!(status, 422, "{answer}");
        assert!(answer["message"].as_str().unwrap().contains("give either source or template"), "{answer}");
    }
    team.api.create(path, &blueprint(json!({"template": {"text": "# {{ .Name }}"}})));
}
