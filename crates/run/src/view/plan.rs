//! The result of `show -json` for a plan.
//!
//! What only we know is under the key `groma`; everything else is as the other tools tell it.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use groma_engine::change::{Action, Change, Note, Reason};
use groma_engine::execution::{Execution, Step};
use groma_engine::plan::{Mode, Plan};
use groma_engine::providers::TERRAFORM_VERSION;
use groma_engine::replacement::{Decision, Replacement};
use groma_lang::load::ModuleTree;
use groma_lang::oracle::SchemaSource;
use groma_lang::walk::InputValue;
use groma_model::address::{AbsResource, Provider, ResourceMode};
use groma_model::diag::Diagnostics;
use groma_model::schema::IdentitySchema;
use groma_model::span::SourceMap;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_state::{OutputState, ResourceState};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::json;

use super::change::{OutputChangeView, ResourceChange, identity, is_shown, mode_name};
use super::checks;
use super::config::{ConfigView, config_document};
use super::modules::Modules;
use super::state::Document;
use super::text::{ViewError, write_line};
use super::value::{Known, PathSteps, Plain, Shape, index, marked, type_value, without_marks_of};

/// What identifies objects, by provider and type.
pub type IdentityLookup<'a> = dyn Fn(&Provider, &str) -> Option<Arc<IdentitySchema>> + 'a;

/// A plan to be shown, with what it was made from.
pub struct PlanView<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The values that were given for the variables of the root.
    pub variables: &'a BTreeMap<Str, InputValue>,
    /// The configuration.
    pub tree: &'a ModuleTree,
    /// The texts that it was read from.
    pub sources: &'a SourceMap,
    /// The schemas of everything in it and in the state.
    pub schemas: &'a dyn SchemaSource,
    /// What identifies objects.
    pub identities: &'a IdentityLookup<'a>,
    /// When it was made: `2026-11-16T00:52:15Z`.
    pub timestamp: &'a str,
}

impl PlanView<'_> {
    /// Writes the document, and ends its line.
    pub fn write<W: Write>(&self, to: W) -> Result<(), ViewError> {
        write_line(self, to)
    }

    /// The changes of data that came from outside. That something was moved is told once, among the changes.
    pub(super) fn drift(&self) -> impl Iterator<Item = &Change> {
        drift(self.plan)
    }
}

/// What changed outside, as it is told.
pub(super) fn drift(plan: &Plan) -> impl Iterator<Item = &Change> {
    plan.drift.iter().filter(|change| change.action != Action::NoOp || plan.mode == Mode::RefreshOnly)
}

/// The document for a plan.
pub fn plan_json(view: &PlanView<'_>) -> Result<serde_json::Value, Diagnostics> {
    serde_json::to_value(view).map_err(|error| ViewError::from(error).diagnostics("plan"))
}

impl Serialize for PlanView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let plan = self.plan;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("format_version", "1.2")?;
        map.serialize_entry("terraform_version", TERRAFORM_VERSION)?;
        let variables = self.variables();
        if !variables.is_empty() {
            map.serialize_entry("variables", &variables)?;
        }
        map.serialize_entry("planned_values", &PlannedValues(self))?;
        if self.drift().next().is_some() {
            map.serialize_entry("resource_drift", &Changes { changes: || self.drift(), replacement: None })?;
        }
        if plan.changes.iter().any(is_shown) {
            let changes = || plan.changes.iter().filter(|change| is_shown(change));
            map.serialize_entry("resource_changes", &Changes { changes, replacement: Some(&plan.replacement) })?;
        }
        if !plan.outputs.is_empty() {
            let outputs = plan.outputs.iter().map(|(name, change)| (name.as_str(), OutputChangeView(change)));
            map.serialize_entry("output_changes", &outputs.collect::<BTreeMap<_, _>>())?;
        }
        let (resources, outputs) = (self.prior_resources(), self.prior_outputs());
        if !(resources.is_empty() && outputs.is_empty()) {
            let (schemas, tool_version) = (self.schemas, TERRAFORM_VERSION);
            let prior = Document { resources, schemas, tool_version, outputs: &outputs, checks: None };
            map.serialize_entry("prior_state", &prior)?;
        }
        let configuration = ConfigView { tree: self.tree, sources: self.sources, schemas: self.schemas };
        let configuration = config_document(&configuration).map_err(serde::ser::Error::custom)?;
        map.serialize_entry("configuration", &configuration)?;
        if !plan.relevant.is_empty() {
            map.serialize_entry("relevant_attributes", &RelevantAttributes(plan))?;
        }
        if !plan.checks.is_empty() {
            map.serialize_entry("checks", &checks::of_plan(&plan.checks))?;
        }
        map.serialize_entry("timestamp", self.timestamp)?;
        map.serialize_entry("errored", &plan.errored)?;
        map.serialize_entry("groma", &own(plan))?;
        map.end()
    }
}

#[derive(serde::Serialize)]
struct VariableJson<'a> {
    value: Plain<'a>,
}

