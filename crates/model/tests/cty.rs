//! Values behave as in go-cty: recorded answers of `tests/oracles/cty`, one question per line.
//!
//! More questions than the recorded ones can be given as a file named by `GROMA_CTY_CASES`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

use std::collections::BTreeMap;

use groma_model::convert::{
    Safety, can_convert, convert, mismatch_message, test_conformance, unify, unify_unsafe, unify_values,
};
use groma_model::mark::{Mark, Marks};
use groma_model::number::Number;
use groma_model::text::Str;
use groma_model::ty::{AttributeType, ObjectType, Type};
use groma_model::value::{Bound, Entries, OpError, Refinement, Value, ValueKind};
use serde_json::{Value as Json, json};

fn read_type(json: &Json) -> Type {
    if let Some(name) = json.as_str() {
        return match name {
            "any" => Type::Dynamic,
            "bool" => Type::Bool,
            "number" => Type::Number,
            "string" => Type::String,
            other => panic!("type {other}"),
        };
    }
    match json[0].as_str().unwrap() {
        "list" => Type::list(read_type(&json[1])),
        "set" => Type::set(read_type(&json[1])),
        "map" => Type::map(read_type(&json[1])),
        "tuple" => Type::tuple(json.as_array().unwrap()[1..].iter().map(read_type).collect()),
        _ => {
            let optional = json[2].as_array().unwrap();
            let attributes: BTreeMap<Str, AttributeType> = json[1]
                .as_object()
                .unwrap()
                .iter()
                .map(|(name, ty)| {
                    let optional = optional.iter().any(|optional| optional == name);
                    (Str::from(name), AttributeType { ty: read_type(ty), optional })
                })
                .collect();
            Type::Object(std::sync::Arc::new(ObjectType::with_optional(attributes)))
        }
    }
}

fn write_type(ty: &Type) -> Json {
    match ty {
        Type::Dynamic | Type::Bool | Type::Number | Type::String => json!(ty.to_string()),
        Type::List(element) => json!(["list", write_type(element)]),
        Type::Set(element) => json!(["set", write_type(element)]),
        Type::Map(element) => json!(["map", write_type(element)]),
        Type::Tuple(elements) => {
            let parts = std::iter::once(json!("tuple")).chain(elements.iter().map(write_type));
            Json::Array(parts.collect())
        }
        Type::Object(object) => {
            let attributes: serde_json::Map<String, Json> =
                object.iter().map(|(name, attribute)| (name.to_string(), write_type(&attribute.ty))).collect();
            let optional: Vec<&str> =
                object.iter().filter(|(_, attribute)| attribute.optional).map(|(name, _)| name.as_str()).collect();
            json!(["object", attributes, optional])
        }
    }
}

fn read_refinement(json: &Json) -> Refinement {
    let bound = |name: &str| {
        json.get(name).map(|bound| Bound {
            number: Number::parse(bound[0].as_str().unwrap()).unwrap(),
            inclusive: bound[1].as_bool().unwrap(),
        })
    };
    Refinement {
        not_null: json.get("not_null").is_some(),
        prefix: json.get("prefix").map(|prefix| prefix.as_str().unwrap().into()),
        lower: bound("lower"),
        upper: bound("upper"),
        min_length: json.get("min_length").map_or(0, |min| min.as_u64().unwrap()),
        max_length: json.get("max_length").map(|max| max.as_u64().unwrap()),
    }
}

fn write_refinement(refinement: &Refinement) -> Json {
    let mut known = serde_json::Map::new();
    if refinement.not_null {
        known.insert("not_null".into(), json!(true));
    }
    if let Some(prefix) = &refinement.prefix {
        known.insert("prefix".into(), json!(prefix.as_str()));
    }
    for (name, bound) in [("lower", &refinement.lower), ("upper", &refinement.upper)] {
        if let Some(bound) = bound {
            known.insert(name.into(), json!([bound.number.to_string(), bound.inclusive]));
        }
    }
    if refinement.min_length > 0 {
        known.insert("min_length".into(), json!(refinement.min_length));
    }
    if let Some(max) = refinement.max_length {
        known.insert("max_length".into(), json!(max));
    }
    Json::Object(known)
}

fn read_items(json: &Json) -> Vec<Value> {
    json.as_array().unwrap().iter().map(read_value).collect()
}

fn read_entries(json: &Json) -> Entries {
    json.as_object().unwrap().iter().map(|(name, item)| (name.as_str(), read_value(item))).collect()
}

fn read_value(json: &Json) -> Value {
    match json {
        Json::Bool(value) => return Value::bool(*value),
        Json::String(text) => return Value::string(text.as_str()),
        _ => {}
    }
    let (kind, inner) = json.as_object().unwrap().iter().next().unwrap();
    match kind.as_str() {
        "null" => Value::null(read_type(inner)),
        "unknown" => Value::unknown_refined(read_type(&inner[0]), read_refinement(&inner[1])),
        "number" => Value::number(Number::parse(inner.as_str().unwrap()).unwrap()),
        "list" => Value::list(read_type(&inner[0]), read_items(&inner[1])),
        "set" => Value::set(read_type(&inner[0]), read_items(&inner[1])),
        "map" => Value::map(read_type(&inner[0]), read_entries(&inner[1])),
        "tuple" => Value::tuple(read_items(inner)),
        "object" => Value::object_of(read_entries(inner)),
        "marked" => {
            let marks: Marks = inner[1].as_array().unwrap().iter().map(read_mark).collect();
            read_value(&inner[0]).with_marks(&marks)
        }
        other => panic!("value {other}"),
    }
}

fn read_mark(json: &Json) -> Mark {
    if json == "sensitive" { Mark::Sensitive } else { Mark::Ephemeral }
}

