//! `for`, in expressions and in templates. The names of a loop are a frame on the stack, so an iteration costs nothing but its
//! body.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::mark::Marks;
use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value, ValueKind, go_quote};
use groma_syntax::ast::{Expr, For, Ident};

use super::interpreter::{Binding, Frame, Interpreter, checked};
use super::limits::MAX_LOOP_ERRORS;

const INVALID_CONDITION: &str = "Invalid 'for' condition";
const INVALID_KEY: &str = "Invalid object key";

/// What is common to the loops of expressions and templates.
pub(super) struct Loop<'e> {
    pub(super) key: Option<&'e Ident>,
    pub(super) value: &'e Ident,
    pub(super) collection: &'e Expr,
    pub(super) span: Span,
}

/// What a loop goes over, or what it is worth without going.
pub(super) enum Source {
    /// Elements, without the marks of the collection.
    Elements(Value, Marks),
    /// Not known yet; of a type that can be iterated.
    Unknown(Marks),
    /// Not known yet, not even its type; or wrong.
    Nothing,
}

impl Interpreter<'_> {
    pub(super) fn eval_for(&self, for_expr: &For, expr: &Expr, diagnostics: &mut Diagnostics) -> Value {
        let each = Loop {
            key: for_expr.key_name.as_ref(),
            value: &for_expr.value_name,
            collection: &for_expr.collection,
            span: expr.span,
        };
        let source = self.source(&each, diagnostics);
        if matches!(source, Source::Nothing) {
            return Value::dynamic();
        }
        let Some(condition_marks) = self.try_condition(for_expr, &each, diagnostics) else { return Value::dynamic() };
        let (collection, marks) = match source {
            Source::Elements(collection, marks) => (collection, marks),
            Source::Unknown(marks) => return Value::dynamic().with_marks(&marks).with_marks(&condition_marks),
            Source::Nothing => return Value::dynamic(),
        };
        let mut work = Work { for_expr, span: expr.span, marks, known: true, results: Results::new(for_expr) };
        self.each(&each, &collection, diagnostics, &mut |item, diagnostics| {
            work.step(item, diagnostics);
            diagnostics.len() <= MAX_LOOP_ERRORS
        });
        if !work.known || diagnostics.len() > MAX_LOOP_ERRORS {
            return Value::dynamic().with_marks(&work.marks);
        }
        checked(work.results.into_value().with_marks(&work.marks), expr, diagnostics)
    }

    /// Evaluates what is iterated.
    pub(super) fn source(&self, each: &Loop<'_>, diagnostics: &mut Diagnostics) -> Source {
        let collection = self.eval(each.collection, diagnostics);
        let mut refuse = |summary: &str, detail: String| {
            let error = Diagnostic::error(summary, detail).within(each.span);
            self.report(error, each.collection.span, each.collection, diagnostics);
            Source::Nothing
        };
        if collection.is_null() {
            let detail = "A null value cannot be used as the collection in a 'for' expression.";
            return refuse("Iteration over null value", detail.into());
        }
        if collection.is_dynamic() {
            return Source::Nothing;
        }
        let (plain, marks) = collection.unmark();
        match plain.kind() {
            ValueKind::Bool(_) | ValueKind::Number(_) | ValueKind::String(_) => {}
            ValueKind::Unknown(_) if plain.ty().is_primitive() => {}
            ValueKind::Unknown(_) => return Source::Unknown(marks),
            _ => return Source::Elements(plain, marks),
        }
        let name = plain.friendly_type_name();
        let detail = format!("A value of type {name} cannot be used as the collection in a 'for' expression.");
        refuse("Iteration over non-iterable value", detail)
    }

    /// Runs `body` for each element until it gives false.
    pub(super) fn each(
        &self,
        each: &Loop<'_>,
        collection: &Value,
        diagnostics: &mut Diagnostics,
        body: &mut dyn FnMut(&Interpreter<'_>, &mut Diagnostics) -> bool,
    ) {
        let mut run = |key: &Value, value: &Value| {
            let key = each.key.map(|ident| (&ident.name, key));
            let binding = Binding::For { key, value: (&each.value.name, value) };
            let frame = Frame { parent: self.frame(), binding };
            body(&self.with_frame(&frame), diagnostics)
        };
        match collection.kind() {
            ValueKind::List(items) | ValueKind::Tuple(items) => {
                items.iter().enumerate().all(|(at, item)| run(&Value::number(at), item))
            }
            ValueKind::Set(items) => items.iter().all(|item| run(item, item)),
            ValueKind::Map(entries) | ValueKind::Object(entries) => {
                entries.iter().all(|(name, item)| run(&Value::string(name.clone()), item))
            }
            _ => true,
        };
    }

    /// Tries the condition without an element, which finds most mistakes in it once and not once per element.
    fn try_condition(&self, for_expr: &For, each: &Loop<'_>, diagnostics: &mut Diagnostics) -> Option<Marks> {
        let Some(condition) = &for_expr.condition else { return Some(Marks::NONE) };
        let element = Value::dynamic();
        let key = each.key.map(|ident| (&ident.name, &element));
        let frame = Frame { parent: self.frame(), binding: Binding::For { key, value: (&each.value.name, &element) } };
        let mut errors = Diagnostics::new();
        let result = self.with_frame(&frame).eval(condition, &mut errors);
        let failed = errors.has_errors();
        diagnostics.extend(errors);
        if result.is_null() {
            let detail = "The value of the 'if' clause must not be null.";
            let error = Diagnostic::error("Condition is null", detail).within(each.span);
            self.report(error, condition.span, condition, diagnostics);
            return None;
        }
        if let Err(error) = convert(&result, &Type::Bool) {
            let detail = format!("The 'if' clause value is invalid: {error}.");
            let error = Diagnostic::error(INVALID_CONDITION, detail).within(each.span);
            self.report(error, condition.span, condition, diagnostics);
            return None;
        }
        (!failed).then(|| result.marks().clone())
    }
}

