//! Which of the attributes that a provider cannot change in place really change.

use groma_model::diag::Diagnostic;
use groma_model::path::{Path, PathStep};
use groma_model::schema::Block;
use groma_model::value::Value;

use crate::object::Mismatch;

/// The paths at which a replacement is needed, in the order of the schema's names. Values are without marks.
pub(super) fn needed(
    paths: &[Path],
    schema: &Block,
    prior: &Value,
    planned: &Value,
) -> Result<Vec<Path>, Vec<Mismatch>> {
    let mut needed = Vec::new();
    let mut wrong = Vec::new();
    for path in paths {
        // Elements of sets have no keys: the set changes as a whole.
        let path = whole_sets(path);
        let write_only = schema.attribute_at(&path).is_some_and(|attribute| attribute.write_only);
        let (before, after) = (prior.apply_path(&path).ok(), planned.apply_path(&path).ok());
        match (before, after) {
            _ if write_only => needed.push(path),
            (None, None) => wrong.push(Mismatch {
                path,
                message: "this is required to be replaced, but neither the prior nor the planned object has it".into(),
            }),
            (Some(before), Some(after)) if before == after => {}
            (Some(only), None) | (None, Some(only)) if only.is_null() => {}
            _ => needed.push(path),
        }
    }
    needed.sort();
    needed.dedup();
    if wrong.is_empty() { Ok(needed) } else { Err(wrong) }
}

fn whole_sets(path: &Path) -> Path {
    let end = path.steps().iter().position(|step| matches!(step, PathStep::Element(_)));
    match end {
        None => path.clone(),
        Some(end) => Path::from(path.steps()[..end].to_vec()),
    }
}

/// What a user is told about a provider that asks for the impossible.
pub(super) fn diagnostic(address: &str, provider: &str, wrong: &Mismatch) -> Diagnostic {
    let detail = format!(
        "Provider {provider:?} has indicated \"requires replacement\" on {address} for a non-existent attribute path {}.\n\n\
         This is a bug in the provider, which should be reported in the provider's own issue tracker.",
        wrong.path
    );
    Diagnostic::error("Provider produced invalid plan", detail)
}

#[cfg(test)]
mod tests {
    use groma_model::schema::Attribute;
    use groma_model::ty::Type;

    use super::*;

    fn schema() -> Block {
        let mut block = Block::default();
        block.attributes.insert("a".into(), Attribute::of_type(Type::String));
        block.attributes.insert("secret".into(), Attribute { write_only: true, ..Attribute::of_type(Type::String) });
        block
    }

    fn object(a: Value) -> Value {
        Value::object([("a", a), ("secret", Value::null(Type::String))])
    }

    #[test]
    fn only_what_changes_counts() {
        let path = Path::root().attr("a");
        let of = |before: &str, after: Value| {
            needed(std::slice::from_ref(&path), &schema(), &object(Value::string(before)), &object(after)).unwrap()
        };
        assert_eq!(of("x", Value::string("x")), Vec::<Path>::new());
        assert_eq!(of("x", Value::string("y")), std::slice::from_ref(&path));
        assert_eq!(of("x", Value::unknown(Type::String)), std::slice::from_ref(&path));
    }

    #[test]
    fn what_is_never_stored_always_counts() {
        let path = Path::root().attr("secret");
        let same = object(Value::string("x"));
        assert_eq!(needed(std::slice::from_ref(&path), &schema(), &same, &same).unwrap(), [path]);
    }

    #[test]
    fn what_does_not_exist_is_a_mistake_of_the_provider() {
        let same = object(Value::string("x"));
        assert_eq!(needed(&[Path::root().attr("b")], &schema(), &same, &same).unwrap_err().len(), 1);
    }
}
