//! From a state and a journal to the state that there would be if the run had gone on to store it. Nothing is read or
//! written here.

use std::collections::BTreeMap;

use groma_model::address::{AbsObject, ProviderInstance};

use super::reader::{Condition, Contents};
use super::record::{After, Intent, Operation, Outcome, Record, Stamp};
use crate::digest::object_id;
use crate::{EncodeError, Fingerprint, ObjectState, ResourceState, State};

/// A state with everything that a journal says.
#[derive(Debug, Clone, PartialEq)]
pub struct Folded {
    /// The state. Its lineage and serial are those of what is stored, or of a state to be.
    pub state: State,
    /// Whether it says anything that the stored one does not.
    pub changed: bool,
    /// Whether something else stored a state after the journal was last sure of it.
    pub moved_by_others: bool,
    /// Changes that have begun, and that nobody knows the outcome of.
    pub in_flight: Vec<Intent>,
    /// Where the journal and the state disagree.
    pub conflicts: Vec<Conflict>,
    /// Whether records at the end of the journal were cut off, and where.
    pub condition: Condition,
}

/// An outcome that could not simply be put into the state.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// The outcome.
    pub outcome: Outcome,
    /// What is in the way.
    pub kind: ConflictKind,
}

/// What is in the way of an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConflictKind {
    /// Another object is there. Both are real, so this one is kept in the journal until somebody settles it.
    Twin {
        /// What names the other.
        theirs: Option<String>,
    },
    /// Something else has changed the same object since. What that stored stays.
    Changed,
    /// Something else has removed the object from the state since. It stays so.
    Removed,
    /// The same object has another address in the state now. It stays there.
    Elsewhere(AbsObject),
}

impl Conflict {
    /// Whether an object would be forgotten if this were.
    pub fn is_unsettled(&self) -> bool {
        matches!(self.kind, ConflictKind::Twin { .. })
    }
}

impl Folded {
    /// What a new journal must begin with once the state is stored, so that nothing is forgotten.
    pub fn kept(&self) -> Vec<Record> {
        let intents = self.in_flight.iter().map(|intent| Record::Intent(Box::new(intent.clone())));
        let twins = self.conflicts.iter().filter(|conflict| conflict.is_unsettled());
        intents.chain(twins.map(|conflict| Record::Unplaced(Box::new(conflict.outcome.clone())))).collect()
    }
}

/// Why a journal cannot be folded into a state.
#[derive(Debug, thiserror::Error)]
pub enum FoldError {
    /// Records that were safe once are gone.
    #[error("the journal {place} is damaged at byte {at}")]
    Damaged {
        /// Which journal.
        place: String,
        /// Where.
        at: usize,
    },
    /// The first part of the journal is gone.
    #[error("the first {0} records of the journal are missing")]
    Missing(u64),
    /// It belongs to another state.
    #[error("the journal belongs to lineage {journal:?}, but the state has lineage {state:?}")]
    OtherLineage {
        /// Of the journal.
        journal: String,
        /// Of the state.
        state: String,
    },
    /// The state is older than what the journal starts from.
    #[error("the state has serial {state}, but the journal goes on from serial {journal}")]
    Older {
        /// Of the state. None if there is no state.
        state: Printed,
        /// Of what the journal starts from.
        journal: u64,
    },
    /// The state has no text.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// A serial, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Printed(pub Option<u64>);

impl std::fmt::Display for Printed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(serial) => write!(f, "{serial}"),
            None => f.write_str("none, for there is no state"),
        }
    }
}

/// Whether to fold what is left of a journal that is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// Not without somebody who says so.
    Refuse,
    /// Yes: everything that can be read is true.
    TakeTheRest,
}

/// Folds a journal into the state that is stored now.
pub fn fold(stored: Option<&State>, journal: &Contents, damage: Damage) -> Result<Folded, FoldError> {
    if let (Condition::Damaged(gap), Damage::Refuse) = (&journal.condition, damage) {
        return Err(FoldError::Damaged { place: gap.place.clone(), at: gap.at });
    }
    let known = Known::of(stored, journal)?;
    let damaged = matches!(journal.condition, Condition::Damaged(_));
    let mut state = stored.cloned().unwrap_or_default();
    if let Some(header) = journal.header.as_ref().filter(|_| state.lineage.is_empty()) {
        state.lineage.clone_from(&header.lineage);
    }
    let mut folding = Folding {
        elsewhere: (known.moved_by_others || damaged).then(|| names(&state)),
        damaged,
        state,
        changed: false,
        in_flight: BTreeMap::new(),
        overlay: BTreeMap::new(),
        unplaced: BTreeMap::new(),
    };
    for (number, record) in &journal.records {
        folding.take(record, *number > known.covered);
    }
    Ok(Folded {
        state: folding.state,
        changed: folding.changed,
        moved_by_others: known.moved_by_others,
        in_flight: folding.in_flight.into_values().collect(),
        conflicts: folding.unplaced.into_values().chain(folding.overlay.into_values()).collect(),
        condition: journal.condition.clone(),
    })
}

