//! Everything that a provider has made, and a run of groma that lets it make more.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_model::address::{
    AbsObject, DeposedKey, ModuleInstance, Provider, ProviderConfig, ProviderInstance, Resource,
};
use groma_model::address::{InstanceKey, Module};
use groma_state::journal::{
    Action, After, Change, Conflict, ConflictKind, Damage, FileHome, Folded, Intent, Journal, Operation, RunId,
};
use groma_state::{
    Attributes, Disk as _, Keeper, Layout, Ledger, LedgerError, LockError, LockInfo, ObjectState, Recovered,
    ResourceState, Run, State, StateStore, StoreError, Version, WitnessFile, decode_bytes, encode, object_id,
    replace_whole,
};

use super::Dice;
use super::disk::Simulated;

/// How many addresses there are.
const ADDRESSES: usize = 8;

/// A state in a file, replaced whole.
pub(crate) struct Store(pub(crate) Simulated);

pub(crate) fn state_path() -> PathBuf {
    PathBuf::from("project/terraform.tfstate")
}

impl StateStore for Store {
    fn read(&mut self) -> Result<Option<State>, StoreError> {
        let bytes = self.0.read(&state_path()).unwrap();
        Ok(bytes.map(|bytes| decode_bytes(&bytes).expect("a state is there whole")))
    }

    fn write(&mut self, expected: Option<&Version>, next: &State) -> Result<(), StoreError> {
        let found = self.read()?.as_ref().map(Version::from);
        if found.as_ref() != expected {
            return Err(StoreError::Conflict { expected: expected.cloned(), found });
        }
        let text = encode(next, Layout::Indented).unwrap();
        let failed = |source| groma_state::FileError::Io { path: state_path(), source };
        replace_whole(&self.0, &state_path(), text.as_bytes()).map_err(failed)?;
        Ok(())
    }

    fn lock(&mut self, _: &LockInfo) -> Result<(), LockError> {
        Ok(())
    }

    fn unlock(&mut self, _: &str) -> Result<(), LockError> {
        Ok(())
    }

    fn force_unlock(&mut self, _: &str) -> Result<(), LockError> {
        Ok(())
    }
}

fn provider() -> ProviderInstance {
    let provider = Provider::new("registry.opentofu.org", "test", "test");
    ProviderConfig { module: Module::root(), provider, alias: None }.instance(InstanceKey::None)
}

fn address(at: usize) -> AbsObject {
    Resource::managed("test_thing", format!("a{at}"))
        .absolute(ModuleInstance::root())
        .instance(InstanceKey::None)
        .object(None)
}

fn object(id: u64, version: u64) -> ObjectState {
    ObjectState::new(0, Attributes::Json(format!("{{\"id\":\"{id}\",\"version\":{version}}}")))
}

/// What really exists, by id: its version, and the change that made it.
#[derive(Default)]
pub(crate) struct World {
    things: BTreeMap<u64, (u64, Option<Operation>)>,
    next: u64,
    /// What the next run must know, whatever happened: objects that were acknowledged.
    acknowledged: BTreeMap<AbsObject, Option<ObjectState>>,
    /// What it may know instead, because it was written down but nobody was told.
    perhaps: BTreeMap<AbsObject, Vec<Option<ObjectState>>>,
    /// The largest serial that was ever seen.
    serial: u64,
    /// Whether something else wrote the state since the last run.
    meddled: bool,
    runs: u8,
}

/// A change that was begun and not ended.
struct Open {
    operation: Option<Operation>,
    object: AbsObject,
    after: After,
}

/// A run of groma.
struct Running<'w> {
    world: &'w mut World,
    ledger: Ledger<Store>,
    journal: Arc<Journal>,
    state: State,
    open: Vec<Open>,
    replaced: u32,
}

pub(crate) fn get<'s>(state: &'s State, at: &AbsObject) -> Option<&'s ObjectState> {
    let instance = state.resources.get(&at.instance.resource())?.instances.get(at.instance.key())?;
    at.deposed.as_ref().map_or(instance.current.as_ref(), |key| instance.deposed.get(key))
}

