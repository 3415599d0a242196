//! Writing down how far a Run is. Every write is of what was read before: who finds that somebody else has written stops.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::api::names;
use crate::api::run::{FailureKind, Phase, PhaseTime, Run, RunStatus};
use crate::api::shared::{Condition, Length, Moment, Truth};
use crate::blobs::Blob;
use crate::objects::{Kind, Store, StoreError, find, owned_by, typed, untyped};

/// So often somebody may be gone before a run has touched anything.
const MOST_LOST: u32 = 3;

/// Writes the status of a run.
pub(super) async fn write(store: &dyn Store, run: &Run) -> Result<Run, StoreError> {
    typed(&store.replace_status(&Kind::of::<Run>(), &untyped(run)?).await?)
}

/// What came of writing down what somebody works on.
pub(super) enum Kept {
    /// It is written.
    Written(Box<Run>),
    /// Somebody does not want it any more, and it was not written.
    Cancelled,
}

/// Who works on a run, and for how long they try to write down how far they are.
pub(super) struct Claimant<'c> {
    pub(super) holder: &'c str,
    pub(super) patience: Duration,
    /// Whether nothing is written any more if somebody cancels the run.
    pub(super) heeds_cancel: bool,
}

/// Writes the status of a run that somebody works on, and tries again while nobody answers. Others may have written meanwhile, but nothing
/// that is ours, unless the run is not ours any more: then it is left to them.
pub(super) async fn persist(store: &dyn Store, run: &Run, by: &Claimant<'_>) -> Result<Kept, StoreError> {
    let mut run = run.clone();
    let start = tokio::time::Instant::now();
    let mut pause = Duration::from_millis(50);
    loop {
        if by.heeds_cancel && run.spec.cancel {
            return Ok(Kept::Cancelled);
        }
        let problem = match write(store, &run).await {
            Ok(run) => return Ok(Kept::Written(Box::new(run))),
            Err(problem) if problem.is_passing() && start.elapsed() < by.patience => problem,
            Err(problem) => return Err(problem),
        };
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(5));
        if let StoreError::Conflict(place) = problem {
            let namespace = run.metadata.namespace.clone().unwrap_or_default();
            let newest: Option<Run> = match find(store, &namespace, &place.name).await {
                Err(problem) if problem.is_passing() => continue,
                found => found?,
            };
            let newest = newest.ok_or_else(|| StoreError::Missing(place.clone()))?;
            let holder = newest.status.as_ref().and_then(|status| status.holder.as_deref());
            // What we wrote before may be what we did not hear of.
            if newest.status == run.status {
                return Ok(Kept::Written(Box::new(newest)));
            }
            if holder != Some(by.holder) {
                return Err(StoreError::Conflict(place));
            }
            run.metadata = newest.metadata;
            run.spec = newest.spec;
        }
    }
}

/// Tries again what may pass, for so long.
pub(super) async fn patiently<T, F: Future<Output = Result<T, StoreError>>>(
    patience: Duration,
    mut attempt: impl FnMut() -> F,
) -> Result<T, StoreError> {
    let start = tokio::time::Instant::now();
    let mut pause = Duration::from_millis(50);
    loop {
        match attempt().await {
            Err(problem) if problem.is_passing() && start.elapsed() < patience => {}
            done => return done,
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(5));
    }
}

/// A run is in another phase from now on.
pub(super) fn enter(status: &mut RunStatus, phase: Phase, message: impl Into<String>, now: Moment) {
    if let Some(last) = status.phases.last_mut()
        && last.took.is_none()
    {
        let took = now.0.duration_since(last.began.0);
        last.took = Some(Length(std::time::Duration::try_from(took).unwrap_or_default()));
    }
    status.phase = phase;
    status.message = message.into();
    let is_over = phase.is_over();
    let took = is_over.then_some(Length(std::time::Duration::ZERO));
    status.phases.push(PhaseTime { phase, began: now, took });
    if is_over {
        status.holder = None;
        status.conditions = conditions(phase, &status.message, now);
    }
}

/// Who worked on a run is gone before anything was touched. It begins anew, but not for ever: what does no good to whoever works on it waits
/// as everything does that has failed.
pub(super) async fn begin_anew(store: &dyn Store, mut run: Run, gone: &str, now: Moment) -> Result<(), StoreError> {
    let forget = lose(run.status.get_or_insert_default(), gone, now);
    let run = write(store, &run).await?;
    if forget { forget_plan(store, &run).await } else { Ok(()) }
}

