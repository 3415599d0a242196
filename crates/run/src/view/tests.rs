//! Whole documents, made with what is built in. That they are as the other tools write them is tested against those tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use expect_test::{Expect, expect};
use groma_engine::events::Silence;
use groma_engine::interrupt::Interrupt;
use groma_engine::plan::{self, Options, Plan};
use groma_engine::providers::Providers;
use groma_lang::builtin_schema::BuiltinSchemas;
use groma_lang::oracle::NothingExists;
use groma_lang::walk::Purpose;
use groma_model::address::{Provider as Address, ProviderInstance};
use groma_model::diag::Diagnostics;
use groma_provider::api::{Provider, ProviderSchema};
use groma_state::State;
use serde_json::{Value, json};

use super::config::{ConfigView, config_json, module_json};
use super::plan::{PlanView, plan_json};
use super::state::state_json;
use crate::session::{Loaded, Session, Start};

/// The provider that is part of the language.
struct Core(Arc<dyn Provider>);

#[async_trait]
impl Providers for Core {
    fn schema(&self, _: &Address) -> Option<Arc<ProviderSchema>> {
        Some(Arc::new(self.0.schema().clone()))
    }

    async fn start(&self, _: &ProviderInstance) -> Result<Arc<dyn Provider>, Diagnostics> {
        Ok(Arc::clone(&self.0))
    }
}

struct Workspace {
    session: Session,
    loaded: Loaded,
    _dir: tempfile::TempDir,
}

impl Workspace {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut session = Session::new(Start::in_directory(dir.path().to_owned()));
        let loaded = session.load();
        assert!(!loaded.diagnostics.has_errors(), "{:?}", loaded.diagnostics);
        Self { session, loaded, _dir: dir }
    }

    fn plan(&self, state: &State) -> Plan {
        let core = Address::builtin("terraform");
        let provider = groma_builtin::find(&core).unwrap().provider(&groma_builtin::Outside::system("."));
        let unused = NothingExists(BuiltinSchemas);
        let request = plan::Request {
            tree: self.loaded.tree.as_ref().unwrap(),
            inputs: &self.loaded.inputs,
            settings: self.session.settings(Purpose::Evaluate, &unused),
            schemas: &BuiltinSchemas,
            providers: Arc::new(Core(provider)),
            state,
            options: &Options::default(),
            events: Arc::new(Silence),
            interrupt: Interrupt::default(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (plan, diagnostics) = runtime.block_on(plan::plan(request));
        assert!(!diagnostics.has_errors(), "{diagnostics:?}");
        plan.unwrap()
    }

    fn config(&self) -> ConfigView<'_> {
        ConfigView {
            tree: self.loaded.tree.as_ref().unwrap(),
            sources: self.session.sources(),
            schemas: &BuiltinSchemas,
        }
    }

    fn view<'a>(&'a self, plan: &'a Plan) -> PlanView<'a> {
        PlanView {
            plan,
            variables: &self.loaded.inputs,
            tree: self.loaded.tree.as_ref().unwrap(),
            sources: self.session.sources(),
            schemas: &BuiltinSchemas,
            identities: &|_, _| None,
            timestamp: "2026-11-16T00:52:15Z",
        }
    }
}

fn check(document: &Value, expected: Expect) {
    expected.assert_eq(&format!("{document:#}\n"));
}

fn stored(instances: &Value) -> State {
    let state = json!({
        "version": 4, "terraform_version": "1.12.6", "serial": 1, "lineage": "l", "outputs": {},
        "resources": [{
            "mode": "managed", "type": "terraform_data", "name": "it",
            "provider": "provider[\"terraform.io/builtin/terraform\"]", "instances": instances,
        }],
        "check_results": null,
    });
    groma_state::decode(&state.to_string()).unwrap()
}

fn attributes(id: &str) -> Value {
    let input = json!({"value": "x", "type": "string"});
    json!({"id": id, "input": input, "output": input, "triggers_replace": null})
}

const SMALL: &str = r#"
variable "v" {
  default   = "<v>"
  sensitive = true
}
resource "terraform_data" "it" { input = "x" }
resource "terraform_data" "new" {
  count = 1
  input = [terraform_data.it.output, var.v]
}
output "o" { value = terraform_data.new[0].id }
"#;

