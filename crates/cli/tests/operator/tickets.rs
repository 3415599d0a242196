//! Objects behind an API that no state knows: made by hand, by others, or by a request whose answer was lost.

use std::process::Output;

use groma_testkit::servers::fakebyte::{Fakebyte, Kind, PASSWORD, USERNAME, WORKSPACE};
use serde_json::{Value, json};

use crate::stage::{Stage, message};

/// A source of the API, as a resource. How all of them are listed is said, or is not.
fn source(label: &str, name: &str, is_listed: bool) -> String {
    let list = if is_listed {
        format!(
            "  list {{\n    method = \"POST\"\n    path = \"{{path}}/list\"\n    body = jsonencode({{ workspaceId = {WORKSPACE:?} }})\n    \
             items = \"sources\"\n  }}\n"
        )
    } else {
        String::new()
    };
    let body = format!(
        "{{\n    name = {name:?}\n    workspaceId = {WORKSPACE:?}\n    sourceDefinitionId = \"definition\"\n    \
         connectionConfiguration = {{ api_key = \"canary-{name}\" }}\n  }}"
    );
    object(label, "sources", "sourceId", &body, &list)
}

/// One that can be listed.
pub(crate) fn listed_source(label: &str, name: &str) -> String {
    source(label, name, true)
}

fn object(label: &str, plural: &str, id: &str, body: &str, more: &str) -> String {
    let call = |action: &str, body: &str| {
        format!("{action} {{\n    method = \"POST\"\n    path = \"{{path}}/{action}\"\n    body = {body:?}\n  }}")
    };
    let by_id = format!("{{\"{id}\": \"{{id}}\"}}");
    let read = call("read", &by_id).replace("{path}/read", "{path}/get");
    format!(
        "resource \"rest_object\" {label:?} {{\n  path = \"/{plural}\"\n  id_path = {id:?}\n  body = {body}\n  create {{\n    path = \
         \"{{path}}/create\"\n  }}\n  {read}\n  update {{\n    method = \"none\"\n  }}\n  {}\n{more}}}\n",
        call("delete", &by_id)
    )
}

