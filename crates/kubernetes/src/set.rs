//! `k8sconnect_manifest_set`: many objects as one resource, made in order, removed in the reverse order, and never lost on the way.

mod apply;
mod delete;
mod import;
mod members;
mod order;
mod plan;
mod read;
mod readiness;
mod schema;
mod stored;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use groma_kit::{Call, Failed, Object, Planned, Resource, Spec};
use groma_model::diag::Diagnostics;

use crate::object::run::Run;
use crate::provider::Shared;

/// How many objects are worked on at a time.
const AT_A_TIME: usize = 8;

/// Does several things at a time. What they give is in their order.
async fn several<F: Future>(things: Vec<F>) -> Vec<F::Output> {
    futures_util::stream::iter(things).buffered(AT_A_TIME).collect().await
}

/// The type.
pub(crate) const TYPE_NAME: &str = "k8sconnect_manifest_set";

/// The resource.
pub(crate) struct SetResource {
    shared: Arc<Shared>,
    run: Arc<Run>,
}

impl SetResource {
    /// All resources of a provider have one `run`.
    pub(crate) fn new(shared: Arc<Shared>, run: Arc<Run>) -> Self {
        Self { shared, run }
    }
}

#[async_trait]
impl Resource for SetResource {
    fn type_name(&self) -> &'static str {
        TYPE_NAME
    }

    fn spec(&self) -> Spec {
        schema::spec()
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        schema::validate(&self.shared, config)
    }

    async fn plan(&self, plan: &mut Planned, call: &mut Call) {
        plan::plan(self, plan, call).await;
    }

    async fn create(&self, planned: Object, _: &Object, call: &mut Call) -> Result<Object, Failed> {
        apply::create(self, planned, call).await
    }

    async fn read(&self, object: Object, call: &mut Call) -> Result<Option<Object>, Diagnostics> {
        read::read(self, object, call).await
    }

    async fn update(
        &self,
        prior: &Object,
        planned: Object,
        config: &Object,
        call: &mut Call,
    ) -> Result<Object, Failed> {
        apply::update(self, prior, planned, config, call).await
    }

    async fn delete(&self, prior: &Object, call: &mut Call) -> Result<(), Diagnostics> {
        delete::delete(self, prior, call).await
    }

    async fn import(&self, id: &str, empty: Object, call: &mut Call) -> Result<Object, Diagnostics> {
        import::import(self, id, empty, call).await
    }
}
