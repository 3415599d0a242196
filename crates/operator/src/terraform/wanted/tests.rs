//! Field by field: what an object asks for, and what its Stack asks for then.

use serde_json::json;

use super::*;

fn object(more: &Json) -> Terraform {
    let mut spec = json!({"interval": "5m", "sourceRef": {"kind": "GitRepository", "name": "code"}});
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(json!({
        "apiVersion": "infra.contrib.fluxcd.io/v1alpha2", "kind": "Terraform",
        "metadata": {"name": "app", "namespace": "team", "uid": "u", "generation": 3}, "spec": spec,
    }))
    .unwrap()
}

fn wanted(more: &Json) -> Wanted {
    super::wanted(&object(more), Rules::default()).unwrap()
}

/// What stands in the spec of the Stack because of some fields. Everything else is as it is without them.
fn check(more: &Json, expected: &Json) {
    let plain = json!(wanted(&json!({})).stack.spec);
    let found = json!(wanted(more).stack.spec);
    let differs = found.as_object().unwrap().iter().filter(|(name, value)| plain.get(*name) != Some(*value));
    let mut differs: serde_json::Map<String, Json> =
        differs.map(|(name, value)| (name.clone(), value.clone())).collect();
    for gone in plain.as_object().unwrap().keys().filter(|name| found.get(*name).is_none()) {
        differs.insert(gone.clone(), Json::Null);
    }
    assert_eq!(&Json::Object(differs), expected, "{more}");
}

fn wrong(more: &Json) -> Vec<String> {
    let problems = super::wanted(&object(more), Rules::default()).unwrap_err();
    problems.iter().map(|problem| format!("{} {problem}", problem.reason)).collect()
}

fn lacks(more: &Json) -> Vec<String> {
    wanted(more).unsupported.iter().map(ToString::to_string).collect()
}

#[test]
fn an_object_with_nothing_special_becomes_a_stack() {
    let stack = wanted(&json!({})).stack;
    assert_eq!(stack.metadata.name.as_deref(), Some("terraform--app"));
    assert_eq!(stack.metadata.labels.as_ref().unwrap()["groma.dev/terraform"], "app");
    let owner = &stack.metadata.owner_references.as_ref().unwrap()[0];
    assert_eq!((owner.kind.as_str(), owner.name.as_str(), owner.controller), ("Terraform", "app", Some(true)));
    let expected = json!({
        "source": {"flux": {"kind": "GitRepository", "name": "code"}}, "inputs": {}, "engine": "native",
        "approval": {"mode": "manual"}, "interval": "5m", "retry": {"interval": "15s", "maxInterval": "15s"}, "timeouts": {},
        "drift": "correct", "deletionPolicy": "retain", "outputs": {}, "history": {},
        "planCopy": {"name": "tfplan-default-app", "of": "app", "readable": "none"}, "state": {"suffix": "app"},
    });
    assert_eq!(json!(stack.spec), expected);
}

#[test]
fn every_field_that_has_a_meaning_keeps_it() {
    let auto = json!({"mode": "auto"});
    for (given, expected) in [
        (json!({"approvePlan": "auto"}), json!({"approval": auto})),
        (json!({"approvePlan": "plan-main-0123456789"}), json!({})),
        (json!({"approvePlan": "disable"}), json!({"planOnly": true})),
        (json!({"force": true}), json!({"approval": auto})),
        (json!({"approvePlan": "disable", "force": true}), json!({"planOnly": true, "approval": auto})),
        (json!({"destroy": true}), json!({"destroy": true})),
        (json!({"planOnly": true}), json!({"planOnly": true})),
        (json!({"suspend": true}), json!({"suspend": true})),
        (json!({"path": "./infra/a"}), json!({"path": "infra/a"})),
        (json!({"targets": ["a.b"]}), json!({"targets": ["a.b"]})),
        (json!({"parallelism": 4}), json!({"parallelism": 4})),
        (json!({"parallelism": 0}), json!({})),
        (json!({"plan": {"lock": false}}), json!({"planUnlocked": true})),
        (json!({"plan": {"lock": true}}), json!({})),
        (json!({"destroyResourcesOnDeletion": true}), json!({"deletionPolicy": "destroy"})),
        (json!({"disableDriftDetection": true}), json!({})),
        (
            json!({"workspace": "blue"}),
            json!({"workspace": "blue", "planCopy": {"name": "tfplan-blue-app", "of": "app", "readable": "none"}}),
        ),
        (json!({"workspace": "default"}), json!({})),
        (
            json!({"storeReadablePlan": "human"}),
            json!({"planCopy": {"name": "tfplan-default-app", "of": "app", "readable": "human"}}),
        ),
        (
            json!({"remediation": {"retries": 3}}),
            json!({"retry": {"interval": "15s", "maxInterval": "15s", "limit": 3}}),
        ),
        (json!({"remediation": {"retries": -1}}), json!({})),
        (json!({"remediation": {}}), json!({})),
        (json!({"retryInterval": "20s"}), json!({"retry": {"interval": "20s", "maxInterval": "20s"}})),
        (
            json!({"retryInterval": "20s", "retryStrategy": "ExponentialBackoff"}),
            json!({"retry": {"interval": "20s", "maxInterval": "24h"}}),
        ),
        (
            json!({"retryStrategy": "ExponentialBackoff", "maxRetryInterval": "1h"}),
            json!({"retry": {"interval": "15s", "maxInterval": "1h"}}),
        ),
        (json!({"dependsOn": [{"name": "net"}]}), json!({"dependsOn": [{"name": "terraform--net"}]})),
    ] {
        check(&given, &expected);
    }
}

