//! Making a plugin ready: start, connect, and learn what it offers unless that is known.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use groma_model::diag::Diagnostics;

use super::PluginProvider;
use super::caller::Caller;
use super::schema::{PluginSchema, RawSchema};
use crate::api::{Answer, CallError, Metadata, Provider as _};
use crate::wire::calls::{Raw, Rpc};
use crate::wire::connection::Connection;
use crate::wire::convert;
use crate::wire::generated::tfplugin as wire;
use crate::wire::launch::Launch;
use crate::wire::process::StartError;

/// Why a plugin could not be made ready.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It did not tell its schema.
    #[error(transparent)]
    Call(#[from] CallError),
    /// It reported errors instead of its schema.
    #[error("{provider} could not tell what it offers: {}", summaries(.diagnostics))]
    Reported {
        /// Which provider.
        provider: String,
        /// What it said.
        diagnostics: Diagnostics,
    },
}

impl OpenError {
    /// The errors as people are told.
    pub fn diagnostics(&self) -> Diagnostics {
        match self {
            Self::Start(error) => error.diagnostic().into(),
            Self::Call(error) => error.diagnostic().into(),
            Self::Reported { diagnostics, .. } => diagnostics.clone(),
        }
    }
}

fn summaries(diagnostics: &Diagnostics) -> String {
    let errors = diagnostics.iter().filter(|found| found.is_error());
    errors.map(|found| found.summary.as_str()).collect::<Vec<_>>().join("; ")
}

impl PluginProvider {
    /// Starts a plugin. If what it offers is `known`, it is not asked again, unless it must be.
    pub async fn open(launch: &Launch, known: Option<Arc<PluginSchema>>) -> Result<Self, OpenError> {
        Self::connected(launch.start().await?, known).await
    }

    /// Takes a plugin that is connected already.
    pub(in crate::wire) async fn connected(
        connection: Connection,
        known: Option<Arc<PluginSchema>>,
    ) -> Result<Self, OpenError> {
        let schema = match known.filter(|known| known.protocol() == connection.protocol) {
            Some(known) => {
                if !known.schema().capabilities.schema_optional {
                    // Such a plugin gets ready only while it tells its schema.
                    let _: Raw = ask_schema(&connection).await?;
                }
                known
            }
            None => learn(&connection).await?,
        };
        let capabilities = Mutex::new(connection.settings.capabilities);
        Ok(Self { connection, schema, capabilities, functions: Mutex::default() })
    }

    pub(super) async fn ask_metadata(&self) -> Answer<Metadata> {
        let caller = self.caller(Rpc::GetMetadata, "");
        match caller.ask::<_, wire::get_metadata::Response>(wire::get_metadata::Request {}).await {
            Ok(response) if !convert::diagnostics(response.diagnostics.clone()).has_errors() => {
                Ok(convert::metadata(response))
            }
            Ok(_) | Err(CallError::Unsupported { .. }) => Ok(self.schema().metadata()),
            Err(error) => Err(error),
        }
    }
}

async fn ask_schema(connection: &Connection) -> Answer<Raw> {
    Caller::new(connection, Rpc::GetProviderSchema, "").ask(wire::get_provider_schema::Request {}).await
}

/// Asks for everything that a plugin offers.
async fn learn(connection: &Connection) -> Result<Arc<PluginSchema>, OpenError> {
    let Raw(schemas) = ask_schema(connection).await?;
    let caller = Caller::new(connection, Rpc::GetResourceIdentitySchemas, "");
    let identities = match caller.ask(wire::get_resource_identity_schemas::Request {}).await {
        Ok(Raw(identities)) => identities,
        // Plugins from before there were identities.
        Err(CallError::Unsupported { .. }) => Bytes::new(),
        Err(error) => return Err(error.into()),
    };
    let caller = Caller::new(connection, Rpc::GetProviderSchema, "");
    let read = PluginSchema::read(connection.protocol, RawSchema { schemas, identities });
    let (schema, diagnostics) = read.map_err(|error| caller.malformed(error.to_string()))?;
    if diagnostics.has_errors() {
        return Err(OpenError::Reported { provider: connection.name.clone(), diagnostics });
    }
    Ok(Arc::new(schema))
}
