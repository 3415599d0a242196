//! A Run: one attempt at what a Stack asks for. It is made by the operator, and people change nothing of it but to cancel it.

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared::{Condition, Length, Moment, Values, is_false, is_zero};
use super::stack::{Approval, Attempt, Engine, Executor};
use super::upkeep::{OrphanReport, StateDoubt, StateSeen};

/// What is to be done. Never changes, but for `cancel`.
#[derive(CustomResource, Debug, Clone, PartialEq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "groma.dev",
    version = "v1alpha1",
    kind = "Run",
    namespaced,
    status = "RunStatus",
    derive = "PartialEq",
    category = "groma",
    doc = "One attempt at what a Stack asks for. Made by the operator; people change nothing of it but to cancel it.",
    printcolumn(name = "Stack", type_ = "string", json_path = ".spec.stack"),
    printcolumn(name = "Action", type_ = "string", json_path = ".spec.action"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Add", type_ = "integer", json_path = ".status.planned.add"),
    printcolumn(name = "Change", type_ = "integer", json_path = ".status.planned.change"),
    printcolumn(name = "Destroy", type_ = "integer", json_path = ".status.planned.destroy"),
    printcolumn(name = "Message", type_ = "string", json_path = ".status.message", priority = 1),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("oldSelf.stack == self.stack && oldSelf.number == self.number && oldSelf.action == self.action && oldSelf.bundle == self.bundle && oldSelf.about == self.about && oldSelf.engine == self.engine && oldSelf.executor == self.executor && oldSelf.approval.mode == self.approval.mode && oldSelf.limits == self.limits && has(oldSelf.state) == has(self.state) && (!has(self.state) || oldSelf.state == self.state) && has(oldSelf.orphans) == has(self.orphans) && (!has(self.orphans) || oldSelf.orphans == self.orphans)", "a Run is not changed, but to cancel it"))]
pub struct RunSpec {
    /// The name of the Stack.
    pub stack: String,
    /// Which of its runs this is, counted from 1.
    pub number: u64,
    /// What is to be done.
    pub action: Action,
    /// Why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// The Secret with the configuration and what goes into it.
    pub bundle: String,
    /// What that is.
    pub about: Attempt,
    /// What somebody asked for it with, if somebody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested: Option<String>,
    /// The same, as Flux and its tools ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by_flux: Option<String>,
    /// What plans and applies it.
    pub engine: Engine,
    /// Where that runs.
    pub executor: Executor,
    /// Who agrees to its plan.
    pub approval: Approval,
    /// How long phases may take.
    pub limits: Limits,
    /// The state that it is to begin from, as it was left. None if nothing is known about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StateSeen>,
    /// The objects that it deletes, which no state knows: exactly these, which somebody has agreed to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orphans: Option<String>,
    /// Nothing is begun any more, and what is under way is ended in an orderly way.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cancel: bool,
}

impl RunSpec {
    /// Whether it takes a Stack down that is being deleted.
    pub fn is_deletion(&self) -> bool {
        self.action == Action::Destroy && self.causes.iter().any(|cause| cause.reason == CauseKind::Deleted)
    }
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// A plan is made, and kept for people to read.
    Plan,
    /// A plan is made and carried out.
    Apply,
    /// Everything is taken down.
    Destroy,
}

/// Why there is a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    /// In one word.
    pub reason: CauseKind,
    /// Names of keys, of files, of objects; never values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<String>,
}

/// Why there is a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum CauseKind {
    /// The Stack is new.
    Created,
    /// Somebody has asked for it.
    Requested,
    /// The Stack asks for something else.
    SpecChanged,
    /// The configuration is another one.
    SourceChanged,
    /// What goes into it is something else.
    InputsChanged,
    /// Somebody has agreed to delete objects that the state does not know.
    OrphansApproved,
    /// Outputs are not where they were written to.
    OutputsGone,
    /// The last one failed.
    Retry,
    /// It is time to look.
    Due,
    /// The Stack is being deleted.
    Deleted,
}

/// How long phases may take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Fetching modules and providers.
    pub init: Length,
    /// Making the plan.
    pub plan: Length,
    /// Carrying it out.
    pub apply: Length,
}

