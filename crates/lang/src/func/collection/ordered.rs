//! Lists and tuples: joining, cutting, turning round, flattening, sorting.

use std::cmp::Ordering;
use std::collections::HashSet;

use groma_model::convert::{convert, unify_unsafe};
use groma_model::mark::Marks;
use groma_model::ty::Type;
use groma_model::value::{Entries, Refinement, Value, ValueKind};

use super::super::support::{Outcome, any_param, elements, number_param};
use super::super::{CallContext, Function, FunctionError, Param};
use super::{element_type, is_sequence, list_of, whole_number};

pub(super) fn functions() -> Vec<Function> {
    let mut all = joining();
    all.extend(cutting());
    all.extend(filtering());
    all
}

fn joining() -> Vec<Function> {
    vec![
        Function::new("concat", "Joins several lists or tuples into one.", vec![], Type::Dynamic, concat)
            .typed(concat_type)
            .rest(any_param("seqs").marked().about("The lists or tuples to join.")),
        Function::new(
            "flatten",
            "Replaces lists, sets and tuples inside a list by their elements, however deep.",
            vec![any_param("list").marked().about("The list to flatten.")],
            Type::Dynamic,
            flatten,
        )
        .typed(flatten_type),
        Function::new(
            "reverse",
            "Turns the order of a list or tuple round.",
            vec![any_param("list").marked().about("The list to turn round.")],
            Type::Dynamic,
            reverse,
        )
        .typed(reverse_type),
    ]
}

fn cutting() -> Vec<Function> {
    vec![
        Function::new(
            "chunklist",
            "Cuts a list into lists of no more than so many elements.",
            vec![
                Param::new("list", Type::list(Type::Dynamic)).marked().about("The list to cut."),
                number_param("size").marked().about("How many elements a part may have; 0 for all."),
            ],
            Type::Dynamic,
            chunk,
        )
        .typed(|args| Ok(Type::list(args[0].ty()))),
        Function::new(
            "slice",
            "Takes elements that follow each other out of a list or tuple.",
            vec![
                any_param("list").marked().about("The list to take from."),
                number_param("start_index").about("The first element to take."),
                number_param("end_index").about("The first element behind that is not to be taken."),
            ],
            Type::Dynamic,
            slice,
        )
        .typed(slice_type),
    ]
}

fn filtering() -> Vec<Function> {
    let strings = || Param::new("list", Type::list(Type::String));
    vec![
        Function::new(
            "compact",
            "Drops null and empty strings from a list of strings.",
            vec![strings().about("The list to go through.")],
            Type::list(Type::String),
            compact,
        ),
        Function::new(
            "distinct",
            "Drops elements of a list that occurred before.",
            vec![Param::new("list", Type::list(Type::Dynamic)).about("The list to go through.")],
            Type::Dynamic,
            distinct,
        )
        .typed(|args| Ok(args[0].ty())),
        Function::new(
            "sort",
            "Sorts a list of strings by their characters.",
            vec![strings().unknown().about("The list to sort.")],
            Type::list(Type::String),
            sort,
        ),
    ]
}

/// The list type that all arguments can be converted to, if all are lists and there is one.
fn common_list_type(args: &[Value]) -> Option<Type> {
    let mut types = Vec::with_capacity(args.len());
    for arg in args {
        if matches!(arg.kind(), ValueKind::Tuple(_)) {
            return None;
        }
        types.push(arg.ty());
    }
    if types.iter().all(|ty| matches!(ty, Type::List(_))) { unify_unsafe(&types) } else { None }
}

fn concat_type(args: &[Value]) -> Result<Type, FunctionError> {
    if args.is_empty() {
        return Err(FunctionError::new("at least one argument is required"));
    }
    if let Some(list) = common_list_type(args) {
        return Ok(list);
    }
    let asked = !args.iter().all(Value::is_known);
    let mut types = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        match (arg.kind(), arg.ty()) {
            (_, Type::Tuple(elements)) if asked => types.extend(elements.iter().cloned()),
            (_, Type::Tuple(_)) => {}
            (ValueKind::List(items), Type::List(element)) => {
                types.extend(std::iter::repeat_n(element.as_ref(), items.len()).cloned());
            }
            (_, Type::List(_)) => return Ok(Type::Dynamic),
            (_, ty) => {
                let message = format!("all arguments must be lists or tuples; got {}", ty.friendly_name());
                return Err(FunctionError::arg(at, message));
            }
        }
    }
    Ok(Type::tuple(types))
}

