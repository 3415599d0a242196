//! Writing one object: as its owner, with what is left to others held by the second manager.

use super::body::owned;
use super::claim::owner;
use super::seed::{to_release, to_trim};
use crate::Json;
use crate::api::{Apply, Cluster, Said};
use crate::failure::{Failure, FailureKind};
use crate::ignore::Ignored;
use crate::manifest::ObjectRef;
use crate::ownership::{MANAGER, SEED_MANAGER};

/// No object ever has this version, so that a write with it makes an object or fails: of two who make the same at once, one is refused.
const NOT_THERE: &str = "1";

/// How often the second manager tries to hold what others write at the same time.
const SEED_TRIES: u32 = 3;

/// One object as it is wanted.
#[derive(Clone, Copy)]
pub(crate) struct Write<'w> {
    pub(crate) cluster: &'w Cluster,
    /// With its namespace completed.
    pub(crate) reference: &'w ObjectRef,
    /// As it is sent, without our annotations.
    pub(crate) body: &'w Json,
    pub(crate) ignored: &'w Ignored,
    pub(crate) id: &'w str,
    /// When it was made, or is made.
    pub(crate) created_at: &'w str,
    /// Whether fields of others are taken.
    pub(crate) force: bool,
}

/// A write that failed.
#[derive(Debug, Clone)]
pub(crate) struct Unwritten {
    pub(crate) failure: Failure,
    /// Whether the object may be there, or is there in part.
    pub(crate) is_in_doubt: bool,
}

impl Write<'_> {
    /// Makes an object that is not there.
    pub(crate) async fn make(&self) -> Result<Said<Json>, Unwritten> {
        let whole = owned(self.body, self.id, self.created_at);
        if self.ignored.only(self.body).is_none() {
            return self.apply_new(&whole, MANAGER).await.map_err(first_failed);
        }
        // Neither part need be valid alone, and nothing may be there without its values even for a moment. So the second manager makes
        // all of it, we take what is ours, and it lets go of that.
        let made = self.apply_new(&whole, SEED_MANAGER).await.map_err(first_failed)?;
        let mut said = self.own().await.map_err(|failure| Unwritten { failure, is_in_doubt: true })?;
        said.warnings = joined(made.warnings, said.warnings);
        Ok(self.trimmed(said).await)
    }

    /// Changes an object that is there.
    pub(crate) async fn change(&self, live: &Json) -> Result<Said<Json>, Unwritten> {
        let unchanged = |failure| Unwritten { failure, is_in_doubt: false };
        self.release(live).await.map_err(unchanged)?;
        let said = self.own().await.map_err(unchanged)?;
        Ok(self.trimmed(said).await)
    }

    /// What would become of it. `live` is what is there.
    pub(crate) async fn try_out(&self, live: Option<&Json>) -> Result<Said<Json>, Failure> {
        let how = Apply { manager: MANAGER, force: self.force, dry_run: true };
        let whole = owned(self.body, self.id, self.created_at);
        let stripped = || owned(&self.ignored.without(self.body), self.id, self.created_at);
        // A trial is one request: what the second manager is about to hold would be missing without it.
        let is_releasing = live.is_none_or(|live| to_release(live, self.ignored, self.reference).is_some());
        if self.ignored.is_empty() || !is_releasing {
            return self.cluster.apply(self.reference, &stripped(), how).await;
        }
        match self.cluster.apply(self.reference, &whole, how).await {
            // Others may have given an ignored field a value that cannot be changed back. Nobody will try to.
            Err(failure) if failure.kind == FailureKind::Immutable && live.is_some() => {
                self.cluster.apply(self.reference, &stripped(), how).await
            }
            tried => tried,
        }
    }

    /// Writes what is ours.
    async fn own(&self) -> Result<Said<Json>, Failure> {
        self.apply(&owned(&self.ignored.without(self.body), self.id, self.created_at), MANAGER).await
    }

    /// Writes an object that must not be there.
    async fn apply_new(&self, body: &Json, manager: &str) -> Result<Said<Json>, Failure> {
        let mut fresh = body.clone();
        if let Some(metadata) = fresh.get_mut("metadata").and_then(Json::as_object_mut) {
            metadata.insert("resourceVersion".to_owned(), Json::from(NOT_THERE));
        }
        let how = Apply { manager, force: self.force, dry_run: false };
        match self.cluster.apply(self.reference, &fresh, how).await {
            Err(failure) => self.unless_ours(failure, body, how).await,
            made => made,
        }
    }

    async fn apply(&self, body: &Json, manager: &str) -> Result<Said<Json>, Failure> {
        let how = Apply { manager, force: self.force, dry_run: false };
        match self.cluster.apply(self.reference, body, how).await {
            Err(failure) => self.unless_ours(failure, body, how).await,
            written => written,
        }
    }

    /// The answer may be all that was lost, and who asked again has found its own object. To apply the same again does no harm.
    async fn unless_ours(&self, failure: Failure, body: &Json, how: Apply<'_>) -> Result<Said<Json>, Failure> {
        if !is_unanswered(&failure) && failure.kind != FailureKind::Outdated {
            return Err(failure);
        }
        match self.cluster.get(self.reference).await {
            Ok(Some(live)) if owner(&live) == Some(self.id) => self.cluster.apply(self.reference, body, how).await,
            _ => Err(failure),
        }
    }

    /// Has the second manager hold what is ours and ignored.
    async fn release(&self, live: &Json) -> Result<(), Failure> {
        if let Some(part) = to_release(live, self.ignored, self.reference) {
            self.seed(part, |live| to_release(live, self.ignored, self.reference)).await?;
        }
        Ok(())
    }

    /// Has the second manager let go of what is not ignored. If it does not, that is a nuisance and no failure.
    async fn trimmed(&self, mut said: Said<Json>) -> Said<Json> {
        let Some(part) = to_trim(&said.value, self.ignored, self.reference) else { return said };
        match self.seed(part, |live| to_trim(live, self.ignored, self.reference)).await {
            Ok(Some(after)) => said.value = after,
            Ok(None) => {}
            Err(failure) => said.warnings.push(format!("{SEED_MANAGER} still owns fields of it: {failure}")),
        }
        said
    }

    /// Applies as the second manager. What others have changed meanwhile is theirs, so their values are looked up again.
    async fn seed(
        &self,
        mut part: Json,
        again: impl Fn(&Json) -> Option<Json> + Send,
    ) -> Result<Option<Json>, Failure> {
        let how = Apply { manager: SEED_MANAGER, force: false, dry_run: false };
        let mut tries = 1;
        loop {
            let failure = match self.cluster.apply(self.reference, &part, how).await {
                Ok(said) => return Ok(Some(said.value)),
                Err(failure) => failure,
            };
            if failure.kind != FailureKind::Conflict || tries == SEED_TRIES {
                return Err(failure);
            }
            let Some(live) = self.cluster.get(self.reference).await? else { return Err(failure) };
            let Some(fresh) = again(&live) else { return Ok(Some(live)) };
            part = fresh;
            tries += 1;
        }
    }
}

/// Whether the server may have done what it did not answer to.
pub(crate) fn is_unanswered(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Unreachable | FailureKind::Busy) && !failure.is_before_sending()
}

fn first_failed(failure: Failure) -> Unwritten {
    let is_in_doubt = is_unanswered(&failure);
    Unwritten { failure, is_in_doubt }
}

fn joined(mut warnings: Vec<String>, more: Vec<String>) -> Vec<String> {
    for warning in more {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    warnings
}