/// A loop under way.
struct Work<'e> {
    for_expr: &'e For,
    span: Span,
    marks: Marks,
    known: bool,
    results: Results,
}

impl Work<'_> {
    fn step(&mut self, item: &Interpreter<'_>, diagnostics: &mut Diagnostics) {
        if !self.includes(item, diagnostics) {
            return;
        }
        let Some(key_expr) = &self.for_expr.key else {
            let value = item.eval(&self.for_expr.value, diagnostics);
            self.results.push(value);
            return;
        };
        let Some(key) = self.key(item, key_expr, diagnostics) else { return };
        let value = item.eval(&self.for_expr.value, diagnostics);
        if let Err(key) = self.results.insert(key, value) {
            let detail = format!(
                "Two different items produced the key {} in this 'for' expression. If duplicates are expected, use the \
                 ellipsis (...) after the value expression to enable grouping by key.",
                go_quote(&key)
            );
            let error = Diagnostic::error("Duplicate object key", detail).within(self.span);
            item.report(error, key_expr.span, key_expr, diagnostics);
        }
    }

    /// Whether the element takes part. If that cannot be said, the result is unknown.
    fn includes(&mut self, item: &Interpreter<'_>, diagnostics: &mut Diagnostics) -> bool {
        let Some(condition) = &self.for_expr.condition else { return true };
        let result = item.eval(condition, diagnostics);
        if result.is_null() {
            self.fail(
                item,
                INVALID_CONDITION,
                "The value of the 'if' clause must not be null.",
                condition,
                diagnostics,
            );
            return false;
        }
        let (result, marks) = result.unmark();
        self.marks = self.marks.union(&marks);
        match convert(&result, &Type::Bool) {
            Ok(result) => result.as_bool().unwrap_or_else(|| {
                self.known = false;
                false
            }),
            Err(error) => {
                let detail = format!("The 'if' clause value is invalid: {error}.");
                self.fail(item, INVALID_CONDITION, &detail, condition, diagnostics);
                false
            }
        }
    }

    fn key(&mut self, item: &Interpreter<'_>, expr: &Expr, diagnostics: &mut Diagnostics) -> Option<Str> {
        let key = item.eval(expr, diagnostics);
        if key.is_null() {
            let detail = "Key expression in 'for' expression must not produce a null value.";
            self.fail(item, INVALID_KEY, detail, expr, diagnostics);
            return None;
        }
        let (key, marks) = key.unmark();
        self.marks = self.marks.union(&marks);
        if !key.is_known() {
            self.known = false;
            return None;
        }
        match convert(&key, &Type::String) {
            Ok(key) => match key.kind() {
                ValueKind::String(name) => Some(name.clone()),
                _ => None,
            },
            Err(error) => {
                let detail = format!("The key expression produced an invalid result: {error}.");
                self.fail(item, INVALID_KEY, &detail, expr, diagnostics);
                None
            }
        }
    }

    /// Reports an error, but only for the first element that has one.
    fn fail(
        &mut self,
        item: &Interpreter<'_>,
        summary: &str,
        detail: &str,
        expr: &Expr,
        diagnostics: &mut Diagnostics,
    ) {
        if self.known {
            item.report(Diagnostic::error(summary, detail).within(self.span), expr.span, expr, diagnostics);
        }
        self.known = false;
    }
}

/// What a loop has made so far.
enum Results {
    Tuple(Vec<Value>),
    Object(BTreeMap<Str, Value>),
    Groups(BTreeMap<Str, Vec<Value>>),
}

impl Results {
    fn new(for_expr: &For) -> Self {
        match for_expr.key {
            None => Results::Tuple(Vec::new()),
            Some(_) if for_expr.group => Results::Groups(BTreeMap::new()),
            Some(_) => Results::Object(BTreeMap::new()),
        }
    }

    fn push(&mut self, value: Value) {
        if let Results::Tuple(values) = self {
            values.push(value);
        }
    }

    /// Gives the key back if it is taken.
    fn insert(&mut self, key: Str, value: Value) -> Result<(), Str> {
        match self {
            Results::Tuple(_) => {}
            Results::Groups(groups) => groups.entry(key).or_default().push(value),
            Results::Object(values) => match values.entry(key) {
                Entry::Vacant(place) => {
                    place.insert(value);
                }
                Entry::Occupied(place) => return Err(place.key().clone()),
            },
        }
        Ok(())
    }

    fn into_value(self) -> Value {
        match self {
            Results::Tuple(values) => Value::tuple(values),
            Results::Object(values) => object(values),
            Results::Groups(groups) => {
                object(groups.into_iter().map(|(key, values)| (key, Value::tuple(values))).collect())
            }
        }
    }
}

fn object(values: BTreeMap<Str, Value>) -> Value {
    let (names, values): (Vec<Str>, Vec<Value>) = values.into_iter().unzip();
    Value::object_of(Entries::with_names(Arc::new(names), values))
}
