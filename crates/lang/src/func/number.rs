//! Functions on numbers.

#![allow(clippy::unnecessary_wraps, reason = "all functions share one signature")]

use std::cmp::Ordering;

use groma_model::convert::convert;
use groma_model::number::Number;
use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind, go_quote};
use num_bigint::{BigInt, Sign};

use super::support::{Outcome, any_param, integer, number, number_param, text};
use super::{CallContext, Function, FunctionError};

/// `range` makes no longer lists.
const MAX_RANGE: usize = 1024;

/// `parseint` reads no longer texts: what follows grows with the square of the length.
const MAX_DIGITS: usize = 100_000;

/// The functions of this group.
pub(super) fn functions() -> Vec<Function> {
    let mut all = rounding();
    all.extend(comparing());
    all.extend(computing());
    all
}

fn rounding() -> Vec<Function> {
    let num = || number_param("num").about("The number to look at.");
    vec![
        Function::new(
            "abs",
            "Gives the distance of a number from zero.",
            vec![num().dynamic().marked()],
            Type::Number,
            |_, args| Ok(Value::number(number(args, 0).abs()).with_marks(args[0].marks())),
        ),
        Function::new(
            "ceil",
            "Gives the next whole number that is not below.",
            vec![num()],
            Type::Number,
            |_, args| Ok(Value::number(number(args, 0).ceil())),
        ),
        Function::new(
            "floor",
            "Gives the next whole number that is not above.",
            vec![num()],
            Type::Number,
            |_, args| Ok(Value::number(number(args, 0).floor())),
        ),
        Function::new(
            "signum",
            "Gives -1, 0 or 1: the sign of a whole number.",
            vec![num()],
            Type::Number,
            |_, args| Ok(Value::number(integer(args, 0)?.signum())),
        ),
    ]
}

fn comparing() -> Vec<Function> {
    let numbers = || number_param("numbers").dynamic().about("The numbers to choose from.");
    vec![
        Function::new("max", "Gives the greatest of several numbers.", vec![], Type::Number, |_, args| {
            extreme(args, Ordering::Greater)
        })
        .rest(numbers()),
        Function::new("min", "Gives the least of several numbers.", vec![], Type::Number, |_, args| {
            extreme(args, Ordering::Less)
        })
        .rest(numbers()),
    ]
}

fn computing() -> Vec<Function> {
    vec![
        Function::new(
            "log",
            "Gives the logarithm of a number in a base.",
            vec![
                number_param("num").about("The number whose logarithm is wanted."),
                number_param("base").about("The base of the logarithm."),
            ],
            Type::Number,
            |_, args| from_floats(args, Number::log),
        ),
        Function::new(
            "pow",
            "Raises a number to a power.",
            vec![
                number_param("num").about("The number to raise."),
                number_param("power").about("The power to raise it to."),
            ],
            Type::Number,
            |_, args| from_floats(args, Number::pow),
        ),
        Function::new(
            "parseint",
            "Reads a text as a whole number in a base from 2 to 62.",
            vec![
                any_param("number").about("The text of the number."),
                number_param("base").about("How many different digits there are."),
            ],
            Type::Number,
            parse_int,
        )
        .typed(parse_int_type),
        Function::new(
            "sum",
            "Adds up the numbers in a list, set or tuple.",
            vec![any_param("list").about("The numbers to add up.")],
            Type::Number,
            sum,
        ),
        Function::new(
            "range",
            "Gives the numbers from a start up to an end, which is not among them, in steps.",
            vec![],
            Type::list(Type::Number),
            range,
        )
        .rest(number_param("params").about("The end; or start and end; or start, end and step.")),
    ]
}

/// The number that compares with all others as wanted; the first of equal ones.
fn extreme(args: &[Value], wanted: Ordering) -> Outcome {
    let mut best = args.first().ok_or_else(|| FunctionError::new("must pass at least one number"))?;
    for at in 1..args.len() {
        if number(args, at).compare(best.as_number().unwrap_or(&Number::ZERO)) == wanted {
            best = &args[at];
        }
    }
    Ok(best.clone())
}

