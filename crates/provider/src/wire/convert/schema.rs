//! Schemas as they arrive. Both protocols have one shape but for the fields of an attribute: those of protocol 5 become
//! those of protocol 6, which can say more, and are read there.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use groma_model::codec::type_json;
use groma_model::schema::{
    Attribute, AttributeKind, Block, Description, FunctionSignature, IdentityAttribute, IdentitySchema, NestedBlock,
    NestedObject, Nesting, Parameter, Schema, TextKind,
};
use groma_model::text::Str;
use groma_model::ty::Type;
use prost::Message as _;

use super::ConvertError;
use crate::wire::generated::tfplugin as wire;
use crate::wire::handshake::ProtocolVersion;
use wire::schema::{Attribute5, Attribute6};

/// Deeper nesting of attributes than this is refused. Blocks are limited by the decoder of messages.
const MAX_DEPTH: usize = 100;

/// Reads a schema from its message.
pub(in crate::wire) fn decode_schema(protocol: ProtocolVersion, message: Bytes) -> Result<Schema, ConvertError> {
    let given = wire::Schema::decode(message)
        .map_err(|source| ConvertError::Message { what: "a schema that is none".to_owned(), source })?;
    if given.version < 0 {
        return Err(ConvertError::Shape(format!("its version {} is negative", given.version)));
    }
    let reader = Reader { protocol };
    let block = given.block.map(|block| reader.block(block)).transpose()?.unwrap_or_default();
    Ok(Schema { version: given.version, block })
}

struct Reader {
    protocol: ProtocolVersion,
}

impl Reader {
    fn block(&self, given: wire::schema::Block) -> Result<Block, ConvertError> {
        let mut block_types = BTreeMap::new();
        for nested in given.block_types {
            let name = Str::from(nested.type_name.as_str());
            block_types.insert(name, self.nested_block(nested)?);
        }
        Ok(Block {
            attributes: self.attributes(given.attributes, 0)?,
            block_types,
            description: description(given.description, given.description_kind),
            deprecated: given.deprecated,
            deprecation_message: optional_text(&given.deprecation_message),
        })
    }

    fn nested_block(&self, given: wire::schema::NestedBlock) -> Result<NestedBlock, ConvertError> {
        use wire::schema::nested_block::NestingMode;

        let nesting = match given.nesting() {
            NestingMode::Single => Nesting::Single,
            NestingMode::List => Nesting::List,
            NestingMode::Set => Nesting::Set,
            NestingMode::Map => Nesting::Map,
            NestingMode::Group => Nesting::Group,
            NestingMode::Invalid => return Err(ConvertError::Nesting { of: format!("block {:?}", given.type_name) }),
        };
        Ok(NestedBlock {
            block: given.block.map(|block| self.block(block)).transpose()?.unwrap_or_default(),
            nesting,
            min_items: u64::try_from(given.min_items).unwrap_or(0),
            max_items: u64::try_from(given.max_items).unwrap_or(0),
        })
    }

    fn attributes(&self, given: Vec<Bytes>, depth: usize) -> Result<BTreeMap<Str, Attribute>, ConvertError> {
        if depth > MAX_DEPTH {
            return Err(ConvertError::Shape(format!("attributes are nested in more than {MAX_DEPTH} levels")));
        }
        let mut attributes = BTreeMap::new();
        for message in given {
            let given = self.message(message)?;
            let name = Str::from(given.name.as_str());
            attributes.insert(name, self.attribute(given, depth)?);
        }
        Ok(attributes)
    }

    fn message(&self, message: Bytes) -> Result<Attribute6, ConvertError> {
        let decoded = match self.protocol {
            ProtocolVersion::V5 => Attribute5::decode(message).map(Attribute6::from),
            ProtocolVersion::V6 => Attribute6::decode(message),
        };
        decoded.map_err(|source| ConvertError::Message { what: "an attribute that is none".to_owned(), source })
    }

