//! Values with keys of Secrets in their texts. A text stays a text, whatever is filled in.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{HolderRef, InputError, Resolving};
use crate::api::shared::HolderKind;
use crate::api::stack::TemplatedValue;
use crate::template::placeholders::{Part, parts};

/// The values, with everything filled in that can be. What cannot is told.
pub(super) fn resolve(given: &[TemplatedValue], resolving: &mut Resolving<'_>) -> BTreeMap<String, Json> {
    let mut values = BTreeMap::new();
    for (at, templated) in given.iter().enumerate() {
        let mut filling = Filling { field: format!("spec.inputs.templated[{at}]"), templated, resolving };
        let value = filling.value(&templated.value.0);
        values.insert(templated.name.clone(), value);
    }
    values
}

struct Filling<'f, 'r> {
    field: String,
    templated: &'f TemplatedValue,
    resolving: &'f mut Resolving<'r>,
}

impl Filling<'_, '_> {
    fn value(&mut self, value: &Json) -> Json {
        match value {
            Json::String(text) => Json::String(self.text(text)),
            Json::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Json::Object(fields) => {
                let filled = fields.iter().map(|(name, value)| (name.clone(), self.value(value)));
                Json::Object(filled.collect())
            }
            other => other.clone(),
        }
    }

    fn text(&mut self, text: &str) -> String {
        let parts = parts(text).unwrap_or_else(|problem| {
            self.wrong(problem);
            Vec::new()
        });
        parts
            .into_iter()
            .map(|part| match part {
                Part::Text(text) => text,
                Part::Path(names) => self.key(&names).unwrap_or_default(),
            })
            .collect()
    }

    fn key(&mut self, names: &[String]) -> Option<String> {
        let [alias, key] = names else {
            self.wrong(format!("{:?} is no key of a Secret: write \"${{{{ .name.key }}}}\"", names.join(".")));
            return None;
        };
        let Some(name) = self.templated.secrets.get(alias) else {
            self.wrong(format!("{alias:?} is not the name of one of the Secrets that can be referred to"));
            return None;
        };
        let holder = HolderRef { kind: HolderKind::Secret, name: name.clone() };
        let bytes = self.resolving.bytes(&self.field, &holder, key, false)?;
        self.resolving.text(&self.field, &holder, key, bytes)
    }

    fn wrong(&mut self, problem: String) {
        self.resolving.problems.push(InputError::BadTemplate { field: self.field.clone(), problem });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::inputs::{Holders, resolve as resolve_all};

    fn inputs(value: &Json) -> crate::api::stack::Inputs {
        serde_json::from_value(json!({
            "templated": [{"name": "values", "value": value, "secrets": {"db": "database"}}],
        }))
        .unwrap()
    }

    fn holders() -> Holders {
        let holder = HolderRef { kind: HolderKind::Secret, name: "database".to_owned() };
        [(holder, [("password".to_owned(), b"hunter2\" }".to_vec())].into())].into()
    }

    #[test]
    fn keys_of_secrets_are_filled_in_and_stay_texts() {
        let value = json!({"port": 5432, "urls": ["pg://app:${{ .db.password }}@x"], "plain": "${x}"});
        let resolved = resolve_all(&inputs(&value), &holders(), b"salt").unwrap();
        let expected = json!({"port": 5432, "urls": ["pg://app:hunter2\" }@x"], "plain": "${x}"});
        assert_eq!(resolved.values["values"], expected);
        assert!(resolved.secrets.contains("hunter2\" }") && resolved.marks.contains_key("Secret database/password"));
    }

    #[test]
    fn what_cannot_be_filled_in_is_told_without_values() {
        for (text, expected) in [
            ("${{ .db.nope }}", "spec.inputs.templated[0]: Secret \"database\" has no key \"nope\""),
            ("${{ .other.key }}", "spec.inputs.templated[0]: \"other\" is not the name of one of the Secrets"),
            ("${{ .db }}", "spec.inputs.templated[0]: \"db\" is no key of a Secret"),
            ("${{ .db.password | upper }}", "cannot be filled in"),
        ] {
            let told = resolve_all(&inputs(&json!(text)), &holders(), b"salt").unwrap_err();
            let told: Vec<String> = told.iter().map(ToString::to_string).collect();
            assert!(told.join("\n").contains(expected) && !told.join("\n").contains("hunter2"), "{text}: {told:?}");
        }
    }
}
