//! How to convert between two types, worked out from the types alone.

use std::collections::HashMap;
use std::sync::Arc;

use super::Safety;
use super::unify::unify_types;
use crate::text::Str;
use crate::ty::{ObjectType, Type};

/// What to do with values of one type to make them values of another.
#[derive(Clone)]
pub(super) enum Plan {
    /// Nothing.
    Keep,
    /// Give up what is known: the type cannot be told before all types are known.
    Forget,
    /// Convert.
    Change(Arc<Change>),
    /// There is no way, for this reason, though there is a common type.
    Fail(Arc<str>),
}

/// A conversion to `target`.
pub(super) struct Change {
    pub(super) target: Type,
    pub(super) how: How,
}

/// What to do with a value that is known and not null.
pub(super) enum How {
    /// Any type will do.
    Pass,
    /// The type was not known before; look at the value.
    Late,
    /// Between strings, numbers and bools.
    Primitive,
    /// List or set to list.
    ToList(Plan),
    /// List or set to set.
    ToSet(Plan),
    /// Map to map.
    MapToMap(Plan),
    /// Tuple to list of this element type.
    TupleToList(Vec<Plan>, Safety),
    /// Tuple to set.
    TupleToSet(Vec<Plan>),
    /// Tuple to tuple.
    TupleToTuple(Vec<Plan>),
    /// Object to map of this element type.
    ObjectToMap { element: Type, plans: Vec<Plan>, safety: Safety },
    /// Object to object; one entry for each attribute of the target.
    ObjectToObject(Vec<Slot>),
    /// Map to object; one entry for each attribute of the target.
    MapToObject(Vec<Slot>),
}

/// Where an attribute of an object comes from.
pub(super) struct Slot {
    pub(super) name: Str,
    /// Its type, perhaps with optional attributes.
    pub(super) ty: Type,
    pub(super) optional: bool,
    /// None if the source has no such attribute or none that can be converted.
    pub(super) plan: Option<Plan>,
}

impl Plan {
    /// The plan for elements: nothing to do where the types are equal.
    fn for_part(from: &Type, to: &Type, safety: Safety) -> Option<Plan> {
        if from == to { Some(Plan::Keep) } else { Plan::find(from, to, safety) }
    }

    /// The plan for two types that are not equal.
    pub(super) fn find(from: &Type, to: &Type, safety: Safety) -> Option<Plan> {
        let how = How::find(from, to, safety)?;
        Some(Plan::Change(Arc::new(Change { target: to.clone(), how })))
    }
}

impl How {
    fn find(from: &Type, to: &Type, safety: Safety) -> Option<How> {
        let is_unsafe = safety == Safety::Unsafe;
        match (from, to) {
            (_, Type::Dynamic) => Some(How::Pass),
            (Type::Dynamic, _) => is_unsafe.then_some(How::Late),
            (Type::Number | Type::Bool, Type::String) => Some(How::Primitive),
            (Type::String, Type::Number | Type::Bool) => is_unsafe.then_some(How::Primitive),
            (Type::Object(from), Type::Object(to)) => objects(from, to, safety),
            (Type::Tuple(from), Type::Tuple(to)) => {
                if from.len() != to.len() {
                    return None;
                }
                let plans = from.iter().zip(&**to).map(|(from, to)| Plan::for_part(from, to, safety));
                plans.collect::<Option<_>>().map(How::TupleToTuple)
            }
            (Type::List(from) | Type::Set(from), Type::List(to)) => Plan::for_part(from, to, safety).map(How::ToList),
            // Losing order and duplicates is not safe.
            (Type::List(_), Type::Set(_)) if !is_unsafe => None,
            (Type::List(from) | Type::Set(from), Type::Set(to)) => Plan::for_part(from, to, safety).map(How::ToSet),
            (Type::Map(from), Type::Map(to)) => Plan::for_part(from, to, safety).map(How::MapToMap),
            (Type::Tuple(from), Type::List(to)) => Some(How::TupleToList(sequence(from, to, safety)?, safety)),
            (Type::Tuple(from), Type::Set(to)) => Some(How::TupleToSet(sequence(from, to, safety)?)),
            (Type::Object(from), Type::Map(to)) => object_to_map(from, to, safety),
            (Type::Map(from), Type::Object(to)) => is_unsafe.then(|| map_to_object(from, to))?,
            _ => None,
        }
    }
}

fn objects(from: &ObjectType, to: &ObjectType, safety: Safety) -> Option<How> {
    let mut slots = Vec::with_capacity(to.len());
    for (name, attribute) in to.iter() {
        let plan = match from.get(name) {
            Some(from) => Some(Plan::for_part(from, &attribute.ty, safety)?),
            None if attribute.optional => None,
            None => return None,
        };
        slots.push(Slot::new(name, &attribute.ty, attribute.optional, plan));
    }
    Some(How::ObjectToObject(slots))
}

fn map_to_object(from: &Type, to: &ObjectType) -> Option<How> {
    let mut slots = Vec::with_capacity(to.len());
    for (name, attribute) in to.iter() {
        let plan = Plan::for_part(from, &attribute.ty, Safety::Unsafe);
        // An optional attribute that does not fit is a problem only if the map has it.
        if plan.is_none() && !attribute.optional {
            return None;
        }
        slots.push(Slot::new(name, &attribute.ty, attribute.optional, plan));
    }
    Some(How::MapToObject(slots))
}

impl Slot {
    fn new(name: &Str, ty: &Type, optional: bool, plan: Option<Plan>) -> Slot {
        Slot { name: name.clone(), ty: ty.clone(), optional, plan }
    }
}

/// Plans for the elements of a tuple that becomes a list or set.
fn sequence(from: &[Type], to: &Type, safety: Safety) -> Option<Vec<Plan>> {
    if from.is_empty() {
        return Some(Vec::new());
    }
    if *to != Type::Dynamic {
        return plans_to(from, to, safety);
    }
    let common = unify_types(from, safety)?;
    if common == Type::Dynamic && from.iter().any(|ty| *ty != Type::Dynamic) {
        return None;
    }
    plans_to(from, &common, safety)
}

fn object_to_map(from: &ObjectType, to: &Type, safety: Safety) -> Option<How> {
    let types: Vec<Type> = from.iter().map(|(_, attribute)| attribute.ty.clone()).collect();
    let element = if *to == Type::Dynamic && !types.is_empty() { unify_types(&types, safety)? } else { to.clone() };
    let plans = plans_to(&types, &element, safety)?;
    Some(How::ObjectToMap { element, plans, safety })
}

/// Plans for many parts that are to have one type. Equal types share a plan.
fn plans_to(from: &[Type], to: &Type, safety: Safety) -> Option<Vec<Plan>> {
    let mut known: HashMap<&Type, Plan> = HashMap::new();
    let mut last: Option<(&Type, Plan)> = None;
    let mut plans = Vec::with_capacity(from.len());
    for ty in from {
        let plan = match &last {
            Some((last, plan)) if *last == ty => plan.clone(),
            _ => match known.get(ty) {
                Some(plan) => plan.clone(),
                None => Plan::for_part(ty, to, safety)?,
            },
        };
        known.entry(ty).or_insert_with(|| plan.clone());
        last = Some((ty, plan.clone()));
        plans.push(plan);
    }
    Some(plans)
}
