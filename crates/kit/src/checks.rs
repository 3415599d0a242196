//! Checks of single attributes, with the messages that users of the published plugins know.

use groma_model::diag::Diagnostic;
use groma_model::path::Path;
use groma_model::value::Value;

use super::object::shown;

fn invalid_value(path: &Path, problem: &str, got: &str) -> Diagnostic {
    let detail = format!("Attribute {} {problem}, got: {got}", shown(path));
    Diagnostic::error("Invalid Attribute Value", detail).at_path(path.clone())
}

/// A number must be at least that large.
pub fn at_least(least: i64) -> impl Fn(&Path, &Value) -> Option<Diagnostic> {
    move |path, value| {
        let number = value.as_number()?;
        let small = number < &least.into();
        small.then(|| invalid_value(path, &format!("value must be at least {least}"), &number.to_string()))
    }
}

/// A number must be between two others.
pub fn between(least: i64, most: i64) -> impl Fn(&Path, &Value) -> Option<Diagnostic> {
    move |path, value| {
        let number = value.as_number()?;
        let outside = number < &least.into() || number > &most.into();
        let problem = format!("value must be between {least} and {most}");
        outside.then(|| invalid_value(path, &problem, &number.to_string()))
    }
}

/// A text must be at least that long, in bytes.
pub fn length_at_least(least: usize) -> impl Fn(&Path, &Value) -> Option<Diagnostic> {
    move |path, value| {
        let length = value.as_str()?.len();
        let problem = format!("string length must be at least {least}");
        let detail = format!("Attribute {} {problem}, got: {length}", shown(path));
        (length < least).then(|| Diagnostic::error("Invalid Attribute Value Length", detail).at_path(path.clone()))
    }
}

/// A text must be one of those.
pub fn one_of(allowed: &'static [&'static str]) -> impl Fn(&Path, &Value) -> Option<Diagnostic> {
    move |path, value| {
        let text = value.as_str()?;
        let list: Vec<String> = allowed.iter().map(|item| format!("{item:?}")).collect();
        let problem = format!("value must be one of: [{}]", list.join(" "));
        let detail = format!("Attribute {} {problem}, got: {text:?}", shown(path));
        let wrong = !allowed.contains(&text);
        wrong.then(|| Diagnostic::error("Invalid Attribute Value Match", detail).at_path(path.clone()))
    }
}

/// A text must pass a test; `problem` says how else.
pub fn matches(
    test: impl Fn(&str) -> bool + Send + Sync,
    problem: &'static str,
) -> impl Fn(&Path, &Value) -> Option<Diagnostic> {
    move |path, value| {
        let text = value.as_str()?;
        let detail = format!("Attribute {} {problem}, got: {text}", shown(path));
        let wrong = !test(text);
        wrong.then(|| Diagnostic::error("Invalid Attribute Value Match", detail).at_path(path.clone()))
    }
}

/// A collection must have at least so many elements.
pub fn size_at_least(least: usize) -> impl Fn(&Path, &Value) -> Option<Diagnostic> {
    move |path, value| {
        let (kind, length) = match value.as_elements() {
            Some(items) => (if value.ty().friendly_name().starts_with("set") { "set" } else { "list" }, items.len()),
            None => ("map", value.as_entries()?.len()),
        };
        let problem = format!("{kind} must contain at least {least} elements");
        (length < least).then(|| invalid_value(path, &problem, &length.to_string()))
    }
}
