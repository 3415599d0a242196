//! Between the wire's messages and our own types, both ways. Schemas are in `schema`, whole answers where they are asked for.

mod schema;
mod write_only;

#[cfg(test)]
mod tests;

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use groma_model::codec::{CodecError, json, msgpack};
use groma_model::diag::{Diagnostic, Diagnostics, Severity};
use groma_model::path::{Path, PathKey, PathStep};
use groma_model::ty::Type;
use groma_model::value::Value;

use super::generated::tfplugin as wire;
use crate::api::{ClientCapabilities, Deferral, FunctionError, Metadata, RawState, ServerCapabilities};

pub(super) use schema::{decode_schema, function, identity_schema};
pub(super) use write_only::{WriteOnlyValue, without_write_only, write_only_value};

/// What in a message cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConvertError {
    /// A type or value cannot be encoded or decoded.
    #[error("{0}")]
    Codec(#[from] CodecError),
    /// Text that is none.
    #[error("{what} is not UTF-8 text")]
    Text {
        /// What.
        what: &'static str,
    },
    /// Bytes that are no message.
    #[error("{what}: {source}")]
    Message {
        /// What they should have been.
        what: String,
        /// What is wrong.
        source: prost::DecodeError,
    },
    /// A number that stands for nothing.
    #[error("{of} has an unknown nesting mode")]
    Nesting {
        /// Which block or attribute.
        of: String,
    },
    /// Something that is there twice, or not at all.
    #[error("{0}")]
    Shape(String),
    /// A value that must not come back.
    #[error("{0}")]
    WriteOnly(#[from] WriteOnlyValue),
}

/// A value as it travels.
pub(super) fn to_wire(value: &Value, ty: &Type) -> Result<wire::DynamicValue, ConvertError> {
    Ok(wire::DynamicValue { msgpack: msgpack::encode(value, ty)?.into(), json: Bytes::new() })
}

/// A value as it arrived. Nothing at all stands for null.
pub(super) fn from_wire(value: Option<wire::DynamicValue>, ty: &Type) -> Result<Value, ConvertError> {
    match value {
        Some(value) if !value.msgpack.is_empty() => Ok(msgpack::decode(&value.msgpack, ty)?),
        Some(value) if !value.json.is_empty() => {
            let text = std::str::from_utf8(&value.json).map_err(|_| ConvertError::Text { what: "a JSON value" })?;
            Ok(json::decode(text, ty)?)
        }
        _ => Ok(Value::null(ty.clone())),
    }
}

/// An identity as it travels.
pub(super) fn identity_to_wire(identity: &Value, ty: &Type) -> Result<wire::ResourceIdentityData, ConvertError> {
    Ok(wire::ResourceIdentityData { identity_data: Some(to_wire(identity, ty)?) })
}

/// An identity as it arrived; null is as good as none.
pub(super) fn identity_from_wire(
    identity: Option<wire::ResourceIdentityData>,
    ty: &Type,
) -> Result<Option<Value>, ConvertError> {
    let Some(data) = identity.and_then(|identity| identity.identity_data) else { return Ok(None) };
    Ok(Some(from_wire(Some(data), ty)?).filter(|identity| !identity.is_null()))
}

/// What a provider found, as it arrived. What has no severity counts for nothing.
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
            Some(attribute) if !attribute.steps.is_empty() => diagnostic.at_path(path(attribute)),
            _ => diagnostic,
        })
    });
    known.collect()
}

/// What a provider found, as it travels.
pub(super) fn diagnostics_to_wire(given: &Diagnostics) -> Vec<wire::Diagnostic> {
    use wire::diagnostic::Severity as Wire;

    let sent = given.iter().map(|given| wire::Diagnostic {
        severity: match given.severity {
            Severity::Error => Wire::Error,
            Severity::Warning => Wire::Warning,
        }
        .into(),
        summary: given.summary.clone(),
        detail: given.detail.clone(),
        attribute: given.path.as_ref().map(path_to_wire),
    });
    sent.collect()
}

