//! Maps and objects: their keys and values, merging, and making one from two lists.

use std::collections::BTreeMap;

use groma_model::mark::Marks;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value, ValueKind, go_quote};

use super::super::support::{Outcome, any_param, elements};
use super::super::{CallContext, Function, FunctionError, Param};
use super::element_type;

pub(super) fn functions() -> Vec<Function> {
    vec![
        Function::new(
            "keys",
            "Gives the keys of a map or the attribute names of an object, in order.",
            vec![any_param("inputMap").unknown().marked().about("The map or object whose keys are wanted.")],
            Type::Dynamic,
            keys,
        )
        .typed(keys_type),
        Function::new(
            "values",
            "Gives the values of a map or object, in the order of their keys.",
            vec![any_param("mapping").marked().about("The map or object whose values are wanted.")],
            Type::Dynamic,
            values,
        )
        .typed(values_type),
        Function::new(
            "merge",
            "Puts the entries of several maps or objects into one. Of equal keys the last one wins.",
            vec![],
            Type::Dynamic,
            merge,
        )
        .typed(merge_type)
        .rest(any_param("maps").null().dynamic().marked().about("The maps or objects to merge.")),
        Function::new(
            "zipmap",
            "Makes a map of a list of keys and a list of as many values.",
            vec![
                Param::new("keys", Type::list(Type::String)).marked().about("The keys."),
                any_param("values").marked().about("The values, in the order of their keys."),
            ],
            Type::Dynamic,
            zip,
        )
        .typed(zip_type),
        Function::new(
            "transpose",
            "Swaps keys and values of a map of lists of strings.",
            vec![Param::new("values", Type::map(Type::list(Type::String))).about("The map to turn round.")],
            Type::map(Type::list(Type::String)),
            transpose,
        ),
    ]
}

/// Names of the attributes of an object, known or not.
fn attribute_names(value: &Value) -> Option<Vec<Str>> {
    if let ValueKind::Object(entries) = value.kind() {
        return Some(entries.names().to_vec());
    }
    match value.ty() {
        Type::Object(object) => Some(object.iter().map(|(name, _)| name.clone()).collect()),
        _ => None,
    }
}

fn keys_type(args: &[Value]) -> Result<Type, FunctionError> {
    if let Some(names) = attribute_names(&args[0]) {
        return Ok(Type::tuple(vec![Type::String; names.len()]));
    }
    match args[0].ty() {
        Type::Map(_) => Ok(Type::list(Type::String)),
        _ => Err(FunctionError::arg(0, "must have map or object type")),
    }
}

fn keys(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let value = &args[0];
    let result = if let Some(names) = attribute_names(value) {
        Value::tuple(names.into_iter().map(Value::string).collect())
    } else if let Some(entries) = value.as_entries() {
        Value::strings(entries.names().iter().cloned())
    } else {
        Value::unknown(Type::list(Type::String))
    };
    Ok(result.with_marks(value.marks()))
}

fn values_type(args: &[Value]) -> Result<Type, FunctionError> {
    match args[0].ty() {
        Type::Map(element) => Ok(Type::List(element)),
        Type::Object(object) => Ok(Type::tuple(object.iter().map(|(_, attribute)| attribute.ty.clone()).collect())),
        _ => Err(FunctionError::new("values() requires a map as the first argument")),
    }
}

fn values(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let value = &args[0];
    let items = value.as_entries().map(|entries| entries.values().to_vec()).unwrap_or_default();
    let result = match value.kind() {
        ValueKind::Map(_) => Value::list(element_type(value), items),
        _ => Value::tuple(items),
    };
    Ok(result.with_marks(value.marks()))
}

/// What merging gives.
enum Merged {
    /// All arguments have this type.
    Same(Type),
    /// The types differ.
    Object,
    /// The type of an argument is not known.
    Open,
}

impl Merged {
    fn of(args: &[Value]) -> Result<Merged, FunctionError> {
        let Some(first) = args.first() else { return Ok(Merged::Same(Type::empty_object())) };
        let mut same = true;
        for arg in args {
            if arg.is_dynamic() {
                return Ok(Merged::Open);
            }
            if arg.as_entries().is_none() && !matches!(arg.ty(), Type::Map(_) | Type::Object(_)) {
                return Err(not_a_map(arg));
            }
            same = same && arg.has_type_of(first);
        }
        Ok(if same { Merged::Same(first.ty()) } else { Merged::Object })
    }
}

