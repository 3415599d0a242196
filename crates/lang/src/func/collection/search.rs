//! Finding elements: by value, by position, by key.

use std::collections::HashSet;

use groma_model::convert::{convert, unify_unsafe};
use groma_model::mark::Marks;
use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind, go_quote};

use super::super::support::{Outcome, any_param, elements, number_param, text, text_param};
use super::super::{CallContext, Function, FunctionError, Param};
use super::{element_type, whole_number};

pub(super) fn functions() -> Vec<Function> {
    let mut all = by_value();
    all.extend(by_key());
    all
}

fn by_value() -> Vec<Function> {
    let lists = |name: &'static str, about: &'static str| Param::new(name, Type::list(Type::Dynamic)).about(about);
    vec![
        Function::new(
            "contains",
            "Tells whether a value is an element of a list, set or tuple.",
            vec![any_param("list").about("Where to look."), any_param("value").about("What to look for.")],
            Type::Bool,
            contains,
        ),
        Function::new(
            "index",
            "Gives the position of the first element of a list that equals a value.",
            vec![any_param("list").about("Where to look."), any_param("value").about("What to look for.")],
            Type::Number,
            index,
        ),
        Function::new(
            "matchkeys",
            "Takes those elements of a list at whose position in a second list there is something that a third list has.",
            vec![
                lists("values", "The list to take from."),
                lists("keys", "As many keys."),
                lists("searchset", "The keys whose values are wanted."),
            ],
            Type::Dynamic,
            match_keys,
        )
        .typed(match_keys_type),
    ]
}

fn by_key() -> Vec<Function> {
    vec![
        Function::new(
            "element",
            "Gives an element of a list by its position, which starts over behind the last one.",
            vec![
                any_param("list").marked().about("The list to take from."),
                number_param("index").about("The position, from 0; counted from the end if negative."),
            ],
            Type::Dynamic,
            element,
        )
        .typed(element_result)
        .or_null(),
        Function::new(
            "lookup",
            "Gives the value that a map or object has under a key, or a default if it has none.",
            vec![
                any_param("inputMap").marked().about("The map or object to take from."),
                text_param("key").marked().about("The key."),
            ],
            Type::Dynamic,
            lookup,
        )
        .typed(lookup_type)
        .rest(any_param("default").null().unknown().dynamic().marked().about("What to give if there is no such key."))
        .or_null(),
    ]
}

fn contains(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let Some(items) = args[0].as_elements() else {
        return Err(FunctionError::new("argument must be list, tuple, or set"));
    };
    let mut certain = true;
    for item in items {
        match args[1].equals(item).as_bool() {
            Some(true) => return Ok(Value::bool(true)),
            Some(false) => {}
            None => certain = false,
        }
    }
    Ok(if certain { Value::bool(false) } else { Value::unknown(Type::Bool) })
}

fn index(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let (ValueKind::List(items) | ValueKind::Tuple(items)) = args[0].kind() else {
        return Err(FunctionError::new("argument must be a list or tuple"));
    };
    if items.is_empty() {
        return Err(FunctionError::new("cannot search an empty list"));
    }
    for (at, item) in items.iter().enumerate() {
        match item.equals(&args[1]).as_bool() {
            Some(true) => return Ok(Value::number(at)),
            Some(false) => {}
            None => return Ok(Value::unknown(Type::Number)),
        }
    }
    Err(FunctionError::new("item not found"))
}

/// The type that keys have in common with what is searched for.
fn key_type(args: &[Value]) -> Result<Type, FunctionError> {
    unify_unsafe(&[args[1].ty(), args[2].ty()])
        .ok_or_else(|| FunctionError::new("keys and searchset must be of the same type"))
}

fn match_keys_type(args: &[Value]) -> Result<Type, FunctionError> {
    key_type(args).map(|_| args[0].ty())
}

fn match_keys(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let values = elements(args, 0);
    if values.len() != elements(args, 1).len() {
        return Err(FunctionError::new("length of keys and values should be equal"));
    }
    let ty = key_type(args)?;
    let converted = |at: usize| convert(&args[at], &ty).map_err(|error| FunctionError::arg(at, error.message));
    let (keys, wanted) = (converted(1)?, converted(2)?);
    let wanted = Wanted::new(wanted.as_elements().unwrap_or_default());
    let result = |items: Vec<Value>| Ok(Value::list(element_type(&args[0]), items));
    if wanted.is_empty() {
        return result(Vec::new());
    }
    if !args[0].is_wholly_known() || !keys.is_wholly_known() {
        return Ok(Value::unknown(args[0].ty()));
    }
    let mut found = Vec::new();
    for (key, value) in keys.as_elements().unwrap_or_default().iter().zip(values) {
        match wanted.has(key) {
            Some(true) => found.push(value.clone()),
            Some(false) => {}
            // Compatible: one uncertain match, and there is nothing.
            None => return result(Vec::new()),
        }
    }
    result(found)
}

