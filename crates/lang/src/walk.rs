//! The walk over everything that a module tree declares, in the order in which things need each other.
//!
//! Validation and evaluation are the same walk: the first takes every input for unknown, the second has values. A node whose
//! needs failed is skipped without a word, so that one mistake is reported once.

mod checks;
mod conditions;
pub(crate) mod expansion;
mod import_targets;
pub(crate) mod imports;
mod outputs;
mod providers;
mod requirements;
mod resources;
mod scope;
mod static_references;
mod steps;
mod variables;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use groma_model::address::ModuleInstance;
use groma_model::diag::{Diagnostic, Diagnostics, Severity};
use groma_model::span::{SourceMap, Span};
use groma_model::text::Str;
use groma_model::value::Value;

use crate::environment::Environment;
use crate::eval::evaluate;
use crate::graph::{Graph, ModuleIndex, NodeIndex, NodeKind};
use crate::load::ModuleTree;
use crate::oracle::ResourceOracle;

pub use conditions::{RuleResult, RuleStatus};
pub use import_targets::{ImportInto, ImportedBy};
pub use scope::ModuleScope;
pub use steps::{ResourceInstance, Site};
pub use variables::{InputSource, InputValue};

/// What the walk is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Checks the configuration for all inputs: every variable is unknown, every module is made once.
    Validate,
    /// Works values out from given inputs.
    Evaluate,
}

/// What the walk needs to know besides the configuration.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// What it is for.
    pub purpose: Purpose,
    /// Files, time, randomness.
    pub environment: &'a dyn Environment,
    /// The directory of the root module, as users see it.
    pub root_dir: &'a Path,
    /// The name of the workspace.
    pub workspace: &'a str,
    /// When the plan was made, if there is one.
    pub plan_time: Option<(i64, u32)>,
    /// Whether functions that give something else each time are put off.
    pub pure_only: bool,
    /// Whether conditions that do not hold are only warned about, since nothing will be made.
    pub lenient: bool,
    /// Knows resources.
    pub oracle: &'a dyn ResourceOracle,
    /// The texts, for messages that name a place.
    pub sources: &'a SourceMap,
}

/// The values of a module tree.
pub struct Walk<'a> {
    settings: Settings<'a>,
    inputs: BTreeMap<Str, InputValue>,
    graph: Graph<'a>,
    /// Instances of each module.
    instances: Vec<Vec<InstanceIndex>>,
    /// All module instances; the root is 0.
    arena: Vec<Instance>,
    by_place: BTreeMap<ModuleInstance, InstanceIndex>,
    /// Values of module calls that were asked for. Thousands of instances may ask for the same.
    module_values: RefCell<BTreeMap<(InstanceIndex, Str), Value>>,
    /// What conditions said that belong to no resource, until somebody asks.
    judgements: RefCell<Vec<Judgement>>,
}

/// What the conditions of a variable, an output or a `check` block said in one module instance.
#[derive(Debug)]
pub struct Judgement {
    /// In which module instance.
    pub instance: InstanceIndex,
    /// Of what: a node of its module.
    pub about: NodeKind,
    /// What each said, in their order.
    pub results: Vec<RuleResult>,
}

/// A module instance, by its place in the arena.
pub type InstanceIndex = usize;

/// One instance of a module and the values in it.
struct Instance {
    module: ModuleIndex,
    parent: Option<InstanceIndex>,
    /// E.g. `module.a["x"].module.b`; empty for the root.
    address: String,
    /// The same in parts.
    place: ModuleInstance,
    repetition: RepetitionData,
    variables: BTreeMap<Str, Value>,
    locals: BTreeMap<Str, Value>,
    outputs: BTreeMap<Str, Value>,
    /// Instances of the modules that it calls: their keys, in order.
    calls: BTreeMap<Str, CallInstances>,
}

