//! The `rest` provider: objects behind any API that speaks JSON over HTTP.

mod client;
mod document;
mod listing;
mod object;
mod object_spec;
mod request;
mod requests;
mod settings;
#[cfg(test)]
mod tests;
mod token;
mod waiting;

use groma_provider::api::Effects;
use std::sync::Arc;

use crate::kit::Builtin;
use crate::kit::InProcess;
use crate::kit::outside::Outside;

/// What it is in the registry. It has no namesake: its version is that of its own interface.
pub(crate) const BUILTIN: Builtin = Builtin {
    name: "rest",
    namespace: "builtin",
    host: "groma.dev",
    version: Some("0.1.0"),
    effects: Effects::Outside,
    make,
};

fn make(outside: &Outside) -> InProcess {
    let settings = Arc::new(settings::Settings::new(outside));
    InProcess::new(BUILTIN.address().to_string())
        .configured_by(settings::RestProvider(settings.clone()))
        .resource(object::RestObject(settings.clone()))
        .data_source(request::ObjectData(settings.clone()))
        .data_source(request::Request(settings.clone()))
        .ephemeral(request::Request(settings))
}
