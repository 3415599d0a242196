//! Servers, machines and processes, as small as they can be. What a process does is what groma does: lock, recover, begin,
//! write down, ask, write down, store.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use groma_model::address::{
    AbsObject, InstanceKey, Module, ModuleInstance, Provider, ProviderConfig, ProviderInstance, Resource,
};
use groma_state::journal::{
    Action, After, Change, Damage, FileHome, Journal, JournalFile, JournalHome, JournalPart, Operation, Record, RunId,
    read_journal,
};
use groma_state::{
    Attributes, Disk, DiskFile, InstanceState, Keeper, Ledger, LockError, LockInfo, ObjectState, Recovered,
    ResourceState, Run, State, StateStore, StoreError, Version, WitnessFile,
};

use super::SILENCE;
use super::table::{JournalPlace, LockKind, Row, Token};

/// What a holder does.
pub(crate) const STEPS: [&str; 11] = [
    "locking",
    "beginning",
    "intent a",
    "making a",
    "outcome a",
    "snapshot",
    "intent b",
    "making b",
    "outcome b",
    "the end",
    "unlocking",
];

/// The line of all states here.
const LINE: &str = "line";

type Files = Arc<Mutex<BTreeMap<PathBuf, Vec<u8>>>>;

/// A disk that never fails.
#[derive(Clone, Default)]
struct Memory(Files);

