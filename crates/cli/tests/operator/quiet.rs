//! While all is well, nobody hears anything of it.

use std::fs;

use serde_json::{Value, json};

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
        ("rbac.authorization.k8s.io/v1", "rolebindings"),
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

/// How often it was looked without a run, with this result.
fn checks(address: &str, result: &str) -> u64 {
    let found = page(address, "/metrics");
    let line = found.lines().find(|line| line.starts_with("groma_checks_total{") && line.contains(result));
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or_default()
}

/// Twenty intervals, three Stacks of different kinds, and not one write.
#[test]
fn stable_means_quiet() {
    let address = free_address();
    let stage = Stage::with(&["-metrics-address", &address]);
    let file = stage.path("file");
    let main = format!(
        "resource \"local_file\" \"it\" {{\n  filename = {file:?}\n  content = \"a\"\n}}\noutput \"it\" {{\n  value = \
         local_file.it.content\n}}\n"
    );
    let spec = |more: Value| {
        let mut spec = json!({
            "source": {"inline": {"main.tf": main}}, "interval": "300ms",
            "outputs": {"secret": {"name": "outputs"}, "status": true},
        });
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        spec
    };
    stage.stack("corrects", spec(json!({})));
    stage.ready("corrects");
    // One that has something to do, and is never to do it.
    let plans =
        json!({"planOnly": true, "outputs": {}, "source": {"inline": {"main.tf": main.replace("\"a\"", "\"b\"")}}});
    stage.stack("plans", spec(plans));
    stage.ready("plans");
    // One of which others have changed something, which is known.
    let reported = stage.path("reported");
    let main = main.replace(file.to_str().unwrap(), reported.to_str().unwrap());
    stage.stack("reports", spec(json!({"drift": "report", "outputs": {}, "source": {"inline": {"main.tf": main}}})));
    stage.ready("reports");
    fs::remove_file(&reported).unwrap();
    stage.says("reports", "False", "DriftDetected");
    // What was written about all this is through.
    std::thread::sleep(std::time::Duration::from_secs(1));
    let (before, looked) = (everything(&stage), checks(&address, "well"));
    stage.until("twenty looks at each", || (checks(&address, "well") >= looked + 60).then_some(()));
    assert_eq!(everything(&stage), before);

    // It is not that nobody looks.
    fs::remove_file(&file).unwrap();
    stage.until("it is made again", || file.exists().then_some(()));
    assert!(checks(&address, "found") > 0);
    stage.ready("corrects");
}
