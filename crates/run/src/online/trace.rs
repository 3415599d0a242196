//! Traces, for those who ask for them with the variables of OpenTelemetry: spans of commands and Runs, their phases, what is done with each
//! resource, and every call of a provider. They are sent as OTLP over http, by a thread of their own: nothing waits for whoever takes them.
//! Without these variables no span is ever made.
//!
//! Spans are made with `tracing`, under [`TARGET`]; `layer` gives them ids and times, `export` sends them. No values are in them: only
//! addresses, types, actions and kinds of errors.

mod export;
mod ids;
mod layer;
mod settings;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use tracing::Span;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Registry;
use tracing_subscriber::filter::{Filtered, Targets};
use tracing_subscriber::layer::Layer as _;
use tracing_subscriber::registry::LookupSpan as _;

use export::Exporter;
use ids::Context;
pub use layer::SpanLayer;
use settings::Settings;

/// What spans are made under that are sent.
pub const TARGET: &str = "groma::trace";
/// How long the end of a program waits for spans that are not sent yet.
const TO_FLUSH: Duration = Duration::from_secs(2);
/// Whether anybody wants spans.
static WANTED: OnceLock<()> = OnceLock::new();

/// What makes spans of what is going on, for a registry.
pub type FilteredLayer = Filtered<SpanLayer, Targets, Registry>;

/// Spans are sent until this is finished.
pub struct Tracing {
    exporter: Exporter,
    parent: Option<String>,
}

impl Tracing {
    /// As the environment wants it. None if it wants nothing; or what is wrong with it.
    pub fn wanted(environment: &BTreeMap<String, String>) -> Result<Option<(Self, FilteredLayer)>, String> {
        let Some(settings) = Settings::read(environment)? else { return Ok(None) };
        let sampler = settings.sampler;
        let exporter = Exporter::start(settings)?;
        let _ = WANTED.set(());
        let layer = SpanLayer::new(exporter.queue(), sampler);
        let filter = Targets::new().with_target(TARGET, LevelFilter::INFO);
        let parent = environment.get("TRACEPARENT").filter(|text| Context::parse(text).is_some()).cloned();
        Ok(Some((Self { exporter, parent }, layer.with_filter(filter))))
    }

    /// The span of all that a command does.
    pub fn command(&self, name: &str) -> Span {
        let parent = self.parent.as_deref().unwrap_or_default();
        tracing::info_span!(
            target: TARGET, "command", otel.name = format!("groma {name}"), traceparent = parent, groma.command = name,
            otel.status_code = tracing::field::Empty
        )
    }

    /// Sends what is left, as far as that can be done in a moment.
    pub fn finish(self) {
        self.exporter.finish(TO_FLUSH);
    }
}

/// Whether anybody wants spans.
pub fn is_wanted() -> bool {
    WANTED.get().is_some()
}

/// The span that we are in, as others can go on from it (`TRACEPARENT`). None if nobody wants spans.
pub fn traceparent() -> Option<String> {
    traceparent_of(&Span::current())
}

/// The same of another span.
pub fn traceparent_of(span: &Span) -> Option<String> {
    WANTED.get()?;
    span.with_subscriber(|(id, dispatch)| {
        let span = dispatch.downcast_ref::<Registry>()?.span(id)?;
        let found = span.scope().find_map(|span| span.extensions().get::<layer::Data>().map(|data| data.context))?;
        Some(found.to_string())
    })?
}

/// The span of a Run, wherever it is carried out. It goes on from what is written at the Run.
pub fn run(namespace: &str, stack: &str, run: &str, traceparent: &str) -> Span {
    tracing::info_span!(
        target: TARGET, "run", otel.name = "run", traceparent, k8s.namespace.name = namespace, groma.stack = stack, groma.run = run,
        otel.status_code = tracing::field::Empty, error.type = tracing::field::Empty
    )
}

/// The span in which a Run is asked for.
pub fn request(namespace: &str, stack: &str, traceparent: &str) -> Span {
    tracing::info_span!(
        target: TARGET, "request", otel.name = "request run", traceparent, k8s.namespace.name = namespace, groma.stack = stack
    )
}

/// The span of a phase.
pub fn phase(name: &'static str) -> Span {
    tracing::info_span!(target: TARGET, "phase", otel.name = name, otel.status_code = tracing::field::Empty)
}

/// Something of a kind went wrong in what a span is about.
pub fn failed_as(span: &Span, kind: &str) {
    failed(span);
    span.record("error.type", kind);
}

/// Something went wrong in what a span is about.
pub fn failed(span: &Span) {
    span.record("otel.status_code", "ERROR");
}
