//! How large a value may get. Values share their parts, so a few lines of configuration can describe one that no machine
//! could print; it is refused where it is made.

use groma_model::diag::Diagnostic;
use groma_model::value::Value;

/// How many parts a value may be made of, counting shared parts as often as they occur.
pub const MAX_NODES: u64 = 50_000_000;

/// How deep a value may be nested. Walking a value recurses.
pub use groma_model::value::MAX_DEPTH;

/// How many bytes a string may have that a template makes.
pub const MAX_TEXT: usize = 256 << 20;

/// How much stack one evaluation inside another takes at most, without optimisation.
const EVALUATION_BYTES: usize = 2600;

/// How many evaluations may be inside one another on a stack of that size, across templates that call templates.
pub(super) fn max_recursion(stack_bytes: usize) -> usize {
    stack_bytes / EVALUATION_BYTES
}

/// How many evaluations a template inside a template counts for.
pub(super) const TEMPLATE_COST: usize = 8;

/// How many errors one loop reports before it gives up.
pub(super) const MAX_LOOP_ERRORS: usize = 1000;

/// Why a value is too large to go on with, if it is.
pub fn oversize(value: &Value) -> Option<Diagnostic> {
    if value.node_count() > MAX_NODES {
        let detail = format!(
            "This expression describes a value of {} parts, counting shared parts as often as they occur. \
             The limit is {MAX_NODES}.",
            value.node_count()
        );
        return Some(Diagnostic::error("Value too large", detail));
    }
    if value.depth() > MAX_DEPTH {
        let detail = format!("This expression describes a value that is nested more than {MAX_DEPTH} levels deep.");
        return Some(Diagnostic::error("Value too large", detail));
    }
    None
}

/// A text that is too long to go on with.
pub(super) fn oversize_text() -> Diagnostic {
    let detail = format!("This expression describes a string of more than {} MiB.", MAX_TEXT >> 20);
    Diagnostic::error("Value too large", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_parts_count_as_often_as_they_occur() {
        let mut value = Value::tuple(vec![Value::bool(true); 10]);
        for _ in 0..8 {
            assert!(oversize(&value).is_none() || value.node_count() > MAX_NODES);
            value = Value::tuple(vec![value; 10]);
        }
        assert_eq!(oversize(&value).unwrap().summary, "Value too large");
    }

    #[test]
    fn depth_is_limited() {
        let mut value = Value::bool(true);
        for _ in 0..=MAX_DEPTH {
            value = Value::tuple(vec![value]);
        }
        assert!(oversize(&value).is_some());
    }
}
