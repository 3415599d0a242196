//! The last states of a Stack, kept beside the one that is in use: whoever loses that can put one of them back.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};

use kube::api::DynamicObject;
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use crate::api::names;
use crate::api::stack::Stack;
use crate::blobs::{Blob, BlobError};
use crate::bundle::BackendBlock;
use crate::objects::{Kind, Place, Store, StoreError, data_of, owned_by};
use crate::work::Ended;

/// How many are kept.
const MOST: usize = 3;
/// No state is larger than that, unpacked.
const MOST_BYTES: u64 = 256 << 20;
/// What such a Secret is told from others by.
const BLOB: (&str, &str) = ("groma.dev/blob", "state");
/// The serial of what is in it.
const SERIAL: &str = "groma.dev/serial";

/// A state that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// The Secret that it is in.
    pub name: String,
    /// Its serial.
    pub serial: u64,
    /// When it was kept.
    pub at: Option<jiff::Timestamp>,
}

/// Why a state that was kept cannot be had.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct VersionError(String);

impl From<BlobError> for VersionError {
    fn from(problem: BlobError) -> Self {
        Self(problem.to_string())
    }
}

/// Keeps what a run has left, and lets go of what is too old. If that does not work, the state itself is there all the same.
pub(super) async fn keep(store: &dyn Store, stack: &Stack, ended: &Ended) {
    let (Some(bytes), Some(state)) = (&ended.kept_state, &ended.state) else { return };
    let is_wanted = stack.spec.backend.is_none() && stack.metadata.deletion_timestamp.is_none();
    if !is_wanted || state.resources == 0 {
        return;
    }
    let lineage = hex::encode(Sha256::digest(&state.lineage));
    let stack_name = stack.metadata.name.as_deref().unwrap_or_default();
    let name = format!("{stack_name}-state-{}-{}", &lineage[..8], state.serial);
    let kept = async {
        blob(stack, &name, state.serial).save(store, &packed(bytes)).await?;
        let mut versions = list(store, stack).await?;
        versions.truncate(versions.len().saturating_sub(MOST));
        for old in versions {
            blob(stack, &old.name, old.serial).delete(store).await?;
        }
        Ok::<(), BlobError>(())
    };
    if let Err(problem) = kept.await {
        tracing::warn!(stack = stack_name, %problem, "a state could not be kept a second time");
    }
}

/// What is kept, oldest first.
pub async fn list(store: &dyn Store, stack: &Stack) -> Result<Vec<Version>, StoreError> {
    let namespace = stack.metadata.namespace.as_deref();
    let name = stack.metadata.name.as_deref().unwrap_or_default();
    let found = store.list(&Kind::secret(), namespace, &[BLOB, (names::STACK, name)]).await?;
    let mut versions: Vec<Version> = found.iter().filter(|secret| is_whole(secret)).filter_map(version).collect();
    versions.sort_by_key(|version| (version.at, version.serial));
    Ok(versions)
}

/// The bytes of one, as they were stored.
pub async fn load(store: &dyn Store, stack: &Stack, version: &Version) -> Result<Vec<u8>, VersionError> {
    let packed = blob(stack, &version.name, version.serial).load(store).await?;
    let packed = packed.ok_or_else(|| VersionError(format!("{} is not there any more", version.name)))?;
    let mut bytes = Vec::new();
    let unpacked = flate2::read::GzDecoder::new(&*packed).take(MOST_BYTES).read_to_end(&mut bytes);
    unpacked.map_err(|problem| VersionError(format!("{} is damaged: {problem}", version.name)))?;
    Ok(bytes)
}

/// Who has written a state last, as the cluster that it is in knows them. None if it is elsewhere, or nobody says.
pub(super) async fn last_writer(store: &dyn Store, backend: &BackendBlock, workspace: Option<&str>) -> Option<String> {
    if backend.kind != "kubernetes" {
        return None;
    }
    let text = |name: &str| backend.config.get(name).and_then(Json::as_str);
    let name = format!("tfstate-{}-{}", workspace.unwrap_or("default"), text("secret_suffix")?);
    let place = Place::new(Kind::secret(), text("namespace")?, &name);
    let secret = store.get(&place).await.ok().flatten()?;
    let fields = secret.metadata.managed_fields.unwrap_or_default();
    let newest = fields.into_iter().max_by_key(|entry| entry.time.as_ref().map(|time| time.0))?;
    newest.manager
}

fn blob<'b>(stack: &'b Stack, name: &'b str, serial: u64) -> Blob<'b> {
    let stack_name = stack.metadata.name.clone().unwrap_or_default();
    Blob {
        namespace: stack.metadata.namespace.as_deref().unwrap_or_default(),
        name,
        labels: BTreeMap::from([
            (names::STACK.to_owned(), stack_name.clone()),
            (names::KEPT_FOR.to_owned(), stack_name),
            (BLOB.0.to_owned(), BLOB.1.to_owned()),
            (SERIAL.to_owned(), serial.to_string()),
        ]),
        owner: Some(owned_by(stack)),
        kept: true,
    }
}

/// Whether it is the first part, which is written last.
fn is_whole(secret: &DynamicObject) -> bool {
    secret.metadata.deletion_timestamp.is_none() && data_of(secret).contains_key("parts")
}

fn version(secret: &DynamicObject) -> Option<Version> {
    let serial = secret.metadata.labels.as_ref()?.get(SERIAL)?.parse().ok()?;
    let at = secret.metadata.creation_timestamp.as_ref().map(|time| time.0);
    Some(Version { name: secret.metadata.name.clone()?, serial, at })
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing to memory does not fail.
    let _ = packed.write_all(bytes);
    packed.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::api::shared::Moment;
    use crate::api::upkeep::StateSeen;
    use crate::objects::memory::Memory;

    fn stack() -> Stack {
        serde_json::from_value(json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Stack",
            "metadata": {"name": "app", "namespace": "team", "uid": "of-the-stack"}, "spec": {"source": {"inline": {}}},
        }))
        .unwrap()
    }

    fn ended(serial: u64, resources: u32) -> Ended {
        let state = StateSeen { lineage: "line".to_owned(), serial, resources, unsure: false };
        let bytes = format!("state {serial}").into_bytes();
        Ended { state: Some(state), kept_state: Some(bytes), ..Ended::default() }
    }

    #[tokio::test]
    async fn the_last_three_are_kept() {
        let store = Memory::new(Arc::new(|| Moment(jiff::Timestamp::UNIX_EPOCH)));
        store.plant(Place::new(Kind::config_map(), "team", "owner"), "of-the-stack");
        for serial in [1, 2, 3, 4, 5] {
            keep(&store, &stack(), &ended(serial, 1)).await;
        }
        // What is empty is not worth it, and what was kept once is kept.
        keep(&store, &stack(), &ended(6, 0)).await;
        keep(&store, &stack(), &ended(5, 1)).await;
        let versions = list(&store, &stack()).await.unwrap();
        assert_eq!(versions.iter().map(|version| version.serial).collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!(load(&store, &stack(), &versions[1]).await.unwrap(), b"state 4");
    }
}
