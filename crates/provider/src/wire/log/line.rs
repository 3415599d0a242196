//! One line of a plugin's log.

use serde_json::{Map, Value};

/// How serious a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::wire) enum Level {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

/// A line, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) level: Level,
    pub(super) message: String,
    /// Which part of the plugin wrote it.
    pub(super) module: Option<String>,
    /// Everything else that was said, `name=value`, in the order given.
    pub(super) fields: Option<String>,
    /// Whether it was written by a logger.
    pub(super) structured: bool,
    /// Whether this and what follows is the end of the process.
    pub(super) starts_panic: bool,
}

/// How far into a line a level like `[WARN]` may stand, after date and time.
const LEVEL_WITHIN: usize = 48;

/// Keys of the logger itself that are not shown as fields.
const OWN_KEYS: [&str; 5] = ["@level", "@message", "@module", "@timestamp", "@caller"];

impl Line {
    /// The line for people, without anything that a terminal would obey.
    pub(super) fn shown(&self) -> String {
        let mut text = String::new();
        if self.structured {
            text.push_str(self.level.name());
            text.push_str(": ");
        }
        text.push_str(&self.message);
        if let Some(fields) = &self.fields {
            text.push_str(": ");
            text.push_str(fields);
        }
        text.chars().map(|char| if char.is_control() && char != '\t' { ' ' } else { char }).collect()
    }
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::Trace => "TRACE",
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
        }
    }

    /// The level of this name, in any case.
    pub(in crate::wire) fn parse(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "trace" => Some(Self::Trace),
            "debug" => Some(Self::Debug),
            "info" => Some(Self::Info),
            "warn" | "warning" => Some(Self::Warn),
            "error" | "err" => Some(Self::Error),
            _ => None,
        }
    }
}

/// Understands a line.
pub(super) fn parse(text: &str) -> Line {
    structured(text).unwrap_or_else(|| plain(text))
}

fn structured(text: &str) -> Option<Line> {
    if !text.starts_with('{') {
        return None;
    }
    let mut entry: Map<String, Value> = serde_json::from_str(text).ok()?;
    let message = entry.get("@message")?.as_str()?.to_owned();
    let level = entry.get("@level").and_then(Value::as_str).and_then(Level::parse).unwrap_or(Level::Debug);
    let module = entry.get("@module").and_then(Value::as_str).map(str::to_owned);
    entry.retain(|key, _| !OWN_KEYS.contains(&key.as_str()));
    let fields: Vec<String> = entry.iter().map(|(name, value)| format!("{name}={}", field(value))).collect();
    let fields = (!fields.is_empty()).then(|| fields.join(" "));
    Some(Line { level, message, module, fields, structured: true, starts_panic: false })
}

fn field(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() && !text.contains([' ', '"', '=']) => text.clone(),
        other => other.to_string(),
    }
}

fn plain(text: &str) -> Line {
    let starts_panic = is_panic(text);
    let level = if starts_panic { Level::Error } else { tagged_level(text).unwrap_or(Level::Debug) };
    Line { level, message: text.to_owned(), module: None, fields: None, structured: false, starts_panic }
}

/// The level in a line like `2024/01/31 10:00:00 [WARN] text`.
fn tagged_level(text: &str) -> Option<Level> {
    let (before, rest) = text.split_once('[')?;
    let (name, _) = rest.split_once(']')?;
    if before.len() > LEVEL_WITHIN { None } else { Level::parse(name.trim()) }
}

/// How Go and Rust programs begin their last words.
fn is_panic(text: &str) -> bool {
    text.starts_with("panic: ")
        || text.starts_with("fatal error: ")
        || text.starts_with("runtime: out of memory")
        || (text.starts_with("thread '") && text.contains("panicked at"))
}
