//! The provider as a whole: what it offers, and for whom.

mod configure;

use std::sync::Arc;

use groma_kit::InProcess;
use groma_kit::outside::Outside;

use crate::api::Connections;
use crate::data::{ObjectData, YamlScoped, YamlSplit};
use crate::object::ObjectResource;
use crate::object::run::Run;
use crate::patch::PatchResource;
use crate::set::SetResource;
use crate::wait::Wait;
use configure::Configured;

/// Who runs the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// groma, which knows objects that are there and not ready.
    Groma,
    /// Terraform or OpenTofu, which taint whatever a creation complains about.
    Other,
}

/// What all resources of one provider share.
pub(crate) struct Shared {
    pub(crate) connections: Connections,
    pub(crate) outside: Outside,
    pub(crate) host: Host,
}

/// The provider.
pub fn provider(outside: &Outside, host: Host) -> InProcess {
    let shared = Arc::new(Shared { connections: Connections::new(outside), outside: outside.clone(), host });
    let run = Arc::new(Run::default());
    let object = |name| ObjectResource::new(name, Arc::clone(&shared), Arc::clone(&run));
    // Credentials that are stored may have expired when an object is destroyed; those of the configuration have not.
    InProcess::new("k8sconnect")
        .hearing_last_words()
        .planning_steadily()
        .configured_by(Configured(Arc::clone(&shared)))
        .resource(object("k8sconnect_object"))
        .resource(object("k8sconnect_manifest"))
        .resource(SetResource::new(Arc::clone(&shared), Arc::clone(&run)))
        .resource(PatchResource::new(Arc::clone(&shared)))
        .resource(Wait::new(Arc::clone(&shared)))
        .data_source(ObjectData::new(Arc::clone(&shared)))
        .data_source(YamlSplit::new(Arc::clone(&shared)))
        .data_source(YamlScoped::new(shared))
}
