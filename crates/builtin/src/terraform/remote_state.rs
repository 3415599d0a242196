//! `terraform_remote_state`: outputs of another configuration. Who reads the state is outside.

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::{Entries, Value};

use crate::kit::outside::{Outside, WantedState};
use crate::kit::spec::{computed, optional, required};
use crate::kit::{Call, DataSource, Object, Spec, at};

pub(super) struct RemoteState(pub(super) Outside);

#[async_trait]
impl DataSource for RemoteState {
    fn type_name(&self) -> &'static str {
        "terraform_remote_state"
    }

    fn spec(&self) -> Spec {
        let config = "Arguments of the backend, as its block in a `terraform` block would have them.";
        let defaults = "What stands in for outputs that the state does not have.";
        let outputs = "The outputs of the root module, one attribute each.";
        let workspace = "The workspace whose state is read. Defaults to `default`.";
        Spec::new()
            .attr(
                "backend",
                required(Type::String).markdown("The type of the backend that has the state, such as `local`."),
            )
            .attr("config", optional(Type::Dynamic).markdown(config))
            .attr("defaults", optional(Type::Dynamic).markdown(defaults))
            .attr("outputs", computed(Type::Dynamic).markdown(outputs))
            .attr("workspace", optional(Type::String).markdown(workspace))
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        let mut found = Diagnostics::new();
        let is_object = |value: &Value| matches!(value.ty(), Type::Dynamic | Type::Object(_) | Type::Map(_));
        let problem = |name: &str, summary: &str, detail: &str| Diagnostic::error(summary, detail).at_path(at(name));
        if !is_object(&config.get("config")) {
            let detail = "The configuration must be an object value.";
            found.push(problem("config", "Invalid backend configuration", detail));
        } else if let (Some(backend), true) = (config.text("backend"), config.is_wholly_known("config")) {
            found.extend(self.0.remote_states.validate(backend_name(backend), &arguments(config)));
        }
        if !is_object(&config.get("defaults")) {
            let detail = "Defaults must be given in an object value.";
            found.push(problem("defaults", "Invalid default values", detail));
        }
        found
    }

    async fn read(&self, mut config: Object, call: &mut Call) -> Result<Object, Diagnostics> {
        let backend = backend_name(config.text("backend").unwrap_or_default());
        let workspace = config.text("workspace").unwrap_or("default");
        let reader = reader(call.address.as_deref().unwrap_or_default());
        let wanted = WantedState { backend, config: &arguments(&config), workspace, reader: &reader };
        let stored = self.0.remote_states.outputs(wanted).await?;
        let Some(stored) = stored else {
            let detail = "No stored state was found for the given workspace in the given backend.";
            return Err(Diagnostic::error("Unable to find remote state", detail).at_path(at("workspace")).into());
        };
        let defaults = config.get("defaults");
        let both = [&defaults, &stored].into_iter().filter_map(Value::as_entries).flat_map(Entries::iter);
        let outputs = Value::object(both.map(|(name, value)| (name.clone(), value.clone())).collect::<Vec<_>>());
        config.set("outputs", outputs);
        if defaults.is_null() {
            config.set("defaults", Value::null(Type::Dynamic));
        }
        Ok(config)
    }
}

/// The old name of the local backend still stands for it.
fn backend_name(name: &str) -> &str {
    if name == "_local" { "local" } else { name }
}

/// What encryption blocks call a data source: `module.a[1].data.terraform_remote_state.b` is `a[1].b` there.
fn reader(address: &str) -> String {
    let short = address.replacen("data.terraform_remote_state.", "", 1);
    short.strip_prefix("module.").map(str::to_owned).unwrap_or(short)
}

/// The arguments of the backend as an object.
fn arguments(config: &Object) -> Value {
    config.get("config").as_entries().map_or_else(Value::empty_object, |entries| Value::object_of(entries.clone()))
}
