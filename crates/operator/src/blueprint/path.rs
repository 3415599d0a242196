//! Paths to fields of objects: `.spec.length`, `.metadata.labels["app"]`, `.spec.rules[0].port`.

use serde_json::Value as Json;

/// What of the metadata says something about what people want. The rest changes with every write.
const READABLE: [&str; 5] = ["name", "namespace", "uid", "labels", "annotations"];

/// The way to a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FieldPath(Vec<Step>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    At(usize),
}

impl FieldPath {
    /// Reads a path. What is wrong with it is said in words.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let bad = || format!("{text:?} is not a path to a field, such as .spec.length or .metadata.labels[\"app\"]");
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (step, after) = step(rest).ok_or_else(bad)?;
            steps.push(step);
            rest = after;
        }
        let key = |at: usize| match steps.get(at) {
            Some(Step::Key(key)) => Some(key.as_str()),
            _ => None,
        };
        match (key(0), key(1)) {
            (Some("spec"), _) => Ok(Self(steps)),
            (Some("metadata"), Some(name)) if READABLE.contains(&name) => Ok(Self(steps)),
            (Some(_), _) => {
                Err(format!("{text:?} cannot be read: only .spec, and of .metadata {} can", READABLE.join(", ")))
            }
            (None, _) => Err(bad()),
        }
    }

    /// What is there. That there is nothing, and that there is `null`, is the same.
    pub(super) fn find<'o>(&self, object: &'o Json) -> Option<&'o Json> {
        let mut found = object;
        for step in &self.0 {
            found = match step {
                Step::Key(key) => found.as_object()?.get(key)?,
                Step::At(at) => found.as_array()?.get(*at)?,
            };
        }
        (!found.is_null()).then_some(found)
    }
}

/// The first step, and what follows it.
fn step(text: &str) -> Option<(Step, &str)> {
    if let Some(rest) = text.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (key, after) = rest.split_at(end);
        let fine = !key.is_empty() && key.chars().all(|at| at.is_alphanumeric() || "_-".contains(at));
        return fine.then(|| (Step::Key(key.to_owned()), after));
    }
    let rest = text.strip_prefix('[')?;
    for quote in ['"', '\''] {
        if let Some(rest) = rest.strip_prefix(quote) {
            let (key, after) = rest.split_once(quote)?;
            return Some((Step::Key(key.to_owned()), after.strip_prefix(']')?));
        }
    }
    let (number, after) = rest.split_once(']')?;
    Some((Step::At(number.parse().ok()?), after))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(path: &str) -> Json {
        let object = json!({
            "metadata": {"name": "a", "labels": {"x.y/z": "label"}},
            "spec": {"length": 3, "none": null, "rules": [{"port": 80}]},
        });
        FieldPath::parse(path).unwrap().find(&object).cloned().unwrap_or(json!("nothing"))
    }

    #[test]
    fn fields_are_found() {
        assert_eq!(found(".spec.length"), json!(3));
        assert_eq!(found(".spec.rules[0].port"), json!(80));
        assert_eq!(found(".metadata.labels[\"x.y/z\"]"), json!("label"));
        assert_eq!(found(".metadata.labels['x.y/z']"), json!("label"));
        for path in [".spec.none", ".spec.other", ".spec.length.deeper", ".spec.rules[1]", ".spec[0]"] {
            assert_eq!(found(path), json!("nothing"), "{path}");
        }
    }

    #[test]
    fn what_is_no_path_is_told() {
        for path in
            ["", "spec", ".", ".spec.", ".spec[", ".spec[\"a]", ".spec[-1]", "[0].spec", ".spec a", ".spec[\"a\"b"]
        {
            let problem = FieldPath::parse(path).unwrap_err();
            assert!(problem.contains("is not a path to a field"), "{path}: {problem}");
        }
        for path in [".status.phase", ".metadata.resourceVersion", ".metadata", ".metadata.managedFields"] {
            let problem = FieldPath::parse(path).unwrap_err();
            assert!(problem.contains("cannot be read: only .spec"), "{path}: {problem}");
        }
    }
}
