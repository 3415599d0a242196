//! The namespaces that there is something to do in. Only there are Secrets, ConfigMaps and Jobs watched, and only there may the operator
//! read them: by a RoleBinding that it makes when the first Stack comes, and takes back after the last one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kube::api::ObjectMeta;
use serde_json::json;
use tokio::task::AbortHandle;

use crate::install::RUNNER;
use crate::objects::kept;
use crate::objects::{Kind, Place, Store, StoreError, holder};
use crate::runs::job;

/// An account, which gets rights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// Namespaces with Stacks.
pub struct Territory {
    store: Arc<dyn Store>,
    /// Who we are. None if we may do everything anyway.
    account: Option<Account>,
    watched: Mutex<BTreeMap<String, Vec<AbortHandle>>>,
}

impl Territory {
    /// There is nothing to do yet.
    pub fn new(store: Arc<dyn Store>, account: Option<Account>) -> Self {
        Self { store, account, watched: Mutex::default() }
    }

    fn watched(&self) -> MutexGuard<'_, BTreeMap<String, Vec<AbortHandle>>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is watched where there are Stacks.
    pub fn kinds() -> [Kind; 3] {
        [Kind::secret(), Kind::config_map(), Kind::job()]
    }

    /// There is something to do in a namespace: rights are seen to, then what `begin` begins goes on until the namespace is left.
    pub async fn enter(&self, namespace: &str, begin: impl FnOnce() -> Vec<AbortHandle>) -> Result<(), StoreError> {
        if self.watched().contains_key(namespace) {
            return Ok(());
        }
        self.ensure_rights(namespace).await?;
        self.watched().entry(namespace.to_owned()).or_insert_with(begin);
        Ok(())
    }

    /// There is nothing to do there any more.
    pub async fn leave(&self, namespace: &str) -> Result<(), StoreError> {
        let Some(tasks) = self.watched().remove(namespace) else { return Ok(()) };
        tasks.iter().for_each(AbortHandle::abort);
        self.give_back(namespace).await
    }

    /// Rights in a namespace without Stacks go.
    pub async fn give_back(&self, namespace: &str) -> Result<(), StoreError> {
        if self.account.is_none() {
            return Ok(());
        }
        kept::remove_at(&*self.store, &Place::new(Kind::role_binding(), namespace, RUNNER)).await
    }

    /// Whether rights were left in a namespace.
    pub async fn has_rights(&self, namespace: &str) -> Result<bool, StoreError> {
        let left = Place::new(Kind::role_binding(), namespace, RUNNER);
        Ok(self.account.is_none() || self.store.get(&left).await?.is_some())
    }

    /// Nothing is watched any more. Rights stay: whoever works next needs them.
    pub fn stop(&self) {
        for tasks in std::mem::take(&mut *self.watched()).values() {
            tasks.iter().for_each(AbortHandle::abort);
        }
    }

    /// How many there are.
    pub fn size(&self) -> usize {
        self.watched().len()
    }

    async fn ensure_rights(&self, namespace: &str) -> Result<(), StoreError> {
        let kind = Kind::role_binding();
        let Some(account) = &self.account else { return Ok(()) };
        if let Some(known) = self.store.get(&Place::new(kind.clone(), namespace, RUNNER)).await? {
            return kept::keep(&*self.store, &kind, known).await;
        }
        // Without rights nothing could be taken down when the namespace is deleted.
        let metadata = ObjectMeta {
            name: Some(RUNNER.to_owned()),
            namespace: Some(namespace.to_owned()),
            finalizers: Some(kept::finalizers()),
            ..ObjectMeta::default()
        };
        let subject =
            |name: &str, namespace: &str| json!({"kind": "ServiceAccount", "name": name, "namespace": namespace});
        let content = json!({
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": RUNNER},
            "subjects": [subject(&account.name, &account.namespace), subject(job::ACCOUNT, namespace)],
        });
        match self.store.create(&kind, &holder(&kind, metadata, content)).await {
            Ok(_) | Err(StoreError::Exists(_)) => Ok(()),
            Err(problem) => Err(problem),
        }
    }
}
