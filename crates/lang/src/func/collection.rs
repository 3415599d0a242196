//! Functions on collections, tuples and objects, grouped by what they work on.
//!
//! All of them take time in proportion to what they are given, or little more where something is put in order.

#![allow(clippy::unnecessary_wraps, reason = "all functions share one signature")]

mod choice;
mod keyed;
mod measure;
mod ordered;
mod product;
mod search;
mod sets;

use groma_model::ty::Type;
use groma_model::value::Value;

use super::support::{Outcome, any_param};
use super::{Function, FunctionError};

/// The functions of this group.
pub(super) fn functions() -> Vec<Function> {
    let mut all = choice::functions();
    all.extend(keyed::functions());
    all.extend(measure::functions());
    all.extend(ordered::functions());
    all.extend(product::functions());
    all.extend(search::functions());
    all.extend(sets::functions());
    all.extend(retired_functions());
    all
}

/// Functions that went away long ago. They can still be called, to learn what to write instead.
fn retired_functions() -> Vec<Function> {
    const LIST: &str = "the \"list\" function was deprecated in Terraform v0.12 and is not available in OpenTofu; use tolist([ ... ]) syntax to write a literal list";
    const MAP: &str = "the \"map\" function was deprecated in Terraform v0.12 and is not available in OpenTofu; use tomap({ ... }) syntax to write a literal map";
    let vals = || any_param("vals").null().unknown().dynamic();
    vec![
        Function::new("list", "Was replaced by tolist.", vec![], Type::Dynamic, |_, _| Err(FunctionError::new(LIST)))
            .typed(|_| Err(FunctionError::new(LIST)))
            .rest(vals()),
        Function::new("map", "Was replaced by tomap.", vec![], Type::Dynamic, |_, _| Err(FunctionError::new(MAP)))
            .typed(|_| Err(FunctionError::new(MAP)))
            .rest(vals()),
    ]
}

/// A list of items that should all have the element type. Where that is open, they decide it, if they agree.
fn list_of(element: &Type, items: Vec<Value>) -> Outcome {
    Ok(Value::list(settled(element, &items)?, items))
}

/// A set of items that should all have the element type. Where that is open, they decide it, if they agree.
fn set_of(element: &Type, items: Vec<Value>) -> Outcome {
    Ok(Value::set(settled(element, &items)?, items))
}

fn settled(element: &Type, items: &[Value]) -> Result<Type, FunctionError> {
    if !element.has_dynamic() || items.is_empty() {
        return Ok(element.clone());
    }
    let common = items.iter().find(|item| !item.is_dynamic()).map_or(Type::Dynamic, Value::ty);
    if items.iter().all(|item| item.is_dynamic() || item.is_of_type(&common)) {
        return Ok(common);
    }
    Err(FunctionError::new("all elements must have the same type"))
}

/// An argument that must be a machine integer, and what to call it if it is not.
fn whole_number(args: &[Value], at: usize, what: &str) -> Result<i64, FunctionError> {
    super::support::integer(args, at).map_err(|error| FunctionError::new(format!("{what}: {}", error.message)))
}

/// The element type of a collection argument.
fn element_type(value: &Value) -> Type {
    value.element_type().cloned().unwrap_or(Type::Dynamic)
}

/// Whether the type is a list, set or tuple.
fn is_sequence(value: &Value) -> bool {
    match value.as_elements() {
        Some(_) => true,
        None => matches!(value.ty(), Type::List(_) | Type::Set(_) | Type::Tuple(_)),
    }
}
