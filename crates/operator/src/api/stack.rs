//! A Stack: a configuration, what goes into it, and how it is kept up to date.

use std::collections::BTreeMap;

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::run::{FailureKind, Phase, PlanCounts};
use super::shared::{AnyValue, Condition, HolderKind, KeyRef, Length, Moment, ObjectRef, Values, is_false};
use super::source::Source;
use super::upkeep::{Adoption, OrphanPolicy, OrphanReport, SourceSeen, StateSeen};
use super::voices::{Notification, Notified};
use super::webhook::Webhook;

/// What is to be there, and how it is kept so.
#[derive(CustomResource, Debug, Clone, PartialEq, Default, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "groma.dev",
    version = "v1alpha1",
    kind = "Stack",
    namespaced,
    status = "StackStatus",
    derive = "PartialEq",
    derive = "Default",
    category = "groma",
    doc = "A configuration, what goes into it, and how the infrastructure that it describes is kept up to date.",
    printcolumn(name = "Ready", type_ = "string", json_path = ".status.conditions[?(@.type=='Ready')].status"),
    printcolumn(name = "Status", type_ = "string", json_path = ".status.conditions[?(@.type=='Ready')].message"),
    printcolumn(name = "Plan", type_ = "string", json_path = ".status.pending.plan", priority = 1),
    printcolumn(name = "Run", type_ = "string", json_path = ".status.lastRun.name", priority = 1),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[x_kube(validation = ("!(has(self.interval) && has(self.schedule))", "interval and schedule exclude each other"))]
#[x_kube(validation = ("!has(self.previewOf) || (has(self.planOnly) && self.planOnly)", "previewOf needs planOnly: what is seen there is never carried out"))]
pub struct StackSpec {
    /// Where the configuration comes from.
    pub source: Source,
    /// The directory of the root module in it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// What goes into it.
    #[serde(default)]
    pub inputs: Inputs,
    /// What plans and applies it.
    #[serde(default)]
    pub engine: Engine,
    /// Where that runs. The operator's own setting, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executor: Option<Executor>,
    /// What the pods of Jobs are like; for the executor `job`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_template: Option<PodTemplate>,
    /// The ServiceAccount of Jobs, in the namespace of the Stack; `terraform-executor` if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,
    /// Who agrees to plans.
    #[serde(default)]
    pub approval: Approval,
    /// Plans are made, and never carried out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub plan_only: bool,
    /// The name of a Stack in the same namespace, whose state is read instead of an own one, without a lock. For plans of what that Stack may
    /// become; they are never carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub preview_of: Option<String>,
    /// Everything that the configuration has made is taken down, while the Stack stays.
    #[serde(default, skip_serializing_if = "is_false")]
    pub destroy: bool,
    /// How long after a run it is looked again whether all is as it should be. Ten minutes if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Length>,
    /// When that is looked at instead: five fields as cron has them, in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// What happens after failures.
    #[serde(default)]
    pub retry: Retry,
    /// How long each phase may take.
    #[serde(default)]
    pub timeouts: Timeouts,
    /// What happens when something is found changed that nobody here has changed.
    #[serde(default)]
    pub drift: DriftPolicy,
    /// What becomes of the infrastructure when the Stack is deleted.
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,
    /// Stacks that must be ready first, and that stay until this one is gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<ObjectRef>,
    /// Where outputs go.
    #[serde(default)]
    pub outputs: Outputs,
    /// What must answer before the Stack is ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub health_checks: Vec<HealthCheck>,
    /// Who is asked about plans before they are carried out, one after the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    pub webhooks: Vec<Webhook>,
    /// How many Runs are kept.
    #[serde(default)]
    pub history: History,
    /// No new runs begin. Deletion goes on.
    #[serde(default, skip_serializing_if = "is_false")]
    pub suspend: bool,
    /// Only these resources, and what they need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// The workspace; `default` if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 90))]
    pub workspace: Option<String>,
    /// Where the state is kept, whatever the configuration says about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<Backend>,
    /// What the state is called that the operator keeps, where `backend` says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StateName>,
    /// What is written beside a Run of its plan, for those who do not read Runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_copy: Option<PlanCopy>,
    /// Plans that are never carried out (`planOnly`) are made without locking the state.
    #[serde(default, skip_serializing_if = "is_false")]
    pub plan_unlocked: bool,
    /// Whether the configuration may start programs: `local-exec`, `external` and the like.
    #[serde(default, skip_serializing_if = "is_false")]
    pub allow_exec: bool,
    /// What becomes of objects that are there already when they are to be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adoption: Option<Adoption>,
    /// What becomes of objects that are there, of the kinds that the state knows, and that the state does not know.
    #[serde(default, skip_serializing_if = "OrphanPolicy::is_ignore")]
    pub orphan_policy: OrphanPolicy,
    /// Whether the source is asked to look for something newer before a run that failed is tried again.
    #[serde(default, skip_serializing_if = "is_false")]
    pub refresh_source_on_retry: bool,
    /// Who is told about failures and plans that wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    pub notifications: Vec<Notification>,
    /// How many operations may be under way at once within a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub parallelism: Option<u32>,
}

