//! Whether an object is ready, and why: the words of tofu-controller for what a Stack and its last Run say.

use super::condition;
use crate::api::run::{Action, CauseKind, FailureKind, Phase, PlanCounts, Run, RunStatus};
use crate::api::shared::{Condition, Truth};
use crate::api::stack::{Stack, StackStatus};
use crate::api::terraform::Terraform;
use crate::terraform::plan_id;
use crate::terraform::wanted::renamed;

/// What is said about whether an object is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) ready: Truth,
    pub(super) reason: &'static str,
    pub(super) message: String,
    /// Whether something happens right now, or will by itself.
    pub(super) is_under_way: bool,
    /// Why nothing happens until somebody changes something, if that is so.
    pub(super) stalled: Option<&'static str>,
}

impl Word {
    fn new(ready: Truth, reason: &'static str, message: impl Into<String>) -> Self {
        Self { ready, reason, message: message.into(), is_under_way: false, stalled: None }
    }

    pub(super) fn progressing(message: impl Into<String>) -> Self {
        Self { is_under_way: true, ..Self::new(Truth::Unknown, "Progressing", message) }
    }

    pub(super) fn not_ready(reason: &'static str, message: impl Into<String>) -> Self {
        Self::new(Truth::False, reason, message)
    }

    pub(super) fn stalled(reason: &'static str, message: impl Into<String>) -> Self {
        Self { stalled: Some(reason), ..Self::not_ready(reason, message) }
    }
}

/// Whether an object is ready.
pub(super) fn word(object: &Terraform, stack: &Stack, run: Option<&Run>) -> Word {
    let status = stack.status.clone().unwrap_or_default();
    let is_current = status.observed_generation == stack.metadata.generation;
    let Some(ready) = condition(&status, "Ready").filter(|_| is_current) else {
        return Word::progressing("Reconciliation in progress");
    };
    match ready.reason.as_str() {
        "InvalidSpec" => invalid(object, ready),
        "SourceNotFound" => Word::stalled("ArtifactFailed", renamed(object, &ready.message)),
        "SourceFailed" => Word::not_ready("ArtifactFailed", renamed(object, &ready.message)),
        "AccessDenied" => Word::stalled("AccessDenied", renamed(object, &ready.message)),
        "SourceFetching" if run.is_none() => Word::progressing("Reconciliation in progress"),
        "DependencyNotReady" => {
            Word { is_under_way: true, ..Word::not_ready("DependencyNotReady", unnamed(&ready.message)) }
        }
        "Progressing" => Word::progressing(progress(run)),
        "Pending" if run.is_none() => Word::progressing("Reconciliation in progress"),
        _ => match run {
            Some(run) => after(object, &status, ready, run),
            None => Word::progressing("Reconciliation in progress"),
        },
    }
}

/// Stacks of objects are called after them.
fn unnamed(message: &str) -> String {
    message.replace("terraform--", "")
}

/// What cannot even be tried. tofu-controller says where in its pipeline that would show.
fn invalid(object: &Terraform, ready: &Condition) -> Word {
    let message = renamed(object, &ready.message);
    if message.contains("spec.sourceRef") {
        return Word::stalled("ArtifactFailed", message);
    }
    let is_vars =
        ["spec.varsFrom", "spec.vars[", "spec.values", "spec.tfVarsFiles"].iter().any(|field| message.contains(field));
    Word::stalled(if is_vars { "VarsGenerationFailed" } else { "TFExecInitFailed" }, message)
}

fn progress(run: Option<&Run>) -> &'static str {
    match run.and_then(|run| run.status.as_ref()).map(|status| status.phase) {
        Some(Phase::Initialising) => "Initializing",
        Some(Phase::Planning) => "Terraform Planning",
        Some(Phase::Applying | Phase::Verifying) => "Applying",
        _ => "Reconciliation in progress",
    }
}

/// How the last run ended, or what it waits for.
fn after(object: &Terraform, stack: &StackStatus, ready: &Condition, run: &Run) -> Word {
    let status = run.status.clone().unwrap_or_default();
    let revision = stack.source.as_ref().map(|source| source.revision.clone());
    let revision = super::revision_of(run).or(revision).unwrap_or_default();
    match status.phase {
        Phase::AwaitingApproval => {
            let id = status.plan.as_ref().map(|plan| plan_id(&revision, &plan.id)).unwrap_or_default();
            let message = format!("Plan generated: set approvePlan: \"{id}\" to approve this plan.");
            Word::new(Truth::Unknown, "TerraformPlannedWithChanges", message)
        }
        Phase::Succeeded => succeeded(object, stack, run, &status, &revision),
        Phase::Failed => failed(object, stack, ready, run, &status),
        Phase::Superseded | Phase::Cancelled => Word::progressing("Reconciliation in progress"),
        _ => Word::progressing(progress(Some(run))),
    }
}

