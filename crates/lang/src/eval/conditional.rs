//! `c ? a : b`, and `%{if}` in templates. Both branches are evaluated, since they decide the type together; only the errors of
//! the branch that is taken count.

use groma_model::convert::{ConvertError, Safety, Unification, convert};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::number::Number;
use groma_model::span::Span;
use groma_model::ty::Type;
use groma_model::value::{Bound, Refinement, Value};
use groma_syntax::ast::{Conditional, Expr};

use super::interpreter::Interpreter;
use super::mismatch;

/// One branch: its value, its errors and where it stands.
pub(super) struct Branch<'e> {
    pub(super) value: Value,
    pub(super) errors: Diagnostics,
    pub(super) span: Span,
    /// What to explain errors by, if there is an expression.
    pub(super) expr: Option<&'e Expr>,
}

impl Interpreter<'_> {
    pub(super) fn eval_conditional(
        &self,
        conditional: &Conditional,
        expr: &Expr,
        diagnostics: &mut Diagnostics,
    ) -> Value {
        let branch = |part| {
            let mut errors = Diagnostics::new();
            let value = self.eval(part, &mut errors);
            Branch { value, errors, span: part.span, expr: Some(part) }
        };
        let branches = [branch(&conditional.then), branch(&conditional.otherwise)];
        self.choose(&conditional.condition, branches, expr, diagnostics)
    }

    /// Decides between two branches that are evaluated already.
    pub(super) fn choose(
        &self,
        condition: &Expr,
        branches: [Branch<'_>; 2],
        expr: &Expr,
        diagnostics: &mut Diagnostics,
    ) -> Value {
        let [then, otherwise] = branches;
        let Some(common) = Common::find(&then.value, &otherwise.value) else {
            let reason = mismatch::describe(&then.value.ty(), &otherwise.value.ty());
            let detail = format!("The true and false result expressions must have consistent types. {reason}.");
            let error = Diagnostic::error("Inconsistent conditional result types", detail).within(expr.span);
            self.report(error, then.span.to(otherwise.span), expr, diagnostics);
            return Value::dynamic();
        };
        let condition_value = self.eval(condition, diagnostics);
        if condition_value.is_null() {
            let detail = "The condition value is null. Conditions must either be true or false.";
            let error = Diagnostic::error("Null condition", detail).within(expr.span);
            self.report(error, condition.span, condition, diagnostics);
            return Value::unknown(common.ty());
        }
        let (decision, condition_marks) = condition_value.unmark();
        let marks = condition_marks.union(then.value.marks()).union(otherwise.value.marks());
        if !decision.is_known() {
            return either(&common.ty(), &then.value, &otherwise.value).with_marks(&marks);
        }
        match convert(&decision, &Type::Bool).ok().and_then(|decision| decision.as_bool()) {
            Some(true) => self.take(then, Side::Then, &common, expr, diagnostics).with_marks(&marks),
            Some(false) => self.take(otherwise, Side::Otherwise, &common, expr, diagnostics).with_marks(&marks),
            None => {
                let detail = "The condition expression must be of type bool.";
                let error = Diagnostic::error("Incorrect condition type", detail).within(expr.span);
                self.report(error, condition.span, condition, diagnostics);
                Value::unknown(common.ty())
            }
        }
    }

    /// The value of the branch that was chosen, in the type of both.
    fn take(
        &self,
        branch: Branch<'_>,
        side: Side,
        common: &Common,
        expr: &Expr,
        diagnostics: &mut Diagnostics,
    ) -> Value {
        diagnostics.extend(branch.errors);
        let (value, _) = branch.value.unmark();
        common.apply(side, &value).unwrap_or_else(|error| {
            let which = if side == Side::Then { "true" } else { "false" };
            let detail = format!("The {which} result value has the wrong type: {error}.");
            let error = Diagnostic::error("Inconsistent conditional result types", detail).within(expr.span);
            self.report(error, branch.span, branch.expr.unwrap_or(expr), diagnostics);
            Value::unknown(common.ty())
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Then,
    Otherwise,
}

/// The type that both branches have, and how they come to it.
enum Common {
    /// Both have it already, or one is a null without a type.
    Type(Type),
    /// One of them has no type yet: nothing can be said, and nothing is converted.
    Open,
    /// Both are converted.
    Unified(Unification),
}

impl Common {
    fn find(then: &Value, otherwise: &Value) -> Option<Common> {
        let plain_null = |value: &Value| value.is_null() && value.is_dynamic() && value.marks().is_empty();
        if plain_null(then) {
            return Some(Common::Type(otherwise.ty()));
        }
        if plain_null(otherwise) {
            return Some(Common::Type(then.ty()));
        }
        if then.is_dynamic() || otherwise.is_dynamic() {
            return Some(Common::Open);
        }
        let types = [then.ty(), otherwise.ty()];
        if types[0] == types[1] {
            let [ty, _] = types;
            return Some(Common::Type(ty));
        }
        Unification::find(&types, Safety::Unsafe).map(Common::Unified)
    }

    fn ty(&self) -> Type {
        match self {
            Common::Type(ty) => ty.clone(),
            Common::Open => Type::Dynamic,
            Common::Unified(unification) => unification.ty.clone(),
        }
    }

    fn apply(&self, side: Side, value: &Value) -> Result<Value, ConvertError> {
        match self {
            Common::Type(ty) => convert(value, ty),
            Common::Open => Ok(value.clone()),
            Common::Unified(unification) => unification.apply(usize::from(side == Side::Otherwise), value),
        }
    }
}

/// What can be said of the result while the condition is unknown: what both branches have in common.
fn either(ty: &Type, then: &Value, otherwise: &Value) -> Value {
    if then.is_null() && otherwise.is_null() {
        return Value::null(ty.clone());
    }
    let not_null = then.is_definitely_not_null() && otherwise.is_definitely_not_null();
    let mut refinement = Refinement { not_null, ..Refinement::default() };
    // A branch that is null has no range; then nothing is known about the other end either.
    let (a, b) = (then.range(), otherwise.range());
    let (then_type, otherwise_type) = (then.ty(), otherwise.ty());
    if then_type == Type::Number && otherwise_type == Type::Number {
        refinement.lower = outer(a.lower, b.lower, |x, y| x < y);
        refinement.upper = outer(a.upper, b.upper, |x, y| x > y);
        return Value::unknown_refined(Type::Number, refinement);
    }
    if then_type.is_collection() && then_type == otherwise_type {
        refinement.min_length = a.min_length.min(b.min_length);
        refinement.max_length = a.max_length.zip(b.max_length).map(|(x, y)| x.max(y));
    }
    if *ty == Type::Dynamic {
        return Value::dynamic();
    }
    Value::unknown_refined(ty.clone(), refinement)
}

/// The bound further out. None if one of them is open.
fn outer(a: Option<Bound>, b: Option<Bound>, further: fn(&Number, &Number) -> bool) -> Option<Bound> {
    let (a, b) = (a?, b?);
    if a.number == b.number {
        return Some(Bound { inclusive: a.inclusive || b.inclusive, number: a.number });
    }
    Some(if further(&a.number, &b.number) { a } else { b })
}
