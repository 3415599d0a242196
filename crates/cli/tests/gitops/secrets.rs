//! What goes into the lake from a Secret: changes of it are seen at once, carried out once, and shown nowhere.

use std::time::Duration;

use groma_testkit::servers::fakebyte::{Kind, MASK};
use serde_json::{Value, json};

use crate::lake::{LAKE_KEY, Lake, NAME, VARIABLES, planned};
use crate::stage::{free_address, now, page};

/// Another key of the lake.
const ROTATED: &str = "key-of-the-lake-after-rotation";

/// Everything that people and machines may read: objects but for Secrets, logs and figures.
fn readable(lake: &Lake, metrics: &str) -> String {
    let stage = &lake.stage;
    let kinds =
        [("groma.dev/v1alpha1", "stacks"), ("groma.dev/v1alpha1", "runs"), ("v1", "events"), ("v1", "configmaps")];
    let objects = kinds.map(|(group, plural)| stage.api.get(&stage.at(group, plural, "")).to_string());
    objects.join("\n") + &stage.log() + &page(metrics, "/metrics")
}

/// S-401, S-403: a key in the Secret is another one. A run begins at once, for that reason, and tells the name of the key; the new value is sent
/// once, though the API never shows it, and is nowhere to be read.
#[test]
fn s_401_a_secret_is_rotated() {
    let metrics = free_address();
    let mut lake = Lake::idle(&["-metrics-address", &metrics]);
    lake.stage.start();
    lake.write_stack(&json!({"interval": "300ms"}));
    lake.stage.ready(NAME);
    let before = lake.stage.get(NAME);
    lake.airbyte.clear_log();
    let start = now();
    lake.set_variables(&json!({"lake_secret_access_key": ROTATED}));
    lake.stage.until("the new value is sent", || (!lake.airbyte.writes().is_empty()).then_some(()));
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    let run = lake.stage.until("it is over", || {
        lake.stage
            .runs(NAME)
            .into_iter()
            .find(|run| run["spec"]["causes"][0]["reason"] == "InputsChanged" && run["status"]["phase"] == "Succeeded")
    });
    assert_eq!(planned(&run), [0, 1, 0]);
    let about = run["spec"]["causes"][0]["about"].to_string();
    assert!(about.contains("lake_secret_access_key") && !about.contains("klaviyo"), "{about}");
    let after = lake.stage.ready(NAME);
    let hash = |stack: &Value| stack["status"]["applied"]["about"]["inputsHash"].clone();
    assert_ne!(hash(&before), hash(&after));

    // It is masked when it is read, and yet nothing is sent again.
    lake.wait_intervals(10, Duration::from_millis(300));
    let writes = lake.airbyte.writes();
    assert_eq!(writes.len(), 1, "{writes:?}");
    assert_eq!(writes[0].path, "destinations/update");
    assert_eq!(writes[0].body["connectionConfiguration"]["secret_access_key"], ROTATED);
    let kept = lake.airbyte.named(Kind::Destination, "Lake");
    assert_eq!(kept["connectionConfiguration"]["secret_access_key"], ROTATED);
    assert_ne!(ROTATED, MASK);
    let readable = readable(&lake, &metrics);
    for value in [LAKE_KEY, ROTATED, "password-of-the-shop", "key-of-klaviyo"] {
        let at = readable.find(value);
        assert!(at.is_none(), "{}", &readable[at.unwrap_or_default().saturating_sub(500)..][..1000]);
    }
}

/// S-402: the same through variables of the environment and files, and from a ConfigMap.
#[test]
fn s_402_other_ways_in() {
    let lake = Lake::begun(&json!({"inputs": {
        "varsFrom": [{"kind": "Secret", "name": VARIABLES}],
        "values": {"lake_bucket": "from-a-value"},
        "env": [{"name": "TF_VAR_lake_bucket", "valueFrom": {"secretKeyRef": {"name": "other", "key": "bucket"}}}],
    }}));
    lake.stage.secret("other", &json!({"bucket": "unused"}));
    lake.stage.ready(NAME);
    assert_eq!(bucket(&lake), "from-a-value", "what the Stack says holds");
    let environment =
        json!([{"name": "TF_VAR_lake_bucket", "valueFrom": {"secretKeyRef": {"name": "other", "key": "bucket"}}}]);
    lake.stage.edit(NAME, &json!({"spec": {"inputs": {"values": null, "env": environment}}}));
    lake.stage.until("the variable of the environment holds", || (bucket(&lake) == "unused").then_some(()));
    // A run that begins later does not know the value of before.
    lake.stage.api.edit(&lake.stage.at("v1", "secrets", "other"), &json!({"stringData": {"bucket": "rotated"}}));
    lake.stage.until("another value holds", || (bucket(&lake) == "rotated").then_some(()));
    lake.stage.config_map("files", &json!({"bucket": "lake_bucket = \"from-a-file\"\n"}));
    let file =
        json!([{"path": "zz.auto.tfvars", "valueFrom": {"configMapKeyRef": {"name": "files", "key": "bucket"}}}]);
    lake.stage.edit(NAME, &json!({"spec": {"inputs": {"env": null, "files": file}}}));
    lake.stage.until("the file holds", || (bucket(&lake) == "from-a-file").then_some(()));
    let change = json!({"data": {"bucket": "lake_bucket = \"from-another-file\"\n"}});
    lake.stage.api.edit(&lake.stage.at("v1", "configmaps", "files"), &change);
    lake.stage.until("the other file holds", || (bucket(&lake) == "from-another-file").then_some(()));
}

fn bucket(lake: &Lake) -> String {
    let found = lake.airbyte.objects(Kind::Destination);
    found
        .first()
        .map(|lake| lake["connectionConfiguration"]["s3_bucket_name"].as_str().unwrap().to_owned())
        .unwrap_or_default()
}

/// S-404: a key that nobody asked for, and a label: no run. (`load` has many Stacks with one Secret.)
#[test]
fn s_404_what_does_not_matter_changes() {
    let keys = [
        "airbyte_url",
        "airbyte_username",
        "airbyte_password",
        "workspace_id",
        "shopify_shop",
        "shopify_api_password",
        "klaviyo_api_key",
        "lake_access_key_id",
        "lake_secret_access_key",
    ];
    let lake = Lake::given_with(&json!({
        "inputs": {"varsFrom": [{"kind": "Secret", "name": VARIABLES, "keys": keys}]},
    }));
    let before = lake.stage.get(NAME);
    lake.set_variables(&json!({"nobody_asks_for_this": "x"}));
    let label = json!({"metadata": {"labels": {"seen": "yes"}, "annotations": {"note": "x"}}});
    lake.stage.api.edit(&lake.stage.at("v1", "secrets", VARIABLES), &label);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(lake.stage.get(NAME), before);
    assert_eq!(lake.stage.runs(NAME).len(), 1);
    assert!(lake.airbyte.log().is_empty());
    // It is not that nobody listens.
    lake.set_variables(&json!({"shopify_shop": "lotus-two"}));
    lake.stage.until("that matters", || (!lake.airbyte.writes().is_empty()).then_some(()));
}
