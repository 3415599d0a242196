//! `[a, b]` and `{ a = b }`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::mark::Marks;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value, ValueKind};
use groma_syntax::ast::{Expr, ExprKind, ObjectItem};

use super::interpreter::{Interpreter, checked};

impl Interpreter<'_> {
    pub(super) fn eval_tuple(&self, items: &[Expr], expr: &Expr, diagnostics: &mut Diagnostics) -> Value {
        let values = items.iter().map(|item| self.eval(item, diagnostics)).collect();
        checked(Value::tuple(values), expr, diagnostics)
    }

    pub(super) fn eval_object(&self, items: &[ObjectItem], expr: &Expr, diagnostics: &mut Diagnostics) -> Value {
        if let Some(shape) = self.shared.shapes.get(items) {
            let mut values = vec![Value::bool(false); items.len()];
            for (item, place) in items.iter().zip(&shape.places) {
                values[*place] = self.eval(&item.value, diagnostics);
            }
            let object = Value::object_of(Entries::with_names(shape.names.clone(), values));
            return checked(object, expr, diagnostics);
        }
        let mut attributes: Vec<(Str, Value)> = Vec::with_capacity(items.len());
        let mut marks = Marks::NONE;
        let mut all_keys_known = true;
        for item in items {
            let key = self.object_key(item, &mut marks, diagnostics);
            let value = self.eval(&item.value, diagnostics);
            match key {
                Key::Name(name) => attributes.push((name, value)),
                Key::Null => {
                    let error = Diagnostic::error("Null value as key", "Can't use a null value as a key.");
                    self.report(error, item.value.span, &item.key, diagnostics);
                    all_keys_known = false;
                }
                Key::Open => all_keys_known = false,
            }
        }
        if !all_keys_known {
            return Value::dynamic();
        }
        checked(Value::object(attributes).with_marks(&marks), expr, diagnostics)
    }

    fn object_key(&self, item: &ObjectItem, marks: &mut Marks, diagnostics: &mut Diagnostics) -> Key {
        if let ExprKind::Traversal(traversal) = &item.key.kind
            && !traversal.steps.is_empty()
        {
            diagnostics.push(
                Diagnostic::error(
                    "Ambiguous attribute key",
                    "If this expression is intended to be a reference, wrap it in parentheses. If it's instead \
                     intended as a literal name containing periods, wrap it in quotes to create a string literal.",
                )
                .at(item.key.span),
            );
            return Key::Open;
        }
        if let Some(name) = item.key.constant_key() {
            return Key::Name(name);
        }
        let mut errors = Diagnostics::new();
        let key = self.eval(&item.key, &mut errors);
        let failed = errors.has_errors();
        diagnostics.extend(errors);
        if failed {
            return Key::Open;
        }
        if key.is_null() {
            return Key::Null;
        }
        let (key, key_marks) = key.unmark();
        *marks = marks.union(&key_marks);
        match convert(&key, &Type::String) {
            Ok(key) => match key.kind() {
                ValueKind::String(name) => Key::Name(name.clone()),
                _ => Key::Open,
            },
            Err(error) => {
                let detail = format!("Can't use this value as a key: {error}.");
                let error = Diagnostic::error("Incorrect key type", detail);
                self.report(error, item.key.span, &item.key, diagnostics);
                Key::Open
            }
        }
    }
}

/// The names of an object whose keys are all constant, worked out once however often a loop makes such an object.
struct Shape {
    names: Arc<Vec<Str>>,
    /// Where the value of each item goes.
    places: Vec<usize>,
}

impl Shape {
    /// None if a key has to be evaluated, or occurs twice.
    fn of(items: &[ObjectItem]) -> Option<Shape> {
        let keys: Vec<Str> = items.iter().map(|item| fixed_key(&item.key)).collect::<Option<_>>()?;
        let mut names = keys.clone();
        names.sort();
        names.dedup();
        if names.len() != keys.len() {
            return None;
        }
        let places = keys.iter().map(|key| names.binary_search(key).unwrap_or_default()).collect();
        Some(Shape { names: Arc::new(names), places })
    }
}

/// The text of a key that is a bare name or a string without interpolation.
fn fixed_key(key: &Expr) -> Option<Str> {
    if let ExprKind::Template(template) = &key.kind {
        return template.as_constant();
    }
    key.constant_key()
}

/// The shapes of the objects in an expression, found by where they stand in memory.
#[derive(Default)]
pub(super) struct Shapes(RefCell<HashMap<usize, Option<Rc<Shape>>>>);

impl Shapes {
    fn get(&self, items: &[ObjectItem]) -> Option<Rc<Shape>> {
        if items.is_empty() {
            return None;
        }
        let mut shapes = self.0.borrow_mut();
        let shape = shapes.entry(items.as_ptr() as usize);
        shape.or_insert_with(|| Shape::of(items).map(Rc::new)).clone()
    }
}

/// What the key of an object item turned out to be.
enum Key {
    /// A name.
    Name(Str),
    /// Null, which is no name.
    Null,
    /// Not known, or wrong.
    Open,
}
