//! Conversions, as a specification.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::mark::Mark;
use crate::ty::{AttributeType, ObjectType};
use crate::value::{Entries, Refinement};

fn optional(attributes: &[(&str, Type, bool)]) -> Type {
    let attributes: BTreeMap<_, _> = attributes
        .iter()
        .map(|(name, ty, optional)| ((*name).into(), AttributeType { ty: ty.clone(), optional: *optional }))
        .collect();
    Type::Object(Arc::new(ObjectType::with_optional(attributes)))
}

fn tuple<const N: usize>(items: [Value; N]) -> Value {
    Value::tuple(items.into())
}

/// The converted value as it prints, or where and why there is none.
fn outcome(value: &Value, target: &Type) -> String {
    match convert(value, target) {
        Ok(value) => format!("{value:?}: {:?}", value.ty()),
        Err(error) => format!("error: {}", error.with_path()),
    }
}

#[track_caller]
fn check(cases: &[(Value, Type, &str)]) {
    for (value, target, expected) in cases {
        assert_eq!(outcome(value, target), *expected, "{value:?} to {target:?}");
    }
}

#[test]
fn primitives() {
    check(&[
        (1.into(), Type::String, "\"1\": string"),
        (true.into(), Type::String, "\"true\": string"),
        ("1.50".into(), Type::Number, "1.5: number"),
        ("1".into(), Type::Bool, "true: bool"),
        ("0".into(), Type::Bool, "false: bool"),
        ("x".into(), Type::Number, "error: a number is required"),
        ("x".into(), Type::Bool, "error: a bool is required"),
        ("True".into(), Type::Bool, "error: a bool is required; to convert from string, use lowercase \"true\""),
        (1.into(), Type::Bool, "error: bool required, but have number"),
        (tuple([]), Type::String, "error: string required, but have tuple"),
    ]);
}

#[test]
fn sequences() {
    let mixed = tuple([1.into(), "a".into(), true.into()]);
    check(&[
        (mixed.clone(), Type::list(Type::Dynamic), "list[\"1\", \"a\", \"true\"]: list(string)"),
        // Types are looked at before values.
        (mixed, Type::list(Type::Number), "error: element 2: number required, but have bool"),
        (tuple([1.into(), "a".into()]), Type::list(Type::Number), "error: [1]: a number is required"),
        (tuple([1.into(), 1.into()]), Type::set(Type::Dynamic), "set[1]: set(number)"),
        (tuple([]), Type::list(Type::Dynamic), "list[]: list(any)"),
        (tuple([]), Type::list(optional(&[("a", Type::Bool, true)])), "list[]: list(object({a = bool}))"),
        (Value::strings(["b", "a", "b"]), Type::set(Type::String), "set[\"a\", \"b\"]: set(string)"),
        (
            tuple([tuple([]), Value::empty_object()]),
            Type::list(Type::Dynamic),
            "error: all list elements must have the same type",
        ),
        (
            tuple([1.into(), Value::empty_object()]),
            Type::list(Type::Number),
            "error: element 1: number required, but have object",
        ),
        (
            Value::list(Type::empty_object(), vec![]),
            Type::list(Type::String),
            "error: incorrect list element type: string required, but have object",
        ),
        (tuple([1.into()]), Type::tuple(vec![Type::String]), "[\"1\"]: tuple([string])"),
        (tuple([1.into()]), Type::tuple(vec![]), "error: tuple required"),
        (tuple([1.into()]), Type::empty_object(), "error: object required, but have tuple"),
        (tuple([1.into()]), Type::map(Type::String), "error: map of string required"),
    ]);
}

#[test]
fn objects_and_maps() {
    let object = Value::object([("a", Value::from(1)), ("b", "x".into())]);
    let map = Value::map(Type::String, [("a", Value::from("1"))].into_iter().collect::<Entries>());
    let wants = |attributes: &[(&str, Type, bool)]| optional(attributes);
    check(&[
        (object.clone(), Type::map(Type::Dynamic), "map{\"a\": \"1\", \"b\": \"x\"}: map(string)"),
        (object.clone(), wants(&[("a", Type::String, false)]), "{\"a\": \"1\"}: object({a = string})"),
        (
            object.clone(),
            wants(&[("a", Type::Number, false), ("c", Type::Bool, true)]),
            "{\"a\": 1, \"c\": null:bool}: object({a = number, c = bool})",
        ),
        (object.clone(), wants(&[("c", Type::Bool, false)]), "error: attribute \"c\" is required"),
        (
            object.clone(),
            wants(&[("c", Type::Bool, false), ("d", Type::Bool, false)]),
            "error: attributes \"c\" and \"d\" are required",
        ),
        (
            object.clone(),
            wants(&[("c", Type::Bool, false), ("d", Type::Bool, false), ("e", Type::Bool, false)]),
            "error: attributes \"c\", \"d\", and \"e\" are required",
        ),
        (
            object.clone(),
            wants(&[("a", Type::list(Type::String), false)]),
            "error: attribute \"a\": list of string required, but have number",
        ),
        (object.clone(), wants(&[("b", Type::Number, false)]), "error: .b: a number is required"),
        (object, Type::map(Type::Number), "error: [\"b\"]: a number is required"),
        (map.clone(), wants(&[("a", Type::Number, false)]), "{\"a\": 1}: object({a = number})"),
        (map.clone(), wants(&[("b", Type::Number, true)]), "{\"b\": null:number}: object({b = number})"),
        (map, wants(&[("b", Type::Number, false)]), "error: map has no element for required attribute \"b\""),
    ]);
}

