//! The settings of the local backend, and the number that tells whether they have changed.

use std::collections::BTreeMap;

use groma_lang::config::{Backend, Module};
use groma_lang::load::{ModuleChain, StaticEvaluator as _};
use groma_lang::walk::InputValue;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Value, go_quote};

use crate::session::Session;

/// What `backend "local"` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LocalSettings {
    /// `path`
    pub(crate) path: Option<String>,
    /// `workspace_dir`
    pub(crate) workspace_dir: Option<String>,
}

impl LocalSettings {
    /// The number by which the other tools tell whether what stands in the configuration has changed.
    pub(super) fn hash(&self) -> u64 {
        let shown = |text: &Option<String>| text.as_deref().map_or_else(|| "~".to_owned(), go_quote);
        let text = format!("<\"local\";<{};{};>;>", shown(&self.path), shown(&self.workspace_dir));
        u64::from(crc32(text.as_bytes()))
    }

    /// Of which kind of backend these are.
    #[expect(clippy::unused_self, reason = "there will be others")]
    pub(crate) fn kind(&self) -> &'static str {
        super::LOCAL
    }

    /// All of them, as they are recorded.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({ "path": self.path, "workspace_dir": self.workspace_dir })
    }

    /// From what was recorded.
    pub(crate) fn from_json(recorded: &serde_json::Value) -> Self {
        let text = |name: &str| recorded.get(name).and_then(serde_json::Value::as_str).map(str::to_owned);
        Self { path: text("path"), workspace_dir: text("workspace_dir") }
    }

    /// Sets one of them. False if there is none of that name.
    pub(super) fn set(&mut self, name: &str, value: Option<String>) -> bool {
        match name {
            "path" => self.path = value,
            "workspace_dir" => self.workspace_dir = value,
            _ => return false,
        }
        true
    }

    /// What they may not be.
    pub(super) fn check(&self, span: Span) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        let mut refuse = |summary: &str, name: &str| {
            let detail = format!("The \"{name}\" attribute value must not be empty.");
            diagnostics.push(Diagnostic::error(summary, detail).at(span));
        };
        if self.path.as_deref() == Some("") {
            refuse("Invalid local state file path", "path");
        }
        if self.workspace_dir.as_deref() == Some("") {
            refuse("Invalid local workspace directory path", "workspace_dir");
        }
        diagnostics
    }
}

/// The usual checksum of the IEEE.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _: u32| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

impl Session {
    /// What stands in the configuration, evaluated.
    pub(super) fn local_settings(
        &self,
        root: &Module,
        backend: &Backend,
        inputs: &BTreeMap<Str, InputValue>,
    ) -> Result<LocalSettings, Diagnostics> {
        let (attributes, mut diagnostics) = backend.config.just_attributes();
        let scope = self.static_scope(inputs);
        let chain = ModuleChain { module: root, caller: None };
        let mut settings = LocalSettings::default();
        for attribute in &attributes {
            let (value, found) = scope.evaluate(&chain, &attribute.expr, "backend.local");
            let failed = found.has_errors();
            diagnostics.extend(found);
            if failed {
                continue;
            }
            let text = text_of(&value).map_err(|problem| problem.at(attribute.expr.span).into());
            let Some(text) = diagnostics.take(text) else { continue };
            if !settings.set(&attribute.name.name, text) {
                let detail = format!("An argument named \"{}\" is not expected here.", attribute.name.name);
                diagnostics.push(Diagnostic::error("Unsupported argument", detail).at(attribute.name.span));
            }
        }
        diagnostics.extend(settings.check(backend.header));
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok(settings) }
    }
}

/// A setting is a text that everybody may see, since it is recorded.
fn text_of(value: &Value) -> Result<Option<String>, Diagnostic> {
    let marks = value.marks_deep();
    for (is_marked, word) in [(marks.is_sensitive(), "sensitive"), (marks.is_ephemeral(), "ephemeral")] {
        if is_marked {
            let summary = format!("Backend config contains {word} values");
            let detail = "The configuration of the backend is recorded in the data directory and in plan files.";
            return Err(Diagnostic::error(summary, detail));
        }
    }
    let wrong = |problem: String| {
        let detail = format!("Inappropriate value for a setting of the backend: {problem}.");
        Diagnostic::error("Incorrect attribute value type", detail)
    };
    let value = groma_model::convert::convert(value, &Type::String).map_err(|problem| wrong(problem.to_string()))?;
    if value.is_null() {
        return Ok(None);
    }
    value.as_str().map(|text| Some(text.to_owned())).ok_or_else(|| wrong("it is not known yet".to_owned()))
}
