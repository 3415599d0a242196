//! Rules of one kind, and which of them is about an instance.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use groma_model::address::{AbsInstance, Module, Resource};
use groma_model::span::Span;
use groma_model::text::Str;

use crate::pattern::{Lookup, Pattern};

/// A rule.
#[derive(Debug, Clone)]
pub struct Rule<T> {
    /// What it is about.
    pub pattern: Pattern,
    /// The module that it is written in.
    pub module: Module,
    /// The directory of that module, as users see it.
    pub module_dir: Arc<PathBuf>,
    /// Where its label stands.
    pub label: Span,
    /// What it says.
    pub says: Arc<T>,
}

/// Rules of one kind, in the order in which they are written: callers before those that they call.
#[derive(Debug, Clone)]
pub struct RuleSet<T> {
    rules: Vec<Rule<T>>,
    by_resource: BTreeMap<(Module, Resource), Vec<usize>>,
    by_type: BTreeMap<Str, Vec<usize>>,
    globs: Vec<usize>,
}

impl<T> Default for RuleSet<T> {
    fn default() -> Self {
        Self { rules: Vec::new(), by_resource: BTreeMap::new(), by_type: BTreeMap::new(), globs: Vec::new() }
    }
}

impl<T> RuleSet<T> {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Rule<T>> {
        self.rules.iter()
    }

    pub(crate) fn push(&mut self, rule: Rule<T>) {
        let at = self.rules.len();
        match rule.pattern.lookup(&rule.module) {
            Lookup::Resource(module, resource) => self.by_resource.entry((module, resource)).or_default().push(at),
            Lookup::Type(ty) => self.by_type.entry(ty).or_default().push(at),
            Lookup::Glob => self.globs.push(at),
        }
        self.rules.push(rule);
    }

    /// The rule about an instance: the most exact one; of those, the one of the outermost module.
    pub fn find(&self, instance: &AbsInstance) -> Option<&Rule<T>> {
        let module = instance.module.module();
        let candidates = self.candidates(&module, &instance.instance.resource);
        let matching = candidates.map(|at| &self.rules[at]).filter(|rule| rule.pattern.matches(&rule.module, instance));
        let rank = |rule: &&Rule<T>| {
            let depth = Reverse(rule.module.names().len());
            (rule.pattern.strength(), depth, rule.pattern.letters(), Reverse(rule.label))
        };
        matching.max_by_key(rank)
    }

    /// The rules that could be about an instance of a declared resource.
    pub(crate) fn rules_about<'s>(
        &'s self,
        module: &'s Module,
        resource: &'s Resource,
    ) -> impl Iterator<Item = &'s Rule<T>> + 's {
        let could = |rule: &&Rule<T>| rule.pattern.could_match(&rule.module, module.names(), resource);
        self.candidates(module, resource).map(|at| &self.rules[at]).filter(could)
    }

    /// Where the labels of those stand.
    pub(crate) fn about<'s>(&'s self, module: &'s Module, resource: &'s Resource) -> impl Iterator<Item = Span> + 's {
        self.rules_about(module, resource).map(|rule| rule.label)
    }

    fn candidates(&self, module: &Module, resource: &Resource) -> impl Iterator<Item = usize> {
        let named = self.by_resource.get(&(module.clone(), resource.clone()));
        let of_type = self.by_type.get(&resource.ty);
        named.into_iter().chain(of_type).flatten().chain(&self.globs).copied()
    }
}

impl<'s, T> IntoIterator for &'s RuleSet<T> {
    type Item = &'s Rule<T>;
    type IntoIter = std::slice::Iter<'s, Rule<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
