//! Checking that a type is the one that was promised, without conversion.

use crate::path::Path;
use crate::ty::{ObjectType, Type};
use crate::value::go_quote;

/// A place where a type is not what was promised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nonconformity {
    /// Where. Steps into lists, sets and maps are left out, as all elements have one type.
    pub path: Path,
    /// What is wrong there.
    pub message: String,
}

/// All places where `given` is neither the wanted type nor covered by an `any` in it.
pub fn test_conformance(given: &Type, want: &Type) -> Vec<Nonconformity> {
    let mut found = Vec::new();
    check(given, want, &Path::root(), &mut found);
    found
}

fn check(given: &Type, want: &Type, path: &Path, found: &mut Vec<Nonconformity>) {
    if given.conforms_to(want) {
        return;
    }
    let mut report = |message: String| found.push(Nonconformity { path: path.clone(), message });
    match (given, want) {
        (Type::Object(given), Type::Object(want)) => check_objects(given, want, path, found),
        (Type::Tuple(given), Type::Tuple(want)) if given.len() != want.len() => {
            report(format!("{} elements are required, but got {}", want.len(), given.len()));
        }
        (Type::Tuple(given), Type::Tuple(want)) => {
            for (at, (given, want)) in given.iter().zip(&**want).enumerate() {
                check(given, want, &path.index(at), found);
            }
        }
        (Type::List(given), Type::List(want))
        | (Type::Map(given), Type::Map(want))
        | (Type::Set(given), Type::Set(want)) => check(given, want, path, found),
        _ => report(format!("{} required, but received {}", want.friendly_name(), given.friendly_name())),
    }
}

fn check_objects(given: &ObjectType, want: &ObjectType, path: &Path, found: &mut Vec<Nonconformity>) {
    let mut report = |message: String| found.push(Nonconformity { path: path.clone(), message });
    for (name, _) in given.iter().filter(|(name, _)| want.get(name).is_none()) {
        report(format!("unsupported attribute {}", go_quote(name)));
    }
    for (name, _) in want.iter().filter(|(name, _)| given.get(name).is_none()) {
        report(format!("missing required attribute {}", go_quote(name)));
    }
    for (name, want) in want.iter() {
        if let Some(given) = given.get(name) {
            check(given, &want.ty, &path.attr(name.clone()), found);
        }
    }
}