impl Disk for Memory {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        Ok(self.0.lock().unwrap().get(path).cloned())
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.0.lock().unwrap().insert(path.to_owned(), Vec::new());
        Ok(Box::new(Open(self.clone(), Mutex::new(path.to_owned()))))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut files = self.0.lock().unwrap();
        let bytes = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_owned(), bytes);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.lock().unwrap().remove(path);
        Ok(())
    }

    fn sync_names(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// By name, and so that it follows when the file gets its final one.
struct Open(Memory, Mutex<PathBuf>);

impl DiskFile for Open {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut files = self.0.0.lock().unwrap();
        let path = self.1.get_mut().unwrap();
        if !files.contains_key(path) {
            let name = path.file_name().unwrap().to_str().unwrap();
            let name =
                name.strip_prefix('.').and_then(|name| name.strip_suffix(".groma-tmp")).unwrap_or(name).to_owned();
            path.set_file_name(name);
        }
        files.get_mut(path).ok_or(io::ErrorKind::NotFound)?.extend(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A machine, and which of its processes are alive.
#[derive(Clone, Default)]
pub(crate) struct Machine {
    disk: Memory,
    alive: Arc<Mutex<BTreeSet<u8>>>,
}

impl Machine {
    /// The objects that its files know of.
    pub(crate) fn spooled(&self) -> BTreeSet<String> {
        let files = self.disk.0.lock().unwrap();
        let journals = files.iter().filter(|(path, _)| path.to_string_lossy().contains("journal"));
        let mut found = BTreeSet::new();
        for (path, bytes) in journals {
            let part = JournalPart { place: path.display().to_string(), bytes: bytes.clone() };
            for record in read_journal(&part, None).unwrap().records.into_values() {
                match record {
                    Record::Intent(intent) => found.extend([name_of(&intent.object)]),
                    Record::Outcome(outcome) => found.extend([name_of(&outcome.object)]),
                    _ => {}
                }
            }
        }
        found
    }
}

/// Where a state is kept.
#[derive(Clone)]
pub(crate) struct Server {
    row: &'static Row,
    inner: Arc<Mutex<Inner>>,
    /// Of the local backend.
    disk: Memory,
}

#[derive(Default)]
struct Inner {
    now: u64,
    state: Option<State>,
    version: u64,
    /// Who holds the lock, and when that was renewed.
    lock: Option<(u8, u64)>,
    /// By run and number. None is a fence.
    companions: BTreeMap<(u8, u64), Option<Vec<u8>>>,
}

impl Server {
    pub(crate) fn new(row: &'static Row) -> Self {
        Self { row, inner: Arc::default(), disk: Memory::default() }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Inner) -> T) -> T {
        work(&mut self.inner.lock().unwrap())
    }

    pub(crate) fn now(&self) -> u64 {
        self.with(|inner| inner.now)
    }

    pub(crate) fn wait(&self, seconds: u64) {
        self.with(|inner| inner.now += seconds);
    }

    pub(crate) fn is_locked(&self) -> bool {
        self.with(|inner| inner.lock.is_some())
    }

    pub(crate) fn seen_by_stock_tools(&self) -> BTreeSet<String> {
        self.with(|inner| inner.state.as_ref().map(names).unwrap_or_default())
    }
}

fn names(state: &State) -> BTreeSet<String> {
    state.managed_objects().iter().map(name_of).collect()
}

fn name_of(object: &AbsObject) -> String {
    object.instance.instance.resource.name.to_string()
}

/// A state where it is kept, as one process sees it.
struct Store {
    server: Server,
    run: u8,
    version: u64,
}

impl StateStore for Store {
    fn read(&mut self) -> Result<Option<State>, StoreError> {
        let (state, version) = self.server.with(|inner| (inner.state.clone(), inner.version));
        self.version = version;
        Ok(state)
    }

    fn write(&mut self, expected: Option<&Version>, next: &State) -> Result<(), StoreError> {
        let Store { server, run, version } = self;
        server.with(|inner| {
            let found = inner.state.as_ref().map(Version::from);
            let fenced = match server.row.token {
                Token::Version(_) => inner.version != *version,
                Token::LockId(_) => inner.lock.is_some_and(|(holder, _)| holder != *run),
            };
            if fenced || found.as_ref() != expected {
                return Err(StoreError::Conflict { expected: expected.cloned(), found });
            }
            inner.state = Some(next.clone());
            inner.version += 1;
            *version = inner.version;
            Ok(())
        })
    }

    fn lock(&mut self, _: &LockInfo) -> Result<(), LockError> {
        Err(LockError::AlreadyLocked)
    }

    fn unlock(&mut self, _: &str) -> Result<(), LockError> {
        Err(LockError::NotLocked)
    }

    fn force_unlock(&mut self, _: &str) -> Result<(), LockError> {
        Err(LockError::NotLocked)
    }
}

/// A journal in companion objects. What cannot be put there goes to the machine.
struct Companions {
    server: Server,
    run: u8,
    orphans: FileHome,
}

impl JournalHome for Companions {
    /// Whoever reads takes over: nothing is added to these journals any more.
    fn read(&mut self) -> io::Result<Vec<JournalPart>> {
        self.server.with(|inner| {
            let runs: BTreeSet<u8> = inner.companions.keys().map(|(run, _)| *run).collect();
            let mut parts = Vec::new();
            for run in runs {
                let of_run = inner.companions.range((run, 0)..=(run, u64::MAX));
                let bytes = of_run.flat_map(|(_, bytes)| bytes.clone().unwrap_or_default()).collect();
                parts.push(JournalPart { place: format!("run {run}"), bytes });
                let next = inner.companions.range((run, 0)..=(run, u64::MAX)).count() as u64;
                inner.companions.insert((run, next), None);
            }
            Ok(parts)
        })
    }

    fn begin(&mut self, start: &[u8]) -> io::Result<Box<dyn JournalFile>> {
        let run = self.run;
        self.server.with(|inner| {
            if inner.lock.is_none_or(|(holder, _)| holder != run) {
                return Err(io::Error::other("the lock is gone"));
            }
            inner.companions.clear();
            inner.companions.insert((run, 0), Some(start.to_vec()));
            Ok(())
        })?;
        Ok(Box::new(Segments { server: self.server.clone(), run, next: 1, added: Vec::new() }))
    }

    fn go_on_elsewhere(&mut self, start: &[u8]) -> io::Result<Box<dyn JournalFile>> {
        self.orphans.begin(start)
    }

    fn remove(&mut self) -> io::Result<()> {
        let run = self.run;
        self.server.with(|inner| inner.companions.retain(|(of, _), _| *of != run));
        Ok(())
    }
}

struct Segments {
    server: Server,
    run: u8,
    next: u64,
    added: Vec<u8>,
}

impl JournalFile for Segments {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.added.extend(bytes);
        Ok(())
    }

    /// Creates the next object, unless there is one.
    fn sync(&mut self) -> io::Result<()> {
        let Segments { server, run, next, added } = self;
        server.with(|inner| {
            // Once a journal was folded, its objects are gone, and the first one is missed.
            let gone = !inner.companions.contains_key(&(*run, 0));
            if gone || inner.companions.contains_key(&(*run, *next)) {
                return Err(io::Error::other("somebody has taken over"));
            }
            inner.companions.insert((*run, *next), Some(std::mem::take(added)));
            *next += 1;
            Ok(())
        })
    }

    fn place(&self) -> String {
        format!("run {}", self.run)
    }
}

/// One groma.
pub(crate) struct Process<'m> {
    server: Server,
    machine: &'m Machine,
    run: u8,
    ledger: Ledger<Store>,
    recovered: Option<Recovered>,
    journal: Option<Arc<Journal>>,
    state: State,
    step: usize,
    open: Option<Operation>,
    made: BTreeSet<String>,
    acknowledged: BTreeSet<String>,
    snapshot: BTreeSet<String>,
    in_flight: BTreeSet<String>,
    /// The lock that was seen, and since when.
    seen: Option<((u8, u64), u64)>,
}

