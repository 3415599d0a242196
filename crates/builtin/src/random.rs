//! The `random` provider. Without a seed everything comes from the system's generator; with one it is what Go makes of it.

mod bytes;
pub(crate) mod go_rand;
mod id;
mod integer;
mod password;
mod pet;
mod shuffle;
mod string;
mod text;
mod uuid;
mod words;

#[cfg(test)]
mod tests;

use groma_model::address::{DEFAULT_HOST, DEFAULT_NAMESPACE};
use groma_model::diag::Diagnostic;
use groma_model::ty::Type;
use groma_provider::api::Effects;

use crate::chance::Chance;
use crate::kit::Builtin;
use crate::kit::outside::Outside;
use crate::kit::spec::{computed, optional};
use crate::kit::{Attr, InProcess, Spec, keepers_replace};

pub(crate) const BUILTIN: Builtin = Builtin {
    name: "random",
    namespace: DEFAULT_NAMESPACE,
    host: DEFAULT_HOST,
    version: Some("3.9.1"),
    effects: Effects::None,
    make,
};

fn make(outside: &Outside) -> InProcess {
    let chance = || Chance::of(outside);
    InProcess::new(BUILTIN.address().to_string())
        .resource(bytes::Bytes(chance()))
        .resource(id::Id(chance()))
        .resource(integer::Integer(chance()))
        .resource(password::Password(chance()))
        .resource(pet::Pet(chance()))
        .resource(shuffle::Shuffle(chance()))
        .resource(string::RandomString(chance()))
        .resource(uuid::Uuid { kind: uuid::Kind::Plain, outside: outside.clone() })
        .resource(uuid::Uuid { kind: uuid::Kind::V4, outside: outside.clone() })
        .resource(uuid::Uuid { kind: uuid::Kind::V7, outside: outside.clone() })
        .ephemeral(bytes::EphemeralBytes(chance()))
        .ephemeral(password::EphemeralPassword(chance()))
}

/// More of anything than this is a mistake.
const MOST: i64 = 1 << 20;

const KEEPERS_DOC: &str = "Whatever the result depends on: when any of these changes, a new one is drawn.";

/// For identifiers that nothing else can be told from.
const FIXED_ID_DOC: &str = "Always the same: it has no use.";

/// A schema with keepers.
fn kept() -> Spec {
    let keepers = optional(Type::map(Type::String)).doc(KEEPERS_DOC).replace_when(keepers_replace());
    Spec::new().attr("keepers", keepers)
}

/// What is drawn once and stays.
fn drawn(doc: &str) -> Attr {
    computed(Type::String).doc(doc).keep()
}

/// The number of things to draw, if that many can be drawn.
fn amount(number: Option<i64>, name: &str) -> Result<usize, Diagnostic> {
    let number = number.unwrap_or(0);
    match usize::try_from(number) {
        Ok(amount) if number <= MOST => Ok(amount),
        _ => {
            let detail = format!("The value of {name} must be between 0 and {MOST}, but it is {number}.");
            Err(Diagnostic::error("Invalid Attribute Value", detail).at_path(crate::kit::at(name)))
        }
    }
}