fn concat(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let list = common_list_type(args);
    let mut marks = Marks::NONE;
    let mut items = Vec::with_capacity((0..args.len()).map(|at| elements(args, at).len()).sum());
    for (at, arg) in args.iter().enumerate() {
        marks = marks.union(arg.marks());
        match &list {
            Some(ty) => {
                let arg = convert(arg, ty).map_err(|error| FunctionError::arg(at, error.message))?;
                items.extend_from_slice(arg.as_elements().unwrap_or_default());
            }
            None => items.extend_from_slice(elements(args, at)),
        }
    }
    let result = match list {
        Some(ty) => list_of(ty.element().unwrap_or(&Type::Dynamic), items)?,
        None => Value::tuple(items),
    };
    Ok(result.with_marks(&marks))
}

fn flatten_type(args: &[Value]) -> Result<Type, FunctionError> {
    if args[0].is_wholly_known() && !is_sequence(&args[0]) {
        return Err(FunctionError::new("can only flatten lists, sets and tuples"));
    }
    // Only asked for if something is unknown, and then the elements cannot be told.
    Ok(Type::Dynamic)
}

fn flatten(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let mut flat = Flat { items: Vec::new(), marks: Marks::NONE, known: true };
    flat.add(&args[0]);
    let result = if flat.known { Value::tuple(flat.items) } else { Value::dynamic() };
    Ok(result.with_marks(&flat.marks))
}

/// The elements of nested sequences so far.
struct Flat {
    items: Vec<Value>,
    marks: Marks,
    /// Whether it is certain how many there are.
    known: bool,
}

impl Flat {
    fn add(&mut self, sequence: &Value) {
        self.marks = self.marks.union(sequence.marks());
        if !sequence.length().is_ok_and(|length| length.is_known()) {
            self.known = false;
            return;
        }
        let parts = sequence.as_elements().or_else(|| sequence.as_entries().map(Entries::values));
        for part in parts.unwrap_or_default() {
            if !part.is_known() && part.is_dynamic() && part.marks().is_empty() {
                // It may turn out to be a list.
                self.known = false;
            }
            if part.is_null() || !is_sequence(part) {
                self.items.push(part.clone());
            } else if part.is_known() {
                self.add(part);
            } else {
                self.known = false;
                self.marks = self.marks.union(part.marks());
            }
        }
    }
}

fn reverse_type(args: &[Value]) -> Result<Type, FunctionError> {
    match args[0].ty() {
        Type::Tuple(elements) => Ok(Type::tuple(elements.iter().rev().cloned().collect())),
        Type::List(element) | Type::Set(element) => Ok(Type::List(element)),
        other => {
            let message = format!("can only reverse list or tuple values, not {}", other.friendly_name());
            Err(FunctionError::arg(0, message))
        }
    }
}

fn reverse(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let items: Vec<Value> = elements(args, 0).iter().rev().cloned().collect();
    let result = match args[0].kind() {
        ValueKind::Tuple(_) => Value::tuple(items),
        _ => Value::list(element_type(&args[0]), items),
    };
    Ok(result.with_marks(args[0].marks()))
}

fn chunk(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let marks = args[0].marks().union(args[1].marks());
    let size = whole_number(args, 1, "invalid size")?;
    let size = usize::try_from(size).map_err(|_| FunctionError::new("the size argument must be positive"))?;
    let items = elements(args, 0);
    let size = if size == 0 { items.len().max(1) } else { size };
    let element = element_type(&args[0]);
    let chunks = items.chunks(size).map(|chunk| Value::list(element.clone(), chunk.to_vec())).collect();
    Ok(Value::list(Type::list(element), chunks).with_marks(&marks))
}