fn provider() -> ProviderInstance {
    let provider = Provider::new("registry.opentofu.org", "test", "test");
    ProviderConfig { module: Module::root(), provider, alias: None }.instance(InstanceKey::None)
}

fn at(name: &str) -> AbsObject {
    Resource::managed("test_thing", name).absolute(ModuleInstance::root()).instance(InstanceKey::None).object(None)
}

fn object(name: &str) -> ObjectState {
    ObjectState::new(0, Attributes::Json(format!("{{\"id\":\"{name}\"}}")))
}

fn put(state: &mut State, name: &str) {
    let instances = [(InstanceKey::None, InstanceState::from(object(name)))].into();
    let resource = ResourceState { provider: provider().config, instances };
    state.resources.insert(at(name).instance.resource(), resource);
}

impl<'m> Process<'m> {
    pub(crate) fn new(server: &Server, machine: &'m Machine, run: u8) -> Self {
        machine.alive.lock().unwrap().insert(run);
        let store = Store { server: server.clone(), run, version: 0 };
        let local: Arc<dyn Disk> = Arc::new(machine.disk.clone());
        let beside: Arc<dyn Disk> = Arc::new(server.disk.clone());
        let home: Box<dyn JournalHome> = match server.row.journal {
            JournalPlace::Beside => Box::new(FileHome::new(Arc::clone(&beside), "state.journal".into(), Vec::new())),
            JournalPlace::Spool => Box::new(FileHome::new(Arc::clone(&local), "spool.journal".into(), Vec::new())),
            JournalPlace::Companion => Box::new(Companions {
                server: server.clone(),
                run,
                orphans: FileHome::new(Arc::clone(&local), format!("orphan-{run}.journal").into(), Vec::new()),
            }),
        };
        let witness =
            WitnessFile::new(if server.row.journal == JournalPlace::Beside { beside } else { local }, "w".into());
        Process {
            server: server.clone(),
            machine,
            run,
            ledger: Ledger::new(Keeper::new(store), home, Some(witness)),
            recovered: None,
            journal: None,
            state: State::default(),
            step: 0,
            open: None,
            made: BTreeSet::new(),
            acknowledged: BTreeSet::new(),
            snapshot: BTreeSet::new(),
            in_flight: BTreeSet::new(),
            seen: None,
        }
    }

    pub(crate) fn server(&self) -> Server {
        self.server.clone()
    }

    pub(crate) fn made(&self) -> BTreeSet<String> {
        self.made.clone()
    }

    pub(crate) fn acknowledged(&self) -> BTreeSet<String> {
        self.acknowledged.clone()
    }

    pub(crate) fn in_snapshot(&self) -> BTreeSet<String> {
        self.snapshot.clone()
    }

    pub(crate) fn in_flight(&self) -> BTreeSet<String> {
        self.in_flight.clone()
    }

    /// Tries for the lock once.
    pub(crate) fn lock(&mut self) -> bool {
        let Process { server, run, seen, machine, .. } = self;
        let dead = |holder: u8| {
            // The spool of this machine names the holder, and nobody has it open.
            server.row.journal == JournalPlace::Spool
                && machine.disk.read(Path::new("spool.journal")).unwrap().is_some()
                && !machine.alive.lock().unwrap().contains(&holder)
        };
        let lease = server.row.lock == LockKind::Lease;
        server.with(|inner| {
            if let Some(held) = inner.lock.filter(|(holder, _)| holder != run) {
                let since = match seen {
                    Some((lock, since)) if *lock == held => *since,
                    _ => {
                        *seen = Some((held, inner.now));
                        inner.now
                    }
                };
                if !lease || !(inner.now - since >= SILENCE || dead(held.0)) {
                    return false;
                }
                // What was read before is of no use to write any more.
                inner.version += 1;
                if inner.state.is_none() {
                    inner.state = Some(State { lineage: LINE.to_owned(), ..State::default() });
                }
            }
            inner.lock = Some((*run, inner.now));
            true
        })
    }