fn set(state: &mut State, at: &AbsObject, object: Option<ObjectState>) {
    let address = at.instance.resource();
    let config = provider().config;
    let resource = state
        .resources
        .entry(address.clone())
        .or_insert_with(|| ResourceState { provider: config, instances: BTreeMap::new() });
    let instance = resource.instances.entry(at.instance.key().clone()).or_default();
    match (&at.deposed, object) {
        (None, object) => instance.current = object,
        (Some(key), Some(object)) => drop(instance.deposed.insert(key.clone(), object)),
        (Some(key), None) => drop(instance.deposed.remove(key)),
    }
    if instance.current.is_none() && instance.deposed.is_empty() {
        state.resources.remove(&address);
    }
}

fn id_of(object: &ObjectState) -> u64 {
    object_id(object).unwrap().parse().unwrap()
}

impl World {
    fn ledger(disk: &Simulated) -> Ledger<Store> {
        let shared: Arc<dyn groma_state::Disk> = Arc::new(disk.clone());
        let journal = FileHome::beside(&state_path()).unwrap();
        let home = FileHome::new(Arc::clone(&shared), journal, vec![PathBuf::from("spare/journal")]);
        let witness = WitnessFile::new(shared, WitnessFile::beside(&state_path()).unwrap());
        Ledger::new(Keeper::new(Store(disk.clone())), Box::new(home), Some(witness))
    }

    /// Recovers, checks that nothing is lost, and works on until the power goes, or the end.
    pub(crate) fn run(&mut self, disk: &Simulated, dice: &mut Dice, steps: usize) -> Result<(), LedgerError> {
        let mut ledger = Self::ledger(disk);
        let recovered = ledger.recover("the state", Damage::Refuse).expect("what is there can be recovered");
        self.check(&recovered);
        self.runs += 1;
        let state = recovered.state().cloned().unwrap_or_default();
        let in_flight = recovered.folded.as_ref().map(|folded| folded.in_flight.clone()).unwrap_or_default();
        let twins = recovered.folded.as_ref().map(unsettled).unwrap_or_default();
        self.acknowledged = objects(&state).into_iter().map(|(at, object)| (at, Some(object))).collect();
        self.perhaps.clear();
        let run = Run { id: RunId([self.runs; 8]), lock: "first-lock".to_owned(), tool: "test".to_owned() };
        let journal = ledger.begin(run, recovered, &mut || [7; 16])?;
        let meddled = std::mem::take(&mut self.meddled);
        let mut running = Running { world: self, ledger, journal, state, open: Vec::new(), replaced: 0 };
        for intent in in_flight {
            running.find_out(&intent)?;
        }
        running.refresh(meddled)?;
        for twin in twins {
            if dice.one_in(2) {
                running.world.things.remove(&id_of_outcome(&twin));
                let ticket = running.journal.settle(twin.outcome.operation)?;
                running.journal.wait(ticket)?;
            }
        }
        running.work(dice, steps)
    }

    /// Nothing that exists is unknown, and nothing that was acknowledged is forgotten.
    fn check(&mut self, recovered: &Recovered) {
        let stored = recovered.stored.as_ref().map_or(0, |state| state.serial);
        assert!(stored >= self.serial, "serial {stored} after {}", self.serial);
        self.serial = stored;
        let nothing = State::default();
        let state = recovered.state().unwrap_or(&nothing);
        let known = objects(state);
        let folded = recovered.folded.as_ref();
        for (id, (_, made_by)) in &self.things {
            let in_state = known.values().any(|object| id_of(object) == *id);
            let in_flight = folded.is_some_and(|folded| {
                folded.in_flight.iter().any(|intent| {
                    Some(intent.operation) == *made_by
                        || intent.before.as_ref().is_some_and(|before| before.id == Some(id.to_string()))
                })
            });
            let twin = folded.is_some_and(|folded| unsettled(folded).iter().any(|twin| id_of_outcome(twin) == *id));
            assert!(in_state || in_flight || twin, "thing {id} is forgotten: {recovered:#?}");
        }
        if self.meddled {
            return;
        }
        let conflicts = folded.map(|folded| folded.conflicts.as_slice()).unwrap_or_default();
        let odd = conflicts.iter().find(|conflict| !conflict.is_unsettled());
        assert!(odd.is_none(), "nobody else was there: {odd:?}");
        for (at, expected) in &self.acknowledged {
            let found = get(state, at);
            let perhaps =
                self.perhaps.get(at).is_some_and(|versions| versions.iter().any(|object| object.as_ref() == found));
            assert!(found == expected.as_ref() || perhaps, "{at}: expected {expected:?}, found {found:?}");
        }
        for at in known.keys() {
            let expected = self.acknowledged.contains_key(at) || self.perhaps.contains_key(at);
            assert!(expected, "{at} was never there");
        }
    }

