//! Finding one type that several types can be converted to.

use std::collections::HashMap;

use super::plan::Plan;
use super::preference::most_general_first;
use super::{ConvertError, Safety, mismatch_message};
use crate::ty::{ObjectType, Type};
use crate::value::Value;

/// A common type, and how each of the types is converted to it.
pub struct Unification {
    /// The common type.
    pub ty: Type,
    plans: Vec<Plan>,
}

impl Unification {
    /// The common type of several types, if there is one.
    pub fn find(types: &[Type], safety: Safety) -> Option<Unification> {
        let first = types.first()?;
        if types.iter().all(|ty| ty == first) {
            return Some(Unification { ty: first.clone(), plans: vec![Plan::Keep; types.len()] });
        }
        // Many values have few types, and the work grows with the square of their number.
        let (distinct, places) = distinct(types);
        let common = unify_distinct(&distinct, safety)?;
        let plans = match common.plans {
            Some(plans) => plans,
            None => plans_for(&distinct, &common.ty, safety)?,
        };
        let plans = places.into_iter().map(|place| plans[place].clone()).collect();
        Some(Unification { ty: common.ty, plans })
    }

    /// Converts a value of the type at that place in the list of types.
    pub fn apply(&self, place: usize, value: &Value) -> Result<Value, ConvertError> {
        self.plans.get(place).unwrap_or(&Plan::Keep).apply(value)
    }

    /// Whether values of the type at that place stay as they are.
    pub fn keeps(&self, place: usize) -> bool {
        matches!(self.plans.get(place), None | Some(Plan::Keep))
    }
}

/// The common type that every type can be converted to without fail.
pub fn unify(types: &[Type]) -> Option<Type> {
    unify_types(types, Safety::Safe)
}

/// The common type that every type can be converted to, though that may fail for some values.
pub fn unify_unsafe(types: &[Type]) -> Option<Type> {
    unify_types(types, Safety::Unsafe)
}

/// Converts values to their common type, by unsafe conversions if need be. None if there is no such type or one of the
/// values cannot be converted.
pub fn unify_values(values: &[Value]) -> Option<(Type, Vec<Value>)> {
    let unification = Unification::find(&types_of(values), Safety::Unsafe)?;
    let converted: Result<Vec<Value>, ConvertError> =
        values.iter().enumerate().map(|(at, value)| unification.apply(at, value)).collect();
    Some((unification.ty, converted.ok()?))
}

pub(super) fn unify_types(types: &[Type], safety: Safety) -> Option<Type> {
    let first = types.first()?;
    if types.iter().all(|ty| ty == first) {
        return Some(first.clone());
    }
    unify_distinct(&distinct(types).0, safety).map(|common| common.ty)
}

pub(super) fn types_of(values: &[Value]) -> Vec<Type> {
    values.iter().map(Value::ty).collect()
}

/// The different types in order of first occurrence, and for each type which of them it is.
fn distinct(types: &[Type]) -> (Vec<Type>, Vec<usize>) {
    let mut found: HashMap<&Type, usize> = HashMap::new();
    let mut distinct = Vec::new();
    let places = types
        .iter()
        .map(|ty| {
            *found.entry(ty).or_insert_with(|| {
                distinct.push(ty.clone());
                distinct.len() - 1
            })
        })
        .collect();
    (distinct, places)
}

/// A common type. How to get there is worked out at once only where it may turn out that there is no way; to do so for
/// every level of nested types would cost too much.
struct Common {
    ty: Type,
    plans: Option<Vec<Plan>>,
}

/// How many of the types are of which kind.
#[derive(Default)]
struct Kinds {
    maps: usize,
    lists: usize,
    sets: usize,
    objects: usize,
    tuples: usize,
    dynamics: usize,
}

impl Kinds {
    fn of(types: &[Type]) -> Kinds {
        let mut kinds = Kinds::default();
        for ty in types {
            match ty {
                Type::Map(_) => kinds.maps += 1,
                Type::List(_) => kinds.lists += 1,
                Type::Set(_) => kinds.sets += 1,
                Type::Object(_) => kinds.objects += 1,
                Type::Tuple(_) => kinds.tuples += 1,
                Type::Dynamic => kinds.dynamics += 1,
                Type::Bool | Type::Number | Type::String => {}
            }
        }
        kinds
    }
}

fn unify_distinct(types: &[Type], safety: Safety) -> Option<Common> {
    let kinds = Kinds::of(types);
    let only = |count: usize| count > 0 && count + kinds.dynamics == types.len();
    // A type yet to be known may change everything, so nothing is decided before.
    let forget = || Some(Common { ty: Type::Dynamic, plans: Some(vec![Plan::Forget; types.len()]) });
    let one_kind = [kinds.maps, kinds.lists, kinds.sets, kinds.objects, kinds.tuples].into_iter().any(only);
    if one_kind && kinds.dynamics > 0 {
        return forget();
    }
    if only(kinds.maps) {
        return collections(types, Type::map, safety);
    }
    if only(kinds.lists) {
        return collections(types, Type::list, safety);
    }
    if only(kinds.sets) {
        return collections(types, Type::set, safety);
    }
    if only(kinds.objects) {
        return objects(types, safety);
    }
    if only(kinds.tuples) {
        return tuples(types, safety);
    }
    if kinds.maps > 0 && only(kinds.maps + kinds.objects) {
        if let Some(unified) = structures_as_collections(types, safety, |ty| matches!(ty, Type::Object(_))) {
            return Some(unified);
        }
    } else if kinds.lists > 0 && only(kinds.lists + kinds.tuples) {
        if let Some(unified) = structures_as_collections(types, safety, |ty| matches!(ty, Type::Tuple(_))) {
            return Some(unified);
        }
    } else if kinds.objects > 0 && kinds.tuples > 0 {
        return None;
    }
    one_of(types, safety)
}

