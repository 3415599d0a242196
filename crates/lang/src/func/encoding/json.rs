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
    decode_text(document).map_err(FunctionError::new)
}

fn decode_text(document: &str) -> Result<Value, String> {
    let error = match json::decode_implied(document) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let CodecErrorKind::Malformed { offset, message } = error.kind() else { return Err(error.kind().to_string()) };
    let (before, after) = document.split_at_checked(*offset).unwrap_or((document, ""));
    if message.ends_with("after top-level value") {
        // Other tools do not look at what follows a bracket that closes nothing.
        return if after.starts_with([']', '}']) {
            decode_text(before)
        } else {
            Err("extraneous data after JSON object".into())
        };
    }
    Err(familiar(document, before, after, message))
}

/// A message in the words that people know from other tools.
fn familiar(document: &str, before: &str, after: &str, message: &str) -> String {
    if message == "unexpected end of JSON input" {
        return if ends_in_token(document) { "unexpected EOF" } else { "EOF" }.into();
    }
    let message = with_byte(message, after);
    if let Some((_, literal)) = message.split_once(" in literal ")
        && let Some(expected) = next_letter(before, literal)
    {
        return format!("{message} (expecting '{expected}')");
    }
    match message.strip_suffix(" looking for beginning of object key string") {
        Some(short) if before.trim_end().ends_with('{') => short.to_owned(),
        _ => message,
    }
}

/// Messages name the first byte of what is wrong, as if it were a character.
fn with_byte(message: &str, found: &str) -> String {
    let Some(c) = found.chars().next().filter(|c| !c.is_ascii()) else { return message.to_owned() };
    let byte = char::from(found.as_bytes()[0]);
    message.replacen(&format!("{c:?}"), &quote_char(byte), 1)
}

/// The letter of a literal that should come after what is there of it.
fn next_letter(before: &str, literal: &str) -> Option<char> {
    let known = (0..literal.len()).rev().find(|length| before.ends_with(&literal[..*length]))?;
    literal[known..].chars().next()
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
    let is_number = word.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    let unfinished_number = is_number && word.ends_with(['+', '-', '.', 'e', 'E']);
    in_string || (!word.is_empty() && (unfinished_word || unfinished_number))
}
