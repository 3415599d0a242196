//! `k8sconnect_patch`: changes to an object that somebody else manages.

mod change;
mod content;
mod operations;
mod plan;
mod pointer;
mod read;
mod schema;
mod target;
mod trial;

use std::sync::Arc;

use async_trait::async_trait;
use groma_kit::{Call, Failed, JsonObject, Object, Planned, Resource, Spec};
use groma_model::diag::{Diagnostic, Diagnostics};

use crate::provider::Shared;

/// The resource.
pub(crate) struct PatchResource {
    shared: Arc<Shared>,
}

impl PatchResource {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }
}

#[async_trait]
impl Resource for PatchResource {
    fn type_name(&self) -> &'static str {
        "k8sconnect_patch"
    }

    fn spec(&self) -> Spec {
        schema::spec()
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        schema::validate(&self.shared, config)
    }

    async fn plan(&self, plan: &mut Planned, call: &mut Call) {
        plan::plan(&self.shared, plan, call).await;
    }

    async fn create(&self, planned: Object, _: &Object, call: &mut Call) -> Result<Object, Failed> {
        change::create(&self.shared, planned, call).await
    }

    async fn read(&self, object: Object, call: &mut Call) -> Result<Option<Object>, Diagnostics> {
        read::read(&self.shared, object, call).await
    }

    async fn update(&self, prior: &Object, planned: Object, _: &Object, call: &mut Call) -> Result<Object, Failed> {
        change::update(&self.shared, prior, planned, call).await
    }

    async fn delete(&self, prior: &Object, call: &mut Call) -> Result<(), Diagnostics> {
        Ok(change::delete(&self.shared, prior, call).await?)
    }

    async fn import(&self, _: &str, _: Object, _: &mut Call) -> Result<Object, Diagnostics> {
        let detail = "A patch is what a configuration changes about an object, so there is nothing to import. Write the patch and \
                      apply it.";
        Err(Diagnostic::error("Patches cannot be imported", detail).into())
    }

    fn upgrade(&self, version: i64, object: &mut JsonObject) -> Result<i64, Diagnostic> {
        schema::upgrade(version, object)
    }
}
