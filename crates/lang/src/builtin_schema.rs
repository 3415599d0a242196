//! The schemas of the provider that is part of the program: `terraform_data` and `terraform_remote_state`.

use std::sync::{Arc, LazyLock};

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::schema::{Attribute, Block, Schema};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;

use crate::config::{ProviderSource, ResourceMode};
use crate::oracle::SchemaSource;

/// Knows the schemas of the built-in provider and of no other.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltinSchemas;

impl SchemaSource for BuiltinSchemas {
    fn provider(&self, provider: &ProviderSource) -> Option<Arc<Schema>> {
        is_ours(provider).then(|| Arc::clone(&PROVIDER))
    }

    fn resource(&self, provider: &ProviderSource, mode: ResourceMode, kind: &str) -> Option<Arc<Schema>> {
        let schema = match (mode, kind) {
            (ResourceMode::Managed, "terraform_data") => &DATA,
            (ResourceMode::Data, "terraform_remote_state") => &REMOTE_STATE,
            _ => return None,
        };
        is_ours(provider).then(|| Arc::clone(schema))
    }
}

/// Backends that a remote state can be read from.
const BACKENDS: [&str; 13] =
    ["local", "remote", "azurerm", "consul", "cos", "gcs", "http", "inmem", "kubernetes", "oss", "pg", "s3", "_local"];

/// Checks that only the provider itself can make: what is wrong with a decoded configuration.
pub fn validate_config(mode: ResourceMode, kind: &str, config: &Value) -> Diagnostics {
    let attribute = |name: &str| config.as_entries().and_then(|entries| entries.get(name));
    let mut diagnostics = Diagnostics::new();
    match (mode, kind) {
        (ResourceMode::Managed, "terraform_data") => {
            for name in ["id", "output"] {
                if attribute(name).is_some_and(|value| !value.is_null()) {
                    diagnostics.push(Diagnostic::error(format!("{name:?} attribute is read-only"), ""));
                }
            }
        }
        (ResourceMode::Data, "terraform_remote_state") => {
            let backend = attribute("backend").and_then(Value::as_str);
            if let Some(name) = backend.filter(|name| !BACKENDS.contains(name)) {
                let detail = format!("There is no backend type named {name:?}.");
                let diagnostic = Diagnostic::error("Invalid backend configuration", detail);
                diagnostics.push(diagnostic.at_path(Path::root().attr("backend")));
            } else if let (Some(backend), Some(config)) = (backend, attribute("config")) {
                diagnostics.extend(check_backend_config(backend, config));
            }
        }
        _ => {}
    }
    diagnostics
}

/// Arguments of the backends whose arguments are known here.
fn check_backend_config(backend: &str, config: &Value) -> Option<Diagnostic> {
    let invalid = |detail: String| {
        let diagnostic = Diagnostic::error("Invalid backend configuration", detail);
        Some(diagnostic.at_path(Path::root().attr("config")))
    };
    if config.is_null() || !config.is_known() {
        return None;
    }
    let Some(entries) = config.as_entries() else {
        return invalid("The configuration must be an object value.".into());
    };
    let unexpected = |name: &&Str| backend == "local" && !["path", "workspace_dir"].contains(&name.as_str());
    let name = entries.names().iter().find(unexpected)?;
    invalid(format!("The backend {backend:?} has no argument named {:?}.", name.as_str()))
}

fn is_ours(provider: &ProviderSource) -> bool {
    provider.is_builtin() && provider.ty == "terraform"
}

static PROVIDER: LazyLock<Arc<Schema>> = LazyLock::new(Arc::default);

static DATA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
    schema([
        ("input", optional(Type::Dynamic)),
        ("output", computed(Type::Dynamic)),
        ("triggers_replace", optional(Type::Dynamic)),
        ("id", computed(Type::String)),
    ])
});

static REMOTE_STATE: LazyLock<Arc<Schema>> = LazyLock::new(|| {
    schema([
        ("backend", Attribute { required: true, ..Attribute::of_type(Type::String) }),
        ("config", optional(Type::Dynamic)),
        ("defaults", optional(Type::Dynamic)),
        ("outputs", computed(Type::Dynamic)),
        ("workspace", optional(Type::String)),
    ])
});

fn optional(ty: Type) -> Attribute {
    Attribute { optional: true, ..Attribute::of_type(ty) }
}

fn computed(ty: Type) -> Attribute {
    Attribute { computed: true, ..Attribute::of_type(ty) }
}

fn schema<const N: usize>(attributes: [(&str, Attribute); N]) -> Arc<Schema> {
    let attributes = attributes.into_iter().map(|(name, attribute)| (Str::new(name), attribute)).collect();
    Arc::new(Schema { version: 0, block: Block { attributes, ..Block::default() } })
}
