//! Which Stack an object asks for: a function of the object and its Blueprint. Fields of the object go into the Stack as values, with
//! their types, or through a template that makes nothing but values of them.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{DynamicObject, ObjectMeta};
use serde_json::{Map, Value as Json, json};
use sha2::{Digest as _, Sha256};

use super::path::FieldPath;
use super::{Problem, kind_of};
use crate::api::blueprint::{Blueprint, BlueprintSpec, Template};
use crate::api::names;
use crate::api::shared::{AnyValue, Values};
use crate::api::source::Source;
use crate::api::stack::{Approval, Inputs, OutputTarget, Outputs, PodTemplate, Stack, StackSpec};
use crate::bundle::part;
use crate::objects::Kind;
use crate::template;

/// Names of Stacks that we make are not longer: they stand in labels, with the number of a run behind them.
const MOST_NAME: usize = 52;
/// No value of a label is longer than that.
const MOST_LABEL: usize = 63;
/// And no name of an object.
const MOST_OBJECT_NAME: usize = 253;
/// What is said about every object. Nothing else can stand there.
const OWN_FIELDS: [&str; 5] = ["phase", "message", "lastAppliedHash", "observedGeneration", "conditions"];

/// What an object asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// As a Stack.
    pub stack: Stack,
    /// All that goes into it, in one mark.
    pub hash: String,
}

