//! All rules about the order of replacements of a configuration, and which of them are about an instance.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_model::address::{AbsInstance, Module, Provider, Resource};
use groma_model::diag::Diagnostics;
use groma_model::span::Span;
use groma_model::text::Str;

use super::catalogue::Catalogue;
use super::decode::{Decoded, Places};
use super::rule::{Attachment, Origin, ReplaceRule, ReplaceSettings};

/// Rules, and what was said about them.
#[derive(Debug, Clone, Default)]
pub struct ReplaceRules {
    /// Callers before those that they call; in a module, as they are written.
    rules: Vec<Arc<ReplaceRule>>,
    /// What the root module wants of all of them.
    pub settings: ReplaceSettings,
    /// What the names of attachments stand for, by the module that says so.
    pub attachments: BTreeMap<Module, Vec<Arc<Attachment>>>,
    /// The files that say anything about replacements, each once, in the order in which they were read.
    pub files: Vec<RuleFile>,
    /// The version of the catalogue whose rules are among them.
    pub catalogue: Option<&'static str>,
    /// Hints about rules that are correct, as far as they can be had without schemas.
    pub lints: Diagnostics,
    /// Whether some are only about certain addresses.
    has_targets: bool,
    /// Whether some let dependents be replaced.
    has_cascades: bool,
    by_type: BTreeMap<Str, Vec<usize>>,
    globs: Vec<usize>,
    /// Where arguments of a rule stand, by its name.
    places: BTreeMap<Span, Places>,
}

/// A file with rules about replacements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFile {
    /// As users see it.
    pub path: String,
    /// The SHA-256 of its text, in hexadecimal digits.
    pub sha256: String,
}

impl ReplaceRules {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.catalogue.is_none()
    }

    /// All of them: callers before those that they call; in a module, as they are written.
    pub fn rules(&self) -> &[Arc<ReplaceRule>] {
        &self.rules
    }

    /// Adds one.
    pub fn push(&mut self, rule: Arc<ReplaceRule>) {
        let at = self.rules.len();
        if rule.resource.is_plain() {
            self.by_type.entry(rule.resource.0.clone()).or_default().push(at);
        } else {
            self.globs.push(at);
        }
        self.has_targets |= !rule.targets.is_empty();
        self.has_cascades |= !rule.replace_dependents.is_empty();
        self.rules.push(rule);
    }

    /// Whether some are only about certain addresses. If none is, all instances of a resource have the same rules.
    pub fn has_targets(&self) -> bool {
        self.has_targets
    }

    /// Whether some let dependents be replaced. Those of the catalogue never do.
    pub fn has_cascades(&self) -> bool {
        self.has_cascades
    }

    /// Whether there may be rules about instances of a type.
    pub fn has_any_about(&self, ty: &Str) -> bool {
        self.by_type.contains_key(ty)
            || self.globs.iter().any(|at| self.rules[*at].resource.matches(ty))
            || self.catalogue.is_some_and(|_| Catalogue::shared().about(ty).next().is_some())
    }

    /// The rules about an instance, whatever becomes of it. Whether a rule that names versions of the provider is about this one is left
    /// to those who know it.
    pub fn about<'s>(
        &'s self,
        instance: &'s AbsInstance,
        provider: &'s Provider,
    ) -> impl Iterator<Item = &'s Arc<ReplaceRule>> + 's {
        let ty = &instance.instance.resource.ty;
        let own = self.candidates(ty).into_iter().map(|at| &self.rules[at]);
        // It is not even made before it is needed.
        let catalogue = self.catalogue.map(|_| Catalogue::shared());
        let known = catalogue.into_iter().flat_map(|catalogue| catalogue.about(ty)).map(|entry| &entry.rule);
        own.chain(known).filter(move |rule| rule.is_about(instance, provider))
    }

    /// The rules that could be about an instance of a declared resource.
    pub(crate) fn could_be_about<'s>(
        &'s self,
        module: &'s Module,
        resource: &'s Resource,
    ) -> impl Iterator<Item = &'s Arc<ReplaceRule>> + 's {
        let could = |rule: &&Arc<ReplaceRule>| {
            module.names().starts_with(rule.module.names())
                && rule.resource.matches(&resource.ty)
                && (rule.targets.is_empty()
                    || rule.targets.iter().any(|target| target.could_match(&rule.module, module.names(), resource)))
        };
        self.candidates(&resource.ty).into_iter().map(|at| &self.rules[at]).filter(could)
    }

    /// In the order in which the rules are kept. Nothing is allocated for a type without rules.
    fn candidates(&self, ty: &Str) -> Vec<usize> {
        let of_type = self.by_type.get(ty).map_or(&[][..], Vec::as_slice);
        let mut candidates = Vec::with_capacity(of_type.len() + self.globs.len());
        candidates.extend_from_slice(of_type);
        candidates.extend(self.globs.iter().copied().filter(|at| self.rules[*at].resource.matches(ty)));
        candidates.sort_unstable();
        candidates
    }

    /// Adds what a directory says, for a module that has it.
    pub(crate) fn add(&mut self, decoded: &Decoded, module: &Module) {
        let origin = if module.is_root() { Origin::Root } else { Origin::Module };
        if let Some((settings, _)) = decoded.settings.as_ref().filter(|_| module.is_root()) {
            self.settings = settings.clone();
        }
        if !decoded.attachments.is_empty() {
            self.attachments.insert(module.clone(), decoded.attachments.clone());
        }
        for located in &decoded.rules {
            let rule = ReplaceRule { module: module.clone(), origin, ..located.rule.clone() };
            if let Some(place) = rule.place {
                self.places.insert(place, located.places.clone());
            }
            self.push(Arc::new(rule));
        }
    }

    /// Where arguments of a rule stand. None for one that stands in no file.
    pub(crate) fn places(&self, rule: &ReplaceRule) -> Option<&Places> {
        self.places.get(&rule.place?)
    }
}

impl ReplaceRule {
    /// Whether it is about an instance, of this provider.
    pub fn is_about(&self, instance: &AbsInstance, provider: &Provider) -> bool {
        let below = instance.module.steps().len() >= self.module.names().len()
            && self.module.names().iter().zip(instance.module.steps()).all(|(name, step)| *name == step.name);
        below
            && self.resource.matches(&instance.instance.resource.ty)
            && self.provider.as_ref().is_none_or(|source| is_from(source, provider))
            && (self.targets.is_empty() || self.targets.iter().any(|target| target.matches(&self.module, instance)))
    }
}

/// Whether a provider is the one that a source means.
pub(crate) fn is_from(source: &str, provider: &Provider) -> bool {
    Provider::parse_source(source).is_ok_and(|meant| meant.same_as(provider))
}
