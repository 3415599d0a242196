//! The provider that is part of every such program: `terraform_data`, `terraform_remote_state` and a few functions.

mod data;
mod functions;
mod hcl;
mod remote_state;
#[cfg(test)]
mod tests;

use groma_model::address::{BUILTIN_HOST, BUILTIN_NAMESPACE};
use groma_provider::api::Effects;

use crate::chance::Chance;
use crate::kit::Builtin;
use crate::kit::InProcess;
use crate::kit::outside::Outside;

pub(crate) const BUILTIN: Builtin = Builtin {
    name: "terraform",
    namespace: BUILTIN_NAMESPACE,
    host: BUILTIN_HOST,
    version: None,
    effects: Effects::None,
    make,
};

fn make(outside: &Outside) -> InProcess {
    InProcess::new(BUILTIN.address().to_string())
        .resource(data::Data(Chance::of(outside)))
        .data_source(remote_state::RemoteState(outside.clone()))
        .function(functions::DecodeTfvars(outside.clone()))
        .function(functions::EncodeTfvars)
        .function(functions::EncodeExpr)
}
