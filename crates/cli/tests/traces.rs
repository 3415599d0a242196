//! Traces of commands, as somebody gets them who takes spans.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

#[path = "traces/collector.rs"]
mod collector;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "cli/sandbox.rs"]
mod sandbox;

use std::net::TcpListener;
use std::time::{Duration, Instant};

use collector::{Collector, attribute};
use sandbox::Sandbox;
use serde_json::Value;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";
const CANARY: &str = "canary-in-a-value";

/// A configuration with secrets, and with a program that says what it is told.
fn sandbox(endpoint: &str) -> Sandbox {
    let main = format!(
        "variable \"secret\" {{\n  sensitive = true\n  default   = \"{CANARY}\"\n}}\n\
         resource \"random_string\" \"it\" {{\n  for_each = toset([\"a\", \"b\"])\n  length   = 4\n  keepers  = {{ it = var.secret }}\n}}\n\
         resource \"terraform_data\" \"it\" {{\n  input = [var.secret, \"{CANARY}\"]\n  provisioner \"local-exec\" {{\n    command = \"echo $TRACEPARENT > said\"\n  }}\n}}\n\
         output \"it\" {{\n  value     = var.secret\n  sensitive = true\n}}\n"
    );
    Sandbox::new().file("main.tf", &main).env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
}

#[track_caller]
fn apply(sandbox: &Sandbox) {
    let outcome = sandbox.run(&["apply", "-auto-approve", "-no-color"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("3 added"), "{}", outcome.stdout);
}

fn named<'s>(spans: &'s [Value], name: &str) -> Vec<&'s Value> {
    spans.iter().filter(|span| span["name"] == name).collect()
}

#[expect(clippy::disallowed_methods, reason = "how long something takes is part of the story")]
fn now() -> Instant {
    Instant::now()
}

/// Commands, phases, resources and calls are in each other, and go on from where somebody began.
#[test]
fn spans_tell_what_was_done_and_not_with_what() {
    let collector = Collector::new();
    let sandbox = sandbox(&collector.url)
        .env("TRACEPARENT", &format!("00-{TRACE}-{PARENT}-01"))
        .env("OTEL_SERVICE_NAME", "tests")
        .env("OTEL_RESOURCE_ATTRIBUTES", "team=a")
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-key=word");
    apply(&sandbox);
    let requests = collector.requests();
    assert!(
        requests
            .iter()
            .all(|request| request.head.starts_with("post /v1/traces ") && request.head.contains("x-key: word"))
    );
    let resource = requests[0].body["resourceSpans"][0]["resource"].to_string();
    assert!(resource.contains("tests") && resource.contains("team"), "{resource}");
    let spans = collector.spans();
    assert!(spans.iter().all(|span| span["traceId"] == TRACE), "{spans:#?}");
    let text = format!("{spans:?}");
    assert!(!text.contains(CANARY), "{text}");

    let command = named(&spans, "groma apply")[0];
    assert_eq!(command["parentSpanId"], PARENT);
    let phase = |name: &str| *named(&spans, name).first().unwrap();
    let (plan, apply) = (phase("plan"), phase("apply"));
    assert_eq!((&plan["parentSpanId"], &apply["parentSpanId"]), (&command["spanId"], &command["spanId"]));
    assert_eq!(named(&spans, "plan random_string").len(), 2);
    let made = named(&spans, "create random_string");
    let addresses: Vec<String> = made.iter().filter_map(|span| attribute(span, "groma.resource.address")).collect();
    assert!(addresses.contains(&"random_string.it[\"a\"]".to_owned()), "{addresses:?}");
    for span in &made {
        assert_eq!(span["parentSpanId"], apply["spanId"]);
        let calls: Vec<&Value> = spans.iter().filter(|call| call["parentSpanId"] == span["spanId"]).collect();
        let call = calls.iter().find(|call| call["name"] == "ApplyResourceChange").unwrap();
        assert_eq!(attribute(call, "groma.resource.type").as_deref(), Some("random_string"));
    }
    let said = sandbox.read("said");
    let provision = named(&spans, "provision terraform_data")[0];
    assert_eq!(said.trim(), format!("00-{TRACE}-{}-01", provision["spanId"].as_str().unwrap()));
    let ordered = |span: &Value| {
        let time = |name: &str| span[name].as_str().unwrap().parse::<u128>().unwrap();
        time("startTimeUnixNano") <= time("endTimeUnixNano")
    };
    assert!(spans.iter().all(ordered));
}

/// What fails is marked, without what was said about it.
#[test]
fn what_fails_is_marked() {
    let collector = Collector::new();
    let main = format!(
        "resource \"local_file\" \"it\" {{\n  filename = \"/dev/null/{CANARY}\"\n  content  = \"{CANARY}\"\n}}\n"
    );
    let sandbox = Sandbox::new()
        .file("main.tf", &main)
        .env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &format!("{}/here", collector.url));
    let outcome = sandbox.run(&["apply", "-auto-approve", "-no-color"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stdout);
    assert!(collector.requests()[0].head.starts_with("post /here "));
    let spans = collector.spans();
    for name in ["groma apply", "apply", "create local_file", "ApplyResourceChange"] {
        assert_eq!(named(&spans, name)[0]["status"]["code"], 2, "{name}: {spans:#?}");
    }
    assert_eq!(attribute(named(&spans, "ApplyResourceChange")[0], "error.type").as_deref(), Some("diagnostics"));
    assert!(!format!("{spans:?}").contains(CANARY), "{spans:#?}");
}

/// Nobody gets spans that are not wanted; who asks for logs gets no spans there.
#[test]
fn spans_are_only_sent_where_they_are_wanted() {
    let collector = Collector::new();
    for (name, value) in
        [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_SAMPLER", "always_off"), ("OTEL_TRACES_EXPORTER", "none")]
    {
        apply(&sandbox(&collector.url).env(name, value));
        assert!(collector.spans().is_empty(), "{name}");
    }
    let sandbox = sandbox(&collector.url).env("TF_LOG", "TRACE");
    let outcome = sandbox.run(&["plan", "-no-color"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(!collector.spans().is_empty() && !outcome.stderr.contains("otel.name"), "{}", outcome.stderr);
    let sandbox = sandbox.env("OTEL_TRACES_SAMPLER", "sometimes");
    let outcome = sandbox.run(&["plan", "-no-color"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("No traces are sent"), "{}", outcome.stderr);
}

/// Whoever takes spans, or does not, keeps no run from its end.
#[test]
fn nothing_depends_on_who_takes_spans() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    apply(&sandbox(&nobody));
    // It takes connections, and never says anything.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let sandbox = sandbox(&format!("http://{}", silent.local_addr().unwrap()));
    let began = now();
    apply(&sandbox);
    assert!(began.elapsed() < Duration::from_secs(9), "its end is not waited for: {:?}", began.elapsed());
}
