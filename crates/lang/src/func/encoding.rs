//! Functions that encode and decode: base64, gzip, CSV, JSON, YAML, URLs and character sets.

#![allow(clippy::unnecessary_wraps, reason = "all functions share one signature")]

pub(super) mod base64;
mod charset;
mod csv;
mod gzip;
mod json;
mod url;
mod yaml;

use groma_model::mark::Marks;
use groma_model::ty::Type;
use groma_model::value::{Value, go_quote};

use super::support::{Outcome, text, text_param};
use super::{CallContext, Function, FunctionError};

/// The functions of this group.
pub(super) fn functions() -> Vec<Function> {
    let str = |about| vec![text_param("str").about(about)];
    let mut all = vec![
        Function::new(
            "base64encode",
            "Encodes the bytes of a text (in UTF-8) in base64.",
            str("The text to encode."),
            Type::String,
            |_, args| Ok(Value::string(base64::encode(text(args, 0).as_bytes()))),
        ),
        Function::new(
            "base64decode",
            "Decodes base64, which must stand for a text in UTF-8.",
            vec![text_param("str").marked().about("What to decode.")],
            Type::String,
            base64_decode,
        ),
        Function::new(
            "base64gzip",
            "Packs the bytes of a text (in UTF-8) with gzip and encodes the result in base64.",
            str("The text to pack."),
            Type::String,
            |_, args| Ok(Value::string(base64::encode(&gzip::compress(text(args, 0).as_bytes())))),
        ),
        Function::new(
            "base64gunzip",
            "Decodes base64 and unpacks the result with gzip.",
            vec![text_param("str").marked().about("What to unpack.")],
            Type::String,
            base64_gunzip,
        ),
        Function::new(
            "urlencode",
            "Encodes a text so that it can stand in the query of a URL.",
            str("The text to encode."),
            Type::String,
            |_, args| Ok(Value::string(url::encode(text(args, 0)))),
        ),
        Function::new(
            "urldecode",
            "Decodes a text from the query of a URL.",
            str("What to decode."),
            Type::String,
            |_, args| url::decode(text(args, 0)).map(Value::string).map_err(FunctionError::new),
        ),
    ];
    all.extend(charset::functions());
    all.extend([csv::function()]);
    all.extend(json::functions());
    all.extend(yaml::functions());
    all
}

/// Quotes a text for a message, unless it must not be shown.
pub(super) fn shown(text: &str, marks: &Marks) -> String {
    match (marks.is_ephemeral(), marks.is_sensitive()) {
        (true, true) => "(ephemeral sensitive value)".into(),
        (true, false) => "(ephemeral value)".into(),
        (false, true) => "(sensitive value)".into(),
        (false, false) => go_quote(text),
    }
}

fn base64_bytes(argument: &Value) -> Result<Vec<u8>, FunctionError> {
    let text = argument.as_str().unwrap_or_default();
    base64::decode(text)
        .map_err(|_| FunctionError::new(format!("failed to decode base64 data {}", shown(text, argument.marks()))))
}

fn base64_decode(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let text = String::from_utf8(base64_bytes(&args[0])?)
        .map_err(|_| FunctionError::new("the result of decoding the provided string is not valid UTF-8"))?;
    Ok(Value::string(text).with_marks(args[0].marks()))
}

fn base64_gunzip(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let packed = base64_bytes(&args[0])?;
    gzip::check_header(&packed)
        .map_err(|problem| FunctionError::new(format!("failed to gunzip bytestream: {problem}")))?;
    let unpacked = gzip::decompress(&packed)
        .map_err(|problem| FunctionError::new(format!("failed to read gunzip raw data: {problem}")))?;
    Ok(Value::string(String::from_utf8_lossy(&unpacked).into_owned()).with_marks(args[0].marks()))
}

#[cfg(test)]
mod tests;
