//! What goes into a configuration: which Secrets and ConfigMaps a Stack refers to, and the values that come of them. Nothing is
//! fetched here, and no value is in what is said about problems.

mod templated;

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};

use crate::api::shared::{HolderKind, KeyRef};
use crate::api::stack::{InputPhase, Inputs, StackSpec, ValueFrom, VarsFrom};
use crate::bundle::{Content, ResolvedInputs, part};

/// A Secret or a ConfigMap in the namespace of a Stack.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HolderRef {
    /// What it is.
    pub kind: HolderKind,
    /// Its name.
    pub name: String,
}

/// The data of those that are there.
pub type Holders = BTreeMap<HolderRef, BTreeMap<String, Vec<u8>>>;

/// What is missing or wrong, with the field that asks for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// An object is not there.
    #[error("{field}: {} {:?} is not there", kind.name(), name)]
    NoObject {
        /// Where it stands.
        field: String,
        /// What kind of object.
        kind: HolderKind,
        /// Its name.
        name: String,
    },
    /// A key is not there.
    #[error("{field}: {} {:?} has no key {key:?}", kind.name(), name)]
    NoKey {
        /// Where it stands.
        field: String,
        /// What kind of object.
        kind: HolderKind,
        /// Its name.
        name: String,
        /// The key.
        key: String,
    },
    /// A value must be text and is not.
    #[error("{field}: the value of {key:?} in {} {:?} is not text", kind.name(), name)]
    NotText {
        /// Where it stands.
        field: String,
        /// What kind of object.
        kind: HolderKind,
        /// Its name.
        name: String,
        /// The key.
        key: String,
    },
    /// Neither `key` nor `key:variable`.
    #[error("{field}: {text:?} is neither \"key\" nor \"key:name\"")]
    BadSelection {
        /// Where it stands.
        field: String,
        /// What stands there.
        text: String,
    },
    /// A path that leads elsewhere.
    #[error("{field}: {path:?} must be a path below the root module, without \"..\"")]
    BadPath {
        /// Where it stands.
        field: String,
        /// The path.
        path: String,
    },
    /// A text with something in it that cannot be filled in.
    #[error("{field}: {problem}")]
    BadTemplate {
        /// Where it stands.
        field: String,
        /// What is wrong with it; nothing of a Secret is in it.
        problem: String,
    },
    /// Two values for one thing.
    #[error("{field}: {name:?} is given twice")]
    Twice {
        /// Where it stands.
        field: String,
        /// Its name.
        name: String,
    },
}

/// Everything that a Stack refers to, so that it can be fetched and watched.
pub fn references(spec: &StackSpec) -> BTreeSet<HolderRef> {
    let from_vars = |from: &VarsFrom| HolderRef { kind: from.kind, name: from.name.clone() };
    let values = |from: &ValueFrom| key_of(from).map(|(kind, key)| HolderRef { kind, name: key.name.clone() });
    let inputs = &spec.inputs;
    let mut found: BTreeSet<HolderRef> = inputs.vars_from.iter().map(from_vars).collect();
    found.extend(inputs.env.iter().filter_map(|variable| values(variable.value_from.as_ref()?)));
    found.extend(inputs.files.iter().filter_map(|file| values(&file.value_from)));
    found.extend(inputs.env_from.iter().map(from_vars));
    let templated = inputs.templated.iter().flat_map(|value| value.secrets.values());
    found.extend(templated.map(|name| HolderRef { kind: HolderKind::Secret, name: name.clone() }));
    found.extend(spec.backend.iter().flat_map(|backend| &backend.config_from).map(from_vars));
    found.extend(crate::voices::webhooks::references(&spec.webhooks));
    let source = spec.source.config_map.as_ref();
    found.extend(source.map(|source| HolderRef { kind: HolderKind::ConfigMap, name: source.name.clone() }));
    let login = spec.source.git.as_ref().and_then(|git| git.secret_ref.clone());
    found.extend(login.map(|name| HolderRef { kind: HolderKind::Secret, name }));
    found
}

