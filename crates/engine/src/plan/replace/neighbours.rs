//! What has to do with an object that is replaced: who depends on it, what it refers to, and how many like it there are.
//!
//! States say which resources an object depends on, not which instances, and say it of everything behind those, too. So what is held is told
//! by value: somewhere in the one object stands what identifies the other. Where there is one instance only, and the configuration refers to
//! it, there is nothing to be told apart: whatever of it is held, it is held.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use groma_lang::graph::{Graph, NodeIndex, NodeKind};
use groma_model::address::{AbsInstance, ConfigResource, DeposedKey, ResourceMode};
use groma_model::codec::json;
use groma_model::text::Str;
use groma_model::value::{Value, ValueKind, WalkControl};
use groma_rules::Glob;
use groma_rules::replace::case::{Attached, Neighbours};
use groma_rules::replace::truth::Truth;
use groma_state::{Attributes, State};

use super::web::is_same_resource;
use crate::change::{Action, Change};

/// What an object is known by if nothing else is said.
const ID: &str = "id";

/// An object that may hold another one.
struct Holder<'p> {
    address: Cow<'p, AbsInstance>,
    deposed: Option<&'p DeposedKey>,
    /// What it is.
    object: Object<'p>,
    /// What it needs.
    needs: &'p [ConfigResource],
    /// What it was made with.
    made_with: &'p [ConfigResource],
    /// What the plan does with it. None if the plan is not about it.
    action: Option<Action>,
}

/// An object as it is.
enum Object<'p> {
    Planned(&'p Value),
    Stored(&'p Attributes),
}

impl Object<'_> {
    /// What it is known by.
    fn identities(&self, names: &[Str]) -> Vec<Str> {
        match self {
            Object::Planned(object) => identities(object, names),
            Object::Stored(Attributes::Json(text)) => {
                json::decode_implied(text).map(|object| identities(&object, names)).unwrap_or_default()
            }
            Object::Stored(Attributes::Flat(entries)) => {
                let text = |name: &Str| entries.get(name.as_str()).map(|text| Str::from(text.as_str()));
                usual(names).iter().filter_map(text).filter(|text| !text.is_empty()).collect()
            }
        }
    }
}

impl Holder<'_> {
    fn holds(&self) -> Truth {
        let stays = match self.action {
            None | Some(Action::NoOp | Action::Update | Action::Read | Action::Forget | Action::ForgetThenCreate) => {
                true
            }
            Some(Action::Create | Action::Delete | Action::DeleteThenCreate | Action::CreateThenDelete) => false,
        };
        Truth::from(stays)
    }

    fn dependencies(&self) -> impl Iterator<Item = &ConfigResource> {
        self.needs.iter().chain(self.made_with)
    }

    fn depends_on(&self, resource: &ConfigResource) -> bool {
        self.dependencies().any(|dependency| dependency == resource)
    }

    fn is_managed(&self) -> bool {
        self.address.instance.resource.mode == ResourceMode::Managed
    }

    fn attached(&self, holds: Truth) -> Attached {
        let deposed = self.deposed.map(|key| format!(" (deposed {key})")).unwrap_or_default();
        Attached { address: format!("{}{deposed}", self.address), holds, outside_plan: self.action.is_none() }
    }
}

/// All objects of a plan and of the state behind it, by what they could be known by. Made when it is first asked for.
pub(super) struct Surroundings<'p> {
    changes: &'p [Change],
    prior: &'p State,
    /// The state as the last run left it: later, what objects need now is part of what they were made with.
    previous: &'p State,
    graph: &'p Graph<'p>,
    found: OnceCell<Found<'p>>,
    /// Whether somebody has asked who holds what.
    asked: Cell<bool>,
    /// Who was last asked for its siblings, and how many there are: the others are asked right after it.
    siblings: Cell<Option<(&'p Change, usize)>>,
}

