//! How the change of an object ends: done; done and not ready; failed with nothing made; failed half way. And the wait of those that
//! are not ready, which is a part of their step: they are read again and again, on nobody's time but their own.

use std::sync::Arc;
use std::time::Duration;

use groma_model::address::ResourceMode;
use groma_model::diag::{Diagnostic, Diagnostics, Severity};
use groma_model::value::Value;
use groma_provider::api::{Patience, ReadRequest};
use groma_state::journal::{After, Operation};
use groma_state::{ObjectState, ObjectStatus};
use tokio::time::Instant;

use super::driver::{Driver, Finished, Work};
use super::instance::Job;
use super::record::object_of;
use crate::change::{Action, Change};
use crate::events::{Event, WaitProgress};
use crate::execution::StepIndex;
use crate::interrupt::{Interrupt, Urgency};
use crate::pending::{Lack, Pending, SaidBy, WaitRule, lack};
use crate::plan::instance::{keep_warnings, with_address};
use crate::providers::Slot;
use crate::stored::{Object, ObjectSchema};

/// How long is waited for what only a provider knows, and how often it is asked.
const TIMEOUT: Duration = Duration::from_mins(10);
const INTERVAL: Duration = Duration::from_secs(5);

/// An object that is waited for.
pub(super) struct Waiting {
    step: StepIndex,
    change: Change,
    kind: ObjectSchema,
    slot: Arc<Slot>,
    provider_meta: Option<Value>,
    rule: Option<WaitRule>,
    subject: Subject,
    /// What it lacks, as last seen.
    pending: Pending,
    /// What its provider complained about while it was made. It counts only if the object does not become ready.
    complaints: Diagnostics,
    begun: Option<Instant>,
    /// Why there is no point in waiting any longer.
    over: Option<Over>,
}

/// What is read again.
enum Subject {
    /// As it was made, or read last.
    Object(Box<Object>),
    /// As it is stored.
    Stored(Box<ObjectState>),
}

/// Why a wait has ended without success.
enum Over {
    /// What ends it early has come.
    Failed,
    /// The rule cannot be evaluated.
    Unclear(Diagnostics),
    /// Looking again is useless: the provider has waited itself, or has no hope.
    Said,
    /// The object is not there any more.
    Gone,
    /// It took too long.
    TooLong,
    /// Somebody wants to stop.
    Interrupted,
}

/// What was found when an object was read again.
pub(super) type Look = Result<Option<Object>, Diagnostics>;

impl Waiting {
    /// Whose it is.
    pub(super) fn address(&self) -> &groma_model::address::AbsInstance {
        &self.change.address
    }

    /// Whether its creation has failed half way.
    pub(super) fn was_made_in_part(&self) -> bool {
        self.complaints.has_errors()
    }

    /// What a rule or the provider says about how long and how often to look.
    fn patience(&self) -> Patience {
        let said = self.rule.as_ref().map(|rule| Patience { timeout: rule.says.timeout, interval: rule.says.interval });
        said.or(self.pending.patience).unwrap_or(Patience { timeout: TIMEOUT, interval: INTERVAL })
    }

    fn timeout(&self) -> Duration {
        self.patience().timeout
    }

    fn elapsed(&self) -> Duration {
        self.begun.map_or(Duration::ZERO, |begun| begun.elapsed())
    }

    /// How long until the next look.
    fn pause(&self) -> Duration {
        let Patience { timeout, interval } = self.patience();
        interval.min(timeout.saturating_sub(self.elapsed()))
    }

    fn progress(&self) -> WaitProgress {
        WaitProgress {
            address: self.change.address.clone(),
            waiting_for: self.pending.waiting_for.clone(),
            last_seen: self.pending.last_seen.clone(),
            elapsed: self.elapsed(),
            timeout: self.timeout(),
        }
    }

    /// Reads the object again.
    pub(super) async fn look(&self) -> Look {
        let provider = self.slot.get().await?;
        let object = match &self.subject {
            Subject::Object(object) => object.as_ref().clone(),
            Subject::Stored(stored) => Object::upgraded(stored, &self.kind, provider.as_ref()).await?,
        };
        let request = ReadRequest {
            type_name: self.kind.type_name.clone(),
            current: object.value.clone(),
            private: object.private.clone(),
            identity: object.identity.clone(),
            provider_meta: self.provider_meta.clone(),
        };
        let mut response = provider.read(request).await.map_err(|error| Diagnostics::from(error.diagnostic()))?;
        keep_warnings(std::mem::take(&mut response.diagnostics), &mut Diagnostics::new())?;
        if response.object.is_null() {
            return Ok(None);
        }
        if !response.object.is_wholly_known() {
            let detail = format!("Provider {:?} returned an object with unknown values.", provider.name());
            return Err(Diagnostic::error("Provider produced invalid object", detail).into());
        }
        Ok(Some(object.read_again(response, &self.kind.schema.block)))
    }

