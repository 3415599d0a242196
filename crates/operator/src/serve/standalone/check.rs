//! Whether something is as the schema of its kind says. On a cluster the API server sees to that; here, the same schema is read.

use regex::Regex;
use serde_json::Value as Json;

use super::lines::{field, item};

/// What is wrong, and with which field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// Its path.
    pub(super) field: String,
    /// For people. Values are not repeated: some are secret.
    pub(super) message: String,
}

/// Everything that is wrong with a value.
pub(super) fn faults(schema: &Json, value: &Json) -> Vec<Fault> {
    let mut found = Vec::new();
    check(schema, value, "", &mut found);
    found
}

fn check(schema: &Json, value: &Json, path: &str, found: &mut Vec<Fault>) {
    let mut say = |message: String| found.push(Fault { field: path.to_owned(), message });
    if value.is_null() && schema["nullable"] == true {
        return;
    }
    if let Some(wanted) = schema["type"].as_str()
        && !is_of_type(wanted, value)
    {
        return say(format!("must be of type {wanted}, and is of type {}", type_of(value)));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        let names: Vec<String> =
            allowed.iter().filter_map(|name| name.as_str().map(|name| format!("{name:?}"))).collect();
        return say(format!("must be one of {}", names.join(", ")));
    }
    if let Some(problem) = size_problem(schema, value) {
        say(problem);
    }
    match value {
        Json::Object(fields) => {
            check_fields(schema, fields, path, found);
            let rules = schema["x-kubernetes-validations"].as_array().into_iter().flatten();
            for rule in rules.filter(|rule| rule["rule"].as_str().and_then(|text| holds(text, value)) == Some(false)) {
                let message = rule["message"].as_str().unwrap_or("is not as it must be").to_owned();
                found.push(Fault { field: path.to_owned(), message });
            }
        }
        Json::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                check(&schema["items"], value, &item(path, index), found);
            }
        }
        _ => {}
    }
}

fn check_fields(schema: &Json, fields: &serde_json::Map<String, Json>, path: &str, found: &mut Vec<Fault>) {
    let properties = schema["properties"].as_object();
    let more = schema.get("additionalProperties").filter(|more| more.is_object());
    let keeps_unknown =
        schema["x-kubernetes-preserve-unknown-fields"] == true || schema["additionalProperties"] == true;
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str) {
        if !fields.contains_key(name) {
            found.push(Fault { field: field(path, name), message: "must be given".to_owned() });
        }
    }
    for (name, value) in fields {
        let known = properties.and_then(|properties| properties.get(name)).or(more);
        match known {
            Some(schema) => check(schema, value, &field(path, name), found),
            None if keeps_unknown || (properties.is_none() && more.is_none()) => {}
            None => {
                let names = properties.into_iter().flat_map(|properties| properties.keys());
                let meant = groma_model::text::suggestion(name, names.map(String::as_str));
                let meant = meant.map(|meant| format!("; did you mean {meant:?}?")).unwrap_or_default();
                found.push(Fault { field: field(path, name), message: format!("is not a field that is known{meant}") });
            }
        }
    }
}

fn is_of_type(wanted: &str, value: &Json) -> bool {
    match wanted {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => true,
    }
}

fn type_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// What is wrong with how long or large a value is.
fn size_problem(schema: &Json, value: &Json) -> Option<String> {
    let limit = |name: &str| schema[name].as_u64().and_then(|limit| usize::try_from(limit).ok());
    let (size, least, most, of) = match value {
        Json::String(text) => (text.chars().count(), limit("minLength"), limit("maxLength"), "characters"),
        Json::Array(items) => (items.len(), limit("minItems"), limit("maxItems"), "items"),
        Json::Number(number) => {
            let number = number.as_f64()?;
            let least = schema["minimum"].as_f64().filter(|least| number < *least);
            let most = schema["maximum"].as_f64().filter(|most| number > *most);
            return least
                .map(|least| format!("must be at least {least}"))
                .or_else(|| most.map(|most| format!("must be at most {most}")));
        }
        _ => return None,
    };
    if let Some(least) = least.filter(|least| size < *least) {
        return Some(format!("must have at least {least} {of}"));
    }
    if let Some(most) = most.filter(|most| size > *most) {
        return Some(format!("must have at most {most} {of}"));
    }
    let pattern = schema["pattern"].as_str()?;
    let matches = Regex::new(pattern).ok()?.is_match(value.as_str()?);
    (!matches).then(|| format!("must look like {pattern}"))
}

