//! What is wrong with a configuration before anybody asks a server.

mod advice;

use groma_kit::Object;
use groma_model::diag::Diagnostics;

use super::intent::{ignored, in_yaml};
use super::schema::contradictions;
use crate::cluster::{self, Given};
use crate::manifest::Manifest;
use crate::provider::{Host, Shared};
use crate::wait::WaitFor;
use advice::wait_elsewhere;

pub(super) fn validate(shared: &Shared, config: &Object) -> Diagnostics {
    let mut found = cluster::validate(config);
    if let Given::Here(spec) = cluster::read(config) {
        shared.connections.note(&spec);
    }
    let mut reference = None;
    if !config.is_unknown("yaml_body") && !config.is_null("yaml_body") {
        match Manifest::parse(config.text("yaml_body").unwrap_or_default()) {
            Ok(manifest) => reference = Some(manifest.reference()),
            Err(wrong) => found.extend(in_yaml(wrong)),
        }
    }
    if let Err(wrong) = ignored(&config.get("ignore_fields")) {
        found.extend(wrong);
    }
    found.extend(contradictions(config));
    if !config.is_null("wait_for") {
        let kind = reference.as_ref().map(|reference| reference.kind.as_str());
        match shared.host {
            Host::Groma => found.extend(WaitFor::validate(config, kind)),
            Host::Other => found.push(wait_elsewhere(config, reference.as_ref())),
        }
    }
    found
}
