//! The order of replacements. When it is known which objects are replaced, rules are asked about each of them; what they want, what the user
//! says and what the configuration says becomes one order for every object. Neither order changes a planned value, so this comes last.

mod along;
mod document;
mod judging;
mod kept;
mod log;
mod neighbours;
#[cfg(test)]
mod tests;
mod told;
mod web;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groma_lang::config::{Resource, When};
use groma_lang::graph::NodeIndex;
use groma_model::address::{AbsInstance, ConfigResource};
use groma_model::span::Span;
use groma_rules::replace::order::{self, Resolved, Wish};
use groma_rules::replace::rule::{Mode, Order};

use super::driver::Driver;
use crate::change::{Action, Change, Note};
use crate::replacement::Replacement;

pub(super) use along::Cascade;
use document::Recipes;
use judging::{Considered, Judged};
pub(super) use kept::Candidate;
use told::Telling;
use web::{ObjectWeb, is_same_resource};

/// The order that an action stands for, if it replaces something in an order that can be chosen.
pub(super) fn order_of(action: Action) -> Option<Order> {
    match action {
        Action::DeleteThenCreate => Some(Order::DeleteFirst),
        Action::CreateThenDelete => Some(Order::CreateFirst),
        _ => None,
    }
}

fn action_of(order: Order) -> Action {
    match order {
        Order::DeleteFirst => Action::DeleteThenCreate,
        Order::CreateFirst => Action::CreateThenDelete,
    }
}

/// Who wishes for something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wisher {
    /// `-replace-order`, for a change.
    User(usize),
    /// A rule, by its place in what was judged about a change.
    Rule(usize, usize),
    /// `create_before_destroy`, of a change.
    Lifecycle(usize),
}

impl Wisher {
    /// Of which change.
    pub(super) fn change(self) -> usize {
        match self {
            Wisher::User(at) | Wisher::Rule(at, _) | Wisher::Lifecycle(at) => at,
        }
    }
}

impl Driver<'_, '_> {
    /// Whether rules may be asked about objects of a type at all, so that what they may ask is kept.
    pub(super) fn has_replace_rules(&self, address: &AbsInstance) -> bool {
        self.request.options.replacement.mode != Mode::Off
            && self.request.rules.replace.has_any_about(&address.instance.resource.ty)
    }

    /// Decides the order of all replacements: the actions of the changes are what came of it. Each change may have a candidate.
    pub(super) fn order_replacements(
        &mut self,
        changes: &mut [Change],
        candidates: &[Option<Arc<Candidate>>],
    ) -> Replacement {
        let options = &self.request.options.replacement;
        let asked_for = !options.orders.is_empty();
        if !asked_for && (options.mode == Mode::Off || self.request.rules.replace.is_empty()) {
            return Replacement::default();
        }
        let mut judged = self.judge_all(changes, candidates);
        self.note_on_prevented(changes, &judged);
        if !asked_for && judged.iter().all(Option::is_none) {
            return Replacement { rules: told::rules_document(self).to_string(), decisions: BTreeMap::new() };
        }
        let before: Vec<Option<Order>> = changes.iter().map(|change| order_of(change.action)).collect();
        let said = self.said(changes);
        let Wishes { all: wishes, wishers, .. } = self.wishes(changes, &said, &mut judged);
        let web = (!wishes.is_empty()).then(|| ObjectWeb::new(self.walk.graph(), changes, &self.stored()));
        let resolved = web.as_ref().map(|web| resolve(web, &wishes, changes)).unwrap_or_default();
        let telling = Telling {
            driver: self,
            changes,
            candidates,
            before: &before,
            said: &said,
            web: web.as_ref(),
            wishers: &wishers,
            judged: &judged,
            resolved: &resolved,
            recipes: Recipes::new(self.request.settings.workspace),
            layers: RefCell::default(),
            names: RefCell::default(),
            orders: RefCell::default(),
            listening: log::Listening::new(),
        };
        let (replacement, found) = telling.tell();
        let notes = telling.notes();
        let some_are_older = changes.iter().any(|change| change.deposed.is_some());
        let told_first: BTreeSet<AbsInstance> =
            notes.iter().filter(|_| some_are_older).map(|(at, _)| changes[*at].address.clone()).collect();
        for (at, who) in notes {
            // Whoever asked for something else is not heard.
            let notes = &mut changes[at].notes;
            notes.retain(|note| !matches!(note, Note::MadeFirstFor(_)));
            // Nothing is noted after this.
            notes.reserve_exact(1);
            notes.push(Note::Ordered(who));
        }
        self.diagnostics.extend(found);
        // Older objects that were put aside go as the current one does, or else they would wait for what waits for them.
        let is_older = |change: &&mut Change| change.deposed.is_some() && told_first.contains(&change.address);
        for older in changes.iter_mut().filter(is_older) {
            older.create_before_destroy = false;
        }
        replacement
    }

