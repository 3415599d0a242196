//! Function calls: finding the function, evaluating and converting the arguments, and saying what is wrong with them.

use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;
use groma_model::text::suggestion;
use groma_model::ty::Type;
use groma_model::value::{Value, go_quote};
use groma_syntax::ast::{Call, Expr, ExprKind, TemplatePart};

use super::interpreter::{Interpreter, checked};
use super::render::Renderer;
use super::{FunctionLookup, notes};
use crate::func::call::{self, Callee};
use crate::func::special::Special;
use crate::func::{CallContext, FunctionError};

/// An argument: an expression, or one of the values that an expanded last argument had.
pub(super) struct Arg<'e> {
    pub(super) expr: &'e Expr,
    pub(super) value: Option<Value>,
}

impl Interpreter<'_> {
    pub(super) fn eval_call(&self, call: &Call, expr: &Expr, diagnostics: &mut Diagnostics) -> Value {
        let lookup = self.scope.function(&call.name);
        let callee = match &lookup {
            FunctionLookup::Core(function) => Callee::Core(function),
            FunctionLookup::External(function) => Callee::External(function),
            FunctionLookup::Unknown => {
                let error = self.unknown_function(&call.name).within(expr.span);
                self.report(error, call.name_span, expr, diagnostics);
                return Value::dynamic();
            }
            FunctionLookup::Refused(error) => {
                diagnostics.push(Diagnostic::clone(error).or_at(call.name_span));
                return Value::dynamic();
            }
            FunctionLookup::NotAllowed => {
                let error = Diagnostic::error("Function calls not allowed", "Functions may not be called here.");
                self.report(error, expr.span, expr, diagnostics);
                return Value::dynamic();
            }
        };
        let site = Site { call, expr, callee };
        let Some(args) = self.arguments(&site, diagnostics) else { return Value::dynamic() };
        if !self.count_fits(&site, &args, diagnostics) {
            return Value::dynamic();
        }
        let special = match callee {
            Callee::Core(function) => Special::of(function.name),
            Callee::External(_) => None,
        };
        match special {
            Some(special) => {
                let result = self.eval_special(special, &args, diagnostics);
                self.settle(&site, &args, result, diagnostics)
            }
            None => self.call_with_values(&site, &args, diagnostics),
        }
    }

    /// The arguments, with an expanded last one replaced by its elements. None if the call cannot be made.
    fn arguments<'e>(&self, site: &Site<'e>, diagnostics: &mut Diagnostics) -> Option<Vec<Arg<'e>>> {
        let mut args: Vec<Arg<'e>> = site.call.args.iter().map(|expr| Arg { expr, value: None }).collect();
        if !site.call.expand_final {
            return Some(args);
        }
        let last = args.pop()?.expr;
        let mut errors = Diagnostics::new();
        let value = self.eval(last, &mut errors);
        let failed = errors.has_errors();
        diagnostics.extend(errors);
        if failed {
            return None;
        }
        let mut refuse = |detail: &str| {
            let error = Diagnostic::error("Invalid expanding argument value", detail).within(site.expr.span);
            self.report_call(error, last.span, last, site, diagnostics);
        };
        let is_sequence = value.as_elements().is_some()
            || ((value.is_null() || !value.is_known())
                && matches!(value.ty(), Type::Dynamic | Type::Tuple(_) | Type::List(_) | Type::Set(_)));
        if !is_sequence {
            refuse("The expanding argument (indicated by ...) must be of a tuple, list, or set type.");
            return None;
        }
        if value.is_null() {
            refuse("The expanding argument (indicated by ...) must not be null.");
            return None;
        }
        let (value, marks) = value.unmark();
        let items = value.as_elements()?;
        args.extend(items.iter().map(|item| Arg { expr: last, value: Some(item.clone().with_marks(&marks)) }));
        Some(args)
    }

    fn count_fits(&self, site: &Site<'_>, args: &[Arg<'_>], diagnostics: &mut Diagnostics) -> bool {
        let (required, name) = (site.callee.fixed(), go_quote(&site.call.name));
        if let Some(missing) = site.callee.param(args.len()).filter(|_| args.len() < required) {
            let least = if site.callee.is_variadic() { " at least" } else { "" };
            let missing = go_quote(missing.name);
            let detail = format!("Function {name} expects{least} {required} argument(s). Missing value for {missing}.");
            let error = Diagnostic::error("Not enough function arguments", detail).within(site.expr.span);
            self.report_call(error, site.call.close_span, site.expr, site, diagnostics);
            return false;
        }
        if let Some(extra) = args.get(required).filter(|_| !site.callee.is_variadic()) {
            let detail = format!("Function {name} expects only {required} argument(s).");
            let error = Diagnostic::error("Too many function arguments", detail).within(site.expr.span);
            self.report_call(error, start_span(extra.expr), site.expr, site, diagnostics);
            return false;
        }
        true
    }

    fn call_with_values(&self, site: &Site<'_>, args: &[Arg<'_>], diagnostics: &mut Diagnostics) -> Value {
        let mut values = Vec::with_capacity(args.len());
        let mut errors = Diagnostics::new();
        for (at, arg) in args.iter().enumerate() {
            let value = self.arg_value(arg, &mut errors);
            let Some(param) = site.callee.param(at) else { continue };
            match convert(&value, param.ty) {
                Ok(value) => values.push(value),
                Err(error) => {
                    let error = invalid_argument(param.name, &error.to_string()).within(site.expr.span);
                    self.report_call(error, start_span(arg.expr), arg.expr, site, &mut errors);
                }
            }
        }
        let failed = errors.has_errors();
        diagnostics.extend(errors);
        if failed {
            return Value::dynamic();
        }
        let result = match site.callee {
            Callee::Core(function) => {
                self.with_context(|context, pure_only| call::call(function, context, pure_only, values))
            }
            Callee::External(function) => call::call_external(function, values),
        };
        self.settle(site, args, result, diagnostics)
    }

    /// The value of an argument.
    pub(super) fn arg_value(&self, arg: &Arg<'_>, diagnostics: &mut Diagnostics) -> Value {
        match &arg.value {
            Some(value) => value.clone(),
            None => self.eval(arg.expr, diagnostics),
        }
    }

    /// Runs something with what functions may use.
    fn with_context(
        &self,
        run: impl FnOnce(&CallContext<'_>, bool) -> Result<Value, FunctionError>,
    ) -> Result<Value, FunctionError> {
        let Some(settings) = self.scope.call_settings() else {
            return Err(FunctionError::new("functions may not be called here"));
        };
        let renderer = Renderer::new(self);
        let context = CallContext {
            environment: settings.environment,
            base_dir: settings.base_dir,
            plan_time: settings.plan_time,
            templates: &renderer,
        };
        run(&context, settings.pure_only)
    }

    /// The result of a call, or a diagnostic for why there is none.
    fn settle(
        &self,
        site: &Site<'_>,
        args: &[Arg<'_>],
        result: Result<Value, FunctionError>,
        diagnostics: &mut Diagnostics,
    ) -> Value {
        let error = match result {
            Ok(value) => return checked(value, site.expr, diagnostics),
            Err(error) => error,
        };
        let param = error.argument.and_then(|at| site.callee.param(at));
        let arg = error.argument.and_then(|at| args.get(at));
        match (param, arg) {
            (Some(param), Some(arg)) => {
                let error = invalid_argument(param.name, &error.message).within(site.expr.span);
                self.report_call(error, start_span(arg.expr), arg.expr, site, diagnostics);
            }
            (Some(param), None) => {
                let error = invalid_argument(param.name, &error.message);
                self.report_call(error, site.expr.span, site.expr, site, diagnostics);
            }
            (None, _) => {
                let name = go_quote(&site.call.name);
                let detail = format!("Call to function {name} failed: {}.", error.message);
                let error = Diagnostic::error("Error in function call", detail).within(site.expr.span);
                self.report_call(error, start_span(site.expr), site.expr, site, diagnostics);
            }
        }
        Value::dynamic()
    }

    /// Reports an error with the signature of the function.
    fn report_call(
        &self,
        mut error: Diagnostic,
        span: Span,
        expr: &Expr,
        site: &Site<'_>,
        diagnostics: &mut Diagnostics,
    ) {
        let (params, variadic) = site.callee.param_names();
        error.call = Some(notes::call_note(&site.call.name, params.into_iter(), variadic));
        self.report(error, span, expr, diagnostics);
    }

    fn unknown_function(&self, name: &str) -> Diagnostic {
        let summary = "Call to unknown function";
        let Some((namespace, base)) = name.rsplit_once("::") else {
            let names = self.scope.function_names();
            let meant = suggestion(name, names.iter().map(String::as_str));
            let meant = meant.map_or(String::new(), |meant| format!(" Did you mean {}?", go_quote(meant)));
            return Diagnostic::error(summary, format!("There is no function named {}.{meant}", go_quote(name)));
        };
        match namespace.split("::").next() {
            Some("core") => {
                let detail = format!("There is no builtin (core::) function named {}.", go_quote(base));
                Diagnostic::error(summary, detail)
            }
            Some("provider") => {
                let namespace = go_quote(&format!("{namespace}::"));
                Diagnostic::error(summary, format!("There are no functions in namespace {namespace}."))
            }
            _ => {
                let name = go_quote(name);
                let detail = format!("Function {name} does not exist within a valid namespace (provider,core)");
                Diagnostic::error("Unknown function namespace", detail)
            }
        }
    }
}

/// A call and the function that it is of.
struct Site<'e> {
    call: &'e Call,
    expr: &'e Expr,
    callee: Callee<'e>,
}

