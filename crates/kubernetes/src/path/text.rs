//! Paths as text, and back. Each text stands for one path.

use std::fmt;
use std::str::FromStr;

use super::{FieldPath, Literal, Step};
use crate::Json;

/// A text that is not the text of a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the text of a path")]
pub(crate) struct NoFieldPath(String);

impl fmt::Display for FieldPath {
    /// `spec.template.spec.containers[name=nginx].image`, `data["app.conf"]`, `finalizers[="x"]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Field(name) if is_name(name) => write!(f, "{}{name}", if at == 0 { "" } else { "." })?,
                Step::Field(name) => write!(f, "[{}]", quoted(name))?,
                Step::Key(keys) => write!(f, "[{}]", keys.iter().map(key_text).collect::<Vec<_>>().join(","))?,
                Step::Value(value) => write!(f, "[={}]", value.as_str())?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

fn key_text((name, value): &(String, Literal)) -> String {
    let name = if is_name(name) { name.clone() } else { quoted(name) };
    match value.json() {
        Json::String(text) if is_bare(&text) => format!("{name}={text}"),
        _ => format!("{name}={}", value.as_str()),
    }
}

fn quoted(text: &str) -> String {
    Json::String(text.to_owned()).to_string()
}

/// A name that needs no quotes.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// A text that needs no quotes as the value of a key: nothing that could be JSON or the end of the step.
fn is_bare(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphabetic() || "_./".contains(c))
        && text.chars().all(plain)
        && !matches!(text, "true" | "false" | "null")
}

impl FromStr for FieldPath {
    type Err = NoFieldPath;

    fn from_str(text: &str) -> Result<Self, NoFieldPath> {
        let path = parse(text).ok_or_else(|| NoFieldPath(text.to_owned()))?;
        // Only the text that a path has is read, so that equal paths always have equal texts.
        if path.to_string() == text { Ok(path) } else { Err(NoFieldPath(text.to_owned())) }
    }
}

fn parse(text: &str) -> Option<FieldPath> {
    let mut steps = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let step;
        (step, rest) = if let Some(inner) = rest.strip_prefix('[') {
            let (step, after) = bracket(inner)?;
            (step, after.strip_prefix(']')?)
        } else {
            let named = if steps.is_empty() { rest } else { rest.strip_prefix('.')? };
            let (name, after) = named.split_at(named.find(['.', '[']).unwrap_or(named.len()));
            (Step::Field(name.to_owned()), after)
        };
        steps.push(step);
    }
    Some(FieldPath(steps))
}

/// What is in brackets, and what comes after it.
fn bracket(inner: &str) -> Option<(Step, &str)> {
    if let Some(value) = inner.strip_prefix('=') {
        let (value, rest) = Literal::read(value)?;
        return Some((Step::Value(value), rest));
    }
    if inner.starts_with(|c: char| c.is_ascii_digit()) {
        let (digits, rest) = inner.split_at(inner.find(']')?);
        return Some((Step::Index(digits.parse().ok()?), rest));
    }
    if inner.starts_with('"') {
        let (name, rest) = quoted_name(inner)?;
        if rest.starts_with(']') {
            return Some((Step::Field(name), rest));
        }
    }
    keys(inner)
}

fn keys(inner: &str) -> Option<(Step, &str)> {
    let mut found = Vec::new();
    let mut rest = inner;
    while !rest.starts_with(']') {
        if !found.is_empty() {
            rest = rest.strip_prefix(',')?;
        }
        let name;
        (name, rest) = if rest.starts_with('"') {
            quoted_name(rest)?
        } else {
            let (name, rest) = rest.split_at(rest.find('=')?);
            (name.to_owned(), rest)
        };
        rest = rest.strip_prefix('=')?;
        let end = rest.find([',', ']'])?;
        let (bare, after) = rest.split_at(end);
        let value;
        (value, rest) = if is_bare(bare) { (Literal::text(bare), after) } else { Literal::read(rest)? };
        found.push((name, value));
    }
    Some((Step::Key(found), rest))
}

/// The text in quotes that a text begins with, and what comes after it.
fn quoted_name(text: &str) -> Option<(String, &str)> {
    let (name, rest) = Literal::read(text)?;
    Some((name.json().as_str()?.to_owned(), rest))
}
