//! The data source `k8sconnect_yaml_split`: manifests by their keys, for use with `for_each`.

use std::sync::Arc;

use async_trait::async_trait;
use groma_kit::spec::computed;
use groma_kit::{Call, DataSource, Object, Spec};
use groma_model::diag::Diagnostics;
use groma_model::ty::Type;

use super::yaml;
use crate::provider::Shared;

/// The data source.
pub(crate) struct YamlSplit(Arc<Shared>);

impl YamlSplit {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self(shared)
    }
}

#[async_trait]
impl DataSource for YamlSplit {
    fn type_name(&self) -> &'static str {
        "k8sconnect_yaml_split"
    }

    fn spec(&self) -> Spec {
        let manifests = "The text of each object, by its key: `[group.]kind[.namespace].name`, as in \
                         `apps.deployment.shop.web` or `namespace.shop`.";
        yaml::spec()
            .doc("Takes a text, files or a kustomization with many objects apart. No cluster is asked.")
            .attr("manifests", computed(Type::map(Type::String)).doc(manifests))
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        yaml::validate(config)
    }

    async fn read(&self, mut config: Object, call: &mut Call) -> Result<Object, Diagnostics> {
        let parts = yaml::read(&mut config, &self.0.outside, call).await?;
        config.set("manifests", yaml::texts(parts.iter()));
        Ok(config)
    }
}
