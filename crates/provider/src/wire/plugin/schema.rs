//! What a plugin offers, with the types that its schemas imply. Shared by all processes of one program.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use bytes::Bytes;
use groma_model::diag::Diagnostics;
use groma_model::schema::{FunctionSignature, IdentitySchema, Schema};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use prost::Message as _;

use crate::api::{LazySchema, ProviderSchema, SchemaError};
use crate::wire::convert::{self, ConvertError};
use crate::wire::generated::tfplugin as wire;
use crate::wire::handshake::ProtocolVersion;

/// Everything that a plugin offers, as it told us.
#[derive(Debug)]
pub struct PluginSchema {
    protocol: ProtocolVersion,
    schema: ProviderSchema,
    /// The answers themselves, for the cache.
    raw: RawSchema,
    provider: OnceLock<Arc<Typed>>,
    provider_meta: OnceLock<Arc<Typed>>,
    resources: Types,
    data_sources: Types,
    ephemerals: Types,
    lists: Types,
}

/// What a plugin offers, as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::wire) struct RawSchema {
    /// The answer to the call for schemas.
    pub(in crate::wire) schemas: Bytes,
    /// The answer to the call for identity schemas; empty if the plugin has no such call.
    pub(in crate::wire) identities: Bytes,
}

/// Types by name, worked out when first needed.
type Types = RwLock<BTreeMap<Str, Arc<Typed>>>;

/// A schema and what follows from it.
#[derive(Debug)]
pub(in crate::wire) struct Typed {
    pub(in crate::wire) ty: Type,
    pub(in crate::wire) schema: Arc<Schema>,
    has_write_only: bool,
    /// Whether anything in it is to be hidden.
    pub(super) has_secrets: bool,
    /// Of the identity, if there is one.
    pub(in crate::wire) identity: Option<Type>,
}

/// What kind of thing a schema is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::wire) enum Kind {
    /// A managed resource.
    Resource,
    /// A data source.
    DataSource,
    /// An ephemeral resource.
    Ephemeral,
    /// A query.
    List,
}

impl PluginSchema {
    /// Reads what a plugin answered. Each schema is left alone until it is needed. Errors that the plugin reports come as
    /// diagnostics.
    pub(in crate::wire) fn read(
        protocol: ProtocolVersion,
        raw: RawSchema,
    ) -> Result<(Self, Diagnostics), ConvertError> {
        let response = wire::get_provider_schema::Response::decode(raw.schemas.clone())
            .map_err(|source| ConvertError::Message { what: "the schemas cannot be read".to_owned(), source })?;
        let identities =
            wire::get_resource_identity_schemas::Response::decode(raw.identities.clone()).map_err(|source| {
                ConvertError::Message { what: "the identity schemas cannot be read".to_owned(), source }
            })?;
        let mut diagnostics = convert::diagnostics(response.diagnostics);
        diagnostics.extend(convert::diagnostics(identities.diagnostics));
        let all = |schemas: BTreeMap<String, Bytes>| -> BTreeMap<Str, LazySchema> {
            schemas.into_iter().map(|(name, message)| named_schema(protocol, name, message)).collect()
        };
        let schema = ProviderSchema {
            provider: response
                .provider
                .map(|message| lazy(protocol, "the provider".into(), message))
                .unwrap_or_default(),
            provider_meta: response.provider_meta.map(|message| lazy(protocol, "provider_meta".into(), message)),
            resources: all(response.resource_schemas),
            identities: identity_schemas(identities.identity_schemas)?,
            data_sources: all(response.data_source_schemas),
            ephemerals: all(response.ephemeral_resource_schemas),
            lists: all(response.list_resource_schemas),
            functions: functions(response.functions)?,
            capabilities: convert::server_capabilities(response.server_capabilities),
        };
        let read = Self {
            protocol,
            schema,
            raw,
            provider: OnceLock::new(),
            provider_meta: OnceLock::new(),
            resources: Types::default(),
            data_sources: Types::default(),
            ephemerals: Types::default(),
            lists: Types::default(),
        };
        Ok((read, diagnostics))
    }

    /// The protocol that it was told in.
    pub fn protocol(&self) -> ProtocolVersion {
        self.protocol
    }

    /// In our own terms.
    pub fn schema(&self) -> &ProviderSchema {
        &self.schema
    }

    /// As it arrived.
    pub(in crate::wire) fn raw(&self) -> &RawSchema {
        &self.raw
    }