fn key_of(from: &ValueFrom) -> Option<(HolderKind, &KeyRef)> {
    let secret = from.secret_key_ref.as_ref().map(|key| (HolderKind::Secret, key));
    secret.or_else(|| from.config_map_key_ref.as_ref().map(|key| (HolderKind::ConfigMap, key)))
}

/// Looks values up and remembers which.
pub(crate) struct Resolving<'a> {
    holders: &'a Holders,
    salt: &'a [u8],
    /// What is wrong so far.
    pub(crate) problems: Vec<InputError>,
    /// Which keys values came from, and marks of those.
    pub(crate) marks: BTreeMap<String, String>,
    /// Values that came from Secrets.
    secrets: BTreeSet<String>,
}

impl<'a> Resolving<'a> {
    /// `salt` is what keeps others from telling values from their marks.
    pub(crate) fn new(holders: &'a Holders, salt: &'a [u8]) -> Self {
        Self { holders, salt, problems: Vec::new(), marks: BTreeMap::new(), secrets: BTreeSet::new() }
    }

    /// Values of an object, by the names that they are to have.
    pub(crate) fn selected(&mut self, field: &str, from: &VarsFrom) -> BTreeMap<String, String> {
        let holder = HolderRef { kind: from.kind, name: from.name.clone() };
        let Some(data) = self.holders.get(&holder) else {
            if !from.optional {
                let (field, name) = (field.to_owned(), from.name.clone());
                self.problems.push(InputError::NoObject { field, kind: from.kind, name });
            }
            return BTreeMap::new();
        };
        let mut chosen: Vec<(String, String)> = Vec::new();
        if from.keys.is_empty() {
            chosen.extend(data.keys().map(|key| (key.clone(), key.clone())));
        }
        for text in &from.keys {
            match selection(text) {
                Some((key, name)) => chosen.push((key.to_owned(), name.to_owned())),
                None => self.problems.push(InputError::BadSelection { field: field.to_owned(), text: text.clone() }),
            }
        }
        let values = chosen.into_iter().filter_map(|(key, name)| {
            let bytes = self.bytes(field, &holder, &key, false)?;
            Some((name, self.text(field, &holder, &key, bytes)?))
        });
        values.collect()
    }

    fn bytes(&mut self, field: &str, holder: &HolderRef, key: &str, optional: bool) -> Option<Vec<u8>> {
        let Some(data) = self.holders.get(holder) else {
            if !optional {
                let (field, name) = (field.to_owned(), holder.name.clone());
                self.problems.push(InputError::NoObject { field, kind: holder.kind, name });
            }
            return None;
        };
        let Some(bytes) = data.get(key) else {
            if !optional {
                let (field, name, key) = (field.to_owned(), holder.name.clone(), key.to_owned());
                self.problems.push(InputError::NoKey { field, kind: holder.kind, name, key });
            }
            return None;
        };
        if holder.kind == HolderKind::Secret {
            self.secrets.extend(std::str::from_utf8(bytes).ok().map(str::to_owned));
        }
        self.marks.insert(format!("{} {}/{key}", holder.kind.name(), holder.name), mark(self.salt, bytes));
        Some(bytes.clone())
    }

    fn text(&mut self, field: &str, holder: &HolderRef, key: &str, bytes: Vec<u8>) -> Option<String> {
        let text = String::from_utf8(bytes).ok();
        if text.is_none() {
            let (field, name, key) = (field.to_owned(), holder.name.clone(), key.to_owned());
            self.problems.push(InputError::NotText { field, kind: holder.kind, name, key });
        }
        text
    }

