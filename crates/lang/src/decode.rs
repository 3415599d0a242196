//! Bodies to values, guided by a provider's schema: arguments, nested blocks of every nesting, `dynamic` blocks.

mod as_blocks;
mod block;
mod dynamic;
mod locate;
#[cfg(test)]
mod tests;
mod traversal;

use groma_model::diag::Diagnostics;
use groma_model::schema::Block;
use groma_model::value::Value;
use groma_syntax::body::Body;

use crate::deprecation;
use crate::eval::Scope;
use crate::refs::telling_problems;

pub use as_blocks::{applies_to as takes_blocks_as_attributes, written as written_as_blocks};
pub use locate::{locate, refuse_ephemeral};
pub use traversal::{attribute_at, check_traversal};

/// Evaluates a body to an object of the schema's type. What is wrong becomes unknown.
///
/// References are judged first: if any of them is wrong, nothing else is reported, because most of it would follow from that.
pub fn decode_block(body: &Body, schema: &Block, scope: &dyn Scope) -> (Value, Diagnostics) {
    let mut decoding = block::Decoding::default();
    let value = decoding.object(body, schema, block::Frame { scope, context: &block::Context::of(schema) });
    if decoding.reference_errors.is_empty() {
        let (value, deprecations) = deprecation::of_body(value, body);
        decoding.errors.extend(deprecations);
        return (value, decoding.errors);
    }
    let problems = decoding.reference_errors.iter().map(|(traversal, problem)| (traversal, problem.clone()));
    (Value::unknown(schema.implied_type()), telling_problems(problems.collect()))
}
