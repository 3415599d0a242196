//! The `rest` provider against an API that has defaults, masks, delays and faults.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use groma_model::value::Value;
use groma_provider::api::{CallError, Outcome};
use serde_json::{Value as Json, json};

use crate::drive::{Driver, Kept};
use crate::kit::outside::Outside;
use crate::served::{Asked, Reply, Server};

/// What the API remembers, and how it is to misbehave.
#[derive(Default)]
struct Api {
    objects: BTreeMap<u64, Json>,
    next: u64,
    /// Answers to give first, by method.
    faults: Vec<(&'static str, Reply)>,
    /// How many reads it takes until an object works.
    ready_after: u32,
    /// How many reads it takes until a deleted object is gone.
    gone_after: u32,
}

type Shared = Arc<Mutex<Api>>;

impl Api {
    fn answer(&mut self, asked: &Asked) -> Reply {
        if let Some(at) = self.faults.iter().position(|(method, _)| *method == asked.method) {
            return self.faults.remove(at).1;
        }
        let id = asked.path.strip_prefix("/things/").and_then(|id| id.parse::<u64>().ok());
        match (asked.method.as_str(), id) {
            ("POST", None) => {
                self.next += 1;
                let mut object = json!({"size": 10, "created": "today"});
                merge(&mut object, &asked.json());
                object["id"] = self.next.into();
                self.objects.insert(self.next, object);
                Reply::json(201, &self.shown(self.next))
            }
            ("GET", None) if asked.path == "/things" => {
                let all: Vec<Json> =
                    self.objects.keys().copied().collect::<Vec<_>>().iter().map(|id| self.shown(*id)).collect();
                Reply::json(200, &json!({"data": all}))
            }
            ("GET", Some(id)) if self.objects.contains_key(&id) => Reply::json(200, &self.shown(id)),
            ("PUT" | "PATCH", Some(id)) => {
                let mut object = self.objects.remove(&id).unwrap_or_else(|| json!({"id": id}));
                merge(&mut object, &asked.json());
                self.objects.insert(id, object);
                Reply::json(200, &self.shown(id))
            }
            ("DELETE", Some(id)) if self.objects.contains_key(&id) => {
                if self.gone_after == 0 {
                    self.objects.remove(&id);
                }
                Reply::new(202, "")
            }
            _ => Reply::json(404, &json!({"error": "not found"})),
        }
    }

