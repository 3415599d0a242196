//! The configuration of the provider: a cluster for all resources that do not name one. It is never stored.

use std::sync::Arc;

use async_trait::async_trait;
use groma_kit::{Configure, Object, Spec};
use groma_model::diag::Diagnostics;

use super::Shared;
use crate::cluster::{self, CLUSTER};

/// The configuration.
pub(crate) struct Configured(pub(crate) Arc<Shared>);

#[async_trait]
impl Configure for Configured {
    fn spec(&self) -> Spec {
        Spec::new().doc("Kubernetes objects, by server-side apply.").attr(CLUSTER, cluster::attribute())
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        cluster::validate(config)
    }

    async fn configure(&self, config: Object) -> Diagnostics {
        self.0.connections.set_default(cluster::read(&config));
        Diagnostics::new()
    }
}
