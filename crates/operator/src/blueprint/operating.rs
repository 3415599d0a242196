//! The whole operator, on objects in memory: what is watched, looked at and run is real, and only the cluster is not.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use groma_run::cli_config::CliConfig;
use groma_run::providers::ProviderChoice;
use kube::api::DynamicObject;
use serde_json::{Value as Json, json};
use tokio::sync::oneshot;

use super::*;
use crate::api::blueprint::Blueprint;
use crate::api::stack::{Executor, Stack};
use crate::objects::memory::Memory;
use crate::objects::{Place, Store, controller, data_of, untyped};
use crate::operator::{Operator, Options};
use crate::runs::in_process::Room;
use crate::runs::job;
use crate::stack::reconcile::Settings;
use crate::stack::wanted::StateHome;
use crate::work::{Engines, Premises, Workshop};

/// What would be something else in a configuration than a text.
const EVIL: &str = "\"}\n${path.module} %{ if true }$${x}";

fn kind() -> Kind {
    Kind { group: "a.dev".to_owned(), version: "v1".to_owned(), kind: "Thing".to_owned(), plural: "things".to_owned() }
}

fn blueprint(spec: Json) -> Blueprint {
    let mut whole = json!({
        "for": {"apiVersion": "a.dev/v1", "kind": "Thing"}, "secretName": "{name}-outputs",
        "status": {"fields": {"value": "value"}, "outputs": "outputs"},
    });
    for (name, value) in spec.as_object().unwrap() {
        whole[name] = value.clone();
    }
    Blueprint::new("things", serde_json::from_value(whole).unwrap())
}

fn now() -> Moment {
    Moment(jiff::Timestamp::now())
}

fn options(directory: &std::path::Path) -> Options {
    let room = Room { most: 2, most_each: 2 };
    let state = directory.join("terraform.tfstate").display().to_string();
    Options {
        settings: Settings {
            executor: Executor::InProcess,
            home: StateHome { kind: "local".to_owned(), directory: None },
            across_namespaces: false,
        },
        terraform: None,
        workshop: Workshop {
            states: None,
            scratch: directory.join("scratch"),
            cache: directory.join("cache"),
            environment: BTreeMap::new(),
            home: BTreeMap::from([("path".to_owned(), json!(state))]),
            cluster: None,
            cli_config: CliConfig::default(),
            choice: ProviderChoice::default(),
            premises: Premises { shared: true, ..Premises::default() },
            engines: Engines::default(),
            sources: crate::sources::Premises::default(),
            show: Arc::new(|_| String::new()),
        },
        room,
        jobs: job::Settings { image: String::new(), room, environment: BTreeMap::new() },
        metrics: Arc::default(),
        account: None,
        workers: 2,
        namespaces: Vec::new(),
        holder: "us".to_owned(),
        clock: Arc::new(now),
    }
}

struct World {
    store: Memory,
    stop: oneshot::Sender<()>,
    works: tokio::task::JoinHandle<()>,
    _directory: tempfile::TempDir,
}

impl World {
    fn begin() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Memory::new(Arc::new(now));
        let operator = Operator::new(Arc::new(store.clone()), options(directory.path()));
        let (stop, stopped) = oneshot::channel();
        let works = tokio::spawn(operator.run(async {
            let _ = stopped.await;
        }));
        Self { store, stop, works, _directory: directory }
    }

    async fn end(self) {
        self.stop.send(()).unwrap();
        self.works.await.unwrap();
    }

    async fn blueprint(&self, spec: Json) {
        self.store.create(&Kind::of::<Blueprint>(), &untyped(&blueprint(spec)).unwrap()).await.unwrap();
    }

    async fn object(&self, value: &str) {
        let object = json!({
            "apiVersion": "a.dev/v1", "kind": "Thing", "metadata": {"name": "a", "namespace": "team"}, "spec": {"value": value},
        });
        self.store.create(&kind(), &serde_json::from_value(object).unwrap()).await.unwrap();
    }

    async fn get(&self, place: &Place) -> Option<DynamicObject> {
        self.store.get(place).await.unwrap()
    }

    /// Waits until an object is like that.
    async fn until(&self, place: &Place, is_so: impl Fn(Option<&DynamicObject>) -> bool) {
        for _ in 0..600 {
            if is_so(self.get(place).await.as_ref()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let stacks = self.store.list(&Kind::of::<Stack>(), None, &[]).await.unwrap();
        let status: Vec<Option<&Json>> = stacks.iter().map(|stack| stack.data.get("status")).collect();
        panic!("{place} is {:?}; {status:#?}", self.get(place).await);
    }

    async fn until_ready_with(&self, value: &str) {
        self.until(&thing(), |found| {
            let status = found.and_then(|object| object.data.get("status"));
            status.is_some_and(|status| status["phase"] == "Ready" && status["value"] == value)
        })
        .await;
    }
}

fn thing() -> Place {
    Place::new(kind(), "team", "a")
}

const FILES: &str = r#"
variable "value" {
  type = string
}

resource "terraform_data" "it" {
  input = var.value
}

output "value" {
  value = terraform_data.it.output
}

output "hidden" {
  value     = "s3cret"
  sensitive = true
}
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_an_object_to_its_outputs_and_back_to_nothing() {
    let world = World::begin();
    world.store.know(&kind(), false);
    world.blueprint(json!({"source": {"inline": {"main.tf": FILES}}, "variables": {"value": ".spec.value"}})).await;
    let place = Place { kind: Kind::of::<Blueprint>(), namespace: None, name: "things".to_owned() };
    let has_reason = |found: Option<&DynamicObject>, reason: &str| {
        found.is_some_and(|found| found.data["status"]["conditions"][0]["reason"] == reason)
    };
    world.until(&place, |found| has_reason(found, "KindNotFound")).await;
    world.store.know(&kind(), true);
    // Nobody waits for the next time that it is looked for.
    let mut touched = world.get(&place).await.unwrap();
    touched.metadata.annotations = Some(BTreeMap::from([("look".to_owned(), "now".to_owned())]));
    world.store.replace(&place.kind, &touched).await.unwrap();
    world.until(&place, |found| has_reason(found, "Watching")).await;

    world.object(EVIL).await;
    world.until_ready_with(EVIL).await;
    let object = world.get(&thing()).await.unwrap();
    assert_eq!(object.data["status"]["outputs"], json!({"value": EVIL}));
    let secret = world.get(&Place::new(Kind::secret(), "team", "a-outputs")).await.unwrap();
    assert_eq!(controller(&secret.metadata).unwrap().kind, "Thing");
    let data = data_of(&secret);
    assert_eq!((data["value"].as_slice(), data["hidden"].as_slice()), (EVIL.as_bytes(), &b"s3cret"[..]));

    let mut changed = object;
    changed.data["spec"]["value"] = json!("other");
    world.store.replace(&kind(), &changed).await.unwrap();
    world.until_ready_with("other").await;

    world.store.delete(&thing(), None).await.unwrap();
    world.until(&thing(), |found| found.is_none()).await;
    assert!(world.store.list(&Kind::of::<Stack>(), None, &[]).await.unwrap().is_empty());
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn templates_give_values_as_they_are() {
    let world = World::begin();
    let text = "output \"value\" {\n  value = \"{{ .Value }}\"\n}\nresource \"terraform_data\" \"it\" {\n  input = {{ .Value }}\n}\n";
    world.blueprint(json!({"template": {"text": text, "fields": {"Value": ".spec.value"}}})).await;
    world.object(EVIL).await;
    world.until_ready_with(EVIL).await;
    world.end().await;
}
