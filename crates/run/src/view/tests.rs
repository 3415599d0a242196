//! Whole documents, made with what is built in. That they are as the other tools write them is tested against those tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use expect_test::{ExpectFile, expect_file};
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
            rules: &groma_rules::Rules::default(),
            tree: self.loaded.tree.as_ref().unwrap(),
            inputs: &self.loaded.inputs,
            settings: self.session.settings(Purpose::Evaluate, &unused),
            schemas: &BuiltinSchemas,
            providers: Arc::new(Core(provider)),
            state,
            options: &Options::default(),
            events: Arc::new(Silence),
            interrupt: Interrupt::default(),
            provider_versions: &BTreeMap::new(),
            listing: None,
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

fn check(document: &Value, expected: &ExpectFile) {
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
    check(&document, &expect_file!["snapshots/plan.json"]);
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
    check(&config_json(&workspace.config()).unwrap(), &expect_file!["snapshots/configuration.json"]);
    let tree = workspace.loaded.tree.as_ref().unwrap();
    let module = &tree.root.children["m"].module;
    check(&module_json(module, workspace.session.sources()).unwrap(), &expect_file!["snapshots/module.json"]);
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
    check(&state_json(&state, &BuiltinSchemas).unwrap(), &expect_file!["snapshots/state.json"]);
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
