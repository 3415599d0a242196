//! What people do with the lake every day: they push, and that is all. Each is told twice: with the files in a ConfigMap, which a pipeline has
//! written, and in a repository.

use std::time::Duration;

use groma_testkit::servers::fakebyte::Kind;
use serde_json::{Value, json};

use crate::lake::{FILES, Lake, NAME, ROOT, STREAMS, VARIABLES, planned, state};
use crate::stage::{condition, message};

/// One more source, as somebody would add it.
const FACEBOOK: &str = r#"
resource "rest_object" "facebook" {
  path      = "/sources"
  id_path   = "sourceId"
  id_member = "sourceId"

  body = {
    name               = "Facebook Ads"
    sourceDefinitionId = "e7778cfc-e97c-4458-9ecb-b4f2bba8946c"
    workspaceId        = var.workspace_id
    connectionConfiguration = {
      access_token = FACEBOOK_TOKEN
    }
  }

  create {
    path = "{path}/create"
  }
  read {
    method = "POST"
    path   = "{path}/get"
  }
  update {
    method = "POST"
    path   = "{path}/update"
  }
  delete {
    method = "POST"
    path   = "{path}/delete"
  }
}
"#;

fn sources() -> String {
    format!("{ROOT}/sources.tf")
}

/// S-001: one more source is pushed. It is made at once, alone, and nobody had to do anything else.
#[test]
fn s_001_a_source_is_added() {
    a_source_is_added(Lake::given());
}

#[test]
fn s_001_a_source_is_added_to_a_repository() {
    a_source_is_added(Lake::pushed(&json!({})));
}

fn a_source_is_added(mut lake: Lake) {
    let (serial, known) = (lake.state()["serial"].as_u64().unwrap(), lake.events());
    let with_facebook = lake.file(&sources()) + &FACEBOOK.replace("FACEBOOK_TOKEN", "\"none\"");
    let before = lake.push(&[(&sources(), &with_facebook)]);
    let run = lake.applied(before);
    assert_eq!(planned(&run), [1, 0, 0]);
    assert_eq!(run["spec"]["causes"][0]["reason"], "SourceChanged");
    assert_eq!(lake.airbyte.written(), ["sources/create"]);
    assert_eq!(lake.state()["serial"], serial + 1);
    lake.stage.ready(NAME);
    let told: Vec<_> = lake.events().into_iter().filter(|event| !known.contains(event)).collect();
    assert_eq!(told.iter().filter(|event| event.contains("Applied")).count(), 1, "{told:?}");
    assert!(told.iter().all(|event| !event.contains("Warning")), "{told:?}");
}

/// S-001b: what the new source needs is not in the Secret yet. That is said by name, and adding it there is enough.
#[test]
fn s_001b_a_credential_comes_later() {
    let mut lake = Lake::given();
    let with_facebook = lake.file(&sources()) + &FACEBOOK.replace("FACEBOOK_TOKEN", "var.facebook_token");
    let variables =
        lake.file(&format!("{ROOT}/variables.tf")) + "\nvariable \"facebook_token\" {\n  sensitive = true\n}\n";
    let before = lake.push(&[(&sources(), &with_facebook), (&format!("{ROOT}/variables.tf"), &variables)]);
    let stack = lake.stage.until("it is said what is missing", || {
        let stack = lake.stage.get(NAME);
        let ready = condition(&stack, "Ready")?;
        (ready["status"] == "False" && ready["message"].as_str()?.contains("facebook_token")).then_some(stack)
    });
    assert!(lake.airbyte.written().is_empty(), "{}", message(&stack));
    lake.set_variables(&json!({"facebook_token": "token-of-facebook"}));
    let run = lake.applied(before);
    assert_eq!(planned(&run), [1, 0, 0]);
    let made = lake.airbyte.named(Kind::Source, "Facebook Ads");
    assert_eq!(made["connectionConfiguration"]["access_token"], "token-of-facebook");
}

/// S-002: a catalog is changed, which is outside of the directory of the configuration. Its connection is changed, and nothing else.
#[test]
fn s_002_a_catalog_is_changed() {
    a_catalog_is_changed(Lake::given());
}

#[test]
fn s_002_a_catalog_is_changed_in_a_repository() {
    a_catalog_is_changed(Lake::pushed(&json!({})));
}

