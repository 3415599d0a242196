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
        let about = "provider::terraform::decode_tfvars decodes a TFVars file content into an object";
        let summary = "Decode a TFVars file content into an object";
        let mut signature = signature(Type::Dynamic, summary, about, TextKind::Plain);
        signature.parameters =
            vec![parameter("content", Type::String, "TFVars file content to decode", TextKind::Plain)];
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
        let about = "provider::terraform::encode_tfvars encodes an object into a string with the same format as a \
                     TFVars file";
        let summary = "Encode an object into a string with the same format as a TFVars file";
        let input = "Input to encode for TFVars file. Must be an object with key that are valid identifiers";
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
        let about = "provider::terraform::encode_expr takes an arbitrary expression and converts it into a string with \
                     valid OpenTofu syntax";
        let summary = "Takes an arbitrary expression and converts it into a string with valid OpenTofu syntax";
        let mut signature = signature(Type::String, summary, about, TextKind::Plain);
        signature.parameters = vec![parameter("expr", Type::Dynamic, "expression to encode", TextKind::Plain)];
        signature
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError> {
        let value = arguments.first().and_then(hcl::expression);
        value.map(Value::from).ok_or_else(|| failed("input is not wholly known"))
    }
}
