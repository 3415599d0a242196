//! The resource `k8sconnect_wait` against a server that answers as it is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use async_trait::async_trait;
use groma_kit::InProcess;
use groma_kit::outside::{Clock, Outside};
use groma_model::text::Str;
use groma_provider::api::{
    ApplyRequest, ApplyResponse, Outcome, Private, Provider as _, RawState, ReadRequest, ReadResponse, UpgradeRequest,
};

use super::*;
use crate::api::Connections;
use crate::api::served::{Reply, Server, reply};
use crate::provider::{Host, Shared};

const TYPE: &str = "k8sconnect_wait";

/// A server that has one Deployment, by what `get` gives.
async fn server(get: impl Fn() -> Reply + Send + Sync + 'static) -> Server {
    Server::start(move |asked| match asked.line.as_str() {
        "GET /apis/apps/v1" => reply(
            200,
            json!({"resources": [
            {"name": "deployments", "kind": "Deployment", "namespaced": true, "verbs": []}]}),
        ),
        line if line.contains("/deployments/web") => get(),
        line if line.contains("/pods?") => reply(
            200,
            json!({"items": [
            {"metadata": {"name": "web-1"}, "status": {"containerStatuses": [
                {"name": "c", "state": {"waiting": {"reason": "ImagePullBackOff"}}}]}}]}),
        ),
        line if line.contains("/events?") => reply(200, json!({"items": []})),
        _ => reply(404, json!({})),
    })
    .await
}

fn deployment(available: i64) -> Reply {
    let spec = json!({"replicas": 1, "selector": {"matchLabels": {"app": "web"}}});
    let status = json!({"replicas": 1, "updatedReplicas": 1, "availableReplicas": available, "phase": "Fine"});
    reply(200, workload("Deployment", spec, status))
}

fn missing() -> Reply {
    reply(
        404,
        json!({"message": "deployments.apps \"web\" not found", "details": {"name": "web", "kind": "deployments"}}),
    )
}

/// Waits for nothing.
struct Impatient(Arc<dyn Clock>);

#[async_trait]
impl Clock for Impatient {
    fn now(&self) -> SystemTime {
        self.0.now()
    }

    async fn sleep(&self, _: Duration) {
        tokio::task::yield_now().await;
    }
}

fn provider(host: Host) -> InProcess {
    provider_of(host, Outside::system("."))
}

fn provider_of(host: Host, outside: Outside) -> InProcess {
    let shared = Shared { connections: Connections::new(&outside), outside, host };
    InProcess::new("k8sconnect").resource(Wait::new(shared.into()))
}

fn config(provider: &InProcess, server: &Server, kind: &str, wait: &[(&str, Value)]) -> Value {
    let schema = provider.schema().resources.get(TYPE).unwrap().get().unwrap().clone();
    let mut object = Object::of(&schema.block.empty_value());
    let nested = |object: &Object, name: &str, given: &[(&str, Value)]| {
        let groma_model::ty::Type::Object(ty) = object.get(name).ty() else { panic!("{name} is an object") };
        let value = |name: &Str, ty: &Type| {
            let found = given.iter().find(|(given, _)| given == &name.as_str());
            found.map_or_else(|| Value::null(ty.clone()), |(_, value)| value.clone())
        };
        Value::object(ty.iter().map(|(name, attribute)| (name.clone(), value(name, &attribute.ty))))
    };
    let reference = [
        ("api_version", Value::string("apps/v1")),
        ("kind", Value::string(kind)),
        ("name", Value::string("web")),
        ("namespace", Value::string("shop")),
    ];
    let cluster = [("host", Value::string(server.url.as_str())), ("token", Value::string("t"))];
    for (name, given) in [("object_ref", &reference[..]), ("cluster", &cluster[..]), ("wait_for", wait)] {
        let value = nested(&object, name, given);
        object.set(name, value);
    }
    object.into_value()
}

