//! Operators. Both operands of `&&` and `||` are always evaluated; then the one that decides keeps its errors and the other
//! one's are dropped, so that a guard may stand on either side.

use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::number::Number;
use groma_model::ty::Type;
use groma_model::value::OpError;
use groma_model::value::Value;
use groma_syntax::ast::{Binary, BinaryOp, Expr, Unary, UnaryOp};

use super::interpreter::Interpreter;
use super::traverse::diagnostic;

impl Interpreter<'_> {
    pub(super) fn eval_unary(&self, unary: &Unary, expr: &Expr, diagnostics: &mut Diagnostics) -> Value {
        let ty = match unary.op {
            UnaryOp::Negate => Type::Number,
            UnaryOp::Not => Type::Bool,
        };
        let mut errors = Diagnostics::new();
        let given = self.eval(&unary.operand, &mut errors);
        let operand = self.operand(&given, &ty, "unary", &unary.operand, &mut errors);
        let failed = errors.has_errors();
        diagnostics.extend(errors);
        let Some(operand) = operand.filter(|_| !failed) else { return Value::unknown(ty) };
        let result = match unary.op {
            UnaryOp::Negate if operand.is_known() => operand.negate(),
            UnaryOp::Not if operand.is_known() => operand.not(),
            _ => Ok(Value::unknown(ty.clone()).refine_not_null().with_marks(operand.marks())),
        };
        self.finish(result, &ty, expr, diagnostics)
    }

    pub(super) fn eval_binary(&self, binary: &Binary, expr: &Expr, diagnostics: &mut Diagnostics) -> Value {
        let (operand_type, result_type) = types(binary.op);
        let mut left_errors = Diagnostics::new();
        let mut right_errors = Diagnostics::new();
        let mut wrong = Diagnostics::new();
        let left = self.eval(&binary.left, &mut left_errors);
        let left = self.operand(&left, &operand_type, "left", &binary.left, &mut wrong);
        let right = self.eval(&binary.right, &mut right_errors);
        let right = self.operand(&right, &operand_type, "right", &binary.right, &mut wrong);
        let (Some(left), Some(right)) = (left, right) else {
            diagnostics.extend(wrong.into_iter().chain(left_errors).chain(right_errors));
            return Value::unknown(result_type);
        };
        if let Some(controlling) = controlling_value(binary.op)
            && let Some((result, errors)) = decide(&left, &right, controlling, &left_errors)
        {
            let errors = if errors == Side::Left { left_errors } else { right_errors };
            diagnostics.extend(errors);
            return result.with_marks(left.marks()).with_marks(right.marks());
        }
        let failed = left_errors.has_errors() || right_errors.has_errors();
        diagnostics.extend(left_errors.into_iter().chain(right_errors));
        if failed {
            return Value::unknown(result_type).with_marks(left.marks()).with_marks(right.marks());
        }
        let divides = matches!(binary.op, BinaryOp::Divide | BinaryOp::Modulo);
        if divides && self.scope.refuses_division_by_zero() && right.as_number().is_some_and(Number::is_zero) {
            let error = Diagnostic::error("Division by zero", "The right operand is zero.");
            self.report(error, binary.right.span, expr, diagnostics);
            return Value::unknown(result_type).with_marks(left.marks()).with_marks(right.marks());
        }
        self.finish(operate(binary.op, &left, &right), &result_type, expr, diagnostics)
    }

    /// Converts an operand to what the operator works on.
    fn operand(
        &self,
        given: &Value,
        ty: &Type,
        side: &str,
        expr: &Expr,
        diagnostics: &mut Diagnostics,
    ) -> Option<Value> {
        match convert(given, ty) {
            Ok(value) => Some(value),
            Err(error) => {
                let detail = format!("Unsuitable value for {side} operand: {error}.");
                self.report(Diagnostic::error("Invalid operand", detail), expr.span, expr, diagnostics);
                None
            }
        }
    }

    fn finish(&self, result: Result<Value, OpError>, ty: &Type, expr: &Expr, diagnostics: &mut Diagnostics) -> Value {
        result.unwrap_or_else(|error| {
            self.report(diagnostic(error), expr.span, expr, diagnostics);
            Value::unknown(ty.clone())
        })
    }
}

/// What an operator takes and gives.
fn types(op: BinaryOp) -> (Type, Type) {
    match op {
        BinaryOp::Or | BinaryOp::And => (Type::Bool, Type::Bool),
        BinaryOp::Equal | BinaryOp::NotEqual => (Type::Dynamic, Type::Bool),
        BinaryOp::Greater | BinaryOp::GreaterOrEqual | BinaryOp::Less | BinaryOp::LessOrEqual => {
            (Type::Number, Type::Bool)
        }
        BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Modulo => {
            (Type::Number, Type::Number)
        }
    }
}

/// In the language, marks inside of the operands reach the result even where it is null that decides.
fn equality(left: &Value, right: &Value) -> Value {
    left.equals(right).with_marks(&left.marks_deep()).with_marks(&right.marks_deep())
}

fn operate(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, OpError> {
    let arithmetic = |run: fn(&Value, &Value) -> Result<Value, OpError>| {
        if left.is_null() || right.is_null() {
            return Err(OpError::NullOperand);
        }
        if left.is_known() && right.is_known() {
            return run(left, right);
        }
        Ok(Value::unknown_operand().with_marks(left.marks()).with_marks(right.marks()))
    };
    match op {
        BinaryOp::Or => left.or(right),
        BinaryOp::And => left.and(right),
        BinaryOp::Equal => Ok(equality(left, right)),
        BinaryOp::NotEqual => equality(left, right).not(),
        BinaryOp::Greater => left.greater_than(right),
        BinaryOp::GreaterOrEqual => left.greater_or_equal(right),
        BinaryOp::Less => left.less_than(right),
        BinaryOp::LessOrEqual => left.less_or_equal(right),
        BinaryOp::Add => arithmetic(Value::add),
        BinaryOp::Subtract => arithmetic(Value::subtract),
        BinaryOp::Multiply => arithmetic(Value::multiply),
        BinaryOp::Divide => arithmetic(Value::divide),
        BinaryOp::Modulo => arithmetic(Value::modulo),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// The operand that decides the result whatever the other one is.
fn controlling_value(op: BinaryOp) -> Option<bool> {
    match op {
        BinaryOp::And => Some(false),
        BinaryOp::Or => Some(true),
        _ => None,
    }
}

/// The result that one side decides, and the side whose errors count. None if both must be looked at.
fn decide(left: &Value, right: &Value, controlling: bool, left_errors: &Diagnostics) -> Option<(Value, Side)> {
    match (truth(left), truth(right)) {
        (None, None) if left_errors.has_errors() => None,
        (None, None) => Some((Value::unknown_bool(), Side::Left)),
        (Some(value), _) if value == controlling => Some((Value::bool(controlling), Side::Left)),
        (_, Some(value)) if value == controlling => Some((Value::bool(controlling), Side::Right)),
        (None, Some(_)) => Some((Value::unknown_bool(), Side::Left)),
        (Some(_), None) => Some((Value::unknown_bool(), Side::Right)),
        (Some(_), Some(_)) => None,
    }
}

/// The truth of a known operand. Null counts as false here, so that it decides `&&`.
fn truth(value: &Value) -> Option<bool> {
    if value.is_null() { Some(false) } else { value.as_bool() }
}
