//! Between the thread of a run and everybody else: what the run says is written into the Run, and what is decided about it is told the run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use tokio::time::Instant;

use super::{InProcess, TO_WRITE};
use crate::api::run::{Approved, Cause, CauseKind, Phase, PlanRef, Run};
use crate::api::shared::{Length, Moment};
use crate::api::stack::Stack;
use crate::api::upkeep::Orphan;
use crate::blobs::Blob;
use crate::bundle::Bundle;
use crate::objects::cluster::shortened;
use crate::objects::{Kind, Notice, Place, controller, find};
use crate::runs::progress::{Claimant, Kept, enter, persist, plan as kept_plan};
use crate::runs::{Fate, copies, fate, plan_text, versions};
use crate::voices::webhooks::{self, Asking};
use crate::work::{Overseer, Planned, Redaction, Stopped, Verdict};

/// A Run that is ours.
pub(super) struct Claim {
    pub(super) executor: Arc<InProcess>,
    pub(super) run: Mutex<Run>,
    pub(super) deadline: watch::Sender<Instant>,
    /// Nobody waits for whoever works on it any more, and nothing of them is taken.
    pub(super) let_go_of: AtomicBool,
}

/// Between the thread of a run and everybody else.
pub(super) struct Bridge<'a> {
    pub(super) claim: Arc<Claim>,
    pub(super) handle: tokio::runtime::Handle,
    pub(super) bundle: &'a Bundle,
}

impl Bridge<'_> {
    /// Asks those who are to be asked about a plan that does something. Nobody keeps a Stack from being deleted.
    fn ask_webhooks(&self, run: &Run, plan: &Planned) -> Result<(), Stopped> {
        let is_deletion = run.spec.causes.iter().any(|cause| cause.reason == CauseKind::Deleted);
        if self.bundle.webhooks.is_empty() || plan.is_empty || is_deletion {
            return Ok(());
        }
        let executor = &self.claim.executor;
        let namespace = run.metadata.namespace.as_deref().unwrap_or_default();
        self.handle.block_on(async {
            let stack = find::<Stack>(&*executor.store, namespace, &run.spec.stack).await;
            let stack = stack.map_err(|problem| Stopped::Overseer(problem.to_string()))?;
            let asking = Asking {
                stack: stack.as_ref(),
                run,
                plan,
                redaction: Redaction::new(&self.bundle.inputs),
                networks: executor.workshop.premises.networks.as_ref(),
            };
            let passed = webhooks::ask(&self.bundle.webhooks, &asking).await.map_err(Stopped::Refused)?;
            for message in passed {
                let about = Place::new(Kind::of::<Stack>(), namespace, &run.spec.stack);
                let uid = controller(&run.metadata).map(|owner| owner.uid.clone());
                let reason = "WebhookIgnored".to_owned();
                executor.store.notice(Notice { about, uid, is_warning: true, reason, message }).await;
            }
            Ok(())
        })
    }

    /// Writes a plan that does something to where it is wanted besides.
    fn copy_plan(&self, run: &Run, plan: &Planned) -> Result<(), Stopped> {
        let Some(copy) = self.bundle.plan_copy.as_ref().filter(|_| !plan.is_empty) else { return Ok(()) };
        let workspace = self.bundle.workspace.as_deref().unwrap_or("default");
        let store = &*self.claim.executor.store;
        let copied = self.handle.block_on(copies::write(store, run, (copy, workspace), plan));
        copied.map_err(|problem| Stopped::Overseer(problem.to_string()))
    }

    /// Writes down what has changed, unless the Run is not wanted any more.
    fn update(&self, change: impl FnOnce(&mut Run)) -> Result<(), Stopped> {
        let mut held = self.claim.run.lock().unwrap_or_else(PoisonError::into_inner);
        self.stop_if_let_go()?;
        let mut run = held.clone();
        change(&mut run);
        let executor = &self.claim.executor;
        let by = Claimant { holder: &executor.holder, patience: TO_WRITE, heeds_cancel: true };
        match self.handle.block_on(persist(&*executor.store, &run, &by)) {
            Ok(Kept::Written(run)) => {
                *held = *run;
                self.stop_if_let_go()
            }
            Ok(Kept::Cancelled) => Err(Stopped::Asked),
            Err(problem) => Err(Stopped::Overseer(problem.to_string())),
        }
    }

    /// Who was let go of does nothing more.
    fn stop_if_let_go(&self) -> Result<(), Stopped> {
        if self.claim.let_go_of.load(Ordering::SeqCst) { Err(Stopped::Asked) } else { Ok(()) }
    }

    fn limit(&self, limit: Length) {
        self.claim.deadline.send_replace(Instant::now() + limit.0);
    }

    fn now(&self) -> Moment {
        (self.claim.executor.clock)()
    }
}

