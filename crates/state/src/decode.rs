//! Text to a state, whatever version it has. What a version looks like is in `v4` and `upgrade`.

use groma_model::codec::CodecError;
use groma_model::codec::json::Json;

use crate::fields::At;
use crate::{State, upgrade, v4};

/// Why a text is not a state that can be used.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// There is nothing in it.
    #[error("it is empty, which no tool writes: restore it from a backup, or remove it if nothing was ever made")]
    Empty,
    /// The format of Terraform before 0.7.
    #[error(
        "it has a binary format that is not supported since Terraform 0.7: \
         upgrade it with Terraform 0.6.16 or earlier first"
    )]
    Binary,
    /// Not text at all.
    #[error("it is not valid UTF-8 from byte {at} on: restore it from a backup")]
    Encoding {
        /// Where the first wrong byte is.
        at: usize,
    },
    /// Not JSON.
    #[error("it could not be parsed as JSON: {0}. If it was cut off, restore it from a backup")]
    Syntax(CodecError),
    /// JSON, but encrypted.
    #[error("it is encrypted and cannot be read without an encryption configuration")]
    Encrypted,
    /// JSON of something else.
    #[error("it does not have a \"version\" attribute, which is required to identify the format version")]
    NoVersion,
    /// The version is no number that versions can be.
    #[error("its version is {found}. A positive whole number is required")]
    BadVersion {
        /// What is there.
        found: String,
    },
    /// A version that never was.
    #[error("it has version number zero, but there never was a JSON format of that version: restore it from a backup")]
    VersionZero,
    /// A version to come.
    #[error("it uses format version {version}, which is not supported{}", newer(tool.as_deref()))]
    NewerVersion {
        /// The format version.
        version: u64,
        /// The version of the tool that wrote it, if that is written down.
        tool: Option<String>,
    },
    /// An old version that cannot be carried over.
    #[error("it could not be upgraded from format version {from}: {why}")]
    Upgrade {
        /// The version it has.
        from: u64,
        /// What is in the way.
        why: String,
    },
    /// A part is missing or of the wrong kind.
    #[error("{at}: expected {expected}")]
    Shape {
        /// Where.
        at: String,
        /// What should be there.
        expected: &'static str,
    },
    /// A value does not fit its type.
    #[error("{at}: {source}")]
    Value {
        /// Where.
        at: String,
        /// Why.
        source: CodecError,
    },
    /// The same object twice.
    #[error("{at}: {address} is in the state more than once")]
    Duplicate {
        /// Where the second one is.
        at: String,
        /// Whose object.
        address: String,
    },
}

fn newer(tool: Option<&str>) -> String {
    tool.map_or_else(
        || ". It may have been written by a newer version: use that one".to_owned(),
        |tool| format!(". It was written by version {tool}: use that one or a later one"),
    )
}

impl DecodeError {
    /// What happened, in the words that people search for.
    pub fn summary(&self) -> &'static str {
        match self {
            DecodeError::Shape { .. } | DecodeError::Value { .. } | DecodeError::Duplicate { .. } => {
                "Invalid state file format"
            }
            DecodeError::Upgrade { .. } => "State format upgrade failed",
            _ => "Unsupported state file format",
        }
    }
}

/// Reads a state of any version from what is in a file.
pub fn decode_bytes(bytes: &[u8]) -> Result<State, DecodeError> {
    if bytes.starts_with(b"tfstate") {
        return Err(DecodeError::Binary);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => decode(text),
        Err(error) => Err(DecodeError::Encoding { at: error.valid_up_to() }),
    }
}

/// Reads a state of any version.
pub fn decode(text: &str) -> Result<State, DecodeError> {
    if text.trim().is_empty() {
        return Err(DecodeError::Empty);
    }
    if text.starts_with("tfstate") {
        return Err(DecodeError::Binary);
    }
    let json = Json::parse(text).map_err(DecodeError::Syntax)?;
    let root = At { json: &json, place: String::new() };
    match version(&json)? {
        0 => Err(DecodeError::VersionZero),
        from @ 1..=3 => upgrade::decode(&root, from),
        4 => v4::decode(&root),
        version => Err(DecodeError::NewerVersion { version, tool: tool_version(&json) }),
    }
}

fn version(json: &Json<'_>) -> Result<u64, DecodeError> {
    let found = match json.get("version") {
        Some(Json::Number(text)) => match text.parse() {
            Ok(version) => return Ok(version),
            Err(_) => format!("number {text}"),
        },
        Some(Json::String(_)) => "string".to_owned(),
        Some(Json::Bool(_)) => "bool".to_owned(),
        Some(Json::Array(_)) => "array".to_owned(),
        Some(Json::Object(_)) => "object".to_owned(),
        None | Some(Json::Null) if json.get("encryption_version").is_some() => return Err(DecodeError::Encrypted),
        None | Some(Json::Null) => return Err(DecodeError::NoVersion),
    };
    Err(DecodeError::BadVersion { found })
}

/// Who wrote it, if that looks like a version: garbage would only confuse.
fn tool_version(json: &Json<'_>) -> Option<String> {
    let Some(Json::String(text)) = json.get("terraform_version") else { return None };
    let plausible = text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'));
    plausible.then(|| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> (&'static str, String) {
        let error = decode_bytes(text.as_bytes()).unwrap_err();
        (error.summary(), error.to_string())
    }

    #[test]
    fn what_is_no_state_says_what_to_do() {
        let unsupported = "Unsupported state file format";
        for (text, part) in [
            ("", "empty"),
            (" \n", "empty"),
            ("tfstate\u{1}\u{2}", "Terraform 0.6.16"),
            ("[", "could not be parsed as JSON"),
            ("{}", "\"version\" attribute"),
            ("[]", "\"version\" attribute"),
            ("{\"version\": null}", "\"version\" attribute"),
            ("{\"encryption_version\": \"v0\", \"encrypted_data\": \"\"}", "encrypted"),
            ("{\"version\": \"4\"}", "its version is string. A positive whole number is required"),
            ("{\"version\": -1}", "its version is number -1"),
            ("{\"version\": 4.5}", "its version is number 4.5"),
            ("{\"version\": 0}", "zero"),
            ("{\"version\": 5}", "format version 5, which is not supported. It may have been written by a newer"),
            ("{\"version\": 5, \"terraform_version\": \"x y\"}", "may have been written by a newer"),
            ("{\"version\": 99, \"terraform_version\": \"2.0.0-rc1\"}", "written by version 2.0.0-rc1"),
        ] {
            let (summary, detail) = error(text);
            assert_eq!(summary, unsupported, "{text}");
            assert!(detail.contains(part), "{text}: {detail}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_an_error() {
        assert!(matches!(decode_bytes(b"{\"version\": 4\xff}"), Err(DecodeError::Encoding { at: 13 })));
        assert!(matches!(decode_bytes(b"tfstate\xff\x01"), Err(DecodeError::Binary)));
    }
}