/// How a call was expanded.
#[derive(Debug, Clone)]
enum CallInstances {
    /// Exactly one.
    Single(InstanceIndex),
    /// None, because it is not enabled.
    Disabled,
    /// By number.
    Counted(Vec<InstanceIndex>),
    /// By name.
    Keyed(Vec<(Str, InstanceIndex)>),
}

/// What `count` and `each` stand for.
#[derive(Debug, Clone, Default)]
pub struct RepetitionData {
    /// `count.index`
    pub count_index: Option<Value>,
    /// `each.key`
    pub each_key: Option<Value>,
    /// `each.value`
    pub each_value: Option<Value>,
}

impl<'a> Walk<'a> {
    /// Walks the tree. Diagnostics come in the order of the walk; what failed has no value.
    pub fn run(
        tree: &'a ModuleTree,
        settings: Settings<'a>,
        inputs: &BTreeMap<Str, InputValue>,
    ) -> (Self, Diagnostics) {
        let (mut walk, mut diagnostics) = Self::start(tree, settings, inputs);
        if diagnostics.has_errors() {
            return (walk, diagnostics);
        }
        match walk.graph.order() {
            Ok(order) => walk.visit_all(&order, &mut diagnostics),
            Err(cycle) => diagnostics.push(cycle.diagnostic()),
        }
        (walk, diagnostics)
    }

    /// The scope of an expression that is typed at the console: that of the root module. `sources` holds its text as well.
    pub fn console_scope<'s>(&'s self, sources: &'s SourceMap) -> ModuleScope<'s> {
        ModuleScope::new(self, 0).at_console(sources)
    }

    /// The scope of an expression of the root module that stands nowhere in it, such as an assertion of a test.
    pub fn root_scope(&self) -> ModuleScope<'_> {
        ModuleScope::new(self, 0)
    }

    /// The values of the root module's outputs.
    pub fn root_outputs(&self) -> &BTreeMap<Str, Value> {
        &self.arena[0].outputs
    }

    /// What conditions of variables, outputs and `check` blocks have said since this was last asked.
    pub fn take_judgements(&mut self) -> Vec<Judgement> {
        std::mem::take(self.judgements.get_mut())
    }

    /// Keeps what conditions said, and gives what the user is told.
    fn judged(&self, instance: InstanceIndex, about: NodeKind, results: Vec<RuleResult>) -> Diagnostics {
        let told = results.iter().flat_map(|result| result.diagnostics.iter().cloned()).collect();
        if !results.is_empty() {
            self.judgements.borrow_mut().push(Judgement { instance, about, results });
        }
        told
    }

    /// How bad it is if a condition does not hold.
    fn severity(&self) -> Severity {
        if self.settings.lenient { Severity::Warning } else { Severity::Error }
    }

    fn visit_all(&mut self, order: &[NodeIndex], diagnostics: &mut Diagnostics) {
        let mut failed = vec![false; self.graph.nodes.len()];
        for &node in order {
            if self.graph.needs[node].iter().any(|need| failed[*need]) {
                failed[node] = true;
                continue;
            }
            let found = self.visit(node);
            failed[node] = found.has_errors();
            diagnostics.extend(found);
        }
    }

    /// Evaluates a declaration, in every instance of its module. What it needs must have been visited.
    pub fn visit(&mut self, node: NodeIndex) -> Diagnostics {
        self.visit_where(node, &|_| true)
    }

    /// As [`Walk::visit`], in the instances of its module that are chosen.
    pub fn visit_where(&mut self, node: NodeIndex, chosen: &dyn Fn(InstanceIndex) -> bool) -> Diagnostics {
        let module = self.graph.nodes[node].module;
        let kind = self.graph.nodes[node].kind.clone();
        let mut diagnostics = Diagnostics::new();
        match kind {
            NodeKind::Expansion => {
                let parents = self.graph.modules[module].parent.map(|parent| self.instances[parent].clone());
                for parent in parents.unwrap_or_default() {
                    diagnostics.extend(self.expand_module(module, parent));
                }
            }
            NodeKind::Close => {}
            _ => {
                for instance in self.instances[module].clone().into_iter().filter(|instance| chosen(*instance)) {
                    diagnostics.extend(self.visit_in(instance, &kind));
                }
            }
        }
        diagnostics
    }

    fn visit_in(&mut self, instance: InstanceIndex, kind: &NodeKind) -> Diagnostics {
        match kind {
            NodeKind::Variable(name) => self.visit_variable(instance, name),
            NodeKind::Local(name) => self.visit_local(instance, name),
            NodeKind::Output(name) => self.visit_output(instance, name),
            NodeKind::Resource(key) => self.visit_resource(instance, key),
            NodeKind::Check(name) => self.visit_check(instance, name),
            NodeKind::Provider(key) => self.visit_provider(instance, key),
            NodeKind::Expansion | NodeKind::Close => Diagnostics::new(),
        }
    }

    fn visit_local(&mut self, instance: InstanceIndex, name: &Str) -> Diagnostics {
        let Some(local) = self.module_of(instance).locals.get(name) else { return Diagnostics::new() };
        let own = local.expr.references().into_iter().find_map(|traversal| {
            let reference = crate::refs::Reference::parse(traversal).ok()?;
            (reference.subject == crate::refs::Subject::Local(name.clone())).then_some(reference.span)
        });
        if let Some(span) = own {
            let detail = format!("Local value local.{name} cannot use its own result as part of its expression.");
            return Diagnostic::error("Self-referencing local value", detail).at(span).within(local.expr.span).into();
        }
        let (value, diagnostics) = evaluate(&local.expr, &ModuleScope::new(self, instance));
        if !diagnostics.has_errors() {
            self.arena[instance].locals.insert(name.clone(), value);
        }
        diagnostics
    }

    fn module_of(&self, instance: InstanceIndex) -> &'a crate::config::Module {
        let node: &'a crate::load::ModuleNode = self.graph.modules[self.arena[instance].module].node;
        &node.module
    }

    /// `inner` with the address of the instance in front.
    fn address_in(&self, instance: InstanceIndex, inner: &str) -> String {
        let module = &self.arena[instance].address;
        if module.is_empty() { inner.to_owned() } else { format!("{module}.{inner}") }
    }

    /// `file:line,column-column`, as messages name a place.
    fn is_validating(&self) -> bool {
        self.settings.purpose == Purpose::Validate
    }
}

