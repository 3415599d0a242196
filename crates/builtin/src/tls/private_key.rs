//! `tls_private_key`: a new key, as a resource and as an ephemeral one.

use std::sync::Arc;

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::Value;

use super::common::{OPENSSH, PEM, id_of, no_randomness, set_public};
use super::curve::Curve;
use super::key::PrivateKey;
use super::random::Seeded;
use super::ssh;
use crate::kit::checks::one_of;
use crate::kit::outside::Randomness;
use crate::kit::spec::{Attr, computed, optional_computed, required};
use crate::kit::{Call, Ephemeral, Failed, JsonObject, Object, Opened, Resource, Spec};

const ALGORITHMS: &[&str] = &["RSA", "ECDSA", "ED25519"];
const CURVES: &[&str] = &["P224", "P256", "P384", "P521"];
const RSA_BITS: i64 = 2048;

fn private(form: &str) -> Attr {
    computed(Type::String).sensitive().markdown(&format!("The private key in {form} format."))
}

fn inputs() -> (Attr, Attr, Attr) {
    let algorithm = required(Type::String)
        .check(one_of(ALGORITHMS))
        .doc("Name of the algorithm of the key: `RSA`, `ECDSA` or `ED25519`.");
    let bits =
        optional_computed(Type::Number).markdown("Size of the key in bits if `algorithm` is `RSA` (default: `2048`).");
    let curve = optional_computed(Type::String).check(one_of(CURVES)).markdown(
        "Name of the elliptic curve if `algorithm` is `ECDSA`: `P224`, `P256`, `P384` or `P521` (default: `P224`).",
    );
    (algorithm, bits, curve)
}

fn outputs(spec: Spec) -> Spec {
    let line = "The public key as a line of `authorized_keys`, which ends in a newline. Empty for `ECDSA` with `P224`, \
                which OpenSSH does not know.";
    spec.attr("private_key_pem", private(PEM))
        .attr("private_key_openssh", private(OPENSSH))
        .attr(
            "private_key_pem_pkcs8",
            private("[PKCS#8 PEM (RFC 5208)](https://datatracker.ietf.org/doc/html/rfc5208)"),
        )
        .attr("public_key_pem", computed(Type::String).markdown(&format!("The public key in {PEM} format.")))
        .attr("public_key_openssh", computed(Type::String).markdown(line))
        .attr(
            "public_key_fingerprint_md5",
            computed(Type::String).markdown("MD5 fingerprint of the public key: `aa:bb:cc:...`."),
        )
        .attr(
            "public_key_fingerprint_sha256",
            computed(Type::String).markdown("SHA256 fingerprint of the public key: `SHA256:...`."),
        )
}

/// Makes a key as the object says and sets everything that follows from it.
async fn generate(object: &mut Object, randomness: &dyn Randomness, with_id: bool) -> Result<(), Diagnostic> {
    let mut rng = Seeded::from(randomness).map_err(|error| no_randomness(&error))?;
    let failed = |why: String| Diagnostic::error("Unable to generate Key from configuration", why);
    let algorithm = object.text("algorithm").unwrap_or_default().to_owned();
    let bits = object.int("rsa_bits").unwrap_or(RSA_BITS);
    let curve = Curve::by_name(object.text("ecdsa_curve").unwrap_or("P224"));
    // Large RSA keys take seconds of pure calculation.
    let made = tokio::task::spawn_blocking(move || {
        let key = match (algorithm.as_str(), curve) {
            ("RSA", _) => PrivateKey::new_rsa(bits, &mut rng)?,
            ("ED25519", _) => PrivateKey::new_ed25519(&mut rng),
            ("ECDSA", Some(curve)) => PrivateKey::new_ec(curve, &mut rng),
            ("ECDSA", None) => {
                return Err("invalid ECDSA curve; supported values are: [P224 P256 P384 P521]".to_owned());
            }
            (other, _) => return Err(format!("Key Algorithm {other:?} is not supported")),
        };
        Ok((key, rng))
    });
    let (key, mut rng) = made.await.map_err(|error| failed(error.to_string()))?.map_err(failed)?;
    object.set("private_key_pem", Value::string(key.to_pem()));
    object.set("private_key_pem_pkcs8", Value::string(key.to_pkcs8_pem()));
    let openssh = ssh::private_pem(&key, "", &mut rng).unwrap_or_default();
    object.set("private_key_openssh", Value::string(openssh));
    set_public(object, &key, with_id);
    Ok(())
}

