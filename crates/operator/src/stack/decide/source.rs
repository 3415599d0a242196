//! What the source of a Stack means for it: what was seen of it, that nothing is to be had, and that it is asked before a run is tried again.

use std::time::Duration;

use super::{Deciding, Step, Wanted, later};
use crate::api::run::{Cause, CauseKind};
use crate::api::shared::{Moment, Truth};
use crate::api::upkeep::SourceSeen;
use crate::stack::conditions::Activity;

/// How long it is waited for a source that was asked to look for something newer.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is known of the source of a Stack that has one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceFacts {
    /// What it has.
    pub seen: Option<SourceSeen>,
    /// Why there is nothing to work with, if that is so.
    pub lacking: Option<Lacking>,
    /// Why nothing newer can be had, if that is so.
    pub failing: Option<String>,
    /// Whether it has been asked for something newer.
    pub refresh: Refresh,
}

/// Why there is nothing to work with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lacking {
    /// It is on its way.
    Fetching,
    /// It is tried again by itself.
    Failed(String),
    /// There is no such source.
    NotFound(String),
    /// That may not be used.
    Denied(String),
}

/// Whether a source has been asked for something newer, before a run is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Refresh {
    /// It need not be, or it has been and has looked.
    #[default]
    Done,
    /// It has not been asked.
    Due,
    /// It has been asked, and has not looked yet.
    Pending,
}

/// When it is not waited for a source any longer.
pub fn patience_ends(retry_at: Moment) -> Moment {
    later(retry_at, PATIENCE)
}

impl Deciding<'_> {
    /// There is nothing to work with. What is under way goes on with what it has, and says itself how it is.
    pub(super) fn lacks_source(&mut self, lacking: &Lacking) {
        let is_busy = self.active().is_some();
        match lacking {
            Lacking::Fetching => {
                let generation = self.facts.stack.metadata.generation;
                // Whoever is ready stays so until something newer is there.
                let is_new = self.status.attempted.is_none() || self.status.observed_generation != generation;
                if is_new && !is_busy {
                    let message = "The source is being fetched.";
                    self.say(Truth::Unknown, "SourceFetching", message, Activity::Reconciling);
                }
            }
            _ if is_busy => {}
            Lacking::Failed(message) => {
                self.say(Truth::False, "SourceFailed", message.clone(), Activity::Reconciling);
            }
            Lacking::NotFound(message) => {
                self.say(Truth::False, "SourceNotFound", message.clone(), Activity::Reconciling);
            }
            Lacking::Denied(message) => self.say(Truth::False, "AccessDenied", message.clone(), Activity::Stalled),
        }
    }

    /// The source, as it was seen. What is the same to a run is not tried anew, but its name moves on.
    pub(super) fn take_in_source(&mut self, wanted: &Wanted) {
        if let Some(attempted) = self.status.attempted.as_mut().filter(|known| known.is_same(&wanted.about)) {
            attempted.revision.clone_from(&wanted.about.revision);
        }
    }

    /// Whether the last run failed, and there is something newer, even if nobody can tell from it why it should go better.
    pub(super) fn is_newer_than_what_failed(&self, wanted: &Wanted) -> bool {
        let tried = self.latest().and_then(|run| run.spec.about.revision.as_ref());
        self.status.failures.is_some() && tried.is_some() && tried != wanted.about.revision.as_ref()
    }

    /// Before a run is tried again, the source is asked for something newer. True as long as it has not looked.
    pub(super) fn asks_source(&mut self, causes: &[Cause]) -> bool {
        let is_retry = causes.iter().all(|cause| cause.reason == CauseKind::Retry);
        let retry_at = self.status.failures.as_ref().and_then(|failures| failures.retry_at);
        let (true, Some(retry_at)) = (is_retry, retry_at) else { return false };
        match self.facts.source.refresh {
            Refresh::Done => return false,
            Refresh::Due => self.steps.push(Step::RefreshSource { since: retry_at }),
            Refresh::Pending => {}
        }
        self.say_how_it_is("Waiting for the source to look for something newer.");
        self.again(patience_ends(retry_at));
        true
    }

    /// Nothing newer can be had. What is there is as it is.
    pub(super) fn say_what_is_failing(&mut self) {
        let Some(problem) = &self.facts.source.failing else { return };
        let revision = self.facts.source.seen.as_ref().map(|seen| seen.revision.as_str()).unwrap_or_default();
        let message = format!("Nothing newer than {revision} can be had: {problem}");
        self.say(Truth::False, "SourceFailed", message, Activity::Reconciling);
    }
}