#[test]
fn values_come_from_where_they_are() {
    check(
        &json!({"vars": [{"name": "a", "value": {"b": [1, true]}}, {"name": "c", "value": "x"}], "values": {"d": 1}}),
        &json!({"inputs": {"values": {"a": {"b": [1, true]}, "c": "x", "values": {"d": 1}}}}),
    );
    check(
        &json!({
            "vars": [{"name": "a", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
            "varsFrom": [
                {"kind": "Secret", "name": "one", "varsKeys": ["x", "old:new"], "optional": true},
                {"kind": "ConfigMap", "name": "two"},
            ],
        }),
        &json!({"inputs": {"varsFrom": [
            {"kind": "Secret", "name": "s", "keys": ["k:a"]},
            {"kind": "Secret", "name": "one", "keys": ["x", "old:new"], "optional": true},
            {"kind": "ConfigMap", "name": "two"},
        ]}}),
    );
    check(
        &json!({"values": {"url": "pg://${{ .db.host }}"}, "readInputsFromSecrets": [{"name": "database", "as": "db"}]}),
        &json!({"inputs": {"templated": [
            {"name": "values", "value": {"url": "pg://${{ .db.host }}"}, "secrets": {"db": "database"}},
        ]}}),
    );
    check(
        &json!({
            "tfVarsFiles": ["vars/a.tfvars"],
            "fileMappings": [{"secretRef": {"name": "s", "key": "k"}, "location": "workspace", "path": "a/b"}],
        }),
        &json!({"inputs": {
            "varFiles": ["vars/a.tfvars"], "varFilesWin": true,
            "files": [{"path": "a/b", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
        }}),
    );
}

#[test]
fn states_are_where_they_were() {
    check(
        &json!({"backendConfig": {"secretSuffix": "other", "inClusterConfig": true, "labels": {"a": "b"}}}),
        &json!({"state": {"suffix": "other", "labels": {"a": "b"}}}),
    );
    check(
        &json!({
            "backendConfig": {"customConfiguration": "backend \"s3\" {\n  bucket = \"b\"\n  key = \"k\"\n}\n"},
            "backendConfigsFrom": [{"kind": "Secret", "name": "s3", "keys": ["access_key"], "optional": true}],
        }),
        &json!({"state": null, "backend": {
            "kind": "s3", "config": {"bucket": "b", "key": "k"},
            "configFrom": [{"kind": "Secret", "name": "s3", "keys": ["access_key"], "optional": true}],
        }}),
    );
    check(
        &json!({"backendConfigsFrom": [{"kind": "ConfigMap", "name": "more"}]}),
        &json!({"state": null, "backend": {
            "kind": "kubernetes", "config": {"in_cluster_config": true, "namespace": "team", "secret_suffix": "app"},
            "configFrom": [{"kind": "ConfigMap", "name": "more"}],
        }}),
    );
}

#[test]
fn outputs_checks_and_webhooks_are_the_same() {
    check(
        &json!({
            "writeOutputsToSecret": {"name": "out", "labels": {"a": "b"}, "annotations": {"c": "d"}, "outputs": ["url:address"]},
            "healthChecks": [
                {"name": "web", "type": "http", "url": "https://${{ .address }}/up", "timeout": "5s"},
                {"name": "db", "type": "tcp", "address": "${{ .host }}:5432"},
            ],
        }),
        &json!({
            "outputs": {"secret": {"name": "out", "labels": {"a": "b"}, "annotations": {"c": "d"}, "select": ["url:address"]}},
            "healthChecks": [
                {"name": "web", "http": "https://${url}/up", "timeout": "5s"},
                {"name": "db", "tcp": "${host}:5432"},
            ],
        }),
    );
    check(
        &json!({"webhooks": [{
            "stage": "post-planning", "url": "https://policy.example", "payloadType": "PlanOnly",
            "testExpression": "${{ .result.passed }}", "errorMessageTemplate": "no: ${{ .why }}",
        }]}),
        &json!({"webhooks": [{
            "name": "webhook-0", "url": "https://policy.example", "stage": "post-planning", "enabled": true, "payload": "PlanOnly",
            "failurePolicy": "Fail", "pass": "result.passed", "message": "no: ${why}",
        }]}),
    );
}

#[test]
fn pods_are_as_they_were() {
    check(
        &json!({
            "serviceAccountName": "deployer", "runnerTerminationGracePeriodSeconds": 60,
            "runnerPodTemplate": {
                "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
                "spec": {
                    "image": "own/groma:1", "nodeSelector": {"disk": "fast"}, "volumes": [{"name": "v", "emptyDir": {}}],
                    "volumeMounts": [{"name": "v", "mountPath": "/v"}], "resources": {"limits": {"cpu": "1"}},
                    "env": [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
                    "envFrom": [{"secretRef": {"name": "cloud"}}],
                },
            },
        }),
        &json!({
            "executor": "job", "serviceAccountName": "deployer",
            "inputs": {
                "env": [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
                "envFrom": [{"kind": "Secret", "name": "cloud"}],
            },
            "podTemplate": {
                "labels": {"a": "b"}, "annotations": {"c": "d"}, "image": "own/groma:1",
                "spec": {
                    "nodeSelector": {"disk": "fast"}, "volumes": [{"name": "v", "emptyDir": {}}], "terminationGracePeriodSeconds": 60,
                    "containers": [{
                        "name": "terraform", "volumeMounts": [{"name": "v", "mountPath": "/v"}], "resources": {"limits": {"cpu": "1"}},
                    }],
                },
            },
        }),
    );
    // Variables alone need no pod.
    check(
        &json!({"runnerPodTemplate": {"spec": {"env": [{"name": "A", "value": "1"}]}}}),
        &json!({"inputs": {"env": [{"name": "A", "value": "1"}]}}),
    );
}

#[test]
fn what_is_wrong_is_told_with_its_field() {
    let told = wrong(&json!({
        "interval": "soon", "retryInterval": "5", "retryStrategy": "Sometimes", "storeReadablePlan": "yaml",
        "sourceRef": {"apiVersion": "v1", "kind": "HelmRepository", "name": "x"},
        "vars": [{"name": "a"}, {"name": "b", "valueFrom": {"fieldRef": {}}}],
        "varsFrom": [{"kind": "Pod", "name": "x"}, {"kind": "Secret", "name": "x", "varsKeys": ["a:b:c", ":x"]}],
        "fileMappings": [{"secretRef": {"name": "s", "key": "k"}, "location": "moon", "path": "p"}],
        "healthChecks": [{"name": "x", "type": "icmp"}, {"name": "y", "type": "tcp"}, {"name": "z", "type": "http", "url": "${{ .a | b }}"}],
        "webhooks": [{"stage": "now", "url": "https://x", "testExpression": "yes"}, {"stage": "post-planning", "url": "https://x", "payloadType": "All", "testExpression": "${{ .a }}"}],
        "tfstate": {"forceUnlock": "maybe", "lockTimeout": "long"},
        "backendConfig": {"customConfiguration": "backend \"s3\" {\n  nope = 1\n}\n"},
    }));
    let expected = [
        "InvalidSpec spec.interval: \"soon\" is not a length of time",
        "InvalidSpec spec.retryInterval: \"5\" is not a length of time",
        "InvalidSpec spec.retryStrategy: \"Sometimes\" is neither StaticInterval nor ExponentialBackoff",
        "InvalidSpec spec.storeReadablePlan: \"yaml\" is none of none, human and json",
        "InvalidSpec spec.sourceRef.apiVersion: \"v1\" is no version of source.toolkit.fluxcd.io",
        "InvalidSpec spec.sourceRef.kind: \"HelmRepository\" is none of GitRepository, OCIRepository and Bucket",
        "InvalidSpec spec.vars[0]: the variable \"a\" has no value",
        "InvalidSpec spec.vars[1].valueFrom: give secretKeyRef or configMapKeyRef",
        "InvalidSpec spec.varsFrom[0].kind: \"Pod\" is neither Secret nor ConfigMap",
        "InvalidSpec spec.varsFrom[1].varsKeys: \"a:b:c\" is neither \"key\" nor \"key:variable\"",
        "InvalidSpec spec.varsFrom[1].varsKeys: \":x\" is neither \"key\" nor \"key:variable\"",
        "InvalidSpec spec.fileMappings[0].location: \"moon\" is neither home nor workspace",
        "InvalidSpec spec.healthChecks[0].type: \"icmp\" is neither tcp nor http",
        "InvalidSpec spec.healthChecks[1].address: checks of type tcp need it",
        "InvalidSpec spec.healthChecks[2].url: \"${{ .a | b }}\" cannot be filled in",
        "InvalidSpec spec.webhooks[0].stage: \"now\" is not post-planning",
        "InvalidSpec spec.webhooks[0].testExpression: only the name of a field",
        "InvalidSpec spec.webhooks[1].payloadType: \"All\" is none of SpecAndPlan, SpecOnly and PlanOnly",
        "InvalidSpec spec.tfstate.forceUnlock: \"maybe\" is none of yes, no and auto",
        "InvalidSpec spec.tfstate.lockTimeout: \"long\" is not a length of time",
        "InvalidSpec spec.backendConfig.customConfiguration: line 2: ",
    ];
    for expected in expected {
        assert!(told.iter().any(|told| told.starts_with(expected)), "{expected}\n{told:#?}");
    }
    assert_eq!(told.len(), expected.len(), "{told:#?}");
}

#[test]
fn a_state_that_cannot_be_used_is_never_replaced_by_an_empty_one() {
    let cloud = wrong(&json!({"cloud": {"organization": "o", "token": "s3cret"}}));
    assert!(cloud[0].starts_with("Unsupported spec.cloud: ") && !cloud[0].contains("s3cret"), "{cloud:?}");
    assert!(
        wrong(&json!({"backendConfig": {"disable": true}}))[0].starts_with("Unsupported spec.backendConfig.disable: ")
    );
    assert!(
        wrong(&json!({"backendConfig": {"configPath": "/x"}}))[0]
            .starts_with("Unsupported spec.backendConfig.configPath: ")
    );
}

#[test]
fn what_we_do_not_have_is_told_and_does_no_harm() {
    assert_eq!(
        lacks(&json!({"breakTheGlass": true, "enterprise": {}, "branchPlanner": {"enablePathScope": true}, "cliConfigSecretRef": {"name": "x"}}))
            .iter()
            .map(|told| told.split_once(':').unwrap().0)
            .collect::<Vec<_>>(),
        ["spec.breakTheGlass", "spec.enterprise", "spec.branchPlanner", "spec.cliConfigSecretRef"]
    );
    let image = lacks(
        &json!({"runnerPodTemplate": {"spec": {"image": "ghcr.io/flux-iac/tf-runner:v1", "shareProcessNamespace": true}}}),
    );
    assert_eq!(image.len(), 2, "{image:?}");
    let home = lacks(
        &json!({"fileMappings": [{"secretRef": {"name": "s", "key": "k"}, "location": "home", "path": ".netrc"}]}),
    );
    assert!(home[0].starts_with("spec.fileMappings[0].location: "), "{home:?}");
    assert_eq!(
        unknown_fields(&json!({"interval": "1m", "newThing": 1}))[0].to_string(),
        "spec.newThing: groma does not know this field"
    );
}

#[test]
fn other_namespaces_have_to_be_allowed() {
    let given = json!({
        "sourceRef": {"kind": "Bucket", "name": "code", "namespace": "flux-system"}, "dependsOn": [{"name": "a", "namespace": "other"}],
    });
    let told = wrong(&given);
    assert!(
        told[0].starts_with("AccessDenied spec.sourceRef.namespace: ")
            || told[1].starts_with("AccessDenied spec.sourceRef.namespace: "),
        "{told:?}"
    );
    assert_eq!(told.len(), 2, "{told:?}");
    let allowed = super::wanted(&object(&given), Rules { across_namespaces: true }).unwrap().stack.spec;
    assert_eq!(allowed.source.flux.unwrap().namespace.as_deref(), Some("flux-system"));
    let own = json!({"sourceRef": {"kind": "Bucket", "name": "code", "namespace": "team"}});
    assert_eq!(wanted(&own).stack.spec.source.flux.unwrap().namespace, None);
}

#[test]
fn a_run_is_asked_for_once_for_each_replan() {
    let mut object = object(&json!({"approvePlan": "replan-main"}));
    object.status = Some(serde_json::from_value(json!({"plan": {"pending": "plan-main-0123456789"}})).unwrap());
    let first = asked(&object, Asked::default());
    assert_eq!((first.token.as_deref(), first.replan.as_deref()), (Some("replan-main@3"), Some("replan-main")));
    // Another plan waits, and somebody has written something else.
    object.metadata.generation = Some(4);
    object.status = Some(serde_json::from_value(json!({"plan": {"pending": "plan-other-0123456789"}})).unwrap());
    assert_eq!(asked(&object, first.clone()), first);
    // It is taken away, which asks for nothing, and comes again.
    object.spec.approve_plan = Some(String::new());
    let without = asked(&object, first.clone());
    assert_eq!((&without.token, &without.replan), (&first.token, &None));
    object.metadata.generation = Some(6);
    object.spec.approve_plan = Some("replan".to_owned());
    assert_eq!(asked(&object, without.clone()).token.as_deref(), Some("replan@6"));
    // Not of the plan that waits.
    object.spec.approve_plan = Some("replan-main".to_owned());
    assert_eq!(asked(&object, without.clone()), without);
}

#[test]
fn what_flux_asks_for_is_told_from_a_replan() {
    let mut object = object(&json!({}));
    let ask = |object: &mut Terraform, at: &str| {
        object.metadata.annotations = Some([(names::FLUX_REQUESTED_AT.to_owned(), at.to_owned())].into());
    };
    ask(&mut object, "now");
    let first = asked(&object, Asked::default());
    assert_eq!(first, Asked { token: Some("now".to_owned()), replan: None });
    object.spec.approve_plan = Some("replan".to_owned());
    let second = asked(&object, first);
    assert_eq!(second.token.as_deref(), Some("now replan@3"));
    assert!(is_for(second.token.as_deref(), "now") && !is_for(second.token.as_deref(), "no"));
    ask(&mut object, "later");
    let third = asked(&object, second);
    assert_eq!((third.token.as_deref(), third.replan.as_deref()), (Some("later"), Some("replan")));
    object.metadata.annotations = None;
    assert_eq!(asked(&object, third.clone()), third);
}

#[test]
fn on_trial_nothing_is_done() {
    let given = json!({
        "approvePlan": "auto", "destroyResourcesOnDeletion": true, "writeOutputsToSecret": {"name": "o"},
        "healthChecks": [{"name": "db", "type": "tcp", "address": "x:1"}],
    });
    let spec = on_trial(wanted(&given)).stack.spec;
    assert!(spec.plan_only && spec.plan_unlocked && spec.health_checks.is_empty() && spec.plan_copy.is_none());
    assert_eq!((spec.outputs, spec.deletion_policy), (Outputs::default(), DeletionPolicy::Retain));
}

#[test]
fn what_a_stack_says_is_told_in_the_words_of_the_object() {
    let object = object(&json!({
        "vars": [{"name": "x", "value": 1}, {"name": "a", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
        "varsFrom": [{"kind": "Secret", "name": "one"}],
    }));
    let told = "spec.inputs.varsFrom[0]: a\nspec.inputs.varsFrom[1]: b\nspec.source.flux: c\nspec.inputs.env[2]: d";
    let expected =
        "spec.vars[1].valueFrom: a\nspec.varsFrom[0]: b\nspec.sourceRef: c\nspec.runnerPodTemplate.spec.env[2]: d";
    assert_eq!(renamed(&object, told), expected);
}
