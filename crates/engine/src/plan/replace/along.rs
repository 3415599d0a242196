//! What is replaced along with an object that it depends on, because a rule about that object says so (`replace_dependents`).
//!
//! This is known while dependents are being planned, so such a rule is asked before its neighbours are: what it wants to know of them is
//! not known.

use std::collections::BTreeSet;

use groma_model::address::{AbsInstance, ConfigResource};
use groma_model::text::Str;
use groma_rules::Glob;
use groma_rules::replace::eval::{Care, judge};
use groma_rules::replace::rule::{Mode, Order};
use groma_state::ObjectState;

use super::Candidate;
use super::neighbours::{each_stored_text, identities};
use crate::change::{Change, Note};
use crate::plan::driver::Driver;

/// An object that is replaced, and takes others along.
pub(in crate::plan) struct Cascade {
    from: AbsInstance,
    resource: ConfigResource,
    /// What it is known by. Whoever holds it is a dependent.
    identities: Vec<Str>,
    types: Vec<Glob>,
    rule: String,
}

impl Driver<'_, '_> {
    /// Which others a change takes along.
    pub(in crate::plan) fn cascades(&self, change: &Change, candidate: Option<&Candidate>) -> Vec<Cascade> {
        if !self.request.rules.replace.has_cascades() {
            return Vec::new();
        }
        let options = &self.request.options.replacement;
        let goes_first = options.orders.get(&change.address) != Some(&Order::CreateFirst);
        let Some(candidate) = candidate.filter(|_| change.action.is_replace() && goes_first) else { return Vec::new() };
        let rules = self.request.rules.replace.about(&change.address, &change.provider.config.provider);
        let asking = rules.filter(|rule| options.mode == Mode::Auto && !rule.replace_dependents.is_empty());
        let views = candidate.views(&change.after);
        let case = self.case_of(change, &views, None);
        let obeyed = asking.filter(|rule| {
            let result = judge(rule, &case, Care::Verdict);
            self.weighed(rule, result, change.action).is_some_and(|judged| judged.counts())
        });
        let cascade = |rule: &std::sync::Arc<groma_rules::replace::rule::ReplaceRule>| Cascade {
            from: change.address.clone(),
            resource: change.address.config(),
            identities: identities(&change.before, &[]),
            types: rule.replace_dependents.clone(),
            rule: rule.id.to_string(),
        };
        obeyed.map(cascade).collect()
    }

    /// With what an object is replaced, if it is.
    pub(in crate::plan) fn taken_along(
        &self,
        address: &AbsInstance,
        dependencies: &[ConfigResource],
        stored: Option<&ObjectState>,
    ) -> Option<Note> {
        let ty = &address.instance.resource.ty;
        let possible: Vec<&Cascade> = self
            .cascades
            .iter()
            .filter(|cascade| cascade.types.iter().any(|glob| glob.matches(ty)))
            .filter(|cascade| dependencies.contains(&cascade.resource))
            .collect();
        if possible.is_empty() {
            return None;
        }
        let mut held = BTreeSet::new();
        each_stored_text(&stored?.attributes, &mut |text| {
            held.insert(text.clone());
        });
        let holds = |cascade: &&&Cascade| {
            cascade.identities.is_empty() || cascade.identities.iter().any(|id| held.contains(id))
        };
        let with = possible.iter().find(holds)?;
        Some(Note::TakenAlong(with.from.to_string(), with.rule.clone()))
    }
}