fn succeeded(object: &Terraform, stack: &StackStatus, run: &Run, status: &RunStatus, revision: &str) -> Word {
    let is_disabled = object.spec.approve_plan.as_deref() == Some("disable");
    if run.spec.action == Action::Plan && does_something(status) {
        if is_disabled {
            return Word::not_ready("DriftDetected", drift(status));
        }
        return Word::new(
            Truth::Unknown,
            "TerraformPlannedWithChanges",
            "Plan generated: This object is in the plan only mode.",
        );
    }
    if status.approval.is_some() && run.spec.action != Action::Plan {
        if run.spec.action == Action::Destroy {
            return Word::new(
                Truth::True,
                "TerraformAppliedSucceed",
                format!("Destroy applied successfully: {revision}"),
            );
        }
        if object.spec.write_outputs_to_secret.is_some() {
            return Word::new(Truth::True, "TerraformOutputsWritten", outputs_written(stack, revision));
        }
        return Word::new(Truth::True, "TerraformAppliedSucceed", format!("Applied successfully: {revision}"));
    }
    let looks_for_drift =
        is_disabled || (is_drift_check(run) && !object.spec.disable_drift_detection && !object.spec.destroy);
    if looks_for_drift {
        return Word::new(Truth::True, "NoDrift", format!("No drift: {revision}"));
    }
    Word::new(Truth::True, "TerraformPlannedNoChanges", format!("Plan no changes: {revision}"))
}

/// What others have changed, without values: anybody may read this.
fn drift(status: &RunStatus) -> String {
    let PlanCounts { add, change, destroy, .. } = status.planned.unwrap_or_default();
    let mut message = format!("Drift detected: {add} to add, {change} to change, {destroy} to destroy");
    if !status.drifted.is_empty() {
        message.extend(["; changed by others: ", &status.drifted.join(", ")]);
    }
    message
}

fn failed(object: &Terraform, stack: &StackStatus, ready: &Condition, run: &Run, status: &RunStatus) -> Word {
    let reached = status.phases.iter().rev().map(|time| time.phase).find(|phase| !phase.is_over());
    let reason = match (status.failure, reached) {
        (Some(FailureKind::Locked), _) => "LockHeld",
        (Some(FailureKind::WebhookDenied | FailureKind::WebhookFailed), _) => "PostPlanningWebhookFailed",
        (Some(FailureKind::NotReady), Some(Phase::Verifying)) => "HealthChecksFailed",
        (_, Some(Phase::Verifying)) => "OutputsWritingFailed",
        (_, Some(Phase::Applying)) => "TFExecApplyFailed",
        (_, Some(Phase::Planning)) if is_drift_check(run) => "DriftDetectionFailed",
        (_, Some(Phase::Planning)) => "TFExecPlanFailed",
        _ => "TFExecInitFailed",
    };
    let is_over = condition(stack, "Stalled").is_some();
    let message = renamed(object, &ready.message);
    Word { stalled: is_over.then_some("RetryLimitReached"), ..Word::not_ready(reason, message) }
}

/// What is said about outputs that were written.
pub(super) fn outputs_written(stack: &StackStatus, revision: &str) -> String {
    let none = if stack.available_outputs.is_empty() { "No " } else { "" };
    format!("{none}Outputs written: {revision}")
}

/// Whether a plan does something.
pub(super) fn does_something(status: &RunStatus) -> bool {
    let is_left = status.message.starts_with("No changes");
    let counts = status.planned.is_some_and(|counts| counts != PlanCounts::default());
    // Outputs alone are counted nowhere, but they are carried out.
    !is_left && (counts || status.approval.is_some())
}

/// Whether a run is there for nothing that was changed here: it looks for what others have changed.
pub(super) fn is_drift_check(run: &Run) -> bool {
    let nothing_new =
        |reason| matches!(reason, CauseKind::Due | CauseKind::Requested | CauseKind::Retry | CauseKind::OutputsGone);
    run.spec.causes.iter().all(|cause| nothing_new(cause.reason))
}
