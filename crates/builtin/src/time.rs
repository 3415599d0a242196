//! The `time` provider: times that stay, move, rotate and pass.

mod functions;
mod offset;
mod rotating;
mod sleep;
mod static_time;
#[cfg(test)]
mod tests;

use groma_model::address::{DEFAULT_HOST, DEFAULT_NAMESPACE};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value};
use groma_provider::api::Effects;

use crate::kit::Builtin;
use crate::kit::outside::Outside;
use crate::kit::spec::{computed, optional, optional_computed};
use crate::kit::{Attr, InProcess, Moment, Object, Spec, at, checks};

pub(crate) const BUILTIN: Builtin = Builtin {
    name: "time",
    namespace: DEFAULT_NAMESPACE,
    host: DEFAULT_HOST,
    version: Some("0.14.2"),
    // Making a `time_sleep` again would wait again, and a rotation has a time.
    effects: Effects::Repeatable,
    make,
};

fn make(outside: &Outside) -> InProcess {
    InProcess::new(BUILTIN.address().to_string())
        .resource(offset::Offset(outside.clone()))
        .resource(rotating::Rotating(outside.clone()))
        .resource(sleep::Sleep(outside.clone()))
        .resource(static_time::Static(outside.clone()))
        .function(functions::DurationParse)
        .function(functions::Rfc3339Parse)
        .function(functions::UnixTimestampParse)
}

/// What an import knows of triggers.
fn empty_map() -> Value {
    Value::map(Type::String, Entries::default())
}

/// The time that a resource starts from: a given one, or when it is made.
fn base_time() -> Attr {
    optional_computed(Type::String)
        .doc("The time to start from, in RFC 3339 (`2020-02-12T06:36:13Z`). Without one, when the resource is made.")
        .replace()
        .check(is_rfc3339)
}

/// Whatever makes a resource start anew when it changes.
fn triggers() -> Attr {
    optional(Type::map(Type::String))
        .doc("Whatever the time depends on: when any of these changes, the resource starts anew.")
        .replace()
}

/// The parts of a time, as [`set_fields`] sets them.
fn with_fields(spec: Spec, time: &str) -> Spec {
    let fields = ["year", "month", "day", "hour", "minute", "second"];
    let field = |spec: Spec, name| spec.attr(name, computed(Type::Number).doc(&format!("The {name} of {time}.")));
    let unix = format!("Seconds from the beginning of 1970 (UTC) to {time}.");
    let unix = computed(Type::Number).doc(&unix);
    fields.into_iter().fold(spec, field).attr("unix", unix)
}

fn is_rfc3339(path: &Path, value: &Value) -> Option<Diagnostic> {
    let text = value.as_str()?;
    let error = Moment::parse(text).err()?;
    let detail = format!(
        "A string value was provided that is not valid RFC3339 string format.\n\nGiven Value: {text}\nError: {error}"
    );
    Some(Diagnostic::error("Invalid RFC3339 String Value", detail).at_path(path.clone()))
}

/// A number and one unit, unlike the durations that functions take apart.
fn is_duration() -> impl Fn(&Path, &Value) -> Option<Diagnostic> {
    let test = |text: &str| {
        let Some(number) = ["ms", "s", "m", "h"].iter().find_map(|unit| text.strip_suffix(unit)) else { return false };
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        number.split_once('.').map_or_else(|| digits(number), |(whole, fraction)| digits(whole) && digits(fraction))
    };
    checks::matches(
        test,
        "must be a number immediately followed by ms (milliseconds), s (seconds), m (minutes), or h (hours). For \
         example, \"30s\" for 30 seconds.",
    )
}

fn read_time(object: &Object, name: &str) -> Result<Moment, Diagnostic> {
    let text = object.text(name).ok_or("RFC3339 string value is null".to_owned());
    text.and_then(Moment::parse)
        .map_err(|error| Diagnostic::error("RFC3339 ValueRFC3339Time Error", error).at_path(at(name)))
}

fn set_fields(object: &mut Object, moment: Moment) {
    let f = moment.fields();
    for (name, value) in [
        ("year", f.year),
        ("month", f.month),
        ("day", f.day),
        ("hour", f.hour),
        ("minute", f.minute),
        ("second", f.second),
        ("unix", moment.unix()),
    ] {
        object.set_int(name, value);
    }
}

/// Times that are only written in another way (`+00:00` for `Z`) stay as they were written.
fn keep_written(written: &Object, object: &mut Object, names: &[&str]) {
    for name in names {
        let Some(text) = written.text(name) else { continue };
        let same = Moment::parse(text).is_ok_and(|moment| Some(moment.to_rfc3339().as_str()) == object.text(name));
        if same {
            object.set(name, text);
        }
    }
}

fn missing_one_of(config: &Object, names: &[&str]) -> Diagnostics {
    if names.iter().any(|name| !config.is_null(name)) {
        return Diagnostics::new();
    }
    let detail = format!("At least one of these attributes must be configured: [{}]", names.join(","));
    Diagnostic::error("Missing Attribute Configuration", detail).into()
}

fn out_of_range(what: &str) -> Diagnostic {
    Diagnostic::error("Time out of range", format!("The {what} leads to a time that cannot be shown."))
}

/// A whole number, or none for no text.
fn parse_int(text: &str) -> Result<Option<i64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| format!("could not parse ({text:?}) as int"))
}
