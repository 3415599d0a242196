//! `Terraform` of `infra.contrib.fluxcd.io`, the kind of tofu-controller, as far as its users write and read it. Lengths of time and words of a
//! few are texts here: what is wrong with one is told with its field, and not by refusing to read the object.

use std::collections::BTreeMap;

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared::{AnyValue, Condition, is_false};

/// The group of the kind.
pub const GROUP: &str = "infra.contrib.fluxcd.io";
/// The version that is stored.
pub const VERSION: &str = "v1alpha2";
/// An earlier one, which has the same shape.
pub const OLD_VERSION: &str = "v1alpha1";
/// Keeps an object until what it has made is gone, or is to stay.
pub const FINALIZER: &str = "finalizers.tf.contrib.fluxcd.io";
/// What the finalizers begin with that tofu-controller puts on objects that others depend on.
pub const DEPENDENCY_FINALIZER: &str = "tf.dependency.of.";

/// What is wanted.
#[derive(CustomResource, Debug, Clone, PartialEq, Default, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "infra.contrib.fluxcd.io",
    version = "v1alpha2",
    kind = "Terraform",
    plural = "terraforms",
    shortname = "tf",
    namespaced,
    status = "TerraformStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "A configuration of Terraform or OpenTofu from a source of Flux, and how it is kept up to date.",
    printcolumn(name = "Ready", type_ = "string", json_path = ".status.conditions[?(@.type==\"Ready\")].status"),
    printcolumn(name = "Status", type_ = "string", json_path = ".status.conditions[?(@.type==\"Ready\")].message"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct TerraformSpec {
    /// `auto`, `disable`, the id of a plan, or `replan` and more; nothing if somebody has to agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approve_plan: Option<String>,
    /// Everything that was made is taken down, while the object stays.
    #[serde(default, skip_serializing_if = "is_false")]
    pub destroy: bool,
    /// Where the state is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend_config: Option<BackendConfig>,
    /// More settings of the backend.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backend_configs_from: Vec<BackendConfigsFrom>,
    /// A `cloud` block. groma does not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cloud: Option<AnyValue>,
    /// The workspace; `default` if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Values of variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vars: Vec<Variable>,
    /// Values of variables in Secrets and ConfigMaps. Later ones win, and win over `vars`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vars_from: Vec<VarsReference>,
    /// The value of the variable `values`; `${{ .name.key }}` is a key of a Secret of `readInputsFromSecrets`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<AnyValue>,
    /// `.tfvars` files, relative to the root of the source. They win over everything else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tf_vars_files: Vec<String>,
    /// Keys of Secrets that become files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_mappings: Vec<FileMapping>,
    /// How often it is looked whether all is as it should be.
    #[schemars(regex(pattern = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"))]
    pub interval: String,
    /// How long it is waited after a failure; 15 seconds if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"))]
    pub retry_interval: Option<String>,
    /// `StaticInterval` or `ExponentialBackoff`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["StaticInterval", "ExponentialBackoff"]))]
    pub retry_strategy: Option<String>,
    /// How long it is waited at most; 24 hours if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"))]
    pub max_retry_interval: Option<String>,
    /// The directory of the root module.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Where the configuration comes from.
    pub source_ref: SourceReference,
    /// No new runs begin.
    #[serde(default, skip_serializing_if = "is_false")]
    pub suspend: bool,
    /// Plans are carried out whatever `approvePlan` says.
    #[serde(default, skip_serializing_if = "is_false")]
    pub force: bool,
    /// Secrets that `values` may refer to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_inputs_from_secrets: Vec<InputsFromSecret>,
    /// Where outputs go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_outputs_to_secret: Option<OutputsSecret>,
    /// Plans are made at every interval, as for anything new.
    #[serde(default, skip_serializing_if = "is_false")]
    pub disable_drift_detection: bool,
    /// Settings of the command line. groma takes them from where the operator is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cli_config_secret_ref: Option<AnyValue>,
    /// What must answer before all is well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub health_checks: Vec<HealthCheck>,
    /// Whether everything is taken down when the object is deleted.
    #[serde(default, skip_serializing_if = "is_false")]
    pub destroy_resources_on_deletion: bool,
    /// The account of pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,
    /// Whether pods go after each run. They always do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always_cleanup_runner_pod: Option<bool>,
    /// How long pods may take to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_termination_grace_period_seconds: Option<i64>,
    /// Whether newer versions of providers and modules are looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upgrade_on_init: Option<bool>,
    /// Whether it is looked again what is there while a plan is carried out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub refresh_before_apply: bool,
    /// What pods are like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_pod_template: Option<RunnerPodTemplate>,
    /// Whether the status lists what there is.
    #[serde(default, skip_serializing_if = "is_false")]
    pub enable_inventory: bool,
    /// What becomes of locks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tfstate: Option<StateSpec>,
    /// Only these resources, and what they need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// How many operations may be under way at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallelism: Option<i32>,
    /// `none`, `json` or `human`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["none", "json", "human"]))]
    pub store_readable_plan: Option<String>,
    /// How plans are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanSpec>,
    /// Who is asked about plans.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub webhooks: Vec<Webhook>,
    /// Objects that must be ready first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<Dependency>,
    /// Nothing that anybody reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enterprise: Option<AnyValue>,
    /// Plans are never carried out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub plan_only: bool,
    /// A shell in the pod of a run. groma does not have it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub break_the_glass: bool,
    /// Plans of pull requests. groma makes them for its own sources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_planner: Option<AnyValue>,
    /// After how many failures nothing is tried any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remediation: Option<Remediation>,
}

/// Where the state is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackendConfig {
    /// It is where the configuration says.
    #[serde(default, skip_serializing_if = "is_false")]
    pub disable: bool,
    /// Secrets are called `tfstate-<workspace>-<suffix>`; the name of the object if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_suffix: Option<String>,
    /// Whether the account of the pod is used.
    #[serde(default, skip_serializing_if = "is_false")]
    pub in_cluster_config: bool,
    /// What stands in the `terraform` block: `backend "s3" { ... }`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_configuration: Option<String>,
    /// A kubeconfig.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_path: Option<String>,
    /// Labels of the Secret.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// More settings of the backend.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackendConfigsFrom {
    /// `Secret` or `ConfigMap`.
    #[schemars(extend("enum" = ["Secret", "ConfigMap"]))]
    pub kind: String,
    /// Its name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Which keys; all if nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// Whether it may be missing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub optional: bool,
}

