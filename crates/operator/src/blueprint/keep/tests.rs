//! Stories of Blueprints.

use serde_json::json;

use super::*;
use crate::api::shared::Condition;
use crate::blueprint::shipped::{sample, shipped};
use crate::objects::Place;
use crate::objects::memory::Memory;

fn moment() -> Moment {
    Moment(jiff::Timestamp::from_second(1_000).unwrap())
}

fn kind() -> Kind {
    kind_of(&shipped().spec.subject).unwrap()
}

async fn world() -> (Memory, Keeper) {
    let store = Memory::new(Arc::new(moment));
    store.create(&Kind::of::<Blueprint>(), &untyped(&shipped()).unwrap()).await.unwrap();
    let keeper = Keeper::new(Arc::new(store.clone()), Vec::new());
    (store, keeper)
}

async fn blueprint(store: &Memory, name: &str) -> Option<Blueprint> {
    find_global(store, name).await.unwrap()
}

async fn ready(store: &Memory, name: &str) -> String {
    let conditions = blueprint(store, name).await.unwrap().status.unwrap().conditions;
    let shown = |known: &Condition| format!("{}={:?} {}", known.kind, known.status, known.reason);
    conditions.iter().map(shown).collect::<Vec<_>>().join(", ")
}

async fn delete(store: &Memory) {
    let place = Place { kind: Kind::of::<Blueprint>(), namespace: None, name: "simple-resource".to_owned() };
    store.delete(&place, None).await.unwrap();
}

/// An object as it is once it was looked at.
async fn held(store: &Memory, name: &str) -> Place {
    let mut object = sample();
    object.metadata.name = Some(name.to_owned());
    object.metadata.finalizers = Some(vec![shipped().spec.finalizer]);
    store.create(&kind(), &object).await.unwrap();
    Place::new(kind(), "default", name)
}

#[tokio::test]
async fn a_kind_that_is_not_there_yet_is_waited_for() {
    let (store, keeper) = world().await;
    store.know(&kind(), false);
    let kept = keeper.look_at("simple-resource", moment()).await.unwrap();
    assert_eq!((kept.watch, kept.again_at), (None, Some(later(moment(), SOON))));
    assert_eq!(ready(&store, "simple-resource").await, "Ready=False KindNotFound, Reconciling=True KindNotFound");
    store.know(&kind(), true);
    held(&store, "a").await;
    let kept = keeper.look_at("simple-resource", moment()).await.unwrap();
    assert_eq!((kept.watch, kept.objects), (Some(kind()), vec![("default".to_owned(), "a".to_owned())]));
    assert_eq!(ready(&store, "simple-resource").await, "Ready=True Watching");
    let blueprint = blueprint(&store, "simple-resource").await.unwrap();
    assert_eq!(blueprint.status.unwrap().objects, Some(1));
    assert_eq!(blueprint.metadata.finalizers.unwrap(), [names::BLUEPRINT_FINALIZER]);
    // Nothing is written when nothing is new.
    let version = store.version();
    keeper.look_at("simple-resource", moment()).await.unwrap();
    assert_eq!(store.version(), version);
}

#[tokio::test]
async fn of_two_for_one_kind_the_first_holds() {
    let (store, keeper) = world().await;
    let mut other = shipped();
    other.metadata.name = Some("the-other".to_owned());
    store.create(&Kind::of::<Blueprint>(), &untyped(&other).unwrap()).await.unwrap();
    assert_eq!(keeper.look_at("the-other", moment()).await.unwrap().watch, None);
    assert_eq!(ready(&store, "the-other").await, "Ready=False KindTaken, Stalled=True KindTaken");
    assert_eq!(keeper.look_at("simple-resource", moment()).await.unwrap().watch, Some(kind()));
    delete(&store).await;
    keeper.look_at("simple-resource", moment()).await.unwrap();
    assert_eq!(keeper.look_at("the-other", moment()).await.unwrap().watch, Some(kind()));
}

#[tokio::test]
async fn a_blueprint_that_goes_lets_objects_go_and_waits_for_those_that_go() {
    let (store, keeper) = world().await;
    let (stays, goes) = (held(&store, "stays").await, held(&store, "goes").await);
    keeper.look_at("simple-resource", moment()).await.unwrap();
    store.delete(&goes, None).await.unwrap();
    delete(&store).await;
    let kept = keeper.look_at("simple-resource", moment()).await.unwrap();
    assert_eq!((kept.watch, kept.objects), (Some(kind()), vec![("default".to_owned(), "goes".to_owned())]));
    assert_eq!(ready(&store, "simple-resource").await, "Ready=False Deleting, Reconciling=True Deleting");
    assert_eq!(store.get(&stays).await.unwrap().unwrap().metadata.finalizers.unwrap_or_default(), [""; 0]);
    let mut object = store.get(&goes).await.unwrap().unwrap();
    object.metadata.finalizers = None;
    store.replace(&kind(), &object).await.unwrap();
    assert_eq!(keeper.look_at("simple-resource", moment()).await.unwrap(), Kept::default());
    assert!(blueprint(&store, "simple-resource").await.is_none());
    assert!(store.get(&stays).await.unwrap().is_some());
}

#[tokio::test]
async fn a_blueprint_whose_kind_is_gone_goes() {
    let (store, keeper) = world().await;
    keeper.look_at("simple-resource", moment()).await.unwrap();
    store.know(&kind(), false);
    delete(&store).await;
    assert_eq!(keeper.look_at("simple-resource", moment()).await.unwrap(), Kept::default());
    assert!(blueprint(&store, "simple-resource").await.is_none());
}

#[tokio::test]
async fn what_is_wrong_with_a_blueprint_is_told_by_field() {
    let (store, keeper) = world().await;
    let mut wrong = blueprint(&store, "simple-resource").await.unwrap();
    wrong.spec.variables.insert("length".to_owned(), ".status.length".to_owned());
    store.replace(&Kind::of::<Blueprint>(), &untyped(&wrong).unwrap()).await.unwrap();
    assert_eq!(keeper.look_at("simple-resource", moment()).await.unwrap().watch, None);
    assert_eq!(ready(&store, "simple-resource").await, "Ready=False InvalidSpec, Stalled=True InvalidSpec");
    let message = json!(blueprint(&store, "simple-resource").await.unwrap().status.unwrap().conditions[0].message);
    assert!(
        message.as_str().unwrap().starts_with("spec.variables.length: \".status.length\" cannot be read"),
        "{message}"
    );
}
