//! The language checks some configurations before any provider is asked. What it knows of schemas for that is what the
//! built-in provider says.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use groma_builtin::Outside;
use groma_lang::builtin_schema::BuiltinSchemas;
use groma_lang::config::ResourceMode;
use groma_lang::oracle::SchemaSource;
use groma_model::address::Provider as Address;
use groma_model::schema::{Attribute, Description, Schema};

/// Without texts for people, which the language does not need.
fn bare(schema: &Schema) -> Schema {
    let mut schema = schema.clone();
    for attribute in schema.block.attributes.values_mut() {
        *attribute = Attribute { description: Description::default(), ..attribute.clone() };
    }
    schema
}

#[test]
fn the_language_knows_the_schemas_of_the_built_in_provider() {
    let address = Address::builtin("terraform");
    let provider = groma_builtin::find(&address).unwrap().provider(&Outside::system("."));
    let schemas = provider.schema();
    assert_eq!(schemas.resources.len() + schemas.data_sources.len(), 2, "all of them are compared here");
    for (mode, kinds) in [(ResourceMode::Managed, &schemas.resources), (ResourceMode::Data, &schemas.data_sources)] {
        for (kind, schema) in kinds {
            let known = BuiltinSchemas.resource(&address, mode, kind).expect("the language knows it");
            assert_eq!(*known, bare(schema.get().unwrap()), "{kind}");
        }
    }
    assert_eq!(*BuiltinSchemas.provider(&address).unwrap(), **schemas.provider.get().unwrap());
}