async fn create(provider: &InProcess, config: Value) -> ApplyResponse {
    let mut planned = Object::of(&config);
    planned.set("id", Value::unknown(Type::String));
    planned.set("result", Value::unknown(Type::Dynamic));
    let request = ApplyRequest {
        type_name: Str::from(TYPE),
        prior: Value::null(config.ty()),
        planned: planned.into_value(),
        config,
        planned_private: Private::default(),
        planned_identity: None,
        provider_meta: None,
    };
    provider.apply(request).await.unwrap()
}

async fn read(provider: &InProcess, made: &ApplyResponse) -> ReadResponse {
    let request = ReadRequest {
        type_name: Str::from(TYPE),
        current: made.object.clone(),
        private: made.private.clone(),
        identity: None,
        provider_meta: None,
    };
    provider.read(request).await.unwrap()
}

fn phase(object: &Value) -> Option<String> {
    let status = Object::of(&Object::of(object).get("result")).get("status");
    Object::of(&status).text("phase").map(str::to_owned)
}

#[tokio::test]
async fn a_field_that_is_there_is_the_result() {
    let server = server(|| deployment(1)).await;
    for host in [Host::Groma, Host::Other] {
        let provider = provider(host);
        let made =
            create(&provider, config(&provider, &server, "Deployment", &[("field", Value::string("status.phase"))]))
                .await;
        assert_eq!(made.outcome, Outcome::Done, "{:?}", made.diagnostics);
        assert_eq!(phase(&made.object).as_deref(), Some("Fine"));
        assert_eq!(Object::of(&made.object).text("id").map(str::len), Some(12));
    }
}

#[tokio::test]
async fn groma_looks_again_by_reading() {
    let looks = AtomicU32::new(0);
    let server = server(move || match looks.fetch_add(1, Ordering::SeqCst) {
        0 => missing(),
        1 => reply(200, workload("Deployment", json!({}), json!({}))),
        _ => deployment(1),
    })
    .await;
    let provider = provider(Host::Groma);
    let mut made =
        create(&provider, config(&provider, &server, "Deployment", &[("field", Value::string("status.phase"))])).await;
    let Outcome::NotReady(lacking) = &made.outcome else { panic!("{:?}", made.outcome) };
    assert_eq!(lacking.last_seen.as_deref(), Some("it does not exist yet"));
    assert!(lacking.patience.is_some());
    let looked = read(&provider, &made).await;
    let lacking = looked.not_ready.unwrap();
    assert!(lacking.last_seen.unwrap().starts_with("there is nothing at status.phase"));
    assert_eq!(phase(&looked.object), None);
    (made.object, made.private) = (looked.object, looked.private);
    let looked = read(&provider, &made).await;
    assert_eq!(looked.not_ready, None);
    assert_eq!(phase(&looked.object).as_deref(), Some("Fine"));
    assert_eq!(looked.private, Private::default());
}

#[tokio::test]
async fn other_tools_wait_and_get_no_state_on_failure() {
    let server = server(|| deployment(0)).await;
    let provider = provider(Host::Other);
    let wait = [("rollout", Value::bool(true)), ("timeout", Value::string("100ms"))];
    let made = create(&provider, config(&provider, &server, "Deployment", &wait)).await;
    assert_eq!(made.outcome, Outcome::NothingMade);
    assert!(made.object.is_null());
    let problem = made.diagnostics.iter().next().unwrap();
    assert_eq!(problem.summary, "Object did not become ready");
    for words in
        ["Deployment \"shop/web\"", "0 of 1 pods are available", "Pod web-1: container c: ImagePullBackOff", "-n shop"]
    {
        assert!(problem.detail.contains(words), "{words}: {}", problem.detail);
    }
}

#[tokio::test]
async fn an_object_may_appear_later_or_never() {
    let looks = AtomicU32::new(0);
    let late = server(move || if looks.fetch_add(1, Ordering::SeqCst) < 1 { missing() } else { deployment(1) }).await;
    let provider = provider(Host::Other);
    let made = create(&provider, config(&provider, &late, "Deployment", &[("rollout", Value::bool(true))])).await;
    assert_eq!(made.outcome, Outcome::Done, "{:?}", made.diagnostics);
    let never = server(missing).await;
    let wait = [("rollout", Value::bool(true)), ("timeout", Value::string("50ms"))];
    let made = create(&provider, config(&provider, &never, "Deployment", &wait)).await;
    assert_eq!(made.diagnostics.iter().next().unwrap().summary, "Object did not appear");
}

