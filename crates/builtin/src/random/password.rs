//! `random_password`, stored and ephemeral.

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;

use super::{FIXED_ID_DOC, drawn, kept, text};
use crate::chance::Chance;
use crate::kit::spec::computed;
use crate::kit::{Call, Ephemeral, Failed, JsonObject, Object, Opened, Planned, Resource, Spec};

/// The hash takes no more of a password.
const HASHED: usize = 72;
/// Go's usual cost.
const COST: u32 = 10;
const HASH_DOC: &str = "A bcrypt hash of the password, or of its first 72 bytes if it is longer.";
const RESULT_DOC: &str = "The password.";

pub(super) struct Password(pub(super) Chance);

#[async_trait]
impl Resource for Password {
    fn type_name(&self) -> &'static str {
        "random_password"
    }

    fn spec(&self) -> Spec {
        let about =
            "Characters that nobody can guess, like those of `random_string`, but not shown. The state holds them.";
        let spec = kept().version(3).doc(about);
        text::stored_wishes(spec)
            .attr("result", drawn(RESULT_DOC).sensitive())
            .attr("bcrypt_hash", drawn(HASH_DOC).sensitive())
            .attr("id", drawn(FIXED_ID_DOC))
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        text::validate(config)
    }

    async fn plan(&self, plan: &mut Planned, call: &mut Call) {
        text::plan(plan, call);
    }

    async fn create(&self, mut planned: Object, _: &Object, _: &mut Call) -> Result<Object, Failed> {
        draw(&self.0, &mut planned)?;
        planned.set("id", "none");
        Ok(planned)
    }

    async fn import(&self, id: &str, mut object: Object, _: &mut Call) -> Result<Object, Diagnostics> {
        text::imported(&mut object, id);
        object.set("bcrypt_hash", hash(&self.0, id)?);
        object.set("id", "none");
        Ok(object)
    }

    /// Version 0 has no hash, and some objects of version 2 have a wrong one.
    fn upgrade(&self, version: i64, object: &mut JsonObject) -> Result<i64, Diagnostic> {
        text::complete(object);
        let text = |name: &str| object.get(name).and_then(serde_json::Value::as_str).unwrap_or_default();
        let password = text("result");
        let is_right = match version {
            0 => false,
            2 => bcrypt::verify(hashed_part(password), text("bcrypt_hash")).unwrap_or(false),
            _ => true,
        };
        if !is_right {
            let hash = hash(&self.0, password)?;
            object.insert("bcrypt_hash".to_owned(), hash.into());
        }
        Ok(3)
    }
}

fn draw(chance: &Chance, object: &mut Object) -> Result<(), Diagnostic> {
    let password = text::draw(chance, object)?;
    object.set("bcrypt_hash", hash(chance, &password)?);
    object.set("result", password);
    Ok(())
}

fn hashed_part(password: &str) -> &[u8] {
    let bytes = password.as_bytes();
    bytes.get(..HASHED).unwrap_or(bytes)
}

fn hash(chance: &Chance, password: &str) -> Result<String, Diagnostic> {
    let salt = chance.bytes(16)?;
    let salt: [u8; 16] = salt.try_into().unwrap_or_default();
    let parts = bcrypt::hash_with_salt(hashed_part(password), COST, salt).map_err(|error| {
        let detail = format!(
            "While attempting to generate a hash from the password an error occurred.\n\nOriginal Error: {error}"
        );
        Diagnostic::error("Hash Generation Error", detail)
    })?;
    Ok(parts.format_for_version(bcrypt::Version::TwoA))
}

pub(super) struct EphemeralPassword(pub(super) Chance);

#[async_trait]
impl Ephemeral for EphemeralPassword {
    fn type_name(&self) -> &'static str {
        "random_password"
    }

    fn spec(&self) -> Spec {
        let spec = Spec::new().doc("A password that nothing stores, for arguments that are write-only.");
        text::ephemeral_wishes(spec)
            .attr("result", computed(Type::String).doc(RESULT_DOC).sensitive())
            .attr("bcrypt_hash", computed(Type::String).doc(HASH_DOC).sensitive())
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        text::validate(config)
    }

    async fn open(&self, mut config: Object, _: &mut Call) -> Result<Opened, Diagnostics> {
        draw(&self.0, &mut config)?;
        for name in ["special", "upper", "lower", "numeric"] {
            if config.is_null(name) {
                config.set(name, true);
            }
        }
        for name in ["min_numeric", "min_upper", "min_lower", "min_special"] {
            if config.is_null(name) {
                config.set_int(name, 0);
            }
        }
        Ok(Opened { object: config, renew_at: None })
    }
}
