//! What the accounts of the operator and of runs may do, as the cluster itself tells it, in a file: `rights.txt`. Whoever gives them more changes
//! that file, and somebody reads it. And what refers to other namespaces, one by one.

use std::collections::BTreeSet;

use expect_test::expect_file;
use groma_testkit::servers::kube;
use serde_json::{Value, json};

use crate::security::operator_token;
use crate::stage::{Stage, condition, message};

/// What everybody may do who is known at all.
const ANYBODYS: [&str; 3] = ["selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"];

/// What somebody may do in a namespace, a line for each resource.
fn rights(token: &str, namespace: &str) -> BTreeSet<String> {
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": namespace},
    });
    let path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    let reach = kube::shared_with_controllers();
    let answer = reach.ask_as(token, "POST", path, Some(&review.to_string())).unwrap();
    assert_eq!(answer.status, 201);
    let answer: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(answer["status"]["incomplete"], false, "{answer}");
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let mut lines = BTreeSet::new();
    for rule in answer["status"]["resourceRules"].as_array().unwrap() {
        let mut verbs = texts(&rule["verbs"]);
        verbs.sort();
        let names = texts(&rule["resourceNames"]);
        let only = if names.is_empty() { String::new() } else { format!(" named {}", names.join(", ")) };
        for group in texts(&rule["apiGroups"]) {
            for resource in texts(&rule["resources"]).iter().filter(|resource| !ANYBODYS.contains(&resource.as_str())) {
                let of = if group.is_empty() { String::new() } else { format!(".{group}") };
                lines.insert(format!("{resource}{of}{only}: {}", verbs.join(" ")));
            }
        }
    }
    lines
}

#[test]
fn accounts_may_do_what_is_written_down() {
    let stage = Stage::new();
    let operator = operator_token(&stage.api, false);
    let elsewhere = stage.beside_in_another_namespace().namespace.clone();
    stage.inline("it", "output \"it\" {\n  value = 1\n}\n");
    stage.ready("it");
    // What Jobs have is there before the first one.
    let accounts = stage.at("v1", "serviceaccounts", "");
    stage
        .api
        .ask("POST", &accounts, "application/json", Some(&json!({"metadata": {"name": "terraform-executor"}})))
        .unwrap();
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let token = stage.api.create(&format!("{accounts}/terraform-executor/token"), &request);
    let runner = token["status"]["token"].as_str().unwrap();

    let list = |title: &str, rights: &BTreeSet<String>| {
        let lines: Vec<&str> = rights.iter().map(String::as_str).collect();
        format!("# {title}\n{}\n", if lines.is_empty() { "(nothing)".to_owned() } else { lines.join("\n") })
    };
    let everywhere = rights(&operator, &elsewhere);
    let (here, runs) = (rights(&operator, &stage.namespace), rights(runner, &stage.namespace));
    let more: BTreeSet<String> = here.difference(&everywhere).cloned().collect();
    let written = [
        list("The operator, everywhere", &everywhere),
        list("The operator, where there are Stacks, besides", &more),
        list("The account of Jobs, in its namespace", &runs),
        list("The account of Jobs, elsewhere", &rights(runner, &elsewhere)),
    ];
    expect_file!["rights.txt"].assert_eq(&written.join("\n"));
    // Whatever is written there, that must not be.
    assert!(everywhere.iter().all(|line| !line.starts_with("secrets")), "{everywhere:?}");
    assert!(everywhere.union(&here).chain(&runs).all(|line| !line.contains('*')), "{here:?} {runs:?}");
}

/// A kind of reference to another namespace: its name, where it stands in a Stack, and what its reason says if it is left out.
struct Reference {
    name: &'static str,
    spec: Value,
    /// Whether the kind knows other namespaces at all. If not, the API refuses the field, or leaves it out.
    has_namespace: bool,
}

