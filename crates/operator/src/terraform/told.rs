//! What the status of an object of tofu-controller says, in its words: a function of the object, of its Stack and the last Run, and of what was said
//! before.

mod ready;
#[cfg(test)]
mod tests;

use crate::api::names;
use crate::api::run::{Action, FailureKind, Phase, Run};
use crate::api::shared::{Condition, Moment, Truth};
use crate::api::stack::{Stack, StackStatus};
use crate::api::terraform::{Inventory, LockStatus, PlanStatus, Terraform, TerraformStatus};
use crate::terraform::plan_id;
use crate::terraform::wanted::{Problem, flux_request, is_for};
use ready::Word;

/// No message is longer than that.
const MOST_CHARACTERS: usize = 20_000;
/// What is said while nothing is known.
const UNSEEN: i64 = -1;

/// How an object is.
#[derive(Debug)]
pub enum Situation<'a> {
    /// No Stack can be made of it.
    Wrong(&'a [Problem]),
    /// Somebody does not take its Stack.
    Refused(String),
    /// Something must happen first, which will happen by itself.
    Waits(String),
    /// It has a Stack, which asks for all that it asks for.
    Has(Seen<'a>),
    /// It is being deleted; with its Stack, while that is there.
    Goes(Option<&'a Stack>),
}

/// What is seen of an object that has a Stack.
#[derive(Debug, Default)]
pub struct Seen<'a> {
    /// The Stack.
    pub stack: Option<&'a Stack>,
    /// Its last Run.
    pub run: Option<&'a Run>,
    /// The lock that is in the way.
    pub lock: Option<String>,
    /// The lock that was just taken away.
    pub unlocked: Option<String>,
    /// What there is, if somebody wants to see it.
    pub inventory: Option<Inventory>,
}

/// The status of an object, from the one before.
pub fn status(object: &Terraform, unsupported: &[Problem], situation: &Situation<'_>, now: Moment) -> TerraformStatus {
    let mut telling = Telling { object, status: object.status.clone().unwrap_or_default(), now };
    telling.status.observed_generation.get_or_insert(UNSEEN);
    match situation {
        Situation::Wrong(problems) => telling.wrong(problems),
        Situation::Refused(why) => telling.word(&Word::stalled("InvalidSpec", why.clone())),
        Situation::Waits(why) => telling.word(&Word::progressing(why.clone())),
        Situation::Goes(stack) => telling.goes(*stack),
        Situation::Has(seen) => telling.has(seen),
    }
    telling.unsupported(unsupported);
    telling.status
}

/// What is told besides when something new is said: whether it is a warning, in one word, and for people.
pub fn event(before: Option<&TerraformStatus>, after: &TerraformStatus) -> Option<(bool, String, String)> {
    let known = |status: &TerraformStatus| status.conditions.iter().find(|known| known.kind == "Ready").cloned();
    let (before, after) = (before.and_then(known), known(after)?);
    let same = before.is_some_and(|before| {
        before.status == after.status && before.reason == after.reason && before.message == after.message
    });
    if same || after.reason == "Progressing" {
        return None;
    }
    let reason = match after.reason.as_str() {
        "TerraformPlannedWithChanges" => "TerraformPlanSucceed".to_owned(),
        "TerraformAppliedSucceed" if after.message.starts_with("Destroy") => "TerraformDestroySucceed".to_owned(),
        // What nobody has to know is not told, as it never was.
        "TerraformPlannedNoChanges" | "NoDrift" => return None,
        other => other.to_owned(),
    };
    let is_warning = after.status == Truth::False && after.reason != "DependencyNotReady";
    Some((is_warning, reason, after.message))
}

struct Telling<'a> {
    object: &'a Terraform,
    status: TerraformStatus,
    now: Moment,
}

