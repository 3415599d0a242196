//! The log of a plugin: lines of JSON on the standard error, which hosts understand and show at their levels.

use std::fmt;
use std::io::Write as _;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::{Layer, Registry};

/// Libraries that talk too much about every byte.
const TALKATIVE: [&str; 6] = ["h2", "hyper", "hyper_util", "rustls", "tonic", "tower"];

/// Sends events to the host. Hosts add the time themselves.
#[derive(Debug, Clone, Copy, Default)]
pub struct HostLog;

impl HostLog {
    /// Makes it the log of this process, unless there is one.
    pub fn install() {
        let _ = tracing::subscriber::set_global_default(Registry::default().with(Self));
    }
}

impl<S: Subscriber> Layer<S> for HostLog {
    fn enabled(&self, metadata: &tracing::Metadata<'_>, _: Context<'_, S>) -> bool {
        let library = metadata.target().split("::").next().unwrap_or_default();
        *metadata.level() <= Level::WARN || !TALKATIVE.contains(&library)
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        // One write, so that lines of several threads do not mix. Nobody can be told if it fails.
        let _ = std::io::stderr().write_all(line(event).as_bytes());
    }
}

fn line(event: &Event<'_>) -> String {
    let mut fields = Fields(Map::new());
    event.record(&mut fields);
    let mut entry = Map::new();
    entry.insert("@level".to_owned(), event.metadata().level().as_str().to_ascii_lowercase().into());
    entry.insert("@message".to_owned(), fields.0.remove("message").unwrap_or_default());
    entry.insert("@module".to_owned(), event.metadata().target().replace("::", ".").into());
    entry.extend(fields.0);
    format!("{}\n", Value::Object(entry))
}

struct Fields(Map<String, Value>);

impl Fields {
    fn add(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, value);
    }
}