    /// Secrets are masked; what is being made or deleted says so.
    fn shown(&mut self, id: u64) -> Json {
        let mut object = self.objects[&id].clone();
        if object.get("password").is_some() {
            object["password"] = "****".into();
        }
        object["status"] = if self.ready_after == 0 { "active" } else { "building" }.into();
        self.ready_after = self.ready_after.saturating_sub(1);
        if self.gone_after > 0 {
            self.gone_after -= 1;
            if self.gone_after == 0 {
                self.objects.remove(&id);
            }
        }
        object
    }
}

fn merge(object: &mut Json, over: &Json) {
    for (name, value) in over.as_object().into_iter().flatten() {
        object[name] = value.clone();
    }
}

async fn api(api: Api) -> (Server, Shared) {
    let shared = Arc::new(Mutex::new(api));
    let held = shared.clone();
    (Server::start(move |asked| held.lock().unwrap().answer(asked)).await, shared)
}

async fn driver_with(server: &Server, more: Json) -> Driver {
    let outside = Outside { environment: Arc::default(), ..Outside::system(".") };
    let mut config = json!({
        "base_url": server.url,
        "retry": {"attempts": 3, "min_delay": "1ms", "max_delay": "5ms"},
    });
    merge(&mut config, &more);
    Driver::configured((super::BUILTIN.make)(&outside), config).await
}

async fn driver(server: &Server) -> Driver {
    driver_with(server, json!({})).await
}

fn any(value: &Json) -> Json {
    // As states have values of any type.
    let value = super::document::value_of(value);
    serde_json::from_str(&groma_model::codec::json::encode(&value, &groma_model::ty::Type::Dynamic).unwrap()).unwrap()
}

fn thing(body: Json) -> Json {
    json!({"path": "/things", "body": any(&body), "ready_interval": "1ms"})
}

fn output(kept: &Kept) -> Json {
    super::document::document_of(&kept.get("output")).unwrap()
}

#[tokio::test]
async fn objects_live_and_die() {
    let (server, shared) = api(Api::default()).await;
    let driver = driver(&server).await;
    let config = thing(json!({"name": "a", "tags": ["x"], "note": null}));
    let kept = driver.create("rest_object", config.clone()).await;
    assert_eq!(kept.text("id"), "1");
    assert_eq!(output(&kept)["created"], "today");
    assert_eq!(kept.get("ready"), true.into());

    // What the server adds is no change; what somebody else changes is.
    let read = driver.read("rest_object", &kept).await.unwrap();
    assert!(driver.is_settled("rest_object", &read, config.clone()).await);
    shared.lock().unwrap().objects.get_mut(&1).unwrap()["name"] = "other".into();
    let drifted = driver.read("rest_object", &kept).await.unwrap();
    assert_eq!(super::document::document_of(&drifted.get("body")).unwrap()["name"], "other");
    assert!(!driver.is_settled("rest_object", &drifted, config.clone()).await);
    let mended = driver.apply("rest_object", Some(&drifted), config.clone()).await;
    assert_eq!(shared.lock().unwrap().objects[&1]["name"], "a");
    assert_eq!(mended.text("id"), "1");

    // Changed settings alone send nothing.
    let before = server.lines().len();
    let mut settings = config.clone();
    settings["ignore_paths"] = json!(["tags"]);
    let mended = driver.apply("rest_object", Some(&mended), settings).await;
    assert_eq!(server.lines().len(), before);

    assert_eq!(driver.delete("rest_object", &mended).await.outcome, Outcome::Done);
    assert!(driver.read("rest_object", &mended).await.is_none());
    assert_eq!(driver.delete("rest_object", &mended).await.outcome, Outcome::Done);
}

#[tokio::test]
async fn bodies_as_text_are_compared_by_what_they_say() {
    let (server, shared) = api(Api::default()).await;
    let driver = driver(&server).await;
    let config = |text: &str| json!({"path": "/things", "body": {"value": text, "type": "string"}});
    let kept = driver.create("rest_object", config("{\"name\": \"a\",  \"n\": 1}")).await;
    assert!(driver.is_settled("rest_object", &kept, config("{\"n\":1,\"name\":\"a\"}")).await);
    shared.lock().unwrap().objects.get_mut(&1).unwrap()["n"] = 2.into();
    let drifted = driver.read("rest_object", &kept).await.unwrap();
    assert_eq!(drifted.text("body"), "{\"name\":\"a\",\"n\":2}");
}

#[tokio::test]
async fn secrets_are_sent_and_neither_kept_nor_compared() {
    let (server, shared) = api(Api::default()).await;
    let driver = driver(&server).await;
    let mut config = thing(json!({"name": "a", "password": "visible"}));
    config["secret_body_wo"] = any(&json!({"token": "hush"}));
    config["secret_body_wo_version"] = 1.into();
    let kept = driver.create("rest_object", config.clone()).await;
    assert_eq!(shared.lock().unwrap().objects[&1]["token"], "hush");
    assert!(kept.get("secret_body_wo").is_null());
    let read = driver.read("rest_object", &kept).await.unwrap();
    assert!(driver.is_settled("rest_object", &read, config.clone()).await, "a mask is no change");

    config["secret_body_wo"] = any(&json!({"token": "louder"}));
    assert!(driver.is_settled("rest_object", &read, config.clone()).await);
    config["secret_body_wo_version"] = 2.into();
    driver.apply("rest_object", Some(&read), config).await;
    assert_eq!(shared.lock().unwrap().objects[&1]["token"], "louder");
}

fn readiness(timeout: &str) -> Json {
    let mut config = thing(json!({"name": "a"}));
    config["ready_when"] = json!([{"path": "status", "values": ["active"], "fail_values": ["failed"]}]);
    config["ready_timeout"] = timeout.into();
    config
}

#[tokio::test]
async fn objects_are_waited_for() {
    let (server, _) = api(Api { ready_after: 5, ..Api::default() }).await;
    let driver = driver(&server).await;
    let kept = driver.create("rest_object", readiness("30s")).await;
    assert_eq!(output(&kept)["status"], "active");
    assert!(server.lines().len() >= 5);
}

#[tokio::test]
async fn waiting_goes_on_with_the_next_apply() {
    let (server, shared) = api(Api { ready_after: 1_000_000, ..Api::default() }).await;
    let driver = driver(&server).await;
    let response = driver.try_apply("rest_object", None, readiness("20ms")).await;
    let Outcome::NotReady(lacking) = &response.outcome else { panic!("{:?}", response.outcome) };
    assert_eq!(lacking.waiting_for, "status to be active");
    assert_eq!(lacking.last_seen.as_deref(), Some("building"));
    let kept = Kept { object: response.object, private: response.private };
    assert_eq!((kept.text("id"), kept.get("ready")), ("1".to_owned(), false.into()));

    let read = driver.read("rest_object", &kept).await.unwrap();
    let plan = driver.plan("rest_object", Some(&read), readiness("20ms")).await;
    assert!(plan.requires_replace.is_empty());
    assert_ne!(plan.planned, read.object, "there is still something to do");

    shared.lock().unwrap().ready_after = 2;
    let ready = driver.apply("rest_object", Some(&read), readiness("30s")).await;
    assert_eq!((ready.text("id"), ready.get("ready")), ("1".to_owned(), true.into()));
    assert_eq!(server.lines().iter().filter(|line| !line.starts_with("GET")).count(), 1, "nothing was sent again");
    assert!(driver.is_settled("rest_object", &ready, readiness("30s")).await);
}

#[tokio::test]
async fn objects_that_failed_are_not_waited_for() {
    let server = Server::start(|asked| match asked.method.as_str() {
        "POST" => Reply::json(202, &json!({"id": "x"})),
        _ => Reply::json(200, &json!({"id": "x", "status": "failed"})),
    })
    .await;
    let driver = driver(&server).await;
    let response = driver.try_apply("rest_object", None, readiness("1h")).await;
    assert!(matches!(response.outcome, Outcome::NotReady(_)));
    assert_eq!(server.lines().len(), 2);
}

#[tokio::test]
async fn passing_faults_pass_and_others_are_told() {
    let busy = || Reply::new(429, "slow down").header("retry-after", "0");
    let faults = vec![
        ("POST", busy()),
        ("POST", Reply::new(503, "")),
        ("GET", Reply::new(500, "oops")),
        ("GET", Reply::broken()),
        ("DELETE", Reply::new(502, "")),
    ];
    let (server, _) = api(Api { faults, ..Api::default() }).await;
    let driver = driver(&server).await;
    let kept = driver.create("rest_object", thing(json!({"name": "a"}))).await;
    assert_eq!(driver.delete("rest_object", &kept).await.outcome, Outcome::Done);
    assert_eq!(
        server.lines(),
        [
            "POST /things",
            "POST /things",
            "POST /things",
            "GET /things/1",
            "GET /things/1",
            "GET /things/1",
            "DELETE /things/1",
            "DELETE /things/1",
        ]
    );
}

#[tokio::test]
async fn what_may_have_been_done_is_not_done_twice() {
    let (server, _) = api(Api { faults: vec![("POST", Reply::new(500, "half way"))], ..Api::default() }).await;
    let response = driver(&server).await.try_apply("rest_object", None, thing(json!({"name": "a"}))).await;
    assert_eq!(response.outcome, Outcome::NothingMade);
    let detail = &response.diagnostics.iter().next().unwrap().detail;
    assert!(detail.contains("answered with status 500.\n\nhalf way"), "{detail}");
    for (fault, part) in [
        (Reply::broken(), "may have carried the request out"),
        (Reply::new(200, "").late(Duration::from_secs(20)), "may have carried the request out"),
    ] {
        let (server, _) = api(Api { faults: vec![("POST", fault)], ..Api::default() }).await;
        let driver = driver_with(&server, json!({"timeout": "200ms"})).await;
        // Nobody can say what came of it: that is no answer.
        let answer = driver.ask_to_apply("rest_object", None, thing(json!({"name": "a"}))).await;
        let Err(problem @ CallError::Unanswered { .. }) = answer else { panic!("{answer:?}") };
        let told = problem.diagnostic();
        assert_eq!(told.summary, "Answer was lost");
        assert!(told.detail.contains(part) && told.detail.contains("POST http"), "{}", told.detail);
        assert_eq!(server.lines(), ["POST /things"]);
    }
    let (server, _) = api(Api { faults: vec![("POST", Reply::new(500, ""))], ..Api::default() }).await;
    let bold = json!({"retry": {"attempts": 1, "min_delay": "1ms", "not_idempotent": true}});
    driver_with(&server, bold).await.create("rest_object", thing(json!({"name": "a"}))).await;
}

#[tokio::test]
async fn all_objects_are_listed() {
    let (server, _) = api(Api::default()).await;
    let driver = driver(&server).await;
    let made = driver.create("rest_object", thing(json!({"name": "a", "password": "hush"}))).await;
    driver.create("rest_object", thing(json!({"name": "b"}))).await;
    // Without a word about how, they cannot be.
    assert!(driver.list("rest_object", json!({"path": "/things"})).await.is_none());
    for how in [json!({"list": {"items": "data"}}), json!({"read": {"items": "data"}})] {
        let mut config = json!({"path": "/things", "id_path": "id"});
        merge(&mut config, &how);
        let listed = driver.list("rest_object", config).await.unwrap();
        let names: Vec<&str> = listed.iter().map(|found| found.display_name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        let first = Kept { object: listed[0].object.clone().unwrap(), private: made.private.clone() };
        assert_eq!((first.text("id"), first.text("path")), ("1".to_owned(), "/things".to_owned()));
        // What is masked is not told.
        let body = super::document::document_of(&first.get("body")).unwrap();
        assert_eq!((&body["name"], &body["password"]), (&json!("a"), &Json::Null));
        // It is all that is needed to read it, and to delete it.
        assert!(driver.read("rest_object", &first).await.is_some());
    }
    let listed = driver.list("rest_object", json!({"path": "/things", "list": {"items": "data"}})).await.unwrap();
    let last = Kept { object: listed[1].object.clone().unwrap(), private: made.private.clone() };
    assert_eq!(driver.delete("rest_object", &last).await.outcome, Outcome::Done);
    assert_eq!(
        driver.list("rest_object", json!({"path": "/things", "list": {"items": "data"}})).await.unwrap().len(),
        1
    );
}

#[tokio::test]
async fn retries_end() {
    let server = Server::start(|_| Reply::json(503, &json!({"error": "down"}))).await;
    let driver = driver(&server).await;
    let response = driver.try_apply("rest_object", None, thing(json!({}))).await;
    assert_eq!(response.diagnostics.iter().next().unwrap().summary, "Unexpected answer");
    assert_eq!(server.lines().len(), 4);
}

#[tokio::test]
async fn some_changes_need_a_new_object() {
    let (server, shared) = api(Api::default()).await;
    let driver = driver(&server).await;
    let config = |name: &str, zone: &str| {
        let mut config = thing(json!({"name": name, "zone": zone}));
        config["replace_on"] = json!(["zone"]);
        config
    };
    let kept = driver.create("rest_object", config("a", "1")).await;
    assert!(driver.plan("rest_object", Some(&kept), config("b", "1")).await.requires_replace.is_empty());
    let plan = driver.plan("rest_object", Some(&kept), config("a", "2")).await;
    assert_eq!(plan.requires_replace[0].to_string(), ".body");

    let mut fixed = thing(json!({"name": "a"}));
    fixed["update"] = json!({"method": "none"});
    let kept = driver.create("rest_object", fixed.clone()).await;
    fixed["body"] = any(&json!({"name": "b"}));
    assert_eq!(driver.plan("rest_object", Some(&kept), fixed.clone()).await.requires_replace.len(), 1);
    assert_eq!(driver.apply("rest_object", Some(&kept), fixed).await.text("id"), "3");
    assert_eq!(shared.lock().unwrap().objects.len(), 3);
}

#[tokio::test]
async fn only_changes_are_sent_where_that_is_asked_for() {
    let (server, _) = api(Api::default()).await;
    let driver = driver(&server).await;
    let config = |n: u64| {
        let mut config = thing(json!({"name": "a", "deep": {"x": 1, "y": n}}));
        config["update"] = json!({"method": "PATCH", "send": "changed"});
        config
    };
    let kept = driver.create("rest_object", config(1)).await;
    driver.apply("rest_object", Some(&kept), config(2)).await;
    let patch = server.asked().into_iter().find(|asked| asked.method == "PATCH").unwrap();
    assert_eq!(patch.json(), json!({"deep": {"y": 2}}));
}

#[tokio::test]
async fn deletion_is_waited_for() {
    let (server, shared) = api(Api::default()).await;
    let driver = driver(&server).await;
    let mut config = thing(json!({"name": "a"}));
    config["delete"] = json!({"wait": "30s"});
    let kept = driver.create("rest_object", config.clone()).await;
    shared.lock().unwrap().gone_after = 3;
    assert_eq!(driver.delete("rest_object", &kept).await.outcome, Outcome::Done);
    assert!(shared.lock().unwrap().objects.is_empty());

    config["delete"] = json!({"wait": "10ms"});
    let kept = driver.create("rest_object", config).await;
    shared.lock().unwrap().gone_after = u32::MAX;
    let response = driver.delete("rest_object", &kept).await;
    assert_eq!(response.diagnostics.iter().next().unwrap().summary, "Object is still there");
    assert_eq!(response.object, kept.object, "it is still known");
}

#[tokio::test]
async fn objects_are_imported() {
    let (server, _) = api(Api::default()).await;
    let driver = driver(&server).await;
    let config = thing(json!({"name": "a"}));
    driver.create("rest_object", config.clone()).await;
    for id in ["/things:1", "/things/1", "{\"path\": \"/things\", \"id\": \"1\"}"] {
        let imported = driver.import("rest_object", id).await.unwrap();
        let read = driver.read("rest_object", &imported).await.unwrap();
        assert_eq!((read.text("path"), read.text("id")), ("/things".to_owned(), "1".to_owned()));
        assert_eq!(output(&read)["name"], "a");
        assert!(driver.plan("rest_object", Some(&read), config.clone()).await.requires_replace.is_empty());
    }
    let whole = "{\"path\": \"/things\", \"id\": \"1\", \"body\": {\"name\": \"?\"}, \"ready_interval\": \"1ms\"}";
    let read = driver.read("rest_object", &driver.import("rest_object", whole).await.unwrap()).await.unwrap();
    assert!(driver.is_settled("rest_object", &read, config).await);
    for id in ["1", "", "{", "{\"id\": \"1\"}", "{\"path\": \"/x\", \"id\": \"1\", \"nonsense\": 1}"] {
        assert_eq!(
            driver.import("rest_object", id).await.unwrap_err().iter().next().unwrap().summary,
            "Invalid import id"
        );
    }
}

#[tokio::test]
async fn ids_come_from_wherever_the_api_puts_them() {
    let server = Server::start(|asked| match (asked.method.as_str(), asked.path.as_str()) {
        ("POST", "/header") => Reply::new(201, "").header("location", "https://else/header/h%201/"),
        ("POST", "/wrapped") => Reply::json(200, &json!({"data": {"uuid": "w"}})),
        ("PUT", "/chosen/c%2Fd") => Reply::new(204, ""),
        ("POST", _) => Reply::json(200, &json!({"name": "x"})),
        _ => Reply::json(200, &json!({"data": {"uuid": "w"}})),
    })
    .await;
    let driver = driver(&server).await;
    let kept = driver.create("rest_object", json!({"path": "/header", "id_header": "Location"})).await;
    assert_eq!(kept.text("id"), "h%201");
    let config = json!({"path": "/wrapped", "object_path": "data", "id_path": "uuid"});
    let kept = driver.create("rest_object", config).await;
    assert_eq!((kept.text("id"), output(&kept)), ("w".to_owned(), json!({"uuid": "w"})));
    let kept = driver.create("rest_object", json!({"path": "/chosen", "object_id": "c/d"})).await;
    assert_eq!(kept.text("id"), "c/d");
    let lost = driver.try_apply("rest_object", None, json!({"path": "/none"})).await;
    assert_eq!(lost.outcome, Outcome::PartlyMade);
    assert_eq!(lost.diagnostics.iter().next().unwrap().summary, "Answer has no id");
}

#[tokio::test]
async fn apis_without_a_path_for_each_object_work() {
    let (server, _) = api(Api::default()).await;
    let driver = driver(&server).await;
    let mut config = thing(json!({"name": "b"}));
    config["read"] = json!({"items": "data", "match_key": "name", "match_value": "{body.name}"});
    driver.create("rest_object", thing(json!({"name": "a"}))).await;
    let kept = driver.create("rest_object", config.clone()).await;
    assert_eq!(output(&kept)["id"], 2);
    driver.delete("rest_object", &kept).await;
    assert!(driver.read("rest_object", &kept).await.is_none());
}

#[tokio::test]
async fn procedure_calls_work_as_well() {
    let server = Server::start(|asked| {
        let call = asked.json();
        match call["method"].as_str() {
            Some("thing.create") => Reply::json(200, &json!({"result": {"id": "r-1"}})),
            Some("thing.get") if call["params"]["id"] == "r-1" => {
                Reply::json(200, &json!({"result": {"id": "r-1", "name": "a"}}))
            }
            _ => Reply::json(200, &json!({"error": {"code": 404}})),
        }
    })
    .await;
    let driver = driver(&server).await;
    let rpc = |method: &str, params: &str| json!({"method": "POST", "path": "/rpc", "body": format!("{{\"method\": \"thing.{method}\", \"params\": {params}}}")});
    let mut config = json!({"path": "/rpc", "object_path": "result", "body": any(&json!({"name": "a"}))});
    config["create"] = rpc("create", "{body}");
    config["read"] = rpc("get", "{\"id\": \"{id}\"}");
    config["read"]["gone_path"] = "error.code".into();
    config["read"]["gone_values"] = json!(["404"]);
    config["delete"] = rpc("delete", "{\"id\": \"{id}\"}");
    let kept = driver.create("rest_object", config.clone()).await;
    assert_eq!(server.asked()[0].json()["params"], json!({"name": "a"}));
    assert!(driver.is_settled("rest_object", &driver.read("rest_object", &kept).await.unwrap(), config).await);
    let other = kept.with("id", Value::string("r-2"));
    assert!(driver.read("rest_object", &other).await.is_none());
}

/// An API of procedures: everything is posted, ids are in bodies, and names come back in other words.
fn procedures() -> Json {
    let call = |name: &str| json!({"method": "POST", "path": format!("{{path}}/{name}")});
    json!({
        "path": "/things", "id_path": "thingId", "id_member": "thingId", "loose_names": true,
        "create": call("create"), "read": call("get"), "update": call("update"), "delete": call("delete"),
        "body": any(&json!({"thing_name": "a"})),
    })
}

#[tokio::test]
async fn ids_are_put_into_bodies_where_the_api_wants_them() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/things/delete" => Reply::new(204, ""),
        _ => Reply::json(200, &json!({"size": 3, "thingName": "a", "thingId": "t-1"})),
    })
    .await;
    let driver = driver(&server).await;
    let mut config = procedures();
    let kept = driver.create("rest_object", config.clone()).await;
    let read = driver.read("rest_object", &kept).await.unwrap();
    assert!(driver.is_settled("rest_object", &read, config.clone()).await, "the name is the same in other words");
    config["body"] = any(&json!({"thing_name": "b"}));
    let changed = driver.apply("rest_object", Some(&read), config).await;
    assert_eq!(driver.delete("rest_object", &changed).await.outcome, Outcome::Done);
    let sent: Vec<_> = server.asked().iter().map(|asked| (asked.path.clone(), asked.json())).collect();
    let id = json!({"thingId": "t-1"});
    let expected = [
        ("/things/create", json!({"thing_name": "a"})),
        ("/things/get", id.clone()),
        ("/things/get", id.clone()),
        ("/things/update", json!({"thing_name": "b", "thingId": "t-1"})),
        ("/things/get", id.clone()),
        ("/things/delete", id),
    ];
    assert_eq!(sent, expected.map(|(path, body)| (path.to_owned(), body)));
}

