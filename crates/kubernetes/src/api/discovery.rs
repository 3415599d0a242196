//! Which kinds a server has: one document for each group and version that is asked for, kept, and asked for again when something is missing.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use serde::Deserialize;

use super::Kind;
use crate::failure::{Failure, FailureKind};

/// What is missing is not asked for more often than that.
const FRESH: Duration = Duration::from_millis(500);

/// What is known of a server.
#[derive(Default)]
pub(super) struct Discovery {
    versions: RwLock<HashMap<String, Arc<Version>>>,
}

/// A group and version.
#[derive(Default)]
pub(super) struct Version {
    known: RwLock<Option<Known>>,
    /// Whoever asks the server; the others wait for the answer.
    turn: tokio::sync::Mutex<()>,
}

struct Known {
    at: SystemTime,
    /// By kind. Empty if the group and version are not served.
    kinds: HashMap<String, Kind>,
}

/// `/api/v1` or `/apis/GROUP/VERSION`, as the server has it.
#[derive(Deserialize)]
struct ResourceList {
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
struct Resource {
    name: String,
    kind: String,
    #[serde(default)]
    namespaced: bool,
    #[serde(default)]
    verbs: Vec<String>,
}

/// `/apis`.
#[derive(Deserialize)]
struct GroupList {
    #[serde(default)]
    groups: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    preferred_version: PreferredVersion,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PreferredVersion {
    group_version: String,
}

impl Discovery {
    fn version(&self, api_version: &str) -> Arc<Version> {
        let known = self.versions.read().unwrap_or_else(PoisonError::into_inner).get(api_version).cloned();
        known.unwrap_or_else(|| {
            let mut versions = self.versions.write().unwrap_or_else(PoisonError::into_inner);
            versions.entry(api_version.to_owned()).or_default().clone()
        })
    }

    /// A kind: from what is known, else from what `ask` finds. `ask` gives none if the group and version are not served.
    pub(super) async fn kind<F>(
        &self,
        api_version: &str,
        kind: &str,
        now: impl Fn() -> SystemTime,
        ask: impl FnOnce() -> F,
    ) -> Result<Kind, Failure>
    where
        F: Future<Output = Result<Option<bytes::Bytes>, Failure>>,
    {
        let version = self.version(api_version);
        if let Some(found) = version.find(kind) {
            return Ok(found);
        }
        let _turn = version.turn.lock().await;
        if let Some(found) = version.find(kind) {
            return Ok(found);
        }
        if !version.is_fresh(now()) {
            let kinds = match ask().await? {
                Some(document) => of_document(api_version, &document)?,
                None => HashMap::new(),
            };
            let known = Known { at: now(), kinds };
            *version.known.write().unwrap_or_else(PoisonError::into_inner) = Some(known);
        }
        version.find(kind).ok_or_else(|| Failure::new(FailureKind::UnknownKind, unknown(api_version, kind)))
    }

    /// Forgets a group and version that turned out to be wrong.
    pub(super) fn forget(&self, api_version: &str) {
        *self.version(api_version).known.write().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Version {
    fn find(&self, kind: &str) -> Option<Kind> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).as_ref()?.kinds.get(kind).cloned()
    }

    fn is_fresh(&self, now: SystemTime) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().is_some_and(|known| now.duration_since(known.at).is_ok_and(|age| age < FRESH))
    }
}

/// That there is no such kind, in words.
pub(super) fn unknown(api_version: &str, kind: &str) -> String {
    format!("the server has no kind {kind:?} of apiVersion {api_version:?}")
}

fn resources(document: &[u8]) -> Result<Vec<Resource>, Failure> {
    let list: ResourceList = serde_json::from_slice(document).map_err(|error| unreadable(&error))?;
    // Those with a slash are parts of others: `deployments/status`.
    Ok(list.resources.into_iter().filter(|resource| !resource.name.contains('/')).collect())
}

fn of_document(api_version: &str, document: &[u8]) -> Result<HashMap<String, Kind>, Failure> {
    let mut kinds = HashMap::new();
    for resource in resources(document)? {
        let kind = kind_of(api_version, resource);
        // Where one kind has several resources, the first one is meant.
        kinds.entry(kind.kind.clone()).or_insert(kind);
    }
    Ok(kinds)
}

fn kind_of(api_version: &str, resource: Resource) -> Kind {
    let Resource { name, kind, namespaced, .. } = resource;
    Kind { api_version: api_version.to_owned(), kind, plural: name, namespaced }
}

fn unreadable(error: &serde_json::Error) -> Failure {
    Failure::new(FailureKind::Other, format!("the server's list of kinds cannot be read: {error}"))
}

/// The group and version of each group that the server prefers.
pub(super) fn preferred_versions(document: &[u8]) -> Result<Vec<String>, Failure> {
    let list: GroupList = serde_json::from_slice(document).map_err(|error| unreadable(&error))?;
    Ok(list.groups.into_iter().map(|group| group.preferred_version.group_version).collect())
}

/// The kinds in a document whose objects can be listed.
pub(super) fn listable(api_version: &str, document: &[u8]) -> Result<Vec<Kind>, Failure> {
    let found = resources(document)?.into_iter();
    let found = found.filter(|resource| resource.verbs.iter().any(|verb| verb == "list"));
    Ok(found.map(|resource| kind_of(api_version, resource)).collect())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const APPS: &str = r#"{"kind":"APIResourceList","groupVersion":"apps/v1","resources":[
        {"name":"deployments","kind":"Deployment","namespaced":true,"verbs":["get","list"]},
        {"name":"deployments/scale","kind":"Scale","namespaced":true,"verbs":["get"]},
        {"name":"cacti","kind":"Cactus","namespaced":false,"verbs":["create"]}]}"#;

    fn document() -> bytes::Bytes {
        bytes::Bytes::from_static(APPS.as_bytes())
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[tokio::test]
    async fn a_document_is_asked_for_once() {
        let (discovery, asked) = (Discovery::default(), Cell::new(0));
        let ask = || async {
            asked.set(asked.get() + 1);
            Ok(Some(document()))
        };
        for kind in ["Deployment", "Cactus", "Deployment"] {
            let found = discovery.kind("apps/v1", kind, || at(100), ask).await.expect("known");
            assert_eq!(found.namespaced, kind == "Deployment");
        }
        assert_eq!(asked.get(), 1);
    }

    #[tokio::test]
    async fn a_missing_kind_is_asked_for_again_after_a_while() {
        let (discovery, asked) = (Discovery::default(), Cell::new(0));
        let ask = || async {
            asked.set(asked.get() + 1);
            Ok(if asked.get() < 2 { None } else { Some(document()) })
        };
        for (now, known, requests) in [(100, false, 1), (100, false, 1), (102, true, 2)] {
            let found = discovery.kind("apps/v1", "Cactus", || at(now), ask).await;
            assert_eq!(found.is_ok(), known);
            if let Err(failure) = found {
                assert_eq!(failure.kind, FailureKind::UnknownKind);
            }
            assert_eq!(asked.get(), requests);
        }
    }

    #[test]
    fn parts_of_resources_are_no_kinds() {
        let kinds = of_document("apps/v1", APPS.as_bytes()).expect("readable");
        assert_eq!(kinds.len(), 2);
        assert_eq!(kinds["Cactus"].plural, "cacti");
        let listable = listable("apps/v1", APPS.as_bytes()).expect("readable");
        assert_eq!(listable.len(), 1);
    }
}
