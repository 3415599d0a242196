//! A Blueprint: objects of some kind become Stacks, and what those say goes back into their status.

use std::collections::BTreeMap;

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared::{Condition, Length, Values, is_false};
use super::source::Source;
use super::stack::{
    ApprovalMode, ApprovalRule, DeletionPolicy, DriftPolicy, Engine, Executor, PodTemplate, Retry, Timeouts,
};

/// How objects of a kind become Stacks.
#[derive(CustomResource, Debug, Clone, PartialEq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "groma.dev",
    version = "v1alpha1",
    kind = "Blueprint",
    status = "BlueprintStatus",
    derive = "PartialEq",
    category = "groma",
    doc = "How objects of some kind become infrastructure: their fields go into a configuration, its outputs into their status.",
    printcolumn(name = "Kind", type_ = "string", json_path = ".spec.for.kind"),
    printcolumn(name = "Ready", type_ = "string", json_path = ".status.conditions[?(@.type=='Ready')].status"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[x_kube(validation = ("has(self.source) != has(self.template)", "give either source or template"))]
pub struct BlueprintSpec {
    /// Which objects.
    #[serde(rename = "for")]
    pub subject: Subject,
    /// A configuration, whose variables get values from `variables`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// A text that becomes the configuration: `main.tf.tpl`, with `{{ .Name }}` for fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
    /// Variables of the configuration, and the fields that they get their values from: `length: .spec.length`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// Values that are the same for all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: Values,
    /// What goes back into the status of the object.
    #[serde(default)]
    pub status: StatusFields,
    /// The Secret with all outputs: `{name}` is the name of the object. None if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_name: Option<String>,
    /// The finalizer on the objects. It never changes, or nobody would take the earlier one away.
    #[serde(default = "default_finalizer")]
    #[x_kube(validation = ("self == oldSelf", "the finalizer of a Blueprint never changes: make another one"))]
    pub finalizer: String,
    /// What plans and applies.
    #[serde(default)]
    pub engine: Engine,
    /// Where runs are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executor: Option<Executor>,
    /// What the pods of Jobs are like; for the executor `job`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_template: Option<PodTemplate>,
    /// The ServiceAccount of Jobs, in the namespaces of the objects; `terraform-executor` if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,
    /// Who agrees to plans.
    #[serde(default = "nobody_has_to")]
    pub approval: ApprovalMode,
    /// Which changes are treated otherwise. The first rule that fits a change decides about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approval_rules: Vec<ApprovalRule>,
    /// How often it is looked whether all is as it should be. Ten minutes if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Length>,
    /// What happens when something is found changed that nobody here has changed.
    #[serde(default)]
    pub drift: DriftPolicy,
    /// What happens after failures.
    #[serde(default)]
    pub retry: Retry,
    /// Whether the configuration may start programs: `local-exec`, `external` and the like.
    #[serde(default, skip_serializing_if = "is_false")]
    pub allow_exec: bool,
    /// How long phases may take.
    #[serde(default)]
    pub timeouts: Timeouts,
    /// What becomes of the infrastructure of an object that is deleted.
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,
    /// A label with the name of the object, on everything that belongs to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

fn default_finalizer() -> String {
    "groma.dev/blueprint".to_owned()
}

fn nobody_has_to() -> ApprovalMode {
    ApprovalMode::Auto
}

/// Which objects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[x_kube(validation = ("self == oldSelf", "a Blueprint is for one kind for ever: make another one"))]
pub struct Subject {
    /// Group and version.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// Its name in addresses; the kind in small letters and an `s` if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plural: Option<String>,
}

/// A text that becomes a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Template {
    /// The text.
    pub text: String,
    /// What its fields are: `Length: .spec.length`. `Name` and `Namespace` are there in any case.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
}

/// What goes back into the status of an object.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StatusFields {
    /// Fields of the status, and the outputs that they get: `randomValue: random_value`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
    /// A field that gets all outputs that may be shown, as texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<String>,
}

/// How a Blueprint is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlueprintStatus {
    /// The generation that this is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Ready, or why not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// How many objects there are of its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<u32>,
}