/// How much of the journal the stored state is known to include.
struct Known {
    covered: u64,
    moved_by_others: bool,
}

impl Known {
    fn of(stored: Option<&State>, journal: &Contents) -> Result<Known, FoldError> {
        let Some(header) = &journal.header else {
            // Nothing can be known, so everything is compared.
            return Ok(Known { covered: 0, moved_by_others: true });
        };
        let line = |lineage: &str| !lineage.is_empty() && lineage != header.lineage;
        if let Some(state) = stored.filter(|state| line(&state.lineage) && !header.lineage.is_empty()) {
            return Err(FoldError::OtherLineage { journal: header.lineage.clone(), state: state.lineage.clone() });
        }
        // A file that was made only to be locked is no state yet.
        let stored = stored.filter(|state| state.serial > 0 || !state.is_empty());
        let serial = stored.map(|state| state.serial);
        if let Some(base) = header.base.filter(|base| serial.is_none_or(|serial| serial < base.serial)) {
            return Err(FoldError::Older { state: Printed(serial), journal: base.serial });
        }
        let now = stored.map(Stamp::of).transpose()?;
        let mut known = Known { covered: 0, moved_by_others: now != header.base };
        for record in journal.records.values() {
            match record {
                // It was stored, whatever is there now.
                Record::Stored { stamp, covers } => {
                    if serial.is_none_or(|serial| serial < stamp.serial) {
                        return Err(FoldError::Older { state: Printed(serial), journal: stamp.serial });
                    }
                    known = Known { covered: *covers, moved_by_others: Some(*stamp) != now };
                }
                Record::Snapshot { stamp, covers } if Some(*stamp) == now => {
                    known = Known { covered: *covers, moved_by_others: false };
                }
                _ => {}
            }
        }
        if header.continues && known.covered < header.after && !journal.records.contains_key(&header.after) {
            return Err(FoldError::Missing(header.after));
        }
        Ok(known)
    }
}

/// What names an object among those of its type.
type Name = (String, String);

fn name(object: &AbsObject, id: String) -> Name {
    (object.instance.instance.resource.ty.to_string(), id)
}

/// Where every object is that has a name.
fn names(state: &State) -> BTreeMap<Name, AbsObject> {
    let mut found = BTreeMap::new();
    for (address, resource) in &state.resources {
        for (key, instance) in &resource.instances {
            let current = instance.current.iter().map(|object| (None, object));
            for (deposed, object) in current.chain(instance.deposed.iter().map(|(key, object)| (Some(key), object))) {
                if let Some(id) = object_id(object) {
                    let at = address.instance(key.clone()).object(deposed.cloned());
                    found.insert(name(&at, id), at);
                }
            }
        }
    }
    found
}

struct Folding {
    state: State,
    changed: bool,
    in_flight: BTreeMap<Operation, Intent>,
    /// Objects as the run had them, where the state has something else. Later records say what became of them.
    overlay: BTreeMap<AbsObject, Conflict>,
    /// Objects of earlier runs without a place.
    unplaced: BTreeMap<Operation, Conflict>,
    /// Where objects are, if something else may have changed the state, or not everything is known that this run did.
    elsewhere: Option<BTreeMap<Name, AbsObject>>,
    damaged: bool,
}

impl Folding {
    fn take(&mut self, record: &Record, is_new: bool) {
        match record {
            Record::Intent(intent) => {
                self.in_flight.insert(intent.operation, (**intent).clone());
            }
            Record::Outcome(outcome) => {
                self.in_flight.remove(&outcome.operation);
                if is_new {
                    self.conclude(outcome);
                }
            }
            Record::Moved { from, to, what } if is_new => self.move_object(from, to, what),
            Record::Unplaced(outcome) => {
                let theirs = get(&self.state, &outcome.object).and_then(object_id);
                let conflict = Conflict { outcome: (**outcome).clone(), kind: ConflictKind::Twin { theirs } };
                self.unplaced.insert(outcome.operation, conflict);
            }
            Record::Settled(operation) => {
                self.in_flight.remove(operation);
                self.unplaced.remove(operation);
            }
            Record::Moved { .. } | Record::Snapshot { .. } | Record::Stored { .. } => {}
        }
    }

    fn conclude(&mut self, outcome: &Outcome) {
        if self.elsewhere.is_some() && !matches!(outcome.after, After::Unchanged) {
            let overlaid = self.overlay.remove(&outcome.object).is_some();
            match self.in_the_way(outcome, overlaid) {
                Way::Free => {}
                Way::Gone => return,
                Way::Blocked(kind) => {
                    let conflict = Conflict { outcome: outcome.clone(), kind };
                    self.overlay.insert(outcome.object.clone(), conflict);
                    return;
                }
            }
        }
        match &outcome.after {
            After::Unchanged => {}
            After::Absent => self.changed |= take(&mut self.state, &outcome.object).is_some(),
            After::Present { provider, object } => {
                if get(&self.state, &outcome.object) != Some(&**object) {
                    put(&mut self.state, &outcome.object, provider, (**object).clone());
                    self.changed = true;
                }
            }
        }
    }

