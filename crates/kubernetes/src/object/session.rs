//! What every call begins with: the cluster that is talked to, and a new id; and how often something is tried that may come any moment.

use std::sync::Arc;
use std::time::Duration;

use groma_kit::outside::Clock;
use groma_kit::{Call, Moment, Object};
use groma_model::diag::Diagnostic;

use crate::api::Cluster;
use crate::cluster;
use crate::failure::{Failure, FailureKind};
use crate::provider::Shared;

/// How long to wait before each further try for a kind or a namespace that is not there yet, in milliseconds: half a minute altogether.
const DELAYS: [u64; 7] = [100, 500, 1_000, 2_000, 5_000, 10_000, 10_000];

/// The cluster of a resource; all of it must be known by now.
pub(crate) async fn open(shared: &Shared, object: &Object) -> Result<Arc<Cluster>, Diagnostic> {
    let given = cluster::read(object);
    shared.connections.open(&given).await?.ok_or_else(|| {
        let detail = "How to reach the cluster is still not known, although it must be by now.";
        Diagnostic::error("Connection is not known", detail).at_path(groma_kit::at(cluster::CLUSTER))
    })
}

/// A new id: 12 hexadecimal digits.
pub(crate) fn new_id(shared: &Shared) -> Result<String, Diagnostic> {
    let mut bytes = [0_u8; 6];
    match shared.outside.randomness.fill(&mut bytes) {
        Ok(()) => Ok(hex::encode(bytes)),
        Err(error) => Err(Diagnostic::error("No randomness", format!("An id could not be chosen: {error}."))),
    }
}

/// This moment, as annotations have it: in whole seconds.
pub(crate) fn now(shared: &Shared) -> String {
    Moment::from_unix(Moment::from_system(shared.outside.clock.now()).unix()).to_rfc3339()
}

/// Whether a failure may be over in a moment: what the object needs may be made by the same apply, and who wrote at the same time is done.
pub(crate) fn may_come(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::UnknownKind | FailureKind::NoNamespace | FailureKind::Outdated)
}

/// Counts tries.
#[derive(Debug, Default)]
pub(crate) struct Tries(usize);

impl Tries {
    /// Waits before the next try. False if there is none.
    pub(crate) async fn again(&mut self, call: &Call, clock: &dyn Clock) -> bool {
        let Some(delay) = DELAYS.get(self.0) else { return false };
        self.0 += 1;
        call.sleep(clock, Duration::from_millis(*delay)).await.is_ok()
    }
}
