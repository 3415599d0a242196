//! Reading a type from an expression.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::ty::{AttributeType, ObjectType, Type};
use groma_model::value::{Value, go_quote};
use groma_syntax::ast::{Call, Expr, ObjectItem};

use super::{Defaults, TypeConstraint};
use crate::eval::{EmptyScope, evaluate};

const SUMMARY: &str = "Invalid type specification";

/// What may occur in a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// Neither `any` nor `optional`.
    Exact,
    /// `any` and `optional(type)`.
    Constraint,
    /// `any` and `optional(type, default)`.
    ConstraintWithDefaults,
}

/// Reads types and collects what is wrong with them.
pub(super) struct Parser {
    rules: Rules,
    pub(super) diagnostics: Diagnostics,
}

impl Parser {
    pub(super) fn new(rules: Rules) -> Self {
        Self { rules, diagnostics: Diagnostics::new() }
    }

    fn fail(&mut self, detail: impl Into<String>, span: Span, context: Span) -> TypeConstraint {
        self.diagnostics.push(Diagnostic::error(SUMMARY, detail).at(span).within(context));
        TypeConstraint::any()
    }

    /// Reads one type; any type where it cannot be read.
    pub(super) fn read(&mut self, expr: &Expr) -> TypeConstraint {
        if let Some(keyword) = expr.as_keyword() {
            return self.keyword(&keyword, expr);
        }
        match expr.as_call() {
            Ok(call) => self.call(&call, expr),
            Err(_) => self.fail(
                "A type specification is either a primitive type keyword (bool, number, string) or a complex type \
                 constructor call, like list(string).",
                expr.span,
                expr.span,
            ),
        }
    }

    fn keyword(&mut self, keyword: &str, expr: &Expr) -> TypeConstraint {
        let plain = |ty| TypeConstraint { ty, defaults: None };
        match keyword {
            "bool" => plain(Type::Bool),
            "string" => plain(Type::String),
            "number" => plain(Type::Number),
            "any" if self.rules != Rules::Exact => plain(Type::Dynamic),
            "any" => self.fail(
                "The keyword \"any\" cannot be used in this type specification: an exact type is required.",
                expr.span,
                expr.span,
            ),
            "list" | "map" | "set" | "object" | "tuple" => self.fail(constructor_needs(keyword), expr.span, expr.span),
            _ => {
                let detail = format!("The keyword {} is not a valid type specification.", go_quote(keyword));
                self.fail(detail, expr.span, expr.span)
            }
        }
    }

    fn call(&mut self, call: &Call, expr: &Expr) -> TypeConstraint {
        let name = call.name.as_str();
        let args_span = call.open_span.to(call.close_span);
        match name {
            "bool" | "string" | "number" => {
                let detail = format!("Primitive type keyword \"{name}\" does not expect arguments.");
                return self.fail(detail, args_span, expr.span);
            }
            "any" => {
                let detail = "Type constraint keyword \"any\" does not expect arguments.";
                return self.fail(detail, args_span, expr.span);
            }
            "list" | "set" | "map" | "object" | "tuple" => {}
            "optional" => {
                let detail = "Keyword \"optional\" is valid only as a modifier for object type attributes.";
                return self.fail(detail, call.name_span, expr.span);
            }
            _ => {
                let detail = format!("Keyword {} is not a valid type constructor.", go_quote(name));
                return self.fail(detail, expr.span, expr.span);
            }
        }
        let [argument] = call.args.as_slice() else {
            let span = match call.args.as_slice() {
                [_, second, .., last] => second.span.to(last.span),
                [_, second] => second.span,
                _ => args_span,
            };
            return self.fail(constructor_needs(name), span, args_span);
        };
        match name {
            "list" => self.collection(argument, Type::list),
            "set" => self.collection(argument, Type::set),
            "map" => self.collection(argument, Type::map),
            "object" => self.object(argument, expr),
            _ => self.tuple(argument, expr),
        }
    }

    fn collection(&mut self, element: &Expr, of: fn(Type) -> Type) -> TypeConstraint {
        let element = self.read(element);
        let ty = of(element.ty);
        let defaults = element.defaults.map(|inner| Defaults::of_elements(ty.clone(), inner));
        TypeConstraint { ty, defaults }
    }

