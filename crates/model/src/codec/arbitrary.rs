//! Random types and values for property tests.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use crate::number::Number;
use crate::ty::Type;
use crate::value::{Bound, Refinement, Value};

/// Any type, without optional attributes.
pub(super) fn any_type() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![Just(Type::Bool), Just(Type::Number), Just(Type::String), Just(Type::Dynamic)];
    leaf.prop_recursive(3, 12, 3, |inner| {
        // Collections of `any` take on another type when they are decoded, which is tested by itself.
        let settled = inner.clone().prop_filter("any in a collection", |ty| !ty.has_dynamic());
        prop_oneof![
            settled.clone().prop_map(Type::list),
            settled.clone().prop_map(Type::set),
            settled.prop_map(Type::map),
            vec(inner.clone(), 0..3).prop_map(Type::tuple),
            btree_map("[a-zé<]{1,4}", inner, 0..4).prop_map(Type::object),
        ]
    })
}

/// Any value of a type; unknown ones only if asked for.
pub(super) fn any_value(ty: Type, unknown: bool) -> BoxedStrategy<Value> {
    let known = known_value(&ty, unknown);
    let null = Just(Value::null(ty.clone()));
    if unknown && ty != Type::Dynamic {
        prop_oneof![6 => known, 1 => null, 1 => unknown_value(ty)].boxed()
    } else {
        prop_oneof![6 => known, 1 => null].boxed()
    }
}

/// A type and a value of it.
pub(super) fn any_typed(unknown: bool) -> impl Strategy<Value = (Type, Value)> {
    any_type().prop_flat_map(move |ty| any_value(ty.clone(), unknown).prop_map(move |value| (ty.clone(), value)))
}

fn known_value(ty: &Type, unknown: bool) -> BoxedStrategy<Value> {
    match ty {
        Type::Dynamic => prop_oneof![
            any::<bool>().prop_map(Value::bool),
            any_text().prop_map(Value::string),
            any_value(Type::list(Type::Number), unknown),
            any_value(Type::object([("a", Type::String)]), unknown),
        ]
        .boxed(),
        Type::Bool => any::<bool>().prop_map(Value::bool).boxed(),
        Type::Number => any_number().prop_map(Value::number).boxed(),
        Type::String => any_text().prop_map(Value::string).boxed(),
        Type::List(inner) => {
            let inner = inner.as_ref().clone();
            vec(any_value(inner.clone(), unknown), 0..4)
                .prop_map(move |items| Value::list(inner.clone(), items))
                .boxed()
        }
        Type::Set(inner) => {
            let inner = inner.as_ref().clone();
            vec(any_value(inner.clone(), unknown), 0..4).prop_map(move |items| Value::set(inner.clone(), items)).boxed()
        }
        Type::Map(inner) => {
            let inner = inner.as_ref().clone();
            let entries = btree_map("[a-z&\u{e9}]{0,3}", any_value(inner.clone(), unknown), 0..4);
            entries.prop_map(move |entries| Value::map(inner.clone(), entries.into_iter().collect())).boxed()
        }
        Type::Tuple(types) => {
            let items: Vec<_> = types.iter().map(|ty| any_value(ty.clone(), unknown)).collect();
            items.prop_map(Value::tuple).boxed()
        }
        Type::Object(object) => {
            let names: Vec<_> = object.iter().map(|(name, _)| name.clone()).collect();
            let items: Vec<_> = object.iter().map(|(_, attribute)| any_value(attribute.ty.clone(), unknown)).collect();
            items
                .prop_map(move |items| {
                    let entries: BTreeMap<_, _> = names.iter().cloned().zip(items).collect();
                    Value::object(entries)
                })
                .boxed()
        }
    }
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{0,5}", "[<>&\"\\\\\n\u{1}\u{2028}\u{e9}\u{1f600}]{0,5}", "\\PC{0,40}"]
}

fn any_number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::from),
        any::<u64>().prop_map(Number::from),
        (-300i64..300).prop_map(Number::from),
        "-?[1-9][0-9]{0,3}(\\.[0-9]{1,30})?(e-?[0-9]{1,2})?".prop_filter_map("number", |text| Number::parse(&text)),
        any::<i32>().prop_filter_map("number", |number| Number::from_f64(f64::from(number) / 64.0)),
    ]
}

fn unknown_value(ty: Type) -> impl Strategy<Value = Value> {
    let numbers = (0i64..50, 50i64..100, any::<bool>(), any::<bool>());
    let lengths = (0u64..4, proptest::option::of(4u64..9));
    (any::<bool>(), "[a-z]{0,4}", numbers, lengths).prop_map(move |(not_null, prefix, numbers, lengths)| {
        let (lower, upper, lower_inclusive, upper_inclusive) = numbers;
        let mut refinement = Refinement { not_null, ..Refinement::default() };
        match &ty {
            Type::String if !prefix.is_empty() => refinement.prefix = Some(prefix.into()),
            Type::Number => {
                refinement.lower = Some(Bound { number: lower.into(), inclusive: lower_inclusive });
                refinement.upper = Some(Bound { number: upper.into(), inclusive: upper_inclusive });
            }
            ty if ty.is_collection() => {
                refinement.min_length = lengths.0;
                refinement.max_length = lengths.1;
            }
            _ => {}
        }
        Value::unknown_refined(ty.clone(), refinement)
    })
}