impl PlanView<'_> {
    /// What was given, and the defaults of what was not. Values that must not be stored are not.
    fn variables(&self) -> BTreeMap<&str, VariableJson<'_>> {
        let mut found = BTreeMap::new();
        for (name, variable) in &self.tree.root.module.variables {
            let given = self.variables.get(name).filter(|_| !variable.is_ephemeral()).map(|given| &given.value);
            if let Some(value) = given.or(variable.default.as_ref()) {
                found.insert(name.as_str(), VariableJson { value: Plain(value) });
            }
        }
        found
    }

    /// What there is. Data sources that everything is taken down without are still told of.
    fn prior_resources(&self) -> BTreeMap<&AbsResource, &ResourceState> {
        let mut resources: BTreeMap<_, _> = self.plan.prior_state.resources.iter().collect();
        if self.plan.mode == Mode::Destroy {
            let is_data = |address: &AbsResource| address.resource.mode == ResourceMode::Data;
            resources.extend(self.plan.previous_state.resources.iter().filter(|(address, _)| is_data(address)));
        }
        resources
    }

    /// The outputs that the state has while the plan is made: those whose values are known have them already.
    fn prior_outputs(&self) -> BTreeMap<Str, OutputState> {
        let mut outputs = self.plan.prior_state.outputs.clone();
        if self.plan.mode == Mode::Destroy {
            return outputs;
        }
        for (name, declared) in &self.tree.root.module.outputs {
            let Some(change) = self.plan.outputs.get(name).filter(|change| change.after.is_wholly_known()) else {
                continue;
            };
            if change.after.is_null() {
                outputs.remove(name);
                continue;
            }
            let output = OutputState {
                value: change.after.clone().unmark_deep().0,
                sensitive: declared.sensitive,
                deprecated: declared.deprecated.clone(),
            };
            outputs.insert(name.clone(), output);
        }
        outputs
    }
}

/// Changes, each made when it is written.
struct Changes<'p, F> {
    changes: F,
    /// What was decided about the order of replacements. None if that is not what they are about.
    replacement: Option<&'p Replacement>,
}

impl<F> Changes<'_, F> {
    fn decision(&self, change: &Change) -> Option<&Decision> {
        let decision = self.replacement?.decisions.get(&change.address)?;
        change.deposed.is_none().then_some(decision)
    }
}

impl<'p, I: Iterator<Item = &'p Change>, F: Fn() -> I> Serialize for Changes<'p, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(None)?;
        for change in (self.changes)() {
            seq.serialize_element(&ResourceChange { change, decision: self.decision(change) })?;
        }
        seq.end()
    }
}

struct PlannedValues<'v, 'a>(&'v PlanView<'a>);

impl Serialize for PlannedValues<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(view) = self;
        let mut map = serializer.serialize_map(None)?;
        let outputs: BTreeMap<&str, PlannedOutput<'_>> = view
            .plan
            .outputs
            .iter()
            .filter(|(_, change)| change.action != Action::Delete)
            .map(|(name, change)| (name.as_str(), PlannedOutput::new(&change.after, change.sensitive)))
            .collect();
        if !outputs.is_empty() {
            map.serialize_entry("outputs", &outputs)?;
        }
        let stays = |change: &&Change| change.deposed.is_none() && change.action != Action::Delete;
        let changes = view.plan.changes.iter().filter(stays);
        let mut modules =
            Modules::new(changes.map(|change| (change.address.module.clone(), PlannedObject { view, change })));
        modules.sort_by_key(|object| object.change.address.to_string());
        map.serialize_entry("root_module", &modules)?;
        map.end()
    }
}

#[derive(serde::Serialize)]
struct PlannedOutput<'p> {
    sensitive: bool,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    ty: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Plain<'p>>,
}

impl<'p> PlannedOutput<'p> {
    fn new(after: &'p Value, sensitive: bool) -> Self {
        let known = Some(after).filter(|after| after.is_wholly_known());
        // Nothing is nothing, whatever it could have been.
        let ty = |after: &Value| if after.is_null() { type_value(&Type::Dynamic) } else { type_value(&after.ty()) };
        Self { sensitive, ty: known.map(ty), value: known.map(Plain) }
    }
}

/// An object as it will be.
struct PlannedObject<'v, 'a> {
    view: &'v PlanView<'a>,
    change: &'v Change,
}

#[derive(serde::Serialize)]
struct PlannedObjectJson<'p> {
    address: String,
    mode: &'static str,
    #[serde(rename = "type")]
    ty: &'p str,
    name: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<serde_json::Value>,
    provider_name: String,
    schema_version: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Known<'p>>,
    sensitive_values: Shape<'p>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<Plain<'p>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity_schema_version: Option<i64>,
}

