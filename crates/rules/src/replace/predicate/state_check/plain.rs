//! Conditions that do no more than compare fields with each other and with constants. Most are like that, and are answered from the values
//! where they stand, as long as these are plain: known, there, and without marks. Whatever else there is, the language has the answer.

use std::cmp::Ordering;

use groma_model::value::{Value, ValueKind};
use groma_syntax::ast::{Binary, BinaryOp, Expr, ExprKind, Literal, Step, Traversal, UnaryOp};

use super::{CHANGED, StateCheck, changed_path, path_of};
use crate::replace::case::Case;
use crate::replace::path::FieldPath;
use crate::replace::truth::Truth;

/// Such a condition.
#[derive(Debug, Clone)]
pub(super) enum Plain {
    All(Box<[Plain; 2]>),
    Any(Box<[Plain; 2]>),
    Not(Box<Plain>),
    Compare(Box<(Operand, Comparing, Operand)>),
    Holds(Operand),
    /// `changed("zone")`
    Changed(String),
}

#[derive(Debug, Clone)]
pub(super) enum Operand {
    Field(View, FieldPath),
    Constant(Value),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum View {
    Old,
    New,
    Upd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparing {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

impl Plain {
    /// The same as an expression, if it is such a condition.
    pub(super) fn of(expr: &Expr) -> Option<Self> {
        match &expr.kind {
            ExprKind::Parens(inner) => Self::of(inner),
            ExprKind::Unary(unary) if unary.op == UnaryOp::Not => Some(Plain::Not(Box::new(Self::of(&unary.operand)?))),
            ExprKind::Binary(binary) => Self::of_binary(binary),
            ExprKind::Call(call) if *call.name == *CHANGED => {
                Some(Plain::Changed(changed_path(call).ok()?.as_str().to_owned()))
            }
            ExprKind::Traversal(traversal) => Operand::of_field(traversal).map(Plain::Holds),
            _ => None,
        }
    }

    fn of_binary(binary: &Binary) -> Option<Self> {
        let both = || Some(Box::new([Self::of(&binary.left)?, Self::of(&binary.right)?]));
        let comparing = match binary.op {
            BinaryOp::And => return both().map(Plain::All),
            BinaryOp::Or => return both().map(Plain::Any),
            BinaryOp::Equal => Comparing::Equal,
            BinaryOp::NotEqual => Comparing::NotEqual,
            BinaryOp::Greater => Comparing::Greater,
            BinaryOp::GreaterOrEqual => Comparing::GreaterOrEqual,
            BinaryOp::Less => Comparing::Less,
            BinaryOp::LessOrEqual => Comparing::LessOrEqual,
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Modulo => {
                return None;
            }
        };
        Some(Plain::Compare(Box::new((Operand::of(&binary.left)?, comparing, Operand::of(&binary.right)?))))
    }

    /// Whether it holds for an object. None if that takes more than a look. Both sides of everything are looked at, as the language does.
    pub(super) fn holds(&self, check: &StateCheck, case: &Case<'_>) -> Option<bool> {
        match self {
            Plain::All(parts) => Some(parts[0].holds(check, case)? & parts[1].holds(check, case)?),
            Plain::Any(parts) => Some(parts[0].holds(check, case)? | parts[1].holds(check, case)?),
            Plain::Not(part) => part.holds(check, case).map(|holds| !holds),
            Plain::Compare(comparison) => {
                let (left, comparing, right) = &**comparison;
                comparing.holds(left.value(case)?, right.value(case)?)
            }
            Plain::Holds(operand) => operand.value(case)?.as_bool(),
            Plain::Changed(text) => match check.changed.get(text.as_str())?.truth(case).ok()? {
                Truth::True => Some(true),
                Truth::False => Some(false),
                Truth::Unknown => None,
            },
        }
    }
}

impl Operand {
    fn of(expr: &Expr) -> Option<Self> {
        if let Some(text) = expr.as_constant_str() {
            return Some(Operand::Constant(Value::string(text)));
        }
        match &expr.kind {
            ExprKind::Parens(inner) => Self::of(inner),
            ExprKind::Literal(Literal::Number(number)) => Some(Operand::Constant(Value::number(number.clone()))),
            ExprKind::Literal(Literal::Bool(truth)) => Some(Operand::Constant(Value::bool(*truth))),
            ExprKind::Traversal(traversal) => Self::of_field(traversal),
            _ => None,
        }
    }

    fn of_field(traversal: &Traversal) -> Option<Self> {
        let view = match traversal.root.name.as_str() {
            "old" => View::Old,
            "new" => View::New,
            "upd" => View::Upd,
            _ => return None,
        };
        let named = traversal.steps.iter().all(|step| matches!(step, Step::Attr { .. }));
        (named && !traversal.steps.is_empty()).then(|| Operand::Field(view, path_of(traversal)))
    }

    fn value<'v>(&'v self, case: &Case<'v>) -> Option<&'v Value> {
        let plain = |value: &&Value| value.is_wholly_known() && !value.is_null() && !value.contains_marks();
        match self {
            Operand::Constant(value) => Some(value),
            Operand::Field(View::Old, path) => path.lookup(case.old).filter(plain),
            Operand::Field(View::New, path) => path.lookup(case.new).filter(plain),
            Operand::Field(View::Upd, path) => path.lookup_in(case.upd).filter(plain),
        }
    }
}

impl Comparing {
    /// None for values that have to be converted first, or that cannot be compared like that.
    fn holds(self, left: &Value, right: &Value) -> Option<bool> {
        let (is_equal, order) = match (left.kind(), right.kind()) {
            (ValueKind::Number(left), ValueKind::Number(right)) => (left == right, Some(left.compare(right))),
            (ValueKind::String(left), ValueKind::String(right)) => (left == right, None),
            (ValueKind::Bool(left), ValueKind::Bool(right)) => (left == right, None),
            _ => return None,
        };
        Some(match self {
            Comparing::Equal => is_equal,
            Comparing::NotEqual => !is_equal,
            Comparing::Greater => order? == Ordering::Greater,
            Comparing::GreaterOrEqual => order? == Ordering::Greater || is_equal,
            Comparing::Less => order? == Ordering::Less,
            Comparing::LessOrEqual => order? == Ordering::Less || is_equal,
        })
    }
}