#[tokio::test]
async fn what_only_reads_is_repeated_whatever_its_method() {
    let failed = std::sync::atomic::AtomicBool::new(false);
    let server = Server::start(move |asked| {
        if asked.path == "/things/get" && !failed.swap(true, std::sync::atomic::Ordering::SeqCst) {
            return Reply::new(500, "");
        }
        Reply::json(200, &json!({"thingName": "a", "thingId": "t-1"}))
    })
    .await;
    let driver = driver(&server).await;
    driver.create("rest_object", procedures()).await;
    assert_eq!(server.lines(), ["POST /things/create", "POST /things/get", "POST /things/get"]);
}

#[tokio::test]
async fn what_cannot_be_read_is_as_it_was_answered() {
    let server = Server::start(|_| Reply::json(200, &json!({"job": {"id": 7, "status": "running"}}))).await;
    let driver = driver(&server).await;
    let none = json!({"method": "none"});
    let mut config = json!({
        "path": "/things/reset", "id_path": "job.id", "body": any(&json!({"thing": "t-1"})),
        "read": none, "update": none, "delete": none,
    });
    let kept = driver.create("rest_object", config.clone()).await;
    assert_eq!((kept.text("id"), output(&kept)["job"]["status"].clone()), ("7".to_owned(), json!("running")));
    let read = driver.read("rest_object", &kept).await.unwrap();
    assert!(driver.is_settled("rest_object", &read, config.clone()).await);
    // What is hidden from now on is what was answered then.
    config["hide_output"] = true.into();
    let hidden = driver.apply("rest_object", Some(&read), config.clone()).await;
    assert!(hidden.get("output").is_null());
    assert!(!hidden.get("sensitive_output").is_null());
    assert_eq!(driver.delete("rest_object", &hidden).await.outcome, Outcome::Done);
    assert_eq!(server.lines(), ["POST /things/reset"]);
    config["body"] = any(&json!({"thing": "t-2"}));
    assert_eq!(driver.plan("rest_object", Some(&hidden), config).await.requires_replace.len(), 1);
}

