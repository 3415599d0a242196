//! What holds for all values: conversion, unification, equality, marks and sets.

#![allow(clippy::unwrap_used, missing_docs)]

use std::convert::Infallible;

use groma_model::convert::{Conversion, Safety, convert, unify, unify_unsafe, unify_values};
use groma_model::mark::{Mark, Marks};
use groma_model::ty::Type;
use groma_model::value::{Bound, Entries, MAX_DEPTH, Refinement, Value};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

const NAMES: [&str; 3] = ["a", "b", "c"];

fn types() -> impl Strategy<Value = Type> {
    let leaf = select(vec![Type::String, Type::Number, Type::Bool]);
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(Type::list),
            inner.clone().prop_map(Type::set),
            inner.clone().prop_map(Type::map),
            vec(inner.clone(), 0..3).prop_map(Type::tuple),
            (subsequence(NAMES.to_vec(), 0..=3), vec(inner, 3))
                .prop_map(|(names, types)| Type::object(names.into_iter().zip(types))),
        ]
    })
}

/// A constraint: a type with some parts left open.
fn constraints() -> impl Strategy<Value = Type> {
    fn open(ty: &Type, holes: &mut impl Iterator<Item = bool>) -> Type {
        if holes.next() == Some(true) {
            return Type::Dynamic;
        }
        match ty {
            Type::List(element) => Type::list(open(element, holes)),
            Type::Set(element) => Type::set(open(element, holes)),
            Type::Map(element) => Type::map(open(element, holes)),
            Type::Tuple(elements) => Type::tuple(elements.iter().map(|ty| open(ty, holes)).collect()),
            Type::Object(object) => {
                Type::object(object.iter().map(|(name, attribute)| (name.clone(), open(&attribute.ty, holes))))
            }
            other => other.clone(),
        }
    }
    (types(), vec(prop::bool::weighted(0.2), 12)).prop_map(|(ty, holes)| open(&ty, &mut holes.into_iter()))
}

fn refinements() -> impl Strategy<Value = Refinement> {
    let bound = |number: i64, inclusive: bool| Some(Bound { number: number.into(), inclusive });
    (any::<bool>(), -3i64..3, any::<bool>(), 0u64..3, 3u64..6, any::<bool>()).prop_map(
        move |(not_null, lower, inclusive, min_length, max_length, bounded)| Refinement {
            not_null,
            prefix: bounded.then(|| "x".into()),
            lower: if bounded { bound(lower, inclusive) } else { None },
            upper: if inclusive { bound(5, bounded) } else { None },
            min_length,
            max_length: bounded.then_some(max_length),
        },
    )
}

/// A value of a type; one in some is null, unknown or marked.
fn values_of(ty: Type) -> BoxedStrategy<Value> {
    let known = match ty.clone() {
        Type::Bool => any::<bool>().prop_map(Value::bool).boxed(),
        Type::Number => (-3i64..4).prop_map(Value::from).boxed(),
        Type::String => select(vec!["", "x", "1", "true", "xy-z"]).prop_map(Value::from).boxed(),
        Type::Dynamic => {
            any::<bool>().prop_map(|null| if null { Value::null(Type::Dynamic) } else { Value::dynamic() }).boxed()
        }
        Type::List(element) => {
            let ty = (*element).clone();
            vec(values_of(ty.clone()), 0..3).prop_map(move |items| Value::list(ty.clone(), items)).boxed()
        }
        Type::Set(element) => {
            let ty = (*element).clone();
            vec(values_of(ty.clone()), 0..3).prop_map(move |items| Value::set(ty.clone(), items)).boxed()
        }
        Type::Map(element) => {
            let ty = (*element).clone();
            (subsequence(NAMES.to_vec(), 0..=3), vec(values_of(ty.clone()), 3))
                .prop_map(move |(names, items)| {
                    Value::map(ty.clone(), names.into_iter().zip(items).collect::<Entries>())
                })
                .boxed()
        }
        Type::Tuple(elements) => {
            elements.iter().cloned().map(values_of).collect::<Vec<_>>().prop_map(Value::tuple).boxed()
        }
        Type::Object(object) => {
            let names: Vec<_> = object.iter().map(|(name, _)| name.clone()).collect();
            let items: Vec<_> = object.iter().map(|(_, attribute)| values_of(attribute.ty.clone())).collect();
            items.prop_map(move |items| Value::object(names.clone().into_iter().zip(items))).boxed()
        }
    };
    let (null, unknown) = (ty.clone(), ty);
    prop_oneof![
        12 => known.clone(),
        2 => known.prop_map(|value| value.mark(Mark::Sensitive)),
        1 => Just(Value::null(null)),
        1 => refinements().prop_map(move |refinement| Value::unknown_refined(unknown.clone(), refinement)),
    ]
    .boxed()
}

