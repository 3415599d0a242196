//! `tls_public_key`: the public half of a key, as a data source and as an ephemeral resource.

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::Value;

use super::common::{OPENSSH, PEM, set_public};
use super::key::PrivateKey;
use super::ssh;
use crate::combinations::{Listed, exactly_one_of};
use crate::kit::spec::{computed, optional};
use crate::kit::{Call, DataSource, Ephemeral, Object, Opened, Spec};

const GIVEN: [&str; 2] = ["private_key_pem", "private_key_openssh"];

fn spec(about: &str) -> Spec {
    let line = "The public key as a line of `authorized_keys`, which ends in a newline. Empty for `ECDSA` with `P224`, \
                which OpenSSH does not know.";
    Spec::new()
        .markdown(about)
        .attr(
            "private_key_pem",
            optional(Type::String)
                .sensitive()
                .doc(&format!("The private key in {PEM} format. Either this or `private_key_openssh` must be given.")),
        )
        .attr(
            "private_key_openssh",
            optional(Type::String)
                .sensitive()
                .doc(&format!("The private key in {OPENSSH} format. Either this or `private_key_pem` must be given.")),
        )
        .attr("algorithm", computed(Type::String).doc("Algorithm of the key: `RSA`, `ECDSA` or `ED25519`."))
        .attr("public_key_pem", computed(Type::String).doc(&format!("The public key in {PEM} format.")))
        .attr("public_key_openssh", computed(Type::String).doc(line))
        .attr(
            "public_key_fingerprint_md5",
            computed(Type::String).doc("MD5 fingerprint of the public key: `aa:bb:cc:...`."),
        )
        .attr(
            "public_key_fingerprint_sha256",
            computed(Type::String).doc("SHA256 fingerprint of the public key: `SHA256:...`."),
        )
        .attr("id", computed(Type::String).doc("Hexadecimal SHA1 hash of the public key."))
}

fn read(mut config: Object) -> Result<Object, Diagnostics> {
    let key = match (config.text("private_key_pem"), config.text("private_key_openssh")) {
        (Some(pem), _) => PrivateKey::from_pem(pem),
        (None, Some(openssh)) => ssh::from_pem(openssh),
        (None, None) => Err("no private key was given".to_owned()),
    };
    let key = key.map_err(|why| Diagnostic::error("Unable to parse private key", why))?;
    config.set("algorithm", Value::string(key.algorithm().name()));
    set_public(&mut config, &key, true);
    Ok(config)
}

/// The data source.
pub(super) struct PublicKeyData;

#[async_trait]
impl DataSource for PublicKeyData {
    fn type_name(&self) -> &'static str {
        "tls_public_key"
    }

    fn spec(&self) -> Spec {
        spec("The public half of a private key.")
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        exactly_one_of(config, &GIVEN, Listed::All)
    }

    async fn read(&self, config: Object, _: &mut Call) -> Result<Object, Diagnostics> {
        read(config)
    }
}

/// The ephemeral resource.
pub(super) struct PublicKeyEphemeral;

#[async_trait]
impl Ephemeral for PublicKeyEphemeral {
    fn type_name(&self) -> &'static str {
        "tls_public_key"
    }

    fn spec(&self) -> Spec {
        spec("The public half of a private key, without storing either.")
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        exactly_one_of(config, &GIVEN, Listed::All)
    }

    async fn open(&self, config: Object, _: &mut Call) -> Result<Opened, Diagnostics> {
        Ok(Opened { object: read(config)?, renew_at: None })
    }
}
