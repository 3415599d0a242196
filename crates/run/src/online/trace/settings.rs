//! What the variables of OpenTelemetry say.

use std::collections::BTreeMap;
use std::time::Duration;

use super::ids::Context;

/// How spans are sent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Settings {
    pub(super) endpoint: url::Url,
    /// May be secret.
    pub(super) headers: Vec<(String, String)>,
    pub(super) timeout: Duration,
    pub(super) resource: BTreeMap<String, String>,
    pub(super) sampler: Sampler,
}

/// Which traces are sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sampler {
    /// Whether who began a trace has decided already.
    parent_decides: bool,
    /// Which part of all traces, otherwise.
    ratio: f64,
}

impl Sampler {
    /// Whether a trace is sent that begins here, or goes on from elsewhere.
    pub(super) fn decides(self, trace: &[u8; 16], parent: Option<Context>) -> bool {
        if let Some(parent) = parent.filter(|_| self.parent_decides) {
            return parent.sampled;
        }
        // Everybody who sees the id decides the same.
        let drawn = trace[9..].iter().fold(0u64, |drawn, byte| drawn << 8 | u64::from(*byte));
        (drawn as f64) < self.ratio * (1u64 << 56) as f64
    }
}

impl Settings {
    /// None if no spans are wanted; or what is wrong.
    pub(super) fn read(environment: &BTreeMap<String, String>) -> Result<Option<Self>, String> {
        let variable = |name: &str| environment.get(name).map(|text| text.trim()).filter(|text| !text.is_empty());
        let traces = |name: &str| {
            variable(&format!("OTEL_EXPORTER_OTLP_TRACES_{name}"))
                .or_else(|| variable(&format!("OTEL_EXPORTER_OTLP_{name}")))
        };
        let is_off = variable("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true"))
            || variable("OTEL_TRACES_EXPORTER") == Some("none");
        let endpoint = match (variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), variable("OTEL_EXPORTER_OTLP_ENDPOINT")) {
            _ if is_off => return Ok(None),
            (Some(whole), _) => whole.to_owned(),
            (None, Some(base)) => format!("{}/v1/traces", base.trim_end_matches('/')),
            (None, None) => return Ok(None),
        };
        if traces("PROTOCOL") == Some("grpc") {
            return Err("spans are sent over http only: set OTEL_EXPORTER_OTLP_PROTOCOL to http/json".to_owned());
        }
        let wrong = || "OTEL_EXPORTER_OTLP_ENDPOINT is no http address".to_owned();
        let endpoint = url::Url::parse(&endpoint).map_err(|_| wrong())?;
        if !matches!(endpoint.scheme(), "http" | "https") {
            return Err(wrong());
        }
        let timeout = traces("TIMEOUT").and_then(|text| text.parse().ok()).unwrap_or(10_000);
        let mut resource: BTreeMap<String, String> =
            variable("OTEL_RESOURCE_ATTRIBUTES").map(pairs).unwrap_or_default().into_iter().collect();
        resource.entry("service.version".to_owned()).or_insert_with(|| env!("CARGO_PKG_VERSION").to_owned());
        match variable("OTEL_SERVICE_NAME") {
            Some(name) => resource.insert("service.name".to_owned(), name.to_owned()),
            None => resource.insert(
                "service.name".to_owned(),
                resource.get("service.name").cloned().unwrap_or_else(|| "groma".to_owned()),
            ),
        };
        Ok(Some(Self {
            endpoint,
            headers: traces("HEADERS").map(pairs).unwrap_or_default(),
            timeout: Duration::from_millis(timeout),
            resource,
            sampler: sampler(variable("OTEL_TRACES_SAMPLER"), variable("OTEL_TRACES_SAMPLER_ARG"))?,
        }))
    }
}

fn sampler(name: Option<&str>, argument: Option<&str>) -> Result<Sampler, String> {
    let name = name.unwrap_or("parentbased_always_on");
    let (parent_decides, kind) = match name.strip_prefix("parentbased_") {
        Some(kind) => (true, kind),
        None => (false, name),
    };
    let ratio = match kind {
        "always_on" => 1.0,
        "always_off" => 0.0,
        "traceidratio" => argument
            .map_or(Ok(1.0), str::parse)
            .ok()
            .filter(|ratio| (0.0..=1.0).contains(ratio))
            .ok_or("OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1")?,
        _ => return Err(format!("OTEL_TRACES_SAMPLER: there is no sampler {name:?}")),
    };
    Ok(Sampler { parent_decides, ratio })
}

/// `key=value,key=value`, with `%20` and the like for what cannot be written. What is no pair is passed over.
fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |text: &str| {
        let (name, value) = text.split_once('=')?;
        let name = decoded(name.trim());
        (!name.is_empty()).then(|| (name, decoded(value.trim())))
    };
    text.split(',').filter_map(pair).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        let escaped = more.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &more[2..];
        } else {
            bytes.push(*first);
            rest = more;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
