//! `jsonencode` and `jsondecode`. The format itself is in the model's codec.

use groma_model::codec::{CodecErrorKind, json};
use groma_model::ty::Type;
use groma_model::value::{Refinement, Value, ValueKind};

use super::super::format::quote_char;
use super::super::support::{Outcome, any_param, text, text_param};
use super::super::{CallContext, Function, FunctionError};

pub(super) fn functions() -> [Function; 2] {
    [
        Function::new(
            "jsonencode",
            "Writes a value as JSON.",
            vec![any_param("val").null().unknown().dynamic().about("The value to write.")],
            Type::String,
            encode,
        ),
        Function::new(
            "jsondecode",
            "Reads a JSON document.",
            vec![text_param("str").about("The document.")],
            Type::Dynamic,
            decode,
        )
        .typed(decoded_type)
        .or_null(),
    ]
}

fn encode(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let value = &args[0];
    if value.is_wholly_known() {
        let text = json::encode_plain(value).map_err(|error| FunctionError::new(error.kind().to_string()))?;
        return Ok(Value::string(text));
    }
    Ok(Value::unknown_refined(Type::String, Refinement::prefix(first_character(value))))
}

/// How the JSON of a value that is not known yet will begin, as far as its type tells.
pub(super) fn first_character(value: &Value) -> &'static str {
    if !value.is_definitely_not_null() {
        return "";
    }
    match value.ty() {
        Type::String => "\"",
        Type::Object(_) | Type::Map(_) => "{",
        Type::Tuple(_) | Type::List(_) | Type::Set(_) => "[",
        _ => "",
    }
}

/// What the known beginning of a document tells about its type. That of a known document follows from the result.
fn decoded_type(args: &[Value]) -> Result<Type, FunctionError> {
    let ValueKind::Unknown(refinement) = args[0].kind() else { return Ok(Type::Dynamic) };
    let prefix = refinement.prefix.as_deref().unwrap_or_default().trim();
    match prefix.chars().next() {
        Some('"') => Ok(Type::String),
        Some('t' | 'f') => Ok(Type::Bool),
        Some('-' | '.' | '0'..='9') => Ok(Type::Number),
        None | Some('{' | '[' | 'n') => Ok(Type::Dynamic),
        Some(c) => {
            let message = format!("a JSON document cannot begin with the character {}", quote_char(c));
            Err(FunctionError::arg(0, message))
        }
    }
}

fn decode(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let document = text(args, 0);
    json::decode_implied(document).map_err(|error| {
        let problem = match error.kind() {
            CodecErrorKind::Malformed { offset, message } => familiar(document, *offset, message),
            kind => kind.to_string(),
        };
        FunctionError::new(problem)
    })
}

/// A message in the words that people know from other tools.
fn familiar(document: &str, offset: usize, message: &str) -> String {
    if message.ends_with("after top-level value") {
        return "extraneous data after JSON object".into();
    }
    if message == "unexpected end of JSON input" {
        return if ends_in_token(document) { "unexpected EOF" } else { "EOF" }.into();
    }
    let before = document.get(..offset).unwrap_or_default().trim_end();
    match message.strip_suffix(" looking for beginning of object key string") {
        Some(short) if before.ends_with('{') => short.to_owned(),
        _ => message.to_owned(),
    }
}

/// Whether a document breaks off within a string, word or number, and not between two of them.
fn ends_in_token(document: &str) -> bool {
    let mut in_string = false;
    let mut escaped = false;
    for c in document.chars() {
        (in_string, escaped) = match c {
            _ if escaped => (in_string, false),
            '\\' if in_string => (true, true),
            '"' => (!in_string, false),
            _ => (in_string, false),
        };
    }
    let word = document.rsplit(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).next().unwrap_or_default();
    let unfinished_word = ["true", "false", "null"].iter().any(|known| known.starts_with(word) && *known != word);
    in_string || (!word.is_empty() && (unfinished_word || word.ends_with(['+', '-', '.', 'e', 'E'])))
}
