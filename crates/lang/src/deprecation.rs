//! Values that come from something deprecated: whoever uses one is told, once, and then it is a value like any other.

use std::sync::Arc;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::mark::{Deprecation, Mark};
use groma_model::path::Path;
use groma_model::span::Span;
use groma_model::value::Value;
use groma_syntax::ast::Expr;
use groma_syntax::body::Body;

use crate::decode::locate;

/// Takes the value of an expression for what it is, with a warning for each part that comes from something deprecated.
pub(crate) fn of_expression(value: Value, expr: &Expr) -> (Value, Diagnostics) {
    let about = |path: &Path| {
        let path = path.to_string();
        match path.strip_prefix('.').unwrap_or(&path) {
            "" => "This value".to_owned(),
            attribute => format!("This value's attribute {attribute}"),
        }
    };
    taken_off(value, &|path, deprecation| warning(&about(path), deprecation, expr.span))
}

/// The same for the value of a body.
pub(crate) fn of_body(value: Value, body: &Body) -> (Value, Diagnostics) {
    taken_off(value, &|path, deprecation| warning("This value", deprecation, locate(body, path)))
}

fn taken_off(value: Value, warning: &dyn Fn(&Path, &Arc<Deprecation>) -> Diagnostic) -> (Value, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    if !value.contains_marks() {
        return (value, diagnostics);
    }
    let (plain, mut marks) = value.clone().unmark_deep_with_paths();
    for at in &mut marks {
        let found = at.marks.iter().filter_map(|mark| match mark {
            Mark::Deprecated(deprecation) => Some(warning(&at.path, deprecation)),
            _ => None,
        });
        diagnostics.extend(found);
        at.marks = at.marks.without(|mark| matches!(mark, Mark::Deprecated(_)));
    }
    if diagnostics.is_empty() {
        return (value, diagnostics);
    }
    (plain.with_path_marks(&marks), diagnostics)
}

fn warning(value: &str, deprecation: &Arc<Deprecation>, at: Span) -> Diagnostic {
    let Deprecation { origin, message, .. } = deprecation.as_ref();
    let detail = if message.is_empty() {
        format!("{value} is derived from {origin}, which is deprecated.")
    } else {
        format!("{value} is derived from {origin}, which is deprecated with the following message:\n\n{message}")
    };
    Diagnostic::warning("Value derived from a deprecated source", detail).at(at).about(Arc::clone(deprecation))
}

#[cfg(test)]
mod tests {
    use groma_model::mark::Marks;

    use super::*;
    use crate::eval::testing::expr;

    fn deprecated(origin: &str, message: &str) -> Marks {
        Marks::one(Mark::Deprecated(Arc::new(Deprecation {
            origin: origin.into(),
            message: message.into(),
            remote: false,
        })))
    }

    #[test]
    fn each_part_is_told_and_other_marks_stay() {
        let value = Value::object([
            ("a", Value::from(1).with_marks(&deprecated("module.m.a", ""))),
            (
                "b",
                Value::tuple(vec![Value::string("x").mark(Mark::Sensitive).with_marks(&deprecated("x.y.z", "Gone."))]),
            ),
        ]);
        let (taken, warnings) = of_expression(value, &expr("module.m"));
        let details: Vec<&str> = warnings.iter().map(|warning| warning.detail.as_str()).collect();
        assert_eq!(
            details,
            [
                "This value's attribute a is derived from module.m.a, which is deprecated.",
                "This value's attribute b[0] is derived from x.y.z, which is deprecated with the following message:\n\nGone.",
            ]
        );
        assert_eq!(taken.marks_deep(), Marks::one(Mark::Sensitive));
        assert!(of_expression(taken, &expr("module.m")).1.is_empty());
    }
}