    /// Who is not replaced at all hears what rules would have said about it.
    fn note_on_prevented(&mut self, changes: &[Change], judged: &[Option<Considered>]) {
        if self.prevented.is_empty() {
            return;
        }
        for (at, considered) in judged.iter().enumerate().filter_map(|(at, found)| Some((at, found.as_ref()?))) {
            let Some(problem) = self.prevented.get_mut(&changes[at].address) else { continue };
            let matching = considered.judged.iter().filter(|judged| judged.is_heard() && judged.matches());
            problem.hints.extend(matching.map(|judged| told::if_it_were_replaced(&judged.result.rule)));
        }
    }

    /// What everybody wants who counts. Rules of one layer that contradict each other do not. Nothing if neither rules nor the user want
    /// anything: then what the configuration says holds as it did.
    fn wishes(&mut self, changes: &[Change], said: &[Said], judged: &mut [Option<Considered>]) -> Wishes {
        let mut wishes = Wishes { objects: self.walk.graph().nodes.len(), all: Vec::new(), wishers: Vec::new() };
        self.users_wishes(changes, &mut wishes);
        for (at, results) in judged.iter_mut().enumerate().filter_map(|(at, found)| Some((at, found.as_mut()?))) {
            let vetoed = said[at].is_veto();
            let sources = self.request.settings.sources;
            let found = judging::rules_wishes((at, &changes[at]), &mut results.judged, vetoed, &mut wishes, sources);
            self.diagnostics.extend(found);
        }
        if wishes.all.is_empty() {
            return wishes;
        }
        // A link that is created first is gone afterwards, which nobody can have meant.
        let would_be_lost =
            |at: usize| judged[at].as_ref().is_some_and(|found| found.judged.iter().any(Judged::saves_a_link));
        let asks = |at: usize| said[at].asks_to_be_created_first() && said[at].is_selected && !would_be_lost(at);
        lifecycle_wishes(changes, &self.stored(), &asks, &mut wishes);
        wishes
    }

    fn users_wishes(&mut self, changes: &[Change], wishes: &mut Wishes) {
        for (address, order) in &self.request.options.replacement.orders {
            let found =
                changes.iter().position(|change| change.address == *address && order_of(change.action).is_some());
            match found {
                Some(at) => wishes.push(at, *order, order::Strength::CommandLine, Wisher::User(at)),
                None => self.diagnostics.push(told::not_replaced(address)),
            }
        }
    }

    /// What the objects in the state were made with.
    fn stored<'s>(&'s self) -> impl Fn(&AbsInstance) -> &'s [ConfigResource] + 's {
        self.gathered.stored_dependencies()
    }

    fn declaration_of(&self, change: &Change) -> Option<NodeIndex> {
        self.walk.graph().resource_node(change.address.module.module().names(), &change.address.instance.resource)
    }

    /// The block of a resource.
    fn block_of(&self, change: &Change) -> Option<&Resource> {
        let graph = self.walk.graph();
        let entry = &graph.nodes[self.declaration_of(change)?];
        graph.modules[entry.module].node.module.resources.get(&change.address.instance.resource)
    }

    /// What it says about itself.
    fn says_create_before_destroy(&self, change: &Change) -> Option<bool> {
        self.block_of(change)?.managed.create_before_destroy
    }

    /// Where it stands.
    fn declared_at(&self, change: &Change) -> Option<Span> {
        Some(self.block_of(change)?.declared.header)
    }

    fn asks_to_be_created_first(&self, change: &Change) -> bool {
        self.says_create_before_destroy(change) == Some(true)
    }

    /// What the configuration says about the objects of all changes. Those of one resource come in succession.
    fn said(&self, changes: &[Change]) -> Vec<Said> {
        let mut all: Vec<Said> = Vec::with_capacity(changes.len());
        for (at, change) in changes.iter().enumerate() {
            let known = at.checked_sub(1).filter(|last| is_same_resource(&changes[*last], change));
            let said = known.map_or_else(|| self.said_about(change), |last| all[last]);
            all.push(said);
        }
        all
    }

    fn said_about(&self, change: &Change) -> Said {
        let is_selected = self.declaration_of(change).is_some_and(|node| self.selection.includes(node));
        let block = self.block_of(change).map(|resource| &resource.managed);
        let provisioners = block.map(|block| block.provisioners.as_slice()).unwrap_or_default();
        Said {
            create_before_destroy: block.and_then(|block| block.create_before_destroy),
            has_destroy_provisioners: provisioners.iter().any(|provisioner| provisioner.when == When::Destroy),
            is_selected,
        }
    }
}