fn a_catalog_is_changed(mut lake: Lake) {
    let connection = lake.airbyte.named(Kind::Connection, "Shopify to lake");
    let other = lake.airbyte.named(Kind::Connection, "Klaviyo to lake");
    let catalog = format!("{STREAMS}/shopify/_catalog.json");
    let mut streams: Value = serde_json::from_str(&lake.file(&catalog)).unwrap();
    streams["streams"][1]["config"]["sync_mode"] = json!("full_refresh");
    streams["streams"][1]["stream"]["json_schema"]["properties"]["note"] = json!({"type": "string"});
    let before = lake.push(&[(&catalog, &streams.to_string())]);
    let run = lake.applied(before);
    assert_eq!(planned(&run), [0, 1, 0]);
    assert_eq!(lake.airbyte.written(), ["connections/update"]);
    let after = lake.airbyte.named(Kind::Connection, "Shopify to lake");
    assert_eq!(after["connectionId"], connection["connectionId"]);
    let orders = &after["syncCatalog"]["streams"][1];
    assert_eq!(orders["config"]["syncMode"], "full_refresh");
    assert_eq!(orders["stream"]["jsonSchema"]["properties"]["note"], json!({"type": "string"}));
    assert_eq!(lake.airbyte.named(Kind::Connection, "Klaviyo to lake"), other);
}

/// S-002b: a commit that has nothing to do with it. It is seen, and nothing comes of it.
#[test]
fn s_002b_a_commit_is_about_something_else() {
    let mut lake = Lake::given();
    let serial = lake.state()["serial"].clone();
    let before = lake.push_edit("README.md", "A data lake", "The data lake");
    let run = lake.applied(before);
    assert_eq!(planned(&run), [0, 0, 0]);
    assert!(lake.airbyte.written().is_empty(), "{:?}", lake.airbyte.written());
    assert_eq!(lake.state()["serial"], serial);
}

/// S-002b: the same in a repository, where it is known which files matter: nothing is even run.
#[test]
fn s_002b_a_commit_is_about_something_else_in_the_repository() {
    let mut lake = Lake::pushed(&json!({}));
    let serial = lake.state()["serial"].clone();
    let before = lake.push_edit("README.md", "A data lake", "The data lake");
    lake.is_seen_and_left(before);
    assert!(lake.airbyte.log().is_empty(), "{:?}", lake.airbyte.log());
    assert_eq!(lake.state()["serial"], serial);
}

/// S-003: a source and its connection are removed. The connection goes first.
#[test]
fn s_003_a_source_is_removed() {
    a_source_is_removed(Lake::given());
}

#[test]
fn s_003_a_source_is_removed_from_a_repository() {
    a_source_is_removed(Lake::pushed(&json!({})));
}

fn a_source_is_removed(mut lake: Lake) {
    let without_klaviyo = |text: String| {
        let start = text.find("resource \"rest_object\" \"klaviyo").unwrap();
        text[..start].to_owned()
    };
    let connections = format!("{ROOT}/connections.tf");
    let files = [
        (sources(), without_klaviyo(lake.file(&sources()))),
        (connections.clone(), without_klaviyo(lake.file(&connections))),
        (format!("{ROOT}/backfill.tf"), "# None.\n".to_owned()),
        (format!("{ROOT}/outputs.tf"), "output \"connections\" {\n  value = {}\n}\n".to_owned()),
    ];
    let before = lake.push(&files.each_ref().map(|(path, text)| (path.as_str(), text.as_str())));
    let run = lake.applied(before);
    assert_eq!(planned(&run), [0, 0, 2]);
    assert_eq!(lake.airbyte.written(), ["connections/delete", "sources/delete"]);
    assert!(lake.airbyte.log().iter().all(|call| call.status < 300));
    assert_eq!(lake.counts(), [1, 1, 1]);
    let names: Vec<_> =
        lake.state()["resources"].as_array().unwrap().iter().map(|one| one["name"].to_string()).collect();
    assert_eq!(names, ["\"lake\"", "\"shopify\"", "\"shopify_to_lake\""]);
}

/// Everything was deleted, in an order in which nothing was still referred to, and each thing once.
#[track_caller]
fn all_went_in_order(lake: &Lake) {
    let paths: Vec<_> =
        lake.airbyte.writes().into_iter().filter(|call| call.status < 300).map(|call| call.path).collect();
    let count = |wanted: &str| paths.iter().filter(|path| *path == wanted).count();
    let counted = ["connections/delete", "sources/delete", "destinations/delete"].map(count);
    assert_eq!((counted, paths.len()), ([2, 2, 1], 5), "{paths:?}");
    let tried = lake.airbyte.written().iter().filter(|path| *path == "connections/delete").count();
    assert_eq!(tried, 2, "a connection is not deleted twice");
    assert!(lake.airbyte.writes().iter().all(|call| call.status != 409), "{paths:?}");
    assert_eq!(lake.airbyte.count(), 0);
    for (group, plural, name) in [
        ("v1", "secrets", format!("tfstate-default-{NAME}")),
        ("coordination.k8s.io/v1", "leases", format!("lock-tfstate-default-{NAME}")),
    ] {
        assert!(lake.stage.api.find(&lake.stage.at(group, plural, &name)).is_none(), "{plural} {name}");
    }
}

