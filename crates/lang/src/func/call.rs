//! The call protocol: what happens to arguments before a function sees them, and to its result before the caller does.
//!
//! A function that has not said otherwise never sees null, unknown or marked arguments: null is an error, an unknown
//! argument makes the result unknown, and marks are taken off (deeply) and put on the result.

use groma_model::mark::Marks;
use groma_model::ty::Type;
use groma_model::value::{Refinement, Value};

use super::{CallContext, ExternalFunction, Function, FunctionError, Param, Returns};

/// What the protocol needs to know of a parameter.
#[derive(Clone, Copy)]
pub struct ParamView<'a> {
    /// Its name.
    pub name: &'a str,
    /// Arguments are converted to it.
    pub ty: &'a Type,
    allow_null: bool,
    allow_unknown: bool,
    allow_dynamic: bool,
    allow_marked: bool,
}

impl<'a> From<&'a Param> for ParamView<'a> {
    fn from(param: &'a Param) -> Self {
        Self {
            name: param.name,
            ty: &param.ty,
            allow_null: param.allow_null,
            allow_unknown: param.allow_unknown,
            allow_dynamic: param.allow_dynamic,
            allow_marked: param.allow_marked,
        }
    }
}

/// A function to be called, wherever it comes from.
#[derive(Clone, Copy)]
pub enum Callee<'a> {
    /// A function of the language.
    Core(&'a Function),
    /// A function of a provider.
    External(&'a ExternalFunction),
}

impl<'a> Callee<'a> {
    /// How many parameters it has, a variadic one not counted.
    pub fn fixed(self) -> usize {
        match self {
            Callee::Core(function) => function.params.len(),
            Callee::External(function) => function.params.len(),
        }
    }

    /// Whether it takes any number of further arguments.
    pub fn is_variadic(self) -> bool {
        match self {
            Callee::Core(function) => function.variadic.is_some(),
            Callee::External(function) => function.variadic.is_some(),
        }
    }

    /// The parameter for the argument at a position.
    pub fn param(self, at: usize) -> Option<ParamView<'a>> {
        match self {
            Callee::Core(function) => function.params.get(at).or(function.variadic.as_ref()).map(ParamView::from),
            Callee::External(function) => {
                let param = function.params.get(at).or(function.variadic.as_ref())?;
                Some(ParamView {
                    name: &param.name,
                    ty: &param.ty,
                    allow_null: param.allow_null,
                    allow_unknown: param.allow_unknown,
                    allow_dynamic: true,
                    allow_marked: false,
                })
            }
        }
    }

    /// Names of the parameters, and of the variadic one.
    pub fn param_names(self) -> (Vec<&'a str>, Option<&'a str>) {
        match self {
            Callee::Core(function) => (
                function.params.iter().map(|param| param.name).collect(),
                function.variadic.as_ref().map(|param| param.name),
            ),
            Callee::External(function) => (
                function.params.iter().map(|param| param.name.as_str()).collect(),
                function.variadic.as_ref().map(|param| param.name.as_str()),
            ),
        }
    }
}

/// Calls a function of the language. Arguments must be converted to the types of their parameters already.
pub fn call(
    function: &Function,
    context: &CallContext<'_>,
    pure_only: bool,
    args: Vec<Value>,
) -> Result<Value, FunctionError> {
    let prepared = prepare(Callee::Core(function), args)?;
    let refined = |value: Value| if function.never_null { value.refine_not_null() } else { value };
    if prepared.dynamic {
        return Ok(Value::dynamic().with_marks(&prepared.marks));
    }
    let ty = match &function.returns {
        Returns::Type(ty) => ty.clone(),
        Returns::Of(of) => of(&prepared.args)?,
    };
    if function.impure && pure_only {
        return Ok(Value::unknown(ty).with_marks(&prepared.marks));
    }
    if prepared.unknown {
        return Ok(refined(Value::unknown(ty)).with_marks(&prepared.marks));
    }
    let value = (function.run)(context, &prepared.args)?;
    Ok(refined(value).with_marks(&prepared.marks))
}

