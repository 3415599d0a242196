//! Functions on dates and times, which are texts in RFC 3339.

mod calendar;
mod duration;
mod layout;
mod rfc3339;

use std::cmp::Ordering;

use groma_model::ty::Type;
use groma_model::value::Value;

use super::support::{Outcome, text, text_param};
use super::{CallContext, Function, FunctionError};
use calendar::Moment;
use rfc3339::Strictness;

/// A duration as Go writes it, `1h30m`, in nanoseconds.
pub fn parse_duration(text: &str) -> Result<i64, String> {
    duration::parse(text)
}

/// The functions of this group.
pub(super) fn functions() -> Vec<Function> {
    let timestamp = |name| text_param(name).about("A date and time in RFC 3339.");
    vec![
        Function::new(
            "formatdate",
            "Writes a date and time in another form.",
            vec![text_param("format").about("The form, such as `DD MMM YYYY hh:mm ZZZ`."), timestamp("time")],
            Type::String,
            format_date,
        ),
        Function::new(
            "timeadd",
            "Adds a duration to a date and time.",
            vec![timestamp("timestamp"), text_param("duration").about("How much to add, such as `1h30m` or `-10s`.")],
            Type::String,
            time_add,
        )
        .or_null(),
        Function::new(
            "timecmp",
            "Compares two dates and times: -1 if the first is earlier, 0 if they are the same, 1 if it is later.",
            vec![timestamp("timestamp_a"), timestamp("timestamp_b")],
            Type::Number,
            time_compare,
        ),
        Function {
            impure: true,
            ..Function::new("timestamp", "The current date and time, in UTC.", vec![], Type::String, |context, _| {
                let (seconds, _) = context.environment.now();
                Ok(Value::string(Moment::utc(seconds).to_string()))
            })
        },
        Function::new(
            "plantimestamp",
            "The date and time at which the plan was made, in UTC.",
            vec![],
            Type::String,
            |context, _| match context.plan_time {
                Some((seconds, _)) => Ok(Value::string(Moment::utc(seconds).to_string())),
                None => Ok(Value::unknown(Type::String)),
            },
        )
        .or_null(),
    ]
}

fn format_date(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let moment = rfc3339::parse(text(args, 1), Strictness::Strict).map_err(|error| FunctionError::arg(1, error))?;
    let formatted = layout::format(text(args, 0), &moment).map_err(|error| FunctionError::arg(0, error))?;
    Ok(Value::string(formatted))
}

fn time_add(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let moment = rfc3339::parse(text(args, 0), Strictness::Strict).map_err(FunctionError::new)?;
    let nanoseconds = duration::parse(text(args, 1)).map_err(FunctionError::new)?;
    Ok(Value::string(moment.plus(nanoseconds).to_string()))
}

fn time_compare(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let parse = |at| rfc3339::parse(text(args, at), Strictness::Lenient).map_err(|error| FunctionError::arg(at, error));
    let order = match parse(0)?.instant().cmp(&parse(1)?.instant()) {
        Ordering::Less => -1i64,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    };
    Ok(Value::number(order))
}

#[cfg(test)]
mod tests;
