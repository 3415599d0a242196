//! What becomes of a Run: it waits for its turn, somebody works on it, and what comes of that is written into it. Nobody waits for a run:
//! work goes on on threads of its own, and the Run is the only thing that knows how far it is.

mod approval;
mod copies;
mod health;
pub mod in_process;
pub mod job;
mod locks;
pub mod looks;
pub mod plan_text;
mod progress;
mod turns;
mod verify;
pub mod versions;

use std::sync::Arc;
use std::time::Duration;

use crate::api::run::{Action, Phase, Run};
use crate::api::stack::Executor;
use crate::objects::{Store, StoreError, find};
use crate::work::Planned;
use in_process::{InProcess, Key};
use job::Jobs;

/// All who work on Runs.
pub struct Runs {
    store: Arc<dyn Store>,
    in_process: Arc<InProcess>,
    jobs: Jobs,
}

impl Runs {
    /// In this process, and in Jobs.
    pub fn new(store: Arc<dyn Store>, in_process: Arc<InProcess>, jobs: Jobs) -> Self {
        Self { store, in_process, jobs }
    }

    /// Looks at a Run, and does what is to be done. Gives after what time to look again, if nothing happens before.
    pub async fn look_at(&self, key: &Key) -> Result<Option<Duration>, StoreError> {
        let Some(run) = find::<Run>(&*self.store, &key.0, &key.1).await? else {
            self.in_process.forget(key);
            return self.jobs.forget(key).await.map(|()| None);
        };
        match run.spec.executor {
            Executor::InProcess => self.in_process.look_at(key, run).await.map(|()| None),
            Executor::Job => self.jobs.look_at(key, run).await,
        }
    }

    /// Whether somebody in this process works on a Run.
    pub fn works_on(&self, key: &Key) -> bool {
        self.in_process.works_on(key)
    }

    /// Nothing new begins here, and what is under way in this process is asked to end. Jobs go on.
    pub fn close(&self) {
        self.in_process.close();
    }

    /// How many runs are under way in this process.
    pub fn here(&self) -> usize {
        self.in_process.load().1
    }

    /// How many runs wait, and how many are under way.
    pub fn load(&self) -> (usize, usize) {
        let (here, there) = (self.in_process.load(), self.jobs.load());
        (here.0 + there.0, here.1 + there.1)
    }
}

/// What to do about a Run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Nothing, or nothing any more.
    Nothing,
    /// It waits for its turn; from the beginning, or with a plan that somebody has agreed to.
    Begin,
    /// Whoever worked on it is to stop.
    Stop,
    /// It ends like this, and nobody works on it.
    End(Phase, String),
    /// Who worked on it is gone before anything was touched: it begins anew.
    Again,
    /// Who worked on it is gone while something was touched. What was done is known; another run goes on from there.
    Abandon,
}

/// What to do about a Run, for somebody who knows whether they work on it. Whoever else claims to is gone: there is one operator that may
/// write, and that is us.
pub fn next(run: &Run, is_ours: bool) -> Next {
    let status = run.status.clone().unwrap_or_default();
    if status.phase.is_over() {
        return Next::Nothing;
    }
    let superseded = run.metadata.annotations.as_ref().and_then(|notes| notes.get(crate::api::names::SUPERSEDED));
    if run.spec.cancel {
        return match (is_ours, superseded) {
            (true, _) => Next::Stop,
            (false, _) if matches!(status.phase, Phase::Applying | Phase::Verifying) => Next::Abandon,
            (false, Some(because)) => Next::End(Phase::Superseded, because.clone()),
            (false, None) => Next::End(Phase::Cancelled, "Somebody cancelled it.".to_owned()),
        };
    }
    match status.phase {
        _ if is_ours => Next::Nothing,
        Phase::Queued => Next::Begin,
        Phase::Initialising | Phase::Planning => Next::Again,
        Phase::AwaitingApproval if status.approval.is_some() => Next::Begin,
        Phase::Applying | Phase::Verifying => Next::Abandon,
        _ => Next::Nothing,
    }
}

/// What becomes of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It is carried out, because of this.
    CarryOut(String),
    /// Somebody has to agree to it, because of these.
    Ask(Vec<String>),
    /// There is nothing to carry out, or it was only to be looked at.
    Leave,
}

/// What becomes of the plan of a run.
pub fn fate(run: &Run, planned: &Planned) -> Fate {
    if run.spec.action == Action::Plan {
        return Fate::Leave;
    }
    // Even to a plan that does nothing: it would make what was found the truth.
    if let Some(doubt) = &planned.doubt {
        return Fate::Ask(vec![doubt.reason.word().to_owned()]);
    }
    if planned.is_empty {
        return Fate::Leave;
    }
    let asked = approval::to_agree_to(&run.spec.approval, &planned.changes);
    if asked.is_empty() {
        return Fate::CarryOut("policy".to_owned());
    }
    Fate::Ask(asked.into_iter().map(|change| change.address.clone()).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(spec: serde_json::Value, status: serde_json::Value) -> Run {
        let mut whole = json!({
            "stack": "app", "number": 1, "action": "apply", "bundle": "b", "about": {}, "engine": "native",
            "executor": "inProcess", "approval": {"mode": "auto"}, "limits": {"init": "1m", "plan": "1m", "apply": "1m"},
        });
        for (name, value) in spec.as_object().unwrap() {
            whole[name] = value.clone();
        }
        serde_json::from_value(json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Run", "metadata": {"name": "app-1"}, "spec": whole, "status": status,
        }))
        .unwrap()
    }

    #[test]
    fn a_run_is_begun_once() {
        let queued = run(json!({}), json!({"phase": "Queued"}));
        assert_eq!((next(&queued, false), next(&queued, true)), (Next::Begin, Next::Nothing));
        let waiting = run(json!({}), json!({"phase": "AwaitingApproval"}));
        assert_eq!(next(&waiting, false), Next::Nothing);
        let agreed =
            json!({"phase": "AwaitingApproval", "approval": {"plan": "p", "by": "ana", "at": "2026-01-01T00:00:00Z"}});
        assert_eq!(next(&run(json!({}), agreed), false), Next::Begin);
        assert_eq!(next(&run(json!({}), json!({"phase": "Succeeded"})), false), Next::Nothing);
    }

    #[test]
    fn what_somebody_else_worked_on_begins_anew_only_if_nothing_was_touched() {
        for (phase, expected) in [
            ("Initialising", Next::Again),
            ("Planning", Next::Again),
            ("Applying", Next::Abandon),
            ("Verifying", Next::Abandon),
        ] {
            let run = run(json!({}), json!({"phase": phase, "holder": "who is gone"}));
            assert_eq!(next(&run, false), expected, "{phase}");
            assert_eq!(next(&run, true), Next::Nothing, "{phase}");
        }
    }

    #[test]
    fn a_cancelled_run_ends() {
        let mut cancelled = run(json!({"cancel": true}), json!({"phase": "AwaitingApproval"}));
        assert_eq!(next(&cancelled, true), Next::Stop);
        assert_eq!(next(&cancelled, false), Next::End(Phase::Cancelled, "Somebody cancelled it.".to_owned()));
        let notes = cancelled.metadata.annotations.get_or_insert_default();
        notes.insert(crate::api::names::SUPERSEDED.to_owned(), "newer".to_owned());
        assert_eq!(next(&cancelled, false), Next::End(Phase::Superseded, "newer".to_owned()));
    }
}