/// What is searched for, prepared for many questions.
struct Wanted<'a> {
    /// Elements up to the first that has something unknown.
    known: HashSet<&'a Value>,
    /// That one and those behind it.
    rest: &'a [Value],
}

impl<'a> Wanted<'a> {
    fn new(items: &'a [Value]) -> Self {
        let known = items.iter().take_while(|item| item.is_wholly_known()).count();
        let (known, rest) = items.split_at(known);
        Self { known: known.iter().collect(), rest }
    }

    fn is_empty(&self) -> bool {
        self.known.is_empty() && self.rest.is_empty()
    }

    /// Whether a key that is wholly known is among them; none if something that may be equal comes first.
    fn has(&self, key: &Value) -> Option<bool> {
        if self.known.contains(key) {
            return Some(true);
        }
        let answers = self.rest.iter().map(|item| key.equals(item).as_bool());
        answers.into_iter().find(|answer| *answer != Some(false)).unwrap_or(Some(false))
    }
}

/// A position that wraps around at both ends.
fn wrapped(index: i64, length: usize) -> Result<usize, FunctionError> {
    match i64::try_from(length) {
        Ok(length) if length > 0 => Ok(index.rem_euclid(length) as usize),
        _ => Err(FunctionError::new("cannot use element function with an empty list")),
    }
}

fn element_result(args: &[Value]) -> Result<Type, FunctionError> {
    let types = match args[0].ty() {
        Type::List(element) => return Ok(element.as_ref().clone()),
        Type::Tuple(types) => types,
        other => return Err(FunctionError::new(format!("cannot read elements from {}", other.friendly_name()))),
    };
    if !args[1].is_known() {
        return Ok(Type::Dynamic);
    }
    let at = wrapped(whole_number(args, 1, "invalid index")?, types.len())?;
    Ok(types.get(at).cloned().unwrap_or(Type::Dynamic))
}

fn element(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let index = whole_number(args, 1, "invalid index")?;
    let items = elements(args, 0);
    let found = items.get(wrapped(index, items.len())?).cloned().unwrap_or_else(Value::dynamic);
    Ok(found.with_marks(args[0].marks()))
}

fn lookup_type(args: &[Value]) -> Result<Type, FunctionError> {
    if args.len() > 3 {
        return Err(FunctionError::new(format!("lookup() takes two or three arguments, got {}", args.len())));
    }
    if let ValueKind::Object(entries) = args[0].kind()
        && args[1].is_known()
    {
        let found = entries.get(text(args, 1)).or(args.get(2));
        return found.map(Value::ty).ok_or_else(|| no_attribute(text(args, 1)));
    }
    let ty = args[0].ty();
    match (&ty, args.get(2)) {
        (Type::Object(_), _) if !args[1].is_known() => Ok(Type::Dynamic),
        (Type::Object(object), default) => {
            let found = object.get(text(args, 1)).cloned().or(default.map(Value::ty));
            found.ok_or_else(|| no_attribute(text(args, 1)))
        }
        (Type::Map(element), Some(default)) if convert(default, element).is_err() => {
            Err(FunctionError::arg(2, "the default value must have the same type as the map elements"))
        }
        (Type::Map(element), _) => Ok(element.as_ref().clone()),
        _ => Err(FunctionError::arg(0, "lookup() requires a map as the first argument")),
    }
}

fn no_attribute(key: &str) -> FunctionError {
    FunctionError::arg(0, format!("the given object has no attribute {}", go_quote(key)))
}

fn lookup(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let marks = args[0].marks().union(args[1].marks());
    let key = text(args, 1);
    if let Some(found) = args[0].as_entries().and_then(|entries| entries.get(key)) {
        return Ok(found.clone().with_marks(&marks));
    }
    let Some(default) = args.get(2) else {
        let key = shown(key, args[1].marks());
        return Err(FunctionError::new(format!("lookup failed to find key {key}")));
    };
    let default = match args[0].kind() {
        ValueKind::Map(_) => {
            convert(default, &element_type(&args[0])).map_err(|error| FunctionError::new(error.message))?
        }
        _ => default.clone(),
    };
    Ok(default.with_marks(&marks))
}

/// A text for a message, unless its marks forbid that.
fn shown(text: &str, marks: &Marks) -> String {
    match (marks.is_ephemeral(), marks.is_sensitive()) {
        (true, true) => "(ephemeral sensitive value)".to_owned(),
        (true, false) => "(ephemeral value)".to_owned(),
        (false, true) => "(sensitive value)".to_owned(),
        (false, false) => go_quote(text),
    }
}

#[cfg(test)]
mod tests {
    use groma_model::ty::Type;
    use groma_model::value::Value;

