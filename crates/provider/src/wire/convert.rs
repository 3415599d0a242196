//! Between the wire's messages and our own types.

use bytes::Bytes;
use groma_model::codec::{json, msgpack, type_json};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::{Path, PathKey, PathStep};
use groma_model::schema::{Attribute, AttributeKind, Block, Description, NestedBlock, Nesting, Schema, TextKind};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;

use super::generated::tfplugin5 as wire;

/// What in an answer cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConvertError {
    /// A required part is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A type or value cannot be decoded.
    #[error("{0}")]
    Codec(#[from] groma_model::codec::CodecError),
    /// A number that stands for nothing.
    #[error("block {block:?} has an unknown nesting mode")]
    Nesting {
        /// Which block.
        block: String,
    },
}

/// A value as it travels.
pub(super) fn to_wire(value: &Value, ty: &Type) -> Result<wire::DynamicValue, ConvertError> {
    let bytes = msgpack::encode(value, ty)?;
    Ok(wire::DynamicValue { msgpack: bytes.into(), json: Bytes::new() })
}

/// A value as it arrived. Nothing at all stands for null.
pub(super) fn from_wire(value: Option<wire::DynamicValue>, ty: &Type) -> Result<Value, ConvertError> {
    match value {
        Some(value) if !value.msgpack.is_empty() => Ok(msgpack::decode(&value.msgpack, ty)?),
        Some(value) if !value.json.is_empty() => Ok(json::decode(&String::from_utf8_lossy(&value.json), ty)?),
        _ => Ok(Value::null(ty.clone())),
    }
}

pub(super) fn schema(given: Option<wire::Schema>) -> Result<Schema, ConvertError> {
    let given = given.ok_or(ConvertError::Missing("schema"))?;
    let block = given.block.map(block).transpose()?.unwrap_or_default();
    Ok(Schema { version: given.version, block })
}

fn block(given: wire::schema::Block) -> Result<Block, ConvertError> {
    let attributes: Result<_, ConvertError> =
        given.attributes.into_iter().map(|given| Ok((Str::from(given.name.as_str()), attribute(given)?))).collect();
    let block_types: Result<_, ConvertError> = given
        .block_types
        .into_iter()
        .map(|given| Ok((Str::from(given.type_name.as_str()), nested_block(given)?)))
        .collect();
    Ok(Block {
        attributes: attributes?,
        block_types: block_types?,
        description: description(given.description, given.description_kind),
        deprecated: given.deprecated,
        deprecation_message: optional_text(&given.deprecation_message),
    })
}

fn attribute(given: wire::schema::Attribute) -> Result<Attribute, ConvertError> {
    let ty = type_json::decode(&String::from_utf8_lossy(&given.r#type))?;
    Ok(Attribute {
        ty: AttributeKind::Type(ty),
        required: given.required,
        optional: given.optional,
        computed: given.computed,
        sensitive: given.sensitive,
        write_only: given.write_only,
        description: description(given.description, given.description_kind),
        deprecated: given.deprecated,
        deprecation_message: optional_text(&given.deprecation_message),
    })
}

fn nested_block(given: wire::schema::NestedBlock) -> Result<NestedBlock, ConvertError> {
    use wire::schema::nested_block::NestingMode;

    let nesting = match given.nesting() {
        NestingMode::Single => Nesting::Single,
        NestingMode::List => Nesting::List,
        NestingMode::Set => Nesting::Set,
        NestingMode::Map => Nesting::Map,
        NestingMode::Group => Nesting::Group,
        NestingMode::Invalid => return Err(ConvertError::Nesting { block: given.type_name }),
    };
    Ok(NestedBlock {
        block: given.block.map(block).transpose()?.unwrap_or_default(),
        nesting,
        min_items: given.min_items.max(0) as u64,
        max_items: given.max_items.max(0) as u64,
    })
}

fn description(text: String, kind: i32) -> Description {
    let kind = if kind == wire::StringKind::Markdown as i32 { TextKind::Markdown } else { TextKind::Plain };
    Description { text, kind }
}

fn optional_text(text: &str) -> Option<Str> {
    if text.is_empty() { None } else { Some(text.into()) }
}

pub(super) fn diagnostics(given: Vec<wire::Diagnostic>) -> Diagnostics {
    use wire::diagnostic::Severity;

    let known = given.into_iter().filter_map(|given| {
        let make = match given.severity() {
            Severity::Error => Diagnostic::error,
            Severity::Warning => Diagnostic::warning,
            Severity::Invalid => return None,
        };
        let diagnostic = make(given.summary, given.detail);
        Some(match given.attribute {
            Some(attribute) => diagnostic.at_path(path(attribute)),
            None => diagnostic,
        })
    });
    known.collect()
}

pub(super) fn path(given: wire::AttributePath) -> Path {
    use wire::attribute_path::step::Selector;

    let steps = given.steps.into_iter().filter_map(|step| {
        Some(match step.selector? {
            Selector::AttributeName(name) => PathStep::Attr(name.into()),
            Selector::ElementKeyString(key) => PathStep::Index(PathKey::String(key.into())),
            Selector::ElementKeyInt(key) => PathStep::Index(PathKey::Number(key.into())),
        })
    });
    Path::from(steps.collect::<Vec<_>>())
}
