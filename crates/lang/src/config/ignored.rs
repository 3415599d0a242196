//! A warning for object attributes that are written down and then dropped, because the wanted type has no such attribute.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::text::suggestion;
use groma_model::ty::{ObjectType, Type};
use groma_syntax::ast::{Expr, ExprKind, ObjectItem};

/// Warns about attributes of object expressions in `expr` that are dropped by converting to `ty`. `what` names the whole
/// value, e.g. `this variable`. Strings of the JSON syntax are no object expressions, and neither are its objects.
pub fn ignored_attributes(expr: &Expr, ty: &Type, what: &str) -> Diagnostics {
    let mut lint = Lint { what, path: Path::root(), diagnostics: Diagnostics::new() };
    lint.visit(expr, ty);
    lint.diagnostics
}

struct Lint<'a> {
    what: &'a str,
    path: Path,
    diagnostics: Diagnostics,
}

impl Lint<'_> {
    fn visit(&mut self, expr: &Expr, ty: &Type) {
        match (&expr.kind, ty) {
            (ExprKind::Object(items), Type::Object(object)) => {
                for item in items {
                    self.visit_attribute(expr, item, object);
                }
            }
            (ExprKind::Object(items), Type::Map(element)) => {
                for item in items {
                    if let Some(key) = item.key.constant_key() {
                        self.inside(self.path.key(key), &item.value, element);
                    }
                }
            }
            (ExprKind::Tuple(items), Type::List(element) | Type::Set(element)) => {
                for (at, item) in items.iter().enumerate() {
                    self.inside(self.path.index(at), item, element);
                }
            }
            (ExprKind::Tuple(items), Type::Tuple(elements)) if items.len() == elements.len() => {
                for (at, (item, element)) in items.iter().zip(elements.iter()).enumerate() {
                    self.inside(self.path.index(at), item, element);
                }
            }
            (ExprKind::For(each), Type::Map(element)) if each.key.is_some() => self.visit(&each.value, element),
            (ExprKind::For(each), Type::List(element) | Type::Set(element)) if each.key.is_none() => {
                self.visit(&each.value, element);
            }
            _ => {}
        }
    }

    fn visit_attribute(&mut self, whole: &Expr, item: &ObjectItem, object: &ObjectType) {
        let Some(name) = item.key.constant_key() else { return };
        if let Some(ty) = object.get(&name) {
            self.inside(self.path.attr(name), &item.value, ty);
            return;
        }
        let meant = suggestion(&name, object.iter().map(|(known, _)| known.as_str()));
        let advice = meant.map_or(String::new(), |meant| format!(" Did you mean to set attribute {meant:?} instead?"));
        let owner = if self.path.is_empty() { self.what.to_owned() } else { self.path.to_string() };
        self.diagnostics.push(
            Diagnostic::warning(
                "Object attribute is ignored",
                format!(
                    "The object type for {owner} does not include an attribute named {:?}, so this definition is \
                     unused.{advice}",
                    name.as_str()
                ),
            )
            .at(item.key.span)
            .within(whole.span),
        );
    }

    fn inside(&mut self, path: Path, expr: &Expr, ty: &Type) {
        let outer = std::mem::replace(&mut self.path, path);
        self.visit(expr, ty);
        self.path = outer;
    }
}
