//! Spans of `tracing` as spans that are sent: ids, times, attributes.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value as Json, json};
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context as Around, Layer};
use tracing_subscriber::registry::LookupSpan;

use super::export::Queue;
use super::ids::Context;
use super::settings::Sampler;

/// Makes spans of what is going on.
pub struct SpanLayer {
    queue: Queue,
    sampler: Sampler,
}

impl SpanLayer {
    pub(super) fn new(queue: Queue, sampler: Sampler) -> Self {
        Self { queue, sampler }
    }
}

/// What is known of a span.
#[derive(Debug)]
pub(super) struct Data {
    pub(super) context: Context,
    pub(super) parent: Option<[u8; 8]>,
    pub(super) name: String,
    pub(super) began: Duration,
    pub(super) ended: Duration,
    pub(super) attributes: Vec<(&'static str, Json)>,
    pub(super) failed: bool,
    pub(super) is_client: bool,
}

/// Reads fields. Some have a meaning of their own.
#[derive(Default)]
struct Fields {
    name: Option<String>,
    parent: Option<Context>,
    failed: bool,
    is_client: bool,
    attributes: Vec<(&'static str, Json)>,
}

impl Fields {
    fn take(&mut self, field: &Field, value: Json) {
        match (field.name(), value.as_str()) {
            ("otel.name", Some(name)) => self.name = Some(name.to_owned()),
            ("otel.kind", Some(kind)) => self.is_client = kind == "client",
            ("otel.status_code", Some(code)) => self.failed = code == "ERROR",
            ("traceparent", Some(text)) => self.parent = Context::parse(text),
            (name, _) => self.attributes.push((name, value)),
        }
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.take(field, json!(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.take(field, json!(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.take(field, json!(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.take(field, json!(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.take(field, json!(format!("{value:?}")));
    }
}

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for SpanLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, around: Around<'_, S>) {
        let Some(span) = around.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let around = span.parent().and_then(|parent| parent.extensions().get::<Data>().map(|data| data.context));
        let (context, parent) = match (around, fields.parent) {
            // What is said from outside counts where a trace begins, and in the midst of one if it is said there.
            (_, Some(parent)) => {
                let sampled = self.sampler.decides(&parent.trace, Some(parent));
                (parent.child().map(|child| Context { sampled, ..child }), Some(parent.span))
            }
            (Some(parent), None) => (parent.child(), Some(parent.span)),
            (None, None) => {
                let root = Context::root();
                (root.map(|root| Context { sampled: self.sampler.decides(&root.trace, None), ..root }), None)
            }
        };
        let Some(context) = context else { return };
        span.extensions_mut().insert(Data {
            context,
            parent,
            name: fields.name.unwrap_or_else(|| attributes.metadata().name().to_owned()),
            began: now(),
            ended: Duration::ZERO,
            attributes: fields.attributes,
            failed: fields.failed,
            is_client: fields.is_client,
        });
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, around: Around<'_, S>) {
        let Some(span) = around.span(id) else { return };
        let mut fields = Fields::default();
        values.record(&mut fields);
        if let Some(data) = span.extensions_mut().get_mut::<Data>() {
            data.failed |= fields.failed;
            data.attributes.extend(fields.attributes);
        }
    }

    fn on_close(&self, id: Id, around: Around<'_, S>) {
        let Some(mut data) = around.span(&id).and_then(|span| span.extensions_mut().remove::<Data>()) else { return };
        if data.context.sampled {
            data.ended = now();
            self.queue.put(data);
        }
    }
}

/// Since 1970.
fn now() -> Duration {
    #[expect(clippy::disallowed_methods, reason = "spans say when they were")]
    let now = SystemTime::now();
    now.duration_since(UNIX_EPOCH).unwrap_or_default()
}