/// What goes into a configuration. Of two values for one variable, the later of `values` and `varsFrom` holds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Inputs {
    /// Values of variables, of any type.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: Values,
    /// Values of variables in Secrets and ConfigMaps. Later ones win.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vars_from: Vec<VarsFrom>,
    /// Variables of the environment, for providers and engines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<EnvVar>,
    /// Variables of the environment, as Secrets and ConfigMaps have them. Those of `env` win.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_from: Vec<VarsFrom>,
    /// Files that are laid beside the configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<InputFile>,
    /// `.tfvars` files of the source, relative to its root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub var_files: Vec<String>,
    /// Whether what is in `varFiles` wins over `values` and `varsFrom`; it does not if nothing is said.
    #[serde(default, skip_serializing_if = "is_false")]
    pub var_files_win: bool,
    /// Values with keys of Secrets in their texts. Those of `values` and `varsFrom` win.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub templated: Vec<TemplatedValue>,
}

/// A value of a variable with keys of Secrets in its texts, which stay out of the Stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TemplatedValue {
    /// The variable.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Its value. In its texts, `${{ .name.key }}` is a key of the Secret that is called so below.
    pub value: AnyValue,
    /// The Secrets, by what they are called in the value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<String, String>,
}

/// Values of variables in a Secret or a ConfigMap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VarsFrom {
    /// What it is.
    pub kind: HolderKind,
    /// Its name, in the namespace of the Stack.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Which keys, and as which variables: `key` or `key:variable`. All of them if nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// Whether it may be missing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub optional: bool,
}

/// A variable of the environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[x_kube(validation = ("has(self.value) != has(self.valueFrom)", "give either value or valueFrom"))]
pub struct EnvVar {
    /// Its name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Its value, as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Where its value is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_from: Option<ValueFrom>,
    /// When it is there; always if nothing is said. So plans can be made with credentials that change nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<InputPhase>,
}

/// A part of a run that something goes into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum InputPhase {
    /// A plan is made, or it is looked whether all is well.
    Plan,
    /// A plan is carried out.
    Apply,
}

/// Where a value is. Exactly one of the fields is given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[x_kube(validation = ("has(self.secretKeyRef) != has(self.configMapKeyRef)", "give either secretKeyRef or configMapKeyRef"))]
pub struct ValueFrom {
    /// In a Secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_key_ref: Option<KeyRef>,
    /// In a ConfigMap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map_key_ref: Option<KeyRef>,
}

/// A file that is laid beside the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InputFile {
    /// Where, relative to the root module.
    #[schemars(length(min = 1, max = 1024))]
    pub path: String,
    /// What is in it.
    pub value_from: ValueFrom,
    /// When it is there; always if nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<InputPhase>,
}

