//! A state as text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use groma_model::address::{AbsResource, InstanceKey, ResourceMode};
use groma_model::codec::{CodecError, json, type_json};
use groma_model::path::{Path, PathKey, PathStep};

use super::Layout;
use super::writer::Writer;
use crate::{
    Attributes, CheckKind, CheckObject, CheckResult, CheckStatus, InstanceState, ObjectState, ObjectStatus,
    OutputState, ResourceState, State,
};

/// Why a state cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// A value has no JSON form: parts of it are unknown, or a number is infinite.
    #[error("the value of output {name:?} cannot be stored: {source}")]
    Output {
        /// Which output.
        name: String,
        /// Why.
        source: CodecError,
    },
}

/// Writes a state.
pub fn encode(state: &State, layout: Layout) -> Result<String, EncodeError> {
    let outputs = encoded_outputs(state)?;
    let mut out = Writer::new(layout);
    out.object(|out| {
        out.key("version");
        out.plain(4);
        out.key("terraform_version");
        out.text(&state.tool_version);
        out.key("serial");
        out.plain(state.serial);
        out.key("lineage");
        out.text(&state.lineage);
        out.key("outputs");
        out.object(|out| {
            for output in &outputs {
                write_output(out, output);
            }
        });
        out.key("resources");
        out.array(|out| {
            for (address, resource) in in_file_order(state) {
                out.item();
                write_resource(out, &address, resource);
            }
        });
        out.key("check_results");
        match state.checks.as_deref() {
            None | Some([]) => out.plain("null"),
            Some(checks) => out.array(|out| checks.iter().for_each(|check| write_check(out, check))),
        }
    });
    Ok(out.finish())
}

/// Where a resource is in the file: by the text of its module, then by kind.
struct Place<'s> {
    module: String,
    mode: &'static str,
    address: &'s AbsResource,
}

/// Files are ordered by the text of the module's address, which is not the order of addresses.
fn in_file_order(state: &State) -> Vec<(Place<'_>, &ResourceState)> {
    let mode = |mode: ResourceMode| match mode {
        ResourceMode::Managed => Some("managed"),
        ResourceMode::Data => Some("data"),
        // Never stored.
        ResourceMode::Ephemeral => None,
    };
    let placed = state.resources.iter().filter_map(|(address, resource)| {
        let mode = mode(address.resource.mode)?;
        let module = if address.module.is_root() { String::new() } else { address.module.to_string() };
        Some((Place { module, mode, address }, resource))
    });
    let mut placed: Vec<_> = placed.collect();
    let key = |place: &Place<'_>| (place.mode, place.address.resource.ty.clone(), place.address.resource.name.clone());
    placed.sort_by(|(a, _), (b, _)| a.module.cmp(&b.module).then_with(|| key(a).cmp(&key(b))));
    placed
}

/// An output, its value and its type as JSON.
type EncodedOutput<'s> = (&'s str, &'s OutputState, String, String);

fn encoded_outputs(state: &State) -> Result<Vec<EncodedOutput<'_>>, EncodeError> {
    let encoded = state.outputs.iter().map(|(name, output)| {
        let ty = output.value.ty();
        let value = json::encode(&output.value, &ty)
            .map_err(|source| EncodeError::Output { name: name.to_string(), source })?;
        Ok((name.as_str(), output, value, type_json::encode(&ty)))
    });
    encoded.collect()
}

fn write_output(out: &mut Writer, (name, output, value, ty): &EncodedOutput<'_>) {
    out.key(name);
    out.object(|out| {
        out.key("value");
        out.raw(value);
        out.key("type");
        out.raw(ty);
        if output.sensitive {
            out.key("sensitive");
            out.plain(true);
        }
        if let Some(message) = output.deprecated.as_ref().filter(|message| !message.is_empty()) {
            out.key("deprecated");
            out.text(message);
        }
    });
}

fn write_resource(out: &mut Writer, place: &Place<'_>, state: &ResourceState) {
    let by_instance = state.instances.values().any(|instance| !instance.provider_key.is_none());
    out.object(|out| {
        if !place.module.is_empty() {
            out.key("module");
            out.text(&place.module);
        }
        out.key("mode");
        out.text(place.mode);
        out.key("type");
        out.text(&place.address.resource.ty);
        out.key("name");
        out.text(&place.address.resource.name);
        if !by_instance {
            out.key("provider");
            out.text(&state.provider.to_string());
        }
        out.key("instances");
        out.array(|out| {
            for (key, instance) in &state.instances {
                write_instance(out, key, instance, by_instance.then_some(state));
            }
        });
    });
}

