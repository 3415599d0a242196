//! The one provider interface, in our own types. Plugins and in-process providers are the same thing to the engine.

use std::collections::BTreeMap;

use async_trait::async_trait;
use groma_model::diag::Diagnostics;
use groma_model::path::Path;
use groma_model::schema::Schema;
use groma_model::text::Str;
use groma_model::value::Value;

/// Everything that a provider offers.
#[derive(Debug, Clone)]
pub struct ProviderSchema {
    /// Its own configuration.
    pub provider: Schema,
    /// Managed resources by type.
    pub resources: BTreeMap<Str, Schema>,
    /// Data sources by type.
    pub data_sources: BTreeMap<Str, Schema>,
}

/// Bytes that a provider keeps with an object; nobody else looks inside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Private(pub Vec<u8>);

/// Why a call gave no answer at all. Errors that a provider reports itself are diagnostics.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The provider process cannot be reached, or refused the call.
    #[error("{provider} did not answer {call}: {message}")]
    Transport {
        /// Which provider.
        provider: String,
        /// Which call.
        call: &'static str,
        /// What was seen.
        message: String,
    },
    /// The answer does not fit the provider's own schema.
    #[error("{provider} gave an answer to {call} that does not fit its schema: {message}")]
    Malformed {
        /// Which provider.
        provider: String,
        /// Which call.
        call: &'static str,
        /// What does not fit.
        message: String,
    },
}

/// Stored attributes as the state file has them.
#[derive(Debug, Clone)]
pub struct UpgradeRequest {
    /// The resource type.
    pub type_name: Str,
    /// The schema version that they were stored with.
    pub version: i64,
    /// The attributes as JSON.
    pub json: Vec<u8>,
}

/// An object and what the provider said about it.
#[derive(Debug, Clone)]
pub struct ObjectResponse {
    /// The object; null if it is gone.
    pub object: Value,
    /// To be kept with it.
    pub private: Private,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

/// Asks for the present condition of an object.
#[derive(Debug, Clone)]
pub struct ReadRequest {
    /// The resource type.
    pub type_name: Str,
    /// As last seen.
    pub current: Value,
    /// Kept with it.
    pub private: Private,
}

/// Asks what a change would bring.
#[derive(Debug, Clone)]
pub struct PlanRequest {
    /// The resource type.
    pub type_name: Str,
    /// As it is; null if there is none.
    pub prior: Value,
    /// Configuration merged over what is.
    pub proposed: Value,
    /// The configuration alone.
    pub config: Value,
    /// Kept with the prior object.
    pub prior_private: Private,
}

/// What a change would bring.
#[derive(Debug, Clone)]
pub struct PlanResponse {
    /// The object as it will be, unknown where only the apply can tell.
    pub planned: Value,
    /// Attributes whose change needs a new object.
    pub requires_replace: Vec<Path>,
    /// For the apply.
    pub private: Private,
    /// Whether the provider uses the old type system, whose inaccuracies are tolerated.
    pub legacy_type_system: bool,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

/// Carries a planned change out.
#[derive(Debug, Clone)]
pub struct ApplyRequest {
    /// The resource type.
    pub type_name: Str,
    /// As it is; null to create.
    pub prior: Value,
    /// As planned; null to delete.
    pub planned: Value,
    /// The configuration; null to delete.
    pub config: Value,
    /// From the plan.
    pub planned_private: Private,
}

/// A provider, ready to be asked.
#[async_trait]
pub trait Provider: Send + Sync {
    /// What it offers.
    fn schema(&self) -> &ProviderSchema;

    /// Gives it its configuration. Once, before anything but validation.
    async fn configure(&self, config: Value) -> Result<Diagnostics, CallError>;

    /// Checks the configuration of a resource, parts of which may be unknown.
    async fn validate_resource(&self, type_name: &str, config: Value) -> Result<Diagnostics, CallError>;

    /// Brings stored attributes to the current schema.
    async fn upgrade(&self, request: UpgradeRequest) -> Result<(Value, Diagnostics), CallError>;

    /// Reads an object.
    async fn read(&self, request: ReadRequest) -> Result<ObjectResponse, CallError>;

    /// Plans a change.
    async fn plan(&self, request: PlanRequest) -> Result<PlanResponse, CallError>;

    /// Carries a change out.
    async fn apply(&self, request: ApplyRequest) -> Result<ObjectResponse, CallError>;

    /// Ends it.
    async fn shutdown(&self) -> Result<(), CallError>;
}