/// S-003b: the Stack is deleted, after its files and its Secret are gone. Everything goes, connections first; then the Stack.
#[test]
fn s_003b_the_stack_is_deleted() {
    let lake = Lake::given();
    lake.stage.api.delete(&lake.stage.at("v1", "configmaps", FILES));
    lake.stage.api.delete(&lake.stage.at("v1", "secrets", VARIABLES));
    lake.airbyte.delay(Some("sources/delete"), Duration::from_millis(300));
    lake.stage.api.delete(&lake.stage.at_stack(NAME));
    lake.stage.until("it is gone", || match lake.stage.api.find(&lake.stage.at_stack(NAME)) {
        // Whoever sees it go sees that nothing is left.
        None => {
            assert_eq!(lake.airbyte.count(), 0);
            Some(())
        }
        Some(stack) => {
            assert!(!stack["metadata"]["finalizers"].is_null(), "{stack}");
            None
        }
    });
    all_went_in_order(&lake);
}

/// S-003c: taking down fails in the middle. It is said what does not go, it is tried again, and nothing is deleted twice.
#[test]
fn s_003c_deletion_fails_midway() {
    // Long enough for somebody to see what is said meanwhile.
    let lake = Lake::given_with(&json!({"retry": {"interval": "1s"}}));
    lake.airbyte.fail("sources/delete", 500, 2);
    lake.stage.api.delete(&lake.stage.at_stack(NAME));
    let mut told = String::new();
    lake.stage.until("it is gone", || {
        let Some(stack) = lake.stage.api.find(&lake.stage.at_stack(NAME)) else { return Some(()) };
        if let Some(ready) = condition(&stack, "Ready")
            && ready["message"].as_str().is_some_and(|text| text.contains("rest_object."))
        {
            told = ready["message"].to_string();
        }
        None
    });
    assert!(told.contains("rest_object.shopify") || told.contains("rest_object.klaviyo"), "{told}");
    all_went_in_order(&lake);
}

fn stream(shop: &str, name: &str) -> String {
    format!("{STREAMS}/{shop}/{name}.json")
}

/// S-004, S-004b: a stream asks for a backfill, and later does not any more. There is one reset, and then nothing for ever.
#[test]
fn s_004_a_backfill_is_asked_for_and_ends() {
    a_backfill_is_asked_for_and_ends(Lake::given_with(&json!({"interval": "300ms"})));
}

#[test]
fn s_004_a_backfill_is_asked_for_and_ends_in_a_repository() {
    a_backfill_is_asked_for_and_ends(Lake::pushed(&json!({"interval": "300ms"})));
}

fn a_backfill_is_asked_for_and_ends(mut lake: Lake) {
    let interval = Duration::from_millis(300);
    lake.stage.ready(NAME);
    let before = lake.push_edit(&stream("shopify", "orders"), "\"backfill\": false", "\"backfill\": true");
    let run = lake.applied(before);
    assert_eq!(planned(&run), [1, 0, 0]);
    let connection = lake.airbyte.named(Kind::Connection, "Shopify to lake")["connectionId"].clone();
    let resets = || lake.airbyte.writes();
    assert_eq!((resets().len(), resets()[0].path.as_str()), (1, "connections/reset"));
    assert_eq!(resets()[0].body, json!({"connectionId": connection}));
    let serial = lake.state()["serial"].clone();
    lake.wait_intervals(4, interval);
    lake.airbyte.finish_jobs();
    lake.wait_intervals(4, interval);
    assert_eq!((resets().len(), &lake.state()["serial"]), (1, &serial));

    let before = lake.push_edit(&stream("shopify", "orders"), "\"backfill\": true", "\"backfill\": false");
    let run = lake.applied(before);
    assert_eq!(planned(&run), [0, 0, 1]);
    lake.wait_intervals(4, interval);
    assert_eq!(lake.airbyte.writes().len(), 1, "nothing is reset when it is over");
}

/// S-004c: the reset fails. It is said, tried again, and done once; also where a program does it, which leaves a resource behind that is tainted.
#[test]
fn s_004c_a_reset_fails() {
    let mut lake = Lake::given();
    for (shop, file) in [("shopify", "orders"), ("klaviyo", "events")] {
        lake.airbyte.clear_log();
        lake.airbyte.fail("connections/reset", 500, 1);
        let before = lake.push_edit(&stream(shop, file), "\"backfill\": false", "\"backfill\": true");
        lake.applied(before);
        let statuses: Vec<_> = lake.airbyte.writes().into_iter().map(|call| (call.path, call.status)).collect();
        let reset = |status| ("connections/reset".to_owned(), status);
        assert_eq!(statuses, [reset(500), reset(200)], "{shop}");
    }
    let failed: Vec<_> = lake.stage.runs(NAME).into_iter().filter(|run| run["status"]["phase"] == "Failed").collect();
    assert_eq!(failed.len(), 2);
    assert!(failed[1].to_string().contains("null_resource.klaviyo_backfill"), "{}", failed[1]);
    let last = lake.stage.runs(NAME).pop().unwrap();
    assert_eq!(planned(&last), [1, 0, 1], "what was tainted is replaced");
    assert_eq!(state(&lake.stage, NAME)["resources"].as_array().unwrap().len(), 7);
}
