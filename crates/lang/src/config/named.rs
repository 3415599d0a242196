//! `variable`, `locals` and `output` blocks.

use std::sync::Arc;

use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_syntax::ast::{Expr, Traversal};

use super::{CheckRule, Declared};

/// `variable "name" { … }`
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name.
    pub name: Str,
    /// What it is for.
    pub description: Option<Str>,
    /// The constraint that values are converted to, with optional attributes. [`Type::Dynamic`] if none is given.
    pub constraint: Type,
    /// How text from the command line and the environment becomes a value.
    pub parsing: Parsing,
    /// The default, converted to the constraint. None if a value must be given.
    pub default: Option<Value>,
    /// `sensitive`
    pub sensitive: bool,
    /// `ephemeral`
    pub ephemeral: bool,
    /// `nullable`, true unless said otherwise.
    pub nullable: bool,
    /// `const`, if said.
    pub constant: Option<bool>,
    /// Why it should not be set any more.
    pub deprecated: Option<Str>,
    /// `validation` blocks, in order.
    pub validations: Vec<CheckRule>,
    /// Where it is declared.
    pub declared: Declared,
}

impl Variable {
    /// Whether a value must be given.
    pub fn is_required(&self) -> bool {
        self.default.is_none()
    }
}

/// How text from the command line and the environment becomes the value of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parsing {
    /// The text is the value.
    Literal,
    /// The text is an expression.
    Expression,
}

/// One entry of a `locals` block.
#[derive(Debug, Clone)]
pub struct Local {
    /// Its name.
    pub name: Str,
    /// Its value.
    pub expr: Arc<Expr>,
    /// Name and value.
    pub span: Span,
    /// Just the name.
    pub name_span: Span,
}

/// `output "name" { … }`
#[derive(Debug, Clone)]
pub struct Output {
    /// Its name.
    pub name: Str,
    /// What it is for.
    pub description: Option<Str>,
    /// Its value. None only if the declaration is broken.
    pub expr: Option<Arc<Expr>>,
    /// `sensitive`
    pub sensitive: bool,
    /// `ephemeral`
    pub ephemeral: bool,
    /// Why it should not be used any more.
    pub deprecated: Option<Str>,
    /// `depends_on`
    pub depends_on: Vec<Traversal>,
    /// `precondition` blocks, in order.
    pub preconditions: Vec<CheckRule>,
    /// Where it is declared.
    pub declared: Declared,
}
