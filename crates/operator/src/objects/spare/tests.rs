//! A namespace that takes nothing new, and what goes on there.

use serde_json::json;

use super::*;
use crate::objects::holder;
use kube::api::ObjectMeta;

fn clock() -> Arc<dyn Fn() -> Moment + Send + Sync> {
    Arc::new(|| Moment(jiff::Timestamp::from_second(1).unwrap()))
}

/// A namespace that is being deleted.
struct Ending(Memory);

#[async_trait]
impl Store for Ending {
    async fn get(&self, place: &Place) -> Result<Option<DynamicObject>, StoreError> {
        self.0.get(place).await
    }

    async fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        labels: &[(&str, &str)],
    ) -> Result<Vec<DynamicObject>, StoreError> {
        self.0.list(kind, namespace, labels).await
    }

    async fn create(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        Err(StoreError::Ending(Place::of(kind, object)))
    }

    async fn replace(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        self.0.replace(kind, object).await
    }

    async fn replace_status(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        self.0.replace_status(kind, object).await
    }

    async fn delete(&self, place: &Place, uid: Option<&str>) -> Result<(), StoreError> {
        self.0.delete(place, uid).await
    }

    fn watch(&self, kind: &Kind, namespace: Option<&str>) -> BoxStream<'static, Seen> {
        self.0.watch(kind, namespace)
    }

    async fn notice(&self, notice: Notice) {
        self.0.notice(notice).await;
    }
}

fn object(kind: &Kind, name: &str) -> DynamicObject {
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some("team".to_owned()),
        finalizers: Some(vec!["groma.dev/kept".to_owned()]),
        ..ObjectMeta::default()
    };
    holder(kind, metadata, json!({"spec": {"executor": "job", "action": "destroy"}}))
}

#[tokio::test]
async fn runs_go_on_where_nothing_can_be_made() {
    let store = WithSpare::new(Ending(Memory::new(clock())), clock());
    let kind = Kind::of::<Run>();
    let mut seen = store.watch(&kind, Some("team"));
    let mut made = store.create(&kind, &object(&kind, "app-2")).await.unwrap();
    assert_eq!(made.data["spec"]["executor"], "inProcess");
    let told = loop {
        if let Some(Seen::There(told)) = seen.next().await {
            break told;
        }
    };
    assert_eq!(told.metadata.name.as_deref(), Some("app-2"));
    made.data["status"] = json!({"phase": "Applying"});
    store.replace_status(&kind, &made).await.unwrap();
    let place = Place::of(&kind, &made);
    assert_eq!(store.get(&place).await.unwrap().unwrap().data["status"]["phase"], "Applying");
    assert_eq!(store.list(&kind, Some("team"), &[]).await.unwrap().len(), 1);
    store.delete(&place, None).await.unwrap();
    assert!(store.get(&place).await.unwrap().is_none());
}

#[tokio::test]
async fn nothing_new_is_made_where_everything_goes() {
    let store = WithSpare::new(Ending(Memory::new(clock())), clock());
    let kind = Kind::of::<Run>();
    let mut run = object(&kind, "app-2");
    run.data["spec"]["action"] = json!("apply");
    assert!(matches!(store.create(&kind, &run).await, Err(StoreError::Ending(_))));
}

#[tokio::test]
async fn what_is_there_is_not_made_again() {
    let real = Memory::new(clock());
    let kind = Kind::secret();
    let there = real.create(&kind, &object(&kind, "bundle")).await.unwrap();
    let store = WithSpare::new(Ending(real), clock());
    assert!(matches!(store.create(&kind, &object(&kind, "bundle")).await, Err(StoreError::Exists(_))));
    assert_eq!(store.get(&Place::of(&kind, &there)).await.unwrap().unwrap().metadata.uid, there.metadata.uid);
}

#[tokio::test]
async fn what_others_must_see_is_not_kept_here() {
    let store = WithSpare::new(Ending(Memory::new(clock())), clock());
    let kind = Kind::lease();
    assert!(matches!(store.create(&kind, &object(&kind, "lock")).await, Err(StoreError::Ending(_))));
}
