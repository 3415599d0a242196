//! Evaluation: how an expression becomes a value. What names mean is asked of a [`Scope`]; each kind of expression has its submodule.
//!
//! Evaluation never stops at the first error: a part that fails is worth an unknown value, and the rest is evaluated for
//! what else is wrong with it.

mod call;
mod conditional;
mod constructors;
mod for_expr;
mod interpreter;
mod limits;
mod mismatch;
mod notes;
mod operators;
mod render;
mod scopes;
mod special;
mod splat;
mod template;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod traverse;

use std::path::Path;
use std::sync::Arc;

use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_syntax::ast::{Expr, Traversal};

use crate::deprecation;
use crate::environment::Environment;
use crate::func::{ExternalFunction, Function};

pub use limits::{MAX_DEPTH, MAX_NODES, MAX_TEXT, oversize};
pub use notes::{Cause, describe, value_notes};
pub use scopes::{Bound, EmptyScope, FunctionScope, MapScope};
pub use traverse::{get_attr, index, walk_steps};

/// What the names in an expression mean.
pub trait Scope {
    /// Resolves the root of a reference and as many of its leading steps as the scope knows about: `var.a` is the root
    /// and one step, `aws_x.y[0]` may be the root and two. The remaining steps are applied to the value.
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostics>;

    /// Whether references are checked before anything is evaluated. Then an error of [`Scope::resolve`] cannot be caught
    /// by `try` or hidden in a branch that is not taken, as it is about the configuration and not about its values.
    fn checks_references_first(&self) -> bool {
        true
    }

    /// Whether it is an error to divide by zero. In configurations it gives infinity, as for everybody.
    fn refuses_division_by_zero(&self) -> bool {
        false
    }

    /// Finds a function by the name it is called by.
    fn function(&self, name: &str) -> FunctionLookup<'_>;

    /// The names of all functions, to find the one that was meant.
    fn function_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// A place as messages name it, `main.tf:3,5-12`. None if the scope does not know the texts.
    fn place(&self, span: Span) -> Option<String> {
        let _ = span;
        None
    }

    /// What functions may use. None where functions cannot be called.
    fn call_settings(&self) -> Option<CallSettings<'_>>;
}

/// What a reference means, as far as the scope knows.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// The value.
    pub value: Value,
    /// How many steps behind the root lead to that value.
    pub steps_used: usize,
}

/// What was found under the name of a function.
pub enum FunctionLookup<'a> {
    /// A function of the language.
    Core(&'a Function),
    /// A function of a provider.
    External(Arc<ExternalFunction>),
    /// Nothing.
    Unknown,
    /// Something that exists but cannot be called, with the reason.
    Refused(Box<Diagnostic>),
    /// There are no functions in this place at all.
    NotAllowed,
}

/// What functions may use besides their arguments.
#[derive(Clone, Copy)]
pub struct CallSettings<'a> {
    /// Files, time, randomness.
    pub environment: &'a dyn Environment,
    /// Where relative paths of file functions start.
    pub base_dir: &'a Path,
    /// When the plan was made; unknown if there is no plan.
    pub plan_time: Option<(i64, u32)>,
    /// Whether functions that give something else each time (`uuid`) are put off: their results are unknown.
    pub pure_only: bool,
}

/// Evaluates an expression. The value is unknown where an error was found. Whether it comes from something deprecated is told,
/// and does not matter any more after that.
pub fn evaluate(expr: &Expr, scope: &dyn Scope) -> (Value, Diagnostics) {
    let (value, mut diagnostics) = evaluate_marked(expr, scope);
    let (value, deprecations) = deprecation::of_expression(value, expr);
    diagnostics.extend(deprecations);
    (value, diagnostics)
}

/// Evaluates an expression whose value is not used yet: what is deprecated is for others to tell.
pub(crate) fn evaluate_marked(expr: &Expr, scope: &dyn Scope) -> (Value, Diagnostics) {
    interpreter::run(expr, scope)
}

/// Evaluates an expression and converts its value. The value is unknown where an error was found.
pub fn evaluate_as(expr: &Expr, scope: &dyn Scope, ty: &Type) -> (Value, Diagnostics) {
    let (value, mut diagnostics) = evaluate(expr, scope);
    if *ty == Type::Dynamic {
        return (value, diagnostics);
    }
    match convert(&value, ty) {
        Ok(value) => (value, diagnostics),
        Err(error) => {
            let detail = format!("Invalid expression value: {}.", error.with_path());
            let mut diagnostic = Diagnostic::error("Incorrect value type", detail).at(expr.span);
            notes::explain_in_scope(&mut diagnostic, expr, scope);
            diagnostics.push(diagnostic);
            (Value::unknown(ty.without_optional()), diagnostics)
        }
    }
}
