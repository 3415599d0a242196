//! Looks: a plan of a Stack is made to see whether all is as it should be. If it is, nothing is written anywhere, however often it is
//! looked; if it is not, a run begins, which finds out for itself.

use std::collections::BTreeMap;

use crate::api::run::{Action, Limits, RunStatus};
use crate::api::shared::Moment;
use crate::api::stack::Stack;
use crate::api::upkeep::StateSeen;
use crate::bundle::Bundle;
use crate::work::{Ended, Overseer, Planned, Stopped, Verdict, around};

/// A look that somebody wants.
#[derive(Debug)]
pub struct Wish {
    /// At which Stack.
    pub stack: Stack,
    /// What it asks for.
    pub bundle: Bundle,
    /// What a run would do.
    pub action: Action,
    /// What is known already.
    pub known: Known,
    /// What else is known.
    pub around: Around,
    /// How long it may take.
    pub limits: Limits,
}

/// What a look may find without anything being new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// There is nothing to do.
    Nothing,
    /// This plan.
    Plan(String),
}

/// What the last run has left, and seen around it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Around {
    /// The state. None if nothing is known about it.
    pub state: Option<StateSeen>,
    /// What stands for the objects that no state knows.
    pub orphans: Option<String>,
}

impl Around {
    /// What a run has left.
    pub fn of(run: &RunStatus) -> Self {
        Self { state: run.state.clone(), orphans: run.orphans.as_ref().map(|report| report.id.clone()) }
    }

    /// Whether there is nothing new in what a look has found.
    pub(super) fn covers(&self, ended: &Ended) -> bool {
        let found = ended.orphans.as_ref().filter(|orphans| !orphans.is_empty()).map(|orphans| around::id(orphans));
        (self.state.is_none() || self.state == ended.state) && self.orphans == found
    }
}

impl Known {
    /// Whether there is nothing new in what a look has found.
    pub(super) fn covers(&self, ended: &Ended) -> bool {
        if ended.problem.is_some() || ended.was_asked {
            return false;
        }
        match (self, &ended.left) {
            (Self::Nothing, None) => true,
            (Self::Nothing, Some(plan)) => plan.is_empty && plan.drifted.is_empty(),
            (Self::Plan(id), Some(plan)) => plan.id == *id,
            (Self::Plan(_), None) => false,
        }
    }
}

/// What is known about a Stack from looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Looked {
    /// Somebody looks right now, or is about to.
    pub under_way: bool,
    /// When it was looked last, and whether all was as it was known.
    pub last: Option<(Moment, bool)>,
}

impl Looked {
    /// When all was last seen to be well.
    pub fn well_at(self) -> Option<Moment> {
        self.last.filter(|(_, is_well)| *is_well).map(|(at, _)| at)
    }

    /// Whether it was seen since then that something is not as it should be.
    pub fn found_since(self, since: Moment) -> bool {
        self.last.is_some_and(|(at, is_well)| !is_well && at > since)
    }
}

/// What is known from looks, by the uids of Stacks. Whoever comes after us looks again.
#[derive(Debug, Default)]
pub(super) struct Looks(BTreeMap<String, Looked>);

impl Looks {
    pub(super) fn of(&self, uid: &str) -> Looked {
        self.0.get(uid).copied().unwrap_or_default()
    }

    pub(super) fn begin(&mut self, uid: &str) {
        self.0.entry(uid.to_owned()).or_default().under_way = true;
    }

    pub(super) fn end(&mut self, uid: &str, at: Moment, is_well: bool) {
        // Who was forgotten meanwhile stays so.
        if let Some(known) = self.0.get_mut(uid) {
            *known = Looked { under_way: false, last: Some((at, is_well)) };
        }
    }

    pub(super) fn forget(&mut self, uid: &str) {
        self.0.remove(uid);
    }
}

/// Nothing of a look is carried out.
pub(super) struct Looking;

impl Overseer for Looking {
    fn planning(&self) -> Result<(), Stopped> {
        Ok(())
    }

    fn planned(&self, _: &Planned) -> Result<Verdict, Stopped> {
        Ok(Verdict::Leave)
    }
}

/// Who looks.
pub trait Looker: Send + Sync {
    /// What is known about a Stack, by its uid.
    fn looked(&self, uid: &str) -> Looked;

    /// Looks, as soon as it is its turn.
    fn look(&self, wish: Wish);

    /// There is no such Stack any more.
    fn forget(&self, uid: &str);
}

/// Who never looks.
#[cfg(test)]
pub(crate) struct Blind;

#[cfg(test)]
impl Looker for Blind {
    fn looked(&self, _: &str) -> Looked {
        Looked::default()
    }

    fn look(&self, _: Wish) {}

    fn forget(&self, _: &str) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::run::{FailureKind, PlanCounts};
    use crate::work::Problem;

    fn planned(id: &str, is_empty: bool, drifted: &[&str]) -> Ended {
        let plan = Planned {
            id: id.to_owned(),
            bytes: Vec::new(),
            text: String::new(),
            counts: PlanCounts::default(),
            changes: Vec::new(),
            drifted: drifted.iter().map(|address| (*address).to_owned()).collect(),
            is_empty,
            changes_json: None,
            doubt: None,
            document: None,
        };
        Ended { left: Some(plan), ..Ended::default() }
    }

    #[test]
    fn nothing_new_is_what_was_known() {
        assert!(Known::Nothing.covers(&Ended::default()));
        assert!(Known::Nothing.covers(&planned("a", true, &[])));
        assert!(!Known::Nothing.covers(&planned("a", false, &[])));
        assert!(!Known::Nothing.covers(&planned("a", true, &["x.y"])));
        let known = Known::Plan("a".to_owned());
        assert!(known.covers(&planned("a", false, &["x.y"])));
        assert!(!known.covers(&planned("b", false, &["x.y"])));
        assert!(!known.covers(&Ended::default()), "there was something to do, and there is not any more");
    }

    #[test]
    fn what_could_not_be_looked_at_is_not_well() {
        let problem = Some(Problem { kind: FailureKind::Transient, message: "away".to_owned() });
        assert!(!Known::Nothing.covers(&Ended { problem, ..Ended::default() }));
        assert!(!Known::Nothing.covers(&Ended { was_asked: true, ..Ended::default() }));
    }

    #[test]
    fn what_is_forgotten_while_it_is_looked_at_stays_forgotten() {
        let mut looks = Looks::default();
        looks.begin("a");
        assert!(looks.of("a").under_way);
        looks.forget("a");
        looks.end("a", Moment(jiff::Timestamp::UNIX_EPOCH), true);
        assert_eq!(looks.of("a"), Looked::default());
    }
}