fn invalid_argument(param: &str, reason: &str) -> Diagnostic {
    let detail = format!("Invalid value for {} parameter: {reason}.", go_quote(param));
    Diagnostic::error("Invalid function argument", detail)
}

/// The beginning of an expression: enough to find it by, without its insides.
fn start_span(expr: &Expr) -> Span {
    let first_byte = |span: Span| Span { end: span.start + 1, ..span };
    match &expr.kind {
        ExprKind::Call(call) => call.name_span.to(call.open_span),
        ExprKind::Parens(inner) => start_span(inner),
        ExprKind::Conditional(conditional) => start_span(&conditional.condition),
        ExprKind::Binary(binary) => start_span(&binary.left),
        ExprKind::Unary(unary) => unary.op_span,
        ExprKind::Index(index) => first_byte(index.bracket_span),
        ExprKind::Splat(splat) => splat.marker_span,
        ExprKind::For(for_expr) => for_expr.open_span,
        ExprKind::Tuple(_) | ExprKind::Object(_) => first_byte(expr.span),
        ExprKind::Template(template) => match template.parts.first() {
            Some(TemplatePart::Literal { span, .. }) => *span,
            Some(TemplatePart::Interpolation { expr, .. }) => start_span(expr),
            Some(TemplatePart::If { condition, .. }) => start_span(condition),
            Some(TemplatePart::For { span, .. }) => first_byte(*span),
            None => expr.span.after(),
        },
        _ => expr.span,
    }
}