    /// What is said when it did not become ready.
    fn not_ready(&mut self) -> Diagnostics {
        let waiting_for = &self.pending.waiting_for;
        let seen = self.pending.seen_in_brief().map(|seen| format!(" Last seen: {seen}.")).unwrap_or_default();
        let more = self.pending.last_seen.as_deref().and_then(|seen| seen.split_once('\n'));
        let more = more.map(|(_, more)| format!("\n\n{more}")).unwrap_or_default();
        let address = &self.change.address;
        let time = shown(self.elapsed());
        let mut found = std::mem::take(&mut self.complaints);
        let why = match self.over.take() {
            None | Some(Over::TooLong) => format!("It was not ready after {time}."),
            Some(Over::Failed) => {
                let text = self.rule.as_ref().and_then(|rule| rule.says.fail_if_text.as_deref()).unwrap_or("fail_if");
                format!("The wait was ended after {time}, because {text}.")
            }
            Some(Over::Said) => "Its provider says that it is not ready.".to_owned(),
            Some(Over::Gone) => format!("After {time} it was not there any more."),
            Some(Over::Interrupted) => format!("The wait was interrupted after {time}."),
            Some(Over::Unclear(unclear)) => {
                found.extend(unclear);
                "The rule about it cannot be evaluated; where something may be missing for a while, use \"try\"."
                    .to_owned()
            }
        };
        let detail = format!(
            "{address} is there, but not ready: waiting for {waiting_for}. {why}{seen} It is kept as it is, and nothing that \
             depends on it was begun; apply again to go on waiting.{more}"
        );
        let mut not_ready = Diagnostic::error("Resource not ready", detail);
        not_ready.subject = self.rule.as_ref().map(|rule| rule.says.until.span);
        found.push(not_ready);
        with_address(found, address)
    }
}

impl Driver<'_, '_> {
    /// Judges an object that was made or changed. If it is to be waited for, that begins when its step is over otherwise.
    pub(super) fn settle(&mut self, step: StepIndex, job: &Job, object: &mut Object, diagnostics: &mut Diagnostics) {
        let change = &job.change;
        let is_managed = change.address.instance.resource.mode == ResourceMode::Managed;
        if job.wanted.is_none() || !is_managed || change.action == Action::Read {
            return;
        }
        let mut complaints = Diagnostics::new();
        if diagnostics.has_errors() {
            let rule = self.request.rules.on_create_error.find(&change.address);
            let is_kept = object.status == ObjectStatus::Tainted && rule.is_some_and(|rule| rule.says.keep);
            if !is_kept {
                return;
            }
            object.status = ObjectStatus::Ready;
            object.pending = Some(self.made_in_part(diagnostics));
            complaints = std::mem::take(diagnostics);
        }
        let now = self.request.settings.environment.now().0;
        if let Some(pending) = &mut object.pending {
            pending.since.get_or_insert(now);
        }
        let rule = self.request.rules.waits.find(&change.address).cloned();
        let failed_without_rule = rule.is_none() && !complaints.is_empty();
        let found = lack(rule.as_ref(), object, &job.kind.schema, &self.request.settings);
        let over = match &found {
            Lack::Nothing if failed_without_rule => {
                // Nobody can say when it is whole: the next plan looks at it.
                *diagnostics = complaints;
                return;
            }
            Lack::Nothing => {
                object.pending = None;
                diagnostics.extend(softened(complaints, &change.address.to_string()));
                return;
            }
            Lack::Something(pending) if rule.is_none() && pending.patience.is_none() => Some(Over::Said),
            Lack::Something(_) => None,
            Lack::ForGood(_) => Some(Over::Failed),
            Lack::Unclear(_, found) => Some(Over::Unclear(found.clone())),
        };
        let Some(pending) = found.pending().cloned() else { return };
        object.pending = Some(pending.clone());
        let waiting = Waiting {
            step,
            change: change.clone(),
            kind: job.kind.clone(),
            slot: Arc::clone(&job.slot),
            provider_meta: job.provider_meta.clone(),
            rule,
            subject: Subject::Object(Box::new(object.clone())),
            pending,
            complaints,
            begun: None,
            over,
        };
        self.waits.insert(step, Box::new(waiting));
    }

