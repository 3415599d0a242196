//! What has to do with an object that is replaced: who depends on it, what it refers to, and how many like it there are.
//!
//! States say which resources an object depends on, not which instances, and say it of everything behind those, too. So what is held is told
//! by value: somewhere in the one object stands what identifies the other.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use groma_model::address::{AbsInstance, ConfigResource, DeposedKey};
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
    /// What it needs, and what it was made with.
    dependencies: [&'p [ConfigResource]; 2],
    /// What the plan does with it. None if the plan is not about it.
    action: Option<Action>,
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

    fn depends_on(&self, resource: &ConfigResource) -> bool {
        self.dependencies.iter().any(|dependencies| dependencies.contains(resource))
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
    found: OnceCell<Found<'p>>,
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
    pub(super) fn new(changes: &'p [Change], prior: &'p State) -> Self {
        Self { changes, prior, found: OnceCell::new(), siblings: Cell::new(None) }
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
                dependencies: [&change.dependencies, stored.map_or(&[][..], |object| &object.dependencies)],
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
                        dependencies: [&object.dependencies, &[]],
                        action: None,
                    };
                    found.add(holder, |add| each_stored_text(&object.attributes, add));
                }
            }
        }
    }

    /// What is planned for the current object at an address. Changes are in the order of addresses, and current objects come first.
    fn planned_at(&self, address: &AbsInstance) -> Option<&'p Change> {
        let at = self.changes.partition_point(|change| change.address < *address);
        self.changes.get(at).filter(|change| change.address == *address)
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
                for dependency in holder.dependencies.iter().copied().flatten() {
                    all.entry(dependency.clone()).or_default().push(at);
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
        let found = self.around.found();
        let own = self.change.address.config();
        let ids = identities(&self.change.before, identity);
        // Without anything to know it by, whoever depends on the resource may hold it.
        let candidates: BTreeSet<usize> = if ids.is_empty() {
            found.depending_on(&own).iter().copied().collect()
        } else {
            ids.iter().filter_map(|id| found.by_text.get(id)).flatten().copied().collect()
        };
        let holders = candidates.into_iter().map(|at| &found.holders[at]);
        let depending = holders.filter(|holder| *holder.address != self.change.address && holder.depends_on(&own));
        depending.filter(|holder| is_of(holder, types)).map(|holder| holder.attached(holder.holds())).collect()
    }

    fn references(&self, types: &[Glob], identity: &[Str]) -> Vec<Attached> {
        let found = self.around.found();
        let mut attached = Vec::new();
        for dependency in self.change.dependencies.iter() {
            for holder in found.of_resource(dependency).iter().map(|at| &found.holders[*at]) {
                if !is_of(holder, types) {
                    continue;
                }
                let object = self.around.planned_at(&holder.address);
                let ids = object.map(|change| identities(&change.before, identity)).unwrap_or_default();
                let held = ids.iter().map(|id| self.still_refers(id)).max_by_key(|held| held.map(|truth| truth as u8));
                attached.extend(held.flatten().map(|truth| holder.attached(truth)));
            }
        }
        attached
    }

    fn siblings(&self) -> usize {
        // All instances of a resource ask the same.
        if let Some((_, count)) = self.around.siblings.get().filter(|(other, _)| is_same_resource(other, self.change)) {
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

/// What an object is known by.
pub(super) fn identities(object: &Value, names: &[Str]) -> Vec<Str> {
    let entries = object.as_entries();
    let default = [Str::new(ID)];
    let names = if names.is_empty() { default.as_slice() } else { names };
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
