//! A fresh look at objects, through the engine: a plan that only refreshes, and what it has found.

use std::collections::BTreeMap;

use groma_model::address::AbsInstance;
use groma_model::codec::json::{self, Json};
use groma_model::mark::Mark;
use groma_model::text::Str;
use groma_model::value::Value;

/// What was found when an object was looked for.
#[derive(Debug, Clone)]
pub(crate) enum Look {
    /// It is there. Sensitive values are marked.
    There(Value),
    /// It is not there.
    Gone,
    /// That could not be found out.
    Unclear(String),
}

/// The objects that a plan starts from, from its JSON form. None if it is no such.
pub(crate) fn found_in(plan: &str, wanted: &[AbsInstance]) -> Option<BTreeMap<AbsInstance, Look>> {
    let plan = Json::parse(plan).ok()?;
    plan.get("format_version")?;
    let mut found: BTreeMap<AbsInstance, Look> = wanted.iter().map(|wanted| (wanted.clone(), Look::Gone)).collect();
    let root =
        plan.get("prior_state").and_then(|state| state.get("values")).and_then(|values| values.get("root_module"));
    let mut modules: Vec<&Json<'_>> = root.into_iter().collect();
    while let Some(module) = modules.pop() {
        for resource in items(module.get("resources")).filter(|resource| resource.get("deposed_key").is_none()) {
            let Some(Json::String(address)) = resource.get("address") else { continue };
            let Ok(address) = address.parse::<AbsInstance>() else { continue };
            if let Some(look) = found.get_mut(&address) {
                *look = Look::There(value(resource.get("values")?, resource.get("sensitive_values")));
            }
        }
        modules.extend(items(module.get("child_modules")));
    }
    Some(found)
}

/// The values of variables that a plan was made with, as a file of values. None if it is no plan.
pub(crate) fn variables_in(plan: &str) -> Option<String> {
    let plan = Json::parse(plan).ok()?;
    plan.get("format_version")?;
    let Some(Json::Object(variables)) = plan.get("variables") else { return Some("{}".to_owned()) };
    let values = variables.iter().filter_map(|(name, variable)| Some((name.clone(), variable.get("value")?.clone())));
    Some(Json::Object(values.collect()).to_text())
}

fn items<'j, 'a>(json: Option<&'j Json<'a>>) -> std::slice::Iter<'j, Json<'a>> {
    match json {
        Some(Json::Array(items)) => items.iter(),
        _ => [].iter(),
    }
}

/// A value with marks, where a document of the same shape says `true`.
fn value(json: &Json<'_>, sensitive: Option<&Json<'_>>) -> Value {
    let implied = |json: &Json<'_>| json::implied(json).unwrap_or_else(|_| Value::dynamic());
    if sensitive == Some(&Json::Bool(true)) {
        return implied(json).mark(Mark::Sensitive);
    }
    match (json, sensitive) {
        (Json::Object(members), Some(Json::Object(_))) => Value::object(
            members
                .iter()
                .map(|(name, inner)| (Str::from(name.as_ref()), value(inner, sensitive.and_then(|s| s.get(name))))),
        ),
        (Json::Array(inner), Some(Json::Array(sensitive))) => {
            Value::tuple(inner.iter().enumerate().map(|(at, inner)| value(inner, sensitive.get(at))).collect())
        }
        _ => implied(json),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"{"format_version":"1.2","prior_state":{"values":{"root_module":{
        "resources":[{"address":"a.b","values":{"id":"1","secret":"s","list":[{"k":1},{"k":2}]},
                      "sensitive_values":{"secret":true,"list":[{},{"k":true}]}},
                     {"address":"a.old","deposed_key":"00","values":{}}],
        "child_modules":[{"address":"module.m","resources":[{"address":"module.m.a.b[\"x\"]","values":{"id":"2"}}]}]}}}}"#;

    #[test]
    fn objects_are_found_in_all_modules() {
        let wanted: Vec<AbsInstance> =
            ["a.b", "a.old", "module.m.a.b[\"x\"]"].map(|address| address.parse().unwrap()).into();
        let found = found_in(PLAN, &wanted).unwrap();
        let Look::There(object) = &found[&wanted[0]] else { panic!("{found:?}") };
        let entries = object.as_entries().unwrap();
        assert_eq!(entries.get("id").unwrap(), &Value::from("1"));
        assert!(entries.get("secret").unwrap().contains_marks() && entries.get("list").unwrap().contains_marks());
        assert!(!entries.get("id").unwrap().contains_marks());
        assert!(matches!(found[&wanted[1]], Look::Gone), "what waits to be deleted is not the object");
        assert!(matches!(found[&wanted[2]], Look::There(_)));
    }

    #[test]
    fn values_of_variables_are_taken_from_a_plan() {
        let plan = r#"{"format_version":"1.2","variables":{"a":{"value":{"n":1.0}},"unset":{}}}"#;
        assert_eq!(variables_in(plan).as_deref(), Some(r#"{"a":{"n":1.0}}"#));
        assert_eq!(variables_in("{\"format_version\":\"1.2\"}").as_deref(), Some("{}"));
        assert_eq!(variables_in("Error: no plan"), None);
    }

    #[test]
    fn nothing_is_found_in_an_empty_plan() {
        let wanted: Vec<AbsInstance> = vec!["a.b".parse().unwrap()];
        assert!(matches!(found_in("{\"format_version\":\"1.2\"}", &wanted).unwrap()[&wanted[0]], Look::Gone));
        assert!(found_in("{}", &wanted).is_none());
        assert!(found_in("oops", &wanted).is_none());
    }
}
