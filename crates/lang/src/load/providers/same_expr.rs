//! Whether two expressions are written the same, apart from white space and parentheses.

use groma_syntax::ast::{Expr, ExprKind, For, Step, StepKey, Template, TemplatePart, Traversal};

/// Whether two expressions are the same text in other places. Says no where it is not worth the effort.
pub(super) fn same_expr(left: &Expr, right: &Expr) -> bool {
    match (&left.kind, &right.kind) {
        (ExprKind::Parens(left), _) => same_expr(left, right),
        (_, ExprKind::Parens(right)) => same_expr(left, right),
        (ExprKind::Literal(left), ExprKind::Literal(right)) => left == right,
        (ExprKind::Traversal(left), ExprKind::Traversal(right)) => same_traversal(left, right),
        (ExprKind::RelTraversal(left), ExprKind::RelTraversal(right)) => {
            same_expr(&left.base, &right.base) && same_steps(&left.steps, &right.steps)
        }
        (ExprKind::Call(left), ExprKind::Call(right)) => left.name == right.name && same_all(&left.args, &right.args),
        (ExprKind::Conditional(left), ExprKind::Conditional(right)) => {
            same_expr(&left.condition, &right.condition)
                && same_expr(&left.then, &right.then)
                && same_expr(&left.otherwise, &right.otherwise)
        }
        (ExprKind::Index(left), ExprKind::Index(right)) => {
            same_expr(&left.collection, &right.collection) && same_expr(&left.key, &right.key)
        }
        (ExprKind::Tuple(left), ExprKind::Tuple(right)) => same_all(left, right),
        (ExprKind::Object(left), ExprKind::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| same_expr(&left.key, &right.key) && same_expr(&left.value, &right.value))
        }
        (ExprKind::For(left), ExprKind::For(right)) => same_for(left, right),
        (ExprKind::Binary(left), ExprKind::Binary(right)) => {
            left.op == right.op && same_expr(&left.left, &right.left) && same_expr(&left.right, &right.right)
        }
        (ExprKind::Unary(left), ExprKind::Unary(right)) => {
            left.op == right.op && same_expr(&left.operand, &right.operand)
        }
        (ExprKind::Template(left), ExprKind::Template(right)) => same_template(left, right),
        (ExprKind::TemplateWrap(left), ExprKind::TemplateWrap(right)) => same_expr(left, right),
        _ => false,
    }
}

fn same_all(left: &[Expr], right: &[Expr]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same_expr(left, right))
}

fn same_maybe(left: Option<&Expr>, right: Option<&Expr>) -> bool {
    match (left, right) {
        (None, None) => true,
        (Some(left), Some(right)) => same_expr(left, right),
        _ => false,
    }
}

fn same_for(left: &For, right: &For) -> bool {
    let name = |each: &For| each.key_name.as_ref().map(|ident| ident.name.clone());
    name(left) == name(right)
        && left.value_name.name == right.value_name.name
        && left.group == right.group
        && same_expr(&left.collection, &right.collection)
        && same_maybe(left.key.as_ref(), right.key.as_ref())
        && same_expr(&left.value, &right.value)
        && same_maybe(left.condition.as_ref(), right.condition.as_ref())
}

fn same_traversal(left: &Traversal, right: &Traversal) -> bool {
    left.root.name == right.root.name && same_steps(&left.steps, &right.steps)
}

fn same_steps(left: &[Step], right: &[Step]) -> bool {
    let same = |left: &Step, right: &Step| match (left, right) {
        (Step::Attr { name: left, .. }, Step::Attr { name: right, .. }) => left == right,
        (Step::Index { key: left, .. }, Step::Index { key: right, .. }) => left == right,
        // `a["b"]` and `a.b` mean the same.
        (Step::Attr { name, .. }, Step::Index { key: StepKey::String(key), .. })
        | (Step::Index { key: StepKey::String(key), .. }, Step::Attr { name, .. }) => name == key,
        _ => false,
    };
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
}

fn same_template(left: &Template, right: &Template) -> bool {
    let same = |left: &TemplatePart, right: &TemplatePart| match (left, right) {
        (TemplatePart::Literal { text: left, .. }, TemplatePart::Literal { text: right, .. }) => left == right,
        (TemplatePart::Interpolation { expr: left, .. }, TemplatePart::Interpolation { expr: right, .. }) => {
            same_expr(left, right)
        }
        _ => false,
    };
    left.parts.len() == right.parts.len() && left.parts.iter().zip(&right.parts).all(|(left, right)| same(left, right))
}
