//! The `local` provider: files and programs of this machine.

mod command;
mod content;
mod data;
mod direxists;
mod file;
#[cfg(test)]
mod tests;

use crate::kit::Builtin;
use crate::kit::InProcess;
use crate::kit::outside::Outside;
use groma_provider::api::Effects;

/// What it is in the registry.
pub(crate) const BUILTIN: Builtin = Builtin {
    name: "local",
    namespace: groma_model::address::DEFAULT_NAMESPACE,
    host: groma_model::address::DEFAULT_HOST,
    version: Some("2.10.0"),
    effects: Effects::Repeatable,
    make,
};

fn make(outside: &Outside) -> InProcess {
    let outside = || outside.clone();
    InProcess::new(BUILTIN.address().to_string())
        .resource(file::File { outside: outside(), sensitive: false })
        .resource(file::File { outside: outside(), sensitive: true })
        .data_source(data::FileData { outside: outside(), sensitive: false })
        .data_source(data::FileData { outside: outside(), sensitive: true })
        .data_source(command::Command::new(&outside()))
        .ephemeral(command::Command::new(&outside()))
        .function(direxists::DirExists(outside()))
}