fn write_items(items: &[Value]) -> Json {
    Json::Array(items.iter().map(write_value).collect())
}

fn write_entries(entries: &Entries) -> Json {
    Json::Object(entries.iter().map(|(name, item)| (name.to_string(), write_value(item))).collect())
}

fn write_value(value: &Value) -> Json {
    if !value.marks().is_empty() {
        let mut names: Vec<&str> =
            value.marks().iter().map(|mark| if *mark == Mark::Sensitive { "sensitive" } else { "ephemeral" }).collect();
        names.sort_unstable();
        return json!({"marked": [write_value(&value.clone().unmark().0), names]});
    }
    let element = || write_type(value.element_type().unwrap());
    match value.kind() {
        ValueKind::Null => json!({"null": write_type(&value.ty())}),
        ValueKind::Unknown(refinement) => json!({"unknown": [write_type(&value.ty()), write_refinement(refinement)]}),
        ValueKind::Bool(value) => json!(value),
        ValueKind::Number(number) => json!({"number": number.to_string()}),
        ValueKind::String(text) => json!(text.as_str()),
        ValueKind::List(items) => json!({"list": [element(), write_items(items)]}),
        ValueKind::Set(items) => json!({"set": [element(), write_items(items)]}),
        ValueKind::Map(entries) => json!({"map": [element(), write_entries(entries)]}),
        ValueKind::Tuple(items) => json!({"tuple": write_items(items)}),
        ValueKind::Object(entries) => json!({"object": write_entries(entries)}),
    }
}

fn ok(value: &Value) -> Json {
    json!({"ok": write_value(value)})
}

fn calculated(result: Result<Value, OpError>) -> Json {
    match result {
        Ok(value) => ok(&value),
        Err(error) => json!({"error": error.to_string()}),
    }
}

fn accessed(result: Result<Value, OpError>) -> Json {
    match result {
        Ok(value) => ok(&value),
        Err(error) => json!({"error": error.to_string(), "summary": error.summary()}),
    }
}

fn answer(op: &str, args: &[Json]) -> Json {
    let value = |at: usize| read_value(&args[at]);
    let ty = |at: usize| read_type(&args[at]);
    let types = || args[0].as_array().unwrap().iter().map(read_type).collect::<Vec<_>>();
    let common = |ty: Option<Type>| ty.map_or(Json::Null, |ty| write_type(&ty));
    match op {
        "add" => calculated(value(0).add(&value(1))),
        "subtract" => calculated(value(0).subtract(&value(1))),
        "multiply" => calculated(value(0).multiply(&value(1))),
        "divide" => calculated(value(0).divide(&value(1))),
        "modulo" => calculated(value(0).modulo(&value(1))),
        "negate" => calculated(value(0).negate()),
        "absolute" => calculated(value(0).absolute()),
        "less_than" => calculated(value(0).less_than(&value(1))),
        "greater_than" => calculated(value(0).greater_than(&value(1))),
        "less_or_equal" => calculated(value(0).less_or_equal(&value(1))),
        "greater_or_equal" => calculated(value(0).greater_or_equal(&value(1))),
        "and" => calculated(value(0).and(&value(1))),
        "or" => calculated(value(0).or(&value(1))),
        "not" => calculated(value(0).not()),
        "equals" => ok(&value(0).equals(&value(1))),
        "get_attr" => accessed(value(0).get_attr(args[1].as_str().unwrap())),
        "index" => accessed(value(0).index(&value(1))),
        "has_index" => ok(&value(0).has_index(&value(1))),
        "has_element" => ok(&value(0).has_element(&value(1))),
        "length" => calculated(value(0).length()),
        "unknown_as_null" => ok(&value(0).unknown_as_null()),
        "set" => ok(&Value::set(ty(0), read_items(&args[1]))),
        "convert" => match convert(&value(0), &ty(1)) {
            Ok(value) => ok(&value),
            Err(error) if error.path.is_empty() => json!({"error": error.message}),
            Err(error) => json!({"error": error.message, "at": error.path.to_string()}),
        },
        "unify" => common(unify(&types())),
        "unify_unsafe" => common(unify_unsafe(&types())),
        "unify_values" => match unify_values(&read_items(&args[0])) {
            Some((ty, values)) => json!([write_type(&ty), write_items(&values)]),
            None => Json::Null,
        },
        "mismatch_message" => json!(mismatch_message(&ty(0), &ty(1))),
        "conforms" => json!(test_conformance(&ty(0), &ty(1)).len()),
        "can_convert" => match can_convert(&ty(0), &ty(1)) {
            Some(Safety::Safe) => json!("safe"),
            Some(Safety::Unsafe) => json!("unsafe"),
            None => Json::Null,
        },
        other => panic!("operation {other}"),
    }
}

#[test]
fn values_behave_as_in_go() {
    let recorded = std::env::var("GROMA_CTY_CASES")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/cty.jsonl").to_owned());
    let text = std::fs::read_to_string(recorded).unwrap();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in text.lines() {
        let question: Json = serde_json::from_str(line).unwrap();
        let want = &question["answer"];
        let got = answer(question["op"].as_str().unwrap(), question["args"].as_array().unwrap());
        // An error at the root is told with and without a path.
        let same = got == *want || {
            let mut want = want.clone();
            let at_root = want.get("at").is_some_and(|at| at == "");
            at_root && want.as_object_mut().unwrap().remove("at").is_some() && got == want
        };
        count += 1;
        if !same {
            wrong.push(format!("{} {}\n  want {want}\n  got  {got}", question["op"], question["args"]));
        }
    }
    assert!(count > 1000, "only {count} questions");
    let shown = wrong.iter().take(40).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {count} answers differ:\n{shown}", wrong.len());
}