fn not_a_map(value: &Value) -> FunctionError {
    let given = go_quote(&value.friendly_type_name());
    FunctionError::new(format!("arguments must be maps or objects, got {given}"))
}

fn merge_type(args: &[Value]) -> Result<Type, FunctionError> {
    match Merged::of(args)? {
        Merged::Same(ty) => Ok(ty),
        Merged::Open => Ok(Type::Dynamic),
        // Only asked for if there is something unknown among the arguments.
        Merged::Object if args.iter().all(Value::is_known) => Ok(Type::Dynamic),
        Merged::Object => Ok(merged_attributes(args).map_or(Type::Dynamic, Type::object)),
    }
}

/// The attributes that merging gives; none if a map is unknown, as then its keys are.
fn merged_attributes(args: &[Value]) -> Option<BTreeMap<Str, Type>> {
    let mut attributes = BTreeMap::new();
    for arg in args.iter().filter(|arg| !arg.is_null()) {
        match arg.ty() {
            Type::Object(object) => {
                attributes.extend(object.iter().map(|(name, attribute)| (name.clone(), attribute.ty.clone())));
            }
            Type::Map(element) => {
                let entries = arg.as_entries()?;
                attributes.extend(entries.names().iter().map(|name| (name.clone(), element.as_ref().clone())));
            }
            _ => return None,
        }
    }
    Some(attributes)
}

