//! What the functions on lists and tuples give, and how long they take.

use groma_model::ty::Type;
use groma_model::value::Value;

use crate::eval::testing::TestScope;
use crate::func::support::table::{check_errors, check_values};

#[test]
fn joining() {
    check_values(&[
        ("[concat([\"a\"], [1], []), concat([])]", r#"[["a", 1], []]"#),
        ("concat(tolist([\"a\"]), tolist([1]))", r#"list["a", "1"]"#),
        ("concat(tolist([]), tolist([\"a\"]), tolist([1]))", r#"list["a", "1"]"#),
        ("concat(tolist([\"a\"]), [1])", r#"["a", 1]"#),
        ("concat(tolist([[1]]), tolist([{}]))", "[[1], {}]"),
        (
            "[concat(u_list, tolist([1])), concat(u_list, [1]), concat(u_tuple, [1])]",
            "[unknown list, unknown any, unknown tuple]",
        ),
        ("[concat([secret], [1]), concat(secret_list, [1])]", "[[(sensitive), 1], (sensitive)]"),
        ("flatten([[\"a\", [1]], toset([2]), {a = [3]}, null, []])", r#"["a", 1, 2, {"a": [3]}, null]"#),
        ("[flatten([]), flatten([[u_string], 1])]", "[[], [unknown string, 1]]"),
        (
            "[flatten([u_list]), flatten([u_any]), flatten([toset([u_string, \"a\"])])]",
            "[unknown any, unknown any, unknown any]",
        ),
        ("[flatten([[secret], 1]), flatten([secret_list, 1])]", "[[(sensitive), 1], (sensitive)]"),
        (
            "[reverse([1, \"a\"]), reverse(tolist([1, 2])), reverse(toset([1, 2]))]",
            r#"[["a", 1], list[2, 1], list[2, 1]]"#,
        ),
        ("[reverse(u_tuple), reverse(u_set), reverse(secret_list)]", "[unknown tuple, unknown list, (sensitive)]"),
    ]);
    check_errors(&[
        ("concat()", "at least one argument is required"),
        ("concat([], \"a\")", "all arguments must be lists or tuples; got string"),
        ("concat([], toset([]))", "all arguments must be lists or tuples; got set of dynamic"),
        ("concat([], null)", "argument must not be null"),
        ("flatten({})", "can only flatten lists, sets and tuples"),
        ("reverse(\"a\")", "can only reverse list or tuple values, not string"),
    ]);
}

#[test]
fn cutting() {
    check_values(&[
        ("chunklist([1, 2, 3], 2)", "list[list[1, 2], list[3]]"),
        (
            "[chunklist([1, 2], 0), chunklist([1, 2], 9), chunklist([], 0)]",
            "[list[list[1, 2]], list[list[1, 2]], list[]]",
        ),
        ("type(chunklist([\"a\"], 1))", "\"list(list(string))\""),
        ("[chunklist([u_string], 1), chunklist(u_list, 1)]", "[list[list[unknown string]], unknown list]"),
        (
            "[chunklist([secret, \"a\"], 1), chunklist(secret_list, 1)]",
            "[list[list[(sensitive)], list[\"a\"]], (sensitive)]",
        ),
        ("[slice([1, \"a\", 2], 1, 3), slice(tolist([1, 2]), 0, 1), slice([1], 1, 1)]", r#"[["a", 2], list[1], []]"#),
        (
            "[slice(u_list, 0, 1), slice(u_tuple, 0, 1), slice([1], 0, u_number)]",
            "[unknown list, unknown tuple, unknown any]",
        ),
        ("slice(secret_list, 0, 1)", "(sensitive)"),
    ]);
    check_errors(&[
        ("chunklist([1], -1)", "the size argument must be positive"),
        ("chunklist([1], 0.5)", "invalid size: value must be a whole number, between -9223372036854775808 and"),
        ("slice(toset([1]), 0, 1)", "cannot slice a set, because its elements do not have indices"),
        ("slice(\"a\", 0, 1)", "must be a list or tuple value"),
        ("slice([1], -1, 1)", "start index must not be less than zero"),
        ("slice([1], 2, 1)", "start index must not be greater than the length of the list"),
        ("slice([1], 0, 2)", "end index must not be greater than the length of the list"),
        ("slice([1, 2], 2, 1)", "start index must not be greater than end index"),
        ("slice([1], 0.5, 1)", "invalid start index: value must be a whole number"),
    ]);
}

#[test]
fn filtering() {
    check_values(&[
        ("[compact([\"a\", \"\", null, \"b\"]), compact([])]", r#"[list["a", "b"], list[]]"#),
        ("[compact([u_string]), distinct([u_string]), distinct(u_any)]", "[unknown list, unknown list, unknown list]"),
        ("distinct([1, 2, \"1\", 1])", r#"list["1", "2"]"#),
        ("distinct([null, 1, null, 1.0])", "list[null, 1]"),
        ("distinct([{a = [1]}, {a = [1]}, {a = [2]}])", r#"list[{"a": [1]}, {"a": [2]}]"#),
        ("sort([\"b\", \"a\", \"Z\", \"é\", \"10\", \"9\"])", r#"list["10", "9", "Z", "a", "b", "é"]"#),
        (
            "[sort([]), sort([u_string, \"a\"]), sort(u_list)]",
            "[list[], list[unknown string, unknown string], unknown list]",
        ),
        ("sort([secret])", "(sensitive)"),
    ]);
    check_errors(&[
        ("sort([\"a\", null])", "given list element 1 is null; a null string cannot be sorted"),
        ("distinct([\"a\", {}])", "all list elements must have the same type"),
    ]);
}

#[test]
fn much_takes_linear_time() {
    let many: Vec<Value> = (0..100_000_i64).map(Value::number).collect();
    let nested = Value::tuple(many.iter().map(|item| Value::tuple(vec![item.clone()])).collect());
    let scope = TestScope::with([("many", Value::list(Type::Number, many)), ("nested", nested)]);
    assert_eq!(scope.value("length(distinct(concat(many, many)))"), Value::number(100_000));
    assert_eq!(scope.value("length(flatten(nested))"), Value::number(100_000));
    assert_eq!(scope.value("length(chunklist(reverse(many), 3))"), Value::number(33_334));
}
