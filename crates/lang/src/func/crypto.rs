//! Hashes, UUIDs, and decryption with a private key.

#![allow(clippy::unnecessary_wraps, reason = "all functions share one signature")]

mod der;
mod hash;
mod private_key;
mod uuid;

use groma_model::ty::Type;
use groma_model::value::{Value, go_quote};

pub(super) use hash::{Encoding, Hash};

use super::encoding::base64;
use super::support::{Outcome, integer, number_param, text, text_param};
use super::{CallContext, Function, FunctionError};

/// What `bcrypt` costs when nothing else is asked for, or less than it can cost.
const DEFAULT_COST: u32 = 10;
/// `bcrypt` takes no more of a password.
const MAX_PASSWORD: usize = 72;

/// The functions of this group.
pub(super) fn functions() -> Vec<Function> {
    let mut all = hash_functions();
    all.extend([
        Function {
            impure: true,
            ..Function::new(
                "bcrypt",
                "Hashes a password with the Blowfish cipher and a random salt: the result is another one every time.",
                vec![text_param("str").about("The password.")],
                Type::String,
                bcrypt_hash,
            )
            .rest(number_param("cost").about("How much work it shall be, from 4 to 31; 10 if not given."))
        },
        Function::new(
            "rsadecrypt",
            "Decrypts with a private RSA key (PKCS #1 v1.5).",
            vec![
                text_param("ciphertext").about("What to decrypt, in base64."),
                text_param("privatekey").about("The key, in PEM."),
            ],
            Type::String,
            rsa_decrypt,
        ),
        Function {
            impure: true,
            ..Function::new("uuid", "A random UUID, another one every time.", vec![], Type::String, |context, _| {
                let mut bytes = [0; 16];
                context.environment.random(&mut bytes);
                Ok(Value::string(uuid::format(&bytes)))
            })
        },
        Function::new(
            "uuidv5",
            "The UUID that stands for a name in a namespace (version 5): always the same one.",
            vec![
                text_param("namespace").about("`dns`, `url`, `oid`, `x500` or a UUID."),
                text_param("name").about("The name."),
            ],
            Type::String,
            |_, args| uuid::version5(text(args, 0), text(args, 1)).map(Value::string).map_err(FunctionError::new),
        ),
    ]);
    all
}

fn hash_functions() -> Vec<Function> {
    let function = |name, description, run| {
        Function::new(
            name,
            description,
            vec![text_param("str").about("The text to hash, in UTF-8.")],
            Type::String,
            run,
        )
    };
    vec![
        function("md5", "The MD5 hash of a text, in hexadecimal digits.", |_, args| {
            hashed(args, Hash::Md5, Encoding::Hex)
        }),
        function("sha1", "The SHA-1 hash of a text, in hexadecimal digits.", |_, args| {
            hashed(args, Hash::Sha1, Encoding::Hex)
        }),
        function("sha256", "The SHA-256 hash of a text, in hexadecimal digits.", |_, args| {
            hashed(args, Hash::Sha256, Encoding::Hex)
        }),
        function("sha512", "The SHA-512 hash of a text, in hexadecimal digits.", |_, args| {
            hashed(args, Hash::Sha512, Encoding::Hex)
        }),
        function("base64sha256", "The SHA-256 hash of a text, in base64.", |_, args| {
            hashed(args, Hash::Sha256, Encoding::Base64)
        }),
        function("base64sha512", "The SHA-512 hash of a text, in base64.", |_, args| {
            hashed(args, Hash::Sha512, Encoding::Base64)
        }),
    ]
}

fn hashed(args: &[Value], hash: Hash, encoding: Encoding) -> Outcome {
    Ok(Value::string(hash.of(text(args, 0).as_bytes(), encoding)))
}

fn bcrypt_hash(context: &CallContext<'_>, args: &[Value]) -> Outcome {
    let cost = if args.len() > 1 { integer(args, 1)? } else { DEFAULT_COST.into() };
    if args.len() > 2 {
        return Err(FunctionError::new("bcrypt() takes no more than two arguments"));
    }
    let failed = |problem: String| FunctionError::new(format!("error occurred generating password {problem}"));
    let password = text(args, 0);
    if password.len() > MAX_PASSWORD {
        return Err(failed("bcrypt: password length exceeds 72 bytes".into()));
    }
    let cost = match u32::try_from(cost) {
        Ok(cost @ 4..=31) => cost,
        _ if cost < 4 => DEFAULT_COST,
        _ => return Err(failed(format!("crypto/bcrypt: cost {cost} is outside allowed inclusive range 4..31"))),
    };
    let mut salt = [0; 16];
    context.environment.random(&mut salt);
    let parts = bcrypt::hash_with_salt(password, cost, salt).map_err(|error| failed(error.to_string()))?;
    Ok(Value::string(parts.format_for_version(bcrypt::Version::TwoA)))
}

fn rsa_decrypt(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let ciphertext = text(args, 0);
    let bytes = base64::decode(ciphertext).map_err(|_| {
        let quoted = go_quote(ciphertext);
        FunctionError::arg(0, format!("failed to decode input {quoted}: cipher text must be base64-encoded"))
    })?;
    let key = private_key::parse(text(args, 1)).map_err(|problem| FunctionError::arg(1, problem))?;
    match key.decrypt(&bytes) {
        Some(message) => Ok(Value::string(String::from_utf8_lossy(&message).into_owned())),
        None => Err(FunctionError::new("failed to decrypt: crypto/rsa: decryption error")),
    }
}

#[cfg(test)]
mod tests;
