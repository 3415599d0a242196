//! Requests and responses of the provider interface.

use std::time::{Duration, SystemTime};

use groma_model::diag::Diagnostics;
use groma_model::path::Path;
use groma_model::text::Str;
use groma_model::value::Value;

/// Bytes that a provider keeps with an object; nobody else looks inside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Private(pub Vec<u8>);

/// What the caller can deal with. The same in every call to one provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientCapabilities {
    /// Answers may be put off until more is known.
    pub deferral_allowed: bool,
    /// Write-only attributes are carried and never stored.
    pub write_only_attributes_allowed: bool,
}

impl Default for ClientCapabilities {
    fn default() -> Self {
        Self { deferral_allowed: false, write_only_attributes_allowed: true }
    }
}

/// A provider's configuration.
#[derive(Debug, Clone)]
pub struct ConfigureRequest {
    /// The version of Terraform that we stand in for. Some providers behave by it.
    pub terraform_version: Str,
    /// As evaluated; parts may be unknown while planning.
    pub config: Value,
    /// What the caller can deal with.
    pub capabilities: ClientCapabilities,
}

/// Why an answer is put off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deferral {
    /// The provider did not say.
    Unknown,
    /// The resource's configuration is not known enough.
    ResourceConfigUnknown,
    /// The provider's configuration is not known enough.
    ProviderConfigUnknown,
    /// Something else must exist first.
    AbsentPrerequisite,
}

/// Attributes as a state file has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RawState {
    /// As JSON.
    Json(Vec<u8>),
    /// As the flat map of states before version 4.
    Flatmap(Vec<(String, String)>),
}

/// Stored attributes to be brought to the current schema.
#[derive(Debug, Clone)]
pub struct UpgradeRequest {
    /// The resource type.
    pub type_name: Str,
    /// The schema version that they were stored with.
    pub version: i64,
    /// As stored.
    pub state: RawState,
}

/// A stored identity to be brought to the current schema.
#[derive(Debug, Clone)]
pub struct UpgradeIdentityRequest {
    /// The resource type.
    pub type_name: Str,
    /// The identity schema version that it was stored with.
    pub version: i64,
    /// The identity as JSON.
    pub json: Vec<u8>,
}

/// Attributes or an identity, as the current schema has them.
#[derive(Debug, Clone)]
pub struct UpgradeResponse {
    /// The value; unusable if there are errors.
    pub value: Value,
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
    /// As last seen.
    pub identity: Option<Value>,
    /// From the module that the resource is in.
    pub provider_meta: Option<Value>,
}

/// The present condition of an object.
#[derive(Debug, Clone)]
pub struct ReadResponse {
    /// The object; null if it is gone.
    pub object: Value,
    /// To be kept with it.
    pub private: Private,
    /// What identifies it.
    pub identity: Option<Value>,
    /// What it lacks, if it is not ready as far as the provider can tell.
    pub not_ready: Option<NotReady>,
    /// Whether the answer is put off.
    pub deferred: Option<Deferral>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

/// Asks what a change would bring.
#[derive(Debug, Clone)]
pub struct PlanRequest {
    /// The resource type.
    pub type_name: Str,
    /// As it is; null if there is none.
    pub prior: Value,
    /// Configuration merged over what is; null to delete.
    pub proposed: Value,
    /// The configuration alone; null to delete.
    pub config: Value,
    /// Kept with the prior object.
    pub prior_private: Private,
    /// What identifies the prior object.
    pub prior_identity: Option<Value>,
    /// From the module that the resource is in.
    pub provider_meta: Option<Value>,
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
    /// What will identify the object; parts may be unknown.
    pub identity: Option<Value>,
    /// Whether the provider uses the old type system, whose inaccuracies are tolerated.
    pub legacy_type_system: bool,
    /// Whether the answer is put off.
    pub deferred: Option<Deferral>,
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
    /// From the plan.
    pub planned_identity: Option<Value>,
    /// From the module that the resource is in.
    pub provider_meta: Option<Value>,
}

/// What came of a change.
#[derive(Debug, Clone)]
pub struct ApplyResponse {
    /// How it ended.
    pub outcome: Outcome,
    /// The object as it is now; null if there is none.
    pub object: Value,
    /// To be kept with it.
    pub private: Private,
    /// What identifies it.
    pub identity: Option<Value>,
    /// Whether the provider uses the old type system, whose inaccuracies are tolerated.
    pub legacy_type_system: bool,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

/// How an apply ended. An error alone says nothing about the object; this does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// As planned.
    Done,
    /// Made as planned, but it does not work yet. Fails the run, blocks what depends on it, is never tainted.
    NotReady(NotReady),
    /// Failed; nothing was made or changed.
    NothingMade,
    /// The same; but what it needs may come any moment, perhaps by another change of the same run. It is tried again, in nobody's way.
    NotYet(Patience),
    /// Failed half way; the object in the response is what there is now.
    PartlyMade,
}

impl Outcome {
    /// What an answer means that carries only an object and diagnostics: all that plugins give.
    pub fn of(prior: &Value, object: &Value, diagnostics: &Diagnostics) -> Self {
        if !diagnostics.has_errors() {
            Self::Done
        } else if object == prior {
            Self::NothingMade
        } else {
            Self::PartlyMade
        }
    }
}

/// What an object still lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotReady {
    /// What was waited for.
    pub waiting_for: String,
    /// What was seen last, never a secret.
    pub last_seen: Option<String>,
    /// How long to go on looking, by reading the object. None if that is useless, or the provider has waited itself.
    pub patience: Option<Patience>,
}

