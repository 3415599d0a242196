//! Type constraints: `list(string)`, `object({a = optional(number, 1)})`, read from expressions that are never evaluated.
//!
//! Defaults of optional attributes are kept beside the type ([`Defaults`]); they are applied before a value is converted.

mod defaults;
mod parse;
#[cfg(test)]
mod tests;
mod text;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_syntax::ast::Expr;

pub use defaults::Defaults;
pub use text::type_text;

use parse::{Parser, Rules};

/// A type constraint and the defaults of its optional attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeConstraint {
    /// The type, with its optional attributes.
    pub ty: Type,
    /// Defaults, if it has any.
    pub defaults: Option<Defaults>,
}

impl TypeConstraint {
    /// Any type, without defaults.
    pub fn any() -> Self {
        Self { ty: Type::Dynamic, defaults: None }
    }
}

/// Reads a constraint whose optional attributes have no defaults.
pub fn type_constraint(expr: &Expr) -> Result<Type, Diagnostics> {
    read(expr, Rules::Constraint).map(|constraint| constraint.ty)
}

/// Reads a constraint whose optional attributes may have defaults.
pub fn type_constraint_with_defaults(expr: &Expr) -> Result<TypeConstraint, Diagnostics> {
    read(expr, Rules::ConstraintWithDefaults)
}

/// Reads an exact type: without `any` and `optional`.
pub fn exact_type(expr: &Expr) -> Result<Type, Diagnostics> {
    read(expr, Rules::Exact).map(|constraint| constraint.ty)
}

fn read(expr: &Expr, rules: Rules) -> Result<TypeConstraint, Diagnostics> {
    let mut parser = Parser::new(rules);
    let constraint = parser.read(expr);
    if parser.diagnostics.has_errors() { Err(parser.diagnostics) } else { Ok(constraint) }
}

/// Reads the type of a variable: a constraint with defaults, or one of the old forms `list` and `map`.
pub fn variable_type(expr: &Expr) -> Result<TypeConstraint, Diagnostics> {
    if expr.is_native_string() {
        return Err(quoted(expr).at(expr.span).into());
    }
    match expr.as_keyword().as_deref() {
        Some("list") => Ok(TypeConstraint { ty: Type::list(Type::Dynamic), defaults: None }),
        Some("map") => Ok(TypeConstraint { ty: Type::map(Type::Dynamic), defaults: None }),
        _ => type_constraint_with_defaults(expr),
    }
}

/// Before version 0.12 types were written in quotes.
fn quoted(expr: &Expr) -> Diagnostic {
    let advice = match expr.as_constant_str().as_deref() {
        Some("string") => "Remove the quotes around \"string\".",
        Some("list") => {
            "Remove the quotes around \"list\" and write list(string) instead to explicitly indicate that the list \
             elements are strings."
        }
        Some("map") => {
            "Remove the quotes around \"map\" and write map(string) instead to explicitly indicate that the map \
             elements are strings."
        }
        _ => {
            return Diagnostic::error(
                "Invalid legacy variable type hint",
                "To provide a full type expression, remove the surrounding quotes and give the type expression \
                 directly.",
            );
        }
    };
    let detail = format!("Type constraints were written in quotes before version 0.12; that form is gone. {advice}");
    Diagnostic::error("Invalid quoted type constraints", detail)
}