    /// Another tool, which knows nothing of journals.
    pub(crate) fn meddle(&mut self, disk: &Simulated, dice: &mut Dice) {
        let Some(mut state) = Store(disk.clone()).read().unwrap() else { return };
        self.meddled = true;
        for _ in 0..dice.below(4) {
            let at = address(dice.below(ADDRESSES));
            match get(&state, &at).map(id_of) {
                None => {
                    self.next += 1;
                    self.things.insert(self.next, (0, None));
                    set(&mut state, &at, Some(object(self.next, 0)));
                }
                // It looks before it does anything.
                Some(id) if !self.things.contains_key(&id) => set(&mut state, &at, None),
                Some(id) if dice.one_in(2) => {
                    self.things.remove(&id);
                    set(&mut state, &at, None);
                }
                Some(id) => {
                    let version = dice.below(1000) as u64 + 1000;
                    if let Some(thing) = self.things.get_mut(&id) {
                        thing.0 = version;
                    }
                    set(&mut state, &at, Some(object(id, version)));
                }
            }
        }
        state.serial += 1;
        disk.write(&state_path(), encode(&state, Layout::Indented).unwrap().as_bytes());
    }
}

fn unsettled(folded: &Folded) -> Vec<Conflict> {
    folded.conflicts.iter().filter(|conflict| matches!(conflict.kind, ConflictKind::Twin { .. })).cloned().collect()
}

fn id_of_outcome(conflict: &Conflict) -> u64 {
    match &conflict.outcome.after {
        After::Present { object, .. } => id_of(object),
        _ => panic!("only objects have no place: {conflict:?}"),
    }
}

fn objects(state: &State) -> BTreeMap<AbsObject, ObjectState> {
    let all = state.managed_objects().into_iter();
    all.map(|at| (at.clone(), get(state, &at).unwrap().clone())).collect()
}

