//! Objects on a server that breaks off: nothing that may have been made is lost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use groma_kit::outside::{Clock, Outside};
use groma_kit::{InProcess, Object};
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::{ApplyRequest, ApplyResponse, Outcome, Private, Provider as _, ReadRequest, ReadResponse};
use serde_json::json;

use crate::Json;
use crate::api::served::{Asked, Reply, Server, reply};
use crate::private::{PENDING_PROJECTION, is_set};
use crate::provider::{Host, provider};

const TYPE: &str = "k8sconnect_object";
const YAML: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: space}\ndata: {x: one}\n";

/// Does not wait.
struct Hurried(Mutex<SystemTime>);

#[async_trait]
impl Clock for Hurried {
    fn now(&self) -> SystemTime {
        *self.0.lock().unwrap()
    }

    async fn sleep(&self, duration: Duration) {
        *self.0.lock().unwrap() += duration;
        tokio::task::yield_now().await;
    }
}

/// A server with one object, which does not answer to writes while it is told so.
struct Api {
    object: Mutex<Option<Json>>,
    is_silent: AtomicBool,
    /// Whether it does what it does not answer to.
    is_diligent: bool,
}

impl Api {
    fn new(is_diligent: bool) -> Arc<Self> {
        Arc::new(Self { object: Mutex::new(None), is_silent: AtomicBool::new(true), is_diligent })
    }

    async fn serve(self: &Arc<Self>) -> Server {
        let api = Arc::clone(self);
        Server::start(move |asked| api.answer(asked)).await
    }

    fn answer(&self, asked: &Asked) -> Reply {
        let line = asked.line.as_str();
        let missing = || reply(404, json!({"message": "not found", "details": {"name": "a", "kind": "configmaps"}}));
        let resource = json!({"name": "configmaps", "kind": "ConfigMap", "namespaced": true, "verbs": ["get", "list"]});
        match line.split_whitespace().next().unwrap_or_default() {
            "GET" if line == "GET /api/v1" => reply(200, json!({"resources": [resource]})),
            "GET" if line.contains("/namespaces/kube-system") => {
                reply(200, json!({"metadata": {"uid": "this-cluster"}}))
            }
            "GET" if line.contains("/configmaps/a") => {
                self.object.lock().unwrap().clone().map_or_else(missing, |object| reply(200, object))
            }
            "PATCH" => {
                let is_silent = self.is_silent.load(Ordering::SeqCst);
                let mut object: Json = serde_json::from_str(&asked.body).unwrap();
                let fields = json!({"f:data": {"f:x": {}}});
                object["metadata"]["uid"] = json!("u");
                object["metadata"]["managedFields"] = json!([{
                    "manager": "k8sconnect", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields,
                }]);
                if !line.contains("dryRun") && (!is_silent || self.is_diligent) {
                    *self.object.lock().unwrap() = Some(object.clone());
                }
                if is_silent { reply(0, Json::Null) } else { reply(200, object) }
            }
            _ => missing(),
        }
    }
}

fn make(host: Host) -> InProcess {
    let clock = Hurried(Mutex::new(SystemTime::UNIX_EPOCH));
    provider(&Outside { clock: Arc::new(clock), environment: Arc::default(), ..Outside::system(".") }, host)
}

fn planned(provider: &InProcess, server: &Server) -> Value {
    let schema = provider.schema().resources.get(TYPE).unwrap().get().unwrap().clone();
    let mut object = Object::of(&schema.block.empty_value());
    let Type::Object(attributes) = object.get("cluster").ty() else { panic!("cluster is an object") };
    let given = [("host", server.url.as_str()), ("token", "t")];
    let cluster = attributes.iter().map(|(name, attribute)| {
        let given = given.iter().find(|(given, _)| given == &name.as_str());
        (name.clone(), given.map_or_else(|| Value::null(attribute.ty.clone()), |(_, text)| Value::string(*text)))
    });
    object.set("cluster", Value::object(cluster.collect::<Vec<_>>()));
    object.set("yaml_body", Value::string(YAML));
    for name in ["id", "managed_state_projection", "managed_fields", "object_ref", "cluster_uid"] {
        object.set_unknown(name);
    }
    object.into_value()
}

async fn create(provider: &InProcess, planned: Value) -> ApplyResponse {
    let request = ApplyRequest {
        type_name: TYPE.into(),
        prior: Value::null(planned.ty()),
        config: planned.clone(),
        planned,
        planned_private: Private::default(),
        planned_identity: None,
        provider_meta: None,
    };
    provider.apply(request).await.unwrap()
}

async fn read(provider: &InProcess, response: &ApplyResponse) -> ReadResponse {
    let request = ReadRequest {
        type_name: TYPE.into(),
        current: response.object.clone(),
        private: response.private.clone(),
        identity: None,
        provider_meta: None,
    };
    provider.read(request).await.unwrap()
}

#[tokio::test]
async fn what_was_made_without_an_answer_is_found_again() {
    let api = Api::new(true);
    let server = api.serve().await;
    let provider = make(Host::Groma);
    let response = create(&provider, planned(&provider, &server)).await;
    let Outcome::NotReady(lacks) = &response.outcome else { panic!("{:?}", response.outcome) };
    assert_eq!(lacks.waiting_for, "its state to be read back");
    assert!(lacks.patience.is_some());
    assert!(is_set(&response.private, PENDING_PROJECTION));
    let id = Object::of(&response.object).text("id").unwrap().to_owned();
    assert!(response.object.is_wholly_known());

    let read = read(&provider, &response).await;
    assert!(!read.diagnostics.has_errors(), "{:?}", read.diagnostics);
    assert!(!is_set(&read.private, PENDING_PROJECTION));
    let object = Object::of(&read.object);
    assert_eq!(object.text("id"), Some(id.as_str()));
    let projection = object.text_map("managed_state_projection").unwrap();
    assert!(projection.contains(&("data.x", "one")), "{projection:?}");
}

#[tokio::test]
async fn what_was_not_made_is_not_there_when_it_is_looked_for() {
    let api = Api::new(false);
    let server = api.serve().await;
    let provider = make(Host::Groma);
    let response = create(&provider, planned(&provider, &server)).await;
    assert!(matches!(response.outcome, Outcome::NotReady(_)), "{:?}", response.outcome);
    assert!(read(&provider, &response).await.object.is_null());
}

#[tokio::test]
async fn other_tools_get_the_object_with_the_error() {
    let api = Api::new(true);
    let server = api.serve().await;
    let provider = make(Host::Other);
    let response = create(&provider, planned(&provider, &server)).await;
    assert_eq!(response.outcome, Outcome::PartlyMade, "{:?}", response.diagnostics);
    assert!(response.diagnostics.has_errors());
    assert!(Object::of(&response.object).text("id").is_some());
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_has_made_nothing() {
    let api = Api::new(true);
    let server = api.serve().await;
    let provider = make(Host::Groma);
    let planned = planned(&provider, &server);
    drop(server);
    let response = create(&provider, planned).await;
    assert_eq!(response.outcome, Outcome::NothingMade, "{:?}", response.diagnostics);
}
