//! References into objects, checked against a schema before there is an object.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::{Attribute, AttributeKind, Block, NestedBlock, Nesting};
use groma_model::text::{Str, suggestion};
use groma_model::value::Value;
use groma_syntax::ast::{Step, StepKey};
use groma_syntax::is_identifier;

use crate::eval::walk_steps;

/// What is wrong with steps into an object of a schema.
pub fn check_traversal(schema: &Block, steps: &[Step]) -> Diagnostics {
    let Some((first, rest)) = steps.split_first() else { return Diagnostics::new() };
    let name = match first {
        Step::Attr { name, .. } => name,
        Step::Index { key, span } => {
            let advice = match key {
                StepKey::String(key) if is_identifier(key) => {
                    format!(". Did you mean to access attribute {:?} using the dot operator?", key.as_str())
                }
                _ => ", using the dot operator.".to_owned(),
            };
            let detail = format!("Only attribute access is allowed here{advice}");
            return Diagnostic::error("Invalid index operation", detail).at(*span).into();
        }
    };
    if let Some(attribute) = schema.attributes.get(name) {
        let unknown = Value::unknown(attribute.implied_type());
        return walk_steps(&unknown, rest).err().map_or_else(Diagnostics::new, Diagnostics::from);
    }
    if let Some(nested) = schema.block_types.get(name) {
        return check_nested(nested, name, rest);
    }
    let known = schema.attributes.keys().chain(schema.block_types.keys()).map(Str::as_str);
    let advice = suggestion(name, known).map_or(String::new(), |meant| format!(" Did you mean {meant:?}?"));
    let detail =
        format!("This object has no argument, nested block, or exported attribute named {:?}.{advice}", name.as_str());
    Diagnostic::error("Unsupported attribute", detail).at(first.span()).into()
}

fn check_nested(nested: &NestedBlock, kind: &Str, steps: &[Step]) -> Diagnostics {
    if matches!(nested.nesting, Nesting::Single | Nesting::Group) {
        return check_traversal(&nested.block, steps);
    }
    let Some((first, rest)) = steps.split_first() else { return Diagnostics::new() };
    match (nested.nesting, first) {
        (Nesting::Set, _) => {
            let detail = format!(
                "Block type {:?} is represented by a set of objects, and set elements do not have addressable keys. To find \
                 elements matching specific criteria, use a \"for\" expression with an \"if\" clause.",
                kind.as_str()
            );
            Diagnostic::error("Cannot index a set value", detail).at(first.span()).into()
        }
        (Nesting::List, Step::Attr { span, .. }) => {
            let detail = format!(
                "Block type {:?} is represented by a list of objects, so it must be indexed using a numeric key, like \
                 .{kind}[0].",
                kind.as_str()
            );
            Diagnostic::error("Invalid operation", detail).at(*span).into()
        }
        _ => check_traversal(&nested.block, rest),
    }
}

/// The attribute of that name.
pub(super) fn attribute_named<'s>(schema: &'s Block, name: &str) -> Option<&'s Attribute> {
    schema.attributes.get(name)
}

/// The attribute that steps lead to, if they lead to one and not into it or past it.
pub fn attribute_at<'s>(schema: &'s Block, steps: &[Step]) -> Option<&'s Attribute> {
    let (first, rest) = steps.split_first()?;
    let Step::Attr { name, .. } = first else { return None };
    if let Some(attribute) = schema.attributes.get(name) {
        return nested_attribute(attribute, rest);
    }
    let nested = schema.block_types.get(name)?;
    let rest = match nested.nesting {
        Nesting::Single | Nesting::Group => rest,
        Nesting::List | Nesting::Set | Nesting::Map => rest.get(1..)?,
    };
    attribute_at(&nested.block, rest)
}

fn nested_attribute<'s>(attribute: &'s Attribute, steps: &[Step]) -> Option<&'s Attribute> {
    if steps.is_empty() {
        return Some(attribute);
    }
    let AttributeKind::Nested(nested) = &attribute.ty else { return None };
    let steps = match nested.nesting {
        Nesting::Single | Nesting::Group => steps,
        Nesting::List | Nesting::Set | Nesting::Map => steps.get(1..)?,
    };
    let (first, rest) = steps.split_first()?;
    let Step::Attr { name, .. } = first else { return None };
    nested_attribute(nested.attributes.get(name)?, rest)
}