    /// Whether a change that cannot be carried out yet is tried again.
    pub(super) fn may_wait(&mut self, step: StepIndex, patience: Patience) -> bool {
        let since = self.postponed.entry(step).or_insert_with(now);
        since.elapsed() < patience.timeout && self.request.interrupt.urgency() == Urgency::None
    }

    /// Tries a change again after a while. Others go on meanwhile: one of them may bring what it needs.
    pub(super) fn postpone(
        &mut self,
        step: StepIndex,
        job: Box<Job>,
        operation: Option<Operation>,
        patience: Patience,
    ) {
        let logged = match operation {
            Some(operation) => self.request.logbook.conclude(Some(operation), object_of(&job.change), After::Unchanged),
            None => Ok(None),
        };
        let (logbook, interrupt) = (Arc::clone(&self.request.logbook), self.request.interrupt.clone());
        self.aside.spawn(async move {
            // That it could not be written down is found out when it is tried again.
            if let Ok(Some(ticket)) = logged {
                let _ = logbook.safe(ticket).await;
            }
            tokio::select! {
                () = tokio::time::sleep(patience.interval) => {}
                () = interrupt.reaches(Urgency::Soon) => {}
            }
            Finished::Again(step, job)
        });
    }

    fn made_in_part(&self, complaints: &Diagnostics) -> Pending {
        let said = complaints.iter().find(|complaint| complaint.is_error()).map(|error| error.summary.clone());
        Pending {
            waiting_for: "its creation to be completed".to_owned(),
            last_seen: said,
            since: Some(self.request.settings.environment.now().0),
            by: SaidBy::CreateError,
            patience: None,
        }
    }

    /// Goes on with a wait that an earlier run has not seen the end of.
    pub(super) fn resume(&mut self, step: StepIndex, at: usize) {
        let change = self.request.plan.changes[at].clone();
        let address = change.address.clone();
        let (Some(pending), Some(stored)) = (change.not_ready.clone(), self.stored(&address)) else {
            return self.schedule.done(step, false);
        };
        let provider = &change.provider.config.provider;
        let module = self.walk.instance_at(&address.module).unwrap_or(0);
        let slot = self.providers.of_stored(&change.provider, &address.to_string());
        let slot = slot.and_then(|slot| Ok((slot, self.providers.meta(&self.walk, module, provider)?)));
        let (slot, provider_meta) = match slot {
            Ok(found) => found,
            Err(found) => return self.conclude(step, with_address(found, &address)),
        };
        let waiting = Waiting {
            step,
            kind: self.kind(&change, provider),
            slot,
            provider_meta,
            rule: self.request.rules.waits.find(&address).cloned(),
            subject: Subject::Stored(Box::new(stored)),
            pending,
            complaints: Diagnostics::new(),
            begun: Some(now()),
            over: None,
            change,
        };
        self.request.events.tell(Event::WaitStarted(waiting.progress()));
        // What was seen while planning may be out of date.
        self.queue.push_back(Work::Look(Box::new(waiting)));
    }

    /// Begins to wait for an object, if there is anything to wait for. Otherwise its step is over.
    pub(super) fn wait_or_conclude(&mut self, step: StepIndex, found: Diagnostics) {
        let Some(mut waiting) = self.waits.remove(&step).filter(|_| !found.has_errors()) else {
            return self.conclude(step, found);
        };
        self.diagnostics.extend(found);
        waiting.begun = Some(now());
        self.request.events.tell(Event::WaitStarted(waiting.progress()));
        if waiting.over.is_some() {
            return self.give_up(*waiting);
        }
        self.pause(waiting);
    }

