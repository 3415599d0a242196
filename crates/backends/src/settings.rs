//! Reading the settings of a backend: from its block, else from the environment, else a default. What they mean is for the
//! backends.

use std::collections::BTreeMap;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::{Attribute, Block, Description};
use groma_model::ty::Type;
use groma_model::value::Value;

use crate::Surroundings;

/// The schema of an argument that may be left out.
pub(crate) fn optional(ty: Type, text: &str) -> Attribute {
    let description = Description { text: text.to_owned(), ..Description::default() };
    Attribute { optional: true, description, ..Attribute::of_type(ty) }
}

/// The same, for what must not be shown.
pub(crate) fn secret(text: &str) -> Attribute {
    Attribute { sensitive: true, ..optional(Type::String, text) }
}

/// A block of arguments.
pub(crate) fn block(attributes: Vec<(&str, Attribute)>) -> Block {
    let attributes = attributes.into_iter().map(|(name, attribute)| (name.into(), attribute)).collect();
    Block { attributes, ..Block::default() }
}

/// A setting that is wrong.
pub(crate) fn invalid(name: &str, detail: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::error("Invalid backend configuration", format!("The value of \"{name}\" cannot be used: {detail}."))
}

/// What stands in a block, and what is around it.
pub(crate) struct Settings<'a> {
    values: &'a Value,
    surroundings: Option<&'a Surroundings>,
    /// What was found to be wrong.
    pub(crate) wrong: Diagnostics,
}

impl<'a> Settings<'a> {
    /// Of a backend.
    pub(crate) fn new(values: &'a Value, surroundings: &'a Surroundings) -> Self {
        Self { values, surroundings: Some(surroundings), wrong: Diagnostics::new() }
    }

    /// Of a block inside, for which nothing stands in the environment.
    pub(crate) fn inner(values: &'a Value) -> Self {
        Self { values, surroundings: None, wrong: Diagnostics::new() }
    }

    /// The value as it is given. None if it is not, or null.
    pub(crate) fn given(&self, name: &str) -> Option<&'a Value> {
        self.values.as_entries()?.get(name).filter(|value| !value.is_null() && value.is_known())
    }

    fn variable(&self, variable: &str) -> Option<String> {
        let surroundings = self.surroundings.filter(|_| !variable.is_empty())?;
        (surroundings.variable)(variable).filter(|value| !value.is_empty())
    }

    /// A text that is not empty, from the block or a variable.
    pub(crate) fn text(&self, name: &str, variable: &str) -> Option<String> {
        let given = self.given(name).and_then(Value::as_str);
        // What is given as empty is given, and hides the variable, but says nothing.
        let text = given.map(str::to_owned).or_else(|| self.variable(variable));
        text.filter(|text| !text.is_empty())
    }

    /// A text that there must be. Empty, and an error, if there is none.
    pub(crate) fn required(&mut self, name: &str, variable: &str) -> String {
        self.text(name, variable).unwrap_or_else(|| {
            let mut missing = Diagnostic::error(
                "Missing required argument",
                format!("The argument \"{name}\" is required, but no definition was found."),
            );
            if !variable.is_empty() {
                missing = missing.hint(format!("It can also be set by the environment variable {variable}."));
            }
            self.wrong.push(missing);
            String::new()
        })
    }

    /// Yes or no.
    pub(crate) fn flag(&mut self, name: &str, variable: &str, default: bool) -> bool {
        if let Some(given) = self.given(name).and_then(Value::as_bool) {
            return given;
        }
        match self.variable(variable).as_deref() {
            None => default,
            Some("1" | "t" | "T" | "true" | "TRUE" | "True") => true,
            Some("0" | "f" | "F" | "false" | "FALSE" | "False") => false,
            Some(other) => {
                self.wrong.push(invalid(name, format!("{variable} is {other:?}, which is neither true nor false")));
                default
            }
        }
    }

    /// A count.
    pub(crate) fn count(&mut self, name: &str, variable: &str, default: u64) -> u64 {
        if let Some(given) = self.given(name).and_then(Value::as_number) {
            return given.to_u64().unwrap_or_else(|| {
                self.wrong.push(invalid(name, "it must be a whole number that is not negative"));
                default
            });
        }
        let Some(text) = self.variable(variable) else { return default };
        text.parse().unwrap_or_else(|_| {
            self.wrong.push(invalid(name, format!("{variable} is {text:?}, which is no whole number")));
            default
        })
    }

    /// Texts by name.
    pub(crate) fn texts_by_name(&self, name: &str) -> BTreeMap<String, String> {
        let entries = self.given(name).and_then(Value::as_entries);
        let text = |(key, value): (&_, &Value)| Some((ToString::to_string(key), value.as_str()?.to_owned()));
        entries.map(|entries| entries.iter().filter_map(text).collect()).unwrap_or_default()
    }

    /// Texts in order. Null counts as empty.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let elements = self.given(name).and_then(Value::as_elements).unwrap_or_default();
        elements.iter().map(|element| element.as_str().unwrap_or_default().to_owned()).collect()
    }
}