/// Writes the objects of an instance. `resource` is given if the provider is written down with each.
fn write_instance(out: &mut Writer, key: &InstanceKey, instance: &InstanceState, resource: Option<&ResourceState>) {
    let provider = resource.map(|resource| resource.provider.instance(instance.provider_key.clone()).to_string());
    let current = instance.current.iter().map(|object| (None, object));
    let deposed = instance.deposed.iter().map(|(key, object)| (Some(key), object));
    for (deposed, object) in current.chain(deposed) {
        out.item();
        out.object(|out| {
            match key {
                InstanceKey::None => {}
                InstanceKey::Int(number) => {
                    out.key("index_key");
                    out.plain(number);
                }
                InstanceKey::String(text) => {
                    out.key("index_key");
                    out.text(text);
                }
            }
            if object.status == ObjectStatus::Tainted {
                out.key("status");
                out.text("tainted");
            }
            if let Some(deposed) = deposed {
                out.key("deposed");
                out.text(deposed.as_str());
            }
            if let Some(provider) = &provider {
                out.key("provider");
                out.text(provider);
            }
            write_object(out, object);
        });
    }
}

pub(crate) fn write_object(out: &mut Writer, object: &ObjectState) {
    out.key("schema_version");
    out.plain(object.schema_version);
    match &object.attributes {
        Attributes::Json(json) => {
            out.key("attributes");
            out.raw(json);
        }
        Attributes::Flat(entries) => {
            out.key("attributes_flat");
            out.object(|out| {
                for (name, value) in entries {
                    out.key(name);
                    out.text(value);
                }
            });
        }
    }
    out.key("sensitive_attributes");
    out.array(|out| object.sensitive.iter().for_each(|path| write_path(out, path)));
    if !object.private.is_empty() {
        out.key("private");
        out.text(&BASE64.encode(&object.private));
    }
    if !object.dependencies.is_empty() {
        out.key("dependencies");
        out.array(|out| {
            for dependency in &object.dependencies {
                out.item();
                out.text(&dependency.to_string());
            }
        });
    }
    for (name, set) in [("create_before_destroy", object.create_before_destroy), ("skip_destroy", object.skip_destroy)]
    {
        if set {
            out.key(name);
            out.plain(true);
        }
    }
    if let Some(identity) = &object.identity {
        out.key("identity");
        out.raw(&identity.json);
        if let Some(version) = identity.schema_version {
            out.key("identity_schema_version");
            out.plain(version);
        }
    }
}

/// Paths into sets cannot be written; their set is sensitive as a whole.
fn write_path(out: &mut Writer, path: &Path) {
    let step = |out: &mut Writer, kind: &str, write: &dyn Fn(&mut Writer)| {
        out.item();
        out.object(|out| {
            out.key("type");
            out.text(kind);
            out.key("value");
            write(out);
        });
    };
    out.item();
    out.array(|out| {
        for part in path.steps() {
            match part {
                PathStep::Attr(name) => step(out, "get_attr", &|out| out.text(name)),
                PathStep::Index(key) => step(out, "index", &|out| write_key(out, key)),
                PathStep::Element(_) => break,
            }
        }
    });
}

fn write_key(out: &mut Writer, key: &PathKey) {
    out.object(|out| {
        out.key("value");
        match key {
            PathKey::Number(number) => out.plain(number),
            PathKey::String(text) => out.text(text),
        }
        out.key("type");
        out.text(match key {
            PathKey::Number(_) => "number",
            PathKey::String(_) => "string",
        });
    });
}

fn write_check(out: &mut Writer, check: &CheckResult) {
    out.item();
    out.object(|out| {
        out.key("object_kind");
        out.text(match check.kind {
            CheckKind::Resource => "resource",
            CheckKind::Output => "output",
            CheckKind::Check => "check",
            CheckKind::Variable => "var",
        });
        out.key("config_addr");
        out.text(&check.config_address);
        out.key("status");
        out.text(status(check.status));
        out.key("objects");
        if check.objects.is_empty() {
            out.plain("null");
        } else {
            out.array(|out| check.objects.iter().for_each(|object| write_check_object(out, object)));
        }
    });
}

fn write_check_object(out: &mut Writer, object: &CheckObject) {
    out.item();
    out.object(|out| {
        out.key("object_addr");
        out.text(&object.address);
        out.key("status");
        out.text(status(object.status));
        if !object.failures.is_empty() {
            out.key("failure_messages");
            out.array(|out| {
                for message in &object.failures {
                    out.item();
                    out.text(message);
                }
            });
        }
    });
}

fn status(status: CheckStatus) -> &'static str {
    match status {
        CheckStatus::Pass => "pass",
        CheckStatus::Fail => "fail",
        CheckStatus::Error => "error",
        CheckStatus::Unknown => "unknown",
    }
}