#[test]
fn a_plan() {
    let workspace = Workspace::new(&[("main.tf", SMALL)]);
    let state = stored(&json!([{"schema_version": 0, "attributes": attributes("a")}]));
    let plan = workspace.plan(&state);
    let mut document = plan_json(&workspace.view(&plan)).unwrap();
    // What attributes matter is the planner's business.
    document.as_object_mut().unwrap().shift_remove("relevant_attributes");
    document["groma"]["version"] = "VERSION".into();
    check(
        &document,
        expect![[r#"
        {
          "format_version": "1.2",
          "terraform_version": "1.12.0",
          "variables": {
            "v": {
              "value": "<v>"
            }
          },
          "planned_values": {
            "outputs": {
              "o": {
                "sensitive": false
              }
            },
            "root_module": {
              "resources": [
                {
                  "address": "terraform_data.it",
                  "mode": "managed",
                  "type": "terraform_data",
                  "name": "it",
                  "provider_name": "terraform.io/builtin/terraform",
                  "schema_version": 0,
                  "values": {
                    "id": "a",
                    "input": "x",
                    "output": "x",
                    "triggers_replace": null
                  },
                  "sensitive_values": {}
                },
                {
                  "address": "terraform_data.new[0]",
                  "mode": "managed",
                  "type": "terraform_data",
                  "name": "new",
                  "index": 0,
                  "provider_name": "terraform.io/builtin/terraform",
                  "schema_version": 0,
                  "values": {
                    "input": [
                      "x",
                      "<v>"
                    ],
                    "triggers_replace": null
                  },
                  "sensitive_values": {
                    "input": [
                      false,
                      true
                    ],
                    "output": []
                  }
                }
              ]
            }
          },
          "resource_changes": [
            {
              "address": "terraform_data.it",
              "mode": "managed",
              "type": "terraform_data",
              "name": "it",
              "provider_name": "terraform.io/builtin/terraform",
              "change": {
                "actions": [
                  "no-op"
                ],
                "before": {
                  "id": "a",
                  "input": "x",
                  "output": "x",
                  "triggers_replace": null
                },
                "after": {
                  "id": "a",
                  "input": "x",
                  "output": "x",
                  "triggers_replace": null
                },
                "after_unknown": {},
                "before_sensitive": {},
                "after_sensitive": {}
              }
            },
            {
              "address": "terraform_data.new[0]",
              "mode": "managed",
              "type": "terraform_data",
              "name": "new",
              "index": 0,
              "provider_name": "terraform.io/builtin/terraform",
              "change": {
                "actions": [
                  "create"
                ],
                "before": null,
                "after": {
                  "input": [
                    "x",
                    "<v>"
                  ],
                  "triggers_replace": null
                },
                "after_unknown": {
                  "id": true,
                  "input": [
                    false,
                    false
                  ],
                  "output": true
                },
                "before_sensitive": false,
                "after_sensitive": {
                  "input": [
                    false,
                    true
                  ],
                  "output": []
                }
              }
            }
          ],
          "output_changes": {
            "o": {
              "actions": [
                "create"
              ],
              "before": null,
              "after_unknown": true,
              "before_sensitive": false,
              "after_sensitive": false
            }
          },
          "prior_state": {
            "format_version": "1.0",
            "terraform_version": "1.12.0",
            "values": {
              "root_module": {
                "resources": [
                  {
                    "address": "terraform_data.it",
                    "mode": "managed",
                    "type": "terraform_data",
                    "name": "it",
                    "provider_name": "terraform.io/builtin/terraform",
                    "schema_version": 0,
                    "values": {
                      "id": "a",
                      "input": "x",
                      "output": "x",
                      "triggers_replace": null
                    },
                    "sensitive_values": {}
                  }
                ]
              }
            }
          },
          "configuration": {
            "provider_config": {
              "terraform": {
                "name": "terraform",
                "full_name": "terraform.io/builtin/terraform"
              }
            },
            "root_module": {
              "outputs": {
                "o": {
                  "expression": {
                    "references": [
                      "terraform_data.new[0].id",
                      "terraform_data.new[0]",
                      "terraform_data.new"
                    ]
                  }
                }
              },
              "resources": [
                {
                  "address": "terraform_data.it",
                  "mode": "managed",
                  "type": "terraform_data",
                  "name": "it",
                  "provider_config_key": "terraform",
                  "expressions": {
                    "input": {
                      "constant_value": "x"
                    }
                  },
                  "schema_version": 0
                },
                {
                  "address": "terraform_data.new",
                  "mode": "managed",
                  "type": "terraform_data",
                  "name": "new",
                  "provider_config_key": "terraform",
                  "expressions": {
                    "input": {
                      "references": [
                        "terraform_data.it.output",
                        "terraform_data.it",
                        "var.v"
                      ]
                    }
                  },
                  "schema_version": 0,
                  "count_expression": {
                    "constant_value": 1
                  }
                }
              ],
              "variables": {
                "v": {
                  "default": "<v>",
                  "sensitive": true
                }
              }
            }
          },
          "timestamp": "2026-11-16T00:52:15Z",
          "errored": false,
          "groma": {
            "version": "VERSION",
            "mode": "normal",
            "execution": {
              "makes": 1,
              "removes": 0,
              "longest_chain": 1
            }
          }
        }
    "#]],
    );
}

#[test]
fn a_plan_is_written_as_it_is_made() {
    let workspace = Workspace::new(&[("main.tf", SMALL)]);
    let plan = workspace.plan(&State::default());
    let view = workspace.view(&plan);
    let mut text = Vec::new();
    view.write(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("\\u003cv\\u003e") && !text.contains("<v>"), "{text}");
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), plan_json(&view).unwrap());
}

