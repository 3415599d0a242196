//! Talking to API servers: connections that are shared, kinds that are looked up once, requests that are tried again when that is safe.

mod cluster;
mod connections;
mod credentials;
mod discovery;
mod link;
mod proxies;
mod retry;
mod settings;
mod target;
mod warnings;

#[cfg(test)]
pub(crate) mod served;
#[cfg(test)]
mod tests;

use crate::Json;

pub(crate) use cluster::Cluster;
pub(crate) use connections::Connections;
pub(crate) use settings::kubeconfig_words;

/// A kind of objects that a server has.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "Kubernetes calls it so")]
pub(crate) struct Kind {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
    pub(crate) namespaced: bool,
}

/// What the server said, and what it warned about (`Warning:` headers of this very request).
#[derive(Debug, Clone)]
pub(crate) struct Said<T> {
    pub(crate) value: T,
    pub(crate) warnings: Vec<String>,
}

/// How to apply.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Apply<'a> {
    pub(crate) manager: &'a str,
    pub(crate) force: bool,
    pub(crate) dry_run: bool,
}

/// A patch that is not a server-side apply.
#[derive(Debug, Clone)]
pub(crate) enum Patch {
    /// RFC 6902.
    Json(Json),
    /// RFC 7386.
    Merge(Json),
}

/// How to delete.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delete {
    /// `Background`, `Foreground` or `Orphan`.
    pub(crate) propagation: Option<String>,
    /// Only this very object.
    pub(crate) uid: Option<String>,
}
