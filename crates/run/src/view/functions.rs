//! The result of `metadata functions -json`.

use std::collections::BTreeMap;

use groma_lang::func::{Function, Param};
use groma_model::codec::type_json;
use groma_model::ty::Type;
use serde::Serialize;
use serde_json::value::RawValue;

#[derive(Serialize)]
struct FunctionsJson<'a> {
    format_version: &'static str,
    function_signatures: BTreeMap<String, FunctionJson<'a>>,
}

#[derive(Serialize)]
struct FunctionJson<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    return_type: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<ParamJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variadic_parameter: Option<ParamJson<'a>>,
}

#[derive(Serialize)]
struct ParamJson<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_nullable: bool,
    #[serde(rename = "type")]
    ty: Option<Box<RawValue>>,
}

/// The document, each function under both of its names.
pub fn functions(functions: &BTreeMap<&'static str, Function>) -> String {
    let mut signatures = BTreeMap::new();
    for (name, function) in functions {
        signatures.insert((*name).to_owned(), function_json(function));
        signatures.insert(format!("core::{name}"), function_json(function));
    }
    let document = FunctionsJson { format_version: "1.0", function_signatures: signatures };
    serde_json::to_string(&document).unwrap_or_default()
}

fn function_json(function: &Function) -> FunctionJson<'_> {
    FunctionJson {
        description: function.description,
        return_type: type_of(&function.declared_return_type()),
        parameters: function.params.iter().map(param_json).collect(),
        variadic_parameter: function.variadic.as_ref().map(param_json),
    }
}

fn param_json(param: &Param) -> ParamJson<'_> {
    ParamJson {
        name: param.name,
        description: param.description,
        is_nullable: param.allow_null,
        ty: type_of(&param.ty),
    }
}

fn type_of(ty: &Type) -> Option<Box<RawValue>> {
    RawValue::from_string(type_json::encode(ty)).ok()
}