impl Telling<'_> {
    fn set(&mut self, kind: &str, status: Truth, reason: &str, message: &str) {
        let message = shortened(message);
        let conditions = &mut self.status.conditions;
        let at = conditions.iter().position(|known| known.kind == kind);
        let since = at.and_then(|at| conditions.get(at)).filter(|known| known.status == status);
        let condition = Condition {
            kind: kind.to_owned(),
            status,
            observed_generation: self.object.metadata.generation,
            last_transition_time: since.map_or(self.now, |known| known.last_transition_time),
            reason: reason.to_owned(),
            message,
        };
        match at.and_then(|at| conditions.get_mut(at)) {
            Some(known) => *known = condition,
            None => conditions.push(condition),
        }
    }

    fn unset(&mut self, kind: &str) {
        self.status.conditions.retain(|known| known.kind != kind);
    }

    /// What is said about whether it is ready, and whether waiting makes sense.
    fn word(&mut self, word: &Word) {
        self.set("Ready", word.ready, word.reason, &word.message);
        if word.is_under_way {
            self.set("Reconciling", Truth::True, "Progressing", "Fulfilling prerequisites");
        } else {
            self.unset("Reconciling");
            self.status.observed_generation = self.object.metadata.generation;
        }
        match word.stalled {
            Some(reason) => self.set("Stalled", Truth::True, reason, &word.message),
            None => self.unset("Stalled"),
        }
    }

    fn wrong(&mut self, problems: &[Problem]) {
        let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let reason = problems.first().map_or("InvalidSpec", |problem| problem.reason);
        self.word(&Word::stalled(reason, all.join("\n")));
    }

    fn unsupported(&mut self, problems: &[Problem]) {
        if problems.is_empty() {
            return self.unset("Unsupported");
        }
        let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
        self.set("Unsupported", Truth::True, "FieldsNotHonoured", &all.join("\n"));
    }

    fn goes(&mut self, stack: Option<&Stack>) {
        let ready = stack.and_then(|stack| condition(stack.status.as_ref()?, "Ready"));
        let word = match ready.filter(|ready| ready.status == Truth::False) {
            Some(ready) if ready.reason == "DeletionBlockedByDependants" => {
                // Literally so.
                Word {
                    is_under_way: true,
                    ..Word::not_ready("DeletionBlockedByDependantsReason", ready.message.clone())
                }
            }
            Some(ready) if ready.reason == "DestroyFailed" => {
                Word { is_under_way: true, ..Word::not_ready("TFExecApplyFailed", ready.message.clone()) }
            }
            _ => Word::progressing("Deletion in progress"),
        };
        self.word(&word);
    }

    fn has(&mut self, seen: &Seen<'_>) {
        let Some(stack) = seen.stack else { return };
        let status = stack.status.clone().unwrap_or_default();
        self.figures(&status, seen);
        self.lock(seen);
        let word = ready::word(self.object, stack, seen.run);
        self.phases(&word, &status, seen.run);
        self.word(&word);
    }

    /// Everything that is not a condition.
    fn figures(&mut self, stack: &StackStatus, seen: &Seen<'_>) {
        let revision = stack.source.as_ref().map(|source| source.revision.clone());
        self.status.available_outputs.clone_from(&stack.available_outputs);
        self.status.available_outputs.sort();
        self.status.reconciliation_failures = stack.failures.as_ref().map(|failures| i64::from(failures.count));
        self.status.last_successful_reconcile_at = stack.last_verified_at.or(self.status.last_successful_reconcile_at);
        self.status.inventory.clone_from(&seen.inventory);
        // Whoever asked compares it with what they have written, and nothing else.
        if let Some(asked) = flux_request(self.object)
            && is_for(stack.last_handled_reconcile_at.as_deref(), asked)
        {
            self.status.last_handled_reconcile_at = Some(asked.to_owned());
        }
        let Some(run) = seen.run else { return };
        let run_status = run.status.clone().unwrap_or_default();
        self.status.last_attempted_revision = revision.clone().or_else(|| revision_of(run));
        let is_destroy = run.spec.action == Action::Destroy;
        let mut plan = self.status.plan.clone().unwrap_or_default();
        plan.pending = None;
        if let Some(made) = &run_status.plan {
            self.status.last_planned_revision.clone_from(&self.status.last_attempted_revision);
            self.status.last_planned_generation = self.object.metadata.generation;
            self.status.last_plan_at = planned_at(run);
            let id = plan_id(&revision_of(run).or(revision).unwrap_or_default(), &made.id);
            plan.is_destroy_plan = is_destroy;
            plan.is_drift_detection_plan = ready::is_drift_check(run);
            let is_left = run.spec.action == Action::Plan && ready::does_something(&run_status);
            if run_status.phase == Phase::AwaitingApproval || is_left {
                plan.pending = Some(id.clone());
            }
            let is_applied = run_status.phase == Phase::Succeeded && run_status.approval.is_some();
            if is_applied && plan.last_applied.as_ref() != Some(&id) {
                plan.last_applied = Some(id);
                self.status.last_applied_revision =
                    revision_of(run).or_else(|| self.status.last_attempted_revision.clone());
                if plan.is_drift_detection_plan {
                    self.status.last_applied_by_drift_detection_at = stack.last_verified_at;
                }
            }
        }
        let is_drift = plan.is_drift_detection_plan && ready::does_something(&run_status);
        if is_drift || stack.drift.is_some() {
            let since = stack.drift.as_ref().map(|drift| drift.since).or(self.status.last_plan_at);
            self.status.last_drift_detected_at = since.or(self.status.last_drift_detected_at);
        }
        self.status.plan = (plan != PlanStatus::default()).then_some(plan);
    }

    fn lock(&mut self, seen: &Seen<'_>) {
        let mut lock = self.status.lock.clone().unwrap_or_default();
        match (&seen.unlocked, &seen.lock) {
            (Some(id), _) => {
                lock = LockStatus { last_applied: Some(id.clone()), pending: None };
                self.set("StateLocked", Truth::False, "ForceUnlock", &format!("Force unlock of {id}"));
            }
            (None, Some(id)) => {
                lock.pending = Some(id.clone());
                self.set(
                    "StateLocked",
                    Truth::True,
                    "LockHeld",
                    &format!("Terraform Locked with Lock Identifier: {id}"),
                );
            }
            (None, None) => {
                lock.pending = None;
                let is_held = |known: &Condition| known.kind == "StateLocked" && known.status == Truth::True;
                if self.status.conditions.iter().any(is_held) {
                    self.unset("StateLocked");
                }
            }
        }
        self.status.lock = (lock != LockStatus::default()).then_some(lock);
    }

    /// How far it came: Plan, Apply, Output, HealthCheck.
    fn phases(&mut self, word: &Word, stack: &StackStatus, run: Option<&Run>) {
        let Some(run) = run else { return };
        let status = run.status.clone().unwrap_or_default();
        let revision = self.status.last_attempted_revision.clone().unwrap_or_default();
        if matches!(status.failure, Some(FailureKind::WebhookDenied | FailureKind::WebhookFailed)) {
            self.set("Plan", Truth::False, "PostPlanningWebhookFailed", &status.message);
        } else if status.plan.is_some() {
            match (ready::does_something(&status), run.spec.action == Action::Destroy) {
                (true, _) => self.set("Plan", Truth::True, "TerraformPlannedWithChanges", "Plan generated"),
                (false, true) => {
                    self.set("Plan", Truth::False, "TerraformPlannedNoChanges", "No objects need to be destroyed");
                }
                (false, false) => self.set("Plan", Truth::False, "TerraformPlannedNoChanges", "Plan no changes"),
            }
        }
        let is_applied = status.approval.is_some() && run.spec.action != Action::Plan;
        match status.phase {
            Phase::Applying => self.set("Apply", Truth::Unknown, "Progressing", "Apply started"),
            Phase::Succeeded if is_applied => {
                let done = if run.spec.action == Action::Destroy { "Destroy applied" } else { "Applied" };
                self.set("Apply", Truth::True, "TerraformAppliedSucceed", &format!("{done} successfully: {revision}"));
            }
            Phase::Failed if word.reason == "TFExecApplyFailed" => {
                self.set("Apply", Truth::False, "TerraformAppliedFail", &status.message);
            }
            _ => {}
        }
        if status.phase == Phase::Succeeded && run.spec.action != Action::Plan {
            self.output(stack, &revision);
            if !self.object.spec.health_checks.is_empty() && run.spec.action != Action::Destroy {
                self.set("HealthCheck", Truth::True, "HealthChecksSucceed", "Health checks succeeded");
            }
        }
        if word.reason == "HealthChecksFailed" {
            self.set("HealthCheck", Truth::False, "HealthChecksFailed", &status.message);
        }
    }

    fn output(&mut self, stack: &StackStatus, revision: &str) {
        if self.object.spec.write_outputs_to_secret.is_some() {
            let message = ready::outputs_written(stack, revision);
            self.set("Output", Truth::True, "TerraformOutputsWritten", &message);
        } else if !stack.available_outputs.is_empty() {
            self.set("Output", Truth::True, "TerraformOutputsAvailable", "Outputs available");
        }
    }
}

/// The revision that a run is about, if it is written there.
fn revision_of(run: &Run) -> Option<String> {
    run.metadata.annotations.as_ref()?.get(names::REVISION).cloned()
}

/// When the plan of a run was made.
fn planned_at(run: &Run) -> Option<Moment> {
    let phases = &run.status.as_ref()?.phases;
    phases.iter().find(|time| time.phase == Phase::Planning).map(|time| time.began)
}

fn condition<'s>(status: &'s StackStatus, kind: &str) -> Option<&'s Condition> {
    status.conditions.iter().find(|known| known.kind == kind)
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= MOST_CHARACTERS {
        return text.to_owned();
    }
    let kept: String = text.chars().take(MOST_CHARACTERS).collect();
    format!("{kept}...")
}
