//! Digests: of what a state says, and of single objects, so that two can be compared without being there together.

use std::fmt;

use groma_model::codec::json::Json;
use sha2::{Digest as _, Sha256};

use crate::v4::{Writer, write_object};
use crate::{Attributes, EncodeError, Layout, ObjectState, ObjectStatus, State, encode};

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Of everything that a state says, but not of who wrote it and which snapshot it is.
    pub fn of_content(state: &State) -> Result<Self, EncodeError> {
        let text = encode(state, Layout::Compact)?;
        // The heading is the only part that is not content, and it comes first.
        let content = text.find("\"outputs\":").map_or(text.as_str(), |at| &text[at..]);
        Ok(Self::of(content.as_bytes()))
    }

    /// From 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        from_hex(text, &mut bytes).then_some(Self(bytes))
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0[..4])
    }
}

/// Writes hexadecimal digits.
pub(crate) fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// Reads exactly as many hexadecimal digits as fill `bytes`. False if they are not there.
pub(crate) fn from_hex(text: &str, bytes: &mut [u8]) -> bool {
    let digits = text.as_bytes();
    if digits.len() != bytes.len() * 2 {
        return false;
    }
    let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        match (digit(pair[0]), digit(pair[1])) {
            (Some(high), Some(low)) => *byte = high << 4 | low,
            _ => return false,
        }
    }
    true
}

/// Which object something was, without what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// Of everything that was stored of it.
    pub digest: Digest,
    /// What names it to its provider, if that can be told.
    pub id: Option<String>,
}

impl Fingerprint {
    /// Of an object as it is stored.
    pub fn of(object: &ObjectState) -> Self {
        let mut out = Writer::new(Layout::Compact);
        out.object(|out| write_whole_object(out, object));
        Self { digest: Digest::of(out.finish().as_bytes()), id: object_id(object) }
    }

    /// Whether another is of the same object, as far as that can be told.
    pub fn is_also(&self, other: &Fingerprint) -> bool {
        self.id.is_some() && self.id == other.id
    }
}

/// The members of an object, and whether it is tainted.
pub(crate) fn write_whole_object(out: &mut Writer, object: &ObjectState) {
    if object.status == ObjectStatus::Tainted {
        out.key("status");
        out.text("tainted");
    }
    write_object(out, object);
}

/// What names an object to its provider: its `id`, which nearly all have, or what it says to identify it. None if it has
/// neither: then nothing can be told about whether two objects are one.
pub fn object_id(object: &ObjectState) -> Option<String> {
    let id = match &object.attributes {
        Attributes::Flat(entries) => entries.get("id").cloned(),
        Attributes::Json(text) => match Json::parse(text).ok()?.get("id") {
            Some(Json::String(id)) => Some(id.to_string()),
            Some(Json::Number(id)) => Some(id.to_string()),
            _ => None,
        },
    };
    id.filter(|id| !id.is_empty()).or_else(|| object.identity.as_ref().map(|identity| identity.json.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StoredIdentity;

    fn object(attributes: &str) -> ObjectState {
        ObjectState::new(0, Attributes::Json(attributes.to_owned()))
    }

    #[test]
    fn digests_are_read_back() {
        let digest = Digest::of(b"x");
        assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
        assert_eq!(digest.to_string().len(), 64);
        for wrong in ["", "0", &"g".repeat(64), &"é".repeat(32), &"0".repeat(66)] {
            assert_eq!(Digest::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_stored_counts_and_what_writes_does_not() {
        let mut state = State { serial: 1, lineage: "a".to_owned(), ..State::default() };
        let digest = Digest::of_content(&state).unwrap();
        state.serial = 2;
        state.lineage = "b".to_owned();
        assert_eq!(Digest::of_content(&state).unwrap(), digest);
        state.checks = Some(vec![]);
        assert_eq!(Digest::of_content(&state).unwrap(), digest);
        let mut tainted = object("{}");
        tainted.status = ObjectStatus::Tainted;
        assert_ne!(Fingerprint::of(&object("{}")), Fingerprint::of(&tainted));
    }

    #[test]
    fn objects_have_names() {
        assert_eq!(object_id(&object(r#"{"id":"i-1"}"#)).as_deref(), Some("i-1"));
        assert_eq!(object_id(&object(r#"{"id":7}"#)).as_deref(), Some("7"));
        for nameless in ["{}", r#"{"id":null}"#, r#"{"id":""}"#, "not json"] {
            assert_eq!(object_id(&object(nameless)), None, "{nameless}");
        }
        let mut known = object(r#"{"name":"x"}"#);
        known.identity = Some(StoredIdentity { json: r#"{"arn":"x"}"#.to_owned(), schema_version: None });
        assert_eq!(object_id(&known).as_deref(), Some(r#"{"arn":"x"}"#));
        let flat = ObjectState::new(0, Attributes::Flat([("id".to_owned(), "f".to_owned())].into()));
        assert_eq!(object_id(&flat).as_deref(), Some("f"));
    }
}
