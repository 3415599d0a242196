//! What is shipped in `deploy/simple-resource` is what it says: it is read as a cluster would read it, and put together.

use std::collections::BTreeSet;

use expect_test::expect;
use granit_parser::{Event, Parser, ScalarStyle};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::DynamicObject;
use serde_json::{Map, Value as Json, json};

use super::wanted::{problems, wanted};
use super::*;
use crate::api::blueprint::Blueprint;

const CRD: &str = include_str!("../../../../deploy/simple-resource/crd.yaml");
const BLUEPRINT: &str = include_str!("../../../../deploy/simple-resource/blueprint.yaml");
const TEMPLATE: &str = include_str!("../../../../deploy/simple-resource/blueprint-template.yaml");
const ROLE: &str = include_str!("../../../../deploy/simple-resource/role.yaml");
const SAMPLE: &str = include_str!("../../../../deploy/simple-resource/sample.yaml");

/// YAML as far as these files have it.
fn yaml(text: &str) -> Json {
    let mut events = Parser::new_from_str(text).map(|event| event.unwrap().0);
    loop {
        match events.next().unwrap() {
            Event::StreamStart | Event::DocumentStart(..) => {}
            event => return node(event, &mut events),
        }
    }
}

fn node<'a>(event: Event<'a>, events: &mut impl Iterator<Item = Event<'a>>) -> Json {
    match event {
        Event::Scalar(text, ScalarStyle::Plain, ..) => serde_json::from_str(&text).unwrap_or_else(|_| json!(text)),
        Event::Scalar(text, ..) => json!(text),
        Event::SequenceStart(..) => {
            let mut items = Vec::new();
            loop {
                match events.next().unwrap() {
                    Event::SequenceEnd => return Json::Array(items),
                    event => items.push(node(event, events)),
                }
            }
        }
        Event::MappingStart(..) => {
            let mut entries = Map::new();
            loop {
                let key = match events.next().unwrap() {
                    Event::MappingEnd => return Json::Object(entries),
                    event => node(event, events),
                };
                let value = node(events.next().unwrap(), events);
                assert!(entries.insert(key.as_str().unwrap().to_owned(), value).is_none(), "{key} is there twice");
            }
        }
        // Comments, where nothing was asked to leave them out.
        _ => node(events.next().unwrap(), events),
    }
}

fn blueprint(text: &str) -> Blueprint {
    serde_json::from_value(yaml(text)).unwrap()
}

pub(super) fn shipped() -> Blueprint {
    blueprint(BLUEPRINT)
}

pub(super) fn sample() -> DynamicObject {
    serde_json::from_value(yaml(SAMPLE)).unwrap()
}

#[test]
fn the_kind_is_the_one_of_the_blueprints() {
    let crd: CustomResourceDefinition = serde_json::from_value(yaml(CRD)).unwrap();
    let names = &crd.spec.names;
    let version = &crd.spec.versions[0];
    assert_eq!(crd.metadata.name.as_deref(), Some("simpleresources.infra.opr8r"));
    assert_eq!(names.short_names.as_deref(), Some(&["simple".to_owned()][..]));
    let expected = Kind {
        group: crd.spec.group.clone(),
        version: version.name.clone(),
        kind: names.kind.clone(),
        plural: names.plural.clone(),
    };
    for text in [BLUEPRINT, TEMPLATE] {
        let blueprint = blueprint(text);
        assert_eq!(kind_of(&blueprint.spec.subject), Ok(expected.clone()));
        assert_eq!(problems(&blueprint), []);
    }
    assert!(version.subresources.as_ref().is_some_and(|own| own.status.is_some()));
}

#[test]
fn the_operator_may_do_what_it_does() {
    let role = yaml(ROLE);
    let install = crate::install::Install::default().rights();
    let all = install.iter().find(|object| object["metadata"]["name"] == "groma-blueprints").unwrap();
    let wanted = &all["aggregationRule"]["clusterRoleSelectors"][0]["matchLabels"];
    assert_eq!(&role["metadata"]["labels"], wanted);
    let kind = kind_of(&shipped().spec.subject).unwrap();
    let may = |verb: &str, resource: &str| {
        let has = |rule: &Json, field: &str, value: &str| rule[field].as_array().unwrap().contains(&json!(value));
        let rules = role["rules"].as_array().unwrap();
        rules.iter().any(|rule| {
            has(rule, "apiGroups", &kind.group) && has(rule, "resources", resource) && has(rule, "verbs", verb)
        })
    };
    let needed = ["get", "list", "watch", "update"].map(|verb| (verb, kind.plural.clone()));
    let parts = ["status", "finalizers"].map(|part| ("update", format!("{}/{part}", kind.plural)));
    assert!(needed.iter().chain(&parts).all(|(verb, resource)| may(verb, resource)));
}

