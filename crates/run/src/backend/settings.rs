//! What a backend is told: the settings of its block, of whichever kind, and the number that tells whether they have changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use groma_lang::config::{Backend, Module};
use groma_lang::load::ModuleChain;
use groma_lang::walk::InputValue;
use groma_model::codec::json;
use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::{Attribute, Block};
use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value, ValueKind, go_quote};

use super::LOCAL;
use crate::session::Session;

/// The settings of a backend.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    kind: String,
    /// By the schema of the kind, without marks.
    values: Value,
}

/// What may stand in the block of a backend. None if there is no such kind.
pub(super) fn schema(kind: &str) -> Option<Block> {
    if kind != LOCAL {
        return groma_backends::kind(kind).map(groma_backends::BackendKind::schema);
    }
    let text = || Attribute { optional: true, ..Attribute::of_type(Type::String) };
    let attributes = ["path", "workspace_dir"].map(|name| (Str::from(name), text()));
    Some(Block { attributes: attributes.into_iter().collect(), ..Block::default() })
}

impl Default for Settings {
    /// Files beside the configuration.
    fn default() -> Self {
        let values = ["path", "workspace_dir"].map(|name| (Str::from(name), Value::null(Type::String)));
        Self { kind: LOCAL.to_owned(), values: Value::object(values) }
    }
}

impl Settings {
    /// Of which kind of backend these are.
    pub(crate) fn kind(&self) -> &str {
        &self.kind
    }

    /// All of them, as an object.
    pub(super) fn values(&self) -> &Value {
        &self.values
    }

    /// The number by which the other tools tell whether what stands in the configuration has changed.
    pub(super) fn hash(&self) -> u64 {
        let mut text = format!("<{};", go_quote(&self.kind));
        write_for_hash(&mut text, &self.values);
        text.push_str(";>");
        u64::from(crc32(text.as_bytes()))
    }

    /// All of them, as they are recorded.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        let text = json::encode(&self.values, &self.values.ty()).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// From what was recorded. None if there is no such kind, or they are not settings of it.
    pub(crate) fn from_json(kind: &str, recorded: &serde_json::Value) -> Option<Self> {
        let schema = schema(kind)?;
        let empty = decoded(kind, Value::null(schema.implied_type()), &schema);
        let ty = empty.values.ty();
        // Others may have recorded fewer, or more.
        let mut settings = empty;
        let Type::Object(attributes) = &ty else { return None };
        for (name, member) in recorded.as_object()? {
            let Some(attribute) = attributes.get(name.as_str()) else { continue };
            let value = json::decode(&member.to_string(), attribute).ok()?;
            settings.replace(name, value);
        }
        Some(settings)
    }

    /// From an object, which need not have all of them. What is not among them is told, and left out.
    pub(super) fn of_value(kind: &str, given: &Value) -> (Self, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let schema = schema(kind).unwrap_or_default();
        let mut settings = decoded(kind, Value::null(schema.implied_type()), &schema);
        for (name, value) in given.as_entries().into_iter().flat_map(Entries::iter) {
            match settings.set(name, value) {
                Ok(true) => {}
                Ok(false) => {
                    let detail = format!("The backend {kind:?} has no argument named {:?}.", name.as_str());
                    diagnostics.push(Diagnostic::error("Unsupported argument", detail));
                }
                Err(problem) => diagnostics.push(problem),
            }
        }
        (settings, diagnostics)
    }

    fn replace(&mut self, name: &str, value: Value) {
        let entries = self.values.as_entries();
        let all = entries.into_iter().flat_map(Entries::iter);
        let changed = all.map(|(known, old)| {
            let value = if known.as_str() == name { value.clone() } else { old.clone() };
            (known.clone(), value)
        });
        self.values = Value::object(changed.collect::<Vec<_>>());
    }

    /// Sets one of them, as an argument gives it. False if there is none of that name.
    pub(super) fn set(&mut self, name: &str, value: &Value) -> Result<bool, Diagnostic> {
        let Some(old) = self.values.as_entries().and_then(|entries| entries.get(name)) else { return Ok(false) };
        let converted = convert(&completed(value, &old.ty()), &old.ty()).map_err(|problem| {
            let detail = format!("Inappropriate value for the setting {name:?} of the backend: {problem}.");
            Diagnostic::error("Incorrect attribute value type", detail)
        })?;
        self.replace(name, converted);
        Ok(true)
    }

    /// What they may not be.
    pub(super) fn check(&self) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        let required =
            schema(&self.kind).into_iter().flat_map(|schema| schema.attributes).filter(|(_, it)| it.required);
        for (name, _) in required.filter(|(name, _)| self.get(name).is_none()) {
            let detail = format!("The attribute {:?} is required by the backend {:?}.", name.as_str(), self.kind);
            let hint = "Write it into the block, or give it with -backend-config.";
            diagnostics.push(Diagnostic::error("Missing required argument", detail).hint(hint));
        }
        if self.kind == LOCAL {
            for (name, summary) in
                [("path", "Invalid local state file path"), ("workspace_dir", "Invalid local workspace directory path")]
            {
                if self.text(name).as_deref() == Some("") {
                    let detail = format!("The \"{name}\" attribute value must not be empty.");
                    diagnostics.push(Diagnostic::error(summary, detail));
                }
            }
        }
        diagnostics
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.values.as_entries()?.get(name).filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Option<String> {
        self.get(name)?.as_str().map(str::to_owned)
    }

