//! What goes while nobody listens. A watch that was interrupted tells everything that is there, and nothing of what is not there any more: so
//! it is remembered what there was, and what is missing afterwards is told as gone.

use std::collections::{BTreeMap, BTreeSet};
use std::future::ready;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream, Stream};
use kube::api::{DynamicObject, ObjectMeta};
use serde_json::Value as Json;

use super::Seen;

/// Notes that are ours begin with it. Others are not remembered: they may be long.
const OURS: &str = "groma.dev/";

/// Namespace and name of an object.
type Key = (Option<String>, Option<String>);

/// What was there when it was last told.
#[derive(Default)]
struct Memory {
    known: BTreeMap<Key, DynamicObject>,
    /// What has not been told again yet, while everything is.
    missing: BTreeSet<Key>,
}

impl Memory {
    fn hear(&mut self, seen: Seen) -> Vec<Seen> {
        match seen {
            Seen::There(object) => {
                let key = key(&object);
                self.missing.remove(&key);
                let before = self.known.insert(key, outline(&object));
                // One of the same name is another one, and the one before is gone.
                let other = before.filter(|before| before.metadata.uid != object.metadata.uid);
                other.map(gone).into_iter().chain([Seen::There(object)]).collect()
            }
            Seen::Gone(object) => {
                let key = key(&object);
                self.missing.remove(&key);
                self.known.remove(&key);
                vec![Seen::Gone(object)]
            }
            Seen::Again => {
                self.missing = self.known.keys().cloned().collect();
                vec![Seen::Again]
            }
            Seen::Complete => {
                let missing = std::mem::take(&mut self.missing);
                let lost = missing.iter().filter_map(|key| self.known.remove(key)).map(gone);
                lost.chain([Seen::Complete]).collect()
            }
        }
    }
}

/// The same, and `Gone` for whatever went while nothing was told.
pub(super) fn without_gaps(all: impl Stream<Item = Seen> + Send + 'static) -> BoxStream<'static, Seen> {
    let told = all.scan(Memory::default(), |memory, seen| ready(Some(stream::iter(memory.hear(seen)))));
    told.flatten().boxed()
}

fn gone(object: DynamicObject) -> Seen {
    Seen::Gone(Box::new(object))
}

fn key(object: &DynamicObject) -> Key {
    (object.metadata.namespace.clone(), object.metadata.name.clone())
}

/// Whose it was, and what it was called. What was in it is nobody's business any more.
fn outline(object: &DynamicObject) -> DynamicObject {
    let metadata = &object.metadata;
    let ours = metadata.annotations.iter().flatten().filter(|(name, _)| name.starts_with(OURS));
    let ours = ours.map(|(name, value)| (name.clone(), value.clone())).collect();
    DynamicObject {
        types: object.types.clone(),
        metadata: ObjectMeta {
            name: metadata.name.clone(),
            namespace: metadata.namespace.clone(),
            uid: metadata.uid.clone(),
            labels: metadata.labels.clone(),
            annotations: Some(ours),
            owner_references: metadata.owner_references.clone(),
            ..ObjectMeta::default()
        },
        data: Json::Object(serde_json::Map::new()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn thing(name: &str, uid: &str) -> DynamicObject {
        let object = json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {
                "name": name, "namespace": "team", "uid": uid, "labels": {"groma.dev/stack": "app"},
                "annotations": {"groma.dev/blueprint": "b", "kubectl.kubernetes.io/last-applied-configuration": "{}"},
            },
            "data": {"password": "aHVudGVyMg=="},
        });
        serde_json::from_value(object).unwrap()
    }

    fn there(name: &str) -> Seen {
        Seen::There(Box::new(thing(name, name)))
    }

    async fn told(all: Vec<Seen>) -> Vec<String> {
        let shown = without_gaps(stream::iter(all)).map(|seen| match seen {
            Seen::There(object) => format!("there {}", object.metadata.uid.unwrap()),
            Seen::Gone(object) => format!("gone {}", object.metadata.uid.unwrap()),
            Seen::Again => "again".to_owned(),
            Seen::Complete => "complete".to_owned(),
        });
        shown.collect().await
    }

    #[tokio::test]
    async fn what_goes_while_nobody_listens_is_told() {
        let first = [Seen::Again, there("a"), there("b"), Seen::Complete, there("c")];
        let gone = Seen::Gone(Box::new(thing("b", "b")));
        // It is begun twice, as nobody answered.
        let second = [gone, Seen::Again, there("d"), Seen::Again, there("c"), there("e"), Seen::Complete];
        let told = told(first.into_iter().chain(second).collect()).await;
        let expected = [
            "again", "there a", "there b", "complete", "there c", "gone b", "again", "there d", "again", "there c",
            "there e", "gone a", "gone d", "complete",
        ];
        assert_eq!(told, expected);
    }

    #[tokio::test]
    async fn another_one_of_the_same_name_is_another_one() {
        let other = Seen::There(Box::new(thing("a", "z")));
        let told = told(vec![Seen::Again, there("a"), Seen::Complete, Seen::Again, other, Seen::Complete]).await;
        assert_eq!(told, ["again", "there a", "complete", "again", "gone a", "there z", "complete"]);
    }

    #[tokio::test]
    async fn nothing_of_a_secret_is_remembered() {
        let all = vec![Seen::Again, there("a"), Seen::Complete, Seen::Again, Seen::Complete];
        let told: Vec<Seen> = without_gaps(stream::iter(all)).collect().await;
        let Some(Seen::Gone(object)) = told.get(4) else { panic!("{told:?}") };
        assert_eq!(object.data, json!({}));
        assert_eq!(object.metadata.labels.as_ref().unwrap()["groma.dev/stack"], "app");
        assert_eq!(object.metadata.annotations.as_ref().unwrap().len(), 1);
    }
}
