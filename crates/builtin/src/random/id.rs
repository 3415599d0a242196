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
        let length = "The number of random bytes to produce. The minimum value is 1, which produces eight bits of \
                      randomness.";
        let prefix = "Arbitrary string to prefix the output value with. This string is supplied as-is, meaning it is \
                      not guaranteed to be URL-safe or base64 encoded.";
        let url = "The generated id presented in base64, using the URL-friendly character set: case-sensitive \
                   letters, digits and the characters `_` and `-`.";
        let hex = "The generated id presented in padded hexadecimal digits. This result will always be twice as long \
                   as the requested byte length.";
        kept()
            .doc(
                "\nThe resource `random_id` generates random numbers that are intended to be\nused as unique \
                 identifiers for other resources. If the output is considered \nsensitive, and should not be displayed \
                 in the CLI, use `random_bytes`\ninstead.\n\nThis resource *does* use a cryptographic random number generator \
                 in order\nto minimize the chance of collisions, making the results of this resource\nwhen a 16-byte \
                 identifier is requested of equivalent uniqueness to a\ntype-4 UUID.\n\nThis resource can be used in \
                 conjunction with resources that have\nthe `create_before_destroy` lifecycle flag set to avoid \
                 conflicts with\nunique names during the brief period where both the old and new resources\nexist \
                 concurrently.\n",
            )
            .attr("byte_length", required(Type::Number).doc(length).replace())
            .attr("prefix", optional(Type::String).doc(prefix).replace())
            .attr("b64_url", drawn(url))
            .attr("b64_std", drawn("The generated id presented in base64 without additional transformations."))
            .attr("hex", drawn(hex))
            .attr("dec", drawn("The generated id presented in non-padded decimal digits."))
            .attr("id", drawn("The generated id presented in base64 without additional transformations or prefix."))
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
