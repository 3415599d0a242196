//! `setproduct`: all combinations of elements of several sets or lists.

use groma_model::convert::{convert, unify_unsafe};
use groma_model::mark::Marks;
use groma_model::ty::Type;
use groma_model::value::{Refinement, Value, ValueKind};

use super::super::support::{Outcome, any_param};
use super::super::{CallContext, Function, FunctionError};
use super::{list_of, set_of};

/// How many parts all combinations may have together.
const MAX_PARTS: usize = 16_000_000;

/// A set that may be longer is not worth counting by.
const MAX_BOUND: u64 = 1024;

/// More combinations than that are not worth telling.
const MAX_PRODUCT_BOUND: u64 = 2048;

pub(super) fn functions() -> Vec<Function> {
    vec![
        Function::new(
            "setproduct",
            "Gives all combinations of an element of each set. Lists keep their order.",
            vec![],
            Type::Dynamic,
            product,
        )
        .typed(product_type)
        .rest(any_param("sets").unknown().marked().about("The sets, lists or tuples to combine.")),
    ]
}

fn product_type(args: &[Value]) -> Result<Type, FunctionError> {
    if args.len() < 2 {
        return Err(FunctionError::new("at least two arguments are required"));
    }
    let mut types = Vec::with_capacity(args.len());
    let mut ordered = true;
    for (at, arg) in args.iter().enumerate() {
        types.push(match arg.ty() {
            Type::Set(element) => {
                ordered = false;
                element.as_ref().clone()
            }
            Type::List(element) => element.as_ref().clone(),
            Type::Tuple(elements) if elements.is_empty() => Type::Dynamic,
            Type::Tuple(elements) => unify_unsafe(&elements)
                .ok_or_else(|| FunctionError::arg(at, "all elements must be of the same type"))?,
            _ => return Err(FunctionError::arg(at, "a set or a list is required")),
        });
    }
    let combination = Type::tuple(types);
    Ok(if ordered { Type::list(combination) } else { Type::set(combination) })
}

fn product(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let ty = product_type(args)?;
    let marks = args.iter().fold(Marks::NONE, |marks, arg| marks.union(arg.marks()));
    let result = if args.iter().all(has_known_length) { combinations(args, &ty)? } else { unknown_product(args, ty) };
    Ok(result.with_marks(&marks))
}

fn has_known_length(arg: &Value) -> bool {
    arg.is_known() && arg.length().is_ok_and(|length| length.is_known())
}

/// What is known where a length is not: a bound for the number of combinations.
fn unknown_product(args: &[Value], ty: Type) -> Value {
    let mut greatest: u64 = 1;
    for arg in args {
        let length = match (arg.kind(), arg.ty()) {
            (_, Type::Tuple(elements)) => Some(elements.len() as u64),
            _ => arg.range().max_length,
        };
        match length.filter(|length| *length <= MAX_BOUND) {
            Some(length) => greatest *= length,
            None => return Value::unknown(ty),
        }
        if greatest > MAX_PRODUCT_BOUND {
            return Value::unknown(ty);
        }
    }
    let least = greatest.min(1);
    Value::unknown_refined(ty, Refinement::length(least, Some(greatest)))
}

fn combinations(args: &[Value], ty: &Type) -> Outcome {
    let combination = ty.element().unwrap_or(&Type::Dynamic);
    let lengths = args.iter().map(|arg| arg.as_elements().map_or(0, <[Value]>::len));
    let total = lengths.fold(1_usize, usize::saturating_mul);
    if total.saturating_mul(args.len()) > MAX_PARTS {
        return Err(FunctionError::new(format!("there are too many combinations: {total}")));
    }
    let mut columns = Vec::with_capacity(args.len());
    if total > 0 {
        for (at, arg) in args.iter().enumerate() {
            columns.push(column(arg, combination, at)?);
        }
    }
    let mut rows = Vec::with_capacity(total);
    let mut places = vec![0_usize; columns.len()];
    for _ in 0..total {
        rows.push(Value::tuple(columns.iter().zip(&places).map(|(column, place)| column[*place].clone()).collect()));
        // The last one moves fastest.
        for (column, place) in columns.iter().zip(&mut places).rev() {
            *place += 1;
            if *place < column.len() {
                break;
            }
            *place = 0;
        }
    }
    match ty {
        Type::List(_) => list_of(combination, rows),
        _ => set_of(combination, rows),
    }
}

/// The elements of an argument, as the combinations have them.
fn column(arg: &Value, combination: &Type, at: usize) -> Result<Vec<Value>, FunctionError> {
    let items = arg.as_elements().unwrap_or_default();
    let element = match combination {
        Type::Tuple(elements) => elements.get(at),
        _ => None,
    };
    let (Some(element), ValueKind::Tuple(_)) = (element, arg.kind()) else { return Ok(items.to_vec()) };
    let convert = |item: &Value| convert(item, element).map_err(|error| FunctionError::arg(at, error.message));
    items.iter().map(convert).collect()
}

#[cfg(test)]
mod tests {
    use crate::func::support::table::{check_errors, check_values};

    #[test]
    fn values() {
        check_values(&[
            ("setproduct([\"b\", \"a\"], [2, 1])", r#"list[["b", 2], ["b", 1], ["a", 2], ["a", 1]]"#),
            ("setproduct(toset([\"b\", \"a\"]), [2, 1])", r#"set[["a", 1], ["a", 2], ["b", 1], ["b", 2]]"#),
            ("setproduct([\"b\", 1], [true])", r#"list[["b", true], ["1", true]]"#),
            ("[setproduct([], [1]), setproduct(toset([]), [1])]", "[list[], set[]]"),
            ("setproduct([1], [2, 3], [4])", "list[[1, 2, 4], [1, 3, 4]]"),
            (
                "[setproduct(u_list, [1]), setproduct([], u_list), setproduct(u_set, [1])]",
                "[unknown list, unknown list, unknown set]",
            ),
            ("setproduct([u_string], [1])", "list[[unknown string, 1]]"),
            ("length(setproduct(toset([u_string, \"a\"]), [1])) > 0", "unknown bool"),
            (
                "[setproduct(secret_list, [1]), setproduct([secret], [1]), setproduct(toset([secret]), [1])]",
                "[(sensitive), list[[(sensitive), 1]], (sensitive)]",
            ),
        ]);
    }

    #[test]
    fn errors() {
        check_errors(&[
            ("setproduct([1])", "at least two arguments are required"),
            ("setproduct([1], \"a\")", "a set or a list is required"),
            ("setproduct([1, \"a\", []], [2])", "all elements must be of the same type"),
            ("setproduct(range(1000), range(1000), range(1000))", "there are too many combinations: 1000000000"),
        ]);
    }
}
