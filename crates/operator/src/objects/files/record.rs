//! How an object is written down.

use std::io;

use kube::api::DynamicObject;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::objects::{Kind, Place};

/// What is understood here.
const FORMAT: u32 = 1;

/// What somebody has written elsewhere, and what an object was made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The file that it is written in.
    pub file: String,
    /// What was written there when it was last looked.
    pub wanted: Json,
}

/// What is in a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    format: u32,
    group: String,
    version: String,
    kind: String,
    plural: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Origin>,
    object: DynamicObject,
}

impl Record {
    /// Of an object.
    pub(super) fn new(place: &Place, object: &DynamicObject, origin: Option<Origin>) -> Self {
        let Kind { group, version, kind, plural } = place.kind.clone();
        Self { format: FORMAT, group, version, kind, plural, origin, object: object.clone() }
    }

    /// As bytes.
    pub(super) fn encode(&self) -> io::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// From bytes.
    pub(super) fn parse(bytes: &[u8]) -> io::Result<Self> {
        let record: Self = serde_json::from_slice(bytes)?;
        if record.format != FORMAT {
            let problem = format!("its format is {}, and only {FORMAT} is understood", record.format);
            return Err(io::Error::other(problem));
        }
        Ok(record)
    }

    /// What it says.
    pub(super) fn decode(self) -> (Place, DynamicObject, Option<Origin>) {
        let Self { group, version, kind, plural, origin, object, .. } = self;
        (Place::of(&Kind { group, version, kind, plural }, &object), object, origin)
    }
}
