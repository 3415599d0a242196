//! What the provider offers: something of every kind.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_model::schema::{
    Attribute, AttributeKind, Block, Description, FunctionSignature, IdentityAttribute, IdentitySchema, NestedBlock,
    NestedObject, Nesting, Parameter, Schema, TextKind,
};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_provider::api::{LazySchema, ProviderSchema, ServerCapabilities};
use groma_provider::wire::ProtocolVersion;

pub(crate) fn optional(ty: Type) -> Attribute {
    Attribute { optional: true, ..Attribute::of_type(ty) }
}

fn required(ty: Type) -> Attribute {
    Attribute { required: true, ..Attribute::of_type(ty) }
}

fn computed(ty: Type) -> Attribute {
    Attribute { computed: true, ..Attribute::of_type(ty) }
}

fn block(attributes: impl IntoIterator<Item = (&'static str, Attribute)>) -> Block {
    Block {
        attributes: attributes.into_iter().map(|(name, attribute)| (name.into(), attribute)).collect(),
        ..Block::default()
    }
}

fn lazy(version: i64, block: Block) -> LazySchema {
    Schema { version, block }.into()
}

fn note(protocol: ProtocolVersion) -> Block {
    let mut note = block([
        ("id", computed(Type::String)),
        ("text", required(Type::String)),
        ("size", computed(Type::Number)),
        ("kind", optional(Type::String)),
        ("secret", Attribute { write_only: true, sensitive: true, ..optional(Type::String) }),
        ("tags", optional(Type::map(Type::String))),
        ("anything", optional(Type::Dynamic)),
        ("old", Attribute { deprecated: true, deprecation_message: Some("use text".into()), ..optional(Type::Bool) }),
    ]);
    note.description = Description { text: "A *note*.".to_owned(), kind: TextKind::Markdown };
    let item = block([("name", required(Type::String)), ("weight", optional(Type::Number))]);
    let item = NestedBlock { block: item, nesting: Nesting::List, min_items: 0, max_items: 3 };
    note.block_types.insert("item".into(), item);
    if protocol == ProtocolVersion::V6 {
        let details = NestedObject {
            attributes: BTreeMap::from([("color".into(), optional(Type::String))]),
            nesting: Nesting::Single,
        };
        let details = Attribute { ty: AttributeKind::Nested(Arc::new(details)), ..optional(Type::Dynamic) };
        note.attributes.insert("details".into(), details);
    }
    note
}

fn identity() -> IdentitySchema {
    let id = IdentityAttribute {
        ty: Type::String,
        required_for_import: true,
        optional_for_import: false,
        description: "The id.".to_owned(),
    };
    IdentitySchema { version: 0, attributes: BTreeMap::from([("id".into(), id)]) }
}

fn parameter(name: &str) -> Parameter {
    Parameter {
        name: name.into(),
        ty: Type::String,
        allow_null: false,
        allow_unknown: false,
        description: Description::default(),
    }
}

fn shout() -> FunctionSignature {
    FunctionSignature {
        parameters: vec![parameter("text")],
        variadic: Some(parameter("more")),
        returns: Type::String,
        summary: "Shouts.".to_owned(),
        description: Description::default(),
        deprecation_message: None,
    }
}

fn one<T>(name: &str, value: T) -> BTreeMap<Str, T> {
    BTreeMap::from([(name.into(), value)])
}

pub(crate) fn schema(protocol: ProtocolVersion) -> ProviderSchema {
    let echo = block([("input", required(Type::Dynamic)), ("output", computed(Type::Dynamic))]);
    let token = block([("length", optional(Type::Number)), ("value", computed(Type::String))]);
    ProviderSchema {
        provider: lazy(0, block([("prefix", optional(Type::String))])),
        provider_meta: Some(lazy(0, block([("module_name", optional(Type::String))]))),
        resources: one("served_note", lazy(1, note(protocol))),
        identities: one("served_note", Arc::new(identity())),
        data_sources: one("served_echo", lazy(0, echo)),
        ephemerals: one("served_token", lazy(0, token)),
        lists: one("served_note", lazy(0, block([("prefix", optional(Type::String))]))),
        functions: one("shout", Arc::new(shout())),
        capabilities: ServerCapabilities {
            plan_destroy: true,
            schema_optional: true,
            move_state: true,
            generate_config: true,
            last_words: false,
            steady_plans: false,
            lists_by_configuration: false,
        },
    }
}
