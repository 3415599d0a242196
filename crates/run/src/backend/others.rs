//! Backends that the other tools have and we do not: refused by name, with what to use instead.

use groma_lang::config::Module;
use groma_model::diag::Diagnostic;

use super::{LOCAL, settings};

const SUMMARY: &str = "Unsupported backend type";
const WITHOUT: &str = "Run \"groma init -backend=false\" to install modules and providers without it.";

/// What can be used instead of a backend.
const INSTEAD: &[(&str, &str)] = &[
    ("azurerm", "pg, or http in front of a storage account"),
    ("consul", "kubernetes or pg"),
    ("cos", "s3, with the endpoint of the object storage"),
    ("gcs", "s3, with the interoperability endpoint of Google Cloud Storage"),
    ("oci", "s3, with the compatibility endpoint of the object storage"),
    ("oss", "s3, with the compatibility endpoint of the object storage"),
    ("remote", "http, pg, s3 or kubernetes"),
];

/// Why the backend of a root module cannot be used, if it cannot.
pub(super) fn unsupported(root: &Module) -> Option<Diagnostic> {
    if let Some(cloud) = &root.cloud {
        let detail = "The cloud block is not supported. Use a backend instead: http, pg, s3 or kubernetes.";
        return Some(Diagnostic::error(SUMMARY, detail).at(cloud.header).hint(WITHOUT));
    }
    let backend = root.backend.as_ref()?;
    let kind = backend.kind.as_str();
    if settings::schema(kind).is_some() {
        return None;
    }
    Some(unknown(kind).at(backend.kind_span).hint(WITHOUT))
}

/// A kind that there is none of.
pub(super) fn unknown(kind: &str) -> Diagnostic {
    let ours: Vec<&str> = std::iter::once(LOCAL).chain(groma_backends::kinds()).collect();
    let instead = INSTEAD.iter().find(|(name, _)| *name == kind);
    let detail = match instead {
        Some((_, instead)) => format!("The backend {kind:?} is not supported. Use {instead}."),
        None => format!("There is no backend {kind:?}. There are {}.", ours.join(", ")),
    };
    Diagnostic::error(SUMMARY, detail)
}