/// Whether a rule of the schema holds. None if it is about what was before, or not understood. Our rules have few forms, which are read here;
/// the language that they are written in is large.
fn holds(rule: &str, value: &Json) -> Option<bool> {
    let named: Vec<&str> = rule.split("has(self.").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let given = named.iter().filter(|name| value.get(name).is_some()).count();
    let shape = named.iter().fold(rule.to_owned(), |rule, name| rule.replace(&format!("has(self.{name})"), "?"));
    match shape.as_str() {
        "? != ?" => Some(given == 1),
        "!(? && ?)" => Some(given < 2),
        "!? || (? && self.planOnly)" => Some(value.get("previewOf").is_none() || value["planOnly"] == true),
        shape if shape.starts_with('[') && shape.ends_with("].filter(given, given).size() == 1") => Some(given == 1),
        "self.url.startsWith('https://') || self.url.startsWith('http://')" => {
            let url = value["url"].as_str().unwrap_or_default();
            Some(url.starts_with("https://") || url.starts_with("http://"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use kube::CustomResourceExt as _;
    use serde_json::json;

    use super::*;
    use crate::api::stack::Stack;

    fn schema() -> Json {
        json!(Stack::crd())["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
    }

    fn told(spec: Json) -> Vec<String> {
        let stack =
            json!({"apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "metadata": {"name": "a"}, "spec": spec});
        faults(&schema(), &stack).into_iter().map(|fault| format!("{} {}", fault.field, fault.message)).collect()
    }

    #[test]
    fn what_is_wrong_is_told_with_its_path() {
        assert_eq!(told(json!({"source": {"inline": {"main.tf": ""}}, "interval": "10m"})), Vec::<String>::new());
        let wrong = json!({
            "source": {"inline": {"main.tf": 1}},
            "intervall": "10m",
            "approval": {"mode": "maybe"},
            "inputs": {"varsFrom": [{"kind": "Secret"}], "env": [{"name": "A"}]},
            "retry": {"interval": "soon", "limit": 0},
        });
        let mut found = told(wrong);
        found.sort();
        assert_eq!(
            found,
            [
                "spec.approval.mode must be one of \"auto\", \"manual\"",
                "spec.inputs.env[0] give either value or valueFrom",
                "spec.inputs.varsFrom[0].name must be given",
                "spec.intervall is not a field that is known; did you mean \"interval\"?",
                "spec.retry.interval must look like ^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$",
                "spec.retry.limit must be at least 1",
                "spec.source.inline.main.tf must be of type string, and is of type number",
            ]
        );
        assert_eq!(told(json!({"source": {}})), ["spec.source give exactly one of inline, configMap, git and flux"]);
        assert_eq!(told(json!({})), ["spec.source must be given"]);
    }

    #[test]
    fn every_rule_of_stacks_is_understood() {
        fn rules(schema: &Json, found: &mut Vec<String>) {
            match schema {
                Json::Object(fields) => {
                    for rule in fields.get("x-kubernetes-validations").and_then(Json::as_array).into_iter().flatten() {
                        found.extend(rule["rule"].as_str().map(str::to_owned));
                    }
                    fields.values().for_each(|value| rules(value, found));
                }
                Json::Array(items) => items.iter().for_each(|value| rules(value, found)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        rules(&schema(), &mut found);
        assert!(found.len() >= 5, "{found:?}");
        for rule in found.iter().filter(|rule| !rule.contains("oldSelf")) {
            assert!(holds(rule, &json!({})).is_some(), "add this form of rule to `holds`: {rule}");
        }
    }
}
