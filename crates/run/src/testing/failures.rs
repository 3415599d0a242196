//! What must fail in a run: which of what was found was expected, and what was expected and did not come.

use std::collections::BTreeMap;

use groma_engine::checks::CheckedInstance;
use groma_engine::plan::Plan;
use groma_lang::config::{CheckRule, Module, ResourceKey, Step, Traversal};
use groma_lang::load::{ModuleNode, ModuleTree};
use groma_lang::refs::{Reference, Subject};
use groma_model::address::{AbsInstance, InstanceKey};
use groma_model::diag::{Diagnostic, Diagnostics, Severity};
use groma_model::span::Span;
use groma_model::text::Str;
use groma_state::State;

/// Something of the root module that can fail.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Checkable {
    Variable(Str),
    Output(Str),
    Check(Str),
    Resource(ResourceKey, InstanceKey),
}

impl std::fmt::Display for Checkable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "var.{name}"),
            Self::Output(name) => write!(f, "output.{name}"),
            Self::Check(name) => write!(f, "check.{name}"),
            Self::Resource(key, InstanceKey::None) => key.fmt(f),
            Self::Resource(key, instance) => write!(f, "{key}{instance}"),
        }
    }
}

/// What must fail, and whether it did.
#[derive(Debug, Default)]
pub(super) struct Expected(BTreeMap<Checkable, (bool, Span)>);

impl Expected {
    /// Reads `expect_failures`.
    pub(super) fn new(references: &[Traversal]) -> Result<Self, Diagnostics> {
        let mut diagnostics = Diagnostics::new();
        let mut expected = Self::default();
        for traversal in references {
            match checkable(traversal) {
                Ok((checkable, span)) => {
                    expected.0.insert(checkable, (false, span));
                }
                Err(problem) => diagnostics.push(problem),
            }
        }
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok(expected) }
    }

    /// Notes that something failed. Whether that was expected.
    fn came(&mut self, checkable: &Checkable) -> bool {
        let whole = match checkable {
            Checkable::Resource(key, _) => Checkable::Resource(key.clone(), InstanceKey::None),
            other => other.clone(),
        };
        for key in [checkable, &whole] {
            if let Some((came, _)) = self.0.get_mut(key) {
                *came = true;
                return true;
            }
        }
        false
    }

    /// Takes out what was expected, makes errors of failed checks, and adds what was expected and did not come.
    /// `failures` are what the conditions of resource instances said.
    pub(super) fn settle(&mut self, found: Diagnostics, origins: &Origins, mut failures: Failures) -> Diagnostics {
        let mut left = Diagnostics::new();
        for mut diagnostic in found {
            match origins.of(&diagnostic).map(|origin| failures.instance_of(origin, &diagnostic.detail)) {
                Some(Origin::Check(name)) => {
                    if name.is_some_and(|name| self.came(&Checkable::Check(name))) {
                        continue;
                    }
                    diagnostic.severity = Severity::Error;
                }
                Some(Origin::Condition(checkable)) if diagnostic.is_error() && self.came(&checkable) => continue,
                Some(Origin::Condition(_)) | None => {}
            }
            left.push(diagnostic);
        }
        for (checkable, (_, span)) in self.0.iter().filter(|(_, (came, _))| !came) {
            let detail = format!("{checkable} was expected to fail, and it did not.");
            left.push(Diagnostic::error("Missing expected failure", detail).at(*span));
        }
        left
    }

    /// A variable that must fail keeps a run from being applied, which is a failure of the test itself. That is worth a word.
    pub(super) fn explain(&self, found: &Diagnostics, origins: &Origins) -> Diagnostics {
        let variables = found.iter().filter(|found| found.is_error()).filter_map(|found| match origins.of(found) {
            Some(Origin::Condition(Checkable::Variable(name))) => Some(name),
            _ => None,
        });
        let expected = variables.filter(|name| self.0.contains_key(&Checkable::Variable(name.clone())));
        let warning = |name: Str| {
            let detail = format!(
                "The value of var.{name} is invalid, as expected. But nothing can be applied with it, so the run fails all the same. \
                 Use \"command = plan\"."
            );
            Diagnostic::warning("Invalid Variable in test file", detail)
        };
        expected.map(warning).collect()
    }
}

fn checkable(traversal: &Traversal) -> Result<(Checkable, Span), Diagnostic> {
    let refuse = |what: String| {
        let detail = format!(
            "Failures can be expected of variables, outputs, check blocks, resources and data sources, not of {what}."
        );
        Diagnostic::error("Invalid `expect_failures` reference", detail).at(traversal.span)
    };
    let named = |make: fn(Str) -> Checkable| {
        if let [Step::Attr { name, span }, ..] = traversal.steps.as_slice() {
            return Ok((make(name.clone()), traversal.root.span.to(*span)));
        }
        let root = &traversal.root.name;
        let detail = format!("The {:?} object must be followed by a dot and a name.", root.as_str());
        Err(Diagnostic::error("Invalid reference", detail).at(traversal.span))
    };
    match traversal.root.name.as_str() {
        "output" => return named(Checkable::Output),
        "check" => return named(Checkable::Check),
        _ => {}
    }
    let reference = Reference::parse(traversal)?;
    match reference.subject {
        Subject::Variable(name) => Ok((Checkable::Variable(name), reference.span)),
        Subject::Resource { resource, key } => Ok((Checkable::Resource(resource, key), reference.span)),
        other => Err(refuse(other.to_string())),
    }
}