/// Everything converted to one of the given types, the most general that will do.
fn one_of(types: &[Type], safety: Safety) -> Option<Common> {
    most_general_first(types).into_iter().find_map(|at| {
        let plans = plans_for(types, &types[at], safety)?;
        Some(Common { ty: types[at].clone(), plans: Some(plans) })
    })
}

fn plans_for(types: &[Type], ty: &Type, safety: Safety) -> Option<Vec<Plan>> {
    let plan = |from: &Type| if from == ty { Some(Plan::Keep) } else { Plan::find(from, ty, safety) };
    types.iter().map(plan).collect()
}

/// Everything converted to a type that was made of the common types of all parts.
fn convert_all(types: &[Type], ty: Type, safety: Safety) -> Option<Common> {
    // Only what is still open can be in the way.
    let is_open = ty.has_dynamic() || types.iter().any(Type::has_dynamic);
    let plans = if is_open { Some(plans_for(types, &ty, safety)?) } else { None };
    Some(Common { ty, plans })
}

fn collections(types: &[Type], kind: fn(Type) -> Type, safety: Safety) -> Option<Common> {
    let elements: Vec<Type> = types.iter().filter_map(Type::element).cloned().collect();
    convert_all(types, kind(unify_types(&elements, safety)?), safety)
}

/// Objects or tuples beside maps or lists: those become a map or list first.
fn structures_as_collections(types: &[Type], safety: Safety, is_structure: fn(&Type) -> bool) -> Option<Common> {
    let structures: Vec<Type> = types.iter().filter(|ty| is_structure(ty)).cloned().collect();
    let first = if structures.iter().all(|ty| matches!(ty, Type::Object(_))) {
        objects_to_map(&structures, safety)?
    } else {
        tuples_to_list(&structures, safety)?
    };
    let replaced: Vec<Type> =
        types.iter().map(|ty| if is_structure(ty) { first.ty.clone() } else { ty.clone() }).collect();
    let unified = Unification::find(&replaced, safety)?;
    if !unified.ty.is_collection() {
        return None;
    }
    let mut plans = unified.plans;
    for (ty, plan) in types.iter().zip(&mut plans) {
        if is_structure(ty) {
            *plan = Plan::find(ty, &unified.ty, safety)
                .unwrap_or_else(|| Plan::Fail(mismatch_message(ty, &unified.ty).into()));
        }
    }
    Some(Common { ty: unified.ty, plans: Some(plans) })
}

fn objects(types: &[Type], safety: Safety) -> Option<Common> {
    let objects: Vec<&ObjectType> = types.iter().filter_map(as_object).collect();
    let (first, rest) = objects.split_first()?;
    let same_names = |other: &&ObjectType| {
        other.len() == first.len() && other.iter().zip(first.iter()).all(|((a, _), (b, _))| a == b)
    };
    if !rest.iter().all(same_names) {
        return objects_to_map(types, safety);
    }
    let mut attributes = Vec::with_capacity(first.len());
    for (name, _) in first.iter() {
        let across: Vec<Type> = objects.iter().filter_map(|object| object.get(name)).cloned().collect();
        attributes.push((name.clone(), unify_types(&across, safety)?));
    }
    convert_all(types, Type::object(attributes), safety).or_else(|| objects_to_map(types, safety))
}

fn objects_to_map(types: &[Type], safety: Safety) -> Option<Common> {
    let parts: Vec<Type> = types
        .iter()
        .filter_map(as_object)
        .flat_map(|object| object.iter().map(|(_, attribute)| attribute.ty.clone()))
        .collect();
    convert_all(types, Type::map(unify_types(&parts, safety)?), safety)
}

fn tuples(types: &[Type], safety: Safety) -> Option<Common> {
    let tuples: Vec<&Vec<Type>> = types.iter().filter_map(as_tuple).collect();
    let length = tuples.first()?.len();
    if tuples.iter().any(|tuple| tuple.len() != length) {
        return tuples_to_list(types, safety);
    }
    let mut elements = Vec::with_capacity(length);
    for at in 0..length {
        let across: Vec<Type> = tuples.iter().map(|tuple| tuple[at].clone()).collect();
        elements.push(unify_types(&across, safety)?);
    }
    convert_all(types, Type::tuple(elements), safety).or_else(|| tuples_to_list(types, safety))
}

fn tuples_to_list(types: &[Type], safety: Safety) -> Option<Common> {
    let parts: Vec<Type> = types.iter().filter_map(as_tuple).flat_map(|tuple| tuple.iter().cloned()).collect();
    convert_all(types, Type::list(unify_types(&parts, safety)?), safety)
}

fn as_object(ty: &Type) -> Option<&ObjectType> {
    match ty {
        Type::Object(object) => Some(object),
        _ => None,
    }
}

fn as_tuple(ty: &Type) -> Option<&Vec<Type>> {
    match ty {
        Type::Tuple(elements) => Some(elements),
        _ => None,
    }
}