/// What plans and applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Engine {
    /// groma itself.
    #[default]
    Native,
    /// The program `tofu`, which must be where runs are.
    Tofu,
    /// The program `terraform`, which must be where runs are.
    Terraform,
}

/// Where runs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Executor {
    /// In the operator.
    #[default]
    InProcess,
    /// In a Job each, in the namespace of the Stack.
    Job,
}

/// What the pods of Jobs are like.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PodTemplate {
    /// More labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// More annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// Another image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Fields of a PodSpec that are merged into the one of the Job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<AnyValue>,
}

/// Who agrees to plans.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Approval {
    /// What holds for changes that no rule is about.
    #[serde(default)]
    pub mode: ApprovalMode,
    /// Which changes are treated otherwise. The first rule that fits a change decides about it, and one change that must be agreed to is enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<ApprovalRule>,
}

/// Who agrees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ApprovalMode {
    /// Nobody has to.
    Auto,
    /// Somebody, by the id of the plan.
    #[default]
    Manual,
}

/// Changes that are treated otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApprovalRule {
    /// What is done; anything if nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<ChangeAction>,
    /// Types of resources, with `*` for any text; all if nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
    /// Addresses of resources, with `*` for any text; all if nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
    /// What holds for them.
    pub mode: ApprovalMode,
}

/// What a plan does with an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ChangeAction {
    /// It is made.
    Create,
    /// It is changed where it is.
    Update,
    /// Another one takes its place.
    Replace,
    /// It goes.
    Delete,
    /// It is taken in.
    Import,
    /// It stays, and is not looked after any more.
    Forget,
}

/// What happens after failures.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Retry {
    /// How long it is waited after the first failure; 15 seconds if nothing is said. Doubled after each further one where trying again gives the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Length>,
    /// How long at most; an hour if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_interval: Option<Length>,
    /// After how many failures in a row nothing is tried any more until something changes. No limit if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<u32>,
}

/// How long phases may take.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Timeouts {
    /// Fetching modules and providers; 10 minutes if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub init: Option<Length>,
    /// Making the plan; 30 minutes if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Length>,
    /// Carrying it out; 2 hours if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply: Option<Length>,
    /// Taking everything down; 2 hours if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destroy: Option<Length>,
}

/// What happens when something is found changed that nobody here has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DriftPolicy {
    /// It is said.
    Report,
    /// There is a plan that mends it, which somebody has to agree to.
    Approve,
    /// It is mended; plans are agreed to as others are.
    #[default]
    Correct,
}

/// What becomes of the infrastructure when a Stack is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DeletionPolicy {
    /// It is taken down, then the state goes.
    #[default]
    Destroy,
    /// It stays, and so does the state: a Stack of the same name goes on with it.
    Retain,
    /// It stays, and the state goes.
    Orphan,
}

/// Where outputs go.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Outputs {
    /// Into a Secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<OutputTarget>,
    /// Into a ConfigMap. Sensitive ones never do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map: Option<OutputTarget>,
    /// Whether those that are not sensitive are in the status.
    #[serde(default, skip_serializing_if = "is_false")]
    pub status: bool,
}

/// An object that outputs are written to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OutputTarget {
    /// Its name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Its labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// Which outputs, and as which keys: `output` or `output:key`. All of them if nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub select: Vec<String>,
}

/// What must answer before a Stack is ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[x_kube(validation = ("has(self.tcp) != has(self.http)", "give either tcp or http"))]
pub struct HealthCheck {
    /// What people know it by.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// `host:port` that takes connections. `${name}` is an output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<String>,
    /// An address that answers with a code below 400. `${name}` is an output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<String>,
    /// How long it may take; 20 seconds if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Length>,
}

/// How many Runs are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct History {
    /// Of those that succeeded; 5 if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub succeeded: Option<u32>,
    /// Of the others; 5 if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub failed: Option<u32>,
}