/// Where a slice begins and ends; none if that is not known.
fn slice_bounds(args: &[Value]) -> Result<Option<(usize, usize)>, FunctionError> {
    let length = args[0].length().ok().and_then(|length| length.as_number()?.to_usize());
    let start = slice_index(args, 1, "start", length)?;
    let end = slice_index(args, 2, "end", length)?;
    let bounds = start.zip(end);
    if bounds.is_some_and(|(start, end)| start > end) {
        return Err(FunctionError::arg(1, "start index must not be greater than end index"));
    }
    Ok(bounds)
}

fn slice_index(args: &[Value], at: usize, name: &str, length: Option<usize>) -> Result<Option<usize>, FunctionError> {
    if !args[at].is_known() {
        return Ok(None);
    }
    let index = whole_number(args, at, &format!("invalid {name} index"))
        .map_err(|error| FunctionError::arg(at, error.message))?;
    let Ok(index) = usize::try_from(index) else {
        return Err(FunctionError::arg(at, format!("{name} index must not be less than zero")));
    };
    if length.is_some_and(|length| index > length) {
        let message = format!("{name} index must not be greater than the length of the list");
        return Err(FunctionError::arg(at, message));
    }
    Ok(Some(index))
}

fn slice_type(args: &[Value]) -> Result<Type, FunctionError> {
    let ty = args[0].ty();
    match &ty {
        Type::List(_) | Type::Tuple(_) => {}
        Type::Set(_) => {
            return Err(FunctionError::arg(
                0,
                "cannot slice a set, because its elements do not have indices; explicitly convert to a list if the ordering of the result is not important",
            ));
        }
        _ => return Err(FunctionError::arg(0, "must be a list or tuple value")),
    }
    let bounds = slice_bounds(args)?;
    match (&ty, bounds) {
        (Type::Tuple(elements), Some((start, end))) => {
            Ok(Type::tuple(elements.get(start..end).unwrap_or_default().to_vec()))
        }
        (Type::Tuple(_), None) => Ok(Type::Dynamic),
        _ => Ok(ty),
    }
}

fn slice(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let Some((start, end)) = slice_bounds(args)? else { return Ok(Value::dynamic().with_marks(args[0].marks())) };
    let items = elements(args, 0).get(start..end).unwrap_or_default().to_vec();
    let result = match args[0].kind() {
        ValueKind::Tuple(_) => Value::tuple(items),
        _ => Value::list(element_type(&args[0]), items),
    };
    Ok(result.with_marks(args[0].marks()))
}

fn compact(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    if !args[0].is_wholly_known() {
        return Ok(Value::unknown(Type::list(Type::String)));
    }
    let has_text = |item: &&Value| item.as_str().is_some_and(|text| !text.is_empty());
    Ok(Value::list(Type::String, elements(args, 0).iter().filter(has_text).cloned().collect()))
}

fn distinct(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    if !args[0].is_wholly_known() {
        return Ok(Value::unknown(args[0].ty()));
    }
    let mut seen = HashSet::new();
    let items = elements(args, 0).iter().filter(|item| seen.insert(*item)).cloned().collect();
    Ok(Value::list(element_type(&args[0]), items))
}

fn sort(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    if !args[0].is_wholly_known() {
        // In another order, but no more and no fewer.
        let range = args[0].range();
        let length = Refinement::length(range.min_length, range.max_length);
        return Ok(Value::unknown_refined(Type::list(Type::String), length));
    }
    let mut items = elements(args, 0).to_vec();
    if let Some(at) = items.iter().position(Value::is_null) {
        let message = format!("given list element {at} is null; a null string cannot be sorted");
        return Err(FunctionError::new(message));
    }
    items.sort_by(|a, b| a.as_str().map_or(Ordering::Equal, |a| a.cmp(b.as_str().unwrap_or_default())));
    Ok(Value::list(Type::String, items))
}

#[cfg(test)]
mod tests;