fn values() -> impl Strategy<Value = Value> {
    types().prop_flat_map(values_of)
}

fn known(value: &Value) -> Value {
    value.unknown_as_null().unmark_deep().0
}

fn has_all(marks: &Marks, wanted: &Marks) -> bool {
    wanted.iter().all(|mark| marks.contains(mark))
}

proptest! {
    #[test]
    fn a_value_is_of_its_type(value in values()) {
        let ty = value.ty();
        prop_assert!(value.is_of_type(&ty));
        prop_assert!(value.conforms_to(&ty));
        prop_assert!(value.has_type_of(&value.clone()));
    }

    #[test]
    fn conversion_to_its_own_type_changes_nothing(value in values()) {
        prop_assert_eq!(convert(&value, &value.ty()).unwrap(), value);
    }

    #[test]
    fn conversion_gives_what_was_asked_for_and_twice_is_once(value in values(), target in constraints()) {
        if let Ok(converted) = convert(&value, &target) {
            prop_assert!(converted.conforms_to(&target), "{:?} is not {:?}", converted, target);
            prop_assert!(has_all(converted.marks(), value.marks()));
            prop_assert_eq!(&convert(&converted, &target).unwrap(), &converted);
        }
    }

    #[test]
    fn marks_do_not_change_what_conversion_gives(value in values(), target in constraints()) {
        let plain = value.clone().unmark_deep().0;
        match (convert(&value, &target), convert(&plain, &target)) {
            (Ok(a), Ok(b)) => prop_assert_eq!(a.unmark_deep().0, b),
            (Err(a), Err(b)) => prop_assert_eq!(a, b),
            (a, b) => prop_assert!(false, "{:?} but {:?}", a, b),
        }
    }

    #[test]
    fn safe_conversions_do_not_fail(value in values(), target in types()) {
        if let Some(conversion) = Conversion::find(&value.ty(), &target, Safety::Safe) {
            prop_assert!(conversion.apply(&value).is_ok());
        }
    }

    #[test]
    fn everything_converts_to_the_common_type(types in vec(types(), 1..4)) {
        if let Some(common) = unify(&types) {
            for ty in &types {
                prop_assert!(Conversion::find(ty, &common, Safety::Safe).is_some(), "{:?} to {:?}", ty, common);
            }
            prop_assert_eq!(unify_unsafe(&[common.clone(), common.clone()]), Some(common));
        }
    }

    #[test]
    fn values_get_the_common_type(values in vec(values(), 1..4)) {
        if let Some((ty, unified)) = unify_values(&values) {
            prop_assert_eq!(unified.len(), values.len());
            for value in unified {
                prop_assert!(value.conforms_to(&ty), "{:?} is not {:?}", value, ty);
            }
        }
    }

    #[test]
    fn equality_is_symmetric_and_keeps_marks(a in values(), b in values()) {
        let equal = a.equals(&b);
        prop_assert_eq!(&equal, &b.equals(&a));
        prop_assert!(has_all(equal.marks(), a.marks()) && has_all(equal.marks(), b.marks()));
        prop_assert_eq!(a.not_equal(&b).as_bool(), equal.as_bool().map(|equal| !equal));
    }

    #[test]
    fn what_is_known_is_equal_to_itself(value in values()) {
        let value = known(&value);
        prop_assert_eq!(value.equals(&value).as_bool(), Some(true));
    }

    #[test]
    fn an_unknown_is_never_told_from_what_it_may_become((a, b) in types().prop_flat_map(|ty| (values_of(ty.clone()), values_of(ty)))) {
        // Two values of one type with the unknown parts of either replaced by null may well be equal only if that was
        // not ruled out before.
        let (a, b) = (a.unmark_deep().0, b.unmark_deep().0);
        if a.equals(&b).as_bool() == Some(true) {
            prop_assert_eq!(known(&a), known(&b));
        }
    }

    #[test]
    fn sets_do_not_depend_on_order(
        (ty, items) in types().prop_flat_map(|ty| (Just(ty.clone()), vec(values_of(ty), 6))),
        seed in vec(any::<u8>(), 6),
    ) {
        let items: Vec<Value> = items.iter().map(known).collect();
        let mut shuffled: Vec<(u8, Value)> = seed.into_iter().zip(items.clone()).collect();
        shuffled.sort_by_key(|(key, _)| *key);
        let a = Value::set(ty.clone(), items.clone());
        let b = Value::set(ty, shuffled.into_iter().map(|(_, item)| item).collect());
        prop_assert_eq!(&a, &b);
        for item in &items {
            prop_assert_eq!(a.has_element(item).as_bool(), Some(true));
        }
    }

    #[test]
    fn marks_come_off_and_go_back(value in values()) {
        let (plain, marks) = value.clone().unmark_deep_with_paths();
        prop_assert!(!plain.contains_marks());
        prop_assert_eq!(plain.ty(), value.ty());
        prop_assert_eq!(plain.with_path_marks(&marks), value);
    }

    #[test]
    fn changing_nothing_changes_nothing(value in values()) {
        let same = value.transform::<Infallible>(&mut |_, part| Ok(part)).unwrap();
        prop_assert_eq!(same, value);
    }

    #[test]
    fn nulls_take_the_place_of_unknowns(value in values()) {
        let known = value.unknown_as_null();
        prop_assert!(known.is_wholly_known());
        prop_assert_eq!(known.ty(), value.ty());
    }

    #[test]
    fn paths_lead_to_what_was_visited(value in values()) {
        let mut visited = Vec::new();
        let value = known(&value);
        value.walk(&mut |path, part| {
            visited.push((path.clone(), part.clone()));
            groma_model::value::WalkControl::Enter
        });
        for (path, part) in visited {
            prop_assert_eq!(value.apply_path(&path).unwrap(), part);
        }
    }

    #[test]
    fn refining_only_narrows(ty in select(vec![Type::String, Type::Number, Type::list(Type::String)]), a in refinements(), b in refinements()) {
        let unknown = Value::unknown_refined(ty, a.clone());
        let narrowed = unknown.clone().refine(b);
        if !unknown.is_known() {
            let (before, after) = (unknown.range(), narrowed.range());
            prop_assert!(after.not_null || !before.not_null);
            prop_assert!(after.min_length >= before.min_length);
            prop_assert!(before.max_length.is_none_or(|max| after.max_length.is_some_and(|length| length <= max)));
        }
    }
}

/// The deepest values that are allowed leave enough stack for everything that walks them, in the smallest threads.
#[test]
fn the_deepest_values_can_be_walked() {
    let nested = |inner: Value, wrap: &dyn Fn(Value) -> Value| (0..MAX_DEPTH).fold(inner, |inner, _| wrap(inner));
    let wraps: [&dyn Fn(Value) -> Value; 4] = [
        &|inner| Value::tuple(vec![inner, 1.into()]),
        &|inner| Value::object([("a", inner)]),
        &|inner| Value::list(inner.ty(), vec![inner]),
        &|inner| Value::set(inner.ty(), vec![inner]),
    ];
    for wrap in wraps {
        let (a, b) = (nested("x".into(), wrap), nested(Value::unknown(Type::Number), wrap));
        assert!(!a.is_too_deep() && a.depth() == MAX_DEPTH);
        assert_ne!(a, b);
        let _ = (a.equals(&b), format!("{a:?}"), convert(&a, &b.ty()), convert(&a, &Type::list(Type::Dynamic)));
        let _ = (unify_values(&[a.clone(), b.clone()]), Value::set(a.ty(), vec![a.clone()]), b.unknown_as_null());
        assert!(wrap(a).is_too_deep());
    }
}