#[test]
fn a_constraint_with_any_inside_is_settled_by_the_elements() {
    let target = Type::list(optional(&[("a", Type::Dynamic, false)]));
    let item = |value: Value| Value::object([("a", value)]);
    check(&[
        (
            tuple([item(1.into()), item("x".into())]),
            target.clone(),
            "list[{\"a\": \"1\"}, {\"a\": \"x\"}]: list(object({a = string}))",
        ),
        (
            tuple([item(1.into()), item(tuple([]))]),
            target,
            "error: [1]: cannot find a common base type for all elements",
        ),
    ]);
}

#[test]
fn unknowns_keep_what_is_known_of_their_length() {
    let list = |refinement| Value::unknown_refined(Type::list(Type::String), refinement);
    let range = |value: &Value, target: Type| {
        let converted = convert(value, &target).unwrap();
        let range = converted.range();
        (converted.is_known(), range.not_null, range.min_length, range.max_length)
    };
    let some = list(Refinement::length(2, Some(5)));
    assert_eq!(range(&some, Type::list(Type::Number)), (false, true, 2, Some(5)));
    assert_eq!(range(&some, Type::set(Type::String)), (false, true, 1, Some(5)));
    let pair = Value::unknown(Type::tuple(vec![Type::String; 2])).refine_not_null();
    assert_eq!(range(&pair, Type::list(Type::String)), (true, true, 2, Some(2)));
    assert_eq!(range(&pair, Type::set(Type::String)), (false, true, 1, Some(2)));
    let object = Value::unknown(Type::object([("a", Type::String)]));
    assert_eq!(range(&object, Type::map(Type::String)), (false, false, 1, Some(1)));
    assert_eq!(range(&Value::unknown(Type::String), Type::Number), (false, false, 0, None));
}

#[test]
fn nulls_and_marks() {
    let null = convert(&Value::null(Type::Dynamic), &Type::list(Type::String)).unwrap();
    assert_eq!(null, Value::null(Type::list(Type::String)));
    let marked = tuple([Value::from(1).mark(Mark::Sensitive), 2.into()]);
    let list = convert(&marked, &Type::list(Type::String)).unwrap();
    assert!(list.as_elements().unwrap()[0].marks().is_sensitive());
    assert!(list.marks().is_empty());
    let set = convert(&marked, &Type::set(Type::String)).unwrap();
    assert!(set.marks().is_sensitive());
    let null = Value::object([("a", Value::null(Type::String).mark(Mark::Sensitive))]);
    let target = Type::object([("a", Type::Number)]);
    assert!(convert(&null, &target).unwrap().get_attr("a").unwrap().marks().is_sensitive());
}

#[test]
fn common_types() {
    let ab = |a: Type, b: Type| Type::object([("a", a), ("b", b)]);
    let a = |a: Type| Type::object([("a", a)]);
    let cases: [(Vec<Type>, Option<Type>); 11] = [
        (vec![], None),
        (vec![Type::Number, Type::String], Some(Type::String)),
        (vec![Type::Number, Type::Bool], None),
        (vec![Type::Number, Type::Bool, Type::String], Some(Type::String)),
        (vec![Type::list(Type::Number), Type::list(Type::String)], Some(Type::list(Type::String))),
        (vec![Type::list(Type::Number), Type::tuple(vec![Type::String])], Some(Type::list(Type::String))),
        (vec![Type::tuple(vec![Type::Number]), Type::tuple(vec![])], Some(Type::list(Type::Number))),
        (vec![ab(Type::Number, Type::Bool), ab(Type::String, Type::Bool)], Some(ab(Type::String, Type::Bool))),
        (vec![a(Type::Number), ab(Type::String, Type::Bool)], Some(Type::map(Type::String))),
        (vec![a(Type::Number), Type::tuple(vec![])], None),
        (vec![a(Type::Number), Type::Dynamic], Some(Type::Dynamic)),
    ];
    for (types, common) in cases {
        assert_eq!(unify_unsafe(&types), common, "{types:?}");
    }
}

#[test]
fn many_elements_of_few_types_unify_quickly() {
    let items: Vec<Value> =
        (0..20_000).map(|n| if n % 2 == 0 { n.into() } else { Value::string(n.to_string()) }).collect();
    let list = convert(&Value::tuple(items), &Type::list(Type::Dynamic)).unwrap();
    assert_eq!(list.ty(), Type::list(Type::String));
}

#[test]
fn conformance_tells_every_place() {
    let given = Type::object([("a", Type::String), ("b", Type::list(Type::Number)), ("x", Type::Bool)]);
    let want = Type::object([("a", Type::Dynamic), ("b", Type::list(Type::String)), ("c", Type::Bool)]);
    let found: Vec<String> =
        test_conformance(&given, &want).into_iter().map(|at| format!("{}: {}", at.path, at.message)).collect();
    assert_eq!(
        found,
        [
            ": unsupported attribute \"x\"",
            ": missing required attribute \"c\"",
            ".b: string required, but received number",
        ]
    );
}
