//! Whom the operator tells what: plans of pull requests where they are discussed, and failures to those who want to know.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared::{KeyRef, Length, is_false};

/// How plans of pull requests are made and told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PullRequests {
    /// What kind of server it is.
    pub provider: Forge,
    /// Where its API is; where that of the repository usually is if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub api_url: Option<String>,
    /// The key in a Secret with the token that it is told with.
    pub token_ref: KeyRef,
    /// How often it is looked for pull requests; every minute if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Length>,
    /// Whether those from other repositories are planned, too: whoever writes them decides what is run.
    #[serde(default, skip_serializing_if = "is_false")]
    pub forks: bool,
}

/// How those who have a repository tell us that something is new.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SourceHook {
    /// The key in a Secret with what they sign with, or show: what was entered as the secret of the webhook there.
    pub secret_ref: KeyRef,
}

/// Servers that have repositories and pull requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Forge {
    /// GitHub, and what speaks like it.
    Github,
    /// Gitea and Forgejo.
    Gitea,
}

/// Somebody who is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Notification {
    /// Where it is sent to.
    #[schemars(length(min = 1, max = 1024))]
    pub url: String,
    /// What is told; failures and plans that wait if nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<NotificationEvent>,
    /// How it is written.
    #[serde(default)]
    pub format: NotificationFormat,
    /// The key in a Secret that requests are signed with, as those of webhooks are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<KeyRef>,
}

/// What somebody was told last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Notified {
    /// Who: what stands for the address and the format, as addresses may be secret.
    pub whom: String,
    /// How the Stack was then.
    pub standing: String,
}

/// What is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum NotificationEvent {
    /// A run has failed.
    Failed,
    /// A plan waits for somebody to agree to it.
    AwaitingApproval,
    /// All is well again, or for the first time.
    Recovered,
    /// Something was changed by others.
    Drift,
}

/// How it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum NotificationFormat {
    /// As the events of Flux, which its notification-controller takes, and others that know them.
    #[default]
    Flux,
    /// A text in a field `text`, as chats take it.
    Text,
}
