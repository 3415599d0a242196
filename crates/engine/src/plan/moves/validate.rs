//! Whether `moved` blocks make sense together, and with what is declared. Known only once everything is expanded.

use std::collections::BTreeMap;

use groma_lang::config::{Repetition, ResourceKey};
use groma_lang::walk::{InstanceIndex, Walk};
use groma_model::address::{AbsInstance, InstanceKey, ModuleInstance, Target};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::{SourceMap, Span};
use groma_model::text::Str;

use super::{Endpoint, Moved, Statement, explicit_statements, leads_into, module};
use crate::plan::Options;

/// What is wrong with the `moved` blocks of a configuration. Errors here are likely the cause of all others.
pub(in crate::plan) fn validate(walk: &Walk<'_>, sources: &SourceMap) -> Diagnostics {
    let statements = explicit_statements(walk.graph());
    let mut checked = Checked { walk, sources, found: Diagnostics::new(), from: BTreeMap::new(), to: BTreeMap::new() };
    for statement in &statements {
        let Some(declaring) = walk.graph().module(&statement.declared_in) else { continue };
        for &instance in walk.instances_of(declaring) {
            checked.check(statement, instance);
        }
    }
    if !checked.found.has_errors() {
        checked.found.extend(circle(&statements, sources));
    }
    checked.found
}

/// What a statement is about, in one module instance.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Absolute {
    /// The module instance; for a module that is moved, the one that calls it.
    module: ModuleInstance,
    what: What,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Call(Str),
    ModuleInstance(Str, InstanceKey),
    Resource(ResourceKey),
    Instance(ResourceKey, InstanceKey),
}

impl std::fmt::Display for Absolute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        match &self.what {
            What::Call(name) => write!(f, "module.{name}"),
            What::ModuleInstance(name, key) => write!(f, "module.{name}{key}"),
            What::Resource(resource) => write!(f, "{resource}"),
            What::Instance(resource, key) => write!(f, "{resource}{key}"),
        }
    }
}

impl What {
    /// In words: long and short.
    fn noun(&self) -> (&'static str, &'static str) {
        match self {
            What::Call(_) => ("module call", "call"),
            What::ModuleInstance(..) => ("module instance", "instance"),
            What::Resource(_) => ("resource", "resource"),
            What::Instance(..) => ("resource instance", "instance"),
        }
    }
}

struct Checked<'w, 'a> {
    walk: &'w Walk<'a>,
    sources: &'w SourceMap,
    found: Diagnostics,
    from: BTreeMap<Absolute, (Absolute, Option<Span>)>,
    to: BTreeMap<Absolute, (Absolute, Option<Span>)>,
}

impl Checked<'_, '_> {
    fn check(&mut self, statement: &Statement, instance: InstanceIndex) {
        let outer = self.walk.module_instance(instance).clone();
        let from = absolute(&outer, &statement.from, statement.whole);
        let to = absolute(&outer, &statement.to, statement.whole);
        let (noun, short) = from.what.noun();
        if from == to {
            let detail = format!("This statement declares a move from {from} to the same address, which says nothing.");
            return self.error(statement, "Redundant move statement", detail);
        }
        if let Some(declared) = self.declaration(&from) {
            let at = self.place(Some(declared));
            let detail = format!(
                "This statement declares a move from {from}, but that {noun} is still declared{at}.\n\nChange the \
                 configuration so that this {short} is declared as {to} instead."
            );
            self.error(statement, "Moved object still exists", detail);
        }
        if let Some((other, at)) = self.from.get(&from).filter(|(other, _)| *other != to) {
            let at = self.place(*at);
            let detail = format!(
                "A statement{at} declares that {from} moved to {other}, but this statement declares that it moved to \
                 {to}.\n\nEach {noun} can move to only one destination {short}."
            );
            self.error(statement, "Ambiguous move statements", detail);
        } else {
            self.from.entry(from.clone()).or_insert((to.clone(), statement.at));
        }
        if let Some((other, at)) = self.to.get(&to).filter(|(other, _)| *other != from) {
            let at = self.place(*at);
            let detail = format!(
                "A statement{at} declares that {other} moved to {to}, but this statement declares that {from} moved \
                 there.\n\nEach {noun} can have moved from only one source {short}."
            );
            self.error(statement, "Ambiguous move statements", detail);
        } else {
            self.to.entry(to).or_insert((from, statement.at));
        }
    }

    fn error(&mut self, statement: &Statement, summary: &str, detail: String) {
        let diagnostic = Diagnostic::error(summary, detail);
        self.found.push(match statement.at {
            Some(span) => diagnostic.at(span),
            None => diagnostic,
        });
    }

    fn place(&self, span: Option<Span>) -> String {
        place(self.sources, span)
    }

