//! The data source `k8sconnect_yaml_scoped`: manifests in the order in which they can be made, definitions first.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use groma_kit::spec::computed;
use groma_kit::{Call, DataSource, Object, Spec};
use groma_model::diag::Diagnostics;
use groma_model::ty::Type;

use super::yaml::{self, Part, Parts};
use crate::Json;
use crate::manifest::{group_of, kinds};
use crate::provider::Shared;

/// The data source.
pub(crate) struct YamlScoped(Arc<Shared>);

impl YamlScoped {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self(shared)
    }
}

/// Where an object belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Definition,
    Cluster,
    Namespace,
}

const OUTPUTS: [(&str, Scope, &str); 3] = [
    ("crds", Scope::Definition, "Definitions of kinds (`CustomResourceDefinition`), by their keys."),
    (
        "cluster_scoped",
        Scope::Cluster,
        "Objects outside of namespaces, by their keys: of Kubernetes itself, and of kinds that are defined in the same input.",
    ),
    ("namespaced", Scope::Namespace, "All other objects, by their keys."),
];

#[async_trait]
impl DataSource for YamlScoped {
    fn type_name(&self) -> &'static str {
        "k8sconnect_yaml_scoped"
    }

    fn spec(&self) -> Spec {
        let doc = "Takes a text, files or a kustomization with many objects apart, by what must be there before what. No cluster \
                   is asked.";
        let output = |spec: Spec, (name, _, doc): &(&str, Scope, &str)| {
            spec.attr(name, computed(Type::map(Type::String)).doc(doc))
        };
        OUTPUTS.iter().fold(yaml::spec().doc(doc), output)
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        yaml::validate(config)
    }

    async fn read(&self, mut config: Object, call: &mut Call) -> Result<Object, Diagnostics> {
        let parts = yaml::read(&mut config, &self.0.outside, call).await?;
        let defined = defined_outside_of_namespaces(&parts);
        for (name, scope, _) in OUTPUTS {
            let fitting = parts.iter().filter(|(_, part)| scope_of(part, &defined) == scope);
            config.set(name, yaml::texts(fitting));
        }
        Ok(config)
    }
}

/// Groups and kinds that the input itself defines, and whose objects are in no namespace.
fn defined_outside_of_namespaces(parts: &Parts) -> BTreeSet<(String, String)> {
    let text =
        |object: &Json, pointer: &str| object.pointer(pointer).and_then(Json::as_str).unwrap_or_default().to_owned();
    let definitions = parts.values().map(|part| &part.manifest.object).filter(|object| is_definition(object));
    let cluster_wide = definitions.filter(|object| text(object, "/spec/scope") == "Cluster");
    cluster_wide.map(|object| (text(object, "/spec/group"), text(object, "/spec/names/kind"))).collect()
}

fn is_definition(object: &Json) -> bool {
    let member = |name: &str| object.get(name).and_then(Json::as_str).unwrap_or_default();
    member("kind") == "CustomResourceDefinition" && group_of(member("apiVersion")) == "apiextensions.k8s.io"
}

fn scope_of(part: &Part, defined: &BTreeSet<(String, String)>) -> Scope {
    let reference = part.manifest.reference();
    if is_definition(&part.manifest.object) {
        return Scope::Definition;
    }
    let is_outside = match kinds::find(reference.group(), &reference.kind) {
        Some(known) => !known.namespaced,
        None => defined.contains(&(reference.group().to_owned(), reference.kind.clone())),
    };
    if is_outside { Scope::Cluster } else { Scope::Namespace }
}