struct Found<'p> {
    holders: Vec<Holder<'p>>,
    /// In whom a text stands.
    by_text: HashMap<Str, Vec<usize>>,
    /// Which objects a resource has.
    by_resource: OnceCell<BTreeMap<ConfigResource, Vec<usize>>>,
    /// Who depends on a resource.
    by_dependency: OnceCell<BTreeMap<ConfigResource, Vec<usize>>>,
}

impl<'p> Surroundings<'p> {
    pub(super) fn new(changes: &'p [Change], [prior, previous]: [&'p State; 2], graph: &'p Graph<'p>) -> Self {
        Self {
            changes,
            prior,
            previous,
            graph,
            found: OnceCell::new(),
            asked: Cell::new(false),
            siblings: Cell::new(None),
        }
    }

    /// Whether somebody has asked who holds what.
    pub(super) fn were_asked(&self) -> bool {
        self.asked.get()
    }

    /// From now on, nobody has asked.
    pub(super) fn forget_questions(&self) {
        self.asked.set(false);
    }

    /// Those of one object.
    pub(super) fn of<'n>(&'n self, change: &'p Change) -> Near<'n, 'p> {
        Near { around: self, change }
    }

    fn found(&self) -> &Found<'p> {
        self.found.get_or_init(|| {
            let mut found = Found::default();
            self.add_planned(&mut found);
            self.add_others(&mut found);
            found
        })
    }

    fn add_planned(&self, found: &mut Found<'p>) {
        for change in self.changes.iter().filter(|change| !change.before.is_null()) {
            let stored = self.prior.resources.get(&change.address.resource());
            let stored = stored.and_then(|resource| resource.instances.get(change.address.key())?.current.as_ref());
            let holder = Holder {
                address: Cow::Borrowed(&change.address),
                deposed: change.deposed.as_ref(),
                object: Object::Planned(&change.before),
                needs: &change.dependencies,
                made_with: stored.map_or(&[][..], |object| &object.dependencies),
                action: Some(change.action),
            };
            found.add(holder, |add| each_text(&change.before, add));
        }
    }

    /// What is in the state, and not in the plan.
    fn add_others(&self, found: &mut Found<'p>) {
        let planned: BTreeSet<&AbsInstance> = self.changes.iter().map(|change| &change.address).collect();
        for (resource, state) in &self.prior.resources {
            for (key, instance) in &state.instances {
                let address = resource.instance(key.clone());
                if planned.contains(&address) {
                    continue;
                }
                for object in instance.current.iter().chain(instance.deposed.values()) {
                    let holder = Holder {
                        address: Cow::Owned(address.clone()),
                        deposed: None,
                        object: Object::Stored(&object.attributes),
                        needs: &[],
                        made_with: &object.dependencies,
                        action: None,
                    };
                    found.add(holder, |add| each_stored_text(&object.attributes, add));
                }
            }
        }
    }

    /// Whether an object was made with a resource. For one that was somewhere else then, what is known of it now says so.
    fn was_made_with(&self, holder: &Holder<'_>, resource: &ConfigResource) -> bool {
        let state = self.previous.resources.get(&holder.address.resource());
        let object = state.and_then(|state| state.instances.get(holder.address.key())?.current.as_ref());
        object.map_or(holder.made_with, |object| &object.dependencies).contains(resource)
    }

    /// Whether an object is the only one of its resource, so that whoever refers to that refers to it.
    fn is_alone(&self, address: &AbsInstance) -> bool {
        let state = self.prior.resources.get(&address.resource());
        address.module.steps().iter().all(|step| step.key.is_none())
            && state.is_some_and(|state| state.instances.len() == 1)
    }

    /// Whether the declaration of one object refers to that of another one, with no resource between them.
    fn refers(&self, from: &AbsInstance, to: &AbsInstance) -> bool {
        let node = |address: &AbsInstance| {
            self.graph.resource_node(address.module.module().names(), &address.instance.resource)
        };
        let (Some(from), Some(to)) = (node(from), node(to)) else { return false };
        let is_between = |node: &NodeIndex| {
            matches!(self.graph.nodes[*node].kind, NodeKind::Variable(_) | NodeKind::Local(_) | NodeKind::Output(_))
        };
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(node) = open.pop() {
            if self.graph.needs[node].contains(&to) {
                return true;
            }
            open.extend(self.graph.needs[node].iter().copied().filter(|next| is_between(next) && seen.insert(*next)));
        }
        false
    }
}

