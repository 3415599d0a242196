//! `a[*].b`: the same steps for each element. A value that is no sequence counts as a sequence of one, and null as an empty one.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::{Refinement, Value, ValueKind};
use groma_syntax::ast::{Expr, Splat};

use super::interpreter::{Binding, Frame, Interpreter, checked};
use super::limits::MAX_LOOP_ERRORS;

impl Interpreter<'_> {
    pub(super) fn eval_splat(&self, splat: &Splat, expr: &Expr, diagnostics: &mut Diagnostics) -> Value {
        let mut errors = Diagnostics::new();
        let source = self.eval(&splat.source, &mut errors);
        let failed = errors.has_errors();
        diagnostics.extend(errors);
        if failed {
            return Value::dynamic();
        }
        let is_sequence = source.as_elements().is_some()
            || (source.is_null() || !source.is_known())
                && matches!(source.ty(), Type::Tuple(_) | Type::List(_) | Type::Set(_));
        if source.is_null() {
            if !is_sequence {
                return Value::tuple(Vec::new()).with_marks(source.marks());
            }
            let detail = "Splat expressions (with the * symbol) cannot be applied to null sequences.";
            let error =
                Diagnostic::error("Splat of null value", detail).within(splat.source.span.to(splat.marker_span));
            self.report(error, splat.source.span, &splat.source, diagnostics);
            return Value::dynamic();
        }
        if source.is_dynamic() {
            return Value::dynamic().with_marks(source.marks());
        }
        if is_sequence {
            return self.splat_sequence(&source, false, splat, expr, diagnostics);
        }
        // If it may yet turn out null, the number of elements is not known; the steps are still checked.
        let may_be_null = !source.is_known() && !source.is_definitely_not_null();
        let marks = source.marks().clone();
        let single = Value::tuple(vec![source]).with_marks(&marks);
        self.splat_sequence(&single, may_be_null, splat, expr, diagnostics)
    }

    fn splat_sequence(
        &self,
        source: &Value,
        may_be_empty: bool,
        splat: &Splat,
        expr: &Expr,
        diagnostics: &mut Diagnostics,
    ) -> Value {
        let Some(items) = source.as_elements() else {
            return self.splat_unknown(source, splat, diagnostics);
        };
        let mut values = Vec::with_capacity(items.len());
        let mut errors = Diagnostics::new();
        for item in items {
            values.push(self.splat_one(item, splat, &mut errors));
            if errors.len() > MAX_LOOP_ERRORS {
                break;
            }
        }
        let failed = errors.has_errors();
        diagnostics.extend(errors);
        let marks = source.marks();
        if may_be_empty {
            return Value::dynamic().with_marks(marks);
        }
        if failed {
            let ty = self.splat_type(&source.ty(), splat, &mut Diagnostics::new());
            return Value::unknown(ty).with_marks(marks);
        }
        if matches!(source.kind(), ValueKind::Tuple(_)) {
            return checked(Value::tuple(values).with_marks(marks), expr, diagnostics);
        }
        let element = match common_element(&values) {
            Ok(Some(element)) => element,
            Ok(None) => match self.splat_type(&source.ty(), splat, diagnostics).element() {
                Some(element) => element.clone(),
                None => Type::Dynamic,
            },
            Err(Mixed) => {
                diagnostics.push(mixed_types().at(splat.each.span).within(expr.span));
                return Value::dynamic();
            }
        };
        checked(Value::list(element, values).with_marks(marks), expr, diagnostics)
    }

    fn splat_one(&self, item: &Value, splat: &Splat, diagnostics: &mut Diagnostics) -> Value {
        let frame = Frame { parent: self.frame(), binding: Binding::Splat(item) };
        self.with_frame(&frame).eval(&splat.each, diagnostics)
    }

    /// The result of an unknown sequence: of a known type, and of the same length.
    fn splat_unknown(&self, source: &Value, splat: &Splat, diagnostics: &mut Diagnostics) -> Value {
        let source_type = source.ty();
        let ty = self.splat_type(&source_type, splat, diagnostics);
        let mut refinement = Refinement::not_null();
        if matches!(ty, Type::List(_)) && source_type.is_collection() {
            let range = source.range();
            refinement = Refinement::length(range.min_length, range.max_length);
        }
        Value::unknown_refined(ty, refinement).with_marks(source.marks())
    }

    /// The type of the result, from the type of the source.
    fn splat_type(&self, source: &Type, splat: &Splat, diagnostics: &mut Diagnostics) -> Type {
        let mut of = |ty: &Type| self.splat_one(&Value::unknown(ty.clone()), splat, diagnostics).ty();
        match source {
            Type::List(element) | Type::Set(element) => Type::list(of(element)),
            Type::Tuple(elements) => Type::tuple(elements.iter().map(of).collect()),
            _ => Type::Dynamic,
        }
    }
}

/// The values have no type in common.
struct Mixed;

/// The type that all values have; none if there are no values. A value of no type goes with any.
fn common_element(values: &[Value]) -> Result<Option<Type>, Mixed> {
    let mut common: Option<Type> = None;
    for value in values {
        let ty = value.ty();
        match &common {
            None => common = Some(ty),
            Some(Type::Dynamic) => common = Some(ty),
            Some(known) if *known == ty || ty == Type::Dynamic => {}
            Some(_) => return Err(Mixed),
        }
    }
    Ok(common)
}

fn mixed_types() -> Diagnostic {
    Diagnostic::error(
        "Invalid nested splat expressions",
        "The second level of splat expression produced elements of different types, so it isn't possible to construct \
         a valid list to represent the top-level result.\n\nConsider using a for expression instead, to produce a \
         tuple-typed result which can therefore have non-homogenous element types.",
    )
}
