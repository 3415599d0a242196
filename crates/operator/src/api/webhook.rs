//! Who is asked about plans before they are carried out.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared::{KeyRef, Length};
use super::stack::ValueFrom;

/// An address that is asked about plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[x_kube(validation = ("self.url.startsWith('https://') || self.url.startsWith('http://')", "url must start with https:// or http://"))]
pub struct Webhook {
    /// What people know it by.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Where it is.
    #[schemars(length(min = 1, max = 1024))]
    pub url: String,
    /// When it is asked.
    #[serde(default)]
    pub stage: WebhookStage,
    /// Whether it is asked at all; it is if nothing is said.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// What it is sent.
    #[serde(default)]
    pub payload: WebhookPayload,
    /// How long one answer may take, up to a minute; 10 seconds if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Length>,
    /// How often it is asked again when it does not answer; twice if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 5))]
    pub retries: Option<u32>,
    /// What becomes of a plan when there is no answer. An answer that refuses it is one.
    #[serde(default)]
    pub failure_policy: FailurePolicy,
    /// The key in a Secret that requests are signed with: `X-Groma-Signature-256` is `sha256=` and the HMAC of the body, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<KeyRef>,
    /// Certificates (PEM) that are trusted besides the usual ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_from: Option<ValueFrom>,
    /// A Secret with `tls.crt` and `tls.key` that we show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub client_certificate: Option<String>,
    /// Where in the answer it stands whether the plan may pass: names of fields, with dots between them. `allowed` if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub pass: Option<String>,
    /// What is said when it may not. `${field}` is a field of the answer, with dots as for `pass`; `${message}` if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub message: Option<String>,
}

fn yes() -> bool {
    true
}

/// When a webhook is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WebhookStage {
    /// When there is a plan that does something, and before anybody is asked to agree to it.
    #[default]
    PostPlanning,
}

/// What a webhook is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum WebhookPayload {
    /// The Stack and the plan.
    #[default]
    SpecAndPlan,
    /// The Stack.
    SpecOnly,
    /// The plan.
    PlanOnly,
}

/// What becomes of a plan when there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum FailurePolicy {
    /// It is not carried out.
    #[default]
    Fail,
    /// It passes.
    Ignore,
}