impl Default for Found<'_> {
    fn default() -> Self {
        Self {
            holders: Vec::new(),
            by_text: HashMap::new(),
            by_resource: OnceCell::new(),
            by_dependency: OnceCell::new(),
        }
    }
}

impl<'p> Found<'p> {
    fn add(&mut self, holder: Holder<'p>, texts: impl FnOnce(&mut dyn FnMut(&Str))) {
        let at = self.holders.len();
        texts(&mut |text| match self.by_text.get_mut(text) {
            Some(holders) if holders.last() == Some(&at) => {}
            Some(holders) => holders.push(at),
            None => {
                self.by_text.insert(text.clone(), vec![at]);
            }
        });
        self.holders.push(holder);
    }

    fn of_resource(&self, resource: &ConfigResource) -> &[usize] {
        let all = self.by_resource.get_or_init(|| {
            let mut all: BTreeMap<ConfigResource, Vec<usize>> = BTreeMap::new();
            for (at, holder) in self.holders.iter().enumerate() {
                all.entry(holder.address.config()).or_default().push(at);
            }
            all
        });
        all.get(resource).map(Vec::as_slice).unwrap_or_default()
    }

    fn depending_on(&self, resource: &ConfigResource) -> &[usize] {
        let all = self.by_dependency.get_or_init(|| {
            let mut all: BTreeMap<ConfigResource, Vec<usize>> = BTreeMap::new();
            for (at, holder) in self.holders.iter().enumerate() {
                for dependency in holder.dependencies() {
                    let holders = all.entry(dependency.clone()).or_default();
                    if holders.last() != Some(&at) {
                        holders.push(at);
                    }
                }
            }
            all
        });
        all.get(resource).map(Vec::as_slice).unwrap_or_default()
    }
}

/// What has to do with one object.
pub(super) struct Near<'n, 'p> {
    around: &'n Surroundings<'p>,
    change: &'p Change,
}

impl Neighbours for Near<'_, '_> {
    fn dependents(&self, types: &[Glob], identity: &[Str]) -> Vec<Attached> {
        self.around.asked.set(true);
        let found = self.around.found();
        let own = self.change.address.config();
        let ids = identities(&self.change.before, identity);
        let is_wanted = |at: &usize| {
            let holder = &found.holders[*at];
            holder.is_managed() && is_of(holder, types) && *holder.address != self.change.address
        };
        let depending = || found.depending_on(&own).iter().copied().filter(is_wanted);
        let holders: BTreeSet<usize> = if ids.is_empty() {
            // Without anything to know it by, whoever depends on the resource may hold it.
            depending().collect()
        } else {
            let holding = ids.iter().filter_map(|id| found.by_text.get(id)).flatten().copied();
            let mut holding: BTreeSet<usize> =
                holding.filter(is_wanted).filter(|at| found.holders[*at].depends_on(&own)).collect();
            if self.around.is_alone(&self.change.address) {
                holding.extend(depending().filter(|at| self.is_used_by(&found.holders[*at], &own)));
            }
            holding
        };
        holders.into_iter().map(|at| &found.holders[at]).map(|holder| holder.attached(holder.holds())).collect()
    }