    use crate::eval::testing::TestScope;
    use crate::func::support::table::{check_errors, check_values};

    #[test]
    fn values() {
        check_values(&[
            (
                "[contains([1, \"a\"], \"a\"), contains([1], \"1\"), contains(toset([\"a\"]), \"a\"), contains([], 1)]",
                "[true, false, true, false]",
            ),
            (
                "[contains([u_string, \"a\"], \"a\"), contains([u_string], \"a\"), contains(u_list, \"a\")]",
                "[true, unknown bool, unknown bool]",
            ),
            (
                "[contains([{a = 1}], {a = 1}), contains([null], 1), contains(secret_list, \"a\")]",
                "[true, false, (sensitive)]",
            ),
            ("[index([\"a\", \"b\", \"b\"], \"b\"), index([u_string, \"a\"], \"a\")]", "[1, unknown number]"),
            ("matchkeys([1, 2, 3], [\"a\", \"b\", \"a\"], [\"a\", \"c\"])", "list[1, 3]"),
            ("[matchkeys([1], [\"1\"], [1]), matchkeys([1], [\"a\"], [])]", "[list[1], list[]]"),
            (
                "[matchkeys([1], [\"a\"], [\"a\", u_string]), matchkeys([1], [\"a\"], [u_string]), matchkeys([1], [u_string], [\"a\"])]",
                "[list[1], list[], unknown list]",
            ),
            ("[element([\"a\", \"b\"], 3), element(tolist([1, 2]), -1), element([null], 0)]", r#"["b", 2, null]"#),
            (
                "[element(u_list, 1), element(u_tuple, 1), element([1], u_number)]",
                "[unknown string, unknown number, unknown any]",
            ),
            (
                "[element([secret, \"a\"], 0), element([secret, \"a\"], 1), element(secret_list, 0)]",
                "[(sensitive), \"a\", (sensitive)]",
            ),
            (
                "[lookup({a = 1}, \"a\"), lookup({a = 1}, \"b\", \"x\"), lookup(tomap({a = 1}), \"b\", \"2\")]",
                "[1, \"x\", 2]",
            ),
            (
                "[lookup({a = 1}, \"b\", null), lookup(tomap({a = 1}), \"b\", null), lookup({a = 1}, \"b\", [])]",
                "[null, null, []]",
            ),
            (
                "[lookup(u_map, \"a\", \"x\"), lookup({a = 1}, u_string, 2), lookup(u_object, \"a\"), lookup({a = 1}, \"b\", u_string)]",
                "[unknown string, unknown any, unknown string, unknown string]",
            ),
            (
                "[lookup({a = u_string, b = 1}, \"b\"), lookup({a = secret}, \"b\", 1), lookup({a = 1}, \"b\", secret), lookup({hidden = 1}, secret)]",
                "[1, 1, (sensitive), (sensitive)]",
            ),
        ]);
    }

    #[test]
    fn errors() {
        check_errors(&[
            ("contains(\"a\", \"a\")", "argument must be list, tuple, or set"),
            ("contains([1], null)", "argument must not be null"),
            ("index([], 1)", "cannot search an empty list"),
            ("index([1], 2)", "item not found"),
            ("index(toset([1]), 1)", "argument must be a list or tuple"),
            ("matchkeys([1], [], [])", "length of keys and values should be equal"),
            ("matchkeys([1], [[]], [{}])", "keys and searchset must be of the same type"),
            ("element([], 0)", "cannot use element function with an empty list"),
            ("element(tolist([]), 0)", "cannot use element function with an empty list"),
            ("element([1], 0.5)", "invalid index: value must be a whole number"),
            ("element(toset([1]), 0)", "cannot read elements from set of number"),
            ("lookup({a = 1}, \"b\")", "the given object has no attribute \"b\""),
            ("lookup(tomap({a = 1}), \"b\")", "lookup failed to find key \"b\""),
            ("lookup(tomap({a = 1}), secret)", "lookup failed to find key (sensitive value)"),
            ("lookup(tomap({a = 1}), \"b\", [])", "the default value must have the same type as the map elements"),
            ("lookup([], \"b\")", "lookup() requires a map as the first argument"),
            ("lookup({}, \"b\", 1, 2)", "lookup() takes two or three arguments, got 4"),
        ]);
    }

    #[test]
    fn much_takes_linear_time() {
        let many: Vec<Value> = (0..100_000_i64).map(Value::number).collect();
        let scope = TestScope::with([("many", Value::list(Type::Number, many))]);
        assert_eq!(scope.value("length(matchkeys(many, many, reverse(many)))"), Value::number(100_000));
        assert_eq!(
            scope.value("[contains(many, -1), index(many, 99999)]"),
            Value::tuple(vec![false.into(), 99_999.into()])
        );
    }
}
