//! Before a run: what an earlier one has left not ready is waited for. Terraform and OpenTofu see a healthy object and would build on
//! it, so nothing is begun until it is ready.

use std::collections::BTreeMap;
use std::time::Duration;

use groma_model::address::AbsInstance;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_provider::api::Private;
use groma_rules::{Rule, Wait};
use groma_run::engine::events::{Event, WaitProgress};
use groma_run::engine::interrupt::Urgency;
use groma_run::engine::pending::{self, Pending, SaidBy};
use groma_run::state::{ObjectState, State};
use tokio::time::Instant;

use super::settle::Readiness;
use super::{Driver, Pulled};
use crate::edit::Edit;
use crate::look::Look;

/// How long is waited for what only a provider knows, and how often it is asked.
const TIMEOUT: Duration = Duration::from_mins(10);
const INTERVAL: Duration = Duration::from_secs(5);

/// An object that is waited for.
struct Waiting {
    address: AbsInstance,
    /// None if its provider says when it is ready.
    rule: Option<Rule<Wait>>,
    pending: Pending,
    begun: Instant,
    over: Option<String>,
}

impl Waiting {
    fn timeout(&self) -> Duration {
        self.rule.as_ref().map_or(TIMEOUT, |rule| rule.says.timeout)
    }

    fn progress(&self) -> WaitProgress {
        WaitProgress {
            address: self.address.clone(),
            waiting_for: self.pending.waiting_for.clone(),
            last_seen: self.pending.last_seen.clone(),
            elapsed: self.begun.elapsed(),
            timeout: self.timeout(),
        }
    }

    /// Why nobody waits any longer.
    fn no_point(&self) -> &'static str {
        match self.rule {
            Some(_) => "There is no point in waiting any longer.",
            None => "Only an apply without a saved plan can ask its provider.",
        }
    }

    fn not_ready(&self) -> Diagnostic {
        let Pending { waiting_for, last_seen, .. } = &self.pending;
        let seen = last_seen.as_ref().map(|seen| format!(" Last seen: {seen}.")).unwrap_or_default();
        let address = &self.address;
        let why = self.over.as_deref().unwrap_or_default();
        let detail = format!(
            "{address} is there, but not ready: waiting for {waiting_for}. {why}{seen} It is kept as it is, and nothing that depends on it was begun; apply \
             again to go on waiting. If its configuration has been mended, apply that alone first: -target={address}."
        );
        let mut problem = Diagnostic::error("Resource not ready", detail);
        problem.subject = self.rule.as_ref().map(|rule| rule.says.until.span);
        problem.address = Some(address.to_string());
        problem
    }
}

