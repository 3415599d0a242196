//! What the function groups share: describing a function in few words, and taking arguments apart.

#[cfg(test)]
pub(super) mod table;
#[cfg(test)]
pub(super) mod testing;

use groma_model::number::Number;
use groma_model::ty::Type;
use groma_model::value::Value;

use super::{CallContext, Function, FunctionError, Param, Returns};

/// What every `run` gives back.
pub(super) type Outcome = Result<Value, FunctionError>;

/// The code of a function.
pub(super) type Run = fn(&CallContext<'_>, &[Value]) -> Outcome;

/// Texts that a function makes are never longer than this.
pub(super) const MAX_TEXT: usize = 256 << 20;

impl Function {
    /// A function that always returns the same type and never null, as most do.
    pub(super) fn new(
        name: &'static str,
        description: &'static str,
        params: Vec<Param>,
        returns: Type,
        run: Run,
    ) -> Function {
        let returns = Returns::Type(returns);
        Function { name, description, params, variadic: None, returns, never_null: true, impure: false, run }
    }

    /// Lets the arguments decide the type.
    pub(super) fn typed(mut self, returns: fn(&[Value]) -> Result<Type, FunctionError>) -> Function {
        self.returns = Returns::Of(returns);
        self
    }

    /// Takes any number of further arguments.
    pub(super) fn rest(mut self, param: Param) -> Function {
        self.variadic = Some(param);
        self
    }

    /// May give null.
    pub(super) fn or_null(mut self) -> Function {
        self.never_null = false;
        self
    }
}

/// A parameter of type string.
pub(super) fn text_param(name: &'static str) -> Param {
    Param::new(name, Type::String)
}

/// A parameter of type number.
pub(super) fn number_param(name: &'static str) -> Param {
    Param::new(name, Type::Number)
}

/// A parameter that takes a value of any type.
pub(super) fn any_param(name: &'static str) -> Param {
    Param::new(name, Type::Dynamic)
}

/// The text of a string argument. The call protocol has ruled out everything that has none.
pub(super) fn text(args: &[Value], at: usize) -> &str {
    args.get(at).and_then(Value::as_str).unwrap_or_default()
}

/// The number of a number argument. The call protocol has ruled out everything that has none.
pub(super) fn number(args: &[Value], at: usize) -> &Number {
    args.get(at).and_then(Value::as_number).unwrap_or(&Number::ZERO)
}

/// A number argument that must be a machine integer.
pub(super) fn integer(args: &[Value], at: usize) -> Result<i64, FunctionError> {
    number(args, at).to_i64().ok_or_else(|| {
        FunctionError::new(format!("value must be a whole number, between {} and {}", i64::MIN, i64::MAX))
    })
}

/// Elements of a list, set or tuple argument; none if it is something else.
pub(super) fn elements(args: &[Value], at: usize) -> &[Value] {
    args.get(at).and_then(Value::as_elements).unwrap_or_default()
}