    fn value(&mut self, field: &str, from: &ValueFrom) -> Option<(HolderRef, String, Vec<u8>)> {
        let (kind, key) = key_of(from)?;
        let holder = HolderRef { kind, name: key.name.clone() };
        let bytes = self.bytes(field, &holder, &key.key, key.optional)?;
        Some((holder, key.key.clone(), bytes))
    }
}

/// The values that go into a configuration, or everything that is wrong with them.
pub fn resolve(inputs: &Inputs, holders: &Holders, salt: &[u8]) -> Result<ResolvedInputs, Vec<InputError>> {
    let mut resolving = Resolving::new(holders, salt);
    let mut resolved =
        ResolvedInputs { values: templated::resolve(&inputs.templated, &mut resolving), ..ResolvedInputs::default() };
    resolved.values.extend(inputs.values.iter().map(|(name, value)| (name.clone(), value.0.clone())));
    for (at, from) in inputs.vars_from.iter().enumerate() {
        for (name, text) in resolving.selected(&format!("spec.inputs.varsFrom[{at}]"), from) {
            resolved.values.remove(&name);
            resolved.texts.insert(name, text);
        }
    }
    for (at, from) in inputs.env_from.iter().enumerate() {
        resolved.environment.extend(resolving.selected(&format!("spec.inputs.envFrom[{at}]"), from));
    }
    for (at, variable) in inputs.env.iter().enumerate() {
        let field = format!("spec.inputs.env[{at}]");
        let value = match (&variable.value, &variable.value_from) {
            (Some(value), _) => Some(value.clone()),
            (None, Some(from)) => {
                let found = resolving.value(&field, from);
                found.and_then(|(holder, key, bytes)| resolving.text(&field, &holder, &key, bytes))
            }
            (None, None) => None,
        };
        let Some(value) = value else { continue };
        if variable.phases.is_empty() {
            resolved.environment.insert(variable.name.clone(), value);
            continue;
        }
        for phase in &variable.phases {
            resolved.only.entry(*phase).or_default().environment.insert(variable.name.clone(), value.clone());
        }
    }
    for (at, file) in inputs.files.iter().enumerate() {
        let field = format!("spec.inputs.files[{at}]");
        let Some(path) = below(&file.path) else {
            resolving.problems.push(InputError::BadPath { field, path: file.path.clone() });
            continue;
        };
        let Some((_, _, bytes)) = resolving.value(&field, &file.value_from) else { continue };
        let is_known = |files: &BTreeMap<String, Content>| files.contains_key(&path);
        let phases: &[InputPhase] =
            if file.phases.is_empty() { &[InputPhase::Plan, InputPhase::Apply] } else { &file.phases };
        let elsewhere = |phase: &InputPhase| resolved.only.get(phase).is_some_and(|only| is_known(&only.files));
        if is_known(&resolved.files) || phases.iter().any(elsewhere) {
            resolving.problems.push(InputError::Twice { field, name: path });
        } else if file.phases.is_empty() {
            resolved.files.insert(path, Content(bytes));
        } else {
            for phase in phases {
                resolved.only.entry(*phase).or_default().files.insert(path.clone(), Content(bytes.clone()));
            }
        }
    }
    resolved.marks = resolving.marks;
    resolved.secrets = resolving.secrets;
    if resolving.problems.is_empty() { Ok(resolved) } else { Err(resolving.problems) }
}

/// `key` or `key:name`
fn selection(text: &str) -> Option<(&str, &str)> {
    match text.split_once(':') {
        None => (!text.is_empty()).then_some((text, text)),
        Some((key, name)) => (!key.is_empty() && !name.is_empty() && !name.contains(':')).then_some((key, name)),
    }
}

/// A relative path that does not lead out of where it starts.
pub(crate) fn below(path: &str) -> Option<String> {
    let steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty() && *step != ".").collect();
    let fine = !steps.is_empty() && !path.starts_with('/') && !path.contains('\0') && !steps.contains(&"..");
    fine.then(|| steps.join("/"))
}

