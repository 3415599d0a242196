//! What outlives the deletion of a namespace, until the Stacks in it are taken down: bundles, states and their journals, and our rights.
//! A finalizer keeps each of them, since whoever deletes a namespace deletes everything in it at once.
//!
//! It goes with the Stack, however that goes. Somebody who deletes one of them by hand, while the namespace stays, gets what they ask for.

use std::collections::BTreeSet;

use kube::api::{DynamicObject, ObjectMeta};

use crate::api::names;
use crate::objects::{Kind, Place, Store, StoreError};

/// The finalizers of something that is kept.
pub(crate) fn finalizers() -> Vec<String> {
    vec![names::KEPT.to_owned()]
}

/// Whether something is kept.
pub(crate) fn is_kept(metadata: &ObjectMeta) -> bool {
    metadata.finalizers.iter().flatten().any(|held| held == names::KEPT)
}

/// The Stack that something is kept for, if it is, and somebody wants it to go.
pub(crate) fn wanted_by(metadata: &ObjectMeta) -> Option<&str> {
    let goes = metadata.deletion_timestamp.is_some() && is_kept(metadata);
    let whom = metadata.labels.as_ref().and_then(|labels| labels.get(names::KEPT_FOR));
    whom.map(String::as_str).filter(|_| goes)
}

/// It is kept from now on, unless it is too late for that.
pub(crate) async fn keep(store: &dyn Store, kind: &Kind, mut object: DynamicObject) -> Result<(), StoreError> {
    if is_kept(&object.metadata) || object.metadata.deletion_timestamp.is_some() {
        return Ok(());
    }
    object.metadata.finalizers.get_or_insert_default().push(names::KEPT.to_owned());
    store.replace(kind, &object).await.map(|_| ())
}

/// It is kept no longer.
pub(crate) async fn free(store: &dyn Store, kind: &Kind, object: &DynamicObject) -> Result<(), StoreError> {
    if !is_kept(&object.metadata) {
        return Ok(());
    }
    let mut freed = object.clone();
    freed.metadata.finalizers.iter_mut().for_each(|held| held.retain(|finalizer| finalizer != names::KEPT));
    match store.replace(kind, &freed).await {
        Ok(_) | Err(StoreError::Missing(_)) => Ok(()),
        Err(problem) => Err(problem),
    }
}

/// Deletes something that is kept, or is not.
pub(crate) async fn remove(store: &dyn Store, kind: &Kind, object: &DynamicObject) -> Result<(), StoreError> {
    free(store, kind, object).await?;
    store.delete(&Place::of(kind, object), object.metadata.uid.as_deref()).await
}

/// The same, by its place.
pub(crate) async fn remove_at(store: &dyn Store, place: &Place) -> Result<(), StoreError> {
    match store.get(place).await? {
        Some(object) => remove(store, &place.kind, &object).await,
        None => Ok(()),
    }
}

/// Everything that is kept for a Stack is kept no longer. What nobody has deleted stays where it is.
pub(crate) async fn release(store: &dyn Store, namespace: &str, stack: &str) -> Result<(), StoreError> {
    let kind = Kind::secret();
    for object in store.list(&kind, Some(namespace), &[(names::KEPT_FOR, stack)]).await? {
        free(store, &kind, &object).await?;
    }
    Ok(())
}

/// What is kept for a Stack and that somebody has deleted is kept no longer, unless that is because its namespace goes away.
pub(crate) async fn release_deleted(store: &dyn Store, namespace: &str, stack: &str) -> Result<(), StoreError> {
    if is_ending(store, namespace).await? {
        return Ok(());
    }
    let kind = Kind::secret();
    for object in store.list(&kind, Some(namespace), &[(names::KEPT_FOR, stack)]).await? {
        if object.metadata.deletion_timestamp.is_some() {
            free(store, &kind, &object).await?;
        }
    }
    Ok(())
}

/// What is kept in a namespace, and for which Stacks.
pub(crate) async fn stacks_of(store: &dyn Store, namespace: &str) -> Result<BTreeSet<String>, StoreError> {
    let all = store.list(&Kind::secret(), Some(namespace), &[]).await?;
    let whom = |object: &DynamicObject| object.metadata.labels.as_ref()?.get(names::KEPT_FOR).cloned();
    Ok(all.iter().filter(|object| is_kept(&object.metadata)).filter_map(whom).collect())
}

async fn is_ending(store: &dyn Store, namespace: &str) -> Result<bool, StoreError> {
    let place = Place { kind: Kind::namespace(), namespace: None, name: namespace.to_owned() };
    let found = store.get(&place).await?;
    Ok(found.is_none_or(|namespace| namespace.metadata.deletion_timestamp.is_some()))
}

#[cfg(test)]
mod tests;