fn merge(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let merged = Merged::of(args)?;
    let given: Vec<&Value> = args.iter().filter(|arg| !arg.is_null()).collect();
    let mut marks = Marks::NONE;
    let mut pairs = Vec::with_capacity(given.iter().filter_map(|arg| arg.as_entries()).map(Entries::len).sum());
    for arg in given {
        marks = marks.union(arg.marks());
        let entries = arg.as_entries().ok_or_else(|| not_a_map(arg))?;
        pairs.extend(entries.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
    let entries: Entries = pairs.into_iter().collect();
    let result = match merged {
        Merged::Same(Type::Map(element)) => Value::map(element.as_ref().clone(), entries),
        _ => Value::object_of(entries),
    };
    Ok(result.with_marks(&marks))
}

fn different_counts(keys: usize, values: usize) -> FunctionError {
    FunctionError::new(format!("number of keys ({keys}) does not match number of values ({values})"))
}

fn zip_type(args: &[Value]) -> Result<Type, FunctionError> {
    let types = match args[1].ty() {
        Type::List(element) => return Ok(Type::Map(element)),
        Type::Tuple(types) => types,
        _ => return Err(FunctionError::new("values argument must be a list or tuple value")),
    };
    if !args[0].is_wholly_known() {
        return Ok(Type::Dynamic);
    }
    let keys = elements(args, 0);
    if keys.len() != types.len() {
        return Err(different_counts(keys.len(), types.len()));
    }
    let names = key_names(keys)?;
    if args[1].is_known() {
        // Nobody asks for it.
        return Ok(Type::Dynamic);
    }
    Ok(Type::object(names.into_iter().zip(types.iter().cloned())))
}

fn key_names(keys: &[Value]) -> Result<Vec<Str>, FunctionError> {
    let name = |(at, key): (usize, &Value)| match key.kind() {
        ValueKind::String(name) => Ok(name.clone()),
        _ => Err(FunctionError::new(format!("keys list has null value at index {at}"))),
    };
    keys.iter().enumerate().map(name).collect()
}

fn zip(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let mut marks = args[0].marks().union(args[1].marks());
    if !args[0].is_wholly_known() {
        let ty = if args[1].element_type().is_some() { Type::map(element_type(&args[1])) } else { Type::Dynamic };
        return Ok(Value::unknown(ty).with_marks(&marks));
    }
    let (keys, values) = (elements(args, 0), elements(args, 1));
    if keys.len() != values.len() {
        return Err(different_counts(keys.len(), values.len()));
    }
    // Keys cannot carry marks, so the whole gets them.
    for key in keys {
        marks = marks.union(key.marks());
    }
    let entries: Entries = key_names(keys)?.into_iter().zip(values.iter().cloned()).collect();
    let result = match args[1].kind() {
        ValueKind::List(_) => Value::map(element_type(&args[1]), entries),
        _ => Value::object_of(entries),
    };
    Ok(result.with_marks(&marks))
}

fn transpose(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let strings = Type::list(Type::String);
    let (Some(entries), true) = (args[0].as_entries(), args[0].is_wholly_known()) else {
        return Ok(Value::unknown(Type::map(strings)));
    };
    let mut turned: BTreeMap<Str, Vec<Value>> = BTreeMap::new();
    // Keys come in order, so those of each list do, too.
    for (key, list) in entries.iter() {
        let place = go_quote(key);
        let Some(items) = list.as_elements() else {
            return Err(FunctionError::arg(0, format!("cannot use null list for [{place}]")));
        };
        for (at, item) in items.iter().enumerate() {
            let ValueKind::String(text) = item.kind() else {
                return Err(FunctionError::arg(0, format!("cannot use null string for [{place}][{at}]")));
            };
            turned.entry(text.clone()).or_default().push(Value::string(key.clone()));
        }
    }
    let entries = turned.into_iter().map(|(key, items)| (key, Value::list(Type::String, items))).collect();
    Ok(Value::map(strings, entries))
}

#[cfg(test)]
mod tests {
    use crate::func::support::table::{check_errors, check_values};

    #[test]
    fn values() {
        check_values(&[
            ("[keys({b = 1, a = 2}), keys(tomap({b = 1, a = 2})), keys({})]", r#"[["a", "b"], list["a", "b"], []]"#),
            ("[keys(u_object), keys(u_map)]", r#"[["a"], unknown list]"#),
            ("keys({a = secret})", r#"["a"]"#),
            ("keys(tomap({a = secret}))", r#"list["a"]"#),
            ("[values({b = 1, a = \"x\"}), values(tomap({b = 1, a = 2}))]", r#"[["x", 1], list[2, 1]]"#),
            ("values({a = secret})", "[(sensitive)]"),
            ("values(u_map)", "unknown list"),
            ("merge({a = 1, b = 2}, {b = \"x\"})", r#"{"a": 1, "b": "x"}"#),
            ("merge(tomap({a = 1}), tomap({b = 2}))", r#"map{"a": 1, "b": 2}"#),
            ("merge(null, tomap({a = 1}))", r#"{"a": 1}"#),
            ("merge(tomap({a = 1}), tomap({b = \"x\"}))", r#"{"a": 1, "b": "x"}"#),
            ("[merge(), merge({}), merge({a = secret}, {b = 1})]", r#"[{}, {}, {"a": (sensitive), "b": 1}]"#),
            ("merge(secret_map, {b = 1})", "(sensitive)"),
            ("merge(u_map, u_map)", "unknown map"),
            ("merge(u_map, {})", "unknown any"),
            ("merge(u_object, {})", "unknown object"),
            ("merge(u_any, {})", "unknown any"),
            ("zipmap([\"a\", \"b\"], [1, \"x\"])", r#"{"a": 1, "b": "x"}"#),
            ("zipmap([\"b\", \"a\", \"b\"], tolist([1, 2, 3]))", r#"map{"a": 2, "b": 3}"#),
            ("zipmap([u_string], [1])", "unknown any"),
            ("zipmap([u_string], tolist([1]))", "unknown map"),
            ("zipmap([\"a\", \"b\"], u_tuple)", "unknown object"),
            ("zipmap([secret], [1])", "(sensitive)"),
            ("[zipmap([], []), zipmap([], tolist([]))]", "[{}, map{}]"),
            ("transpose({a = [\"x\", \"y\", \"x\"], b = [\"x\"]})", r#"map{"x": list["a", "a", "b"], "y": list["a"]}"#),
            ("transpose({a = [u_string]})", "unknown map"),
        ]);
    }

    #[test]
    fn errors() {
        check_errors(&[
            ("keys([])", "must have map or object type"),
            ("values(\"a\")", "values() requires a map as the first argument"),
            ("merge({}, \"a\")", "arguments must be maps or objects, got \"string\""),
            ("merge(null, \"a\")", "arguments must be maps or objects, got \"string\""),
            ("zipmap([\"a\"], [])", "number of keys (1) does not match number of values (0)"),
            ("zipmap([\"a\"], tolist([]))", "number of keys (1) does not match number of values (0)"),
            ("zipmap([null], [1])", "keys list has null value at index 0"),
            ("zipmap([null], tolist([1]))", "keys list has null value at index 0"),
            ("zipmap([], {})", "values argument must be a list or tuple value"),
            ("transpose({a = null})", "cannot use null list for [\"a\"]"),
            ("transpose({\"a b\" = [\"x\", null]})", "cannot use null string for [\"a b\"][1]"),
        ]);
    }
}
