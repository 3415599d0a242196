//! Locks of runs that are dead: who finds one of those need not wait until it has been silent for long enough.
//!
//! A run locks its state under the uid of its Run. That Run is dead for certain if it is over, since whoever works on one gives the lock
//! back first; or if it is the one that works now, in an earlier attempt. Of runs in Jobs, the pods must have ended, too.

use std::sync::Arc;

use groma_run::session::LockManners;
use kube::api::DynamicObject;

use crate::api::names;
use crate::api::run::Run;
use crate::api::stack::Executor;
use crate::objects::{Kind, Store, StoreError, find_all};

/// How many characters a uid has.
const UID: usize = 36;

/// How a run locks its state. `pod` is the one that it works in, if it works in one.
pub(super) fn manners(store: &Arc<dyn Store>, run: &Run, pod: Option<&str>) -> LockManners {
    let metadata = &run.metadata;
    let namespace = metadata.namespace.clone().unwrap_or_default();
    let about = format!("Run {namespace}/{}", metadata.name.as_deref().unwrap_or_default());
    let asking = Arc::new(Asking {
        store: Arc::clone(store),
        namespace,
        stack: run.spec.stack.clone(),
        uid: metadata.uid.clone().unwrap_or_default(),
        pod: pod.map(str::to_owned),
    });
    // Whoever asks has a runtime of its own, which ends with the run; connections of ours must not end with it.
    let handle = tokio::runtime::Handle::current();
    let is_gone = move |holder: String| {
        let asking = Arc::clone(&asking);
        let answer = handle.spawn(async move { asking.is_gone(&holder).await });
        let answer = async move {
            match answer.await {
                Ok(Ok(is_gone)) => is_gone,
                Ok(Err(problem)) => {
                    tracing::debug!(%problem, "it is not known whether the holder of a lock is gone");
                    false
                }
                Err(_) => false,
            }
        };
        Box::pin(answer) as std::pin::Pin<Box<dyn Future<Output = bool> + Send>>
    };
    LockManners { holder: metadata.uid.clone(), about, is_gone: Some(Arc::new(is_gone)) }
}

/// A run that has found its state locked.
struct Asking {
    store: Arc<dyn Store>,
    namespace: String,
    stack: String,
    uid: String,
    pod: Option<String>,
}

impl Asking {
    async fn is_gone(&self, holder: &str) -> Result<bool, StoreError> {
        let Some(uid) = run_of(holder) else { return Ok(false) };
        let runs = find_all::<Run>(&*self.store, Some(&self.namespace), &[(names::STACK, &self.stack)]).await?;
        // One that is not there any more may have been taken away from under whoever works on it.
        let Some(run) = runs.iter().find(|run| run.metadata.uid.as_deref() == Some(uid)) else { return Ok(false) };
        let is_over = run.status.as_ref().is_some_and(|status| status.phase.is_over());
        if !is_over && uid != self.uid {
            return Ok(false);
        }
        match run.spec.executor {
            // There is one operator that works, and one attempt at a time. Who was let go of may still be at it, wherever that is.
            Executor::InProcess => Ok(run.status.as_ref().is_none_or(|status| !status.let_go)),
            Executor::Job => self.pods_have_ended(run).await,
        }
    }

    async fn pods_have_ended(&self, run: &Run) -> Result<bool, StoreError> {
        let name = run.metadata.name.as_deref().unwrap_or_default();
        let pods = self.store.list(&Kind::core("Pod", "pods"), Some(&self.namespace), &[(names::RUN, name)]).await?;
        Ok(pods.iter().filter(|pod| pod.metadata.name != self.pod).all(has_ended))
    }
}

/// Whether somebody works on a Run of the same Stack in a pod, although there is no such Run any more. Asked only for Runs that nobody
/// owns: those are where nothing can be made any more.
pub(super) async fn has_pods(store: &dyn Store, run: &Run) -> Result<bool, StoreError> {
    if run.metadata.owner_references.is_some() {
        return Ok(false);
    }
    let namespace = run.metadata.namespace.as_deref();
    let pods = store.list(&Kind::core("Pod", "pods"), namespace, &[(names::STACK, &run.spec.stack)]).await?;
    Ok(!pods.iter().all(has_ended))
}

fn has_ended(pod: &DynamicObject) -> bool {
    matches!(pod.data["status"]["phase"].as_str(), Some("Succeeded" | "Failed"))
}

/// The uid of the Run that a lock is called after, if it is called after one.
fn run_of(holder: &str) -> Option<&str> {
    let (uid, rest) = holder.split_at_checked(UID)?;
    rest.starts_with('-').then_some(uid)
}

#[cfg(test)]
mod tests;
