//! Where outputs go: which of them, under which keys, as which texts.

use std::collections::BTreeMap;

use crate::api::shared::{AnyValue, Values};
use crate::api::stack::OutputTarget;
use crate::work::Output;

/// No more than that of outputs is in a status, as JSON.
const MOST_SHOWN_BYTES: usize = 64 << 10;

/// Outputs that anybody may see, as far as there is room for them in a status.
pub fn shown(outputs: &[Output]) -> Values {
    let mut room = MOST_SHOWN_BYTES;
    let fits = |output: &&Output| {
        let left = room.checked_sub(output.name.len() + output.value.to_string().len());
        room = left.unwrap_or(room);
        left.is_some()
    };
    let public = outputs.iter().filter(|output| !output.sensitive).filter(fits);
    public.map(|output| (output.name.clone(), AnyValue(output.value.clone()))).collect()
}

/// What cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutputError {
    /// There is no such output.
    #[error("{field}: there is no output {name:?}")]
    Unknown {
        /// Where it stands.
        field: String,
        /// Its name.
        name: String,
    },
    /// Neither `output` nor `output:key`.
    #[error("{field}: {text:?} is neither \"output\" nor \"output:key\"")]
    BadSelection {
        /// Where it stands.
        field: String,
        /// What stands there.
        text: String,
    },
    /// No key of a Secret or ConfigMap.
    #[error("{field}: {key:?} cannot be a key: only letters, digits, \"-\", \"_\" and \".\" can")]
    BadKey {
        /// Where it stands.
        field: String,
        /// The key.
        key: String,
    },
    /// It must not be shown.
    #[error("{field}: the output {name:?} is sensitive, and goes into no ConfigMap; select others, or use a Secret")]
    Sensitive {
        /// Where it stands.
        field: String,
        /// Its name.
        name: String,
    },
}

/// Under which keys of an object outputs are that must not be shown.
pub fn sensitive_keys(target: &OutputTarget, outputs: &[Output]) -> Vec<String> {
    let is_sensitive = |name: &str| outputs.iter().any(|output| output.name == name && output.sensitive);
    let all = outputs.iter().map(|output| (output.name.as_str(), output.name.as_str()));
    let selected = target.select.iter().map(|text| text.split_once(':').unwrap_or((text, text)));
    let chosen: Vec<(&str, &str)> = if target.select.is_empty() { all.collect() } else { selected.collect() };
    let sensitive = chosen.into_iter().filter(|(name, _)| is_sensitive(name));
    sensitive.map(|(_, key)| key.to_owned()).collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

/// The keys of an object that outputs go into. Texts stay as they are; other values are JSON, with their type beside them.
pub fn data(
    field: &str,
    target: &OutputTarget,
    outputs: &[Output],
    takes_secrets: bool,
) -> Result<BTreeMap<String, String>, Vec<OutputError>> {
    let mut problems = Vec::new();
    let mut chosen: Vec<(&Output, String)> = Vec::new();
    if target.select.is_empty() {
        chosen.extend(
            outputs
                .iter()
                .filter(|output| takes_secrets || !output.sensitive)
                .map(|output| (output, output.name.clone())),
        );
    }
    for text in &target.select {
        let (name, key) = text.split_once(':').unwrap_or((text, text));
        if name.is_empty() || key.is_empty() || key.contains(':') {
            problems.push(OutputError::BadSelection { field: field.to_owned(), text: text.clone() });
            continue;
        }
        match outputs.iter().find(|output| output.name == name) {
            None => problems.push(OutputError::Unknown { field: field.to_owned(), name: name.to_owned() }),
            Some(output) if output.sensitive && !takes_secrets => {
                problems.push(OutputError::Sensitive { field: field.to_owned(), name: name.to_owned() });
            }
            Some(output) => chosen.push((output, key.to_owned())),
        }
    }
    let mut data = BTreeMap::new();
    for (output, key) in chosen {
        let is_key = |at: char| at.is_ascii_alphanumeric() || "-_.".contains(at);
        if !key.chars().all(is_key) {
            problems.push(OutputError::BadKey { field: field.to_owned(), key });
            continue;
        }
        match &output.value {
            serde_json::Value::String(text) => {
                data.insert(key, text.clone());
            }
            other => {
                data.insert(format!("{key}__type"), output.ty.to_string());
                data.insert(key, other.to_string());
            }
        }
    }
    if problems.is_empty() { Ok(data) } else { Err(problems) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outputs() -> Vec<Output> {
        let output = |name: &str, value: serde_json::Value, ty: serde_json::Value, sensitive: bool| Output {
            name: name.to_owned(),
            value,
            ty,
            sensitive,
        };
        vec![
            output("url", json!("http://x"), json!("string"), false),
            output("ports", json!([80, 443]), json!(["list", "number"]), false),
            output("token", json!("s3cret"), json!("string"), true),
        ]
    }

    fn target(select: &[&str]) -> OutputTarget {
        OutputTarget {
            name: "out".to_owned(),
            select: select.iter().map(|text| (*text).to_owned()).collect(),
            ..OutputTarget::default()
        }
    }

    #[test]
    fn values_have_their_types_beside_them() {
        let data = data("f", &target(&[]), &outputs(), true).unwrap();
        assert_eq!(
            json!(data),
            json!({"ports": "[80,443]", "ports__type": "[\"list\",\"number\"]", "token": "s3cret", "url": "http://x"})
        );
    }

    #[test]
    fn a_status_shows_no_secrets_and_has_its_limits() {
        let mut outputs = outputs();
        assert_eq!(json!(shown(&outputs)), json!({"ports": [80, 443], "url": "http://x"}));
        outputs[0].value = json!("x".repeat(MOST_SHOWN_BYTES));
        assert_eq!(json!(shown(&outputs)), json!({"ports": [80, 443]}));
    }

    #[test]
    fn secrets_go_into_secrets_only() {
        let found = data("f", &target(&[]), &outputs(), false).unwrap();
        assert!(!found.contains_key("token"));
        let refused = data("f", &target(&["token"]), &outputs(), false).unwrap_err();
        assert!(refused[0].to_string().contains("\"token\" is sensitive"), "{refused:?}");
    }

    #[test]
    fn keys_that_must_not_be_shown_are_known() {
        assert_eq!(sensitive_keys(&target(&[]), &outputs()), ["token"]);
        assert_eq!(sensitive_keys(&target(&["token:secret", "url"]), &outputs()), ["secret"]);
        assert!(sensitive_keys(&target(&["url"]), &outputs()).is_empty());
    }

    #[test]
    fn outputs_are_chosen_and_renamed() {
        let found = data("f", &target(&["url:address"]), &outputs(), true).unwrap();
        assert_eq!(json!(found), json!({"address": "http://x"}));
        let problems =
            data("spec.outputs.secret", &target(&["nope", "url:a:b", "url:a b"]), &outputs(), true).unwrap_err();
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "spec.outputs.secret: there is no output \"nope\"",
                "spec.outputs.secret: \"url:a:b\" is neither \"output\" nor \"output:key\"",
                "spec.outputs.secret: \"a b\" cannot be a key: only letters, digits, \"-\", \"_\" and \".\" can",
            ]
        );
    }
}