    fn unlock(&mut self) {
        let run = self.run;
        self.server.with(|inner| inner.lock = inner.lock.filter(|(holder, _)| *holder != run));
    }

    /// The process is gone, and with it what ends with processes and connections.
    pub(crate) fn kill(mut self) {
        self.machine.alive.lock().unwrap().remove(&self.run);
        if self.server.row.lock != LockKind::Lease {
            self.unlock();
        }
    }

    /// What is known, and what may have been made; and the run begins.
    pub(crate) fn recover(&mut self) -> (BTreeSet<String>, BTreeSet<String>) {
        self.look();
        self.begin().unwrap();
        (names(&self.state), self.in_flight.clone())
    }

    /// Reads everything there is.
    pub(crate) fn look(&mut self) {
        let recovered = self.ledger.recover("the state", Damage::Refuse).unwrap();
        self.state = recovered.state().cloned().unwrap_or_default();
        let in_flight = recovered.folded.iter().flat_map(|folded| &folded.in_flight);
        self.in_flight = in_flight.map(|intent| name_of(&intent.object)).collect();
        self.recovered = Some(recovered);
    }

    /// Goes on from that.
    pub(crate) fn begin(&mut self) -> Result<(), groma_state::LedgerError> {
        let recovered = self.recovered.take().unwrap();
        let run = Run { id: RunId([self.run; 8]), lock: LINE.to_owned(), tool: "test".to_owned() };
        self.journal = Some(self.ledger.begin(run, recovered, &mut || [1; 16])?);
        Ok(())
    }

    fn intend(&mut self, name: &str) -> Result<(), groma_state::LedgerError> {
        let change = Change {
            object: at(name),
            action: Action::Create,
            provider: provider(),
            planned: None,
            identity: None,
            import_id: None,
            begun: String::new(),
        };
        self.open = Some(self.journal.as_ref().unwrap().intend(change)?);
        Ok(())
    }

    fn make(&mut self, name: &str) {
        self.made.insert(name.to_owned());
        put(&mut self.state, name);
    }

    fn conclude(&mut self, name: &str) -> Result<(), groma_state::LedgerError> {
        let after = After::Present { provider: provider(), object: Box::new(object(name)) };
        let journal = self.journal.as_ref().unwrap();
        let ticket = journal.conclude(self.open.take(), at(name), after)?;
        journal.wait(ticket)?;
        self.acknowledged.insert(name.to_owned());
        Ok(())
    }

    fn do_step(&mut self) -> Result<(), groma_state::LedgerError> {
        match STEPS[self.step] {
            "locking" => assert!(self.lock()),
            "beginning" => {
                self.look();
                self.begin()?;
            }
            "making a" => self.make("a"),
            "making b" => self.make("b"),
            "intent a" => self.intend("a")?,
            "intent b" => self.intend("b")?,
            "outcome a" => self.conclude("a")?,
            "outcome b" => self.conclude("b")?,
            "snapshot" => {
                let mark = self.journal.as_ref().unwrap().mark();
                self.ledger.save(self.state.clone(), mark, &mut || [1; 16])?;
                self.snapshot = self.made.clone();
            }
            "the end" => {
                self.ledger.finish(self.state.clone(), &mut || [1; 16])?;
                self.snapshot = self.made.clone();
            }
            _ => self.unlock(),
        }
        self.step += 1;
        Ok(())
    }

    /// Does everything up to a step.
    pub(crate) fn run_to(&mut self, last: usize) {
        while self.step <= last {
            self.do_step().unwrap();
        }
    }

    /// Goes on until something fails, without noticing anything else.
    pub(crate) fn try_to_end(&mut self) {
        while self.step < STEPS.len() && self.do_step().is_ok() {}
    }

    /// Makes one more object, and ends.
    pub(crate) fn finish(&mut self, name: &str) {
        self.intend(name).unwrap();
        self.make(name);
        self.conclude(name).unwrap();
        self.ledger.finish(self.state.clone(), &mut || [1; 16]).unwrap();
        self.unlock();
    }

    /// Reads the state as it is.
    pub(crate) fn read(&mut self) {
        self.ledger.keeper().read().unwrap();
    }

    /// Writes a state over what was read. Whether that was allowed.
    pub(crate) fn write(&mut self, name: &str) -> bool {
        let mut state = State::default();
        put(&mut state, name);
        self.ledger.keeper().save(&mut state, &mut || [self.run; 16]).is_ok()
    }
}
