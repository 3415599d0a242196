//! What is known about the source, the state and the surroundings of a Stack, and what is to happen with what is found there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared::Moment;

/// What becomes of objects that are there already when they are to be made.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Adoption {
    /// What becomes of them.
    #[serde(default)]
    pub mode: AdoptionMode,
    /// Which attributes must be the same for an object to be the one that is to be made; `name` if nothing is said.
    #[serde(default, rename = "match", skip_serializing_if = "Vec::is_empty")]
    pub match_by: Vec<String>,
    /// Types of resources, with `*` for any text; all that can be listed if nothing is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
}

/// What becomes of an object that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AdoptionMode {
    /// It is said, and another one is made.
    #[default]
    Warn,
    /// Nothing is planned, and its id is said.
    Fail,
    /// It is taken in, and nothing is made.
    IfExists,
}

/// What becomes of objects that are there, and that the state does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OrphanPolicy {
    /// Nobody looks for them.
    #[default]
    Ignore,
    /// They are listed in the status.
    Report,
    /// They are listed, and deleted when somebody has agreed to exactly that list.
    Delete,
}

impl OrphanPolicy {
    /// What `skip_serializing_if` asks.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
    pub(crate) fn is_ignore(&self) -> bool {
        *self == Self::Ignore
    }
}

/// Objects that are there, and that the state does not know.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrphanReport {
    /// What stands for exactly these objects; who agrees to their deletion names it.
    pub id: String,
    /// Them; the first hundred.
    pub objects: Vec<Orphan>,
    /// How many there are.
    pub count: u32,
    /// Since when exactly these are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Moment>,
}

/// An object that the state does not know.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Orphan {
    /// The type of resource that it would be.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it is imported by.
    pub id: String,
    /// What people know it by.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// What a source has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceSeen {
    /// What people know it by: `main@sha1:…`.
    pub revision: String,
    /// What is in it: `sha256:…`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
}

/// A state, as a run of ours has left it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateSeen {
    /// Which state it is, whatever becomes of it.
    pub lineage: String,
    /// How often it was written.
    pub serial: u64,
    /// How many resources are in it.
    pub resources: u32,
    /// Whether a run that was interrupted may have written it since. Then it may be newer, and nobody else need have been there.
    #[serde(default, skip_serializing_if = "super::shared::is_false")]
    pub unsure: bool,
}

/// Why nothing is carried out before somebody has agreed, whatever the Stack says about approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateDoubt {
    /// In one word.
    pub reason: DoubtReason,
    /// For people.
    pub message: String,
}

/// Why a state is not trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum DoubtReason {
    /// There is none, or nothing is in it, although there were resources.
    StateLost,
    /// It is another one.
    StateLineageMismatch,
    /// It is older than the one that was left.
    StateRegressed,
}

impl DoubtReason {
    /// As conditions and events have it.
    pub fn word(self) -> &'static str {
        match self {
            Self::StateLost => "StateLost",
            Self::StateLineageMismatch => "StateLineageMismatch",
            Self::StateRegressed => "StateRegressed",
        }
    }
}
