//! Steps into values: attributes and indexes, as diagnostics name what is wrong with them.

use groma_model::diag::Diagnostic;
use groma_model::value::OpError;
use groma_model::value::Value;
use groma_syntax::ast::{Step, StepKey};

/// Follows steps from a value. Stops at the first that fails.
pub fn walk_steps(value: &Value, steps: &[Step]) -> Result<Value, Diagnostic> {
    let mut current = value.clone();
    for step in steps {
        current = match step {
            Step::Attr { name, span } => get_attr(&current, name).map_err(|error| error.at(*span))?,
            Step::Index { key, span } => index(&current, &key_value(key)).map_err(|error| error.at(*span))?,
        };
    }
    Ok(current)
}

fn key_value(key: &StepKey) -> Value {
    match key {
        StepKey::Number(number) => Value::number(number.clone()),
        StepKey::String(text) => Value::string(text.clone()),
    }
}

/// `object.name`
pub fn get_attr(object: &Value, name: &str) -> Result<Value, Diagnostic> {
    object.get_attr(name).map_err(diagnostic)
}

/// `collection[key]`
pub fn index(collection: &Value, key: &Value) -> Result<Value, Diagnostic> {
    collection.index(key).map_err(diagnostic)
}

/// The diagnostic that an operation's error is.
pub(super) fn diagnostic(error: OpError) -> Diagnostic {
    Diagnostic::error(error.summary(), error.to_string())
}