impl Serialize for PlannedObject<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let change = self.change;
        let resource = &change.address.instance.resource;
        let provider = &change.provider.config.provider;
        let identity = identity(change.after_identity.as_ref());
        let identity_schema = identity.as_ref().and_then(|_| (self.view.identities)(provider, &resource.ty));
        // Of what is made anew or read the other tools tell only what the configuration hides; `resource_changes` has it all.
        let made_anew = change.action.is_replace() && change.reason != Some(Reason::ReplaceBecauseTainted);
        let only_configured = made_anew || resource.mode == ResourceMode::Data;
        let by_configuration = if only_configured {
            without_marks_of(&change.schema.block, &change.after, &change.configured_sensitive)
        } else {
            change.after.clone()
        };
        let has_values =
            |after: &&Value| after.as_entries().is_some_and(|entries| entries.values().iter().any(Value::is_known));
        let json = PlannedObjectJson {
            address: change.address.to_string(),
            mode: mode_name(resource.mode),
            ty: &resource.ty,
            name: &resource.name,
            index: index(change.address.key()),
            provider_name: provider.to_string(),
            schema_version: change.schema.version,
            values: Some(&change.after).filter(has_values).map(Known),
            sensitive_values: marked(&by_configuration),
            identity_schema_version: identity.as_ref().map(|_| identity_schema.map_or(0, |schema| schema.version)),
            identity,
        };
        json.serialize(serializer)
    }
}

struct RelevantAttributes<'p>(&'p Plan);

impl Serialize for RelevantAttributes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct RelevantJson<'p> {
            resource: &'p str,
            attribute: PathSteps<'p>,
        }
        let mut relevant: Vec<_> = self.0.relevant.iter().collect();
        relevant.sort();
        serializer.collect_seq(
            relevant.iter().map(|of| RelevantJson { resource: &of.resource, attribute: PathSteps(&of.attribute) }),
        )
    }
}

/// What only our plans know: what else was decided about changes, and how the plan is carried out.
fn own(plan: &Plan) -> serde_json::Value {
    let mode = match plan.mode {
        Mode::Normal => "normal",
        Mode::Destroy => "destroy",
        Mode::RefreshOnly => "refresh-only",
    };
    let notes = plan.changes.iter().filter(|change| !change.notes.is_empty()).map(|change| {
        let mut entry = json!({ "address": change.address.to_string() });
        if let Some(key) = &change.deposed {
            entry["deposed"] = key.as_str().into();
        }
        entry["notes"] = change.notes.iter().map(note).collect();
        entry
    });
    let notes: Vec<serde_json::Value> = notes.collect();
    let mut own =
        json!({ "version": env!("CARGO_PKG_VERSION"), "mode": mode, "execution": execution(&plan.execution) });
    if !notes.is_empty() {
        own["notes"] = notes.into();
    }
    if let Ok(rules) = serde_json::from_str::<serde_json::Value>(&plan.replacement.rules) {
        own["replace_rules"] = rules;
    }
    own
}

fn note(note: &Note) -> serde_json::Value {
    match note {
        Note::Ignored(path) => json!({ "kind": "ignored", "attribute": PathSteps(path) }),
        Note::TriggeredBy(trigger) => json!({ "kind": "triggered_by", "by": trigger }),
        Note::TakenAlong(with, rule) => json!({ "kind": "taken_along", "with": with, "rule": rule }),
        Note::MadeFirstFor(resource) => json!({ "kind": "made_first_for", "resource": resource.to_string() }),
        Note::Ordered(who) => json!({ "kind": "ordered", "order": **who }),
        Note::Requested => json!({ "kind": "requested" }),
        Note::NotDestroyed => json!({ "kind": "not_destroyed" }),
    }
}

/// How many objects are made and removed, and how many of these steps come one after the other at least.
fn execution(execution: &Execution) -> serde_json::Value {
    let weight = |step: &Step| usize::from(matches!(step, Step::Make(_) | Step::Remove(_)));
    let count = |wanted: fn(&Step) -> bool| execution.steps.iter().filter(|step| wanted(step)).count();
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); execution.steps.len()];
    let mut unmet: Vec<usize> = vec![0; execution.steps.len()];
    for (step, needs) in execution.needs.iter().enumerate() {
        for need in needs {
            if let (Some(waiting), Some(open)) = (needed_by.get_mut(*need), unmet.get_mut(step)) {
                waiting.push(step);
                *open += 1;
            }
        }
    }
    let mut depths = vec![0; execution.steps.len()];
    let mut free: Vec<usize> = (0..unmet.len()).filter(|step| unmet[*step] == 0).collect();
    while let Some(step) = free.pop() {
        depths[step] += weight(&execution.steps[step]);
        for &next in &needed_by[step] {
            depths[next] = depths[next].max(depths[step]);
            unmet[next] -= 1;
            if unmet[next] == 0 {
                free.push(next);
            }
        }
    }
    json!({
        "makes": count(|step| matches!(step, Step::Make(_))),
        "removes": count(|step| matches!(step, Step::Remove(_))),
        "longest_chain": depths.into_iter().max().unwrap_or(0),
    })
}
