//! `terraform_data`: a value that is kept, and replaced on demand.

use async_trait::async_trait;
use groma_model::codec::json;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::{Refinement, Value};
use groma_provider::api::{MoveRequest, RawState};

use crate::chance::Chance;
use crate::kit::spec::{computed, optional};
use crate::kit::{Call, Failed, Object, Planned, Resource, Spec, at};

pub(super) struct Data(pub(super) Chance);

#[async_trait]
impl Resource for Data {
    fn type_name(&self) -> &'static str {
        "terraform_data"
    }

    fn spec(&self) -> Spec {
        Spec::new()
            .attr("id", computed(Type::String))
            .attr("input", optional(Type::Dynamic))
            .attr("output", computed(Type::Dynamic))
            .attr("triggers_replace", optional(Type::Dynamic))
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        let read_only = |name: &str| Diagnostic::error(format!("{name:?} attribute is read-only"), "");
        ["id", "output"].into_iter().filter(|name| !config.is_null(name)).map(read_only).collect()
    }

    async fn plan(&self, plan: &mut Planned, _: &mut Call) {
        let input = plan.config.get("input");
        let decided_later = if input.is_null() { input.clone() } else { Value::unknown(input.ty()) };
        let new_id = Value::unknown_refined(Type::String, Refinement::not_null());
        let Some(prior) = plan.prior.clone() else {
            plan.object.set("id", new_id);
            plan.object.set("output", decided_later);
            return;
        };
        if plan.changes("triggers_replace") {
            plan.replace_for("triggers_replace");
            plan.object.set("id", new_id);
            plan.object.set("output", decided_later);
            return;
        }
        plan.object.set("id", prior.get("id"));
        let output = if plan.changes("input") { Value::unknown(input.ty()) } else { prior.get("output") };
        plan.object.set("output", output);
    }

    async fn create(&self, planned: Object, _: &Object, _: &mut Call) -> Result<Object, Failed> {
        Ok(self.settle(planned)?)
    }

    async fn update(&self, _: &Object, planned: Object, _: &Object, _: &mut Call) -> Result<Object, Failed> {
        Ok(self.settle(planned)?)
    }

    async fn import(&self, id: &str, mut object: Object, _: &mut Call) -> Result<Object, Diagnostics> {
        object.set("id", id);
        Ok(object)
    }

    /// Only a `null_resource` can become one: its triggers become the triggers here.
    fn take_over(&self, request: &MoveRequest, mut object: Object) -> Option<Result<Object, Diagnostics>> {
        if request.source_type_name != "null_resource" {
            let summary = format!(
                "unsupported move: {} -> {}; only move from null_resource to terraform_data is supported",
                request.source_type_name, request.target_type_name
            );
            return Some(Err(Diagnostic::error(summary, "").into()));
        }
        let ty = Type::object([("id", Type::String), ("triggers", Type::map(Type::String))]);
        let stored = match &request.source_state {
            RawState::Json(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            RawState::Flatmap(_) => "{}".to_owned(),
        };
        let old = match json::decode(&stored, &ty) {
            Ok(old) => Object::of(&old),
            Err(error) => return Some(Err(Diagnostic::error(error.to_string(), "").into())),
        };
        if let Some(triggers) = old.get("triggers").as_entries() {
            object.set("triggers_replace", Value::object_of(triggers.clone()));
        }
        object.set("id", old.get("id"));
        Some(Ok(object))
    }
}

impl Data {
    fn settle(&self, mut planned: Object) -> Result<Object, Diagnostic> {
        if planned.is_unknown("output") {
            planned.set("output", planned.get("input"));
        }
        if planned.is_unknown("id") {
            let id = self.0.uuid();
            planned.set(
                "id",
                id.map_err(|error| Diagnostic::error("Error generating id", error.detail).at_path(at("id")))?,
            );
        }
        Ok(planned)
    }
}