/// What the conditions of resource instances of the root module said, in the order of the addresses.
#[derive(Debug, Default)]
pub(super) struct Failures(Vec<(ResourceKey, InstanceKey, Vec<String>)>);

impl Failures {
    pub(super) fn of_plan(plan: &Plan) -> Self {
        let instances = plan.checks.iter().flat_map(|report| &report.instances);
        let failed = instances.filter_map(|found| match &found.address {
            CheckedInstance::Resource(address) => Self::entry(address, &found.problems),
            _ => None,
        });
        Self(failed.collect())
    }

    pub(super) fn of_state(state: &State) -> Self {
        let objects = state.checks.iter().flatten().flat_map(|result| &result.objects);
        let failed =
            objects.filter_map(|found| Self::entry(&found.address.parse::<AbsInstance>().ok()?, &found.failures));
        Self(failed.collect())
    }

    fn entry(address: &AbsInstance, problems: &[String]) -> Option<(ResourceKey, InstanceKey, Vec<String>)> {
        let told = address.module.is_root() && !problems.is_empty();
        told.then(|| (address.instance.resource.clone(), address.key().clone(), problems.to_vec()))
    }

    /// Diagnostics say which resource they are about, and not which of its instances: that is found by what was said. Each is told
    /// once for each instance.
    fn instance_of(&mut self, origin: Origin, detail: &str) -> Origin {
        let Origin::Condition(Checkable::Resource(key, InstanceKey::None)) = &origin else { return origin };
        for (own, instance, problems) in self.0.iter_mut().filter(|(own, ..)| own == key) {
            if let Some(at) = problems.iter().position(|problem| problem == detail) {
                problems.remove(at);
                return Origin::Condition(Checkable::Resource(own.clone(), instance.clone()));
            }
        }
        origin
    }
}

/// Where a diagnostic comes from, if from a condition.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A `check` block; its name if it is in the root module.
    Check(Option<Str>),
    /// Another condition of the root module.
    Condition(Checkable),
}

/// What the conditions of a configuration are about, by their places.
#[derive(Debug, Default)]
pub(super) struct Origins {
    places: BTreeMap<Span, Place>,
    /// Data sources in check blocks of the root module.
    data: BTreeMap<ResourceKey, Str>,
}

#[derive(Debug, Clone)]
enum Place {
    Variable(Str),
    Output(Str),
    Resource(ResourceKey),
    Check(Option<Str>),
}

impl Origins {
    pub(super) fn new(tree: &ModuleTree) -> Self {
        let mut origins = Self::default();
        for child in tree.root.children.values() {
            origins.add_checks(child);
        }
        origins.add_root(&tree.root.module);
        origins
    }

    /// Failures of checks count wherever they are.
    fn add_checks(&mut self, node: &ModuleNode) {
        for check in node.module.checks.values() {
            self.add(&check.asserts, &Place::Check(None));
        }
        for child in node.children.values() {
            self.add_checks(child);
        }
    }

    fn add_root(&mut self, module: &Module) {
        for (name, variable) in &module.variables {
            // A refused value is told at its declaration.
            if !variable.validations.is_empty() {
                self.places.insert(variable.declared.header, Place::Variable(name.clone()));
            }
        }
        for (name, output) in &module.outputs {
            self.add(&output.preconditions, &Place::Output(name.clone()));
        }
        for (key, resource) in &module.resources {
            self.add(&resource.preconditions, &Place::Resource(key.clone()));
            self.add(&resource.postconditions, &Place::Resource(key.clone()));
        }
        for (name, check) in &module.checks {
            self.add(&check.asserts, &Place::Check(Some(name.clone())));
            self.data.extend(check.data.clone().map(|key| (key, name.clone())));
        }
    }

    fn add(&mut self, rules: &[CheckRule], place: &Place) {
        let spans = rules.iter().filter_map(|rule| rule.condition.as_ref()).map(|condition| condition.span);
        self.places.extend(spans.map(|span| (span, place.clone())));
    }

    /// Where a diagnostic comes from.
    pub(super) fn of(&self, diagnostic: &Diagnostic) -> Option<Origin> {
        let address = diagnostic.address.as_ref().and_then(|address| address.parse::<AbsInstance>().ok());
        let in_check = address.as_ref().filter(|address| address.module.is_root());
        if let Some(name) = in_check.and_then(|address| self.data.get(&address.instance.resource)) {
            return Some(Origin::Check(Some(name.clone())));
        }
        let ends = |ending: &str| diagnostic.summary.ends_with(ending);
        match self.places.get(&diagnostic.subject?)? {
            Place::Variable(name) if diagnostic.summary == "Invalid value for variable" => {
                Some(Origin::Condition(Checkable::Variable(name.clone())))
            }
            Place::Output(name) if ends("condition failed") => Some(Origin::Condition(Checkable::Output(name.clone()))),
            Place::Resource(key) if ends("condition failed") => {
                let instance = address.map_or(InstanceKey::None, |address| address.key().clone());
                Some(Origin::Condition(Checkable::Resource(key.clone(), instance)))
            }
            Place::Check(name) if ends("failed") || ends("known after apply") => Some(Origin::Check(name.clone())),
            _ => None,
        }
    }

    /// Whether it comes from a check block.
    pub(super) fn is_check(&self, diagnostic: &Diagnostic) -> bool {
        matches!(self.of(diagnostic), Some(Origin::Check(_)))
    }
}