fn references(elsewhere: &str, object: &str) -> Vec<Reference> {
    let key = || json!({"name": object, "key": "text", "namespace": elsewhere});
    let of = |name, spec, has_namespace| Reference { name, spec, has_namespace };
    let holder = |kind: &str| json!([{"kind": kind, "name": object, "namespace": elsewhere}]);
    vec![
        of("depends-on", json!({"dependsOn": [{"name": object, "namespace": elsewhere}]}), true),
        of("vars-secret", json!({"inputs": {"varsFrom": holder("Secret")}}), false),
        of("vars-config", json!({"inputs": {"varsFrom": holder("ConfigMap")}}), false),
        of("env", json!({"inputs": {"env": [{"name": "X", "valueFrom": {"secretKeyRef": key()}}]}}), false),
        of("files", json!({"inputs": {"files": [{"path": "x", "valueFrom": {"configMapKeyRef": key()}}]}}), false),
        of("backend", json!({"backend": {"kind": "http", "configFrom": holder("Secret")}}), false),
        of("webhook", json!({"webhooks": [{"name": "w", "url": "https://w.example", "secretRef": key()}]}), false),
        of("source", json!({"source": {"configMap": {"name": object, "namespace": elsewhere}}}), false),
    ]
}

/// Eight kinds of references, each to what is there, to what is not there, and as somebody writes it who is told about mistakes at once.
/// Nobody learns from it what is in the other namespace.
#[test]
fn nothing_is_had_from_other_namespaces() {
    let stage = Stage::new();
    let other = stage.beside_in_another_namespace();
    other.secret("taken", &json!({"text": "canary-of-others"}));
    other.config_map(
        "taken",
        &json!({"text": "canary-of-others", "main.tf": "output \"it\" {\n  value = \"canary-of-others\"\n}\n"}),
    );
    other.inline("taken", "output \"it\" {\n  value = 1\n}\n");
    let main = json!({"inline": {"main.tf": "variable \"text\" {\n  default = \"\"\n}\noutput \"it\" {\n  value = var.text\n}\n"}});
    let whole = |spec: &Value| {
        let mut whole = json!({"source": main, "approval": {"mode": "auto"}, "outputs": {"status": true}});
        whole.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        whole
    };
    let mut cases = 0;
    let mut waiting = Vec::new();
    for object in ["taken", "absent"] {
        for reference in references(&other.namespace, object) {
            let name = format!("{}-{object}", reference.name);
            stage.stack(&name, whole(&reference.spec));
            waiting.push((reference.name, object, name));
            cases += 1;
        }
    }
    // Who asks to be told what is wrong is told, whether there is anything or not.
    for reference in references(&other.namespace, "taken") {
        let stack = json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Stack",
            "metadata": {"name": format!("{}-strict", reference.name)}, "spec": whole(&reference.spec),
        });
        let path = format!("{}?fieldValidation=Strict&dryRun=All", stage.at_stack(""));
        let (status, said) = stage.api.ask("POST", &path, "application/json", Some(&stack)).unwrap();
        let refused =
            said["message"].as_str().is_some_and(|said| said.contains("unknown field") && said.contains("namespace"));
        assert_eq!(
            (status == 400, refused),
            (!reference.has_namespace, !reference.has_namespace),
            "{}: {said}",
            reference.name
        );
        cases += 1;
    }
    let mut said = std::collections::BTreeMap::<&str, Vec<String>>::new();
    for (kind, object, name) in waiting {
        let stack = stage.until(&name, || {
            let stack = stage.get(&name);
            (condition(&stack, "Ready")?["status"] == "False").then_some(stack)
        });
        said.entry(kind).or_default().push(message(&stack).replace(object, "OBJECT"));
        assert!(!stack.to_string().contains("canary"), "{name}: {stack}");
    }
    for (kind, said) in said {
        assert_eq!(said[0], said[1], "{kind}");
    }
    assert_eq!(cases, 24);
    // Neither are outputs written there, nor is a ServiceAccount of there used.
    let secrets = other.at("v1", "secrets", "");
    let before = stage.api.get(&secrets)["items"].as_array().unwrap().len();
    stage.stack("writes", whole(&json!({"outputs": {"secret": {"name": "written", "namespace": other.namespace}}})));
    stage.ready("writes");
    assert!(stage.api.find(&stage.at("v1", "secrets", "written")).is_some());
    assert_eq!(stage.api.get(&secrets)["items"].as_array().unwrap().len(), before);
}
