//! The one provider interface, in our own types. Plugins and in-process providers are the same thing to the engine.

mod error;
mod messages;
mod pending;
mod schema;
mod secrets;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use groma_model::diag::Diagnostics;
use groma_model::schema::FunctionSignature;
use groma_model::text::Str;
use groma_model::value::Value;

pub use error::CallError;
pub use messages::{
    ApplyRequest, ApplyResponse, CallFunctionRequest, CallFunctionResponse, ClientCapabilities, ConfigureRequest,
    Deferral, EphemeralObject, EphemeralRenewal, FunctionError, ImportRequest, ImportResponse, ImportTarget,
    ImportedObject, ListEvent, ListRequest, ListSink, ListedObject, MoveRequest, MoveResponse, NotReady, OpenRequest,
    Outcome, Patience, PlanRequest, PlanResponse, Private, RawState, ReadDataRequest, ReadDataResponse, ReadRequest,
    ReadResponse, UpgradeIdentityRequest, UpgradeRequest, UpgradeResponse,
};
pub use pending::{Pending, SaidBy};
pub use schema::{LazySchema, Metadata, ProviderSchema, SchemaError, ServerCapabilities};
pub use secrets::KnownSecrets;

/// What a call gives, if the provider answers at all.
pub type Answer<T> = Result<T, CallError>;

/// What the changes of a provider do outside of a state: how much must be known of one whose answer was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effects {
    /// Nothing, so that a change can be forgotten.
    None,
    /// Something that comes out the same when it is done twice.
    Repeatable,
    /// Anything.
    Outside,
}

/// A provider, ready to be asked.
///
/// Values are always of the type that the schema implies, without marks. What a provider does not offer has a default
/// that says so by its name ([`CallError::Unsupported`]); checks that it does not make find nothing.
#[async_trait]
pub trait Provider: Send + Sync {
    /// How it is named in messages: its address, or the program's name.
    fn name(&self) -> &str;

    /// What it offers.
    fn schema(&self) -> &ProviderSchema;

    /// What its changes do outside.
    fn effects(&self) -> Effects {
        Effects::Outside
    }

    /// What is marked in this value goes to it without the marks. Whatever it says about it must not have that in it.
    fn keep_secret(&self, value: &Value) {
        let _ = value;
    }

    /// What it offers, by name only. Cheaper than all the schemas where the provider can tell.
    async fn metadata(&self) -> Answer<Metadata> {
        Ok(self.schema().metadata())
    }

    /// Checks its configuration, parts of which may be unknown.
    async fn validate_provider(&self, config: Value) -> Answer<Diagnostics> {
        let _ = config;
        Ok(Diagnostics::new())
    }

    /// Gives it its configuration. Once, before anything but validation, upgrades and functions.
    async fn configure(&self, request: ConfigureRequest) -> Answer<Diagnostics> {
        let _ = request;
        Ok(Diagnostics::new())
    }

    /// Checks the configuration of a resource, parts of which may be unknown.
    async fn validate_resource(&self, type_name: &str, config: Value) -> Answer<Diagnostics> {
        let _ = (type_name, config);
        Ok(Diagnostics::new())
    }

    /// Checks the configuration of a data source, parts of which may be unknown.
    async fn validate_data_source(&self, type_name: &str, config: Value) -> Answer<Diagnostics> {
        let _ = (type_name, config);
        Ok(Diagnostics::new())
    }

    /// Checks the configuration of an ephemeral resource, parts of which may be unknown.
    async fn validate_ephemeral(&self, type_name: &str, config: Value) -> Answer<Diagnostics> {
        let _ = (type_name, config);
        Ok(Diagnostics::new())
    }

    /// Checks the configuration of a query, parts of which may be unknown.
    async fn validate_list(&self, type_name: &str, config: Value) -> Answer<Diagnostics> {
        let _ = (type_name, config);
        Ok(Diagnostics::new())
    }

    /// Brings stored attributes to the current schema.
    async fn upgrade(&self, request: UpgradeRequest) -> Answer<UpgradeResponse> {
        Err(self.unsupported("UpgradeResourceState", &request.type_name))
    }

    /// Brings a stored identity to the current schema.
    async fn upgrade_identity(&self, request: UpgradeIdentityRequest) -> Answer<UpgradeResponse> {
        Err(self.unsupported("UpgradeResourceIdentity", &request.type_name))
    }

    /// Reads an object.
    async fn read(&self, request: ReadRequest) -> Answer<ReadResponse> {
        Err(self.unsupported("ReadResource", &request.type_name))
    }

    /// Plans a change.
    async fn plan(&self, request: PlanRequest) -> Answer<PlanResponse> {
        Err(self.unsupported("PlanResourceChange", &request.type_name))
    }

    /// Carries a change out.
    async fn apply(&self, request: ApplyRequest) -> Answer<ApplyResponse> {
        Err(self.unsupported("ApplyResourceChange", &request.type_name))
    }

    /// Finds an object that exists already.
    async fn import(&self, request: ImportRequest) -> Answer<ImportResponse> {
        Err(self.unsupported("ImportResourceState", &request.type_name))
    }

    /// Turns the object of another resource type into one of ours.
    async fn move_state(&self, request: MoveRequest) -> Answer<MoveResponse> {
        Err(self.unsupported("MoveResourceState", &request.target_type_name))
    }

    /// Reads a data source.
    async fn read_data(&self, request: ReadDataRequest) -> Answer<ReadDataResponse> {
        Err(self.unsupported("ReadDataSource", &request.type_name))
    }

    /// Opens an ephemeral resource.
    async fn open_ephemeral(&self, request: OpenRequest) -> Answer<EphemeralObject> {
        Err(self.unsupported("OpenEphemeralResource", &request.type_name))
    }

    /// Makes an ephemeral resource last longer.
    async fn renew_ephemeral(&self, type_name: &str, private: Private) -> Answer<EphemeralRenewal> {
        let _ = private;
        Err(self.unsupported("RenewEphemeralResource", type_name))
    }

    /// Gives an ephemeral resource back.
    async fn close_ephemeral(&self, type_name: &str, private: Private) -> Answer<Diagnostics> {
        let _ = private;
        Err(self.unsupported("CloseEphemeralResource", type_name))
    }

    /// The functions that it offers now. Some have more of them once they are configured.
    async fn functions(&self) -> Answer<BTreeMap<Str, Arc<FunctionSignature>>> {
        Ok(self.schema().functions.clone())
    }

    /// Calls a function. Needs no configuration.
    async fn call_function(&self, request: CallFunctionRequest) -> Answer<CallFunctionResponse> {
        Err(self.unsupported("CallFunction", &request.name))
    }

    /// Finds objects that exist, one after the other, until the sink has enough.
    async fn list(&self, request: ListRequest, sink: &mut dyn ListSink) -> Answer<()> {
        let _ = sink;
        Err(self.unsupported("ListResource", &request.type_name))
    }

    /// Writes a configuration for an object.
    async fn generate_config(&self, type_name: &str, object: Value) -> Answer<(Value, Diagnostics)> {
        let _ = object;
        Err(self.unsupported("GenerateResourceConfig", type_name))
    }

    /// Asks it to give up what it is doing. Calls under way still answer.
    async fn stop(&self) -> Answer<()> {
        Ok(())
    }

    /// Ends it.
    async fn shutdown(&self) -> Answer<()> {
        Ok(())
    }

    /// The error for a call that this provider does not offer.
    fn unsupported(&self, call: &'static str, about: &str) -> CallError {
        CallError::Unsupported { provider: self.name().to_owned(), call, about: Str::from(about) }
    }
}