#[tokio::test]
async fn whoever_asks_says_so_and_is_not_given_away() {
    let server = Server::start(|asked| {
        Reply::new(
            403,
            format!("who is {}?", asked.headers.get("authorization").or(asked.headers.get("x-key")).unwrap()),
        )
    })
    .await;
    for (auth, header, value) in [
        (json!({"bearer_token": "t0ken"}), "authorization", "Bearer t0ken"),
        (json!({"username": "u", "password": "hunter2"}), "authorization", "Basic dTpodW50ZXIy"),
        (json!({"header": "X-Key", "value": "s3cret"}), "x-key", "s3cret"),
    ] {
        let driver = driver_with(&server, json!({"auth": auth, "headers": {"X-Tenant": "acme"}})).await;
        let response = driver.try_apply("rest_object", None, thing(json!({}))).await;
        let asked = server.asked().pop().unwrap();
        assert_eq!(asked.headers[header], value);
        assert_eq!(asked.headers["x-tenant"], "acme");
        let detail = &response.diagnostics.iter().next().unwrap().detail;
        assert!(!detail.contains("t0ken") && !detail.contains("s3cret") && !detail.contains("hunter2"), "{detail}");
    }
}

#[tokio::test]
async fn secrets_do_not_follow_to_other_hosts() {
    let elsewhere = Server::start(|_| Reply::json(200, &json!({"id": 1}))).await;
    let target = elsewhere.url.clone();
    let server = Server::start(move |_| Reply::new(307, "").header("location", &target)).await;
    let driver = driver_with(&server, json!({"auth": {"header": "X-Key", "value": "s3cret"}})).await;
    let response = driver.try_data("rest_request", json!({"path": "/x"})).await;
    assert!(response.diagnostics.has_errors());
    let response = driver.try_data("rest_request", json!({"path": elsewhere.url})).await;
    assert_eq!(response.diagnostics.iter().next().unwrap().summary, "Invalid URL");
    assert!(elsewhere.asked().is_empty());
}

