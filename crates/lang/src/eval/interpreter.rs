//! The walk over an expression: names bound on the way, errors kept apart per part, depth watched.

use std::cell::Cell;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::value::Value;
use groma_syntax::ast::{Expr, ExprKind, Literal, RelTraversal, Traversal};

use super::constructors::Shapes;
use super::limits::{max_recursion, oversize};
use super::{Resolved, Scope, notes, traverse};
use crate::refs::telling_problems;

/// Evaluates one expression in a scope.
pub(super) fn run(expr: &Expr, scope: &dyn Scope) -> (Value, Diagnostics) {
    run_nested(expr, scope, 0, 0)
}

/// Evaluates an expression that is part of the evaluation of another: a template that a template asks for.
pub(super) fn run_nested(expr: &Expr, scope: &dyn Scope, depth: usize, template_depth: usize) -> (Value, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let references = if scope.checks_references_first() {
        References::resolve_all(expr, scope, &mut diagnostics)
    } else {
        References::default()
    };
    if diagnostics.has_errors() {
        // Evaluating on would only repeat the same errors in other words.
        return (Value::dynamic(), diagnostics);
    }
    let stack_bytes = scope.call_settings().map_or(2 << 20, |settings| settings.environment.stack_bytes());
    let max_depth = max_recursion(stack_bytes);
    let shared = Shared { references, max_depth, shapes: Shapes::default(), depth: Cell::new(depth), template_depth };
    let interpreter = Interpreter { scope, shared: &shared, frame: None, explain: true };
    let value = interpreter.eval(expr, &mut diagnostics);
    (value, diagnostics)
}

/// What is the same for all parts of an evaluation.
pub(super) struct Shared {
    references: References,
    pub(super) shapes: Shapes,
    depth: Cell<usize>,
    /// How deep it may get.
    pub(super) max_depth: usize,
    /// How many templates are around this one.
    pub(super) template_depth: usize,
}

/// The references of an expression, resolved once however often a loop uses them. Found by where they stand in memory.
#[derive(Default)]
struct References(Vec<(usize, Resolved)>);

impl References {
    fn resolve_all(expr: &Expr, scope: &dyn Scope, diagnostics: &mut Diagnostics) -> Self {
        let mut found = Vec::new();
        let mut problems = Vec::new();
        for traversal in expr.references() {
            match scope.resolve(traversal) {
                Ok(resolved) => found.push((address(traversal), resolved)),
                Err(problem) => problems.push((traversal, problem)),
            }
        }
        diagnostics.extend(telling_problems(problems));
        found.sort_unstable_by_key(|(address, _)| *address);
        Self(found)
    }

    fn get(&self, traversal: &Traversal) -> Option<&Resolved> {
        let at = self.0.binary_search_by_key(&address(traversal), |(address, _)| *address).ok()?;
        Some(&self.0[at].1)
    }
}

fn address(traversal: &Traversal) -> usize {
    std::ptr::from_ref(traversal) as usize
}

/// A name that an expression around binds.
pub(super) struct Frame<'a> {
    pub(super) parent: Option<&'a Frame<'a>>,
    pub(super) binding: Binding<'a>,
}

/// What a frame binds.
pub(super) enum Binding<'a> {
    /// The names of a `for`.
    For {
        /// Name and value of the key, if it has a name.
        key: Option<(&'a Str, &'a Value)>,
        /// Name and value of the element.
        value: (&'a Str, &'a Value),
    },
    /// The current element of a splat.
    Splat(&'a Value),
}

impl<'a> Frame<'a> {
    fn named(&self, name: &Str) -> Option<&'a Value> {
        let Binding::For { key, value } = &self.binding else { return None };
        if value.0 == name {
            return Some(value.1);
        }
        key.filter(|key| key.0 == name).map(|key| key.1)
    }
}

/// Evaluates with the names that are bound at one point of an expression. Cheap to copy.
#[derive(Clone, Copy)]
pub(super) struct Interpreter<'a> {
    pub(super) scope: &'a dyn Scope,
    pub(super) shared: &'a Shared,
    frame: Option<&'a Frame<'a>>,
    explain: bool,
}