/// Calls a function of a provider. Arguments must be converted to the types of their parameters already.
pub fn call_external(function: &ExternalFunction, args: Vec<Value>) -> Result<Value, FunctionError> {
    let prepared = prepare(Callee::External(function), args)?;
    if prepared.unknown {
        let value = Value::unknown_refined(function.returns.clone(), Refinement::default());
        return Ok(value.with_marks(&prepared.marks));
    }
    Ok((function.call)(&prepared.args)?.with_marks(&prepared.marks))
}

/// Arguments as the function may see them, and what they mean for the result.
struct Prepared {
    args: Vec<Value>,
    marks: Marks,
    /// The type of an argument is not known, so that of the result is not either.
    dynamic: bool,
    /// An argument is not known, so the result is not either.
    unknown: bool,
}

fn prepare(callee: Callee<'_>, args: Vec<Value>) -> Result<Prepared, FunctionError> {
    check_count(callee, args.len())?;
    let mut prepared =
        Prepared { args: Vec::with_capacity(args.len()), marks: Marks::NONE, dynamic: false, unknown: false };
    for (at, arg) in args.into_iter().enumerate() {
        let Some(param) = callee.param(at) else { continue };
        // Behind an argument of unknown type nothing is checked any more, but marks are still collected.
        if !prepared.dynamic {
            if arg.is_null() && !param.allow_null {
                return Err(FunctionError::arg(at, "argument must not be null"));
            }
            prepared.dynamic = !param.allow_dynamic && arg.is_dynamic();
        }
        prepared.unknown |= !arg.is_known() && !param.allow_unknown;
        let arg = if param.allow_marked {
            arg
        } else {
            let (arg, marks) = arg.unmark_deep();
            prepared.marks = prepared.marks.union(&marks);
            arg
        };
        prepared.args.push(arg);
    }
    Ok(prepared)
}

fn check_count(callee: Callee<'_>, given: usize) -> Result<(), FunctionError> {
    let required = callee.fixed();
    if given < required && callee.is_variadic() {
        let message = format!("wrong number of arguments (at least {required} required; {given} given)");
        return Err(FunctionError::new(message));
    }
    if given < required || (given > required && !callee.is_variadic()) {
        let message = format!("wrong number of arguments ({required} required; {given} given)");
        return Err(FunctionError::new(message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use groma_model::mark::Mark;

    use super::*;
    use crate::eval::testing::TestScope;
    use crate::func::support::{text, text_param};

    fn shout() -> Function {
        let run = |_: &CallContext<'_>, args: &[Value]| Ok(Value::string(text(args, 0).to_uppercase()));
        Function::new("shout", "", vec![text_param("str")], Type::String, run)
    }

    fn run(function: &Function, arg: Value) -> Result<Value, FunctionError> {
        TestScope::new().with_context(|context| call(function, context, false, vec![arg]))
    }

    #[test]
    fn marks_go_around_the_function() {
        let value = run(&shout(), Value::string("a").mark(Mark::Sensitive)).unwrap();
        assert!(value.marks().is_sensitive());
        assert_eq!(value.unmark().0, Value::string("A"));
    }

    #[test]
    fn unknown_arguments_make_an_unknown_result() {
        let value = run(&shout(), Value::unknown(Type::String)).unwrap();
        assert!(!value.is_known() && value.is_definitely_not_null() && value.ty() == Type::String);
        assert_eq!(run(&shout(), Value::dynamic()).unwrap().ty(), Type::Dynamic);
    }

    #[test]
    fn null_is_refused() {
        let error = run(&shout(), Value::null(Type::String)).unwrap_err();
        assert_eq!(error, FunctionError::arg(0, "argument must not be null"));
    }

    #[test]
    fn the_count_is_checked() {
        let error = TestScope::new().with_context(|context| call(&shout(), context, false, vec![])).unwrap_err();
        assert_eq!(error.message, "wrong number of arguments (1 required; 0 given)");
    }

    #[test]
    fn impure_functions_wait() {
        let mut function = shout();
        function.impure = true;
        let value = TestScope::new().with_context(|context| call(&function, context, true, vec![Value::string("a")]));
        assert!(!value.unwrap().is_known());
    }
}
