//! Schemas as they travel to a host. Protocol 5 cannot say everything that ours can.

use bytes::Bytes;
use groma_model::codec::type_json;
use groma_model::schema::{
    Attribute, AttributeKind, Block, Description, FunctionSignature, IdentitySchema, NestedBlock, NestedObject,
    Nesting, Parameter, Schema, TextKind,
};
use groma_model::text::Str;
use groma_model::ty::Type;
use prost::Message as _;

use crate::wire::generated::tfplugin as wire;
use crate::wire::handshake::ProtocolVersion;
use wire::schema::{Attribute5, Attribute6};

/// A schema as it travels, or what protocol 5 cannot say.
pub(super) fn encode(schema: &Schema, protocol: ProtocolVersion) -> Result<Bytes, String> {
    let block = Writer { protocol }.block(schema.version, &schema.block)?;
    Ok(wire::Schema { version: schema.version, block: Some(block) }.encode_to_vec().into())
}

struct Writer {
    protocol: ProtocolVersion,
}

impl Writer {
    fn block(&self, version: i64, block: &Block) -> Result<wire::schema::Block, String> {
        let attributes: Result<Vec<Bytes>, String> =
            block.attributes.iter().map(|(name, attribute)| self.attribute(name, attribute)).collect();
        let block_types: Result<Vec<_>, String> =
            block.block_types.iter().map(|(name, nested)| self.nested_block(name, nested)).collect();
        Ok(wire::schema::Block {
            version,
            attributes: attributes?,
            block_types: block_types?,
            description: block.description.text.clone(),
            description_kind: kind(&block.description),
            deprecated: block.deprecated,
            deprecation_message: text(block.deprecation_message.as_ref()),
        })
    }

    fn nested_block(&self, name: &Str, nested: &NestedBlock) -> Result<wire::schema::NestedBlock, String> {
        use wire::schema::nested_block::NestingMode;

        let nesting = match nested.nesting {
            Nesting::Single => NestingMode::Single,
            Nesting::List => NestingMode::List,
            Nesting::Set => NestingMode::Set,
            Nesting::Map => NestingMode::Map,
            Nesting::Group => NestingMode::Group,
        };
        Ok(wire::schema::NestedBlock {
            type_name: name.to_string(),
            block: Some(self.block(0, &nested.block).map_err(|inner| format!("{name}.{inner}"))?),
            nesting: nesting.into(),
            min_items: items(nested.min_items),
            max_items: items(nested.max_items),
        })
    }

    fn attribute(&self, name: &Str, attribute: &Attribute) -> Result<Bytes, String> {
        let message = attribute6(name, attribute);
        match self.protocol {
            ProtocolVersion::V6 => Ok(message.encode_to_vec().into()),
            ProtocolVersion::V5 if message.nested_type.is_some() => {
                Err(format!("{name} has nested attributes, which provider protocol 5 cannot describe"))
            }
            ProtocolVersion::V5 => Ok(attribute5(message).encode_to_vec().into()),
        }
    }
}

fn attribute6(name: &Str, attribute: &Attribute) -> Attribute6 {
    let (ty, nested_type) = match &attribute.ty {
        AttributeKind::Type(ty) => (type_bytes(ty), None),
        AttributeKind::Nested(nested) => (Bytes::new(), Some(object(nested))),
    };
    Attribute6 {
        name: name.to_string(),
        r#type: ty,
        nested_type,
        description: attribute.description.text.clone(),
        description_kind: kind(&attribute.description),
        required: attribute.required,
        optional: attribute.optional,
        computed: attribute.computed,
        sensitive: attribute.sensitive,
        deprecated: attribute.deprecated,
        write_only: attribute.write_only,
        deprecation_message: text(attribute.deprecation_message.as_ref()),
    }
}

fn attribute5(given: Attribute6) -> Attribute5 {
    Attribute5 {
        name: given.name,
        r#type: given.r#type,
        description: given.description,
        description_kind: given.description_kind,
        required: given.required,
        optional: given.optional,
        computed: given.computed,
        sensitive: given.sensitive,
        deprecated: given.deprecated,
        write_only: given.write_only,
        deprecation_message: given.deprecation_message,
    }
}

fn object(nested: &NestedObject) -> wire::schema::Object {
    use wire::schema::object::NestingMode;

    let nesting = match nested.nesting {
        Nesting::Single | Nesting::Group => NestingMode::Single,
        Nesting::List => NestingMode::List,
        Nesting::Set => NestingMode::Set,
        Nesting::Map => NestingMode::Map,
    };
    let attributes = nested.attributes.iter();
    wire::schema::Object {
        attributes: attributes.map(|(name, attribute)| attribute6(name, attribute).encode_to_vec().into()).collect(),
        nesting: nesting.into(),
    }
}

/// What identifies objects, as it travels.
pub(super) fn identity(schema: &IdentitySchema) -> wire::ResourceIdentitySchema {
    use wire::resource_identity_schema::IdentityAttribute;

    let attributes = schema.attributes.iter().map(|(name, attribute)| IdentityAttribute {
        name: name.to_string(),
        r#type: type_bytes(&attribute.ty),
        required_for_import: attribute.required_for_import,
        optional_for_import: attribute.optional_for_import,
        description: attribute.description.clone(),
    });
    wire::ResourceIdentitySchema { version: schema.version, identity_attributes: attributes.collect() }
}

/// How a function is called, as it travels.
pub(super) fn function(signature: &FunctionSignature) -> wire::Function {
    wire::Function {
        parameters: signature.parameters.iter().map(parameter).collect(),
        variadic_parameter: signature.variadic.as_ref().map(parameter),
        r#return: Some(wire::function::Return { r#type: type_bytes(&signature.returns) }),
        summary: signature.summary.clone(),
        description: signature.description.text.clone(),
        description_kind: kind(&signature.description),
        deprecation_message: text(signature.deprecation_message.as_ref()),
    }
}

fn parameter(parameter: &Parameter) -> wire::function::Parameter {
    wire::function::Parameter {
        name: parameter.name.to_string(),
        r#type: type_bytes(&parameter.ty),
        allow_null_value: parameter.allow_null,
        allow_unknown_values: parameter.allow_unknown,
        description: parameter.description.text.clone(),
        description_kind: kind(&parameter.description),
    }
}

fn type_bytes(ty: &Type) -> Bytes {
    type_json::encode(ty).into()
}

fn kind(description: &Description) -> i32 {
    match description.kind {
        TextKind::Plain => wire::StringKind::Plain,
        TextKind::Markdown => wire::StringKind::Markdown,
    }
    .into()
}

fn text(message: Option<&Str>) -> String {
    message.map(ToString::to_string).unwrap_or_default()
}

fn items(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
