//! What is not a note: a data source, an ephemeral resource, a function.

use std::time::{Duration, SystemTime};

use groma_model::diag::Diagnostics;
use groma_model::value::Value;
use groma_provider::api::{
    CallFunctionRequest, CallFunctionResponse, EphemeralObject, EphemeralRenewal, FunctionError, OpenRequest, Private,
    ReadDataRequest, ReadDataResponse,
};

use crate::provider::Served;

pub(crate) fn echo(served: &Served, request: ReadDataRequest) -> ReadDataResponse {
    let input = request.config.as_entries().and_then(|config| config.get("input").cloned());
    let input = input.unwrap_or_else(|| Value::string(""));
    let output = match input.as_str() {
        Some("pid") => Value::string(std::process::id().to_string()),
        Some(input) => Value::string(format!("{}{input}", served.prefix())),
        None => input.clone(),
    };
    let object = Value::object([("input", input), ("output", output)]);
    ReadDataResponse { object, deferred: None, diagnostics: Diagnostics::new() }
}

pub(crate) fn open(request: &OpenRequest) -> EphemeralObject {
    let length = request.config.as_entries().and_then(|config| config.get("length").cloned());
    let object =
        Value::object([("length", length.unwrap_or_else(|| Value::number(8))), ("value", Value::string("tokentoken"))]);
    EphemeralObject {
        object,
        private: Private(b"opened".to_vec()),
        renew_at: SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(4_000_000_000)),
        deferred: None,
        diagnostics: Diagnostics::new(),
    }
}

pub(crate) fn renew(private: Private) -> EphemeralRenewal {
    EphemeralRenewal { private, renew_at: None, diagnostics: Diagnostics::new() }
}

pub(crate) fn close(private: &Private) -> Diagnostics {
    let mut found = Diagnostics::new();
    if private.0 != b"opened" {
        found.push(groma_model::diag::Diagnostic::error("Lost", "It was never opened."));
    }
    found
}

pub(crate) fn shout(request: &CallFunctionRequest) -> CallFunctionResponse {
    let words: Vec<&str> = request.arguments.iter().filter_map(Value::as_str).collect();
    let silent = words.iter().position(|word| word.is_empty());
    CallFunctionResponse {
        result: match silent {
            Some(argument) => Err(FunctionError { text: "nothing to shout".to_owned(), argument: Some(argument) }),
            None => Ok(Value::string(words.concat().to_uppercase())),
        },
    }
}