impl Instance {
    fn new(
        module: ModuleIndex,
        parent: Option<InstanceIndex>,
        place: ModuleInstance,
        repetition: RepetitionData,
    ) -> Self {
        Self {
            module,
            parent,
            address: place.to_string(),
            place,
            repetition,
            variables: BTreeMap::new(),
            locals: BTreeMap::new(),
            outputs: BTreeMap::new(),
            calls: BTreeMap::new(),
        }
    }

    /// As its caller names it, e.g. `module.a["x"]`.
    fn called_as(&self) -> String {
        self.place.steps().last().map_or_else(String::new, |step| format!("module.{}{}", step.name, step.key))
    }
}

/// `depends_on` names whole objects that exist.
fn check_depends_on(scope: &ModuleScope<'_>, depends_on: &[groma_syntax::ast::Traversal]) -> Diagnostics {
    use crate::eval::Scope as _;
    use crate::refs::Reference;

    let mut diagnostics = Diagnostics::new();
    for traversal in depends_on {
        match Reference::parse(traversal) {
            Err(diagnostic) => diagnostics.push(diagnostic),
            Ok(reference) => {
                if let Some(first) = reference.remaining(traversal).first() {
                    let rest: Span = first.span().to(traversal.span.after());
                    let detail = "References in depends_on must be to a whole object (resource, etc), not to an \
                                  attribute of an object.";
                    diagnostics.push(Diagnostic::error("Invalid depends_on reference", detail).at(rest));
                }
                if !diagnostics.has_errors() {
                    diagnostics.extend(scope.resolve(traversal).err().unwrap_or_default());
                }
            }
        }
    }
    diagnostics
}