/// The value of a variable.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value, of any type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<AnyValue>,
    /// Where its value is: `secretKeyRef` or `configMapKeyRef`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_from: Option<AnyValue>,
}

/// Values of variables in a Secret or ConfigMap.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VarsReference {
    /// `Secret` or `ConfigMap`.
    #[schemars(extend("enum" = ["Secret", "ConfigMap"]))]
    pub kind: String,
    /// Its name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// `key` or `key:variable`; all keys if nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vars_keys: Vec<String>,
    /// Whether it may be missing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub optional: bool,
}

/// A key of a Secret that becomes a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileMapping {
    /// The key.
    pub secret_ref: SecretKey,
    /// `home` or `workspace`.
    #[schemars(extend("enum" = ["home", "workspace"]))]
    pub location: String,
    /// Its path there.
    pub path: String,
}

/// A key of a Secret.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretKey {
    /// The name of the Secret.
    pub name: String,
    /// The key in it.
    pub key: String,
}

/// Where the configuration comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceReference {
    /// The version of the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// `GitRepository`, `Bucket` or `OCIRepository`.
    #[schemars(extend("enum" = ["GitRepository", "Bucket", "OCIRepository"]))]
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its namespace, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// A Secret that `values` may refer to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InputsFromSecret {
    /// Its name.
    pub name: String,
    /// What it is called in `values`.
    #[serde(rename = "as")]
    pub alias: String,
}