/// What is computed in machine precision.
fn from_floats(args: &[Value], compute: fn(&Number, &Number) -> Option<Number>) -> Outcome {
    let (a, b) = (number(args, 0), number(args, 1));
    for number in [a, b] {
        if !number.is_infinite() && number.to_f64().is_infinite() {
            let message = format!("value must be between {:.6} and {:.6} inclusive", f64::MIN, f64::MAX);
            return Err(FunctionError::new(message));
        }
    }
    compute(a, b).map(Value::number).ok_or_else(|| FunctionError::new("there is no such number"))
}

fn parse_int_type(args: &[Value]) -> Result<Type, FunctionError> {
    if args[0].is_of_type(&Type::String) {
        return Ok(Type::Number);
    }
    let given = args[0].friendly_type_name();
    Err(FunctionError::arg(0, format!("first argument must be a string, not {given}")))
}

fn parse_int(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let base = integer(args, 1).map_err(|error| FunctionError::arg(1, error.message))?;
    let base = u32::try_from(base)
        .ok()
        .filter(|base| (2..=62).contains(base))
        .ok_or_else(|| FunctionError::arg(1, "base must be a whole number between 2 and 62 inclusive"))?;
    let given = text(args, 0);
    if given.len() > MAX_DIGITS {
        return Err(FunctionError::arg(0, format!("a number may have no more than {MAX_DIGITS} digits")));
    }
    let (sign, digits) = match given.strip_prefix('-') {
        Some(digits) => (Sign::Minus, digits),
        None => (Sign::Plus, given.strip_prefix('+').unwrap_or(given)),
    };
    let values: Option<Vec<u8>> = digits.bytes().map(|digit| digit_value(digit, base)).collect();
    let whole =
        values.filter(|values| !values.is_empty()).and_then(|values| BigInt::from_radix_be(sign, &values, base));
    match whole {
        Some(whole) => Ok(Value::number(whole)),
        None => Err(FunctionError::arg(0, format!("cannot parse {} as a base {base} integer", go_quote(given)))),
    }
}

/// What a digit stands for. Letters of either case are the same while there are enough of them.
fn digit_value(digit: u8, base: u32) -> Option<u8> {
    let value = match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'z' => digit - b'a' + 10,
        b'A'..=b'Z' if base <= 36 => digit - b'A' + 10,
        b'A'..=b'Z' => digit - b'A' + 36,
        _ => return None,
    };
    (u32::from(value) < base).then_some(value)
}

fn sum(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let list = &args[0];
    let length = match list.kind() {
        ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => items.len(),
        ValueKind::Map(entries) | ValueKind::Object(entries) => entries.len(),
        _ => return Err(FunctionError::arg(0, "cannot sum noniterable")),
    };
    if length == 0 {
        return Err(FunctionError::arg(0, "cannot sum an empty list"));
    }
    let Some(items) = list.as_elements() else {
        let given = list.friendly_type_name();
        return Err(FunctionError::arg(0, format!("argument must be list, set, or tuple. Received {given}")));
    };
    if !list.is_wholly_known() {
        return Ok(Value::unknown(Type::Number));
    }
    let mut total: Option<Number> = None;
    for item in items {
        let item = convert(item, &Type::Number).ok();
        let Some(next) = item.as_ref().and_then(Value::as_number) else {
            return Err(FunctionError::arg(0, "argument must be list, set, or tuple of number values"));
        };
        total = match total {
            None => Some(next.clone()),
            Some(total) => Some(add(&total, next)?),
        };
    }
    Ok(Value::number(total.unwrap_or(Number::ZERO)))
}

fn add(a: &Number, b: &Number) -> Result<Number, FunctionError> {
    a.add(b).ok_or_else(|| FunctionError::new("can't compute sum of opposing infinities"))
}

