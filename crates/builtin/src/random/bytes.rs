//! `random_bytes`, stored and ephemeral.

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;

use super::{KEEPERS_DOC, amount, drawn, kept};
use crate::chance::Chance;
use crate::kit::spec::{computed, optional, required};
use crate::kit::{Call, Ephemeral, Failed, Object, Opened, Resource, Spec, checks};

const LENGTH_DOC: &str = "How many bytes to draw: 1 or more.";
const BASE64_DOC: &str = "The bytes in base64.";
const HEX_DOC: &str = "The bytes in hexadecimal digits, two for each.";

pub(super) struct Bytes(pub(super) Chance);

#[async_trait]
impl Resource for Bytes {
    fn type_name(&self) -> &'static str {
        "random_bytes"
    }

    fn spec(&self) -> Spec {
        // Unlike with the others, any change of the keepers counts: none of these was ever stored without its nulls.
        kept()
            .attr("keepers", optional(Type::map(Type::String)).doc(KEEPERS_DOC).replace())
            .doc("Bytes that nobody can guess, for keys and secrets: unlike those of `random_id` they are not shown.")
            .attr("length", required(Type::Number).doc(LENGTH_DOC).replace().check(checks::at_least(1)))
            .attr("base64", drawn(BASE64_DOC).sensitive())
            .attr("hex", drawn(HEX_DOC).sensitive())
    }

    async fn create(&self, mut planned: Object, _: &Object, _: &mut Call) -> Result<Object, Failed> {
        let bytes = self.0.bytes(amount(planned.int("length"), "length")?)?;
        show(&mut planned, &bytes);
        Ok(planned)
    }

    async fn import(&self, id: &str, mut object: Object, _: &mut Call) -> Result<Object, Diagnostics> {
        let bytes = STANDARD.decode(id).map_err(|error| {
            let detail =
                format!("There was an error during the parsing of the base64 string.\n\nOriginal Error: {error}");
            Diagnostic::error("Import Random bytes Error", detail)
        })?;
        show(&mut object, &bytes);
        object.set("base64", id);
        object.set_int("length", bytes.len() as i64);
        Ok(object)
    }
}

fn show(object: &mut Object, bytes: &[u8]) {
    object.set("base64", STANDARD.encode(bytes));
    object.set("hex", hex::encode(bytes));
}

pub(super) struct EphemeralBytes(pub(super) Chance);

#[async_trait]
impl Ephemeral for EphemeralBytes {
    fn type_name(&self) -> &'static str {
        "random_bytes"
    }

    fn spec(&self) -> Spec {
        Spec::new()
            .doc("Bytes that nobody can guess and nothing stores, for arguments that are write-only.")
            .attr("length", required(Type::Number).doc(LENGTH_DOC).check(checks::at_least(1)))
            .attr("base64", computed(Type::String).doc(BASE64_DOC).sensitive())
            .attr("hex", computed(Type::String).doc(HEX_DOC).sensitive())
    }

    async fn open(&self, mut config: Object, _: &mut Call) -> Result<Opened, Diagnostics> {
        let bytes = self.0.bytes(amount(config.int("length"), "length")?)?;
        show(&mut config, &bytes);
        Ok(Opened { object: config, renew_at: None })
    }
}
