//! Hashes of the content of files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groma_model::ty::Type;
use groma_model::value::Value;
use md5::{Digest as _, Md5};
use sha1::Sha1;
use sha2::{Sha256, Sha512};

use crate::kit::spec::computed;
use crate::kit::{Object, Spec};

/// A type with the hashes among its attributes.
pub(super) fn with_hashes(spec: Spec) -> Spec {
    let hash = |about: &str| computed(Type::String).doc(&format!("{about} checksum of file content."));
    spec.attr("id", computed(Type::String).doc("Hexadecimal SHA1 checksum of the file's content."))
        .attr("content_md5", hash("MD5"))
        .attr("content_sha1", hash("SHA1"))
        .attr("content_sha256", hash("SHA256"))
        .attr("content_base64sha256", hash("Base64 encoded SHA256"))
        .attr("content_sha512", hash("SHA512"))
        .attr("content_base64sha512", hash("Base64 encoded SHA512"))
}

/// The hash that files are known by.
pub(super) fn id(content: &[u8]) -> String {
    hex::encode(Sha1::digest(content))
}

/// Sets all hashes.
pub(super) fn set_hashes(object: &mut Object, content: &[u8]) {
    let (sha256, sha512) = (Sha256::digest(content), Sha512::digest(content));
    for (name, hash) in [
        ("id", id(content)),
        ("content_md5", hex::encode(Md5::digest(content))),
        ("content_sha1", id(content)),
        ("content_sha256", hex::encode(sha256)),
        ("content_base64sha256", STANDARD.encode(sha256)),
        ("content_sha512", hex::encode(sha512)),
        ("content_base64sha512", STANDARD.encode(sha512)),
    ] {
        object.set(name, Value::string(hash));
    }
}
