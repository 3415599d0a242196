//! `try`, `can` and `convert`: calls whose arguments are expressions.

use groma_model::convert::convert;
use groma_model::diag::Diagnostics;
use groma_model::value::Value;

use super::call::Arg;
use super::interpreter::Interpreter;
use crate::func::FunctionError;
use crate::func::special::Special;
use crate::typeexpr;

impl Interpreter<'_> {
    pub(super) fn eval_special(
        &self,
        special: Special,
        args: &[Arg<'_>],
        diagnostics: &mut Diagnostics,
    ) -> Result<Value, FunctionError> {
        match special {
            Special::Try => self.eval_try(args),
            Special::Can => self.eval_can(args),
            Special::Convert => self.eval_convert(args, diagnostics),
        }
    }

    fn eval_try(&self, args: &[Arg<'_>]) -> Result<Value, FunctionError> {
        if args.is_empty() {
            return Err(FunctionError::new("at least one argument is required"));
        }
        let quiet = self.quiet();
        let mut all = Diagnostics::new();
        for arg in args {
            let mut errors = Diagnostics::new();
            let value = quiet.arg_value(arg, &mut errors);
            let failed = errors.has_errors();
            all.extend(errors);
            if failed {
                continue;
            }
            // What is unknown may yet fail, and then another argument counts: nothing is certain, not even the type.
            return Ok(if value.is_wholly_known() { value } else { Value::dynamic() });
        }
        let mut message = String::from("no expression succeeded:\n");
        for error in &all {
            let place = error.subject.and_then(|span| self.scope.place(span));
            let place = place.map_or(String::new(), |place| format!(" (at {place})"));
            message.extend(["- ", &error.summary, &place, "\n  ", &error.detail, "\n"]);
        }
        message.push_str("\nAt least one expression must produce a successful result");
        Err(FunctionError::new(message))
    }

    fn eval_can(&self, args: &[Arg<'_>]) -> Result<Value, FunctionError> {
        let Some(arg) = args.first() else { return Err(FunctionError::new("an argument is required")) };
        let mut errors = Diagnostics::new();
        let value = self.quiet().arg_value(arg, &mut errors);
        if errors.has_errors() {
            return Ok(Value::bool(false));
        }
        if value.is_wholly_known() {
            return Ok(Value::bool(true));
        }
        Ok(Value::unknown(groma_model::ty::Type::Bool))
    }

    fn eval_convert(&self, args: &[Arg<'_>], diagnostics: &mut Diagnostics) -> Result<Value, FunctionError> {
        let [value, ty] = args else { return Err(FunctionError::new("two arguments are required")) };
        let value = self.arg_value(value, diagnostics);
        match typeexpr::type_constraint(ty.expr) {
            Ok(ty) => convert(&value, &ty).map_err(|error| FunctionError::arg(0, error.to_string())),
            Err(errors) => {
                diagnostics.extend(errors);
                Ok(Value::dynamic())
            }
        }
    }
}