    /// A setting that is a path.
    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }
}

/// An object with everything that one of this type has: what was left out is null.
fn completed(value: &Value, ty: &Type) -> Value {
    let (Some(given), Type::Object(attributes)) = (value.as_entries(), ty) else { return value.clone() };
    let extra = given.iter().filter(|(name, _)| attributes.get(name.as_str()).is_none());
    let extra = extra.map(|(name, value)| (name.clone(), value.clone()));
    let known = attributes.iter().map(|(name, attribute)| {
        let value = given.get(name.as_str()).map(|value| completed(value, &attribute.ty));
        (name.clone(), value.unwrap_or_else(|| Value::null(attribute.ty.clone())))
    });
    Value::object(known.chain(extra).collect::<Vec<_>>())
}

/// Everything that the schema has, from what was decoded by it.
fn decoded(kind: &str, value: Value, schema: &Block) -> Settings {
    if !value.is_null() {
        return Settings { kind: kind.to_owned(), values: value };
    }
    let Type::Object(attributes) = schema.implied_type() else {
        return Settings { kind: kind.to_owned(), values: Value::object(Vec::<(Str, Value)>::new()) };
    };
    let nulls = attributes.iter().map(|(name, attribute)| (name.clone(), Value::null(attribute.ty.clone())));
    Settings { kind: kind.to_owned(), values: Value::object(nulls.collect::<Vec<_>>()) }
}

/// A value as cty hashes it.
fn write_for_hash(out: &mut String, value: &Value) {
    if value.is_null() || !value.is_known() {
        out.push(if value.is_null() { '~' } else { '?' });
        return;
    }
    match value.kind() {
        ValueKind::Bool(true) => out.push('T'),
        ValueKind::Bool(false) => out.push('F'),
        ValueKind::String(text) => out.push_str(&go_quote(text)),
        ValueKind::Number(number) => {
            let _ = write!(out, "{number}");
        }
        ValueKind::Object(entries) => {
            out.push('<');
            for (_, member) in entries.iter() {
                write_for_hash(out, member);
                out.push(';');
            }
            out.push('>');
        }
        ValueKind::Map(entries) => {
            out.push('{');
            for (key, member) in entries.iter() {
                out.push_str(&go_quote(key));
                out.push(':');
                write_for_hash(out, member);
                out.push(';');
            }
            out.push('}');
        }
        _ => {
            out.push('[');
            for member in value.as_elements().unwrap_or_default() {
                write_for_hash(out, member);
                out.push(';');
            }
            out.push(']');
        }
    }
}

/// The usual checksum of the IEEE.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _: u32| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

/// The same schema with nothing in it that must be given: arguments may give it.
fn optional(mut schema: Block) -> Block {
    for attribute in schema.attributes.values_mut().filter(|attribute| attribute.required) {
        (attribute.required, attribute.optional) = (false, true);
    }
    schema
}

impl Session {
    /// What stands in the configuration, evaluated.
    pub(super) fn backend_settings(
        &self,
        root: &Module,
        backend: &Backend,
        inputs: &BTreeMap<Str, InputValue>,
    ) -> Result<Settings, Diagnostics> {
        let kind = backend.kind.as_str();
        let Some(schema) = schema(kind) else { return Err(super::unsupported(root).into_iter().collect()) };
        let scope = self.static_scope(inputs);
        let chain = ModuleChain { module: root, caller: None };
        let schema = optional(schema);
        let (value, mut diagnostics) = scope.decode(&chain, &backend.config, &schema, &format!("backend.{kind}"));
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        diagnostics.extend(secrets(&value, backend.header));
        let value = value.unmark_deep().0;
        if !value.is_wholly_known() {
            let detail = "A setting of the backend is not known yet.";
            diagnostics.push(Diagnostic::error("Invalid backend configuration", detail).at(backend.header));
        }
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok(decoded(kind, value, &schema)) }
    }
}

/// Settings are recorded, so everybody may see them.
fn secrets(value: &Value, span: Span) -> Diagnostics {
    let marks = value.marks_deep();
    let found = [(marks.is_sensitive(), "sensitive"), (marks.is_ephemeral(), "ephemeral")];
    let found = found.into_iter().filter(|(is_marked, _)| *is_marked);
    let refused = found.map(|(_, word)| {
        let detail = "The configuration of the backend is recorded in the data directory and in plan files. Give what is secret \
                      by variables of the environment.";
        Diagnostic::error(format!("Backend config contains {word} values"), detail).at(span)
    });
    refused.collect()
}
