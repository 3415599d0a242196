//! Functions between values and configuration text.

use groma_model::address::is_identifier;
use groma_model::schema::{FunctionSignature, TextKind};
use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind};
use groma_provider::api::FunctionError;

use super::hcl;
use crate::kit::Function;
use crate::kit::functions::{parameter, signature};
use crate::kit::outside::Outside;

pub(super) struct DecodeTfvars(pub(super) Outside);
pub(super) struct EncodeTfvars;
pub(super) struct EncodeExpr;

fn failed(text: impl Into<String>) -> FunctionError {
    FunctionError { text: text.into(), argument: None }
}

impl Function for DecodeTfvars {
    fn name(&self) -> &'static str {
        "decode_tfvars"
    }

    fn signature(&self) -> FunctionSignature {
        let about = "An object of the values that the text of a `.tfvars` file gives to variables.";
        let summary = "Reads the text of a .tfvars file";
        let mut signature = signature(Type::Dynamic, summary, about, TextKind::Plain);
        signature.parameters = vec![parameter("content", Type::String, "Text of a `.tfvars` file", TextKind::Plain)];
        signature
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
        let text = arguments.first().and_then(Value::as_str).unwrap_or_default();
        self.0.tfvars.decode(text).map_err(|problems| {
            let mut lines = vec!["failed to decode tfvars content".to_owned()];
            lines.extend(problems);
            failed(lines.join("\n"))
        })
    }
}

impl Function for EncodeTfvars {
    fn name(&self) -> &'static str {
        "encode_tfvars"
    }

    fn signature(&self) -> FunctionSignature {
        let about = "The text of a `.tfvars` file that gives each variable the value of the attribute of its name.";
        let summary = "Writes the text of a .tfvars file";
        let input = "An object whose attributes have names that variables can have";
        let mut signature = signature(Type::String, summary, about, TextKind::Plain);
        signature.parameters = vec![parameter("input", Type::Dynamic, input, TextKind::Plain)];
        signature
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
        let Some(ValueKind::Object(entries)) = arguments.first().map(Value::kind) else {
            return Err(failed("invalid input: must be an object"));
        };
        if let Some(name) = entries.names().iter().find(|name| !is_identifier(name)) {
            return Err(failed(format!("invalid input: object key: {name} - must be a valid identifier")));
        }
        hcl::attributes(entries).map(Value::from).ok_or_else(|| failed("input is not wholly known"))
    }
}

impl Function for EncodeExpr {
    fn name(&self) -> &'static str {
        "encode_expr"
    }

    fn signature(&self) -> FunctionSignature {
        let about = "Text that a configuration could hold, and that stands for the value there.";
        let summary = "Writes a value as an expression";
        let mut signature = signature(Type::String, summary, about, TextKind::Plain);
        signature.parameters = vec![parameter("expr", Type::Dynamic, "Any value that is known", TextKind::Plain)];
        signature
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
        let value = arguments.first().and_then(hcl::expression);
        value.map(Value::from).ok_or_else(|| failed("input is not wholly known"))
    }
}