    fn pause(&mut self, waiting: Box<Waiting>) {
        let interrupt: Interrupt = self.request.interrupt.clone();
        self.aside.spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(waiting.pause()) => {}
                () = interrupt.reaches(Urgency::Soon) => {}
            }
            Finished::Due(waiting)
        });
    }

    /// It is time to look at an object again.
    pub(super) fn due(&mut self, mut waiting: Box<Waiting>) {
        if self.request.interrupt.urgency() == Urgency::None {
            return self.queue.push_front(Work::Look(waiting));
        }
        waiting.over = Some(Over::Interrupted);
        self.give_up(*waiting);
    }

    /// Nobody looks any more: what is waiting to be looked at is left as it is.
    pub(super) fn end_waits(&mut self) {
        let (looks, others) =
            std::mem::take(&mut self.queue).into_iter().partition(|work| matches!(work, Work::Look(_)));
        self.queue = others;
        let looks: std::collections::VecDeque<Work> = looks;
        for work in looks {
            if let Work::Look(waiting) = work {
                self.due(waiting);
            }
        }
    }

    /// Takes in what was seen of an object that is waited for.
    pub(super) fn looked(&mut self, mut waiting: Box<Waiting>, look: Look) {
        match look {
            Ok(Some(object)) => {
                let found = lack(waiting.rule.as_ref(), &object, &waiting.kind.schema, &self.request.settings);
                waiting.subject = Subject::Object(Box::new(object));
                let was_patient = waiting.pending.patience.is_some();
                if let Some(pending) = found.pending() {
                    waiting.pending = pending.clone();
                }
                match found {
                    Lack::Nothing => return self.is_ready(*waiting),
                    // The provider had hope until now.
                    Lack::Something(pending) if was_patient && pending.patience.is_none() => {
                        waiting.over = Some(Over::Said);
                    }
                    Lack::Something(_) => {}
                    Lack::ForGood(_) => waiting.over = Some(Over::Failed),
                    Lack::Unclear(_, found) => waiting.over = Some(Over::Unclear(found)),
                }
            }
            Ok(None) => waiting.over = Some(Over::Gone),
            // What cannot be read now may be readable later.
            Err(found) => {
                let said = found.iter().find(|found| found.is_error()).map(|error| error.summary.clone());
                waiting.pending.last_seen = said.map(|said| format!("it could not be read ({said})"));
            }
        }
        if waiting.over.is_none() && self.request.interrupt.urgency() != Urgency::None {
            waiting.over = Some(Over::Interrupted);
        }
        if waiting.over.is_none() && waiting.elapsed() >= waiting.timeout() {
            waiting.over = Some(Over::TooLong);
        }
        if waiting.over.is_some() {
            return self.give_up(*waiting);
        }
        self.request.events.tell(Event::Waiting(waiting.progress()));
        self.pause(waiting);
    }

    fn is_ready(&mut self, mut waiting: Waiting) {
        self.request.events.tell(Event::WaitDone(waiting.progress()));
        let complaints = std::mem::take(&mut waiting.complaints);
        let found = softened(complaints, &waiting.change.address.to_string());
        self.write_down(waiting, None, found);
    }

    fn give_up(&mut self, mut waiting: Waiting) {
        self.request.events.tell(Event::WaitFailed(waiting.progress()));
        let found = waiting.not_ready();
        let pending = waiting.pending.clone();
        self.write_down(waiting, Some(pending), found);
    }

    /// The end of a wait: what the object is now is made safe, then its step is over.
    fn write_down(&mut self, waiting: Waiting, pending: Option<Pending>, mut found: Diagnostics) {
        let Waiting { step, change, kind, subject, .. } = waiting;
        let mut ticket = Ok(None);
        if let Subject::Object(mut object) = subject {
            object.pending = pending;
            self.made.insert(change.address.clone(), object.marked(&kind.schema));
            match object.stored(&kind) {
                Ok(stored) => ticket = self.put_down(None, &change, Some(stored)),
                Err(problem) => found.extend(problem),
            }
            self.store();
        }
        match ticket {
            Ok(None) => self.conclude(step, found),
            Ok(Some(ticket)) => {
                let logbook = Arc::clone(&self.request.logbook);
                self.aside.spawn(async move {
                    let trouble = logbook.safe(ticket).await.err().unwrap_or_default();
                    found.extend(with_address(trouble, &change.address));
                    Finished::Waited(step, found)
                });
            }
            Err(trouble) => {
                found.extend(with_address(trouble, &change.address));
                self.conclude(step, found);
            }
        }
    }
}

/// This moment, by the clock that sleeping goes by.
fn now() -> Instant {
    tokio::time::sleep(Duration::ZERO).deadline()
}

/// What was complained about while an object was made that turned out well.
fn softened(complaints: Diagnostics, address: &str) -> Diagnostics {
    let soften = |mut complaint: Diagnostic| {
        if complaint.is_error() {
            complaint.severity = Severity::Warning;
            complaint.detail = format!("{}\n\nNevertheless {address} is there and ready.", complaint.detail);
        }
        complaint
    };
    complaints.into_iter().map(soften).collect()
}

/// A duration as people say it.
fn shown(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match (seconds / 60, seconds % 60) {
        (0, 0) => format!("{} ms", duration.as_millis()),
        (0, seconds) => format!("{seconds}s"),
        (minutes, 0) => format!("{minutes}m"),
        (minutes, seconds) => format!("{minutes}m{seconds}s"),
    }
}