#[tokio::test]
async fn requests_are_spread_over_time() {
    let server = Server::start(|_| Reply::json(200, &json!({}))).await;
    let driver = driver_with(&server, json!({"rate_limit": 20})).await;
    let ask = || driver.data("rest_request", json!({"path": "/x"}));
    let start = tokio::time::Instant::now();
    tokio::join!(ask(), ask(), ask(), ask(), ask());
    assert!(start.elapsed() >= Duration::from_millis(190), "{:?}", start.elapsed());
}

#[tokio::test]
async fn data_sources_find_objects() {
    let (server, _) = api(Api::default()).await;
    let driver = driver(&server).await;
    driver.create("rest_object", thing(json!({"name": "a"}))).await;
    driver.create("rest_object", thing(json!({"name": "b"}))).await;
    driver.create("rest_object", thing(json!({"name": "b"}))).await;
    let one = driver.data("rest_object", json!({"path": "/things/1"})).await;
    assert_eq!((one.text("id"), output(&one)["name"].clone()), ("1".to_owned(), json!("a")));
    let find = |name: &str| json!({"path": "/things", "object_path": "data", "match_key": "name", "match_value": name});
    assert_eq!(driver.data("rest_object", find("a")).await.text("id"), "1");
    for (name, part) in [("b", "There are several elements"), ("c", "There are no elements")] {
        let detail = driver.try_data("rest_object", find(name)).await.diagnostics.iter().next().unwrap().detail.clone();
        assert!(detail.starts_with(part), "{detail}");
    }
    let request =
        driver.data("rest_request", json!({"path": "/none", "any_status": true, "query": {"q": "a b"}})).await;
    assert_eq!(request.get("status_code"), Value::number(404));
    assert_eq!(output(&request), json!({"error": "not found"}));
    assert_eq!(server.asked().pop().unwrap().path, "/none?q=a+b");
    assert!(driver.try_data("rest_request", json!({"path": "/none"})).await.diagnostics.has_errors());
    let body = json!({"path": "/things", "method": "POST", "body": any(&json!({"name": "e"}))});
    assert_eq!(output(&driver.open("rest_request", body).await)["name"], "e");
}

