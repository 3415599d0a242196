//! Making an object, or taking over one that is there: whatever is in the way is waited for, or told.

use std::time::Duration;

use groma_kit::Call;
use groma_model::diag::Diagnostic;
use tokio::sync::OwnedMutexGuard;

use super::body::sent;
use super::claim::{CREATED_ANNOTATION, Claim, Claimant, annotation, claim, exists_already, managed_elsewhere, owner};
use super::intent::usual_delete_timeout;
use super::legacy::succeed;
use super::naming::shown;
use super::run::Run;
use super::session::{Tries, may_come, now};
use super::write::{Unwritten, Write};
use crate::Json;
use crate::api::{Cluster, Said};
use crate::failure::Failure;
use crate::ignore::Ignored;
use crate::manifest::ObjectRef;
use crate::provider::Shared;

/// How long to wait for another resource of the same run to give up the object.
const NEIGHBOUR_PATIENCE: Duration = Duration::from_secs(30);
/// How often to look whether it has.
const INTERVAL: Duration = Duration::from_secs(1);

/// Why a try came to nothing.
pub(crate) enum Trouble {
    /// The server said so, or said nothing.
    Failed(Unwritten),
    /// We do not want to.
    Refused(Diagnostic),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Failed(Unwritten { failure, is_in_doubt: false })
    }
}

/// An object that is to be made.
pub(crate) struct Making<'m> {
    pub(crate) shared: &'m Shared,
    pub(crate) run: &'m Run,
    pub(crate) cluster: &'m Cluster,
    pub(crate) cluster_uid: Option<&'m str>,
    /// As it is written.
    pub(crate) manifest: &'m Json,
    /// As the manifest says it; the namespace may be missing.
    pub(crate) reference: &'m ObjectRef,
    pub(crate) ignored: &'m Ignored,
    pub(crate) id: &'m str,
    /// The UID of the object that is there and ours already, as far as it is known.
    pub(crate) has: Option<&'m str>,
    /// Whether what is there already is taken over.
    pub(crate) adopts: bool,
    /// Whether fields of others are taken.
    pub(crate) force: bool,
    /// The type of the resource, for advice.
    pub(crate) type_name: &'m str,
}

impl Making<'_> {
    /// Tries, until a kind and a namespace are there that may come any moment. Gives what the object is called as well.
    pub(crate) async fn make(&self, call: &Call) -> (ObjectRef, Result<Said<Json>, Trouble>) {
        let clock = self.shared.outside.clock.as_ref();
        let mut tries = Tries::default();
        loop {
            let (reference, made) = self.make_now(call).await;
            match &made {
                Err(Trouble::Failed(unwritten)) if may_come(&unwritten.failure) && tries.again(call, clock).await => {}
                _ => return (reference, made),
            }
        }
    }

    /// Tries once. The kind is looked up anew each time: it may have come meanwhile.
    pub(crate) async fn make_now(&self, call: &Call) -> (ObjectRef, Result<Said<Json>, Trouble>) {
        match self.cluster.complete(self.reference).await {
            Ok(reference) => {
                let made = self.try_once(&reference, call).await;
                (reference, made)
            }
            Err(failure) => (self.reference.clone(), Err(failure.into())),
        }
    }

    async fn try_once(&self, reference: &ObjectRef, call: &Call) -> Result<Said<Json>, Trouble> {
        let (_alone, live) = self.claimed(reference, call).await?;
        let body = sent(self.manifest, reference);
        let now = now(self.shared);
        let created_at = live.as_ref().and_then(|live| annotation(live, CREATED_ANNOTATION)).unwrap_or(&now);
        let write = Write {
            cluster: self.cluster,
            reference,
            body: &body,
            ignored: self.ignored,
            id: self.id,
            created_at,
            force: self.force,
        };
        let Some(live) = &live else { return write.make().await.map_err(Trouble::Failed) };
        let mut said = write.change(live).await.map_err(Trouble::Failed)?;
        if owner(live) != Some(self.id) {
            said.value = succeed(self.cluster, reference, said.value).await;
        }
        Ok(said)
    }

    /// What is there and may be taken, while nobody else works on it; none if nothing is there. Waits for what is about to go, out of the way
    /// of whoever has it go.
    async fn claimed(
        &self,
        reference: &ObjectRef,
        call: &Call,
    ) -> Result<(OwnedMutexGuard<()>, Option<Json>), Trouble> {
        let clock = self.shared.outside.clock.as_ref();
        let start = clock.now();
        loop {
            let alone = self.run.alone_with(self.cluster_uid, reference).await;
            let live = self.cluster.get(reference).await?;
            let claimant = Claimant { id: Some(self.id), has: self.has, replaces: None, adopts: self.adopts };
            let (patience, refusal) = match claim(live.as_ref(), claimant) {
                Claim::Free | Claim::Ours | Claim::Adopted(_) => return Ok((alone, live)),
                Claim::Going | Claim::Replaced => (usual_delete_timeout(&reference.kind), still_going(reference)),
                Claim::Managed(other) if self.run.has_met(&other) => {
                    (NEIGHBOUR_PATIENCE, managed_elsewhere(reference, &other))
                }
                Claim::Managed(other) => return Err(Trouble::Refused(managed_elsewhere(reference, &other))),
                Claim::Unmanaged => return Err(Trouble::Refused(exists_already(reference, self.type_name))),
            };
            drop(alone);
            let passed = clock.now().duration_since(start).unwrap_or_default();
            if passed >= patience || call.sleep(clock, INTERVAL).await.is_err() {
                return Err(Trouble::Refused(refusal));
            }
        }
    }
}

fn still_going(reference: &ObjectRef) -> Diagnostic {
    let detail = format!(
        "{} was deleted before, and is still not gone: something holds it back. It can be made anew only then.",
        shown(reference)
    );
    Diagnostic::error("Object is still being deleted", detail)
}