    fn tuple(&mut self, argument: &Expr, expr: &Expr) -> TypeConstraint {
        let Ok(elements) = argument.as_list() else {
            return self.fail("Tuple type constructor requires a list of element types.", argument.span, expr.span);
        };
        let mut types = Vec::with_capacity(elements.len());
        let mut children = BTreeMap::new();
        for (at, element) in elements.iter().enumerate() {
            let element = self.read(element);
            types.push(element.ty);
            if let Some(defaults) = element.defaults {
                children.insert(Str::from(at.to_string()), defaults);
            }
        }
        let ty = Type::tuple(types);
        TypeConstraint { defaults: Defaults::structured(&ty, BTreeMap::new(), children), ty }
    }

    fn object(&mut self, argument: &Expr, expr: &Expr) -> TypeConstraint {
        let Ok(items) = argument.as_map() else {
            return self.fail(
                "Object type constructor requires a map whose keys are attribute names and whose values are the \
                 corresponding attribute types.",
                argument.span,
                expr.span,
            );
        };
        let mut object = ObjectInMaking::default();
        for item in items {
            self.attribute(item, expr, &mut object);
        }
        let ty = Type::Object(Arc::new(ObjectType::with_optional(object.attributes)));
        TypeConstraint { defaults: Defaults::structured(&ty, object.values, object.children), ty }
    }

    fn attribute(&mut self, item: &ObjectItem, expr: &Expr, object: &mut ObjectInMaking) {
        let Some(name) = item.key.as_keyword() else {
            self.fail("Object constructor map keys must be attribute names.", item.key.span, expr.span);
            return;
        };
        if object.attributes.contains_key(&name) {
            self.fail("Object constructor map keys must be unique.", item.key.span, expr.span);
            return;
        }
        let call = item.value.as_call().ok().filter(|call| call.name == "optional");
        let Some(call) = call else {
            let attribute = self.read(&item.value);
            object.add(name, attribute, false);
            return;
        };
        let Some(type_expr) = call.args.first() else {
            let detail = "Optional attribute modifier requires the attribute type as its argument.";
            self.fail(detail, call.open_span.to(call.close_span), item.value.span);
            return;
        };
        let (optional, default) = self.modifier(&call, item.value.span);
        let attribute = self.read(type_expr);
        if let Some((default, span)) = default {
            match convert(&default, &attribute.ty) {
                Ok(value) => {
                    object.values.insert(name.clone(), value);
                }
                Err(error) => {
                    let detail =
                        format!("This default value is not compatible with the attribute's type constraint: {error}.");
                    let summary = "Invalid default value for optional attribute";
                    self.diagnostics.push(Diagnostic::error(summary, detail).at(span));
                }
            }
        }
        object.add(name, attribute, optional);
    }

    /// What `optional(…)` says: whether the attribute is optional, and its default with its place.
    fn modifier(&mut self, call: &Call, span: Span) -> (bool, Option<(Value, Span)>) {
        let args_span = call.open_span.to(call.close_span);
        match (self.rules, call.args.as_slice()) {
            (Rules::Exact, _) => {
                let detail = "Optional attribute modifier is only for type constraints, not for exact types.";
                self.fail(detail, call.name_span, span);
                (false, None)
            }
            (_, [_]) => (true, None),
            (Rules::ConstraintWithDefaults, [_, default]) => {
                let (value, diagnostics) = evaluate(default, &EmptyScope);
                let failed = diagnostics.has_errors();
                self.diagnostics.extend(diagnostics);
                if failed { (false, None) } else { (true, Some((value, default.span))) }
            }
            (Rules::ConstraintWithDefaults, _) => {
                let detail = "Optional attribute modifier expects at most two arguments: the attribute type, and a \
                              default value.";
                self.fail(detail, args_span, span);
                (false, None)
            }
            (Rules::Constraint, _) => {
                let detail = "Optional attribute modifier expects only one argument: the attribute type.";
                self.fail(detail, args_span, span);
                (false, None)
            }
        }
    }
}

/// The attributes of an object type, as far as they are read.
#[derive(Default)]
struct ObjectInMaking {
    attributes: BTreeMap<Str, AttributeType>,
    values: BTreeMap<Str, Value>,
    children: BTreeMap<Str, Defaults>,
}

impl ObjectInMaking {
    fn add(&mut self, name: Str, attribute: TypeConstraint, optional: bool) {
        if let Some(defaults) = attribute.defaults {
            self.children.insert(name.clone(), defaults);
        }
        self.attributes.insert(name, AttributeType { ty: attribute.ty, optional });
    }
}

fn constructor_needs(name: &str) -> String {
    let what = match name {
        "object" => "the attribute types and values as a map",
        "tuple" => "the element types as a list",
        _ => "the element type",
    };
    format!("The {name} type constructor requires one argument specifying {what}.")
}
