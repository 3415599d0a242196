//! `format` and `formatlist`: texts from a pattern with verbs, after the manner of C's `printf`.

mod render;
mod scan;

use groma_model::text::safe_prefix;
use groma_model::ty::Type;
use groma_model::value::{Refinement, Value, ValueKind};

use super::support::{Outcome, any_param, text, text_param};
use super::{CallContext, Function, FunctionError, Param};
use scan::format as fill;
pub(super) use scan::quote_char;

/// The functions of this group.
pub(super) fn functions() -> Vec<Function> {
    let pattern = || vec![text_param("format").about("The text with verbs such as `%s` and `%05d`.")];
    let values = |about| -> Param { any_param("args").null().unknown().dynamic().about(about) };
    vec![
        Function::new(
            "format",
            "Makes a text from a pattern whose verbs stand for the other arguments.",
            pattern(),
            Type::String,
            format,
        )
        .rest(values("A value for each verb.")),
        Function::new(
            "formatlist",
            "Makes a list of texts from a pattern whose verbs stand for the elements of the other arguments.",
            pattern(),
            Type::list(Type::String),
            format_list,
        )
        .rest(values("Lists of the same length, or single values to use for every element.")),
    ]
}

fn format(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let pattern = text(args, 0);
    if args[1..].iter().all(Value::is_wholly_known) {
        return fill(pattern, &args[1..]).map(Value::string);
    }
    // What comes before the first verb is known at least.
    let prefix = pattern.find('%').map_or("", |at| &pattern[..at]);
    Ok(Value::unknown_refined(Type::String, Refinement::prefix(safe_prefix(prefix))))
}

/// How an argument of `formatlist` is used.
enum Column<'a> {
    PerRow(&'a [Value]),
    Every(&'a Value),
}

fn format_list(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let pattern = text(args, 0);
    let args = &args[1..];
    if args.is_empty() {
        return fill(pattern, args).map(|text| Value::strings([text]));
    }
    let Some((columns, rows)) = columns(args)? else { return Ok(Value::unknown(Type::list(Type::String))) };
    let mut results = Vec::with_capacity(rows);
    let mut row_args = Vec::with_capacity(columns.len());
    for row in 0..rows {
        row_args.clear();
        row_args.extend(columns.iter().filter_map(|column| match column {
            Column::PerRow(items) => items.get(row).cloned(),
            Column::Every(value) => Some((*value).clone()),
        }));
        if !row_args.iter().all(Value::is_wholly_known) {
            results.push(Value::unknown_refined(Type::String, Refinement::not_null()));
            continue;
        }
        let text = fill(pattern, &row_args)
            .map_err(|error| FunctionError::new(format!("error on format iteration {row}: {error}")))?;
        results.push(Value::string(text));
    }
    Ok(Value::list(Type::String, results))
}

/// The arguments as columns, and the number of rows. None if that cannot be known yet.
fn columns(args: &[Value]) -> Result<Option<(Vec<Column<'_>>, usize)>, FunctionError> {
    let mut columns = Vec::with_capacity(args.len());
    let mut chosen: Option<(usize, usize)> = None;
    let mut unknown = false;
    for (at, arg) in args.iter().enumerate() {
        let length = match (arg.kind(), arg.ty()) {
            (ValueKind::Null, _) => None,
            (ValueKind::Unknown(_), Type::Tuple(elements)) => Some(elements.len()),
            (ValueKind::Unknown(_), Type::List(_) | Type::Set(_) | Type::Dynamic) => {
                unknown = true;
                continue;
            }
            // How many elements remain is open while some of them may turn out to be the same.
            (ValueKind::Set(items), _) if items.len() > 1 && !arg.is_wholly_known() => {
                unknown = true;
                continue;
            }
            _ => arg.as_elements().map(<[Value]>::len),
        };
        match (length, chosen) {
            (Some(length), None) => chosen = Some((at, length)),
            (Some(length), Some((chooser, expected))) if length != expected => {
                let message = format!(
                    "argument {} has length {length}, which is inconsistent with argument {} of length {expected}",
                    at + 1,
                    chooser + 1
                );
                return Err(FunctionError::arg(at + 1, message));
            }
            _ => {}
        }
        match (length, arg.as_elements()) {
            (Some(_), Some(items)) => columns.push(Column::PerRow(items)),
            (Some(_), None) => unknown = true,
            (None, _) => columns.push(Column::Every(arg)),
        }
    }
    Ok((!unknown).then_some((columns, chosen.map_or(1, |(_, length)| length))))
}

#[cfg(test)]
mod tests;