impl Running<'_> {
    fn work(&mut self, dice: &mut Dice, steps: usize) -> Result<(), LedgerError> {
        for _ in 0..steps {
            match dice.below(8) {
                0 => self.save()?,
                1..4 => self.conclude(dice)?,
                _ => self.begin(dice)?,
            }
        }
        while !self.open.is_empty() {
            self.conclude(dice)?;
        }
        let stored = self.ledger.finish(self.state.clone(), &mut || [7; 16])?;
        self.world.serial = stored.state.serial;
        Ok(())
    }

    /// A state that cannot be stored is no reason to stop: the journal has everything.
    fn save(&mut self) -> Result<(), LedgerError> {
        match self.ledger.save(self.state.clone(), self.journal.mark(), &mut || [7; 16]) {
            Ok(stored) => self.world.serial = stored.state.serial,
            Err(StoreError::File(_)) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// What became of a change of an earlier run is looked up.
    fn find_out(&mut self, intent: &Intent) -> Result<(), LedgerError> {
        let things = &self.world.things;
        let made =
            things.iter().find(|(_, (_, by))| *by == Some(intent.operation)).map(|(id, (version, _))| (*id, *version));
        let old = intent.before.as_ref().and_then(|before| before.id.as_ref()?.parse().ok());
        let there = old.and_then(|id: u64| things.get(&id).map(|(version, _)| (id, *version)));
        let here = get(&self.state, &intent.object);
        let after = match intent.action {
            // Something else may have the place by now. Then it stays as it was, to be settled.
            Action::Create if made.is_some() && here.is_some() => return Ok(()),
            Action::Create => made.map_or(After::Unchanged, |(id, version)| present(id, version)),
            Action::Update | Action::Delete if here.is_none_or(|here| Some(id_of(here)) != old) => After::Unchanged,
            Action::Update => there.map_or(After::Absent, |(id, version)| present(id, version)),
            Action::Delete if there.is_some() => After::Unchanged,
            Action::Delete => After::Absent,
        };
        self.end(Open { operation: Some(intent.operation), object: intent.object.clone(), after })
    }

    /// What does not exist any more is forgotten, as it is whenever a plan is made.
    fn refresh(&mut self, meddled: bool) -> Result<(), LedgerError> {
        for (object, state) in objects(&self.state) {
            if !self.world.things.contains_key(&id_of(&state)) {
                assert!(meddled, "{object} was never there");
                self.end(Open { operation: None, object, after: After::Absent })?;
            }
        }
        Ok(())
    }

    fn busy(&self, at: &AbsObject) -> bool {
        self.open.iter().any(|open| open.object.instance == at.instance)
    }

    fn begin(&mut self, dice: &mut Dice) -> Result<(), LedgerError> {
        let at = address(dice.below(ADDRESSES));
        if self.busy(&at) || self.open.len() > 3 {
            return Ok(());
        }
        let deposed = self
            .state
            .resources
            .get(&at.instance.resource())
            .and_then(|resource| resource.instances.get(at.instance.key())?.deposed.keys().next().cloned());
        if let Some(key) = deposed {
            return self.start(Action::Delete, at.instance.object(Some(key)));
        }
        match get(&self.state, &at) {
            None => self.start(Action::Create, at),
            Some(_) => match dice.below(3) {
                0 => self.start(Action::Update, at),
                1 => self.start(Action::Delete, at),
                _ => self.put_aside(&at).and_then(|()| self.start(Action::Create, at)),
            },
        }
    }

    /// The object makes room for its replacement.
    fn put_aside(&mut self, at: &AbsObject) -> Result<(), LedgerError> {
        self.replaced += 1;
        let to = at.instance.object(Some(DeposedKey::new(u32::from(self.world.runs) << 16 | self.replaced)));
        let old = get(&self.state, at).cloned();
        set(&mut self.state, at, None);
        set(&mut self.state, &to, old.clone());
        // Nobody waits for it: it is safe before the intent is.
        self.perhaps(at, None);
        self.perhaps(&to, old.clone());
        self.world.perhaps.entry(to.clone()).or_default().push(None);
        let moved = self.journal.move_object(at, &to)?.expect("there is something");
        self.journal.wait(moved)?;
        self.world.acknowledged.insert(at.clone(), None);
        self.world.acknowledged.insert(to, old);
        Ok(())
    }

    fn perhaps(&mut self, at: &AbsObject, object: Option<ObjectState>) {
        self.world.perhaps.insert(at.clone(), vec![object]);
    }

    /// Asks the provider, once that is written down.
    fn start(&mut self, action: Action, object: AbsObject) -> Result<(), LedgerError> {
        let change = Change {
            object: object.clone(),
            action,
            provider: provider(),
            planned: None,
            identity: None,
            import_id: None,
            begun: "2026-01-02T03:04:05Z".to_owned(),
        };
        let operation = match self.journal.intend(change) {
            // Nothing new is begun when the journal had to move.
            Err(groma_state::journal::JournalError::Moved(_)) => return Ok(()),
            other => other?,
        };
        let id = get(&self.state, &object).map(id_of);
        let after = match (action, id) {
            (Action::Create, _) => {
                self.world.next += 1;
                self.world.things.insert(self.world.next, (0, Some(operation)));
                present(self.world.next, 0)
            }
            (Action::Update, Some(id)) => {
                let thing = self.world.things.get_mut(&id).expect("what is known exists");
                thing.0 += 1;
                present(id, thing.0)
            }
            (_, Some(id)) => {
                self.world.things.remove(&id);
                After::Absent
            }
            (_, None) => panic!("nothing to change at {object}"),
        };
        self.open.push(Open { operation: Some(operation), object, after });
        Ok(())
    }

    /// The provider has answered.
    fn conclude(&mut self, dice: &mut Dice) -> Result<(), LedgerError> {
        if self.open.is_empty() {
            return Ok(());
        }
        let open = self.open.swap_remove(dice.below(self.open.len()));
        self.end(open)
    }

    fn end(&mut self, open: Open) -> Result<(), LedgerError> {
        let now = match &open.after {
            After::Present { object, .. } => Some((**object).clone()),
            After::Absent => None,
            After::Unchanged => get(&self.state, &open.object).cloned(),
        };
        set(&mut self.state, &open.object, now.clone());
        self.perhaps(&open.object, now.clone());
        let ticket = self.journal.conclude(open.operation, open.object.clone(), open.after)?;
        self.journal.wait(ticket)?;
        self.world.acknowledged.insert(open.object, now);
        Ok(())
    }
}

fn present(id: u64, version: u64) -> After {
    After::Present { provider: provider(), object: Box::new(object(id, version)) }
}

/// The folder of the state.
pub(crate) fn project() -> &'static Path {
    Path::new("project")
}