    fn attribute(&self, given: Attribute6, depth: usize) -> Result<Attribute, ConvertError> {
        let ty = match given.nested_type {
            Some(nested) => AttributeKind::Nested(Arc::new(self.nested_object(nested, &given.name, depth)?)),
            None => AttributeKind::Type(type_of(&given.r#type, &given.name)?),
        };
        Ok(Attribute {
            ty,
            required: given.required,
            optional: given.optional,
            computed: given.computed,
            sensitive: given.sensitive,
            sensitive_when: None,
            write_only: given.write_only,
            description: description(given.description, given.description_kind),
            deprecated: given.deprecated,
            deprecation_message: optional_text(&given.deprecation_message),
        })
    }

    fn nested_object(
        &self,
        given: wire::schema::Object,
        name: &str,
        depth: usize,
    ) -> Result<NestedObject, ConvertError> {
        use wire::schema::object::NestingMode;

        let nesting = match given.nesting() {
            NestingMode::Single => Nesting::Single,
            NestingMode::List => Nesting::List,
            NestingMode::Set => Nesting::Set,
            NestingMode::Map => Nesting::Map,
            NestingMode::Invalid => return Err(ConvertError::Nesting { of: format!("attribute {name:?}") }),
        };
        Ok(NestedObject { attributes: self.attributes(given.attributes, depth + 1)?, nesting })
    }
}

impl From<Attribute5> for Attribute6 {
    fn from(given: Attribute5) -> Self {
        Self {
            name: given.name,
            r#type: given.r#type,
            description: given.description,
            required: given.required,
            optional: given.optional,
            computed: given.computed,
            sensitive: given.sensitive,
            description_kind: given.description_kind,
            deprecated: given.deprecated,
            nested_type: None,
            write_only: given.write_only,
            deprecation_message: given.deprecation_message,
        }
    }
}

/// Reads what identifies objects.
pub(in crate::wire) fn identity_schema(given: wire::ResourceIdentitySchema) -> Result<IdentitySchema, ConvertError> {
    let mut attributes = BTreeMap::new();
    for given in given.identity_attributes {
        let attribute = IdentityAttribute {
            ty: type_of(&given.r#type, &given.name)?,
            required_for_import: given.required_for_import,
            optional_for_import: given.optional_for_import,
            description: given.description,
        };
        attributes.insert(given.name.into(), attribute);
    }
    Ok(IdentitySchema { version: given.version, attributes })
}

/// Reads how a function is called.
pub(in crate::wire) fn function(given: wire::Function) -> Result<FunctionSignature, ConvertError> {
    let parameters: Result<Vec<_>, _> = given.parameters.into_iter().map(parameter).collect();
    let Some(returns) = given.r#return else {
        return Err(ConvertError::Shape("its result has no type".to_owned()));
    };
    Ok(FunctionSignature {
        parameters: parameters?,
        variadic: given.variadic_parameter.map(parameter).transpose()?,
        returns: type_of(&returns.r#type, "its result")?,
        summary: given.summary,
        description: description(given.description, given.description_kind),
        deprecation_message: optional_text(&given.deprecation_message),
    })
}

fn parameter(given: wire::function::Parameter) -> Result<Parameter, ConvertError> {
    Ok(Parameter {
        ty: type_of(&given.r#type, &given.name)?,
        name: given.name.into(),
        allow_null: given.allow_null_value,
        allow_unknown: given.allow_unknown_values,
        description: description(given.description, given.description_kind),
    })
}

fn type_of(json: &Bytes, name: &str) -> Result<Type, ConvertError> {
    let text = std::str::from_utf8(json).map_err(|_| ConvertError::Text { what: "a type" })?;
    type_json::decode(text).map_err(|error| ConvertError::Shape(format!("the type of {name:?} is none: {error}")))
}

fn description(text: String, kind: i32) -> Description {
    let kind = if kind == wire::StringKind::Markdown as i32 { TextKind::Markdown } else { TextKind::Plain };
    Description { text, kind }
}

fn optional_text(text: &str) -> Option<Str> {
    if text.is_empty() { None } else { Some(text.into()) }
}