#[tokio::test]
async fn hidden_output_is_hidden() {
    let (server, _) = api(Api::default()).await;
    let driver = driver(&server).await;
    let mut config = thing(json!({"name": "a"}));
    let shown = driver.create("rest_object", config.clone()).await;
    config["hide_output"] = true.into();
    let hidden = driver.apply("rest_object", Some(&shown), config.clone()).await;
    assert!(hidden.get("output").is_null());
    assert_eq!(super::document::document_of(&hidden.get("sensitive_output")).unwrap()["name"], "a");
    assert!(driver.is_settled("rest_object", &driver.read("rest_object", &hidden).await.unwrap(), config).await);
}

#[tokio::test]
async fn mistakes_are_named() {
    let (server, _) = api(Api::default()).await;
    let driver = driver(&server).await;
    for (config, summary) in [
        (json!({"path": "/x", "ready_timeout": "soon"}), "Invalid duration"),
        (json!({"path": "/x", "mask_pattern": "("}), "Invalid pattern"),
        (json!({"path": "/x", "create": {"method": "P UT"}}), "Invalid method"),
        (json!({"path": "/x", "update": {"send": "some"}}), "Invalid Attribute Value Match"),
        (json!({"path": "/x", "secret_body_wo": any(&json!({}))}), "Invalid Attribute Combination"),
    ] {
        let found = driver.validate("rest_object", config.clone()).await;
        assert_eq!(found.iter().next().unwrap().summary, summary, "{config}");
    }
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    let text = any(&json!({"x": deep}).to_string().into());
    assert!(
        driver.validate("rest_object", json!({"path": "/x", "body": text})).await.is_empty(),
        "a text is sent as it is"
    );
    let outside = Outside::system(".");
    let unconfigured = Driver::new((super::BUILTIN.make)(&outside));
    let response = unconfigured.try_data("rest_request", json!({"path": "/x"})).await;
    assert_eq!(response.diagnostics.iter().next().unwrap().summary, "Provider is not configured");
}