impl<'a> Interpreter<'a> {
    /// With one more frame.
    pub(super) fn with_frame<'b>(&'b self, frame: &'b Frame<'b>) -> Interpreter<'b> {
        Interpreter { scope: self.scope, shared: self.shared, frame: Some(frame), explain: self.explain }
    }

    /// Errors will be thrown away, so nothing is spent on explaining them.
    pub(super) fn quiet(&self) -> Interpreter<'a> {
        Interpreter { explain: false, ..*self }
    }

    /// The innermost frame.
    pub(super) fn frame(&self) -> Option<&'a Frame<'a>> {
        self.frame
    }

    /// How many evaluations are around this one.
    pub(super) fn depth(&self) -> usize {
        self.shared.depth.get()
    }

    /// Reports an error at a place, with the values of the references in `expr`.
    pub(super) fn report(&self, error: Diagnostic, span: Span, expr: &Expr, diagnostics: &mut Diagnostics) {
        let mut error = error.or_at(span);
        if self.explain {
            notes::explain(&mut error, expr, self);
        }
        diagnostics.push(error);
    }

    /// Evaluates a part. An error makes it unknown.
    pub(super) fn eval(&self, expr: &Expr, diagnostics: &mut Diagnostics) -> Value {
        let depth = self.shared.depth.get();
        if depth >= self.shared.max_depth {
            let detail = format!("Evaluation is nested more than {depth} levels deep.");
            diagnostics.push(Diagnostic::error("Expression too deep", detail).at(expr.span));
            return Value::dynamic();
        }
        self.shared.depth.set(depth + 1);
        let value = self.eval_kind(expr, diagnostics);
        self.shared.depth.set(depth);
        value
    }

    fn eval_kind(&self, expr: &Expr, diagnostics: &mut Diagnostics) -> Value {
        match &expr.kind {
            ExprKind::Literal(literal) => literal_value(literal),
            ExprKind::Template(template) => self.eval_template(&template.parts, expr, diagnostics),
            ExprKind::TemplateWrap(inner) | ExprKind::Parens(inner) => self.eval(inner, diagnostics),
            ExprKind::Traversal(traversal) => self.eval_traversal(traversal, expr, diagnostics),
            ExprKind::RelTraversal(relative) => self.eval_relative(relative, expr, diagnostics),
            ExprKind::Index(index) => self.eval_index(index, expr, diagnostics),
            ExprKind::Splat(splat) => self.eval_splat(splat, expr, diagnostics),
            ExprKind::SplatItem => self.splat_item(),
            ExprKind::Call(call) => self.eval_call(call, expr, diagnostics),
            ExprKind::Conditional(conditional) => self.eval_conditional(conditional, expr, diagnostics),
            ExprKind::Unary(unary) => self.eval_unary(unary, expr, diagnostics),
            ExprKind::Binary(binary) => self.eval_binary(binary, expr, diagnostics),
            ExprKind::Tuple(items) => self.eval_tuple(items, expr, diagnostics),
            ExprKind::Object(items) => self.eval_object(items, expr, diagnostics),
            ExprKind::For(for_expr) => self.eval_for(for_expr, expr, diagnostics),
            ExprKind::Invalid => Value::dynamic(),
        }
    }

    fn eval_traversal(&self, traversal: &Traversal, expr: &Expr, diagnostics: &mut Diagnostics) -> Value {
        match self.lookup(traversal) {
            Ok(value) => value,
            Err(errors) => {
                for error in errors {
                    self.report(error, traversal.span, expr, diagnostics);
                }
                Value::dynamic()
            }
        }
    }

    /// The value of a reference: a name bound around, or whatever the scope says.
    pub(super) fn lookup(&self, traversal: &Traversal) -> Result<Value, Diagnostics> {
        let mut frame = self.frame;
        while let Some(current) = frame {
            if let Some(value) = current.named(&traversal.root.name) {
                return traverse::walk_steps(value, &traversal.steps).map_err(Diagnostics::from);
            }
            frame = current.parent;
        }
        let steps = |resolved: &Resolved| {
            let rest = traversal.steps.get(resolved.steps_used..).unwrap_or_default();
            traverse::walk_steps(&resolved.value, rest).map_err(Diagnostics::from)
        };
        match self.shared.references.get(traversal) {
            Some(resolved) => steps(resolved),
            None => steps(&self.scope.resolve(traversal)?),
        }
    }

    fn splat_item(&self) -> Value {
        let mut frame = self.frame;
        while let Some(current) = frame {
            if let Binding::Splat(value) = current.binding {
                return value.clone();
            }
            frame = current.parent;
        }
        Value::dynamic()
    }

    fn eval_relative(&self, relative: &RelTraversal, expr: &Expr, diagnostics: &mut Diagnostics) -> Value {
        let base = self.eval(&relative.base, diagnostics);
        match traverse::walk_steps(&base, &relative.steps) {
            Ok(value) => value,
            Err(error) => {
                self.report(error, expr.span, expr, diagnostics);
                Value::dynamic()
            }
        }
    }

    fn eval_index(&self, index: &groma_syntax::ast::Index, expr: &Expr, diagnostics: &mut Diagnostics) -> Value {
        let before = diagnostics.len();
        let collection = self.eval(&index.collection, diagnostics);
        if diagnostics.len() > before && is_reference(expr) {
            // The steps of a reference stop at the first that fails.
            return Value::dynamic();
        }
        let key = self.eval(&index.key, diagnostics);
        match traverse::index(&collection, &key) {
            Ok(value) => value,
            Err(error) => {
                self.report(error, index.bracket_span, expr, diagnostics);
                Value::dynamic()
            }
        }
    }
}

/// Refuses a value that has become too large.
pub(super) fn checked(value: Value, expr: &Expr, diagnostics: &mut Diagnostics) -> Value {
    match oversize(&value) {
        None => value,
        Some(error) => {
            diagnostics.push(error.at(expr.span));
            Value::dynamic()
        }
    }
}

/// Whether it is a name with constant steps, some of which are neither strings nor numbers: `a[true]`.
fn is_reference(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Traversal(_) => true,
        ExprKind::Index(index) => matches!(index.key.kind, ExprKind::Literal(_)) && is_reference(&index.collection),
        _ => false,
    }
}

fn literal_value(literal: &Literal) -> Value {
    match literal {
        Literal::Null => Value::null(groma_model::ty::Type::Dynamic),
        Literal::Bool(value) => Value::bool(*value),
        Literal::Number(number) => Value::number(number.clone()),
    }
}
