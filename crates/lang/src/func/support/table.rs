//! Tables of expressions and what they come to, for tests of functions through the whole call protocol.

use groma_model::mark::Mark;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value, ValueKind};

use crate::display::TYPE_TEXT;
use crate::eval::testing::TestScope;

/// Names for unknown and sensitive values of all kinds.
pub(crate) fn scope() -> TestScope {
    let secret = |value: Value| value.mark(Mark::Sensitive);
    TestScope::with([
        ("u_any", Value::dynamic()),
        ("u_bool", Value::unknown(Type::Bool)),
        ("u_number", Value::unknown(Type::Number)),
        ("u_string", Value::unknown(Type::String)),
        ("u_list", Value::unknown(Type::list(Type::String))),
        ("u_set", Value::unknown(Type::set(Type::String))),
        ("u_map", Value::unknown(Type::map(Type::String))),
        ("u_tuple", Value::unknown(Type::tuple(vec![Type::String, Type::Number]))),
        ("u_object", Value::unknown(Type::object([("a", Type::String)]))),
        ("secret", secret(Value::string("hidden"))),
        ("secret_list", secret(Value::strings(["a", "b"]))),
        ("secret_map", secret(Value::map(Type::String, [("a", Value::string("b"))].into_iter().collect()))),
        ("ephemeral", Value::string("passing").mark(Mark::Ephemeral)),
    ])
}

/// Checks that each expression has the value that is written beside it.
#[track_caller]
pub(crate) fn check_values(cases: &[(&str, &str)]) {
    let scope = scope();
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(expression, expected)| {
            let (value, diagnostics) = scope.eval(expression);
            let errors: Vec<String> = diagnostics.into_iter().map(|error| error.detail).collect();
            let found = if errors.is_empty() { short(&value) } else { format!("error: {errors:?}") };
            (found != *expected).then(|| format!("{expression}\n  expected {expected}\n  found    {found}\n"))
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.concat());
}

/// Checks that each expression fails, for the reason that is written beside it.
#[track_caller]
pub(crate) fn check_errors(cases: &[(&str, &str)]) {
    let scope = scope();
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(expression, reason)| {
            let (value, diagnostics) = scope.eval(expression);
            let errors: Vec<String> = diagnostics.into_iter().map(|error| error.detail).collect();
            let fits = errors.iter().any(|error| error.contains(reason));
            (!fits).then(|| format!("{expression}\n  expected {reason}\n  found    {errors:?} {}\n", short(&value)))
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.concat());
}

/// A value in few characters.
fn short(value: &Value) -> String {
    let type_text = || value.as_entries().and_then(|entries| entries.get(TYPE_TEXT)).map(short);
    if value.marks().contains(&Mark::TypeText)
        && let Some(text) = type_text()
    {
        return text;
    }
    if value.marks().is_sensitive() {
        return "(sensitive)".to_owned();
    }
    if value.marks().is_ephemeral() {
        return "(ephemeral)".to_owned();
    }
    let items = |items: &[Value]| items.iter().map(short).collect::<Vec<_>>().join(", ");
    let named = |entries: &Entries| {
        entries.iter().map(|(name, value)| format!("{name:?}: {}", short(value))).collect::<Vec<_>>().join(", ")
    };
    match value.kind() {
        ValueKind::Null => "null".to_owned(),
        ValueKind::Unknown(_) => format!("unknown {}", kind_of(&value.ty())),
        ValueKind::List(list) => format!("list[{}]", items(list)),
        ValueKind::Set(set) => format!("set[{}]", items(set)),
        ValueKind::Tuple(tuple) => format!("[{}]", items(tuple)),
        ValueKind::Map(entries) => format!("map{{{}}}", named(entries)),
        ValueKind::Object(entries) => format!("{{{}}}", named(entries)),
        ValueKind::Bool(_) | ValueKind::Number(_) | ValueKind::String(_) => format!("{value:?}"),
    }
}

fn kind_of(ty: &Type) -> &'static str {
    match ty {
        Type::Dynamic => "any",
        Type::Bool => "bool",
        Type::Number => "number",
        Type::String => "string",
        Type::List(_) => "list",
        Type::Set(_) => "set",
        Type::Map(_) => "map",
        Type::Tuple(_) => "tuple",
        Type::Object(_) => "object",
    }
}
