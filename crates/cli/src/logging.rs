//! Logs, for those who ask for them with `TF_LOG`. Nothing is set up otherwise.

use std::fs::OpenOptions;
use std::io;
use std::sync::Mutex;

use groma_run::trace::{FilteredLayer, TARGET};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::env_vars::LogVars;
use crate::failure::Failure;

/// What plugins say is logged under this name.
const PROVIDERS: &str = "groma::plugin";

/// Starts logging, if anybody wants logs, and making spans, if anybody wants those.
pub(crate) fn start(wanted: &LogVars, traces: Option<FilteredLayer>) -> Result<(), Failure> {
    let wants_logs = wanted.all.is_some() || wanted.core.is_some() || wanted.provider.is_some();
    if !wants_logs {
        if let Some(traces) = traces {
            let _ = tracing_subscriber::registry().with(traces).try_init();
        }
        return Ok(());
    }
    let core = level(wanted.core.as_deref().or(wanted.all.as_deref()));
    let provider = level(wanted.provider.as_deref().or(wanted.all.as_deref()));
    // The libraries below us are chatty, and nobody asked about them.
    let filter = Targets::new()
        .with_target("groma", core)
        .with_target(PROVIDERS, provider)
        // Spans are no logs.
        .with_target(TARGET, LevelFilter::OFF);
    let writer = match &wanted.path {
        None => BoxMakeWriter::new(io::stderr),
        Some(path) => {
            let opened = OpenOptions::new().create(true).append(true).open(path);
            let file = opened.map_err(|source| Failure::Write { path: path.clone(), source })?;
            BoxMakeWriter::new(Mutex::new(file))
        }
    };
    let registry = tracing_subscriber::registry().with(traces);
    let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(writer);
    let as_json = [&wanted.all, &wanted.core].into_iter().flatten().any(|value| value.eq_ignore_ascii_case("json"));
    // Starting twice changes nothing.
    let layer = if as_json { layer.json().with_filter(filter).boxed() } else { layer.with_filter(filter).boxed() };
    let _ = registry.with(layer).try_init();
    Ok(())
}

fn level(text: Option<&str>) -> LevelFilter {
    match text.map(str::to_ascii_uppercase).as_deref() {
        None | Some("OFF") => LevelFilter::OFF,
        Some("ERROR") => LevelFilter::ERROR,
        Some("WARN") => LevelFilter::WARN,
        Some("INFO") => LevelFilter::INFO,
        Some("DEBUG") => LevelFilter::DEBUG,
        // As in OpenTofu, anything else means everything.
        Some(_) => LevelFilter::TRACE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_those_that_people_know() {
        assert_eq!(level(None), LevelFilter::OFF);
        assert_eq!(level(Some("warn")), LevelFilter::WARN);
        assert_eq!(level(Some("JSON")), LevelFilter::TRACE);
    }
}
