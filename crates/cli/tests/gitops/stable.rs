//! While all is as it should be, nobody hears anything of it: neither the API behind the lake, nor the cluster.

use std::time::Duration;

use groma_testkit::servers::fakebyte::Kind;
use serde_json::{Value, json};

use crate::lake::{Lake, NAME};
use crate::stage::{Stage, free_address, page};

/// Everything in the namespace that somebody may have written to, by what it is and its version.
fn everything(stage: &Stage) -> Vec<String> {
    let kinds = [
        ("groma.dev/v1alpha1", "stacks"),
        ("groma.dev/v1alpha1", "runs"),
        ("v1", "secrets"),
        ("v1", "configmaps"),
        ("v1", "events"),
        ("coordination.k8s.io/v1", "leases"),
    ];
    let all = |(group, plural): (&str, &str)| {
        let items = stage.api.get(&stage.at(group, plural, ""))["items"].as_array().unwrap().clone();
        let shown = |item: Value| {
            let metadata = &item["metadata"];
            format!("{plural}/{} {} {}", metadata["name"], metadata["uid"], metadata["resourceVersion"])
        };
        items.into_iter().map(shown).collect::<Vec<_>>()
    };
    kinds.into_iter().flat_map(all).collect()
}

/// How often it was looked and all was well.
fn looks(address: &str) -> u64 {
    let found = page(address, "/metrics");
    let line = found.lines().find(|line| line.starts_with("groma_checks_total{") && line.contains("well"));
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or_default()
}

/// S-005: twenty intervals, in which the API answers in an order and with names of its own and hides its secrets. Nothing is written anywhere; and what somebody else changes then is still seen.
#[test]
fn s_005_stable_means_quiet() {
    let metrics = free_address();
    let mut lake = Lake::idle(&["-metrics-address", &metrics]);
    lake.stage.start();
    lake.write_stack(&json!({"interval": "300ms"}));
    lake.stage.ready(NAME);
    // What was written about all this is through.
    std::thread::sleep(Duration::from_secs(1));
    lake.airbyte.clear_log();
    let (before, looked, state) = (everything(&lake.stage), looks(&metrics), lake.state());
    lake.stage.until("twenty intervals", || (looks(&metrics) >= looked + 20).then_some(()));
    assert_eq!(everything(&lake.stage), before);
    assert_eq!(lake.state(), state);
    assert!(lake.airbyte.written().is_empty(), "{:?}", lake.airbyte.written());
    assert!(lake.airbyte.log().len() >= 100, "it was really looked: {}", lake.airbyte.log().len());

    let id = lake.airbyte.named(Kind::Connection, "Shopify to lake")["connectionId"].as_str().unwrap().to_owned();
    lake.airbyte.mutate(Kind::Connection, &id, &json!({"status": "inactive"}));
    lake.stage.until("it is mended", || {
        (lake.airbyte.named(Kind::Connection, "Shopify to lake")["status"] == "active").then_some(())
    });
    assert_eq!(lake.airbyte.written(), ["connections/update"]);
}