/// What tells that a value is another one, and nothing else to those who do not know the salt.
pub(crate) fn mark(salt: &[u8], bytes: &[u8]) -> String {
    let mut hash = Sha256::new();
    // Twice, as HMAC does it, so that nothing can be added to what is hashed.
    part(&mut hash, salt);
    part(&mut hash, bytes);
    let inner = hash.finalize();
    let mut hash = Sha256::new();
    part(&mut hash, salt);
    part(&mut hash, &inner);
    hex::encode(hash.finalize())
}

/// All inputs in one mark.
pub fn inputs_hash(inputs: &ResolvedInputs, salt: &[u8]) -> String {
    mark(salt, &serde_json::to_vec(inputs).unwrap_or_default())
}

/// Which keys have another value than before, or are new, or gone. Values that stand in the Stack itself have no names here.
pub fn changed_keys(before: &ResolvedInputs, after: &ResolvedInputs) -> Vec<String> {
    let keys: BTreeSet<&String> = before.marks.keys().chain(after.marks.keys()).collect();
    keys.into_iter().filter(|key| before.marks.get(*key) != after.marks.get(*key)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(yaml: serde_json::Value) -> Inputs {
        serde_json::from_value(yaml).unwrap()
    }

    /// What is in an object.
    type Held<'h> = (HolderKind, &'h str, &'h [(&'h str, &'h str)]);

    fn holders(found: &[Held<'_>]) -> Holders {
        let data = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec())).collect()
        };
        found
            .iter()
            .map(|(kind, name, pairs)| (HolderRef { kind: *kind, name: (*name).to_owned() }, data(pairs)))
            .collect()
    }

    #[test]
    fn later_values_win() {
        let inputs = inputs(serde_json::json!({
            "values": {"a": 1, "b": [1]},
            "varsFrom": [
                {"kind": "ConfigMap", "name": "one"},
                {"kind": "Secret", "name": "two", "keys": ["x:a"]},
                {"kind": "Secret", "name": "none", "optional": true},
            ],
        }));
        let found = holders(&[
            (HolderKind::ConfigMap, "one", &[("a", "one"), ("c", "3")]),
            (HolderKind::Secret, "two", &[("x", "two"), ("y", "no")]),
        ]);
        let resolved = resolve(&inputs, &found, b"salt").unwrap();
        assert_eq!(resolved.values, BTreeMap::from([("b".to_owned(), serde_json::json!([1]))]));
        let texts: Vec<(&str, &str)> =
            resolved.texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        assert_eq!(texts, [("a", "two"), ("c", "3")]);
        assert!(!resolved.marks.contains_key("Secret two/y"));
    }

    #[test]
    fn what_goes_into_one_part_of_a_run_is_there_in_that_part_only() {
        let key = |key: &str| serde_json::json!({"secretKeyRef": {"name": "keys", "key": key}});
        let inputs = inputs(serde_json::json!({
            "env": [
                {"name": "KEY", "valueFrom": key("read"), "phases": ["plan"]},
                {"name": "KEY", "valueFrom": key("write"), "phases": ["apply"]},
                {"name": "REGION", "value": "eu"},
            ],
            "files": [
                {"path": "key", "valueFrom": key("read"), "phases": ["plan"]},
                {"path": "key", "valueFrom": key("write"), "phases": ["apply"]},
                {"path": "both", "valueFrom": key("read"), "phases": ["plan", "apply"]},
            ],
        }));
        let found = holders(&[(HolderKind::Secret, "keys", &[("read", "r"), ("write", "w")])]);
        let bundle = crate::bundle::Bundle { inputs: resolve(&inputs, &found, b"salt").unwrap(), ..Default::default() };
        for (phase, expected) in [(InputPhase::Plan, "r"), (InputPhase::Apply, "w")] {
            let ResolvedInputs { environment, files, only, secrets, .. } = bundle.during(phase).inputs;
            let variables: Vec<(&str, &str)> = environment.iter().map(|(name, value)| (&**name, &**value)).collect();
            assert_eq!(variables, [("KEY", expected), ("REGION", "eu")]);
            assert_eq!((&files["key"], &files["both"]), (&Content(expected.into()), &Content(b"r".to_vec())));
            // Nothing of the other part is there, but nobody is told of it either.
            assert!(only.is_empty() && secrets.len() == 2);
        }
        let twice = serde_json::json!({"files": [
            {"path": "key", "valueFrom": key("read"), "phases": ["plan"]}, {"path": "./key", "valueFrom": key("write")},
        ]});
        let problems = resolve(&self::inputs(twice), &found, b"salt").unwrap_err();
        assert_eq!(problems[0].to_string(), "spec.inputs.files[1]: \"key\" is given twice");
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once_and_no_value() {
        let inputs = inputs(serde_json::json!({
            "varsFrom": [{"kind": "Secret", "name": "gone"}, {"kind": "Secret", "name": "db", "keys": ["nope", "a:b:c"]}],
            "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "db", "key": "missing"}}}],
            "files": [{"path": "../x", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}}],
        }));
        let found = holders(&[(HolderKind::Secret, "db", &[("password", "hunter2")])]);
        let problems = resolve(&inputs, &found, b"salt").unwrap_err();
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "spec.inputs.varsFrom[0]: Secret \"gone\" is not there",
                "spec.inputs.varsFrom[1]: \"a:b:c\" is neither \"key\" nor \"key:name\"",
                "spec.inputs.varsFrom[1]: Secret \"db\" has no key \"nope\"",
                "spec.inputs.env[0]: Secret \"db\" has no key \"missing\"",
                "spec.inputs.files[0]: \"../x\" must be a path below the root module, without \"..\"",
            ]
        );
    }

    #[test]
    fn changes_are_told_by_key_and_seen_only_with_the_salt() {
        let inputs = inputs(serde_json::json!({"varsFrom": [{"kind": "Secret", "name": "db"}]}));
        let one = holders(&[(HolderKind::Secret, "db", &[("password", "old"), ("user", "app")])]);
        let other = holders(&[(HolderKind::Secret, "db", &[("password", "new"), ("user", "app")])]);
        let (before, after) = (resolve(&inputs, &one, b"s").unwrap(), resolve(&inputs, &other, b"s").unwrap());
        assert_eq!(changed_keys(&before, &after), ["Secret db/password"]);
        assert_ne!(inputs_hash(&before, b"s"), inputs_hash(&after, b"s"));
        assert_ne!(inputs_hash(&before, b"s"), inputs_hash(&before, b"t"));
    }

    #[test]
    fn everything_that_is_referred_to_is_known() {
        let spec: StackSpec = serde_json::from_value(serde_json::json!({
            "source": {"configMap": {"name": "code"}},
            "inputs": {
                "varsFrom": [{"kind": "Secret", "name": "a"}],
                "env": [{"name": "B", "valueFrom": {"configMapKeyRef": {"name": "b", "key": "k"}}}, {"name": "C", "value": "c"}],
                "files": [{"path": "d", "valueFrom": {"secretKeyRef": {"name": "d", "key": "k"}}}],
            },
            "backend": {"kind": "s3", "configFrom": [{"kind": "Secret", "name": "e"}]},
        }))
        .unwrap();
        let names: Vec<String> =
            references(&spec).into_iter().map(|found| format!("{:?} {}", found.kind, found.name)).collect();
        assert_eq!(names, ["Secret a", "Secret d", "Secret e", "ConfigMap b", "ConfigMap code"]);
    }

    #[test]
    fn paths_stay_below() {
        assert_eq!(below("a/./b//c").as_deref(), Some("a/b/c"));
        for path in ["", ".", "/etc/passwd", "a/../b", "..", "a\0b"] {
            assert_eq!(below(path), None, "{path}");
        }
    }
}
