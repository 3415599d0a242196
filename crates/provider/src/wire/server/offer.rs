//! What a provider offers, made ready for a host: schemas as they travel, and the types that values have.

use std::collections::BTreeMap;

use bytes::Bytes;
use groma_model::schema::{Block, IdentitySchema};
use groma_model::text::Str;
use groma_model::ty::Type;

use super::schema;
use crate::api::{LazySchema, Provider, ProviderSchema, SchemaError};
use crate::wire::convert;
use crate::wire::generated::tfplugin as wire;
use crate::wire::handshake::ProtocolVersion;

/// Everything that a provider offers.
pub(super) struct Offer {
    pub(super) protocol: ProtocolVersion,
    pub(super) schemas: wire::get_provider_schema::Response,
    pub(super) identities: wire::get_resource_identity_schemas::Response,
    pub(super) provider: Typed,
    pub(super) provider_meta: Option<Typed>,
    pub(super) resources: Types,
    pub(super) data_sources: Types,
    pub(super) ephemerals: Types,
    pub(super) lists: Types,
}

pub(super) type Types = BTreeMap<Str, Typed>;

/// A schema and what follows from it.
pub(super) struct Typed {
    pub(super) ty: Type,
    pub(super) identity: Option<Type>,
    pub(super) version: i64,
    pub(super) identity_version: i64,
    /// Where there are attributes that must not be sent back.
    pub(super) with_write_only: Option<Block>,
}

impl Offer {
    /// What a provider offers. Fails if the protocol has no words for it.
    pub(super) fn of(provider: &dyn Provider, protocol: ProtocolVersion) -> Result<Self, SchemaError> {
        let offered = provider.schema();
        let mut offer = Self {
            protocol,
            schemas: wire::get_provider_schema::Response::default(),
            identities: wire::get_resource_identity_schemas::Response::default(),
            provider: Typed::of(offered.provider.get()?, None),
            provider_meta: None,
            resources: Types::new(),
            data_sources: Types::new(),
            ephemerals: Types::new(),
            lists: Types::new(),
        };
        offer.tell_schemas(offered)?;
        offer.tell_the_rest(offered);
        Ok(offer)
    }

    fn tell_schemas(&mut self, offered: &ProviderSchema) -> Result<(), SchemaError> {
        let protocol = self.protocol;
        self.schemas.provider = Some(encoded("the provider", &offered.provider, protocol)?);
        if let Some(meta) = &offered.provider_meta {
            self.schemas.provider_meta = Some(encoded("provider_meta", meta, protocol)?);
            self.provider_meta = Some(Typed::of(meta.get()?, None));
        }
        let none = BTreeMap::new();
        let kinds = [
            (&offered.resources, &offered.identities, &mut self.schemas.resource_schemas, &mut self.resources),
            (&offered.data_sources, &none, &mut self.schemas.data_source_schemas, &mut self.data_sources),
            (&offered.ephemerals, &none, &mut self.schemas.ephemeral_resource_schemas, &mut self.ephemerals),
            (&offered.lists, &none, &mut self.schemas.list_resource_schemas, &mut self.lists),
        ];
        for (schemas, identities, told, types) in kinds {
            for (name, schema) in schemas {
                told.insert(name.to_string(), encoded(name, schema, protocol)?);
                let identity = identities.get(name).map(|identity| &**identity);
                types.insert(name.clone(), Typed::of(schema.get()?, identity));
            }
        }
        Ok(())
    }

    fn tell_the_rest(&mut self, offered: &ProviderSchema) {
        self.schemas.server_capabilities = Some(convert::server_capabilities_to_wire(offered.capabilities));
        let functions = offered.functions.iter();
        self.schemas.functions =
            functions.map(|(name, signature)| (name.to_string(), schema::function(signature))).collect();
        let identities = offered.identities.iter();
        self.identities.identity_schemas =
            identities.map(|(name, identity)| (name.to_string(), schema::identity(identity))).collect();
    }
}

fn encoded(of: &str, lazy: &LazySchema, protocol: ProtocolVersion) -> Result<Bytes, SchemaError> {
    schema::encode(lazy.get()?, protocol).map_err(|message| SchemaError { of: of.into(), message })
}

impl Typed {
    fn of(schema: &groma_model::schema::Schema, identity: Option<&IdentitySchema>) -> Self {
        Self {
            ty: schema.block.implied_type(),
            identity: identity.map(IdentitySchema::implied_type),
            version: schema.version,
            identity_version: identity.map_or(0, |identity| identity.version),
            with_write_only: schema.block.contains_write_only().then(|| schema.block.clone()),
        }
    }
}
