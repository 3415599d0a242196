//! What the environment says, and what is sent.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::Value as Json;
use tracing_subscriber::layer::SubscriberExt as _;

use super::ids::Context;
use super::settings::Settings;
use super::*;

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn contexts_go_round() {
    assert_eq!(Context::parse(PARENT).unwrap().to_string(), PARENT);
    let wrong = [
        "",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    ];
    for text in wrong {
        assert_eq!(Context::parse(text), None, "{text}");
    }
}

#[test]
fn nothing_is_wanted_unless_somebody_says_where_to() {
    let at = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318/");
    for none in [
        &[][..],
        &[at, ("OTEL_SDK_DISABLED", "true")],
        &[at, ("OTEL_TRACES_EXPORTER", "none")],
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")],
    ] {
        assert_eq!(Settings::read(&environment(none)).unwrap(), None, "{none:?}");
    }
    let found = Settings::read(&environment(&[at])).unwrap().unwrap();
    assert_eq!(found.endpoint.as_str(), "http://localhost:4318/v1/traces");
    assert_eq!(found.resource["service.name"], "groma");
    for wrong in [
        ("OTEL_TRACES_SAMPLER", "some"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "file:///x"),
    ] {
        assert!(Settings::read(&environment(&[at, wrong])).is_err(), "{wrong:?}");
    }
}

#[test]
fn all_that_is_said_counts() {
    let found = Settings::read(&environment(&[
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://example.com/traces"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x, a = b ,none"),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=one,team=a%2Cb"),
        ("OTEL_SERVICE_NAME", "two"),
    ]));
    let found = found.unwrap().unwrap();
    assert_eq!(found.endpoint.as_str(), "https://example.com/traces");
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(found.headers, [header("authorization", "Bearer x"), header("a", "b")]);
    assert_eq!((found.resource["service.name"].as_str(), found.resource["team"].as_str()), ("two", "a,b"));
}

#[test]
fn some_traces_are_sent_and_others_are_not() {
    let sampler = |name: &str, argument: &str| {
        let all = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://x"),
            ("OTEL_TRACES_SAMPLER", name),
            ("OTEL_TRACES_SAMPLER_ARG", argument),
        ];
        Settings::read(&environment(&all)).unwrap().unwrap().sampler
    };
    let (parent, trace) = (Context::parse(PARENT).unwrap(), [7; 16]);
    let unsampled = Context { sampled: false, ..parent };
    for (name, argument, alone, below, below_unsampled) in [
        ("always_on", "", true, true, true),
        ("always_off", "", false, false, false),
        ("parentbased_always_on", "", true, true, false),
        ("parentbased_always_off", "", false, true, false),
        ("traceidratio", "0", false, false, false),
        ("traceidratio", "1", true, true, true),
        ("parentbased_traceidratio", "0", false, true, false),
    ] {
        let sampler = sampler(name, argument);
        let decided = (
            sampler.decides(&trace, None),
            sampler.decides(&trace, Some(parent)),
            sampler.decides(&trace, Some(unsampled)),
        );
        assert_eq!(decided, (alone, below, below_unsampled), "{name} {argument}");
    }
    let half = sampler("traceidratio", "0.5");
    let sent = (0..=255u8).filter(|byte| half.decides(&[*byte; 16], None)).count();
    assert_eq!(sent, 128);
}

/// Takes one request, and gives what was in it.
fn take_one(listener: &TcpListener) -> (String, Json) {
    let (mut stream, _) = listener.accept().unwrap();
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let count = stream.read(&mut piece).unwrap();
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length =
            head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}").unwrap();
            return (head.to_owned(), serde_json::from_str(body).unwrap());
        }
    }
}

#[test]
fn spans_are_sent_with_those_that_they_belong_to() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let all = environment(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-team=a"),
        ("TRACEPARENT", PARENT),
    ]);
    let (tracing, layer) = Tracing::wanted(&all).unwrap().unwrap();
    let taking = std::thread::spawn(move || take_one(&listener));
    let mut inner = None;
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
        let command = tracing.command("plan");
        command.in_scope(|| {
            let phase = phase("plan");
            inner = traceparent_of(&phase);
            failed(&phase);
            // What others say is nobody's business.
            tracing::info_span!("other", secret = "word").in_scope(|| ());
        });
    });
    tracing.finish();
    let (head, sent) = taking.join().unwrap();
    assert!(head.starts_with("POST /v1/traces ") && head.to_ascii_lowercase().contains("x-team: a"), "{head}");
    let spans = sent["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    assert_eq!(spans.len(), 2, "{sent}");
    let (phase, command) = (&spans[0], &spans[1]);
    assert_eq!((&phase["name"], &command["name"]), (&"plan".into(), &"groma plan".into()));
    assert_eq!((&command["traceId"], &command["parentSpanId"]), (&PARENT[3..35].into(), &PARENT[36..52].into()));
    assert_eq!((&phase["traceId"], &phase["parentSpanId"]), (&command["traceId"], &command["spanId"]));
    assert_eq!((&phase["status"]["code"], &command["status"]["code"]), (&2.into(), &Json::Null));
    let inner = Context::parse(&inner.unwrap()).unwrap();
    assert_eq!(phase["spanId"], super::ids::hex(&inner.span));
}
