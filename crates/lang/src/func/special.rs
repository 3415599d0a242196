//! Functions that are about marks, templates and types rather than about contents, and those that the evaluator runs itself.

use groma_model::mark::Mark;
use groma_model::ty::Type;
use groma_model::value::Value;

use super::support::any_param;
use super::{CallContext, Function, FunctionError, Param, registry};
use crate::display;
use crate::typeexpr::type_text;

/// Functions whose arguments are expressions, not values. The evaluator runs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    /// The first argument that has no error.
    Try,
    /// Whether the argument has no error.
    Can,
    /// A value converted to a type.
    Convert,
}

impl Special {
    /// The special function of that name.
    pub(crate) fn of(name: &str) -> Option<Special> {
        match name {
            "try" => Some(Special::Try),
            "can" => Some(Special::Can),
            "convert" => Some(Special::Convert),
            _ => None,
        }
    }
}

/// All functions of this group.
pub(super) fn functions() -> Vec<Function> {
    vec![
        try_function(),
        can(),
        sensitive(),
        nonsensitive(),
        issensitive(),
        ephemeralasnull(),
        templatefile(),
        templatestring(),
    ]
}

/// `type`, which only the console has.
pub(super) fn console_functions() -> Vec<Function> {
    let about = "Gives the type of a value, in the syntax of type constraints.";
    let run = |_: &CallContext<'_>, args: &[Value]| {
        let value = first(args);
        // What `type` gives has a type of its own, whatever it is made of.
        let is_type = value.marks().contains(&Mark::TypeText);
        let text = if is_type { "type".to_owned() } else { type_text(&value.ty()) };
        Ok(display::type_value(&text).with_marks(&value.marks_deep()))
    };
    let params = vec![as_is()];
    let returns = Type::object([(display::TYPE_TEXT, Type::String)]);
    vec![Function::new("type", about, params, returns, run)]
}

/// `convert`, which newer versions of the language have: it can be called, but is not listed.
pub(super) fn unlisted_functions() -> Vec<Function> {
    let about = "Converts a value to a type constraint.";
    let params = vec![any_param("value").null().dynamic(), any_param("type")];
    vec![Function::new("convert", about, params, Type::Dynamic, evaluated).or_null()]
}

/// Stands in for what the evaluator does itself.
fn evaluated(_: &CallContext<'_>, _: &[Value]) -> Result<Value, FunctionError> {
    Err(FunctionError::new("this function can only be called in an expression"))
}

fn try_function() -> Function {
    let about = "Evaluates its arguments in turn and gives the first that has no error.";
    let param = any_param("expressions").about("Expressions, of which later ones stand in for earlier ones.");
    Function::new("try", about, vec![], Type::Dynamic, evaluated).rest(param).or_null()
}

fn can() -> Function {
    let about = "Evaluates its argument and says whether that went without an error.";
    let param = any_param("expression").dynamic().about("The expression to try.");
    Function::new("can", about, vec![param], Type::Bool, evaluated).or_null()
}

/// A parameter that takes everything as it is.
fn as_is() -> Param {
    any_param("value").null().unknown().dynamic().marked()
}

#[expect(clippy::unnecessary_wraps, reason = "the type of a result may also be an error")]
fn same_type(args: &[Value]) -> Result<Type, FunctionError> {
    Ok(args.first().map_or(Type::Dynamic, Value::ty))
}

fn first(args: &[Value]) -> Value {
    args.first().cloned().unwrap_or_else(Value::dynamic)
}

fn sensitive() -> Function {
    let about = "Marks a value as sensitive, so that it is not shown.";
    let param = as_is().about("What is not to be shown.");
    let run = |_: &CallContext<'_>, args: &[Value]| Ok(first(args).mark(Mark::Sensitive));
    Function::new("sensitive", about, vec![param], Type::Dynamic, run).typed(same_type).or_null()
}

fn nonsensitive() -> Function {
    let about = "Takes the sensitive mark off a value, so that it can be shown.";
    let param = as_is().about("What may be shown after all.");
    let run = |_: &CallContext<'_>, args: &[Value]| {
        let (value, marks) = first(args).unmark();
        Ok(value.with_marks(&marks.without(|mark| *mark == Mark::Sensitive)))
    };
    Function::new("nonsensitive", about, vec![param], Type::Dynamic, run).typed(same_type).or_null()
}

fn issensitive() -> Function {
    let about = "Says whether a value is marked as sensitive.";
    let param = as_is().about("The value to look at.");
    let run = |_: &CallContext<'_>, args: &[Value]| {
        let value = first(args);
        // Whether an unknown value is sensitive may itself depend on something unknown.
        if value.is_known() { Ok(Value::bool(value.marks().is_sensitive())) } else { Ok(Value::unknown(Type::Bool)) }
    };
    Function::new("issensitive", about, vec![param], Type::Bool, run)
}

fn ephemeralasnull() -> Function {
    let about = "Replaces every ephemeral part of a value with null.";
    let param = as_is().about("The value whose ephemeral parts are to go.");
    let run = |_: &CallContext<'_>, args: &[Value]| {
        first(args).transform(&mut |_, value| Ok::<_, FunctionError>(without_ephemeral(value)))
    };
    Function::new("ephemeralasnull", about, vec![param], Type::Dynamic, run).typed(same_type).or_null()
}

fn without_ephemeral(value: Value) -> Value {
    if !value.marks().is_ephemeral() {
        return value;
    }
    let ty = value.ty();
    let marks = value.marks().without(|mark| *mark == Mark::Ephemeral);
    let plain = if value.is_known() { Value::null(ty) } else { Value::unknown(ty) };
    plain.with_marks(&marks)
}

fn templatefile() -> Function {
    let about = "Reads a file and renders it as a template, with a map of variables.";
    let path = Param::new("path", Type::String).marked().about("The file.");
    let vars = any_param("vars").about("The names that the template may use.");
    let run = |context: &CallContext<'_>, args: &[Value]| {
        let [path, vars] = args else { return Err(FunctionError::new("two arguments are required")) };
        let Some(file) = registry::core_functions().get("file") else {
            return Err(FunctionError::new("files cannot be read here"));
        };
        let (text, _) = (file.run)(context, std::slice::from_ref(path))?.unmark();
        let name = path.as_str().unwrap_or_default();
        let text = text.as_str().unwrap_or_default();
        let value = context.templates.render("templatefile", name, text, vars)?;
        Ok(value.with_marks(path.marks()))
    };
    Function::new("templatefile", about, vec![path, vars], Type::Dynamic, run).or_null()
}

fn templatestring() -> Function {
    let about = "Renders a string as a template, with a map of variables.";
    let data = Param::new("data", Type::String).marked().about("The template.");
    let vars = any_param("vars").marked().about("The names that the template may use.");
    let run = |context: &CallContext<'_>, args: &[Value]| {
        let [data, vars] = args else { return Err(FunctionError::new("two arguments are required")) };
        let text = data.as_str().unwrap_or_default();
        let value = context.templates.render("templatestring", "NoFileNeeded", text, vars)?;
        Ok(value.with_marks(data.marks()))
    };
    Function::new("templatestring", about, vec![data, vars], Type::Dynamic, run).or_null()
}
