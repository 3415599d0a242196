//! Operations on unknown, null and marked values, as a specification. Plain arithmetic is tested with numbers.

use super::*;
use crate::mark::Mark;
use crate::path::{Path, PathStep};
use crate::value::{Bound, Refinement};

fn unknown(ty: Type) -> Value {
    Value::unknown(ty)
}

fn between(lower: i64, upper: i64) -> Value {
    Value::unknown_refined(Type::Number, Refinement::between(lower.into(), upper.into()))
}

fn bounds(value: &Value) -> (Option<String>, Option<String>) {
    let range = value.range();
    let text = |bound: Option<Bound>| bound.map(|bound| bound.number.to_string());
    (text(range.lower), text(range.upper))
}

fn numbers(lower: &str, upper: &str) -> (Option<String>, Option<String>) {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    (text(lower), text(upper))
}

#[test]
fn ranges_of_unknown_numbers_follow_through() {
    let (a, b) = (between(1, 3), between(-2, 10));
    assert_eq!(bounds(&a.add(&b).unwrap()), numbers("-1", "13"));
    assert_eq!(bounds(&a.subtract(&b).unwrap()), numbers("-9", "5"));
    assert_eq!(bounds(&a.multiply(&b).unwrap()), numbers("-6", "30"));
    assert_eq!(bounds(&a.divide(&b).unwrap()), numbers("", ""));
    assert_eq!(bounds(&b.absolute().unwrap()), numbers("0", ""));
    assert!(a.add(&unknown(Type::Dynamic)).unwrap().is_definitely_not_null());
    assert_eq!(bounds(&Value::unknown_operand()), numbers("", ""));
    assert_eq!(between(2, 2), Value::from(2));
}

#[test]
fn ranges_that_do_not_meet_decide() {
    let low = between(1, 3);
    let cases = [
        (low.less_than(&5.into()), Some(true)),
        (low.greater_than(&5.into()), Some(false)),
        (low.less_than(&3.into()), None),
        (low.less_or_equal(&5.into()), Some(true)),
        (low.greater_or_equal(&0.into()), Some(true)),
    ];
    for (at, (got, want)) in cases.into_iter().enumerate() {
        assert_eq!(got.unwrap().as_bool(), want, "case {at}");
    }
    assert_eq!(low.equals(&7.into()).as_bool(), Some(false));
    assert_eq!(low.equals(&2.into()).as_bool(), None);
}

#[test]
fn equality_with_unknowns() {
    let prefixed = Value::unknown_refined(Type::String, Refinement::prefix("ab"));
    let long = Value::unknown_refined(Type::list(Type::String), Refinement::length(2, None));
    let null = Value::null(Type::Dynamic);
    let cases = [
        (prefixed.clone(), "xy".into(), Some(false)),
        (prefixed.clone(), "abc".into(), None),
        (prefixed.clone(), null.clone(), Some(false)),
        (unknown(Type::String), null.clone(), None),
        (unknown(Type::String), 1.into(), Some(false)),
        (unknown(Type::Dynamic), 1.into(), None),
        (long.clone(), Value::strings(["a"]), Some(false)),
        (long, Value::strings(["a", "b"]), None),
        (null.clone(), Value::null(Type::String), Some(true)),
        (null, "a".into(), Some(false)),
        (1.into(), "1".into(), Some(false)),
        (Value::tuple(vec![unknown(Type::String), 1.into()]), Value::tuple(vec!["a".into(), 2.into()]), None),
        (Value::tuple(vec![1.into(), unknown(Type::String)]), Value::tuple(vec![2.into(), "a".into()]), Some(false)),
        (Value::tuple(vec![]), Value::strings::<&str>([]), Some(false)),
    ];
    for (a, b, want) in cases {
        assert_eq!(a.equals(&b).as_bool(), want, "{a:?} == {b:?}");
        assert_eq!(b.equals(&a).as_bool(), want, "{b:?} == {a:?}");
    }
}

#[test]
fn marks_inside_do_not_tell_null_from_not_null() {
    let inside = Value::tuple(vec![Value::from(1).mark(Mark::Sensitive)]);
    assert!(inside.equals(&Value::null(Type::Dynamic)).marks().is_empty());
    assert!(inside.equals(&inside).marks().is_sensitive());
}

#[test]
fn known_sides_decide_logic() {
    let (yes, no, open) = (Value::bool(true), Value::bool(false), unknown(Type::Bool));
    assert_eq!(no.and(&open).unwrap(), no);
    assert_eq!(open.or(&yes).unwrap(), yes);
    assert_eq!(yes.and(&open).unwrap(), Value::unknown_bool());
    assert_eq!(yes.and(&no).unwrap(), no);
    assert_eq!(open.not().unwrap(), Value::unknown_bool());
    assert_eq!(yes.and(&Value::null(Type::Bool)), Err(OpError::NullOperand));
    assert!(no.and(&open.mark(Mark::Sensitive)).unwrap().marks().is_sensitive());
}

