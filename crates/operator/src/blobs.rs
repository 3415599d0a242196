//! Bytes that are kept in Secrets, in parts where they are long: bundles and plans. What is there is whole: the first part is written
//! last, and has the digest of everything.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::ObjectMeta;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::objects::kept;
use crate::objects::{Kind, Place, Store, StoreError, data_of, holder};

/// A Secret takes a mebibyte of data, with what it is encoded in.
const PART_BYTES: usize = 700 << 10;
/// More than that is no plan of anybody's.
const MOST_PARTS: usize = 200;

/// Bytes that are kept.
pub(crate) struct Blob<'a> {
    /// Where.
    pub(crate) namespace: &'a str,
    /// As which Secret; further parts have a number behind it.
    pub(crate) name: &'a str,
    /// What it is found by.
    pub(crate) labels: BTreeMap<String, String>,
    /// What it goes with.
    pub(crate) owner: Option<OwnerReference>,
    /// Whether it is kept until somebody deletes it here, even if its namespace is deleted.
    pub(crate) kept: bool,
}

/// Why bytes could not be kept, or are not what they were.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BlobError {
    /// It is too much.
    #[error("{name} has {bytes} bytes, which is more than can be kept")]
    TooLong { name: String, bytes: usize },
    /// It is not what was written.
    #[error("{0} is damaged: its content is not what was written")]
    Damaged(Place),
    /// It could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Blob<'_> {
    fn part_name(&self, number: usize) -> String {
        if number == 0 { self.name.to_owned() } else { format!("{}-{number}", self.name) }
    }

    /// Keeps bytes. What is there under this name already is taken for the same: names are made of contents, or used once.
    pub(crate) async fn save(&self, store: &dyn Store, bytes: &[u8]) -> Result<(), BlobError> {
        let parts: Vec<&[u8]> = if bytes.is_empty() { vec![bytes] } else { bytes.chunks(PART_BYTES).collect() };
        if parts.len() > MOST_PARTS {
            return Err(BlobError::TooLong { name: self.name.to_owned(), bytes: bytes.len() });
        }
        let kind = Kind::secret();
        for (number, part) in parts.iter().enumerate().rev() {
            let mut data = json!({ "content": STANDARD.encode(part) });
            if number == 0 {
                data["parts"] = json!(STANDARD.encode(parts.len().to_string()));
                data["sha256"] = json!(STANDARD.encode(digest(bytes)));
            }
            let metadata = ObjectMeta {
                name: Some(self.part_name(number)),
                namespace: Some(self.namespace.to_owned()),
                labels: Some(self.labels.clone()),
                owner_references: self.owner.clone().map(|owner| vec![owner]),
                finalizers: self.kept.then(kept::finalizers),
                ..ObjectMeta::default()
            };
            let object = holder(&kind, metadata, json!({ "type": "groma.dev/blob", "immutable": true, "data": data }));
            match store.create(&kind, &object).await {
                Ok(_) | Err(StoreError::Exists(_)) => {}
                Err(problem) => return Err(problem.into()),
            }
        }
        Ok(())
    }

    /// What was kept. None if there is nothing under this name.
    pub(crate) async fn load(&self, store: &dyn Store) -> Result<Option<Vec<u8>>, BlobError> {
        let place = |number| Place::new(Kind::secret(), self.namespace, &self.part_name(number));
        let Some(first) = store.get(&place(0)).await? else { return Ok(None) };
        let mut first = data_of(&first);
        let text = |bytes: Option<&Vec<u8>>| bytes.and_then(|bytes| String::from_utf8(bytes.clone()).ok());
        let count = text(first.get("parts")).and_then(|text| text.parse::<usize>().ok());
        let (Some(count), Some(expected)) = (count.filter(|count| *count <= MOST_PARTS), text(first.get("sha256")))
        else {
            return Err(BlobError::Damaged(place(0)));
        };
        let mut bytes = first.remove("content").unwrap_or_default();
        for number in 1..count {
            let Some(part) = store.get(&place(number)).await? else { return Err(BlobError::Damaged(place(number))) };
            bytes.extend(data_of(&part).remove("content").unwrap_or_default());
        }
        if digest(&bytes) == expected { Ok(Some(bytes)) } else { Err(BlobError::Damaged(place(0))) }
    }

    /// Nobody needs it any more. The first part goes first: without it the others are nothing.
    pub(crate) async fn delete(&self, store: &dyn Store) -> Result<(), StoreError> {
        for number in 0..MOST_PARTS {
            let place = Place::new(Kind::secret(), self.namespace, &self.part_name(number));
            let Some(part) = store.get(&place).await? else {
                if number > 0 {
                    break;
                }
                continue;
            };
            kept::remove(store, &place.kind, &part).await?;
        }
        Ok(())
    }
}

fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