    /// Where an object is declared, if it is.
    fn declaration(&self, address: &Absolute) -> Option<Span> {
        let instance = self.walk.instance_at(&address.module)?;
        let declared = self.walk.module(instance);
        match &address.what {
            What::Call(name) => declared.module_calls.get(name).map(|call| call.declared.header),
            What::ModuleInstance(name, key) => {
                let call = declared.module_calls.get(name)?;
                let module = module(address.module.steps(), &[(name.clone(), key.clone())], &[]);
                self.walk.instance_at(&module).map(|_| made_by(&call.repetition).unwrap_or(call.declared.header))
            }
            What::Resource(key) => declared.resources.get(key).map(|resource| resource.declared.header),
            What::Instance(resource, key) => {
                let resource = declared.resources.get(resource)?;
                let (instances, _) = self.walk.expand_resource(instance, resource);
                let is_made = instances.iter().any(|made| made.key == *key);
                is_made.then(|| made_by(&resource.repetition).unwrap_or(resource.declared.header))
            }
        }
    }
}

fn place(sources: &SourceMap, span: Option<Span>) -> String {
    span.map(|span| format!(" at {}", sources.place(span))).unwrap_or_default()
}

/// What decides which instances there are.
fn made_by(repetition: &Repetition) -> Option<Span> {
    match repetition {
        Repetition::Count(expr) | Repetition::ForEach(expr) => Some(expr.span),
        Repetition::Once | Repetition::Enabled(_) => None,
    }
}

fn absolute(outer: &ModuleInstance, endpoint: &Endpoint, whole: bool) -> Absolute {
    if let Some((resource, key)) = &endpoint.resource {
        let module = module(outer.steps(), &endpoint.modules, &[]);
        let resource = resource.clone();
        let what = if whole { What::Resource(resource) } else { What::Instance(resource, key.clone()) };
        return Absolute { module, what };
    }
    let (last, way) = match endpoint.modules.split_last() {
        Some((last, way)) => (last.clone(), way),
        None => ((Str::from(""), InstanceKey::None), endpoint.modules.as_slice()),
    };
    let module = module(outer.steps(), way, &[]);
    let what = if whole { What::Call(last.0) } else { What::ModuleInstance(last.0, last.1) };
    Absolute { module, what }
}

/// Statements that lead into each other without an end.
fn circle(statements: &[Statement], sources: &SourceMap) -> Diagnostics {
    let count = statements.len();
    let follows = |a: usize, b: usize| a != b && leads_into(&statements[a], &statements[b]);
    let mut left: Vec<usize> = (0..count).collect();
    // What nothing leads into, or what leads nowhere, is in no circle.
    loop {
        let before = left.len();
        let others = left.clone();
        left.retain(|&at| {
            let entered = others.iter().any(|&other| follows(other, at));
            let left_again = others.iter().any(|&other| follows(at, other));
            entered && left_again
        });
        if left.len() == before {
            break;
        }
    }
    if left.is_empty() {
        return Diagnostics::new();
    }
    let mut lines: Vec<String> = left
        .iter()
        .map(|&at| {
            let Statement { at, from, to, whole, .. } = &statements[at];
            let root = ModuleInstance::root();
            let (from, to) = (absolute(&root, from, *whole), absolute(&root, to, *whole));
            format!("\n  -{}: {from} → {to}", place(sources, *at))
        })
        .collect();
    lines.sort();
    let detail = format!(
        "These statements lead into each other, so there is no address where objects end up:{}\n\nA chain of moves must \
         end with an address that no other statement moves away from.",
        lines.concat()
    );
    Diagnostic::error("Cyclic dependency in move statements", detail).into()
}

/// Whether all objects that are moved are among those that the user wants to plan.
pub(in crate::plan) fn check_selection(moved: &Moved, options: &Options) -> Diagnostics {
    let (targets, excludes) = (&options.targets, &options.excludes);
    let chosen = |address: &AbsInstance| {
        if targets.is_empty() {
            !excludes.iter().any(|target| target.selects(address))
        } else {
            targets.iter().any(|target: &Target| target.selects(address))
        }
    };
    let mut left_out: Vec<String> = Vec::new();
    for (to, from) in &moved.from {
        let out = [&from.address, to].into_iter().filter(|address| !chosen(address));
        left_out.extend(out.map(ToString::to_string));
    }
    if left_out.is_empty() || (targets.is_empty() && excludes.is_empty()) {
        return Diagnostics::new();
    }
    left_out.sort();
    left_out.dedup();
    let (flag, cure) = if targets.is_empty() { ("-exclude", "leave out") } else { ("-target", "add") };
    let options: Vec<String> = left_out.iter().map(|address| format!("\n  {flag}={}", shell_quoted(address))).collect();
    let detail = format!(
        "Resource instances have been moved in the configuration, and some of them are not among those that the {flag} \
         options choose. Moves are made as a whole: either plan without {flag}, or {cure} these options:{}",
        options.concat()
    );
    Diagnostic::error("Moved resource instances excluded by targeting", detail).into()
}

fn shell_quoted(address: &str) -> String {
    if address.contains(['"', '[']) { format!("'{address}'") } else { address.to_owned() }
}