impl Overseer for Bridge<'_> {
    fn backend_overridden(&self, block: &str) {
        let run = self.claim.run.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // Who knows it is not told again whenever it is looked whether all is well.
        let is_known = |cause: &Cause| {
            matches!(cause.reason, CauseKind::Due | CauseKind::Retry | CauseKind::OutputsGone | CauseKind::Deleted)
        };
        if run.spec.causes.iter().all(is_known) {
            return;
        }
        let namespace = run.metadata.namespace.as_deref().unwrap_or_default();
        let about = Place::new(Kind::of::<Stack>(), namespace, &run.spec.stack);
        let uid = controller(&run.metadata).map(|owner| owner.uid.clone());
        let message =
            format!("The configuration has its own {block}, which does not hold: its state is where the Stack says");
        let notice = Notice { about, uid, is_warning: false, reason: "BackendOverridden".to_owned(), message };
        self.handle.block_on(self.claim.executor.store.notice(notice));
    }

    fn state_moved(&self, from: u64, to: u64) {
        let run = self.claim.run.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let namespace = run.metadata.namespace.as_deref().unwrap_or_default();
        let store = &*self.claim.executor.store;
        self.handle.block_on(async {
            let by = versions::last_writer(store, &self.bundle.backend, self.bundle.workspace.as_deref()).await;
            let by = by.map(|by| format!(" by {by:?}")).unwrap_or_default();
            let message = format!(
                "The state was written{by} since the last run: its serial is {to}, and was {from}. What was planned before does not \
                 hold any more."
            );
            let about = Place::new(Kind::of::<Stack>(), namespace, &run.spec.stack);
            let uid = controller(&run.metadata).map(|owner| owner.uid.clone());
            let reason = "StateChangedExternally".to_owned();
            store.notice(Notice { about, uid, is_warning: true, reason, message }).await;
        });
    }

    fn orphan_deleted(&self, orphan: &Orphan, problem: Option<&str>) {
        let run = self.claim.run.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let namespace = run.metadata.namespace.as_deref().unwrap_or_default();
        let about = Place::new(Kind::of::<Stack>(), namespace, &run.spec.stack);
        let uid = controller(&run.metadata).map(|owner| owner.uid.clone());
        let name = if orphan.name.is_empty() { String::new() } else { format!(" ({})", orphan.name) };
        let what = format!("{} {}{name}", orphan.kind, orphan.id);
        let (reason, message) = match problem {
            None => ("OrphanDeleted", format!("{what}, which the state did not know, was deleted, as was agreed to")),
            Some(problem) => {
                let problem = Redaction::new(&self.bundle.inputs).clean(&shortened(problem, 500));
                ("OrphanNotDeleted", format!("{what} could not be deleted: {problem}"))
            }
        };
        let notice = Notice { about, uid, is_warning: problem.is_some(), reason: reason.to_owned(), message };
        self.handle.block_on(self.claim.executor.store.notice(notice));
    }

    fn planning(&self) -> Result<(), Stopped> {
        let now = self.now();
        let mut limit = None;
        self.update(|run| {
            if run.status.as_ref().is_some_and(|status| status.phase == Phase::Initialising) {
                limit = Some(run.spec.limits.plan);
                enter(run.status.get_or_insert_default(), Phase::Planning, "Making the plan", now);
            }
        })?;
        if let Some(limit) = limit {
            self.limit(limit);
        }
        Ok(())
    }

    fn planned(&self, plan: &Planned) -> Result<Verdict, Stopped> {
        self.stop_if_let_go()?;
        let now = self.now();
        let run = self.claim.run.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let store = &*self.claim.executor.store;
        let shown = self.handle.block_on(plan_text::keep(store, &run, &plan.text));
        let (text, text_secret) = shown.map_err(|problem| Stopped::Overseer(problem.to_string()))?;
        let shown = PlanRef { id: plan.id.clone(), secret: None, text, text_secret };
        if let Err(stopped) = self.ask_webhooks(&run, plan) {
            // What was not let pass is there to be read.
            let mut held = self.claim.run.lock().unwrap_or_else(PoisonError::into_inner);
            let status = held.status.get_or_insert_default();
            status.planned = Some(plan.counts);
            status.plan = Some(shown);
            return Err(stopped);
        }
        self.copy_plan(&run, plan)?;
        let fate = fate(&run, plan);
        let secret = match &fate {
            Fate::Ask(_) => Some(format!("{}-plan", run.metadata.name.as_deref().unwrap_or_default())),
            _ => None,
        };
        if let Some(name) = &secret {
            let blob = Blob { name, ..kept_plan(&run) };
            let saved = self.handle.block_on(blob.save(store, &plan.bytes));
            saved.map_err(|problem| Stopped::Overseer(problem.to_string()))?;
        }
        let limit = run.spec.limits.apply;
        self.update(|run| {
            let status = run.status.get_or_insert_default();
            status.planned = Some(plan.counts);
            status.drifted = plan.drifted.iter().take(100).cloned().collect();
            status.plan = Some(PlanRef { secret, ..shown });
            status.doubt.clone_from(&plan.doubt);
            match &fate {
                Fate::CarryOut(by) => {
                    status.approval = Some(Approved { plan: plan.id.clone(), by: by.clone(), at: now });
                    enter(status, Phase::Applying, "Carrying the plan out", now);
                }
                Fate::Ask(addresses) => {
                    status.holder = None;
                    let addresses = Redaction::new(&self.bundle.inputs).clean(&addresses.join(", "));
                    let message = format!("Somebody has to agree to {}", shortened(&addresses, 500));
                    enter(status, Phase::AwaitingApproval, message, now);
                }
                Fate::Leave => {}
            }
        })?;
        if matches!(fate, Fate::CarryOut(_)) {
            self.limit(limit);
            return Ok(Verdict::CarryOut);
        }
        Ok(Verdict::Leave)
    }
}