#[test]
fn the_schema_has_room_for_everything() {
    let crd = yaml(CRD);
    let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
    let has = |of: &str, name: &str| schema[of]["properties"].get(name).is_some();
    let blueprint = shipped();
    let paths = blueprint.spec.variables.values().filter_map(|path| path.strip_prefix(".spec."));
    assert!(paths.clone().count() == 3 && paths.clone().all(|field| has("spec", field)));
    let fields = blueprint.spec.status.fields.keys().chain(&blueprint.spec.status.outputs);
    assert!(fields.clone().count() == 3 && fields.clone().all(|field| has("status", field)));
    for field in ["phase", "message", "lastAppliedHash", "observedGeneration", "conditions"] {
        assert!(has("status", field), "{field}");
    }
    let length = &schema["spec"]["properties"]["length"];
    assert_eq!((&length["minimum"], &length["maximum"]), (&json!(1), &json!(100)));
    let given = sample().data["spec"].as_object().unwrap().clone();
    assert!(given.keys().all(|field| has("spec", field)));
}

#[test]
fn the_module_declares_what_it_gets_and_gives_what_is_told() {
    let blueprint = shipped();
    let files = blueprint.spec.source.clone().unwrap().inline.unwrap();
    let text: Vec<&str> = files.values().map(String::as_str).collect();
    let declared = |block: &str| -> BTreeSet<String> {
        let begin = format!("{block} \"");
        let lines = text.iter().flat_map(|text| text.lines());
        lines.filter_map(|line| Some(line.strip_prefix(&begin)?.split_once('"')?.0.to_owned())).collect()
    };
    let given = blueprint.spec.variables.keys().chain(blueprint.spec.values.keys());
    assert!(given.clone().all(|name| declared("variable").contains(name)), "{:?}", declared("variable"));
    let outputs: Vec<String> = declared("output").into_iter().collect();
    assert_eq!(outputs, ["file_content", "file_path", "length", "random_value"]);
    assert!(blueprint.spec.status.fields.values().all(|output| outputs.contains(output)));
}

#[test]
fn the_sample_becomes_a_stack() {
    let mut object = sample();
    object.metadata.uid = Some("1-2-3".to_owned());
    let mut stack = json!(wanted(&shipped(), &object).unwrap().stack);
    stack["spec"]["source"] = json!("...");
    expect![[r#"
        {
          "apiVersion": "groma.dev/v1alpha1",
          "kind": "Stack",
          "metadata": {
            "annotations": {
              "groma.dev/blueprint": "simple-resource",
              "groma.dev/object-finalizer": "infra.opr8r/simple-finalizer",
              "groma.dev/object-plural": "simpleresources"
            },
            "labels": {
              "infra.opr8r/simpleresource": "simpleresource-sample"
            },
            "name": "simpleresource-simpleresource-sample",
            "namespace": "default",
            "ownerReferences": [
              {
                "apiVersion": "infra.opr8r/v1alpha1",
                "blockOwnerDeletion": true,
                "controller": true,
                "kind": "SimpleResource",
                "name": "simpleresource-sample",
                "uid": "1-2-3"
              }
            ]
          },
          "spec": {
            "source": "...",
            "inputs": {
              "values": {
                "custom_vars": {
                  "special": "true",
                  "upper": "true"
                },
                "length": 16,
                "name": "simpleresource-sample",
                "namespace": "default",
                "prefix": "test",
                "wait": "60s"
              }
            },
            "engine": "native",
            "podTemplate": {
              "labels": {
                "infra.opr8r/simpleresource": "simpleresource-sample"
              }
            },
            "approval": {
              "mode": "auto"
            },
            "retry": {},
            "timeouts": {
              "apply": "30m",
              "destroy": "30m"
            },
            "drift": "correct",
            "deletionPolicy": "destroy",
            "outputs": {
              "secret": {
                "name": "simpleresource-sample-simple-outputs",
                "labels": {
                  "infra.opr8r/simpleresource": "simpleresource-sample"
                }
              },
              "status": true
            },
            "history": {}
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&stack).unwrap());
}

#[test]
fn the_template_of_the_document_with_the_sample() {
    let wanted = wanted(&blueprint(TEMPLATE), &sample()).unwrap();
    expect![[r#"
        terraform {
          required_version = ">= 1.0"

          backend "local" {
            path = "/tmp/terraform-default-simpleresource-sample.tfstate"
          }

          required_providers {
            random = {
              source  = "hashicorp/random"
              version = "~> 3.0"
            }
          }
        }

        resource "random_string" "value" {
          length  = 16
          special = lookup(var.custom_vars, "special", "true") == "true"
          upper   = lookup(var.custom_vars, "upper", "true") == "true"
        }

        variable "custom_vars" {
          type    = map(string)
          default = {
            "special" = "true"
            "upper" = "true"
          }
        }

        output "random_value" {
          value = random_string.value.result
        }
    "#]]
    .assert_eq(&wanted.stack.spec.source.inline.unwrap()["main.tf"]);
}