impl Driver<'_> {
    /// Waits for what an earlier run has left not ready. Fails if something does not become ready.
    pub(super) async fn resume(&self, before: Option<&Pulled>) -> Result<(), Diagnostics> {
        let Some(before) = before else { return Ok(()) };
        let (ready, failed) = self.wait_for(self.waited_for(&before.state)).await;
        self.forget(&ready).await;
        not_ready(&failed)
    }

    /// After a run that was about a few objects only: those among them that rules wait for may be ready now. A plugin that changes an
    /// object may forget our mark, so that it is still waited for is written down once more.
    pub(super) async fn look_back(&self, before: Option<&Pulled>) -> Result<(), Diagnostics> {
        let Some(before) = before else { return Ok(()) };
        let mut waited_for = self.waited_for(&before.state);
        waited_for.retain(|(_, pending)| pending.by == SaidBy::Rule);
        if waited_for.is_empty() {
            return Ok(());
        }
        let Some(after) = self.pull().await? else { return Ok(()) };
        waited_for.retain(|(address, _)| {
            let now = object(&after.state, address);
            now.is_some() && now != object(&before.state, address)
        });
        let (ready, failed) = self.wait_for(waited_for).await;
        self.forget(&ready).await;
        self.remember(&failed).await;
        not_ready(&failed)
    }

    /// Looks until everything is ready, or waiting is over: what is ready, and what is not.
    async fn wait_for(&self, pending: Vec<(AbsInstance, Pending)>) -> (Vec<Waiting>, Vec<Waiting>) {
        let begin = |(address, pending): (AbsInstance, Pending)| {
            let rule = self.said.rules.waits.find(&address).cloned();
            Waiting { address, rule, pending, begun: now(), over: None }
        };
        let mut waiting: Vec<Waiting> = pending.into_iter().map(begin).collect();
        let (mut ready, mut failed) = (Vec::new(), Vec::new());
        for one in &waiting {
            self.audience.event(Event::WaitStarted(one.progress()));
        }
        while !waiting.is_empty() {
            let found = self.look_again(&waiting).await;
            let mut left = Vec::new();
            for (mut one, readiness) in waiting.into_iter().zip(found) {
                match readiness {
                    Readiness::Ready => {
                        self.audience.event(Event::WaitDone(one.progress()));
                        ready.push(one);
                        continue;
                    }
                    Readiness::Lacks(pending) => one.pending = pending,
                    Readiness::Hopeless(pending) => {
                        one.pending = pending;
                        one.over = Some(one.no_point().to_owned());
                    }
                }
                self.consider_the_time(&mut one);
                if one.over.is_some() {
                    self.audience.event(Event::WaitFailed(one.progress()));
                    failed.push(one);
                } else {
                    self.audience.event(Event::Waiting(one.progress()));
                    left.push(one);
                }
            }
            waiting = left;
            self.pause(&waiting).await;
        }
        (ready, failed)
    }

    fn consider_the_time(&self, one: &mut Waiting) {
        if one.over.is_some() {
            return;
        }
        let elapsed = one.begun.elapsed();
        if self.wishes.stop.urgency() != Urgency::None {
            one.over = Some(format!("The wait was interrupted after {} s.", elapsed.as_secs()));
        } else if elapsed >= one.timeout() {
            one.over = Some(format!("It was not ready after {} s.", elapsed.as_secs()));
        }
    }

    async fn pause(&self, waiting: &[Waiting]) {
        let pause = waiting.iter().map(|one| {
            let interval = one.rule.as_ref().map_or(INTERVAL, |rule| rule.says.interval);
            interval.min(one.timeout().saturating_sub(one.begun.elapsed()))
        });
        let Some(pause) = pause.min() else { return };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = self.wishes.stop.reaches(Urgency::Soon) => {}
        }
    }

    /// Looks at all of them once more.
    async fn look_again(&self, waiting: &[Waiting]) -> Vec<Readiness> {
        let by_rule = |one: &&Waiting| one.rule.is_some();
        let addresses = |of: &dyn Fn(&&Waiting) -> bool| -> Vec<AbsInstance> {
            waiting.iter().filter(|one| of(one)).map(|one| one.address.clone()).collect()
        };
        let mut looks = self.look(&addresses(&by_rule)).await;
        let said = self.ask_providers(&addresses(&|one| !by_rule(one))).await;
        let unreadable = |one: &Waiting, why: &str| {
            let last_seen = Some(format!("it could not be read ({why})"));
            Readiness::Lacks(Pending { last_seen, ..one.pending.clone() })
        };
        let is_saved = self.line().plan_file().is_some();
        let each = waiting.iter().map(|one| match (&one.rule, &said) {
            (None, _) if is_saved => Readiness::Hopeless(one.pending.clone()),
            (Some(rule), _) => match looks.remove(&one.address) {
                Some(Look::There(object)) => self.readiness(rule, &object, one.pending.since),
                // Whoever plans next finds that out as well, and makes it anew.
                Some(Look::Gone) => Readiness::Ready,
                Some(Look::Unclear(why)) => unreadable(one, &why),
                None => unreadable(one, "nothing was said about it"),
            },
            (None, Ok(said)) => said.get(&one.address).cloned().map_or(Readiness::Ready, Readiness::Lacks),
            (None, Err(why)) => unreadable(one, why),
        });
        each.collect()
    }

    /// Has providers read their objects anew, and tells what they lack. That is in their private data, which only a state has: so what
    /// was read is stored.
    async fn ask_providers(&self, wanted: &[AbsInstance]) -> Result<BTreeMap<AbsInstance, Pending>, String> {
        // A saved plan wants the state as it is.
        if wanted.is_empty() || self.line().plan_file().is_some() {
            return Ok(BTreeMap::new());
        }
        self.plan_refresh(wanted).await?;
        let mut arguments = ["apply", "-input=false", "-no-color"].map(str::to_owned).to_vec();
        arguments.extend(self.locking());
        arguments.push(self.plan_path());
        let answer = self.program.ask(&arguments, None).await.map_err(|problem| problem.detail)?;
        if !answer.is_good() {
            return Err(answer.why());
        }
        let pulled = self.pull().await.map_err(|problem| problem.detail)?;
        let state = pulled.map(|pulled| pulled.state).unwrap_or_default();
        Ok(pending::of_state(&state).into_iter().filter(|(_, pending)| pending.by == SaidBy::Provider).collect())
    }

    /// Takes the marks of rules off objects that have become ready.
    async fn forget(&self, ready: &[Waiting]) {
        let unmarked = |_: &Waiting, private| {
            let (private, found) = Pending::split(private);
            found.map(|_| private)
        };
        self.mark(ready, unmarked).await;
    }

    /// Marks objects that are not ready.
    async fn remember(&self, failed: &[Waiting]) {
        let marked = |one: &Waiting, private: Private| one.pending.join(&private).filter(|marked| *marked != private);
        self.mark(failed, marked).await;
    }

    /// Changes marks of rules. One that is wrong is looked at again next time, so that this fails is no reason to stop; and a saved
    /// plan wants the state as it is.
    async fn mark(&self, of: &[Waiting], change: impl Fn(&Waiting, Private) -> Option<Private>) {
        let of: Vec<&Waiting> = of.iter().filter(|one| one.pending.by == SaidBy::Rule).collect();
        if of.is_empty() || self.line().plan_file().is_some() {
            return;
        }
        let Ok(Some(pulled)) = self.pull().await else { return };
        let edits = of.iter().filter_map(|one| {
            let stored = object(&pulled.state, &one.address)?;
            let private = change(one, Private(stored.private.clone()))?;
            Some((one.address.clone(), Edit { untaint: false, private: Some(private.0) }))
        });
        let edits: BTreeMap<AbsInstance, Edit> = edits.collect();
        if !edits.is_empty()
            && let Err(why) = self.push(&pulled, &edits).await
        {
            tracing::warn!(why, "what is waited for could not be written down");
        }
    }
}

fn object<'s>(state: &'s State, address: &AbsInstance) -> Option<&'s ObjectState> {
    state.resources.get(&address.resource())?.instances.get(address.key())?.current.as_ref()
}

fn not_ready(failed: &[Waiting]) -> Result<(), Diagnostics> {
    if failed.is_empty() {
        return Ok(());
    }
    Err(failed.iter().map(Waiting::not_ready).collect())
}

/// This moment, by the clock that sleeping goes by.
fn now() -> Instant {
    tokio::time::sleep(Duration::ZERO).deadline()
}
