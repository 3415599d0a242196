//! The result of `providers schema -json`.

use std::collections::BTreeMap;

use groma_model::codec::type_json;
use groma_model::schema::{
    Attribute, AttributeKind, Block, Description, FunctionSignature, IdentitySchema, NestedBlock, NestedObject,
    Nesting, Parameter, Schema, TextKind,
};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_provider::api::{LazySchema, ProviderSchema, SchemaError};
use serde::Serialize;
use serde_json::value::RawValue;

#[derive(Serialize)]
struct SchemasJson<'a> {
    format_version: &'static str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    provider_schemas: BTreeMap<&'a str, ProviderJson<'a>>,
}

#[derive(Serialize)]
struct ProviderJson<'a> {
    provider: SchemaJson<'a>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    resource_schemas: BTreeMap<&'a str, SchemaJson<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    data_source_schemas: BTreeMap<&'a str, SchemaJson<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    ephemeral_resource_schemas: BTreeMap<&'a str, SchemaJson<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    functions: BTreeMap<&'a str, FunctionJson<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    resource_identity_schemas: BTreeMap<&'a str, IdentityJson<'a>>,
}

#[derive(Serialize)]
struct SchemaJson<'a> {
    version: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<BlockJson<'a>>,
}

#[derive(Serialize)]
struct BlockJson<'a> {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    attributes: BTreeMap<&'a str, AttributeJson<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    block_types: BTreeMap<&'a str, BlockTypeJson<'a>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    description_kind: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deprecated: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    deprecation_message: &'a str,
}

#[derive(Serialize)]
struct BlockTypeJson<'a> {
    nesting_mode: &'static str,
    block: BlockJson<'a>,
    #[serde(skip_serializing_if = "is_zero")]
    min_items: u64,
    #[serde(skip_serializing_if = "is_zero")]
    max_items: u64,
}

#[derive(Serialize)]
struct AttributeJson<'a> {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    ty: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nested_type: Option<NestedTypeJson<'a>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    description_kind: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deprecated: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    deprecation_message: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    required: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    optional: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    computed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    sensitive: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    write_only: bool,
}

#[derive(Serialize)]
struct NestedTypeJson<'a> {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    attributes: BTreeMap<&'a str, AttributeJson<'a>>,
    nesting_mode: &'static str,
}

#[derive(Serialize)]
struct FunctionJson<'a> {
    description: &'a str,
    summary: &'a str,
    return_type: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<ParameterJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variadic_parameter: Option<ParameterJson<'a>>,
}

#[derive(Serialize)]
struct ParameterJson<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(rename = "type")]
    ty: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_nullable: bool,
}

#[derive(Serialize)]
struct IdentityJson<'a> {
    version: i64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    attributes: BTreeMap<&'a str, IdentityAttributeJson<'a>>,
}

#[derive(Serialize)]
struct IdentityAttributeJson<'a> {
    #[serde(rename = "type")]
    ty: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    required_for_import: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    optional_for_import: bool,
}

const CORE_PROVIDER: &str = "terraform.io/builtin/terraform";

/// The document for some providers, by address.
pub fn schemas(providers: &BTreeMap<String, &ProviderSchema>) -> Result<String, SchemaError> {
    // The views borrow, so everything that is decoded late is decoded first.
    let mut provider_schemas = BTreeMap::new();
    for (address, schema) in providers {
        let mut json = provider_json(schema)?;
        // The one provider that takes no configuration at all has no schema for it, not even an empty one.
        if address == CORE_PROVIDER {
            json.provider.block = None;
        }
        provider_schemas.insert(address.as_str(), json);
    }
    let text = serde_json::to_string(&SchemasJson { format_version: "1.0", provider_schemas }).unwrap_or_default();
    Ok(as_go_writes(&text))
}

/// Go escapes what would mean something in HTML; so byte for byte the same text comes out.
fn as_go_writes(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("\\u003c"),
            '>' => escaped.push_str("\\u003e"),
            '&' => escaped.push_str("\\u0026"),
            '\u{2028}' => escaped.push_str("\\u2028"),
            '\u{2029}' => escaped.push_str("\\u2029"),
            c => escaped.push(c),
        }
    }
    escaped
}

fn provider_json(schema: &ProviderSchema) -> Result<ProviderJson<'_>, SchemaError> {
    Ok(ProviderJson {
        provider: schema_json(schema.provider.get()?),
        resource_schemas: schemas_json(&schema.resources)?,
        data_source_schemas: schemas_json(&schema.data_sources)?,
        ephemeral_resource_schemas: schemas_json(&schema.ephemerals)?,
        functions: schema.functions.iter().map(|(name, function)| (name.as_str(), function_json(function))).collect(),
        resource_identity_schemas: schema
            .identities
            .iter()
            .filter(|(name, _)| schema.resources.contains_key(*name))
            .map(|(name, identity)| (name.as_str(), identity_json(identity)))
            .collect(),
    })
}

