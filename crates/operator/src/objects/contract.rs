//! What an API server does, and we rely on, whatever the store: tests of each run all of it.

use futures_util::StreamExt as _;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::DynamicObject;
use serde_json::json;

use super::{Kind, Place, Seen, Store, StoreError};

/// A test for each rule, with a new store from `$store`, which gives it with whatever must live as long.
macro_rules! contract {
    ($store:expr) => {
        contract!($store, who_is_slower_has_to_read_again);
        contract!($store, a_status_is_written_alone);
        contract!($store, what_is_held_goes_when_it_is_let_go);
        contract!($store, what_is_owned_goes_with_its_owner);
        contract!($store, watches_tell_what_is_there_and_what_happens);
    };
    ($store:expr, $rule:ident) => {
        #[tokio::test]
        async fn $rule() {
            let (store, _lives) = $store;
            crate::objects::contract::$rule(&store).await;
        }
    };
}

pub(super) use contract;

pub(super) fn kind() -> Kind {
    Kind { group: "a.dev".to_owned(), version: "v1".to_owned(), kind: "Thing".to_owned(), plural: "things".to_owned() }
}

pub(super) fn place(name: &str) -> Place {
    Place::new(kind(), "default", name)
}

pub(super) fn thing(name: &str) -> DynamicObject {
    let object = json!({
        "apiVersion": "a.dev/v1", "kind": "Thing", "metadata": {"name": name, "namespace": "default"},
        "spec": {"size": 1}, "status": {"made": "up"},
    });
    serde_json::from_value(object).unwrap()
}

/// A rule that all stores keep.
pub(super) async fn who_is_slower_has_to_read_again(store: &dyn Store) {
    let made = store.create(&kind(), &thing("a")).await.unwrap();
    assert!(matches!(store.create(&kind(), &thing("a")).await, Err(StoreError::Exists(_))));
    assert!(matches!(store.replace(&kind(), &thing("a")).await, Err(StoreError::Invalid(..))));
    let mut first = made.clone();
    first.data["spec"]["size"] = json!(2);
    let first = store.replace(&kind(), &first).await.unwrap();
    assert!(matches!(store.replace(&kind(), &made).await, Err(StoreError::Conflict(_))));
    assert!(matches!(store.replace_status(&kind(), &made).await, Err(StoreError::Conflict(_))));
    assert_eq!(first.metadata.generation, Some(2));
    let same = store.replace(&kind(), &first).await.unwrap();
    assert_eq!(same.metadata.resource_version, first.metadata.resource_version);
}

/// A rule that all stores keep.
pub(super) async fn a_status_is_written_alone(store: &dyn Store) {
    let mut made = store.create(&kind(), &thing("a")).await.unwrap();
    assert_eq!(made.data.get("status"), None);
    made.data["status"] = json!({"ready": true});
    made.data["spec"]["size"] = json!(9);
    let written = store.replace_status(&kind(), &made).await.unwrap();
    assert_eq!((&written.data["spec"]["size"], &written.data["status"]["ready"]), (&json!(1), &json!(true)));
    assert_eq!(written.metadata.generation, Some(1));
    let mut next = written.clone();
    next.data["status"] = json!({"ready": false});
    next.data["spec"]["size"] = json!(2);
    let next = store.replace(&kind(), &next).await.unwrap();
    assert_eq!((&next.data["spec"]["size"], &next.data["status"]["ready"]), (&json!(2), &json!(true)));
}

/// A rule that all stores keep.
pub(super) async fn what_is_held_goes_when_it_is_let_go(store: &dyn Store) {
    let mut held = thing("a");
    held.metadata.finalizers = Some(vec!["a.dev/held".to_owned()]);
    store.create(&kind(), &held).await.unwrap();
    store.delete(&place("a"), Some("somebody else")).await.unwrap();
    let mut found = store.get(&place("a")).await.unwrap().unwrap();
    assert_eq!(found.metadata.deletion_timestamp, None);
    store.delete(&place("a"), found.metadata.uid.as_deref()).await.unwrap();
    found = store.get(&place("a")).await.unwrap().unwrap();
    assert!(found.metadata.deletion_timestamp.is_some());
    found.metadata.finalizers = Some(vec!["a.dev/held".to_owned(), "a.dev/late".to_owned()]);
    assert!(matches!(store.replace(&kind(), &found).await, Err(StoreError::Invalid(..))));
    found.metadata.finalizers = None;
    store.replace(&kind(), &found).await.unwrap();
    assert!(store.get(&place("a")).await.unwrap().is_none());
}

/// A rule that all stores keep.
pub(super) async fn what_is_owned_goes_with_its_owner(store: &dyn Store) {
    let owner = store.create(&kind(), &thing("owner")).await.unwrap();
    let mut owned = thing("owned");
    owned.metadata.owner_references = Some(vec![OwnerReference {
        api_version: "a.dev/v1".to_owned(),
        kind: "Thing".to_owned(),
        name: "owner".to_owned(),
        uid: owner.metadata.uid.unwrap(),
        ..OwnerReference::default()
    }]);
    store.create(&kind(), &owned).await.unwrap();
    store.delete(&place("owner"), None).await.unwrap();
    assert!(store.list(&kind(), None, &[]).await.unwrap().is_empty());
}

/// A rule that all stores keep.
pub(super) async fn watches_tell_what_is_there_and_what_happens(store: &dyn Store) {
    store.create(&kind(), &thing("a")).await.unwrap();
    let seen = store.watch(&kind(), Some("default"));
    let mut elsewhere = store.watch(&kind(), Some("elsewhere"));
    store.create(&kind(), &thing("b")).await.unwrap();
    store.delete(&place("a"), None).await.unwrap();
    let told = seen.take(5).map(|seen| match seen {
        Seen::There(object) => format!("there {}", object.metadata.name.unwrap()),
        Seen::Gone(object) => format!("gone {}", object.metadata.name.unwrap()),
        Seen::Again => "again".to_owned(),
        Seen::Complete => "complete".to_owned(),
    });
    assert_eq!(told.collect::<Vec<_>>().await, ["again", "there a", "complete", "there b", "gone a"]);
    assert!(matches!(elsewhere.next().await, Some(Seen::Again)));
    assert!(matches!(elsewhere.next().await, Some(Seen::Complete)));
}