/// A path as it arrived. What follows a step that we do not know is left out: the path still leads near the place.
pub(super) fn path(given: wire::AttributePath) -> Path {
    use wire::attribute_path::step::Selector;

    let steps = given.steps.into_iter().map_while(|step| {
        Some(match step.selector? {
            Selector::AttributeName(name) => PathStep::Attr(name.into()),
            Selector::ElementKeyString(key) => PathStep::Index(PathKey::String(key.into())),
            Selector::ElementKeyInt(key) => PathStep::Index(PathKey::Number(key.into())),
        })
    });
    Path::from(steps.collect::<Vec<_>>())
}

/// A path as it travels. Elements of sets have no step of their own, so it ends before them.
pub(super) fn path_to_wire(given: &Path) -> wire::AttributePath {
    use wire::attribute_path::{Step, step::Selector};

    let steps = given.steps().iter().map_while(|step| {
        let selector = match step {
            PathStep::Attr(name) => Selector::AttributeName(name.to_string()),
            PathStep::Index(PathKey::String(key)) => Selector::ElementKeyString(key.to_string()),
            PathStep::Index(PathKey::Number(index)) => Selector::ElementKeyInt(index.to_i64()?),
            PathStep::Element(_) => return None,
        };
        Some(Step { selector: Some(selector) })
    });
    wire::AttributePath { steps: steps.collect() }
}

/// Stored attributes as they travel.
pub(super) fn raw_state_to_wire(state: RawState) -> wire::RawState {
    match state {
        RawState::Json(json) => wire::RawState { json: json.into(), ..wire::RawState::default() },
        RawState::Flatmap(entries) => {
            wire::RawState { flatmap: entries.into_iter().collect(), ..wire::RawState::default() }
        }
    }
}

/// Stored attributes as they arrived.
pub(super) fn raw_state(given: Option<wire::RawState>) -> RawState {
    let given = given.unwrap_or_default();
    if given.json.is_empty() && !given.flatmap.is_empty() {
        RawState::Flatmap(given.flatmap.into_iter().collect())
    } else {
        RawState::Json(given.json.into())
    }
}

/// Why an answer is put off, as it arrived.
pub(super) fn deferred(given: Option<wire::Deferred>) -> Option<Deferral> {
    use wire::deferred::Reason;

    given.map(|given| match given.reason() {
        Reason::Unknown => Deferral::Unknown,
        Reason::ResourceConfigUnknown => Deferral::ResourceConfigUnknown,
        Reason::ProviderConfigUnknown => Deferral::ProviderConfigUnknown,
        Reason::AbsentPrereq => Deferral::AbsentPrerequisite,
    })
}

/// Why an answer is put off, as it travels.
pub(super) fn deferred_to_wire(given: Option<Deferral>) -> Option<wire::Deferred> {
    use wire::deferred::Reason;

    given.map(|given| {
        let reason = match given {
            Deferral::Unknown => Reason::Unknown,
            Deferral::ResourceConfigUnknown => Reason::ResourceConfigUnknown,
            Deferral::ProviderConfigUnknown => Reason::ProviderConfigUnknown,
            Deferral::AbsentPrerequisite => Reason::AbsentPrereq,
        };
        wire::Deferred { reason: reason.into() }
    })
}

/// A time as it arrived; none if it is out of reach.
pub(super) fn time(given: Option<wire::Timestamp>) -> Option<SystemTime> {
    let given = given?;
    let nanos = Duration::from_nanos(u64::try_from(given.nanos).unwrap_or(0));
    let seconds = Duration::from_secs(given.seconds.unsigned_abs());
    let whole = if given.seconds >= 0 {
        SystemTime::UNIX_EPOCH.checked_add(seconds)
    } else {
        SystemTime::UNIX_EPOCH.checked_sub(seconds)
    };
    whole?.checked_add(nanos)
}

