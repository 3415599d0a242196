//! Words for why the two branches of a conditional have no common type.

use groma_model::ty::Type;
use groma_model::value::go_quote;

/// A sentence without its full stop.
pub(super) fn describe(then: &Type, otherwise: &Type) -> String {
    let specific = match (then, otherwise) {
        (Type::Object(_), Type::Object(_)) => objects(then, otherwise),
        (Type::Tuple(_), Type::Tuple(_)) => tuples(then, otherwise),
        (Type::List(a), Type::List(b)) => elements("list", a, b),
        (Type::Set(a), Type::Set(b)) => elements("set", a, b),
        (Type::Map(a), Type::Map(b)) => elements("map", a, b),
        _ => None,
    };
    if let Some(text) = specific {
        return text;
    }
    let (then, otherwise) = (then.friendly_name(), otherwise.friendly_name());
    if then == otherwise {
        return "At least one deeply-nested attribute or element is not compatible across both the 'true' and the \
                'false' value"
            .into();
    }
    format!("The 'true' value is {then}, but the 'false' value is {otherwise}")
}

fn objects(then: &Type, otherwise: &Type) -> Option<String> {
    let (Type::Object(then), Type::Object(otherwise)) = (then, otherwise) else { return None };
    for (name, attribute) in then.iter() {
        let Some(other) = otherwise.get(name) else {
            return Some(format!(
                "The 'true' value includes object attribute {}, which is absent in the 'false' value",
                go_quote(name)
            ));
        };
        if attribute.ty != *other {
            return Some(format!(
                "Type mismatch for object attribute {}: {}",
                go_quote(name),
                describe(&attribute.ty, other)
            ));
        }
    }
    let extra = otherwise.iter().find(|(name, _)| then.get(name).is_none());
    extra.map(|(name, _)| {
        format!("The 'false' value includes object attribute {}, which is absent in the 'true' value", go_quote(name))
    })
}

fn tuples(then: &Type, otherwise: &Type) -> Option<String> {
    let (Type::Tuple(then), Type::Tuple(otherwise)) = (then, otherwise) else { return None };
    if then.len() != otherwise.len() {
        return Some(format!(
            "The 'true' tuple has length {}, but the 'false' tuple has length {}",
            then.len(),
            otherwise.len()
        ));
    }
    let (at, (a, b)) = then.iter().zip(otherwise.iter()).enumerate().find(|(_, (a, b))| a != b)?;
    Some(format!("Type mismatch for tuple element {at}: {}", describe(a, b)))
}

fn elements(kind: &str, then: &Type, otherwise: &Type) -> Option<String> {
    let structural = matches!((then, otherwise), (Type::Object(_), Type::Object(_)) | (Type::Tuple(_), Type::Tuple(_)));
    structural.then(|| format!("Mismatched {kind} element types: {}", describe(then, otherwise)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        let a = Type::object([("x", Type::String)]);
        let b = Type::object([("x", Type::list(Type::Bool))]);
        assert_eq!(
            describe(&a, &b),
            "Type mismatch for object attribute \"x\": The 'true' value is string, but the 'false' value is list of bool"
        );
        assert_eq!(
            describe(&Type::list(Type::tuple(vec![])), &Type::list(Type::tuple(vec![Type::Bool]))),
            "Mismatched list element types: The 'true' tuple has length 0, but the 'false' tuple has length 1"
        );
    }
}
