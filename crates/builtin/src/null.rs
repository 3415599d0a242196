//! The `null` provider: a resource that is nothing but its triggers.

use async_trait::async_trait;
use groma_model::address::{DEFAULT_HOST, DEFAULT_NAMESPACE};
use groma_model::diag::Diagnostics;
use groma_model::ty::Type;
use groma_provider::api::Effects;

use crate::chance::Chance;
use crate::kit::Builtin;
use crate::kit::outside::Outside;
use crate::kit::spec::{computed, optional, optional_computed};
use crate::kit::{Call, DataSource, Failed, InProcess, Object, Resource, Spec, keepers_replace};

pub(crate) const BUILTIN: Builtin = Builtin {
    name: "null",
    namespace: DEFAULT_NAMESPACE,
    host: DEFAULT_HOST,
    version: Some("3.4.0"),
    effects: Effects::None,
    make,
};

fn make(outside: &Outside) -> InProcess {
    InProcess::new(BUILTIN.address().to_string())
        .resource(NullResource(Chance::of(outside)))
        .data_source(NullData(Chance::of(outside)))
}

struct NullResource(Chance);

#[async_trait]
impl Resource for NullResource {
    fn type_name(&self) -> &'static str {
        "null_resource"
    }

    fn spec(&self) -> Spec {
        let triggers = "When any of these changes, the resource is replaced, and its provisioners run again.";
        Spec::new()
            .doc(
                "A resource that is nothing but its triggers. `terraform_data` can do the same, and needs no provider.",
            )
            .attr("id", computed(Type::String).doc("A number that was drawn when it was made.").keep())
            .attr("triggers", optional(Type::map(Type::String)).doc(triggers).replace_when(keepers_replace()))
    }

    async fn create(&self, mut planned: Object, _: &Object, _: &mut Call) -> Result<Object, Failed> {
        planned.set("id", self.0.number()?);
        Ok(planned)
    }
}

struct NullData(Chance);

#[async_trait]
impl DataSource for NullData {
    fn type_name(&self) -> &'static str {
        "null_data_source"
    }

    fn spec(&self) -> Spec {
        Spec::new()
            .deprecated("Use a local value, or a terraform_data resource.")
            .doc("Gives back what it is given. Local values and `terraform_data` do that better.")
            .attr(
                "has_computed_default",
                optional_computed(Type::String).doc("What is given, or else `default`. Made for tests."),
            )
            .attr("id", computed(Type::String).doc("Always `static`.").deprecated("It is always the same."))
            .attr("inputs", optional(Type::map(Type::String)).doc("Any strings."))
            .attr("outputs", computed(Type::map(Type::String)).doc("The same as `inputs`."))
            .attr("random", computed(Type::String).doc("A number, another one with each read. Made for tests."))
    }

    async fn read(&self, mut config: Object, _: &mut Call) -> Result<Object, Diagnostics> {
        config.set("outputs", config.get("inputs"));
        config.set("random", self.0.number()?);
        if config.is_null("has_computed_default") {
            config.set("has_computed_default", "default");
        }
        config.set("id", "static");
        Ok(config)
    }
}

#[cfg(test)]
mod tests;
