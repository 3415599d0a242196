//! Traces of Runs: from who asks for them to the last call of a provider.

use serde_json::{Value, json};

use crate::collector::{Collector, attribute};
use crate::stage::Stage;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

/// One trace from the Stack to the calls, also when somebody has to agree in between.
#[test]
fn a_run_is_one_trace() {
    let collector = Collector::new();
    let stage = Stage::with_variables(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)]);
    let main = "variable \"secret\" {\n  sensitive = true\n}\nresource \"random_string\" \"it\" {\n  length  = 4\n  keepers = { it = var.secret }\n}\n";
    let canary = "canary-in-a-secret";
    stage.secret("vars", &json!({"secret": canary}));
    let spec = |mode: &str| {
        json!({
            "source": {"inline": {"main.tf": main}}, "approval": {"mode": mode},
            "inputs": {"varsFrom": [{"kind": "Secret", "name": "vars"}]},
        })
    };
    stage.stack("asks", spec("manual"));
    let stack = stage.says("asks", "Unknown", "AwaitingApproval");
    let plan = stack["status"]["pending"]["plan"].as_str().unwrap();
    let agreed = json!({"metadata": {"annotations": {"groma.dev/approve": plan, "groma.dev/approved-by": "ana"}}});
    stage.edit("asks", &agreed);
    stage.ready("asks");
    let traced = json!({
        "apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "spec": spec("auto"),
        "metadata": {"name": "goes-on", "annotations": {"groma.dev/traceparent": format!("00-{TRACE}-{PARENT}-01")}},
    });
    stage.api.create(&stage.at_stack(""), &traced);
    stage.ready("goes-on");

    let of = |stack: &str, name: &str| -> Vec<Value> {
        let is_it = |span: &Value| span["name"] == name && attribute(span, "groma.stack").as_deref() == Some(stack);
        collector.spans().into_iter().filter(is_it).collect()
    };
    stage.until("spans of both runs", || {
        (of("asks", "run").len() == 2 && of("goes-on", "run").len() == 1).then_some(())
    });
    let request = &of("asks", "request run")[0];
    let runs = of("asks", "run");
    // What was planned and what was carried out later are parts of the same.
    assert!(runs.iter().all(|run| run["parentSpanId"] == request["spanId"]), "{runs:#?}");
    assert!(runs.iter().all(|run| attribute(run, "groma.run").as_deref() == Some("asks-1")), "{runs:#?}");
    let note = stage.runs("asks")[0]["metadata"]["annotations"]["groma.dev/traceparent"].clone();
    assert!(note.as_str().unwrap().contains(request["traceId"].as_str().unwrap()), "{note}");
    let spans = collector.spans();
    let below = |parent: &Value, name: &str| -> Value {
        let is_it = |span: &&Value| span["parentSpanId"] == parent["spanId"] && span["name"] == name;
        spans.iter().find(is_it).cloned().unwrap_or_default()
    };
    let applied = runs.iter().find(|run| below(run, "apply").is_object()).unwrap();
    let made = below(&below(applied, "apply"), "create random_string");
    assert_eq!(attribute(&made, "groma.resource.address").as_deref(), Some("random_string.it"));
    assert!(below(&made, "ApplyResourceChange").is_object());
    let (request, run) = (&of("goes-on", "request run")[0], &of("goes-on", "run")[0]);
    assert_eq!((&request["traceId"], &request["parentSpanId"]), (&json!(TRACE), &json!(PARENT)));
    assert_eq!((&run["traceId"], &run["parentSpanId"]), (&json!(TRACE), &request["spanId"]));
    for phase in ["initialise", "plan", "apply"] {
        assert!(below(run, phase).is_object(), "{phase}: {spans:#?}");
    }
    assert!(!format!("{spans:?}").contains(canary));
}
