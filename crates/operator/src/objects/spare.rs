//! Objects that a namespace does not take any more because it is being deleted, kept in memory instead. So Stacks in it are taken down
//! by Runs like everywhere else; only that nobody can look at those, and that who comes after us begins them anew.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use kube::api::DynamicObject;
use serde_json::json;

use super::memory::Memory;
use super::{Kind, Notice, Place, Seen, Store, StoreError};
use crate::api::run::Run;
use crate::api::shared::Moment;

/// Objects elsewhere, with room for those that are not taken there.
pub struct WithSpare<S> {
    real: S,
    spare: Memory,
}

impl<S: Store> WithSpare<S> {
    /// Nothing is kept yet.
    pub fn new(real: S, clock: Arc<dyn Fn() -> Moment + Send + Sync>) -> Self {
        Self { real, spare: Memory::new(clock) }
    }

    async fn has(&self, place: &Place) -> bool {
        matches!(self.spare.get(place).await, Ok(Some(_)))
    }
}

/// What may be kept here: Runs, and the Secrets that they need. Everything else would be of use to nobody.
fn may_be_kept(kind: &Kind) -> bool {
    *kind == Kind::of::<Run>() || *kind == Kind::secret()
}

/// Whether it helps to take something down. Nothing new is made where everything goes.
fn takes_down(kind: &Kind, object: &DynamicObject) -> bool {
    *kind != Kind::of::<Run>() || object.data["spec"]["action"] == "destroy"
}

/// The object as it can be kept: nobody collects it, and nobody keeps it against our will.
fn adapted(kind: &Kind, object: &DynamicObject) -> DynamicObject {
    let mut object = object.clone();
    object.metadata.owner_references = None;
    object.metadata.finalizers = None;
    if *kind == Kind::of::<Run>() {
        // A Job cannot be made there either.
        object.data["spec"]["executor"] = json!("inProcess");
    }
    object
}

#[async_trait]
impl<S: Store> Store for WithSpare<S> {
    async fn get(&self, place: &Place) -> Result<Option<DynamicObject>, StoreError> {
        match self.spare.get(place).await? {
            Some(found) => Ok(Some(found)),
            None => self.real.get(place).await,
        }
    }

    async fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        labels: &[(&str, &str)],
    ) -> Result<Vec<DynamicObject>, StoreError> {
        let mut found = self.real.list(kind, namespace, labels).await?;
        if may_be_kept(kind) {
            found.extend(self.spare.list(kind, namespace, labels).await?);
        }
        Ok(found)
    }

    async fn create(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        match self.real.create(kind, object).await {
            Err(StoreError::Ending(place)) if may_be_kept(kind) && takes_down(kind, object) => {
                // Whether it is there already is looked at last.
                if self.real.get(&place).await?.is_some() {
                    return Err(StoreError::Exists(place));
                }
                self.spare.create(kind, &adapted(kind, object)).await
            }
            made => made,
        }
    }

    async fn replace(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        if self.has(&Place::of(kind, object)).await {
            return self.spare.replace(kind, object).await;
        }
        self.real.replace(kind, object).await
    }

    async fn replace_status(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        if self.has(&Place::of(kind, object)).await {
            return self.spare.replace_status(kind, object).await;
        }
        self.real.replace_status(kind, object).await
    }

    async fn delete(&self, place: &Place, uid: Option<&str>) -> Result<(), StoreError> {
        if self.has(place).await {
            return self.spare.delete(place, uid).await;
        }
        self.real.delete(place, uid).await
    }

    fn watch(&self, kind: &Kind, namespace: Option<&str>) -> BoxStream<'static, Seen> {
        let real = self.real.watch(kind, namespace);
        if !may_be_kept(kind) {
            return real;
        }
        // Whatever is told anew is told by the other one.
        let told = |seen: &Seen| std::future::ready(matches!(seen, Seen::There(_) | Seen::Gone(_)));
        stream::select(real, self.spare.watch(kind, namespace).filter(told)).boxed()
    }

    async fn notice(&self, notice: Notice) {
        self.real.notice(notice).await;
    }
}
