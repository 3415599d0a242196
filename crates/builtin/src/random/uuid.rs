//! `random_uuid` and its versions 4 and 7.

use std::time::SystemTime;

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};

use super::{drawn, kept};
use crate::chance::{Chance, uuid_text};
use crate::kit::outside::Outside;
use crate::kit::{Call, Failed, Object, Resource, Spec};

pub(super) enum Kind {
    /// Sixteen random bytes, without the marks of a version.
    Plain,
    V4,
    V7,
}

pub(super) struct Uuid {
    pub(super) kind: Kind,
    pub(super) outside: Outside,
}

#[async_trait]
impl Resource for Uuid {
    fn type_name(&self) -> &'static str {
        match self.kind {
            Kind::Plain => "random_uuid",
            Kind::V4 => "random_uuid4",
            Kind::V7 => "random_uuid7",
        }
    }

    fn spec(&self) -> Spec {
        let about = match self.kind {
            Kind::Plain => "Sixteen bytes in the form of a UUID, all of them random: no version is marked.",
            Kind::V4 => "A UUID of version 4: random but for its version.",
            Kind::V7 => "A UUID of version 7: random after the time at which it is made, so that later ones sort last.",
        };
        kept().doc(about).attr("result", drawn("The UUID.")).attr("id", drawn("The UUID."))
    }

    async fn create(&self, mut planned: Object, _: &Object, _: &mut Call) -> Result<Object, Failed> {
        set(&mut planned, &self.draw()?);
        Ok(planned)
    }

    async fn import(&self, id: &str, mut object: Object, _: &mut Call) -> Result<Object, Diagnostics> {
        let parsed = match self.kind {
            Kind::Plain => parse(id),
            Kind::V4 | Kind::V7 => parse_any(id),
        };
        let bytes = parsed.map_err(|error| {
            let detail = format!("There was an error during the parsing of the UUID.\n\nOriginal Error: {error}");
            Diagnostic::error("Import Random UUID Error", detail)
        })?;
        set(&mut object, &uuid_text(&bytes));
        Ok(object)
    }
}

impl Uuid {
    fn draw(&self) -> Result<String, Diagnostic> {
        let mut bytes = Chance::of(&self.outside).bytes(16)?;
        let version = match self.kind {
            Kind::Plain => return Ok(uuid_text(&bytes)),
            Kind::V4 => 4,
            Kind::V7 => {
                let since = self.outside.clock.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
                let milliseconds = (since.as_millis() as u64).to_be_bytes();
                bytes.splice(0..6, milliseconds[2..].iter().copied());
                7
            }
        };
        if let [.., version_byte, _, variant_byte, _, _, _, _, _, _, _] = bytes.as_mut_slice() {
            *version_byte = (*version_byte & 0x0f) | (version << 4);
            *variant_byte = (*variant_byte & 0x3f) | 0x80;
        }
        Ok(uuid_text(&bytes))
    }
}

fn set(object: &mut Object, uuid: &str) {
    object.set("result", uuid);
    object.set("id", uuid);
}

/// Groups of 8, 4, 4, 4 and 12 digits.
fn parse(text: &str) -> Result<Vec<u8>, &'static str> {
    if text.len() != 36 {
        return Err("uuid string is wrong length");
    }
    let groups: Vec<&str> = text.split('-').collect();
    if groups.iter().map(|group| group.len()).ne([8, 4, 4, 4, 12]) {
        return Err("uuid is improperly formatted");
    }
    hex::decode(groups.concat()).map_err(|_| "uuid is improperly formatted")
}

/// Also with a prefix, in braces, or without dashes.
fn parse_any(text: &str) -> Result<Vec<u8>, &'static str> {
    let lower = text.to_ascii_lowercase();
    let text = lower.strip_prefix("urn:uuid:").unwrap_or(&lower);
    let text = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    if text.len() == 32 && !text.contains('-') {
        return hex::decode(text).map_err(|_| "invalid UUID format");
    }
    parse(text).map_err(|_| "invalid UUID format")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_are_read() {
        let text = "6BA7B810-9DAD-11D1-80B4-00C04FD430C8";
        let expected = uuid_text(&parse(text).unwrap());
        assert_eq!(expected, text.to_lowercase());
        for same in [format!("urn:uuid:{text}"), format!("{{{text}}}"), text.replace('-', "")] {
            assert_eq!(uuid_text(&parse_any(&same).unwrap()), expected);
            assert!(parse(&same).is_err());
        }
        assert_eq!(parse("6ba7b8109dad-11d1-80b4-00c04fd430c8--"), Err("uuid string is wrong length"));
        assert_eq!(parse("6ba7b810-9dad-11d1-80b4-00c04fd430cx"), Err("uuid is improperly formatted"));
    }

    #[test]
    fn versions_are_marked() {
        let outside = Outside::system(".");
        let draw = |kind| Uuid { kind, outside: outside.clone() }.draw().unwrap();
        let (v4, v7, later) = (draw(Kind::V4), draw(Kind::V7), draw(Kind::V7));
        assert_eq!((v4.as_bytes()[14], v7.as_bytes()[14]), (b'4', b'7'));
        assert!([v4, v7.clone()].iter().all(|uuid| b"89ab".contains(&uuid.as_bytes()[19])));
        assert!(v7[..8] <= later[..8]);
    }
}