#[test]
fn a_configuration() {
    let child = r#"
variable "n" { type = number }
resource "terraform_data" "it" {
  for_each   = toset(["a"])
  input      = { k = each.key, n = var.n }
  depends_on = [terraform_data.other]
}
resource "terraform_data" "other" {
  provisioner "local-exec" { command = "true" }
}
output "all" {
  value       = [for it in terraform_data.it : it.id]
  description = "All."
}
"#;
    let main = "module \"m\" {\n  source = \"./child\"\n  count  = 2\n  n      = 1 + 1\n}\noutput \"o\" { value = module.m[0].all }\n";
    let workspace = Workspace::new(&[("main.tf", main), ("child/main.tf", child)]);
    check(
        &config_json(&workspace.config()).unwrap(),
        expect![[r#"
        {
          "provider_config": {
            "module.m:terraform": {
              "name": "terraform",
              "full_name": "terraform.io/builtin/terraform",
              "module_address": "module.m"
            }
          },
          "root_module": {
            "outputs": {
              "o": {
                "expression": {
                  "references": [
                    "module.m[0].all",
                    "module.m[0]"
                  ]
                }
              }
            },
            "module_calls": {
              "m": {
                "source": "./child",
                "expressions": {
                  "n": {
                    "constant_value": 2
                  }
                },
                "count_expression": {
                  "constant_value": 2
                },
                "module": {
                  "outputs": {
                    "all": {
                      "expression": {
                        "references": [
                          "terraform_data.it"
                        ]
                      },
                      "description": "All."
                    }
                  },
                  "resources": [
                    {
                      "address": "terraform_data.it",
                      "mode": "managed",
                      "type": "terraform_data",
                      "name": "it",
                      "provider_config_key": "module.m:terraform",
                      "expressions": {
                        "input": {
                          "references": [
                            "each.key",
                            "var.n"
                          ]
                        }
                      },
                      "schema_version": 0,
                      "depends_on": [
                        "terraform_data.other"
                      ]
                    },
                    {
                      "address": "terraform_data.other",
                      "mode": "managed",
                      "type": "terraform_data",
                      "name": "other",
                      "provider_config_key": "module.m:terraform",
                      "provisioners": [
                        {
                          "type": "local-exec",
                          "expressions": {
                            "command": {
                              "constant_value": "true"
                            }
                          }
                        }
                      ],
                      "schema_version": 0
                    }
                  ],
                  "variables": {
                    "n": {
                      "type": "number",
                      "required": true
                    }
                  }
                }
              }
            }
          }
        }
    "#]],
    );
    let tree = workspace.loaded.tree.as_ref().unwrap();
    let module = &tree.root.children["m"].module;
    check(
        &module_json(module, workspace.session.sources()).unwrap(),
        expect![[r#"
        {
          "provider_config": {
            "terraform": {
              "name": "terraform",
              "full_name": "terraform.io/builtin/terraform"
            }
          },
          "root_module": {
            "outputs": {
              "all": {
                "description": "All."
              }
            },
            "resources": [
              {
                "address": "terraform_data.it",
                "mode": "managed",
                "type": "terraform_data",
                "name": "it",
                "provider_config_key": "terraform",
                "depends_on": [
                  "terraform_data.other"
                ]
              },
              {
                "address": "terraform_data.other",
                "mode": "managed",
                "type": "terraform_data",
                "name": "other",
                "provider_config_key": "terraform",
                "provisioners": [
                  {
                    "type": "local-exec"
                  }
                ]
              }
            ],
            "variables": {
              "n": {
                "type": "number",
                "required": true
              }
            }
          }
        }
    "#]],
    );
}

#[test]
fn a_configuration_without_schemas() {
    let text = "resource \"other_thing\" \"it\" {}\n";
    let workspace = Workspace::new(&[("main.tf", text)]);
    let problems = config_json(&workspace.config()).unwrap_err();
    let problem = problems.iter().next().unwrap();
    assert_eq!(problem.summary, "Failed to marshal configuration to JSON");
    assert_eq!(
        problem.detail,
        "no schema found for other_thing.it (in provider registry.opentofu.org/hashicorp/other)"
    );
    // One module alone needs none.
    let root = &workspace.loaded.tree.as_ref().unwrap().root.module;
    let document = module_json(root, workspace.session.sources()).unwrap();
    assert_eq!(document["root_module"]["resources"][0]["address"], "other_thing.it");
}

#[test]
fn a_state() {
    let mut state = stored(&json!([
        {
            "index_key": 0, "schema_version": 0, "status": "tainted", "attributes": attributes("a"),
            "sensitive_attributes": [[{"type": "get_attr", "value": "input"}]],
            "dependencies": ["module.m.terraform_data.other"],
            "identity": {"id": "a"}, "identity_schema_version": 3,
        },
        {"index_key": 0, "schema_version": 0, "deposed": "00000001", "attributes": attributes("b")},
    ]));
    let output = groma_state::OutputState { value: "x".into(), sensitive: false, deprecated: Some("no".into()) };
    state.outputs = BTreeMap::from([("o".into(), output)]);
    check(
        &state_json(&state, &BuiltinSchemas).unwrap(),
        expect![[r#"
        {
          "format_version": "1.0",
          "terraform_version": "1.12.6",
          "values": {
            "outputs": {
              "o": {
                "sensitive": false,
                "deprecated": "no",
                "value": "x",
                "type": "string"
              }
            },
            "root_module": {
              "resources": [
                {
                  "address": "terraform_data.it[0]",
                  "mode": "managed",
                  "type": "terraform_data",
                  "name": "it",
                  "index": 0,
                  "provider_name": "terraform.io/builtin/terraform",
                  "schema_version": 0,
                  "values": {
                    "id": "a",
                    "input": "x",
                    "output": "x",
                    "triggers_replace": null
                  },
                  "sensitive_values": {
                    "input": true
                  },
                  "depends_on": [
                    "module.m.terraform_data.other"
                  ],
                  "tainted": true,
                  "identity": {
                    "id": "a"
                  },
                  "identity_schema_version": 3
                },
                {
                  "address": "terraform_data.it[0]",
                  "mode": "managed",
                  "type": "terraform_data",
                  "name": "it",
                  "index": 0,
                  "provider_name": "terraform.io/builtin/terraform",
                  "schema_version": 0,
                  "values": {
                    "id": "b",
                    "input": "x",
                    "output": "x",
                    "triggers_replace": null
                  },
                  "sensitive_values": {},
                  "deposed_key": "00000001"
                }
              ]
            }
          }
        }
    "#]],
    );
    assert_eq!(state_json(&State::default(), &BuiltinSchemas).unwrap(), json!({"format_version": "1.0"}));
}

#[test]
fn a_state_that_cannot_be_shown() {
    let problem = |state: &State| {
        let problems = state_json(state, &BuiltinSchemas).unwrap_err();
        let problem = problems.iter().next().unwrap().clone();
        assert_eq!(problem.summary, "Failed to marshal state to json");
        problem.detail
    };
    let newer = stored(&json!([{"schema_version": 7, "attributes": attributes("a")}]));
    assert_eq!(
        problem(&newer),
        "schema version 7 for terraform_data.it in state does not match version 0 from the provider"
    );
    let strange = stored(&json!([{"schema_version": 0, "attributes": {"id": []}}]));
    assert!(problem(&strange).starts_with("terraform_data.it: "));
    let text = serde_json::to_string(&json!({
        "version": 4, "terraform_version": "1.12.6", "serial": 1, "lineage": "l", "outputs": {},
        "resources": [{
            "mode": "data", "type": "other_thing", "name": "it", "provider": "provider[\"example.com/a/other\"]",
            "instances": [{"schema_version": 0, "attributes": {}}],
        }],
    }));
    let unknown = groma_state::decode(&text.unwrap()).unwrap();
    assert_eq!(problem(&unknown), "no schema found for data.other_thing.it (in provider example.com/a/other)");
}
