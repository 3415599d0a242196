//! Configurations that are templates: `main.tf.tpl`, as Go's `text/template` has them, with values that can never become anything but
//! values. What a value is written as depends on where it stands (`context`): inside of a quoted text it is escaped, elsewhere it is a
//! literal. So no value can end a text, begin a block or call a function.

mod context;
mod parse;
pub(crate) mod placeholders;
mod render;
#[cfg(test)]
mod tests;

use serde_json::Value as Json;

/// What is wrong with a template, and in which line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct TemplateError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: String,
}

impl TemplateError {
    fn new(line: usize, problem: impl Into<String>) -> Self {
        Self { line, problem: problem.into() }
    }
}

/// No text that comes of a template is longer than that.
const MOST_BYTES: usize = 4 << 20;
/// And none takes more steps.
const MOST_STEPS: usize = 100_000;

/// The text that comes of a template with `data` for `.`.
pub fn render(template: &str, data: &Json) -> Result<String, TemplateError> {
    let nodes = parse::parse(template)?;
    render::render(&nodes, data)
}