fn range(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let towards = |start: &Number, end: &Number| Number::from(if end.compare(start).is_lt() { -1 } else { 1 });
    let (start, end, step) = match args.len() {
        1 => (Number::ZERO, number(args, 0), towards(&Number::ZERO, number(args, 0))),
        2 => (number(args, 0).clone(), number(args, 1), towards(number(args, 0), number(args, 1))),
        3 => (number(args, 0).clone(), number(args, 1), number(args, 2).clone()),
        _ => return Err(FunctionError::new("must have one, two, or three arguments")),
    };
    let down = step.is_negative();
    let ahead = if down { Ordering::Less } else { Ordering::Greater };
    if end.compare(&start) == ahead.reverse() {
        return Err(FunctionError::arg(
            1,
            if down {
                "end must be less than start when step is negative"
            } else {
                "end must be greater than start when step is positive"
            },
        ));
    }
    let mut numbers = Vec::new();
    let mut next = start;
    while end.compare(&next) == ahead && *end != next {
        // A step of zero ends here, too.
        if numbers.len() >= MAX_RANGE {
            return Err(FunctionError::new(
                "more than 1024 values were generated; either decrease the difference between start and end or use a smaller step",
            ));
        }
        let following = add(&next, &step)?;
        numbers.push(Value::number(next));
        next = following;
    }
    Ok(Value::list(Type::Number, numbers))
}

#[cfg(test)]
mod tests {
    use groma_model::value::Value;

    use crate::func::support::table::{check_errors, check_values};

    #[test]
    fn values() {
        check_values(&[
            ("abs(-1.5)", "1.5"),
            ("[ceil(1.1), ceil(-1.1), ceil(2), floor(1.9), floor(-1.1)]", "[2, -1, 2, 1, -2]"),
            ("[signum(-5), signum(0), signum(9)]", "[-1, 0, 1]"),
            ("[max(1, 3, 2), min(1, \"-3\", 2), max(7)]", "[3, -3, 7]"),
            ("[log(8, 2), pow(2, 10), pow(2, 0.5)]", "[3, 1024, 1.4142135623730951]"),
            ("[parseint(\"-ff\", 16), parseint(\"+FF\", 16), parseint(\"zZ\", 62)]", "[-255, 255, 2231]"),
            ("parseint(\"123456789012345678901234567890\", 10)", "123456789012345678901234567890"),
            ("[sum([1, \"2\", 3.5]), sum(toset([1, 1, 2]))]", "[6.5, 3]"),
            ("[range(3), range(-2), range(3, 1)]", "[list[0, 1, 2], list[0, -1], list[3, 2]]"),
            ("[range(1, 2, 0.5), range(4, 0, -3), range(5, 5, 0)]", "[list[1, 1.5], list[4, 1], list[]]"),
            ("type(range(0))", "\"list(number)\""),
            ("[sum([u_number, 1]), abs(u_number), range(u_number)]", "[unknown number, unknown number, unknown list]"),
        ]);
    }

    #[test]
    fn errors() {
        check_errors(&[
            ("max()", "must pass at least one number"),
            ("signum(1.5)", "value must be a whole number, between -9223372036854775808 and 9223372036854775807"),
            ("log(-1, 10)", "there is no such number"),
            ("pow(1e400, 2)", "value must be between -17976931348623157"),
            ("parseint(1, 10)", "first argument must be a string, not number"),
            ("parseint(\"1\", 63)", "base must be a whole number between 2 and 62 inclusive"),
            ("parseint(\"12\", 2)", "cannot parse \"12\" as a base 2 integer"),
            ("parseint(\"-\", 10)", "cannot parse \"-\" as a base 10 integer"),
            ("parseint(\"1_0\", 10)", "cannot parse \"1_0\" as a base 10 integer"),
            ("sum(1)", "cannot sum noniterable"),
            ("sum([])", "cannot sum an empty list"),
            ("sum({a = 1})", "argument must be list, set, or tuple. Received object"),
            ("sum([1, null])", "argument must be list, set, or tuple of number values"),
            ("sum([1, \"x\"])", "argument must be list, set, or tuple of number values"),
            ("range()", "must have one, two, or three arguments"),
            ("range(0, 5, 0)", "more than 1024 values were generated"),
            ("range(1, 2, -1)", "end must be less than start when step is negative"),
            ("range(2, 1, 1)", "end must be greater than start when step is positive"),
            ("range(1025)", "more than 1024 values were generated"),
        ]);
    }

    #[test]
    fn long_sums_take_linear_time() {
        let scope = crate::eval::testing::TestScope::with([(
            "many",
            Value::tuple((0..100_000).map(|number: i64| Value::number(number)).collect()),
        )]);
        assert_eq!(scope.value("sum(many)"), Value::number(4_999_950_000_i64));
    }
}