#[tokio::test]
async fn an_unknown_kind_fails_fast() {
    let server = server(missing).await;
    let provider = provider(Host::Groma);
    let wait = [("timeout", Value::string("10ms"))];
    let made = create(&provider, config(&provider, &server, "Deploiment", &wait)).await;
    assert_eq!(made.outcome, Outcome::NothingMade);
    assert_eq!(made.diagnostics.iter().next().unwrap().summary, "Kind is not known to the cluster");
}

#[tokio::test]
async fn a_wait_whose_object_is_gone_is_dropped_and_its_result_follows() {
    let looks = AtomicU32::new(0);
    let server = server(move || match looks.fetch_add(1, Ordering::SeqCst) {
        0 => deployment(1),
        1 => reply(200, workload("Deployment", json!({}), json!({"phase": "Other"}))),
        2 => reply(403, json!({"message": "deployments.apps \"web\" is forbidden: User \"a\" cannot get resource"})),
        _ => missing(),
    })
    .await;
    let provider = provider(Host::Groma);
    let made =
        create(&provider, config(&provider, &server, "Deployment", &[("field", Value::string("status.phase"))])).await;
    assert_eq!(phase(&read(&provider, &made).await.object).as_deref(), Some("Other"));
    let refused = read(&provider, &made).await;
    assert!(!refused.diagnostics.has_errors() && !refused.diagnostics.is_empty());
    assert_eq!(phase(&refused.object).as_deref(), Some("Fine"));
    assert!(read(&provider, &made).await.object.is_null());
}

#[tokio::test]
async fn a_server_that_is_away_for_a_while_ends_no_wait() {
    let looks = AtomicU32::new(0);
    // Each look is six requests.
    let server = server(move || match looks.fetch_add(1, Ordering::SeqCst) {
        0 => missing(),
        1..=6 => reply(503, json!({"message": "away"})),
        _ => deployment(1),
    })
    .await;
    let system = Outside::system(".");
    let outside = Outside { clock: Arc::new(Impatient(system.clock.clone())), ..system };
    let provider = provider_of(Host::Groma, outside);
    let made = create(&provider, config(&provider, &server, "Deployment", &[("rollout", Value::bool(true))])).await;
    let looked = read(&provider, &made).await;
    assert!(!looked.diagnostics.has_errors(), "{:?}", looked.diagnostics);
    assert_eq!(looked.not_ready.unwrap().last_seen.as_deref(), Some("the cluster does not answer: away"));
    assert_eq!(read(&provider, &made).await.not_ready, None);
}

#[tokio::test]
async fn what_the_published_provider_stored_is_read() {
    let stored = json!({
        "id": "0123456789ab",
        "cluster": {
            "host": "https://a.example", "cluster_ca_certificate": null, "kubeconfig": null, "context": null, "token": "t",
            "client_certificate": null, "client_key": null, "insecure": true, "proxy_url": null, "exec": null,
        },
        "object_ref": {"api_version": "v1", "kind": "Pod", "name": "web", "namespace": "shop"},
        "wait_for": {"field": "status.podIP", "field_value": null, "condition": null, "rollout": null, "timeout": "1m"},
        "result": {"value": {"status": {"podIP": "10.0.0.1"}}, "type": ["object", {"status": ["object", {"podIP": "string"}]}]},
    });
    let state = RawState::Json(stored.to_string().into_bytes());
    let request = UpgradeRequest { type_name: Str::from(TYPE), version: 1, state };
    let read = provider(Host::Groma).upgrade(request).await.unwrap();
    assert!(read.diagnostics.is_empty(), "{:?}", read.diagnostics);
    let object = Object::of(&read.value);
    let crate::cluster::Given::Here(spec) = crate::cluster::read(&object) else { panic!("it is known") };
    assert_eq!((spec.token.as_deref(), spec.in_cluster), (Some("t"), false));
    assert_eq!(WaitFor::read(&object).unwrap().unwrap().timeout, Duration::from_mins(1));
}