fn configuration(api: &Fakebyte, resources: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    rest = {{ source = \"groma.dev/builtin/rest\" }}\n  }}\n}}\n\
         provider \"rest\" {{\n  base_url = \"{}/api/v1\"\n  auth {{\n    username = {USERNAME:?}\n    password = {PASSWORD:?}\n  }}\n}}\n{resources}",
        api.url()
    )
}

pub(crate) fn body(name: &str) -> Value {
    json!({
        "name": name, "workspaceId": WORKSPACE, "sourceDefinitionId": "definition",
        "connectionConfiguration": {"api_key": format!("canary-{name}")},
    })
}

/// A Stack with these resources, and more.
pub(crate) fn stack(stage: &Stage, api: &Fakebyte, name: &str, resources: &str, more: Value) {
    let mut spec =
        json!({"source": {"inline": {"main.tf": configuration(api, resources)}}, "retry": {"interval": "200ms"}});
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    stage.stack(name, spec);
}

/// What Events say about a Stack, by their reason.
pub(crate) fn events(stage: &Stage, reason: &str) -> Vec<String> {
    let found = stage.api.get(&stage.at("v1", "events", ""));
    let own = found["items"].as_array().unwrap().iter().filter(|event| event["reason"] == reason);
    own.map(|event| event["message"].as_str().unwrap_or_default().to_owned()).collect()
}

#[track_caller]
pub(crate) fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A command that must go well.
#[track_caller]
pub(crate) fn does(stage: &Stage, words: &[&str]) -> String {
    let output = stage.groma(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}\n{}", said(&output), stage.log());
    said(&output)
}

/// And one that must not.
#[track_caller]
pub(crate) fn is_refused(stage: &Stage, words: &[&str]) -> String {
    let output = stage.groma(words).output().unwrap();
    assert!(!output.status.success(), "{words:?}: {}", said(&output));
    said(&output)
}

/// What is there already is taken in, or said, or refused, as the Stack wants.
#[test]
fn s201_what_is_there_already_is_not_made_again() {
    let (stage, api) = (Stage::new(), Fakebyte::new());
    let [taken, warned, refused, imported] =
        ["taken", "warned", "refused", "imported"].map(|name| api.create(Kind::Source, &body(name)));
    stack(
        &stage,
        &api,
        "takes",
        &source("it", "taken", true),
        json!({"adoption": {"mode": "ifExists", "match": ["name"]}}),
    );
    stack(&stage, &api, "warns", &source("it", "warned", true), json!({"adoption": {"types": ["rest_*"]}}));
    stack(&stage, &api, "fails", &source("it", "refused", true), json!({"adoption": {"mode": "fail"}}));
    let block = format!(
        "import {{\n  for_each = {{ a = {imported:?} }}\n  to = rest_object.it[each.key]\n  id = jsonencode({{ path = \"/sources\", id = \
         each.value, id_path = \"sourceId\", read = {{ method = \"POST\", path = \"{{path}}/get\", body = jsonencode({{ sourceId = \
         \"{{id}}\" }}) }}, body = {{ name = \"imported\", \
         workspaceId = {WORKSPACE:?}, sourceDefinitionId = \"definition\", connectionConfiguration = {{ api_key = \"canary-imported\" }} }} }})\n}}\n"
    );
    let many = source("it", "imported", true)
        .replace("  path = \"/sources\"\n", "  for_each = toset([\"a\"])\n  path = \"/sources\"\n");
    stack(&stage, &api, "imports", &format!("{block}{many}"), json!({"approval": {"mode": "manual"}}));

    stage.ready("takes");
    let run = stage.runs("takes").remove(0);
    assert_eq!(
        run["status"]["planned"],
        json!({"add": 0, "change": 0, "destroy": 0, "import": 1, "forget": 0}),
        "{run}"
    );
    assert_eq!(api.named(Kind::Source, "taken")["sourceId"], json!(taken));

    stage.ready("warns");
    let run = stage.runs("warns").remove(0);
    let warning = run["status"]["diagnostics"].to_string();
    assert!(warning.contains("Object exists already") && warning.contains(&warned), "{warning}");
    assert_eq!(run["status"]["planned"]["add"], 1);

    let failed = stage.says("fails", "False", "ProviderRefused");
    let told = message(&failed);
    assert!(told.contains("rest_object.it") && told.contains(&refused) && told.contains("exists already"), "{told}");

    let waits = stage.says("imports", "Unknown", "AwaitingApproval");
    let run = stage.runs("imports").remove(0);
    // How it is changed, listed and deleted is written down with it, which changes no object.
    assert_eq!(
        run["status"]["planned"],
        json!({"add": 0, "change": 1, "destroy": 0, "import": 0, "forget": 0}),
        "{waits}"
    );
    assert!(run["status"]["plan"]["text"].as_str().unwrap().contains("1 to import"), "{run}");

    let names: Vec<Value> = api.objects(Kind::Source).iter().map(|object| object["name"].clone()).collect();
    assert_eq!(names, ["taken", "warned", "refused", "imported", "warned"]);
    assert!(!stage.log().contains("canary-"), "secrets are told nobody");
    // What was taken in is the Stack's own from now on.
    stage.delete("takes");
    assert_eq!(api.objects(Kind::Source).len(), 4);
}

/// What the state does not know is listed; and deleted only by whoever agrees to exactly that.
#[test]
fn s202_orphans_are_reported_and_deleted_when_somebody_agrees() {
    let (stage, api) = (Stage::new(), Fakebyte::new());
    let by_hand = api.create(Kind::Source, &body("by-hand"));
    let spec = json!({"orphanPolicy": "report", "interval": "300ms"});
    stack(&stage, &api, "app", &source("it", "own", true), spec);
    stage.ready("app");
    let reported = |count: u64| {
        stage.until(&format!("a report of {count}"), || {
            let report = stage.get("app")["status"]["orphans"].clone();
            (report["count"] == count).then_some(report)
        })
    };
    let report = reported(1);
    assert_eq!(report["objects"], json!([{"type": "rest_object", "id": by_hand, "name": "by-hand"}]));
    // It is the same until something changes.
    let version = || stage.get("app")["metadata"]["resourceVersion"].clone();
    let before = version();
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert_eq!(version(), before);
    let full = format!("{}/app", stage.namespace);
    let id = report["id"].as_str().unwrap();
    assert!(is_refused(&stage, &["stack", "approve", &full, id]).contains("orphanPolicy"));
    let listed: Value = serde_json::from_str(does(&stage, &["stack", "orphans", &full, "-json"]).trim()).unwrap();
    assert_eq!((&listed["id"], &listed["objects"]), (&report["id"], &report["objects"]));

    stage.edit("app", &json!({"spec": {"orphanPolicy": "delete"}}));
    let another = api.create(Kind::Source, &body("another"));
    let report = reported(2);
    stage.ready("app");
    assert!(is_refused(&stage, &["stack", "approve", &full, id]).contains("another one"));
    assert_eq!(api.objects(Kind::Source).len(), 3, "nothing is deleted by itself");
    does(&stage, &["stack", "approve", &full, report["id"].as_str().unwrap()]);
    stage.until("they are gone", || (api.objects(Kind::Source).len() == 1).then_some(()));
    stage.until("nothing is reported any more", || stage.get("app")["status"]["orphans"].is_null().then_some(()));
    let mut told = events(&stage, "OrphanDeleted");
    told.sort();
    assert_eq!(told.len(), 2, "{told:?}");
    for id in [&by_hand, &another] {
        assert!(told.iter().any(|message| message.contains(id.as_str())), "{told:?}");
    }
    assert_eq!(api.objects(Kind::Source)[0]["name"], "own");
    assert!(does(&stage, &["stack", "orphans", &full]).contains("nothing that the state does not know"));
}

/// A request that was carried out, and whose answer was lost, makes one object: it is found by listing, or somebody has to look.
#[test]
fn s203_a_lost_answer_makes_no_second_object() {
    let (stage, api) = (Stage::new(), Fakebyte::new());
    api.lose("sources/create", 1);
    stack(&stage, &api, "listed", &source("it", "one", true), json!({}));
    stage.ready("listed");
    assert_eq!(api.objects(Kind::Source).len(), 1);
    let first = stage.runs("listed").remove(0);
    assert_eq!(
        (&first["status"]["phase"], &first["status"]["failure"]),
        (&json!("Failed"), &json!("PossibleOrphan")),
        "{first}"
    );
    assert!(first["status"]["message"].as_str().unwrap().contains("/sources/create"), "{first}");

    api.lose("sources/create", 1);
    stack(&stage, &api, "unlisted", &source("it", "two", false), json!({}));
    let stopped = stage.until("it stops", || {
        let runs = stage.runs("unlisted");
        (runs.len() > 1).then(|| stage.says("unlisted", "False", "PossibleOrphan"))
    });
    assert!(message(&stopped).contains("rest_object.it"), "{}", message(&stopped));
    assert_eq!(api.objects(Kind::Source).len(), 2, "{:?}", api.written());
}

/// What somebody else has deleted is made again, and what depends on it follows, in order.
#[test]
fn s304_what_is_gone_is_made_again_in_order() {
    let (stage, api) = (Stage::new(), Fakebyte::new());
    let destination = source("to", "to", true)
        .replace("sources", "destinations")
        .replace("sourceId", "destinationId")
        .replace("sourceDef", "destinationDef");
    let connection = "{\n    name = \"both\"\n    status = \"active\"\n    sourceId = rest_object.from.id\n    destinationId = rest_object.to.id\n  }";
    let more = "  replace_on = [\"sourceId\", \"destinationId\"]\n";
    let resources =
        [source("from", "from", true), destination, object("both", "connections", "connectionId", connection, more)]
            .concat();
    stack(&stage, &api, "app", &resources, json!({"interval": "500ms"}));
    stage.ready("app");
    let source_id = api.named(Kind::Source, "from")["sourceId"].clone();
    api.clear_log();
    api.remove(Kind::Source, source_id.as_str().unwrap());
    let connection = stage.until("all is made again", || {
        let sources = api.objects(Kind::Source);
        let connections = api.objects(Kind::Connection);
        let (source, connection) = (sources.first()?, connections.first()?);
        (connections.len() == 1 && connection["sourceId"] == source["sourceId"]).then(|| connection.clone())
    });
    assert_ne!(connection["sourceId"], source_id);
    stage.ready("app");
    let calls: Vec<(String, u16)> = api.writes().into_iter().map(|call| (call.path, call.status)).collect();
    assert!(calls.iter().all(|(_, status)| *status < 300), "{calls:?}");
    let of = |path: &str| calls.iter().position(|(known, _)| known == path).unwrap();
    assert!(of("sources/create") < of("connections/create"), "{calls:?}");
}
