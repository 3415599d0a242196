//! What becomes of objects, and what cannot.

use super::*;
use crate::blueprint::shipped::{sample, shipped};

fn blueprint(spec: Json) -> Blueprint {
    let mut whole = json!({"for": {"apiVersion": "a.dev/v1", "kind": "Thing"}});
    for (name, value) in spec.as_object().unwrap() {
        whole[name] = value.clone();
    }
    Blueprint::new("things", serde_json::from_value(whole).unwrap())
}

fn object(name: &str, spec: Json) -> DynamicObject {
    let object = json!({
        "apiVersion": "a.dev/v1", "kind": "Thing", "spec": spec,
        "metadata": {"name": name, "namespace": "team", "uid": "1", "labels": {"tier": "gold"}, "resourceVersion": "7"},
    });
    serde_json::from_value(object).unwrap()
}

fn told(blueprint: &Blueprint, object: &DynamicObject) -> Vec<String> {
    wanted(blueprint, object).unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn fields_are_values_with_their_types() {
    let blueprint = blueprint(json!({
        "source": {"inline": {"main.tf": "# ${var.evil}"}},
        "variables": {"evil": ".spec.evil", "size": ".spec.size", "none": ".spec.none", "tier": ".metadata.labels[\"tier\"]"},
        "values": {"size": 1, "region": "here"},
    }));
    let evil = "\"}\nresource \"x\" \"y\" {} ${file(\"/etc/passwd\")}";
    let wanted = wanted(&blueprint, &object("a", json!({"evil": evil, "size": {"deep": [1, true, null]}}))).unwrap();
    let spec = wanted.stack.spec;
    assert_eq!(spec.source, blueprint.spec.source.unwrap());
    assert_eq!(
        json!(spec.inputs.values),
        json!({"evil": evil, "region": "here", "size": {"deep": [1, true, null]}, "tier": "gold"})
    );
}

#[test]
fn how_a_stack_is_kept_up_is_said_by_the_blueprint() {
    let blueprint = blueprint(json!({
        "source": {"inline": {"main.tf": ""}}, "engine": "tofu", "interval": "1m", "drift": "report", "allowExec": true,
        "approval": "manual", "approvalRules": [{"actions": ["create"], "mode": "auto"}], "retry": {"limit": 3},
    }));
    let spec = wanted(&blueprint, &object("a", json!({}))).unwrap().stack.spec;
    let expected = json!({
        "engine": "tofu", "interval": "1m", "drift": "report", "allowExec": true, "retry": {"limit": 3},
        "approval": {"mode": "manual", "rules": [{"actions": ["create"], "mode": "auto"}]},
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&json!(spec)[field], value, "{field}");
    }
}

#[test]
fn pods_are_as_the_blueprint_says_and_have_the_label_of_the_object() {
    let source = json!({"inline": {"main.tf": ""}});
    let template = json!({"image": "mine:2", "labels": {"team": "a", "a.dev/thing": "other"}, "spec": {"nodeSelector": {"disk": "fast"}}});
    let given = json!({
        "source": source, "executor": "job", "label": "a.dev/thing", "podTemplate": template, "serviceAccountName": "builder",
    });
    let spec = wanted(&blueprint(given), &object("a", json!({}))).unwrap().stack.spec;
    let expected = json!({"image": "mine:2", "labels": {"team": "a", "a.dev/thing": "a"}, "spec": template["spec"]});
    assert_eq!(json!(spec.pod_template), expected);
    assert_eq!(spec.service_account_name.as_deref(), Some("builder"));
    let spec = wanted(&blueprint(json!({"source": source})), &object("a", json!({}))).unwrap().stack.spec;
    assert_eq!((spec.pod_template, spec.service_account_name), (None, None));
}

#[test]
fn templates_make_nothing_but_values_of_fields() {
    let blueprint = blueprint(
        json!({"template": {"text": "a = \"{{ .Evil }}\"\nb = {{ .None }}\n", "fields": {"Evil": ".spec.evil", "None": ".spec.none"}}}),
    );
    let wanted = wanted(&blueprint, &object("a", json!({"evil": "\"\n}\n${x}"}))).unwrap();
    assert_eq!(wanted.stack.spec.source.inline.unwrap()["main.tf"], "a = \"\\\"\\n}\\n$${x}\"\nb = null\n");
}

#[test]
fn everything_that_is_wrong_with_a_blueprint_is_told_with_its_field() {
    let wrong = blueprint(json!({
        "for": {"apiVersion": "v1", "kind": "Secret"},
        "source": {"inline": {}}, "template": {"text": "", "fields": {"A": "spec"}},
        "variables": {"b": ".status.c"}, "finalizer": "nothing", "label": "-/x",
        "status": {"fields": {"phase": "p", "all": "a"}, "outputs": "all"},
    }));
    let expected = [
        "Blueprint things, spec.for.apiVersion: kinds of \"v1\" cannot be made of Stacks",
        "Blueprint things, spec: give source or template, and not both",
        "Blueprint things, spec.variables.b: \".status.c\" cannot be read: only .spec, and of .metadata name, namespace, uid, labels, annotations can",
        "Blueprint things, spec.template.fields.A: \"spec\" is not a path to a field, such as .spec.length or .metadata.labels[\"app\"]",
        "Blueprint things, spec.status.fields: \"phase\" is said about every object already",
        "Blueprint things, spec.status.outputs: \"all\" is one of the fields, too",
        "Blueprint things, spec.finalizer: \"nothing\" is no finalizer: write it as example.com/name",
        "Blueprint things, spec.label: \"-/x\" is no name of a label: write it as example.com/name",
    ];
    assert_eq!(told(&wrong, &object("a", json!({}))), expected);
    assert_eq!(problems(&blueprint(json!({}))).len(), 1);
    let shared =
        problems(&blueprint(json!({"source": {"inline": {}}, "label": "groma.dev/stack", "secretName": "one"})));
    let fields: Vec<&str> = shared.iter().map(|problem| problem.field.as_str()).collect();
    assert_eq!(fields, ["spec.label", "spec.secretName"]);
    let broken = blueprint(json!({"template": {"text": "\n{{ .Nope }}"}}));
    let expected =
        "Blueprint things, spec.template.text: line 2: there is no field \"Nope\"; there are: Name, Namespace";
    assert_eq!(told(&broken, &object("a", json!({}))), [expected]);
}

#[test]
fn names_that_are_too_long_are_told() {
    let long = object(&"x".repeat(240), json!({}));
    let fine = blueprint(json!({"source": {"inline": {}}}));
    assert!(wanted(&fine, &long).is_ok());
    let labelled =
        blueprint(json!({"source": {"inline": {}}, "label": "a.dev/thing", "secretName": "{name}-simple-outputs"}));
    let told = told(&labelled, &long);
    assert_eq!(told[0], "metadata.name: it has 240 characters, and the label a.dev/thing takes 63 at most");
    assert!(told[1].starts_with("metadata.name: the Secret with its outputs would be called \"xxx"), "{}", told[1]);
}

#[test]
fn names_of_stacks_fit_into_labels_and_stay_apart() {
    let kind = Kind {
        group: "a.dev".to_owned(),
        version: "v1".to_owned(),
        kind: "Thing".to_owned(),
        plural: "things".to_owned(),
    };
    assert_eq!(stack_name(&kind, "a"), "thing-a");
    let long = "x".repeat(200);
    let names = [stack_name(&kind, &format!("{long}a")), stack_name(&kind, &format!("{long}b"))];
    assert_ne!(names[0], names[1]);
    assert!(names.iter().all(|name| name.len() == MOST_NAME && is_object_name(name)), "{names:?}");
    let dotted = stack_name(&kind, &format!("{}.{}", "x".repeat(36), "y".repeat(20)));
    assert!(is_object_name(&dotted), "{dotted}");
}

#[test]
fn a_mark_is_of_what_is_said_and_of_what_is_made_of_it() {
    let blueprint = shipped();
    let mark = |object: &DynamicObject| wanted(&blueprint, object).unwrap().hash;
    let one = sample();
    let mut same = one.clone();
    same.metadata.resource_version = Some("9".to_owned());
    same.metadata.generation = Some(9);
    same.data["status"] = json!({"phase": "Ready"});
    assert_eq!(mark(&one), mark(&same));
    let mut other = one.clone();
    other.data["spec"]["vars"] = json!({"special": "trueupper=true"});
    assert_ne!(mark(&one), mark(&other));
    let mut changed = shipped();
    changed.spec.values.insert("wait".to_owned(), AnyValue(json!("1s")));
    assert_ne!(wanted(&changed, &one).unwrap().hash, mark(&one));
}