/// How far a Run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum Phase {
    /// It waits for its turn.
    #[default]
    Queued,
    /// Modules and providers are fetched.
    Initialising,
    /// The plan is made.
    Planning,
    /// Somebody has to agree to the plan.
    AwaitingApproval,
    /// The plan is carried out.
    Applying,
    /// Outputs are written, and health is looked at.
    Verifying,
    /// All went well.
    Succeeded,
    /// Something did not.
    Failed,
    /// Something newer took its place before anything was done.
    Superseded,
    /// Somebody did not want it any more.
    Cancelled,
}

impl Phase {
    /// Whether nothing more will happen.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Superseded | Self::Cancelled)
    }

    /// Whether something newer may take its place: nothing has been touched yet.
    pub fn may_be_superseded(self) -> bool {
        matches!(self, Self::Queued | Self::Initialising | Self::Planning | Self::AwaitingApproval)
    }
}

/// How a Run is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunStatus {
    /// How far it is.
    #[serde(default)]
    pub phase: Phase,
    /// What happens, or why it ended, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Of what kind the failure is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureKind>,
    /// Who works on it. If they are gone, so is their work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// How often who worked on it was gone before anything was touched.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: u32,
    /// Who worked on it did not end when they were asked to, and were let go of. They may still be at it, as long as they keep its lock.
    #[serde(default, skip_serializing_if = "is_false")]
    pub let_go: bool,
    /// The plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanRef>,
    /// What the plan does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<PlanCounts>,
    /// What was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<PlanCounts>,
    /// What was found changed by others; addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drifted: Vec<String>,
    /// Who agreed to the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approved>,
    /// What was said about it: errors first, the first twenty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Told>,
    /// The names of all outputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
    /// Outputs that are not sensitive, if its Stack wants to show them.
    #[serde(default, skip_serializing_if = "Values::is_empty")]
    pub values: Values,
    /// How many resources there are after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<u32>,
    /// The state, as it has left it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StateSeen>,
    /// Why its plan is not carried out before somebody has agreed to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<StateDoubt>,
    /// Objects that are there, and that the state does not know, if its Stack wants to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orphans: Option<OrphanReport>,
    /// When its phases began, and how long they took.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseTime>,
    /// For those who wait for conditions: `Complete` and `Failed`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// Of what kind a failure is: whether it makes sense to try again with nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum FailureKind {
    /// The configuration, or what goes into it, is wrong: trying again gives the same.
    Invalid,
    /// Something did not answer, or not yet.
    Transient,
    /// A provider refused.
    Refused,
    /// An object is there and not ready.
    NotReady,
    /// A phase took too long.
    Timeout,
    /// Somebody else has the state.
    Locked,
    /// Who worked on it is gone.
    Interrupted,
    /// A webhook did not let the plan pass.
    WebhookDenied,
    /// A webhook gave no answer, and one is needed.
    WebhookFailed,
    /// Somebody else has written the state, so that the plan is not right any more.
    StateChanged,
    /// An object may have been made whose id nobody knows.
    PossibleOrphan,
}

/// A plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanRef {
    /// Made of everything that the plan depends on, and of what it does.
    pub id: String,
    /// The Secret that it is kept in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// For people, shortened where it is long.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The Secret that has all of the text, if it is longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_secret: Option<String>,
}

/// Numbers of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanCounts {
    /// Made.
    pub add: u32,
    /// Changed.
    pub change: u32,
    /// Taken down.
    pub destroy: u32,
    /// Taken in.
    #[serde(default)]
    pub import: u32,
    /// Not looked after any more.
    #[serde(default)]
    pub forget: u32,
}

/// Who agreed to a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Approved {
    /// To which one.
    pub plan: String,
    /// The name of the user, or the rule that makes nobody necessary.
    pub by: String,
    /// When that was seen.
    pub at: Moment,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    /// `error` or `warning`.
    pub severity: String,
    /// In one line.
    pub summary: String,
    /// In several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Which object it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Where it stands: `main.tf:3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// When a phase began, and how long it took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PhaseTime {
    /// Which one.
    pub phase: Phase,
    /// When it began.
    pub began: Moment,
    /// How long it took. Missing while it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took: Option<Length>,
}
