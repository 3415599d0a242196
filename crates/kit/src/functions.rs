//! Signatures of functions in few words.

use groma_model::schema::{Description, FunctionSignature, Parameter, TextKind};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_provider::api::FunctionError;

/// A function without parameters yet. The description is Markdown, or as it is.
pub fn signature(returns: Type, summary: &str, description: &str, kind: TextKind) -> FunctionSignature {
    FunctionSignature {
        parameters: Vec::new(),
        variadic: None,
        returns,
        summary: summary.to_owned(),
        description: Description { text: description.to_owned(), kind },
        deprecation_message: None,
    }
}

/// A parameter that takes neither null nor unknown values.
pub fn parameter(name: &str, ty: Type, description: &str, kind: TextKind) -> Parameter {
    Parameter {
        name: Str::from(name),
        ty,
        allow_null: false,
        allow_unknown: false,
        description: Description { text: description.to_owned(), kind },
    }
}

/// An error that blames an argument.
pub fn argument_error(argument: usize, text: impl Into<String>) -> FunctionError {
    FunctionError { text: text.into(), argument: Some(argument) }
}