/// Nobody works on a run any more, and nothing was touched. True if it is over because that was so too often.
pub(super) fn lose(status: &mut RunStatus, gone: &str, now: Moment) -> bool {
    status.lost = status.lost.saturating_add(1);
    status.holder = None;
    if status.lost < MOST_LOST {
        enter(status, Phase::Queued, format!("It begins anew: {gone}."), now);
        return false;
    }
    let times = status.lost;
    let message = format!("It was begun {times} times, and ended each time before anything was touched: {gone}.");
    status.failure = Some(FailureKind::Interrupted);
    enter(status, Phase::Failed, message, now);
    true
}

/// A run is over. Its plan was carried out, or never will be, and is not kept.
pub(super) async fn end(
    store: &dyn Store,
    mut run: Run,
    (phase, message, failure): (Phase, String, Option<FailureKind>),
    now: Moment,
) -> Result<(), StoreError> {
    let status = run.status.get_or_insert_default();
    status.failure = failure;
    enter(status, phase, message, now);
    write(store, &run).await?;
    forget_plan(store, &run).await
}

/// Where the plan of a run is kept.
pub(super) fn plan(run: &Run) -> Blob<'_> {
    let secret = run.status.as_ref().and_then(|status| status.plan.as_ref()?.secret.as_deref());
    Blob {
        namespace: run.metadata.namespace.as_deref().unwrap_or_default(),
        name: secret.unwrap_or_default(),
        labels: BTreeMap::from([
            (names::STACK.to_owned(), run.spec.stack.clone()),
            (names::RUN.to_owned(), run.metadata.name.clone().unwrap_or_default()),
            ("groma.dev/blob".to_owned(), "plan".to_owned()),
        ]),
        owner: Some(owned_by(run)),
        kept: false,
    }
}

/// A plan that was carried out, or never will be, is not kept.
pub(super) async fn forget_plan(store: &dyn Store, run: &Run) -> Result<(), StoreError> {
    let kept = run.status.as_ref().is_some_and(|status| status.plan.as_ref().is_some_and(|plan| plan.secret.is_some()));
    if kept { plan(run).delete(store).await } else { Ok(()) }
}

/// For those who wait with tools that know Jobs.
fn conditions(phase: Phase, message: &str, now: Moment) -> Vec<Condition> {
    let kind = if phase == Phase::Succeeded { "Complete" } else { "Failed" };
    vec![Condition {
        kind: kind.to_owned(),
        status: Truth::True,
        observed_generation: None,
        last_transition_time: now,
        reason: format!("{phase:?}"),
        message: message.to_owned(),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(second: i64) -> Moment {
        Moment(jiff::Timestamp::from_second(second).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn what_may_pass_is_tried_again_for_a_while() {
        let away = || StoreError::Away { doing: "reading".to_owned(), reason: "nobody answers".to_owned() };
        let mut left = 20;
        let attempt = || {
            left -= 1;
            std::future::ready(if left == 0 { Ok("done") } else { Err(away()) })
        };
        assert_eq!(patiently(Duration::from_mins(10), attempt).await.unwrap(), "done");
        let never = || std::future::ready(Err::<(), _>(away()));
        assert!(patiently(Duration::from_mins(10), never).await.is_err());
    }

    #[test]
    fn who_is_lost_again_and_again_is_not_followed_for_ever() {
        let mut status = RunStatus { holder: Some("us".to_owned()), ..RunStatus::default() };
        for _ in 0..2 {
            enter(&mut status, Phase::Planning, "", moment(1));
            assert!(!lose(&mut status, "its pod is gone (OOMKilled)", moment(2)));
            assert_eq!((status.phase, status.holder.as_deref()), (Phase::Queued, None));
        }
        assert!(lose(&mut status, "its pod is gone (OOMKilled)", moment(3)));
        assert_eq!((status.phase, status.failure), (Phase::Failed, Some(FailureKind::Interrupted)));
        assert!(status.message.contains("3 times") && status.message.contains("OOMKilled"), "{}", status.message);
    }

    #[test]
    fn phases_have_lengths() {
        let mut status = RunStatus { holder: Some("us".to_owned()), ..RunStatus::default() };
        enter(&mut status, Phase::Planning, "", moment(10));
        enter(&mut status, Phase::Applying, "", moment(13));
        assert_eq!(status.phases[0].took, Some(Length::seconds(3)));
        assert_eq!(status.phases[1].took, None);
        enter(&mut status, Phase::Failed, "no", moment(20));
        assert_eq!((status.holder.as_deref(), status.conditions[0].kind.as_str()), (None, "Failed"));
        assert!(status.phases.iter().all(|time| time.took.is_some()));
    }
}
