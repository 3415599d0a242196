//! `provider::local::direxists`

use std::io::ErrorKind;

use groma_model::schema::{FunctionSignature, TextKind};
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::FunctionError;

use crate::kit::Function;
use crate::kit::functions::{argument_error, parameter, signature};
use crate::kit::outside::Outside;

/// The function; relative paths begin at the directory.
pub(super) struct DirExists(pub(super) Outside);

impl Function for DirExists {
    fn name(&self) -> &'static str {
        "direxists"
    }

    fn signature(&self) -> FunctionSignature {
        let summary = "Whether there is a directory";
        let description = "True if there is a directory at the path, false if there is nothing. Anything else at the \
                           path is an error. `~` has no special meaning: see `pathexpand`.";
        let path = "Relative or absolute path.";
        FunctionSignature {
            parameters: vec![parameter("path", Type::String, path, TextKind::Plain)],
            ..signature(Type::Bool, summary, description, TextKind::Plain)
        }
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
        let path = arguments.first().and_then(Value::as_str).unwrap_or_default();
        match self.0.readable(path).and_then(std::fs::metadata) {
            Ok(found) if found.is_dir() => Ok(Value::bool(true)),
            Ok(_) => {
                let text = format!("Invalid file mode detected: {path:?} was found, but is not a directory");
                Err(argument_error(0, text))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Value::bool(false)),
            Err(error) => Err(argument_error(0, format!("Error checking for directory: {error}"))),
        }
    }
}
