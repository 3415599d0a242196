//! The data source `k8sconnect_object`: an object as the cluster has it.

use std::sync::Arc;

use async_trait::async_trait;
use groma_kit::spec::{computed, optional, required};
use groma_kit::{Call, DataSource, Object, Spec, at};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::Value;

use crate::Json;
use crate::cluster::{self, CLUSTER, Given};
use crate::failure::named;
use crate::manifest::{ObjectRef, to_yaml};
use crate::provider::Shared;
use crate::wait::value_of;

/// The data source.
pub(crate) struct ObjectData(Arc<Shared>);

impl ObjectData {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self(shared)
    }
}

#[async_trait]
impl DataSource for ObjectData {
    fn type_name(&self) -> &'static str {
        "k8sconnect_object"
    }

    fn spec(&self) -> Spec {
        Spec::new()
            .doc("Reads an object that somebody else made.")
            .attr("api_version", required(Type::String).doc("Its `apiVersion`."))
            .attr("kind", required(Type::String).doc("Its kind."))
            .attr("name", required(Type::String).doc("Its name."))
            .attr(
                "namespace",
                optional(Type::String).doc("Its namespace. Default: `default`, for kinds that have one."),
            )
            .attr(CLUSTER, cluster::attribute())
            .attr("manifest", computed(Type::String).doc("The object as JSON. Null if it does not exist."))
            .attr("yaml_body", computed(Type::String).doc("The object as YAML. Null if it does not exist."))
            .attr("object", computed(Type::Dynamic).doc("The object as a value. Null if it does not exist."))
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        cluster::validate(config)
    }

    async fn read(&self, mut config: Object, call: &mut Call) -> Result<Object, Diagnostics> {
        let given = cluster::read(&config);
        if let Given::Here(spec) = &given {
            self.0.connections.note(spec);
        }
        let opened = self.0.connections.open(&given).await?;
        let cluster = opened.ok_or_else(not_known)?;
        let text = |name: &str| config.text(name).unwrap_or_default().to_owned();
        let wanted = ObjectRef {
            api_version: text("api_version"),
            kind: text("kind"),
            namespace: config.text("namespace").map(str::to_owned),
            name: text("name"),
        };
        let failed = |failure: crate::failure::Failure| failure.diagnostic("read", &wanted);
        let completed = cluster.complete(&wanted).await.map_err(failed)?;
        let live = cluster.get(&completed).await.map_err(failed)?;
        if live.is_none() {
            call.diagnostics.push(missing(&completed));
        }
        fill(&mut config, live);
        Ok(config)
    }
}

fn fill(object: &mut Object, live: Option<Json>) {
    let manifest = live.as_ref().and_then(|live| serde_json::to_string_pretty(live).ok());
    object.set_text("manifest", manifest.as_deref());
    object.set_text("yaml_body", live.as_ref().map(to_yaml).as_deref());
    let value = live.map(|mut live| {
        without_managers(&mut live);
        value_of(&live)
    });
    object.set("object", value.unwrap_or_else(|| Value::null(Type::Dynamic)));
}

/// Who owns which field has keys that nobody wants to write, and changes all the time.
fn without_managers(live: &mut Json) {
    match live {
        Json::Object(members) => {
            members.shift_remove("managedFields");
            members.values_mut().for_each(without_managers);
        }
        Json::Array(items) => items.iter_mut().for_each(without_managers),
        _ => {}
    }
}

fn missing(object: &ObjectRef) -> Diagnostic {
    let detail = format!(
        "{} does not exist in the cluster, so manifest, yaml_body and object are null. If it is made in the same \
         configuration, let the data source depend on that.",
        named(object)
    );
    Diagnostic::warning("Object does not exist", detail)
}

fn not_known() -> Diagnostic {
    let detail = "The cluster of the provider is known after the apply only. Give cluster in the data source itself, so \
                  that it is read when that is known.";
    Diagnostic::error("Cluster is not known yet", detail).at_path(at(CLUSTER))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(live: Option<Json>) -> Object {
        let mut object = Object::of(&Value::empty_object());
        fill(&mut object, live);
        object
    }

    #[test]
    fn lists_whose_elements_differ_are_tuples() {
        let live = json!({"spec": {"containers": [{"name": "a"}, {"name": "b", "image": "c"}], "none": []}});
        let object = filled(Some(live)).get("object");
        let spec = Object::of(&Object::of(&object).get("spec"));
        let containers = spec.get("containers");
        let second = containers.as_elements().and_then(|items| items.get(1)).map(Object::of);
        assert_eq!(second.as_ref().and_then(|second| second.text("image")), Some("c"));
        assert_eq!(spec.get("none").as_elements().map(<[Value]>::len), Some(0));
    }

    #[test]
    fn who_owns_fields_is_not_in_the_value() {
        let live = json!({"metadata": {"name": "a", "managedFields": [{"manager": "b"}]}});
        let object = filled(Some(live));
        let metadata = Object::of(&Object::of(&object.get("object")).get("metadata"));
        assert!(metadata.is_null("managedFields"));
        assert_eq!(metadata.text("name"), Some("a"));
        assert!(object.text("manifest").is_some_and(|manifest| manifest.contains("managedFields")));
    }

    #[test]
    fn what_does_not_exist_is_null() {
        let object = filled(None);
        assert!(["manifest", "yaml_body", "object"].iter().all(|name| object.is_null(name)));
    }
}
