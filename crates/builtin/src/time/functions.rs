//! Functions that take times and durations apart.

use groma_model::number::Number;
use groma_model::schema::{FunctionSignature, TextKind};
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::FunctionError;

use crate::kit::functions::{argument_error, parameter, signature};
use crate::kit::{Function, Moment, parse_duration};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

pub(super) struct DurationParse;
pub(super) struct Rfc3339Parse;
pub(super) struct UnixTimestampParse;

impl Function for DurationParse {
    fn name(&self) -> &'static str {
        "duration_parse"
    }

    fn signature(&self) -> FunctionSignature {
        let names = ["hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"];
        let returns = Type::object(names.map(|name| (name, Type::Number)));
        let mut signature = signature(
            returns,
            "Takes a duration apart",
            "The duration in six units, from hours to nanoseconds: each is all of it. It is written as in Go, for \
             example `1h30m`.",
            TextKind::Plain,
        );
        let about = "A duration, such as `1h30m`";
        signature.parameters = vec![parameter("duration", Type::String, about, TextKind::Plain)];
        signature
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
        let text = arguments.first().and_then(Value::as_str).unwrap_or_default();
        let nanos = parse_duration(text).map_err(|_| {
            argument_error(0, format!("Error parsing duration string: {text:?} is not a valid duration string"))
        })?;
        // Whole units and the rest are divided apart, so that whole units stay exact.
        let float = |unit: i64| (nanos / unit) as f64 + (nanos % unit) as f64 / unit as f64;
        let float = |unit: i64| Value::number(Number::from_f64(float(unit)).unwrap_or(Number::ZERO));
        Ok(Value::object([
            ("hours", float(3_600_000_000_000)),
            ("minutes", float(60_000_000_000)),
            ("seconds", float(1_000_000_000)),
            ("milliseconds", Value::from(nanos / 1_000_000)),
            ("microseconds", Value::from(nanos / 1_000)),
            ("nanoseconds", Value::from(nanos)),
        ]))
    }
}

impl Function for Rfc3339Parse {
    fn name(&self) -> &'static str {
        "rfc3339_parse"
    }

    fn signature(&self) -> FunctionSignature {
        let mut signature = signature(
            parts_type(("unix", Type::Number)),
            "Takes a time apart",
            "The parts of a time in RFC 3339, as its own offset has them: date and time of day, names of month and \
             weekday, ISO week, and seconds since 1970.",
            TextKind::Plain,
        );
        let about = "A time in RFC 3339";
        signature.parameters = vec![parameter("timestamp", Type::String, about, TextKind::Plain)];
        signature
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
        let text = arguments.first().and_then(Value::as_str).unwrap_or_default();
        let moment = Moment::parse(text).map_err(|_| {
            argument_error(0, format!("Error parsing RFC3339 timestamp: {text:?} is not a valid RFC3339 timestamp"))
        })?;
        Ok(parts(moment, ("unix", Value::from(moment.unix()))))
    }
}

impl Function for UnixTimestampParse {
    fn name(&self) -> &'static str {
        "unix_timestamp_parse"
    }

    fn signature(&self) -> FunctionSignature {
        let mut signature = signature(
            parts_type(("rfc3339", Type::String)),
            "Takes seconds since 1970 apart",
            "The parts of a time in UTC that is given in seconds since the beginning of 1970: date and time of day, \
             names of month and weekday, ISO week, and all of it in RFC 3339.",
            TextKind::Markdown,
        );
        let about = "Whole seconds since the beginning of 1970 (UTC)";
        signature.parameters = vec![parameter("unix_timestamp", Type::Number, about, TextKind::Markdown)];
        signature
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
        let number = arguments.first().and_then(Value::as_number);
        let moment = number
            .and_then(Number::to_i64)
            .and_then(|unix| Moment::from_unix(0).plus_seconds(unix.into()).ok())
            .ok_or_else(|| argument_error(0, "Value must be a whole number that is a time"))?;
        Ok(parts(moment, ("rfc3339", Value::from(moment.to_rfc3339()))))
    }
}

fn parts_type(other: (&str, Type)) -> Type {
    let numbers = ["year", "year_day", "day", "month", "weekday", "hour", "minute", "second", "iso_year", "iso_week"];
    let numbers = numbers.into_iter().map(|name| (name, Type::Number));
    let names = ["month_name", "weekday_name"].into_iter().map(|name| (name, Type::String));
    Type::object(numbers.chain(names).chain([other]))
}

fn parts(moment: Moment, other: (&str, Value)) -> Value {
    let f = moment.fields();
    let (iso_year, iso_week) = moment.iso_week();
    let name = |names: &[&str], at: i64| {
        let name = usize::try_from(at).ok().and_then(|at| names.get(at));
        Value::string(name.copied().unwrap_or_default())
    };
    Value::object([
        ("year", Value::from(f.year)),
        ("year_day", Value::from(f.year_day)),
        ("day", Value::from(f.day)),
        ("month", Value::from(f.month)),
        ("month_name", name(&MONTHS, f.month - 1)),
        ("weekday", Value::from(f.weekday)),
        ("weekday_name", name(&WEEKDAYS, f.weekday)),
        ("hour", Value::from(f.hour)),
        ("minute", Value::from(f.minute)),
        ("second", Value::from(f.second)),
        ("iso_year", Value::from(iso_year)),
        ("iso_week", Value::from(iso_week)),
        other,
    ])
}