/// How long and how often an object is read again that is not ready, or tried again that cannot be made yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// How long altogether.
    pub timeout: Duration,
    /// How long between two looks or tries.
    pub interval: Duration,
}

/// What to import.
#[derive(Debug, Clone)]
pub enum ImportTarget {
    /// By the provider's own id.
    Id(String),
    /// By identity.
    Identity(Value),
}

/// Finds an object that exists already.
#[derive(Debug, Clone)]
pub struct ImportRequest {
    /// The resource type.
    pub type_name: Str,
    /// Which object.
    pub target: ImportTarget,
}

/// Objects that were found.
#[derive(Debug, Clone)]
pub struct ImportResponse {
    /// The objects, the one asked for and what belongs to it.
    pub imported: Vec<ImportedObject>,
    /// Whether the answer is put off.
    pub deferred: Option<Deferral>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

/// An object that was found.
#[derive(Debug, Clone)]
pub struct ImportedObject {
    /// The resource type.
    pub type_name: Str,
    /// As far as the provider knows it; a read follows.
    pub object: Value,
    /// To be kept with it.
    pub private: Private,
    /// What identifies it.
    pub identity: Option<Value>,
}

/// Turns the object of another resource type into one of ours.
#[derive(Debug, Clone)]
pub struct MoveRequest {
    /// The address of the provider that made it.
    pub source_provider: String,
    /// Its resource type.
    pub source_type_name: Str,
    /// The schema version that it was stored with.
    pub source_schema_version: i64,
    /// As stored.
    pub source_state: RawState,
    /// Kept with it.
    pub source_private: Private,
    /// Its identity as JSON, with the version of its schema.
    pub source_identity: Option<(Vec<u8>, i64)>,
    /// What it is to become.
    pub target_type_name: Str,
}

/// An object that was taken over.
#[derive(Debug, Clone)]
pub struct MoveResponse {
    /// The object.
    pub object: Value,
    /// To be kept with it.
    pub private: Private,
    /// What identifies it.
    pub identity: Option<Value>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

/// Reads a data source.
#[derive(Debug, Clone)]
pub struct ReadDataRequest {
    /// The data source's type.
    pub type_name: Str,
    /// As evaluated.
    pub config: Value,
    /// From the module that it is in.
    pub provider_meta: Option<Value>,
    /// Where it is in the configuration, such as `module.a.data.b.c[0]`. Plugins are not told.
    pub address: Option<Str>,
}

/// What a data source holds.
#[derive(Debug, Clone)]
pub struct ReadDataResponse {
    /// The value.
    pub object: Value,
    /// Whether the answer is put off.
    pub deferred: Option<Deferral>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

/// Opens an ephemeral resource.
#[derive(Debug, Clone)]
pub struct OpenRequest {
    /// Its type.
    pub type_name: Str,
    /// As evaluated.
    pub config: Value,
}

/// An open ephemeral resource.
#[derive(Debug, Clone)]
pub struct EphemeralObject {
    /// The value.
    pub object: Value,
    /// For renewing and closing it.
    pub private: Private,
    /// When it must be renewed.
    pub renew_at: Option<SystemTime>,
    /// Whether the answer is put off.
    pub deferred: Option<Deferral>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

/// A renewed ephemeral resource.
#[derive(Debug, Clone)]
pub struct EphemeralRenewal {
    /// For renewing and closing it.
    pub private: Private,
    /// When it must be renewed again.
    pub renew_at: Option<SystemTime>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

/// Calls a function.
#[derive(Debug, Clone)]
pub struct CallFunctionRequest {
    /// Its name.
    pub name: Str,
    /// Converted to the types of its parameters.
    pub arguments: Vec<Value>,
}

/// What a function gave.
#[derive(Debug, Clone)]
pub struct CallFunctionResponse {
    /// The result, or why there is none.
    pub result: Result<Value, FunctionError>,
}

/// Why a function gave nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionError {
    /// What it said.
    pub text: String,
    /// Which argument is to blame, counted from 0.
    pub argument: Option<usize>,
}

/// Finds objects that exist.
#[derive(Debug, Clone)]
pub struct ListRequest {
    /// The resource type to find.
    pub type_name: Str,
    /// The query.
    pub config: Value,
    /// Whether whole objects are wanted, not identities alone.
    pub include_object: bool,
    /// At most so many.
    pub limit: u64,
}

/// Takes what a query finds.
pub trait ListSink: Send {
    /// Takes one. False if no more are wanted.
    fn found(&mut self, event: ListEvent) -> bool;
}

impl<F: FnMut(ListEvent) -> bool + Send> ListSink for F {
    fn found(&mut self, event: ListEvent) -> bool {
        self(event)
    }
}

/// One answer to a query.
#[derive(Debug, Clone)]
pub struct ListEvent {
    /// The object; none if this carries only diagnostics.
    pub object: Option<ListedObject>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

/// An object that a query found.
#[derive(Debug, Clone)]
pub struct ListedObject {
    /// What identifies it.
    pub identity: Value,
    /// How people call it.
    pub display_name: String,
    /// The whole object, if asked for.
    pub object: Option<Value>,
}