    /// What something else did to the state that an outcome must not undo. Nothing if the object there is what the
    /// outcome began from, or what it says already.
    fn in_the_way(&mut self, outcome: &Outcome, overlaid: bool) -> Way {
        let there = get(&self.state, &outcome.object).map(Fingerprint::of);
        let before = outcome.before.as_ref();
        let is_before = there.as_ref().map(|there| there.digest) == before.map(|before| before.digest);
        let After::Present { object, .. } = &outcome.after else {
            // What was deleted is gone, whatever was seen of it before. What is there instead is none of its business.
            return match &there {
                Some(there) if is_before || before.is_some_and(|before| there.is_also(before)) => Way::Free,
                None => Way::Free,
                Some(_) if overlaid => Way::Gone,
                Some(_) => Way::Blocked(ConflictKind::Changed),
            };
        };
        let ours = Fingerprint::of(object);
        let kind = match &there {
            Some(there) if there.digest == ours.digest || is_before => None,
            Some(there) if there.is_also(&ours) => Some(ConflictKind::Changed),
            Some(there) => Some(ConflictKind::Twin { theirs: there.id.clone() }),
            None => match self.elsewhere(outcome, &ours) {
                Some(at) => Some(ConflictKind::Elsewhere(at)),
                // If records are missing, the one that made it may be.
                None if before.is_some() && !self.damaged => Some(ConflictKind::Removed),
                None => None,
            },
        };
        let Some(kind) = kind else {
            self.remember(outcome, ours);
            return Way::Free;
        };
        Way::Blocked(kind)
    }

    fn elsewhere(&self, outcome: &Outcome, ours: &Fingerprint) -> Option<AbsObject> {
        let at = self.elsewhere.as_ref()?.get(&name(&outcome.object, ours.id.clone()?))?;
        // Unless it has left since.
        get(&self.state, at).filter(|object| object_id(object) == ours.id).map(|_| at.clone())
    }

    fn remember(&mut self, outcome: &Outcome, ours: Fingerprint) {
        if let (Some(elsewhere), Some(id)) = (&mut self.elsewhere, ours.id) {
            elsewhere.insert(name(&outcome.object, id), outcome.object.clone());
        }
    }

    /// Nothing is lost by not moving: the object is where it was.
    fn move_object(&mut self, from: &AbsObject, to: &AbsObject, what: &Fingerprint) {
        let is_what = |object: &ObjectState| {
            let there = Fingerprint::of(object);
            there.digest == what.digest || there.is_also(what)
        };
        if get(&self.state, from).is_some_and(is_what)
            && get(&self.state, to).is_none()
            && let Some((provider, object)) = take(&mut self.state, from)
        {
            put(&mut self.state, to, &provider, object);
            self.changed = true;
        }
        if let Some(mut conflict) = self.overlay.remove(from) {
            // Its new place may be free, or have it already.
            conflict.outcome.object = to.clone();
            if conflict.kind == ConflictKind::Removed {
                self.overlay.insert(to.clone(), conflict);
            } else {
                conflict.outcome.before = None;
                self.conclude(&conflict.outcome);
            }
        }
    }
}

/// Whether an outcome has its place.
enum Way {
    /// It has.
    Free,
    /// It needs none any more.
    Gone,
    /// Something is there.
    Blocked(ConflictKind),
}

/// An object of a state.
pub(crate) fn get<'s>(state: &'s State, at: &AbsObject) -> Option<&'s ObjectState> {
    let instance = state.resources.get(&at.instance.resource())?.instances.get(at.instance.key())?;
    match &at.deposed {
        None => instance.current.as_ref(),
        Some(key) => instance.deposed.get(key),
    }
}

fn put(state: &mut State, at: &AbsObject, provider: &ProviderInstance, object: ObjectState) {
    let resource = state
        .resources
        .entry(at.instance.resource())
        .or_insert_with(|| ResourceState { provider: provider.config.clone(), instances: BTreeMap::new() });
    let instance = resource.instances.entry(at.instance.key().clone()).or_default();
    match &at.deposed {
        None => {
            resource.provider = provider.config.clone();
            instance.provider_key = provider.key.clone();
            instance.current = Some(object);
        }
        Some(key) => {
            if instance.current.is_none() && instance.deposed.is_empty() {
                instance.provider_key = provider.key.clone();
            }
            instance.deposed.insert(key.clone(), object);
        }
    }
}

fn take(state: &mut State, at: &AbsObject) -> Option<(ProviderInstance, ObjectState)> {
    let address = at.instance.resource();
    let resource = state.resources.get_mut(&address)?;
    let instance = resource.instances.get_mut(at.instance.key())?;
    let object = match &at.deposed {
        None => instance.current.take(),
        Some(key) => instance.deposed.remove(key),
    };
    let provider = resource.provider.instance(instance.provider_key.clone());
    if instance.current.is_none() && instance.deposed.is_empty() {
        resource.instances.remove(at.instance.key());
    }
    if resource.instances.is_empty() {
        state.resources.remove(&address);
    }
    object.map(|object| (provider, object))
}