#[test]
fn lengths() {
    let set = |items: Vec<Value>| Value::set(Type::String, items);
    assert_eq!(set(vec!["a".into(), "a".into()]).length().unwrap(), Value::from(1));
    assert_eq!(set(vec![unknown(Type::String)]).length().unwrap(), Value::from(1));
    let open = set(vec!["a".into(), unknown(Type::String)]).length().unwrap();
    assert_eq!(bounds(&open), numbers("1", "2"));
    let list = unknown(Type::list(Type::String));
    assert_eq!(bounds(&list.length().unwrap()), numbers("0", "9223372036854775807"));
    assert_eq!(unknown(Type::tuple(vec![Type::Bool; 3])).length().unwrap(), Value::from(3));
    assert_eq!(Value::null(Type::list(Type::Bool)).length(), Err(OpError::NullOperand));
    assert_eq!(Value::from("a").length(), Err(OpError::NoLength("string".into())));
}

#[test]
fn elements_of_sets() {
    let set = Value::set(Type::String, vec!["a".into(), unknown(Type::String)]);
    assert_eq!(set.has_element(&"a".into()).as_bool(), Some(true));
    assert_eq!(set.has_element(&"b".into()).as_bool(), None);
    assert_eq!(set.has_element(&1.into()).as_bool(), Some(false));
    let known = Value::set(Type::String, vec!["a".into()]);
    assert_eq!(known.has_element(&"b".into()).as_bool(), Some(false));
    assert_eq!(known.has_element(&unknown(Type::String)).as_bool(), None);
}

#[test]
fn indexing() {
    let list = Value::strings(["a", "b"]);
    let object = Value::object([("a", Value::from(1)), ("1", Value::from(2))]);
    let ok: [(&Value, Value, Value); 6] = [
        (&list, 1.into(), "b".into()),
        (&list, "1".into(), "b".into()),
        (&list, unknown(Type::Number), unknown(Type::String)),
        (&object, "a".into(), 1.into()),
        (&object, 1.into(), 2.into()),
        (&object, unknown(Type::String), Value::dynamic()),
    ];
    for (value, key, found) in ok {
        assert_eq!(value.index(&key), Ok(found), "{value:?}[{key:?}]");
    }
    let set = Value::set(Type::Bool, vec![]);
    let failures: [(&Value, Value, OpError); 11] = [
        (&list, 2.into(), OpError::IndexTooLarge),
        (&list, 3.into(), OpError::NoSuchElement),
        (&list, (-1).into(), OpError::NegativeIndex),
        (&list, "0.5".into(), OpError::FractionalIndex),
        (&list, "x".into(), OpError::UnsuitableKey("a number is required".into())),
        (&list, Value::null(Type::Number), OpError::NullKey),
        (&Value::tuple(vec![]), 0.into(), OpError::NoElements),
        (&object, "b".into(), OpError::NoSuchElement),
        (&object, 2.into(), OpError::NoSuchAttributeNumber),
        (&set, 0.into(), OpError::IndexSet),
        (&Value::from("a"), 0.into(), OpError::NotIndexable),
    ];
    for (value, key, error) in failures {
        assert_eq!(value.index(&key), Err(error), "{value:?}[{key:?}]");
    }
}

#[test]
fn the_marks_of_a_collection_are_those_of_its_elements() {
    let list = Value::strings(["a"]).mark(Mark::Sensitive);
    assert!(list.index(&0.into()).unwrap().marks().is_sensitive());
    let key = Value::from(0).mark(Mark::Ephemeral);
    assert!(list.index(&key).unwrap().marks().is_ephemeral());
    // How long a marked collection is, is not told.
    assert_eq!(list.index(&1.into()), Err(OpError::NoSuchElement));
    let object = Value::object([("a", 1)].map(|(name, value): (&str, i64)| (name, Value::from(value))));
    assert!(object.mark(Mark::Sensitive).get_attr("a").unwrap().marks().is_sensitive());
}

#[test]
fn attributes() {
    let objects = Value::list(Type::object([("a", Type::String)]), vec![]);
    let map = Value::map(Type::String, crate::value::Entries::default());
    let failures = [
        (Value::empty_object(), "This object does not have an attribute named \"a\"."),
        (map, "This map does not have an element with the key \"a\"."),
        (Value::null(Type::empty_object()), "This value is null, so it does not have any attributes."),
        (Value::from(1), "Can't access attributes on a primitive-typed value (number)."),
        (Value::tuple(vec![]), "This value does not have any attributes."),
        (
            objects,
            "Can't access attributes on a list of objects. Did you mean to access attribute \"a\" for a specific element of the list, or across all elements of the list?",
        ),
    ];
    for (value, message) in failures {
        assert_eq!(value.get_attr("a").unwrap_err().to_string(), message);
    }
    assert_eq!(Value::dynamic().get_attr("a"), Ok(Value::dynamic()));
    assert_eq!(unknown(Type::map(Type::Bool)).get_attr("a"), Ok(unknown(Type::Bool)));
}

#[test]
fn paths_lead_into_sets_too() {
    let set = Value::set(Type::String, vec!["a".into()]).mark(Mark::Sensitive);
    let value = Value::object([("s", set)]);
    let element = |text: &str| Path::root().attr("s").join(PathStep::Element(Box::new(text.into())));
    assert!(value.apply_path(&element("a")).unwrap().marks().is_sensitive());
    assert_eq!(value.apply_path(&element("b")), Err(OpError::NoSuchElement));
}

#[test]
fn unknowns_become_null_and_marks_stay() {
    let value = Value::tuple(vec![unknown(Type::String).mark(Mark::Sensitive), 1.into()]);
    let expected = Value::tuple(vec![Value::null(Type::String).mark(Mark::Sensitive), 1.into()]);
    assert_eq!(value.unknown_as_null(), expected);
}