/// A time as it travels.
pub(super) fn time_to_wire(given: Option<SystemTime>) -> Option<wire::Timestamp> {
    let (seconds, nanos) = match given?.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => (i64::try_from(after.as_secs()).ok()?, after.subsec_nanos()),
        Err(before) => {
            // Nanoseconds always count forwards.
            let before = before.duration();
            let whole = i64::try_from(before.as_secs()).ok()?.checked_neg()?;
            match before.subsec_nanos() {
                0 => (whole, 0),
                nanos => (whole.checked_sub(1)?, 1_000_000_000 - nanos),
            }
        }
    };
    Some(wire::Timestamp { seconds, nanos: i32::try_from(nanos).ok()? })
}

/// What the caller can deal with, as it travels.
pub(super) fn client_capabilities_to_wire(given: ClientCapabilities) -> wire::ClientCapabilities {
    wire::ClientCapabilities {
        deferral_allowed: given.deferral_allowed,
        write_only_attributes_allowed: given.write_only_attributes_allowed,
    }
}

/// What the caller can deal with, as it arrived: nothing, if it does not say.
pub(super) fn client_capabilities(given: Option<wire::ClientCapabilities>) -> ClientCapabilities {
    let given = given.unwrap_or_default();
    ClientCapabilities {
        deferral_allowed: given.deferral_allowed,
        write_only_attributes_allowed: given.write_only_attributes_allowed,
    }
}

/// What a provider can do, as it arrived.
pub(super) fn server_capabilities(given: Option<wire::ServerCapabilities>) -> ServerCapabilities {
    let given = given.unwrap_or_default();
    ServerCapabilities {
        plan_destroy: given.plan_destroy,
        schema_optional: given.get_provider_schema_optional,
        move_state: given.move_resource_state,
        generate_config: given.generate_resource_config,
        last_words: false,
        lists_by_configuration: false,
        steady_plans: false,
    }
}

/// What a provider can do, as it travels.
pub(super) fn server_capabilities_to_wire(given: ServerCapabilities) -> wire::ServerCapabilities {
    wire::ServerCapabilities {
        plan_destroy: given.plan_destroy,
        get_provider_schema_optional: given.schema_optional,
        move_resource_state: given.move_state,
        generate_resource_config: given.generate_config,
    }
}

/// What a function said instead of a result, as it arrived.
pub(super) fn function_error(given: wire::FunctionError) -> FunctionError {
    FunctionError {
        text: given.text,
        argument: given.function_argument.and_then(|argument| usize::try_from(argument).ok()),
    }
}

/// What a function said instead of a result, as it travels.
pub(super) fn function_error_to_wire(given: FunctionError) -> wire::FunctionError {
    wire::FunctionError {
        text: given.text,
        function_argument: given.argument.and_then(|argument| i64::try_from(argument).ok()),
    }
}

/// Names of what is on offer, as they arrived.
pub(super) fn metadata(given: wire::get_metadata::Response) -> Metadata {
    use wire::get_metadata::ByType;

    let types = |given: Vec<ByType>| {
        let mut names: Vec<_> = given.into_iter().map(|given| given.type_name.into()).collect();
        names.sort();
        names
    };
    let mut functions: Vec<_> = given.functions.into_iter().map(|given| given.name.into()).collect();
    functions.sort();
    Metadata {
        resources: types(given.resources),
        data_sources: types(given.data_sources),
        ephemerals: types(given.ephemeral_resources),
        lists: types(given.list_resources),
        functions,
    }
}

/// Names of what is on offer, as they travel.
pub(super) fn metadata_to_wire(given: &Metadata, capabilities: ServerCapabilities) -> wire::get_metadata::Response {
    use wire::get_metadata::{ByName, ByType};

    let types = |names: &[groma_model::text::Str]| {
        names.iter().map(|name| ByType { type_name: name.to_string() }).collect::<Vec<_>>()
    };
    wire::get_metadata::Response {
        server_capabilities: Some(server_capabilities_to_wire(capabilities)),
        diagnostics: Vec::new(),
        data_sources: types(&given.data_sources),
        resources: types(&given.resources),
        functions: given.functions.iter().map(|name| ByName { name: name.to_string() }).collect(),
        ephemeral_resources: types(&given.ephemerals),
        list_resources: types(&given.lists),
    }
}
