//! Removing an object, and waiting until it is gone.

mod finalizers;

use std::time::Duration;

use groma_kit::Call;
use groma_kit::outside::Clock;
use groma_model::diag::Diagnostic;

use super::naming::{shown, uid};
use crate::Json;
use crate::api::{Cluster, Delete};
use crate::failure::FailureKind;
use crate::manifest::ObjectRef;

/// How long to wait before each look; the last one counts for all that follow.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(200), Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];
/// How long an object may take to go once nothing holds it.
const FORCED_PATIENCE: Duration = Duration::from_mins(1);

/// How an object is removed.
pub(crate) struct Removal<'r> {
    pub(crate) cluster: &'r Cluster,
    pub(crate) reference: &'r ObjectRef,
    /// `Background`, `Foreground` or `Orphan`.
    pub(crate) propagation: &'static str,
    /// How long to wait until it is gone; zero not to wait.
    pub(crate) timeout: Duration,
    /// Whether finalizers are removed after that.
    pub(crate) force: bool,
    pub(crate) clock: &'r dyn Clock,
}

impl Removal<'_> {
    /// Removes this very object. What is in its place later is another one. Gives whether finalizers had to be removed.
    pub(crate) async fn remove(&self, live: &Json, call: &Call) -> Result<bool, Diagnostic> {
        if !self.begin(live, call).await? || self.timeout.is_zero() {
            return Ok(false);
        }
        let Some(left) = self.until_gone(live, self.timeout, call).await? else { return Ok(false) };
        if !self.force {
            return Err(finalizers::still_there(self.cluster, self.reference, &left, self.timeout).await);
        }
        finalizers::remove(self.cluster, self.reference, uid(live)).await?;
        match self.until_gone(live, FORCED_PATIENCE, call).await? {
            None => Ok(true),
            Some(left) => Err(finalizers::still_there(self.cluster, self.reference, &left, FORCED_PATIENCE).await),
        }
    }

    /// Tells the server to remove it. False if it is gone already.
    async fn begin(&self, live: &Json, call: &Call) -> Result<bool, Diagnostic> {
        let how = Delete { propagation: Some(self.propagation.to_owned()), uid: uid(live).map(str::to_owned) };
        let mut pauses = PAUSES.iter();
        loop {
            let failure = match self.cluster.delete(self.reference, &how).await {
                Ok(was_there) => return Ok(was_there),
                // A kind that goes at the same time takes all its objects with it.
                Err(failure) if failure.kind == FailureKind::UnknownKind => return Ok(false),
                Err(failure) => failure,
            };
            if !matches!(failure.kind, FailureKind::Outdated | FailureKind::Conflict) {
                return Err(failure.diagnostic("delete", self.reference));
            }
            // It may have been replaced meanwhile; then what was to be removed is gone. Or somebody writes it at the same time.
            if self.look(live).await?.is_none() {
                return Ok(false);
            }
            match pauses.next() {
                Some(pause) if call.sleep(self.clock, *pause).await.is_ok() => {}
                _ => return Err(failure.diagnostic("delete", self.reference)),
            }
        }
    }

    /// The object, if it is still there.
    async fn look(&self, live: &Json) -> Result<Option<Json>, Diagnostic> {
        match self.cluster.get(self.reference).await {
            Ok(now) => Ok(now.filter(|now| uid(now) == uid(live))),
            // A kind that goes takes all its objects with it.
            Err(failure) if failure.kind == FailureKind::UnknownKind => Ok(None),
            Err(failure) => Err(failure.diagnostic("delete", self.reference)),
        }
    }

    /// Waits. Gives what is left if that takes too long.
    async fn until_gone(&self, live: &Json, patience: Duration, call: &Call) -> Result<Option<Json>, Diagnostic> {
        let start = self.clock.now();
        let mut looks = 0;
        loop {
            let left = match self.look(live).await {
                Ok(None) => return Ok(None),
                Ok(Some(left)) => Some(left),
                // A server that does not answer now may answer later.
                Err(_) if looks > 0 && self.passed(start) < patience => None,
                Err(wrong) => return Err(wrong),
            };
            let passed = self.passed(start);
            if passed >= patience
                && let Some(left) = left
            {
                return Ok(Some(left));
            }
            let pause = PAUSES.get(looks).or(PAUSES.last()).copied().unwrap_or_default();
            looks += 1;
            let pause = pause.min(patience.saturating_sub(passed).max(Duration::from_millis(1)));
            if call.sleep(self.clock, pause).await.is_err() {
                return Err(interrupted(self.reference));
            }
        }
    }

    fn passed(&self, start: std::time::SystemTime) -> Duration {
        self.clock.now().duration_since(start).unwrap_or_default()
    }
}

fn interrupted(reference: &ObjectRef) -> Diagnostic {
    let detail = format!(
        "{} was told to go, but the run was given up before it was gone. It is kept in the state; destroy it again to see to \
         its end.",
        shown(reference)
    );
    Diagnostic::error("Deletion was not waited for", detail)
}