/// The resource.
pub(super) struct PrivateKeyResource(pub(super) Arc<dyn Randomness>);

#[async_trait]
impl Resource for PrivateKeyResource {
    fn type_name(&self) -> &'static str {
        "tls_private_key"
    }

    fn spec(&self) -> Spec {
        let (algorithm, bits, curve) = inputs();
        let id = "Hexadecimal SHA1 hash of the public key.";
        let spec = Spec::new()
            .version(1)
            .markdown(
                "A private key, with its public half, in several formats. The private key is stored in the state.",
            )
            .attr("algorithm", algorithm.replace())
            .attr("rsa_bits", bits.default(RSA_BITS).replace())
            .attr("ecdsa_curve", curve.default("P224").replace())
            .attr("id", computed(Type::String).markdown(id));
        outputs(spec)
    }

    async fn create(&self, mut planned: Object, _: &Object, _: &mut Call) -> Result<Object, Failed> {
        generate(&mut planned, self.0.as_ref(), true).await?;
        Ok(planned)
    }

    /// Objects of version 0 lack the formats that came later.
    fn upgrade(&self, version: i64, object: &mut JsonObject) -> Result<i64, Diagnostic> {
        let text = |object: &JsonObject, name: &str| {
            object.get(name).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
        };
        let key = PrivateKey::from_pem(&text(object, "private_key_pem"))
            .map_err(|why| Diagnostic::error("Unable to parse key from PEM", why))?;
        if text(object, "private_key_openssh").is_empty() {
            let mut rng = Seeded::from(self.0.as_ref()).map_err(|error| no_randomness(&error))?;
            if let Some(openssh) = ssh::private_pem(&key, "", &mut rng) {
                object.insert("private_key_openssh".to_owned(), openssh.into());
            } else {
                object.insert("private_key_openssh".to_owned(), "".into());
            }
        }
        let public = key.public_key();
        let ssh = ssh::public(&key).unwrap_or_default();
        for (name, value) in [
            ("private_key_pem_pkcs8", key.to_pkcs8_pem()),
            ("id", id_of(&public.0)),
            ("public_key_pem", public.to_pem()),
            ("public_key_openssh", ssh.line),
            ("public_key_fingerprint_md5", ssh.md5),
            ("public_key_fingerprint_sha256", ssh.sha256),
        ] {
            object.insert(name.to_owned(), value.into());
        }
        Ok(version + 1)
    }
}

/// The ephemeral resource.
pub(super) struct PrivateKeyEphemeral(pub(super) Arc<dyn Randomness>);

#[async_trait]
impl Ephemeral for PrivateKeyEphemeral {
    fn type_name(&self) -> &'static str {
        "tls_private_key"
    }

    fn spec(&self) -> Spec {
        let (algorithm, bits, curve) = inputs();
        let spec = Spec::new()
            .markdown("A private key that is in no plan and no state: for arguments that are write-only.")
            .attr("algorithm", algorithm)
            .attr("rsa_bits", bits)
            .attr("ecdsa_curve", curve);
        outputs(spec)
    }

    async fn open(&self, mut config: Object, _: &mut Call) -> Result<Opened, Diagnostics> {
        if config.is_null("rsa_bits") {
            config.set_int("rsa_bits", RSA_BITS);
        }
        if config.is_null("ecdsa_curve") {
            config.set("ecdsa_curve", Value::string("P224"));
        }
        generate(&mut config, self.0.as_ref(), false).await?;
        Ok(Opened { object: config, renew_at: None })
    }
}
