//! Sources of Flux, as objects: what they have fetched, and how they are asked to look for something newer.

use groma_run::source::artifact::Artifact;
use kube::api::DynamicObject;
use serde_json::Value as Json;

use crate::api::names;
use crate::api::source::{FluxKind, FluxSource};
use crate::objects::{Kind, Place};

/// The group of the kinds of sources.
pub const GROUP: &str = "source.toolkit.fluxcd.io";

/// A kind of sources.
pub fn kind(kind: FluxKind) -> Kind {
    let (name, plural) = match kind {
        FluxKind::GitRepository => ("GitRepository", "gitrepositories"),
        FluxKind::OciRepository => ("OCIRepository", "ocirepositories"),
        FluxKind::Bucket => ("Bucket", "buckets"),
    };
    let text = str::to_owned;
    Kind { group: text(GROUP), version: text("v1"), kind: text(name), plural: text(plural) }
}

/// The source that a Stack of this namespace refers to.
pub fn place(source: &FluxSource, namespace: &str) -> Place {
    Place::new(kind(source.kind), source.namespace.as_deref().unwrap_or(namespace), &source.name)
}

/// What a source has fetched.
pub fn artifact(object: &DynamicObject) -> Option<Artifact> {
    let found = object.data.pointer("/status/artifact")?;
    let text = |field: &str| found.get(field).and_then(Json::as_str).unwrap_or_default().to_owned();
    let (url, revision, digest) = (text("url"), text("revision"), text("digest"));
    // Before there were digests, there was a checksum.
    let digest =
        if digest.is_empty() && !text("checksum").is_empty() { format!("sha256:{}", text("checksum")) } else { digest };
    (!url.is_empty()).then_some(Artifact { url, revision, digest })
}

/// Why a source has fetched nothing yet, as it says itself.
pub fn says(object: &DynamicObject) -> Option<&str> {
    let conditions = object.data.pointer("/status/conditions")?.as_array()?;
    let ready = conditions.iter().find(|known| known["type"] == "Ready")?;
    ready["message"].as_str().filter(|message| !message.is_empty())
}

/// What a source was asked with to look for something newer.
pub fn asked(object: &DynamicObject) -> Option<&str> {
    object.metadata.annotations.as_ref()?.get(names::FLUX_REQUESTED_AT).map(String::as_str)
}

/// What it was asked with when it looked last.
pub fn handled(object: &DynamicObject) -> Option<&str> {
    object.data.pointer("/status/lastHandledReconcileAt")?.as_str()
}