/// Where outputs go.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputsSecret {
    /// The name of the Secret.
    pub name: String,
    /// Its labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// `output` or `output:key`; all outputs if nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
}

/// What must answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthCheck {
    /// What people know it by.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// `tcp` or `http`.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["tcp", "http"]))]
    pub kind: String,
    /// For `http`: what is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// For `tcp`: `host:port`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// How long it may take; 20 seconds if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
}

/// What pods are like.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunnerPodTemplate {
    /// Labels and annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<PodMetadata>,
    /// Fields of pods and of the container in them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<AnyValue>,
}

/// Labels and annotations of pods.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodMetadata {
    /// Labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// What becomes of locks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateSpec {
    /// `yes`, `no` or `auto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["yes", "no", "auto"]))]
    pub force_unlock: Option<String>,
    /// Which lock is taken away with `yes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock_identifier: Option<String>,
    /// How long plans wait for a lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock_timeout: Option<String>,
}

/// How plans are made.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanSpec {
    /// Whether the state is locked meanwhile; it is if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<bool>,
}

/// Who is asked about plans.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    /// `post-planning`.
    #[schemars(extend("enum" = ["post-planning"]))]
    pub stage: String,
    /// Whether it is asked at all; it is if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Where it is.
    pub url: String,
    /// `SpecAndPlan`, `SpecOnly` or `PlanOnly`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_type: Option<String>,
    /// What is said when a plan may not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message_template: Option<String>,
    /// Where in the answer it stands whether it may: `${{ .passed }}`.
    pub test_expression: String,
}

/// An object that must be ready first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dependency {
    /// Its name.
    pub name: String,
    /// Its namespace, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// After how many failures nothing is tried any more.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Remediation {
    /// No limit if it is negative, nothing, or zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<i64>,
}

/// How it is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TerraformStatus {
    /// The last value of the annotation that asks for runs that was heeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
    /// The generation that this is about; -1 if it is about none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Ready, Reconciling, Stalled, Plan, Apply, Output, HealthCheck, StateLocked; and Unsupported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The revision that was carried out last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_applied_revision: Option<String>,
    /// The revision that was tried last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_attempted_revision: Option<String>,
    /// The revision that was planned last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_planned_revision: Option<String>,
    /// The generation that was planned last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_planned_generation: Option<i64>,
    /// When there was a plan last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_plan_at: Option<super::shared::Moment>,
    /// When all was well last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_successful_reconcile_at: Option<super::shared::Moment>,
    /// When something was found changed by others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_drift_detected_at: Option<super::shared::Moment>,
    /// When that was mended.
    #[serde(default, rename = "lastAppliedByDriftDetectionAt", skip_serializing_if = "Option::is_none")]
    pub last_applied_by_drift_detection_at: Option<super::shared::Moment>,
    /// The names of all outputs, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub available_outputs: Vec<String>,
    /// Ids of plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanStatus>,
    /// What there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inventory: Option<Inventory>,
    /// Ids of locks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<LockStatus>,
    /// How many runs failed in a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconciliation_failures: Option<i64>,
}

/// Ids of plans.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanStatus {
    /// The one that was carried out last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_applied: Option<String>,
    /// The one that somebody has to agree to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<String>,
    /// Whether it takes everything down.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_destroy_plan: bool,
    /// Whether it was made to see what others have changed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_drift_detection_plan: bool,
}

/// What there is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Inventory {
    /// One entry for each object.
    pub entries: Vec<InventoryEntry>,
}

/// An object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
pub struct InventoryEntry {
    /// The name of the resource.
    pub n: String,
    /// Its type.
    pub t: String,
    /// What it is identified by.
    pub id: String,
}

/// Ids of locks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LockStatus {
    /// The one that was taken away last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_applied: Option<String>,
    /// The one that is in the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<String>,
}
