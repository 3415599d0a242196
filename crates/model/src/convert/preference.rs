//! Which of several types is the most general, to try it first in unification.

use std::cmp::Ordering;

use crate::ty::Type;

/// Indices of the types, the more general ones first. Types of which none is more general keep their order.
pub(super) fn most_general_first(types: &[Type]) -> Vec<usize> {
    let mut less_general: Vec<Vec<usize>> = vec![Vec::new(); types.len()];
    let mut waits_for = vec![0usize; types.len()];
    for a in 0..types.len() {
        for b in a + 1..types.len() {
            match generality(&types[a], &types[b]) {
                Ordering::Less => {
                    less_general[a].push(b);
                    waits_for[b] += 1;
                }
                Ordering::Greater => {
                    less_general[b].push(a);
                    waits_for[a] += 1;
                }
                Ordering::Equal => {}
            }
        }
    }
    let mut order: Vec<usize> = (0..types.len()).filter(|at| waits_for[*at] == 0).collect();
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        next += 1;
        for &other in &less_general[at] {
            waits_for[other] -= 1;
            if waits_for[other] == 0 {
                order.push(other);
            }
        }
    }
    order
}

/// `Less` if the first is more general, `Equal` if neither is. Assumes that a conversion exists; that is checked later.
fn generality(a: &Type, b: &Type) -> Ordering {
    match (a, b) {
        (Type::Dynamic, Type::Dynamic) => Ordering::Equal,
        (Type::Dynamic, _) => Ordering::Greater,
        (_, Type::Dynamic) => Ordering::Less,
        (Type::String, Type::Number | Type::Bool) => Ordering::Less,
        (Type::Number | Type::Bool, Type::String) => Ordering::Greater,
        (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) | (Type::Map(a), Type::Map(b)) => {
            generality(a, b)
        }
        (Type::Tuple(_) | Type::List(_), Type::Set(_)) => Ordering::Less,
        (Type::Set(_), Type::Tuple(_) | Type::List(_)) => Ordering::Greater,
        (Type::List(_), Type::Tuple(_)) | (Type::Map(_), Type::Object(_)) => Ordering::Less,
        (Type::Tuple(_), Type::List(_)) | (Type::Object(_), Type::Map(_)) => Ordering::Greater,
        (Type::Object(a), Type::Object(b)) => {
            let same_names = a.len() == b.len() && a.iter().zip(b.iter()).all(|((a, _), (b, _))| a == b);
            if !same_names {
                return Ordering::Equal;
            }
            joint(a.iter().zip(b.iter()).map(|((_, a), (_, b))| generality(&a.ty, &b.ty)))
        }
        (Type::Tuple(a), Type::Tuple(b)) if a.len() == b.len() => {
            joint(a.iter().zip(&**b).map(|(a, b)| generality(a, b)))
        }
        _ => Ordering::Equal,
    }
}

/// The order of all parts that have one, if they agree.
fn joint(parts: impl Iterator<Item = Ordering>) -> Ordering {
    let mut result = Ordering::Equal;
    for part in parts {
        match (result, part) {
            (_, Ordering::Equal) => {}
            (Ordering::Equal, _) => result = part,
            _ if result == part => {}
            _ => return Ordering::Equal,
        }
    }
    result
}
