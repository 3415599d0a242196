//! Sends spans, from a thread of its own. What cannot be sent is lost: nobody waits for it, and nothing fails because of it.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::ids::hex;
use super::layer::Data;
use super::settings::Settings;

/// So many wait to be sent, and no more.
const MOST_WAITING: usize = 8_192;
/// So many are sent at once.
const MOST_AT_ONCE: usize = 512;
/// How long spans wait for others to be sent with.
const PAUSE: Duration = Duration::from_secs(1);
/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(2);

/// Takes spans that are over.
#[derive(Clone)]
pub(super) struct Queue(SyncSender<Message>);

enum Message {
    Span(Box<Data>),
    /// Everything is to be sent, and who asks told.
    Finish(mpsc::Sender<()>),
}

impl Queue {
    /// Takes a span, if there is room.
    pub(super) fn put(&self, span: Data) {
        let _ = self.0.try_send(Message::Span(Box::new(span)));
    }
}

/// Sends spans.
pub(super) struct Exporter {
    queue: Queue,
}

impl Exporter {
    /// Starts the thread.
    pub(super) fn start(settings: Settings) -> Result<Self, String> {
        let (sender, receiver) = mpsc::sync_channel(MOST_WAITING);
        let builder = std::thread::Builder::new().name("groma-traces".to_owned());
        let failed = |problem: std::io::Error| format!("spans cannot be sent: {problem}");
        builder.spawn(move || work(&settings, &receiver)).map_err(failed)?;
        Ok(Self { queue: Queue(sender) })
    }

    pub(super) fn queue(&self) -> Queue {
        self.queue.clone()
    }

    /// Waits until everything is sent, but not for long.
    pub(super) fn finish(&self, patience: Duration) {
        let (sender, receiver) = mpsc::channel();
        if self.queue.0.try_send(Message::Finish(sender)).is_ok() {
            let _ = receiver.recv_timeout(patience);
        }
    }
}

fn work(settings: &Settings, messages: &Receiver<Message>) {
    // What the thread does itself must make no spans that it would have to send.
    let _silence = tracing::subscriber::set_default(tracing::subscriber::NoSubscriber::default());
    let Some(sender) = Sender::new(settings) else { return };
    let mut waiting = Vec::new();
    loop {
        let message = if waiting.is_empty() {
            messages.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            messages.recv_timeout(PAUSE)
        };
        match message {
            Ok(Message::Span(span)) => {
                waiting.push(encoded(&span));
                if waiting.len() < MOST_AT_ONCE {
                    continue;
                }
                sender.send(std::mem::take(&mut waiting));
            }
            Ok(Message::Finish(told)) => {
                sender.send(std::mem::take(&mut waiting));
                let _ = told.send(());
            }
            Err(RecvTimeoutError::Timeout) => sender.send(std::mem::take(&mut waiting)),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

struct Sender<'s> {
    settings: &'s Settings,
    client: reqwest::Client,
    runtime: tokio::runtime::Runtime,
}

impl<'s> Sender<'s> {
    fn new(settings: &'s Settings) -> Option<Self> {
        // One process has one crypto provider; another client may have set it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
        let client = reqwest::Client::builder()
            .user_agent(concat!("groma/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .timeout(settings.timeout)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .ok()?;
        Some(Self { settings, client, runtime })
    }

    fn send(&self, spans: Vec<Json>) {
        if spans.is_empty() {
            return;
        }
        let mut request = self.client.post(self.settings.endpoint.clone()).header("content-type", "application/json");
        for (name, value) in &self.settings.headers {
            request = request.header(name, value);
        }
        let body = document(self.settings, &spans).to_string();
        // Whoever is not there, or does not like it, gets no more of them. Timers are made with the request, so that is made inside.
        let _ = self.runtime.block_on(async { request.body(body).send().await });
    }
}

fn document(settings: &Settings, spans: &[Json]) -> Json {
    let resource: Vec<Json> = settings.resource.iter().map(|(name, value)| attribute(name, &json!(value))).collect();
    json!({"resourceSpans": [{
        "resource": {"attributes": resource},
        "scopeSpans": [{"scope": {"name": "groma", "version": env!("CARGO_PKG_VERSION")}, "spans": spans}],
    }]})
}

/// A span as OTLP has it in JSON.
fn encoded(span: &Data) -> Json {
    let attributes: Vec<Json> = span.attributes.iter().map(|(name, value)| attribute(name, value)).collect();
    json!({
        "traceId": hex(&span.context.trace),
        "spanId": hex(&span.context.span),
        "parentSpanId": span.parent.map(|id| hex(&id)).unwrap_or_default(),
        "name": span.name,
        // Inside of us, or a question to somebody else.
        "kind": if span.is_client { 3 } else { 1 },
        "startTimeUnixNano": span.began.as_nanos().to_string(),
        "endTimeUnixNano": span.ended.as_nanos().to_string(),
        "attributes": attributes,
        "status": if span.failed { json!({"code": 2}) } else { json!({}) },
    })
}

fn attribute(name: &str, value: &Json) -> Json {
    let value = match value {
        Json::Bool(value) => json!({"boolValue": value}),
        Json::Number(value) => json!({"intValue": value.to_string()}),
        Json::String(value) => json!({"stringValue": value}),
        other => json!({"stringValue": other.to_string()}),
    };
    json!({"key": name, "value": value})
}
