//! What is kept, and what lets it go.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::api::shared::Moment;
use crate::objects::holder;
use crate::objects::memory::Memory;

fn store() -> Memory {
    Memory::new(Arc::new(|| Moment(jiff::Timestamp::from_second(1).unwrap())))
}

async fn add(store: &Memory, name: &str, stack: &str) {
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some("team".to_owned()),
        labels: Some([(names::KEPT_FOR.to_owned(), stack.to_owned())].into()),
        finalizers: Some(finalizers()),
        ..ObjectMeta::default()
    };
    let kind = Kind::secret();
    store.create(&kind, &holder(&kind, metadata, json!({}))).await.unwrap();
}

async fn add_namespace(store: &Memory) -> Place {
    let kind = Kind::namespace();
    let metadata = ObjectMeta {
        name: Some("team".to_owned()),
        finalizers: Some(vec!["kubernetes".to_owned()]),
        ..ObjectMeta::default()
    };
    let made = store.create(&kind, &holder(&kind, metadata, json!({}))).await.unwrap();
    Place::of(&kind, &made)
}

fn at(name: &str) -> Place {
    Place::new(Kind::secret(), "team", name)
}

#[tokio::test]
async fn what_somebody_deletes_goes_unless_the_namespace_goes() {
    let store = store();
    let namespace = add_namespace(&store).await;
    add(&store, "one", "app").await;
    add(&store, "two", "app").await;
    store.delete(&at("one"), None).await.unwrap();
    assert_eq!(wanted_by(&store.get(&at("one")).await.unwrap().unwrap().metadata), Some("app"));
    assert_eq!(wanted_by(&store.get(&at("two")).await.unwrap().unwrap().metadata), None);
    release_deleted(&store, "team", "app").await.unwrap();
    assert!(store.get(&at("one")).await.unwrap().is_none());
    store.delete(&namespace, None).await.unwrap();
    store.delete(&at("two"), None).await.unwrap();
    release_deleted(&store, "team", "app").await.unwrap();
    assert!(store.get(&at("two")).await.unwrap().is_some());
    // Without its Stack nothing is kept.
    release(&store, "team", "app").await.unwrap();
    assert!(store.get(&at("two")).await.unwrap().is_none());
}

#[tokio::test]
async fn only_what_is_kept_for_one_stack_is_released() {
    let store = store();
    add(&store, "one", "app").await;
    add(&store, "two", "other").await;
    assert_eq!(stacks_of(&store, "team").await.unwrap().len(), 2);
    release(&store, "team", "app").await.unwrap();
    assert!(!is_kept(&store.get(&at("one")).await.unwrap().unwrap().metadata));
    assert!(is_kept(&store.get(&at("two")).await.unwrap().unwrap().metadata));
    remove_at(&store, &at("two")).await.unwrap();
    remove_at(&store, &at("three")).await.unwrap();
    assert!(store.get(&at("two")).await.unwrap().is_none());
}