/// Where the state is kept.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Backend {
    /// The kind of the backend: `kubernetes`, `s3`, `pg`, `http`, ...
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
    /// What stands in its block.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub config: Values,
    /// More of it, from Secrets and ConfigMaps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub config_from: Vec<VarsFrom>,
}

/// What a state is called that the operator keeps.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StateName {
    /// Its Secret is `tfstate-<workspace>-<suffix>`, as the backend `kubernetes` has it; the name of the Stack if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 200))]
    pub suffix: Option<String>,
    /// More labels of the Secret.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// What is written beside a Run of its plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanCopy {
    /// The Secret with the plan, and what objects with readable plans are called.
    #[schemars(length(min = 1, max = 240))]
    pub name: String,
    /// What the labels say that it is the plan of.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// How people or programs can read it.
    #[serde(default)]
    pub readable: ReadablePlan,
}

/// How a plan can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReadablePlan {
    /// Not at all.
    #[default]
    None,
    /// As people read it, in a ConfigMap.
    Human,
    /// As `show -json` has it, in a Secret.
    Json,
}

/// How a Stack is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackStatus {
    /// The generation that this is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Ready, Reconciling, Stalled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// What was tried last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempted: Option<Attempt>,
    /// What was carried out last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<AppliedRun>,
    /// The plan that somebody has to agree to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<PendingPlan>,
    /// The last Run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_run: Option<LastRun>,
    /// What went wrong since all was well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<Failures>,
    /// What was found changed by others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
    /// The last value of the annotation `groma.dev/requested-at` that was heeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_request: Option<String>,
    /// The same of `reconcile.fluxcd.io/requestedAt`, where Flux and its tools look for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
    /// When all was last found as it should be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_verified_at: Option<Moment>,
    /// The names of all outputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub available_outputs: Vec<String>,
    /// Outputs that are not sensitive, if they are asked for here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: Values,
    /// How many resources there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<u32>,
    /// What the source has, as it was last seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceSeen>,
    /// The state, as a run of ours has left it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StateSeen>,
    /// Objects that are there, and that the state does not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orphans: Option<OrphanReport>,
    /// What those in `spec.notifications` were told last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notified: Vec<Notified>,
    /// Stacks that are kept until this one is gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<ObjectRef>,
}

/// What a run was about.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// What was in the spec, as far as it matters to runs.
    #[serde(default)]
    pub spec_hash: String,
    /// The configuration.
    #[serde(default)]
    pub source_hash: String,
    /// What went into it. Nobody can tell values from it.
    #[serde(default)]
    pub inputs_hash: String,
    /// What people know the source by: `main@sha1:…`. Of two with the same configuration, the newer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

impl Attempt {
    /// Whether a run of one would do what a run of the other does, whatever their revisions are.
    pub fn is_same(&self, other: &Self) -> bool {
        let hashes = |of: &Self| [of.spec_hash.clone(), of.source_hash.clone(), of.inputs_hash.clone()];
        hashes(self) == hashes(other)
    }
}

/// What was carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppliedRun {
    /// The Run.
    pub run: String,
    /// What it was about.
    pub about: Attempt,
    /// What people know its source by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The id of its plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// The Secret with all of that. It is kept, so that everything can be taken down with it.
    pub bundle: String,
    /// When.
    pub at: Moment,
}

/// A plan that somebody has to agree to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingPlan {
    /// Its id.
    pub plan: String,
    /// The Run that it belongs to.
    pub run: String,
    /// What it does.
    pub changes: PlanCounts,
}

/// The last Run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastRun {
    /// Its name.
    pub name: String,
    /// Which one it is, counted from 1.
    pub number: u64,
    /// How far it came.
    pub phase: Phase,
}

/// What went wrong since all was well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Failures {
    /// How many runs failed in a row.
    pub count: u32,
    /// Of what kind the last failure is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<FailureKind>,
    /// When it is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Moment>,
}

/// What was found changed by others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Drift {
    /// When it was first found.
    pub since: Moment,
    /// The addresses of what was changed; the first hundred.
    pub addresses: Vec<String>,
}