fn schemas_json(schemas: &BTreeMap<Str, LazySchema>) -> Result<BTreeMap<&str, SchemaJson<'_>>, SchemaError> {
    schemas.iter().map(|(name, schema)| Ok((name.as_str(), schema_json(schema.get()?)))).collect()
}

fn schema_json(schema: &Schema) -> SchemaJson<'_> {
    SchemaJson { version: schema.version, block: Some(block_json(&schema.block)) }
}

fn block_json(block: &Block) -> BlockJson<'_> {
    BlockJson {
        attributes: attributes_json(&block.attributes),
        block_types: block.block_types.iter().map(|(name, nested)| (name.as_str(), block_type_json(nested))).collect(),
        description: &block.description.text,
        description_kind: kind(&block.description),
        deprecated: block.deprecated,
        deprecation_message: block.deprecation_message.as_deref().unwrap_or(""),
    }
}

fn block_type_json(nested: &NestedBlock) -> BlockTypeJson<'_> {
    BlockTypeJson {
        nesting_mode: nesting(nested.nesting),
        block: block_json(&nested.block),
        min_items: nested.min_items,
        max_items: nested.max_items,
    }
}

fn attributes_json(attributes: &BTreeMap<Str, Attribute>) -> BTreeMap<&str, AttributeJson<'_>> {
    attributes.iter().map(|(name, attribute)| (name.as_str(), attribute_json(attribute))).collect()
}

fn attribute_json(attribute: &Attribute) -> AttributeJson<'_> {
    let (ty, nested_type) = match &attribute.ty {
        AttributeKind::Type(ty) => (type_of(ty), None),
        AttributeKind::Nested(nested) => (None, Some(nested_type_json(nested))),
    };
    AttributeJson {
        ty,
        nested_type,
        description: &attribute.description.text,
        description_kind: kind(&attribute.description),
        deprecated: attribute.deprecated,
        deprecation_message: attribute.deprecation_message.as_deref().unwrap_or(""),
        required: attribute.required,
        optional: attribute.optional,
        computed: attribute.computed,
        sensitive: attribute.sensitive,
        write_only: attribute.write_only,
    }
}

fn nested_type_json(nested: &NestedObject) -> NestedTypeJson<'_> {
    NestedTypeJson { attributes: attributes_json(&nested.attributes), nesting_mode: nesting(nested.nesting) }
}

fn function_json(function: &FunctionSignature) -> FunctionJson<'_> {
    FunctionJson {
        description: &function.description.text,
        summary: &function.summary,
        return_type: type_of(&function.returns),
        parameters: function.parameters.iter().map(parameter_json).collect(),
        variadic_parameter: function.variadic.as_ref().map(parameter_json),
    }
}

fn parameter_json(parameter: &Parameter) -> ParameterJson<'_> {
    ParameterJson {
        name: &parameter.name,
        description: &parameter.description.text,
        ty: type_of(&parameter.ty),
        is_nullable: parameter.allow_null,
    }
}

fn identity_json(identity: &IdentitySchema) -> IdentityJson<'_> {
    let attributes = identity.attributes.iter().map(|(name, attribute)| {
        let json = IdentityAttributeJson {
            ty: type_of(&attribute.ty),
            description: &attribute.description,
            required_for_import: attribute.required_for_import,
            optional_for_import: attribute.optional_for_import,
        };
        (name.as_str(), json)
    });
    IdentityJson { version: identity.version, attributes: attributes.collect() }
}

fn nesting(nesting: Nesting) -> &'static str {
    match nesting {
        Nesting::Single => "single",
        Nesting::List => "list",
        Nesting::Set => "set",
        Nesting::Map => "map",
        Nesting::Group => "group",
    }
}

fn kind(description: &Description) -> &'static str {
    match description.kind {
        TextKind::Plain => "plain",
        TextKind::Markdown => "markdown",
    }
}

fn type_of(ty: &Type) -> Option<Box<RawValue>> {
    RawValue::from_string(type_json::encode(ty)).ok()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_set_is_left_out() {
        let attribute = Attribute { required: true, ..Attribute::of_type(Type::list(Type::String)) };
        let block = Block {
            attributes: [(Str::from("names"), attribute)].into(),
            description: Description { text: "a <b>".into(), kind: TextKind::Markdown },
            ..Block::default()
        };
        let schema = ProviderSchema {
            resources: [(Str::from("x_y"), Schema { version: 2, block }.into())].into(),
            ..ProviderSchema::default()
        };
        let text = schemas(&BTreeMap::from([("example.com/a/x".to_owned(), &schema)])).unwrap();
        assert_eq!(
            text,
            concat!(
                r#"{"format_version":"1.0","provider_schemas":{"example.com/a/x":{"#,
                r#""provider":{"version":0,"block":{"description_kind":"plain"}},"#,
                r#""resource_schemas":{"x_y":{"version":2,"block":{"attributes":{"names":{"type":["list","string"],"#,
                r#""description_kind":"plain","required":true}},"description":"a \u003cb\u003e","#,
                r#""description_kind":"markdown"}}}}}}"#
            )
        );
    }
}