#[tokio::test]
async fn tokens_are_fetched_kept_and_renewed() {
    let authority = Server::start(|asked| {
        let right = asked.headers.get("authorization").map(String::as_str) == Some("Basic aWQ6aHVzaA==");
        if right && asked.body == "grant_type=client_credentials&scope=a+b&audience=x" {
            Reply::json(200, &json!({"access_token": "t0ken", "expires_in": 3600}))
        } else {
            Reply::json(400, &json!({"error": "invalid_client", "error_description": "hush is wrong"}))
        }
    })
    .await;
    let refused = Mutex::new(1u32);
    let server = Server::start(move |asked| {
        let is_known = asked.headers.get("authorization").map(String::as_str) == Some("Bearer t0ken");
        let mut refused = refused.lock().unwrap();
        if !is_known || *refused > 0 {
            *refused = refused.saturating_sub(1);
            return Reply::new(401, "");
        }
        Reply::json(200, &json!({}))
    })
    .await;
    let mut oauth2 = json!({
        "token_url": authority.url, "client_id": "id", "client_secret": "hush",
        "scopes": ["a", "b"], "parameters": {"audience": "x"},
    });
    let driver = driver_with(&server, json!({"oauth2": oauth2})).await;
    for _ in 0..3 {
        driver.data("rest_request", json!({"path": "/x"})).await;
    }
    assert_eq!((server.asked().len(), authority.asked().len()), (4, 2), "one was withdrawn");

    oauth2["credentials_in"] = "body".into();
    let driver = driver_with(&server, json!({"oauth2": oauth2})).await;
    let response = driver.try_data("rest_request", json!({"path": "/x"})).await;
    let detail = &response.diagnostics.iter().next().unwrap().detail;
    assert!(detail.contains("status 400. invalid_client") && !detail.contains("hush"), "{detail}");
    let body = authority.asked().pop().unwrap().body;
    assert!(body.ends_with("&client_id=id&client_secret=hush"), "{body}");
}