/// What the configuration says about an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said {
    create_before_destroy: Option<bool>,
    /// Whether something runs when it is destroyed.
    has_destroy_provisioners: bool,
    /// Whether this plan is about it.
    is_selected: bool,
}

impl Said {
    /// Whether it is to be created first.
    pub(super) fn asks_to_be_created_first(self) -> bool {
        self.create_before_destroy == Some(true)
    }

    /// Whether the catalogue shall not let anything be created first here.
    fn is_veto(self) -> bool {
        self.create_before_destroy == Some(false)
    }
}

/// What an object was made with, as the state has it.
type Stored<'s> = dyn Fn(&AbsInstance) -> &'s [ConfigResource] + 's;

/// `create_before_destroy` counts for all objects that have it, whatever is done with them, and for those that have left the configuration
/// with it while something is left that depends on them.
fn lifecycle_wishes(changes: &[Change], stored: &Stored<'_>, asks: &dyn Fn(usize) -> bool, wishes: &mut Wishes) {
    let needed = needed_of(&leaving_with_mark(changes), changes, stored);
    for (at, change) in changes.iter().enumerate().filter(|(_, change)| change.deposed.is_none()) {
        let wants = match change.action {
            Action::Delete => change.create_before_destroy && needed.contains(&change.address.config()),
            Action::Forget | Action::ForgetThenCreate | Action::Read => false,
            _ => asks(at),
        };
        if wants {
            wishes.push(at, Order::CreateFirst, order::Strength::Lifecycle, Wisher::Lifecycle(at));
        }
    }
}

/// The resources of objects that go for good, and were to stay until their successors are there.
fn leaving_with_mark(changes: &[Change]) -> BTreeSet<ConfigResource> {
    let leaving = changes
        .iter()
        .filter(|change| change.action == Action::Delete && change.deposed.is_none() && change.create_before_destroy);
    leaving.map(|change| change.address.config()).collect()
}

/// Which of these resources something depends on that is left.
fn needed_of(
    resources: &BTreeSet<ConfigResource>,
    changes: &[Change],
    stored: &Stored<'_>,
) -> BTreeSet<ConfigResource> {
    if resources.is_empty() {
        return BTreeSet::new();
    }
    let alive = changes.iter().filter(|change| change.makes() || change.action == Action::NoOp);
    let dependencies = alive.flat_map(|change| change.dependencies.iter().chain(stored(&change.address)));
    dependencies.filter(|resource| resources.contains(*resource)).cloned().collect()
}

/// Decides, and lets the actions of the changes say so.
fn resolve(web: &ObjectWeb, wishes: &[Wish], changes: &mut [Change]) -> Resolved {
    let resolved = {
        let has_order = |node| web.has_order(node, changes);
        order::resolve(&order::Web { needs: &web.needs, has_order: &has_order }, wishes)
    };
    for (at, change) in changes.iter_mut().enumerate() {
        let decided = resolved.decided.get(&web.node_of(at)).map(|(order, _)| *order);
        if order_of(change.action).is_some() {
            change.action = action_of(decided.unwrap_or(Order::DeleteFirst));
        } else if let (Action::Delete, None, Some(order)) = (change.action, &change.deposed, decided) {
            // What goes for good has no other place to say whether it stays until what depended on it is made anew.
            change.create_before_destroy = order == Order::CreateFirst;
        }
    }
    resolved
}

/// Wishes, and who has them.
pub(super) struct Wishes {
    /// How many nodes come before the objects.
    objects: usize,
    all: Vec<Wish>,
    wishers: Vec<Wisher>,
}

impl Wishes {
    pub(super) fn push(&mut self, at: usize, order: Order, strength: order::Strength, wisher: Wisher) {
        self.all.push(Wish { node: self.objects + at, order, strength });
        self.wishers.push(wisher);
    }
}