    fn references(&self, types: &[Glob], identity: &[Str]) -> Vec<Attached> {
        self.around.asked.set(true);
        let found = self.around.found();
        let mut attached = Vec::new();
        for dependency in self.change.dependencies.iter() {
            for holder in found.of_resource(dependency).iter().map(|at| &found.holders[*at]) {
                if !is_of(holder, types) {
                    continue;
                }
                let ids = holder.object.identities(identity);
                let held = ids.iter().filter_map(|id| self.still_refers(id)).max();
                // What of it is used, and whether that will be the same, nobody can tell.
                let may_be_used = || {
                    ids.is_empty()
                        || self.around.is_alone(&holder.address)
                            && self.around.refers(&self.change.address, &holder.address)
                };
                let held = held.or_else(|| may_be_used().then_some(Truth::Unknown));
                attached.extend(held.map(|truth| holder.attached(truth)));
            }
        }
        attached
    }

    fn siblings(&self) -> usize {
        // All instances of a resource ask the same.
        if let Some(count) = self.known_siblings() {
            return count;
        }
        let state = self.around.prior.resources.get(&self.change.address.resource());
        let instances = state.into_iter().flat_map(|state| state.instances.values());
        let count = instances.filter(|instance| instance.current.is_some()).count();
        self.around.siblings.set(Some((self.change, count)));
        count
    }
}

impl Near<'_, '_> {
    /// How many siblings there are, if somebody has asked.
    pub(super) fn known_siblings(&self) -> Option<usize> {
        let (other, count) = self.around.siblings.get()?;
        is_same_resource(other, self.change).then_some(count)
    }

    /// Whether another object was made with this one, and its declaration refers to this one.
    fn is_used_by(&self, holder: &Holder<'_>, own: &ConfigResource) -> bool {
        self.around.was_made_with(holder, own) && self.around.refers(&holder.address, &self.change.address)
    }

    /// Whether what takes the object's place refers to the same thing. None if the object does not refer to it either.
    fn still_refers(&self, id: &str) -> Option<Truth> {
        let mut places = Vec::new();
        self.change.before.walk(&mut |path, value| {
            if value.as_str() == Some(id) {
                places.push(path.clone());
            }
            WalkControl::Enter
        });
        let truths = places.iter().map(|place| match self.change.after.apply_path(place).ok() {
            Some(value) if value.as_str() == Some(id) => Truth::True,
            Some(value) if !value.is_known() => Truth::Unknown,
            _ => Truth::False,
        });
        truths.max()
    }
}

fn is_of(holder: &Holder<'_>, types: &[Glob]) -> bool {
    types.iter().any(|ty| ty.matches(&holder.address.instance.resource.ty))
}

/// The names of what an object is known by.
fn usual(names: &[Str]) -> Cow<'_, [Str]> {
    if names.is_empty() { Cow::Owned(vec![Str::new(ID)]) } else { Cow::Borrowed(names) }
}

/// What an object is known by.
pub(super) fn identities(object: &Value, names: &[Str]) -> Vec<Str> {
    let entries = object.as_entries();
    let names = usual(names);
    let texts = names.iter().filter_map(|name| match entries?.get(name)?.kind() {
        ValueKind::String(text) => Some(text.clone()),
        _ => None,
    });
    texts.filter(|text| !text.is_empty()).collect()
}

/// Visits all texts in a value.
fn each_text(value: &Value, visit: &mut dyn FnMut(&Str)) {
    match value.kind() {
        ValueKind::String(text) => visit(text),
        ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => {
            for item in items {
                each_text(item, visit);
            }
        }
        ValueKind::Map(entries) | ValueKind::Object(entries) => {
            for item in entries.values() {
                each_text(item, visit);
            }
        }
        ValueKind::Null | ValueKind::Unknown(_) | ValueKind::Bool(_) | ValueKind::Number(_) => {}
    }
}

pub(super) fn each_stored_text(attributes: &Attributes, visit: &mut dyn FnMut(&Str)) {
    match attributes {
        Attributes::Json(text) => json::decode_implied(text).iter().for_each(|value| each_text(value, visit)),
        Attributes::Flat(entries) => entries.values().for_each(|text| visit(&Str::from(text.as_str()))),
    }
}