    /// The provider's own configuration.
    pub(in crate::wire) fn provider(&self) -> Result<&Arc<Typed>, SchemaError> {
        if let Some(known) = self.provider.get() {
            return Ok(known);
        }
        let typed = Typed::new(self.schema.provider.get()?, None);
        Ok(self.provider.get_or_init(|| Arc::new(typed)))
    }

    /// What a module may tell it about itself; none if it does not want to know.
    pub(in crate::wire) fn provider_meta(&self) -> Result<Option<&Arc<Typed>>, SchemaError> {
        let Some(schema) = &self.schema.provider_meta else { return Ok(None) };
        if let Some(known) = self.provider_meta.get() {
            return Ok(Some(known));
        }
        let typed = Typed::new(schema.get()?, None);
        Ok(Some(self.provider_meta.get_or_init(|| Arc::new(typed))))
    }

    /// The schema of a type, if there is one.
    pub(in crate::wire) fn of(&self, kind: Kind, name: &str) -> Result<Option<Arc<Typed>>, SchemaError> {
        let (types, schemas) = match kind {
            Kind::Resource => (&self.resources, &self.schema.resources),
            Kind::DataSource => (&self.data_sources, &self.schema.data_sources),
            Kind::Ephemeral => (&self.ephemerals, &self.schema.ephemerals),
            Kind::List => (&self.lists, &self.schema.lists),
        };
        if let Some(known) = types.read().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Ok(Some(Arc::clone(known)));
        }
        let Some((name, schema)) = schemas.get_key_value(name) else { return Ok(None) };
        let identity = if kind == Kind::Resource { self.schema.identities.get(name) } else { None };
        let typed = Arc::new(Typed::new(schema.get()?, identity.map(|identity| identity.implied_type())));
        let mut types = types.write().unwrap_or_else(PoisonError::into_inner);
        Ok(Some(Arc::clone(types.entry(name.clone()).or_insert(typed))))
    }
}

impl Typed {
    fn new(schema: &Arc<Schema>, identity: Option<Type>) -> Self {
        Self {
            ty: schema.block.implied_type(),
            has_write_only: schema.block.contains_write_only(),
            has_secrets: schema.block.contains_sensitive() || schema.block.contains_write_only(),
            schema: Arc::clone(schema),
            identity,
        }
    }

    /// A value as it travels.
    pub(super) fn encode(&self, value: &Value) -> Result<wire::DynamicValue, ConvertError> {
        convert::to_wire(value, &self.ty)
    }

    /// An object in an answer, without anything that must not be in there.
    pub(super) fn decode(&self, value: Option<wire::DynamicValue>) -> Result<Value, ConvertError> {
        let value = convert::from_wire(value, &self.ty)?;
        match self.write_only_value(&value) {
            Some(found) => Err(found.into()),
            None => Ok(value),
        }
    }

    /// The first thing that must not be in an answer.
    pub(super) fn write_only_value(&self, value: &Value) -> Option<convert::WriteOnlyValue> {
        if self.has_write_only { convert::write_only_value(&self.schema.block, value) } else { None }
    }
}

fn named_schema(protocol: ProtocolVersion, name: String, message: Bytes) -> (Str, LazySchema) {
    let name = Str::from(name);
    (name.clone(), lazy(protocol, name, message))
}

fn lazy(protocol: ProtocolVersion, of: Str, message: Bytes) -> LazySchema {
    LazySchema::new(move || {
        convert::decode_schema(protocol, message.clone())
            .map_err(|error| SchemaError { of: of.clone(), message: error.to_string() })
    })
}

fn identity_schemas(
    given: BTreeMap<String, wire::ResourceIdentitySchema>,
) -> Result<BTreeMap<Str, Arc<IdentitySchema>>, ConvertError> {
    given.into_iter().map(|(name, schema)| Ok((name.into(), Arc::new(convert::identity_schema(schema)?)))).collect()
}

/// Reads how functions are called.
pub(super) fn functions(
    given: BTreeMap<String, wire::Function>,
) -> Result<BTreeMap<Str, Arc<FunctionSignature>>, ConvertError> {
    let read = given.into_iter().map(|(name, function)| {
        let signature = convert::function(function)
            .map_err(|error| ConvertError::Shape(format!("the function {name:?} cannot be used: {error}")))?;
        Ok((name.into(), Arc::new(signature)))
    });
    read.collect()
}