/// The Stack that an object asks for; or everything that is wrong with the object and with its Blueprint.
pub fn wanted(blueprint: &Blueprint, object: &DynamicObject) -> Result<Wanted, Vec<Problem>> {
    let mut problems = problems(blueprint);
    let kind = match kind_of(&blueprint.spec.subject) {
        Ok(kind) if problems.is_empty() => kind,
        _ => return Err(problems),
    };
    let building = Building { blueprint, spec: &blueprint.spec, object, whole: whole(object) };
    let source = building.source(&mut problems);
    let labels = building.labels(&mut problems);
    let secret = building.secret(&labels, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let spec = building.stack_spec(source, &labels, secret);
    let hash = hash(object, &spec);
    let mut stack = Stack::new("", spec);
    stack.metadata = building.metadata(&kind, labels);
    Ok(Wanted { stack, hash })
}

/// What is wrong with a Blueprint, whatever object it is about.
pub fn problems(blueprint: &Blueprint) -> Vec<Problem> {
    let spec = &blueprint.spec;
    let mut found: Vec<(String, String)> = Vec::new();
    let mut say = |field: &str, what: String| found.push((field.to_owned(), what));
    if let Err(problem) = kind_of(&spec.subject) {
        say("spec.for.apiVersion", problem);
    }
    match (&spec.source, &spec.template) {
        (None, None) => say("spec", "give either source or template".to_owned()),
        (Some(_), Some(_)) => say("spec", "give source or template, and not both".to_owned()),
        _ => {}
    }
    let fields =
        spec.template.iter().flat_map(|template| &template.fields).map(|field| ("spec.template.fields", field));
    for (field, (name, path)) in spec.variables.iter().map(|field| ("spec.variables", field)).chain(fields) {
        if let Err(problem) = FieldPath::parse(path) {
            say(&format!("{field}.{name}"), problem);
        }
    }
    let taken = |name: &str| OWN_FIELDS.contains(&name).then(|| format!("{name:?} is said about every object already"));
    for name in spec.status.fields.keys() {
        if let Some(problem) = taken(name) {
            say("spec.status.fields", problem);
        }
    }
    if let Some(name) = &spec.status.outputs {
        let twice = spec.status.fields.contains_key(name).then(|| format!("{name:?} is one of the fields, too"));
        if let Some(problem) = taken(name).or(twice) {
            say("spec.status.outputs", problem);
        }
    }
    if !is_qualified(&spec.finalizer) {
        say("spec.finalizer", format!("{:?} is no finalizer: write it as example.com/name", spec.finalizer));
    }
    if let Some(label) = spec.label.as_ref().filter(|label| !is_qualified(label)) {
        say("spec.label", format!("{label:?} is no name of a label: write it as example.com/name"));
    }
    if spec.label.as_ref().is_some_and(|label| label.starts_with(&format!("{}/", crate::api::GROUP))) {
        say("spec.label", format!("labels of {} are ours", crate::api::GROUP));
    }
    if spec.secret_name.as_ref().is_some_and(|pattern| !pattern.contains("{name}")) {
        say("spec.secretName", "it must have {name} in it, or all objects would have the same Secret".to_owned());
    }
    let name = blueprint.metadata.name.clone();
    found.into_iter().map(|(field, what)| Problem { blueprint: name.clone(), field, what }).collect()
}

/// What the Stack of an object is called. Long names are cut, and have something in its place that tells them apart.
pub fn stack_name(kind: &Kind, name: &str) -> String {
    let whole = format!("{}-{name}", kind.kind.to_lowercase());
    if whole.len() <= MOST_NAME {
        return whole;
    }
    let mark = hex::encode(Sha256::digest(whole.as_bytes()));
    let begin: String = whole.chars().take(MOST_NAME - 9).collect();
    format!("{}-{}", begin.trim_end_matches(['-', '.']), &mark[..8])
}

/// What the Secret with the outputs of an object is called.
pub fn secret_name(spec: &BlueprintSpec, name: &str) -> Option<String> {
    spec.secret_name.as_ref().map(|pattern| pattern.replace("{name}", name))
}

/// That something belongs to an object.
pub fn owned_by_object(kind: &Kind, object: &DynamicObject) -> OwnerReference {
    OwnerReference {
        api_version: kind.api_version(),
        kind: kind.kind.clone(),
        name: object.metadata.name.clone().unwrap_or_default(),
        uid: object.metadata.uid.clone().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

struct Building<'a> {
    blueprint: &'a Blueprint,
    spec: &'a BlueprintSpec,
    object: &'a DynamicObject,
    /// The object as JSON, for paths.
    whole: Json,
}

impl Building<'_> {
    fn name(&self) -> &str {
        self.object.metadata.name.as_deref().unwrap_or_default()
    }

    fn of_object(field: &str, what: String) -> Problem {
        Problem { blueprint: None, field: field.to_owned(), what }
    }

    fn source(&self, problems: &mut Vec<Problem>) -> Source {
        let Some(template) = &self.spec.template else { return self.spec.source.clone().unwrap_or_default() };
        let text = template::render(&template.text, &self.template_data(template)).unwrap_or_else(|problem| {
            let blueprint = self.blueprint.metadata.name.clone();
            problems.push(Problem { blueprint, field: "spec.template.text".to_owned(), what: problem.to_string() });
            String::new()
        });
        Source { inline: Some(BTreeMap::from([("main.tf".to_owned(), text)])), ..Source::default() }
    }

    /// What `.` is in a template. What an object does not say is there, too, as Go's zero values would be.
    fn template_data(&self, template: &Template) -> Json {
        let mut data = Map::from_iter([
            ("Name".to_owned(), json!(self.name())),
            ("Namespace".to_owned(), json!(self.object.metadata.namespace.as_deref().unwrap_or_default())),
        ]);
        data.extend(template.fields.iter().map(|(name, path)| (name.clone(), self.field(path).unwrap_or(Json::Null))));
        Json::Object(data)
    }

    fn field(&self, path: &str) -> Option<Json> {
        FieldPath::parse(path).ok()?.find(&self.whole).cloned()
    }

    /// Values of variables. What an object does not say is left to the configuration.
    fn values(&self) -> Values {
        let mut values = self.spec.values.clone();
        let fields = self.spec.variables.iter();
        values.extend(fields.filter_map(|(name, path)| Some((name.clone(), AnyValue(self.field(path)?)))));
        values
    }

    /// The label with the name of the object.
    fn labels(&self, problems: &mut Vec<Problem>) -> BTreeMap<String, String> {
        let Some(label) = &self.spec.label else { return BTreeMap::new() };
        let length = self.name().len();
        if length > MOST_LABEL {
            let what = format!("it has {length} characters, and the label {label} takes {MOST_LABEL} at most");
            problems.push(Self::of_object("metadata.name", what));
        }
        BTreeMap::from([(label.clone(), self.name().to_owned())])
    }

    fn secret(&self, labels: &BTreeMap<String, String>, problems: &mut Vec<Problem>) -> Option<OutputTarget> {
        let name = secret_name(self.spec, self.name())?;
        if !is_object_name(&name) {
            let what = format!("the Secret with its outputs would be called {name:?}, which is no name of an object");
            problems.push(Self::of_object("metadata.name", what));
        }
        Some(OutputTarget { name, labels: labels.clone(), ..OutputTarget::default() })
    }

    fn stack_spec(&self, source: Source, labels: &BTreeMap<String, String>, secret: Option<OutputTarget>) -> StackSpec {
        let shows = self.spec.status.outputs.is_some() || !self.spec.status.fields.is_empty();
        StackSpec {
            source,
            inputs: Inputs { values: self.values(), ..Inputs::default() },
            engine: self.spec.engine,
            executor: self.spec.executor,
            pod_template: self.pod_template(labels),
            service_account_name: self.spec.service_account_name.clone(),
            approval: Approval { mode: self.spec.approval, rules: self.spec.approval_rules.clone() },
            interval: self.spec.interval,
            drift: self.spec.drift,
            retry: self.spec.retry.clone(),
            allow_exec: self.spec.allow_exec,
            timeouts: self.spec.timeouts.clone(),
            deletion_policy: self.spec.deletion_policy,
            outputs: Outputs { secret, config_map: None, status: shows },
            ..StackSpec::default()
        }
    }

    /// Pods have the label of the object, whatever else they have.
    fn pod_template(&self, labels: &BTreeMap<String, String>) -> Option<PodTemplate> {
        let mut template = self.spec.pod_template.clone().unwrap_or_default();
        template.labels.extend(labels.clone());
        (template != PodTemplate::default()).then_some(template)
    }

    fn metadata(&self, kind: &Kind, labels: BTreeMap<String, String>) -> ObjectMeta {
        let note = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let blueprint = self.blueprint.metadata.name.as_deref().unwrap_or_default();
        ObjectMeta {
            name: Some(stack_name(kind, self.name())),
            namespace: self.object.metadata.namespace.clone(),
            labels: (!labels.is_empty()).then_some(labels),
            annotations: Some(BTreeMap::from([
                note(names::BLUEPRINT, blueprint),
                note(names::OBJECT_PLURAL, &kind.plural),
                note(names::OBJECT_FINALIZER, &self.spec.finalizer),
            ])),
            owner_references: Some(vec![owned_by_object(kind, self.object)]),
            ..ObjectMeta::default()
        }
    }
}

fn whole(object: &DynamicObject) -> Json {
    json!({ "metadata": object.metadata, "spec": object.data.get("spec") })
}

/// What an object says, and what its Blueprint makes of it.
fn hash(object: &DynamicObject, spec: &StackSpec) -> String {
    let mut hash = Sha256::new();
    // Maps are in the order of their keys, so that equal specs are equal texts.
    let said = object.data.get("spec").map(in_order).unwrap_or_default();
    part(&mut hash, said.to_string().as_bytes());
    part(&mut hash, in_order(&json!({ "source": spec.source, "inputs": spec.inputs })).to_string().as_bytes());
    hex::encode(hash.finalize())
}

fn in_order(value: &Json) -> Json {
    match value {
        Json::Object(entries) => {
            let sorted: BTreeMap<&String, &Json> = entries.iter().collect();
            Json::Object(sorted.into_iter().map(|(key, value)| (key.clone(), in_order(value))).collect())
        }
        Json::Array(items) => Json::Array(items.iter().map(in_order).collect()),
        other => other.clone(),
    }
}

/// `example.com/name`, as finalizers and labels are called.
fn is_qualified(text: &str) -> bool {
    let Some((prefix, name)) = text.split_once('/') else { return false };
    let ends = |part: &str| {
        let fine = |at: Option<char>| at.is_some_and(|at| at.is_ascii_alphanumeric());
        fine(part.chars().next()) && fine(part.chars().last())
    };
    let is_name = name.len() <= MOST_LABEL
        && ends(name)
        && name.chars().all(|at| at.is_ascii_alphanumeric() || "-_.".contains(at));
    is_name && is_object_name(prefix)
}

/// Small letters, digits, `-` and `.`.
fn is_object_name(text: &str) -> bool {
    let is_part = |part: &str| {
        let inside = part.chars().all(|at| at.is_ascii_lowercase() || at.is_ascii_digit() || at == '-');
        inside && !part.is_empty() && !part.starts_with('-') && !part.ends_with('-')
    };
    text.len() <= MOST_OBJECT_NAME && text.split('.').all(is_part)
}
