//! `random_id`: bytes in several writings.

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use num_bigint::BigUint;

use super::{amount, drawn, kept};
use crate::chance::Chance;
use crate::kit::spec::{optional, required};
use crate::kit::{Call, Failed, Object, Resource, Spec};

pub(super) struct Id(pub(super) Chance);

#[async_trait]
impl Resource for Id {
    fn type_name(&self) -> &'static str {
        "random_id"
    }

    fn spec(&self) -> Spec {
        let about = "Bytes that nobody can guess, in several writings: for names that must be unique. With 16 bytes \
                     they are as rarely equal as UUIDs. They are shown; for secrets there is `random_bytes`.";
        let url = "The bytes in base64 for URLs (with `-` and `_`, without padding), behind the prefix.";
        kept()
            .doc(about)
            .attr("byte_length", required(Type::Number).doc("How many bytes to draw.").replace())
            .attr("prefix", optional(Type::String).doc("Stands before all writings but `id`, as it is.").replace())
            .attr("b64_url", drawn(url))
            .attr("b64_std", drawn("The bytes in ordinary base64, behind the prefix."))
            .attr("hex", drawn("The bytes in hexadecimal digits, two for each, behind the prefix."))
            .attr("dec", drawn("The bytes as one decimal number, behind the prefix."))
            .attr("id", drawn("The bytes in base64 for URLs, without the prefix."))
    }

    async fn create(&self, mut planned: Object, _: &Object, _: &mut Call) -> Result<Object, Failed> {
        let bytes = self.0.bytes(amount(planned.int("byte_length"), "byte_length")?)?;
        show(&mut planned, &bytes);
        Ok(planned)
    }

    async fn import(&self, id: &str, mut object: Object, _: &mut Call) -> Result<Object, Diagnostics> {
        let (prefix, id) = id.rsplit_once(',').map_or((None, id), |(prefix, id)| (Some(prefix), id));
        let bytes = URL_SAFE_NO_PAD.decode(id).map_err(|error| {
            let detail = format!(
                "While attempting to import a random id there was a decoding error.\n\nOriginal Error: {error}"
            );
            Diagnostic::error("Import Random ID Error", detail)
        })?;
        object.set_text("prefix", prefix.filter(|prefix| !prefix.is_empty()));
        object.set_int("byte_length", bytes.len() as i64);
        show(&mut object, &bytes);
        Ok(object)
    }
}

fn show(object: &mut Object, bytes: &[u8]) {
    let prefix = object.text("prefix").unwrap_or_default().to_owned();
    let id = URL_SAFE_NO_PAD.encode(bytes);
    object.set("b64_url", format!("{prefix}{id}"));
    object.set("b64_std", format!("{prefix}{}", STANDARD.encode(bytes)));
    object.set("hex", format!("{prefix}{}", hex::encode(bytes)));
    object.set("dec", format!("{prefix}{}", BigUint::from_bytes_be(bytes)));
    object.set("id", id);
}
