//! The `null` provider: a resource that is nothing but its triggers.

use async_trait::async_trait;
use groma_model::address::{DEFAULT_HOST, DEFAULT_NAMESPACE};
use groma_model::diag::Diagnostics;
use groma_model::ty::Type;

use crate::chance::Chance;
use crate::kit::outside::Outside;
use crate::kit::spec::{computed, optional, optional_computed};
use crate::kit::{Call, DataSource, Failed, InProcess, Object, Resource, Spec, keepers_replace};
use crate::registry::Builtin;

pub(crate) const BUILTIN: Builtin = Builtin {
    name: "null",
    namespace: DEFAULT_NAMESPACE,
    host: DEFAULT_HOST,
    version: Some("3.4.0"),
    is_pure: true,
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
        Spec::new()
            .doc(
                "The `null_resource` resource implements the standard resource lifecycle but takes no further action. \
                 On Terraform 1.4 and later, use the [terraform_data resource type]\
                 (https://developer.hashicorp.com/terraform/language/resources/terraform-data) instead.\n\nThe \
                 `triggers` argument allows specifying an arbitrary set of values that, when changed, will cause the \
                 resource to be replaced.",
            )
            .attr("id", computed(Type::String).doc("This is set to a random value at create time.").keep())
            .attr(
                "triggers",
                optional(Type::map(Type::String))
                    .doc(
                        "A map of arbitrary strings that, when changed, will force the null resource to be replaced, \
                         re-running any associated provisioners.",
                    )
                    .replace_when(keepers_replace()),
            )
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
        let legacy = "This attribute is only present for some legacy compatibility issues and should not be used. It \
                      will be removed in a future version.";
        Spec::new()
            .deprecated(
                "The null_data_source was historically used to construct intermediate values to re-use elsewhere in \
                 configuration, the same can now be achieved using locals or the terraform_data resource type in \
                 Terraform 1.4 and later.",
            )
            .doc(
                "The `null_data_source` data source implements the standard data source lifecycle but does \
                 not\ninteract with any external APIs.\n\nHistorically, the `null_data_source` was typically used to \
                 construct intermediate values to re-use elsewhere in configuration. The\nsame can now be achieved \
                 using [locals](https://developer.hashicorp.com/terraform/language/values/locals) or the \
                 [terraform_data resource type]\
                 (https://developer.hashicorp.com/terraform/language/resources/terraform-data) in Terraform 1.4 and \
                 later.",
            )
            .attr(
                "has_computed_default",
                optional_computed(Type::String).doc(
                    "If set, its literal value will be stored and returned. If not, its value defaults to \
                     `\"default\"`. This argument exists primarily for testing and has little practical use.",
                ),
            )
            .attr("id", computed(Type::String).doc(legacy).deprecated(legacy))
            .attr(
                "inputs",
                optional(Type::map(Type::String)).doc(
                    "A map of arbitrary strings that is copied into the `outputs` attribute, and accessible directly \
                     for interpolation.",
                ),
            )
            .attr(
                "outputs",
                computed(Type::map(Type::String)).doc("After the data source is \"read\", a copy of the `inputs` map."),
            )
            .attr(
                "random",
                computed(Type::String).doc(
                    "A random value. This is primarily for testing and has little practical use; prefer the \
                     [hashicorp/random provider](https://registry.terraform.io/providers/hashicorp/random) for more \
                     practical random number use-cases.",
                ),
            )
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
