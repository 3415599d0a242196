//! Somebody who uses a state: in this process, or in another one that can be stopped and killed. Another one is the test program
//! itself, which does what it is told on its standard input.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use groma_backends::{Backend, IsGone, Place, Surroundings, kind};
use groma_model::address::{
    AbsObject, InstanceKey, Module, ModuleInstance, Provider, ProviderConfig, ProviderInstance, Resource,
};
use groma_model::value::Value;
use groma_state::journal::{Action, After, Change, Damage, FileHome, JournalHome, RunId};
use groma_state::{
    Attributes, InstanceState, Keeper, Ledger, LockError, LockInfo, ObjectState, OutputState, PlainCodec, RealDisk,
    ResourceState, Run, State, StateStore, StoreError, WitnessFile, WorkspaceName,
};

/// The runtime of all clients of this process.
pub(crate) fn runtime() -> &'static tokio::runtime::Runtime {
    static RUNTIME: std::sync::OnceLock<tokio::runtime::Runtime> = std::sync::OnceLock::new();
    RUNTIME.get_or_init(|| tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap())
}

/// Bytes that differ in every process and every time.
pub(crate) fn random() -> [u8; 16] {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&COUNT.fetch_add(1, Ordering::SeqCst).to_be_bytes());
    bytes[8..12].copy_from_slice(&std::process::id().to_be_bytes());
    bytes[12..].copy_from_slice(&began().elapsed().subsec_nanos().to_be_bytes());
    bytes
}

/// When this process began to be asked.
#[allow(clippy::disallowed_methods, reason = "tests measure real time")]
fn began() -> Instant {
    static BEGAN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    *BEGAN.get_or_init(Instant::now)
}

/// How much time has gone by.
pub(crate) fn clock() -> Duration {
    began().elapsed()
}

/// How much time has gone by since then.
pub(crate) fn since(then: Duration) -> Duration {
    clock().saturating_sub(then)
}

/// A backend, as a configuration would make it, without anything in the environment.
pub(crate) fn backend(name: &str, settings: &[(&str, &str)], scratch: &Path) -> Arc<dyn Backend> {
    let value = |text: &str| match text {
        "true" => Value::from(true),
        text => Value::from(text),
    };
    let given = settings.iter().map(|(name, text)| ((*name).to_owned(), value(text)));
    backend_of(name, &Value::object(given.collect::<Vec<_>>()), scratch)
}

/// The same, with settings of any type.
pub(crate) fn backend_of(name: &str, settings: &Value, scratch: &Path) -> Arc<dyn Backend> {
    backend_knowing(name, settings, scratch, None)
}

/// The same, for somebody who knows which holders of locks are gone.
pub(crate) fn backend_knowing(
    name: &str,
    settings: &Value,
    scratch: &Path,
    is_gone: Option<IsGone>,
) -> Arc<dyn Backend> {
    let kind = kind(name).unwrap();
    let surroundings = Surroundings {
        variable: Arc::new(|_| None),
        working_dir: scratch.to_owned(),
        home: None,
        runtime: runtime().handle().clone(),
        random: Arc::new(random),
        spool: scratch.join("spool"),
        cluster: None,
        limits: groma_backends::Limits::default(),
        is_gone,
    };
    match kind.configure(settings, &surroundings) {
        Ok(backend) => backend,
        Err(wrong) => panic!("{wrong:?}"),
    }
}

/// A lock of that name.
pub(crate) fn lock_info(id: &str) -> LockInfo {
    LockInfo {
        id: id.to_owned(),
        operation: "OperationTypeApply".to_owned(),
        who: "tester@here".to_owned(),
        version: "0.1.0".to_owned(),
        created: "2026-01-02T03:04:05.678Z".to_owned(),
        ..LockInfo::default()
    }
}

/// Somebody who uses one state.
pub(crate) struct Actor {
    pub(crate) keeper: Keeper<Box<dyn StateStore>>,
    pub(crate) journal: Option<Box<dyn JournalHome>>,
    state: State,
    held: Option<String>,
}

impl Actor {
    pub(crate) fn new(backend: &dyn Backend) -> Self {
        Self::in_workspace(backend, "default")
    }

    pub(crate) fn in_workspace(backend: &dyn Backend, workspace: &str) -> Self {
        let workspace = WorkspaceName::parse(workspace).unwrap();
        let Place { store, journal, .. } = backend.open(&workspace, Arc::new(PlainCodec)).unwrap();
        Self { keeper: Keeper::new(store), journal, state: State::default(), held: None }
    }

    pub(crate) fn lock(&mut self, id: &str) -> Result<(), LockError> {
        self.keeper.store().lock(&lock_info(id))?;
        self.held = Some(id.to_owned());
        Ok(())
    }

    pub(crate) fn unlock(&mut self) -> Result<(), LockError> {
        let id = self.held.take().unwrap();
        self.keeper.store().unlock(&id)
    }

    /// The names that are in the state.
    pub(crate) fn read(&mut self) -> Result<Vec<String>, StoreError> {
        let found = self.keeper.read()?;
        self.state = found.as_deref().cloned().unwrap_or_default();
        Ok(names(&self.state))
    }

    /// Forgets everything that was read, so that the next that is stored is small.
    #[allow(dead_code, reason = "not all tests need it")]
    pub(crate) fn forget_all(&mut self) {
        self.state = State::default();
    }

    /// Adds a name to what was read, and stores that.
    pub(crate) fn write(&mut self, name: &str) -> Result<(), StoreError> {
        self.write_value(name, "x")
    }

    /// The same, with something to store under that name.
    pub(crate) fn write_value(&mut self, name: &str, value: &str) -> Result<(), StoreError> {
        let mut next = self.state.clone();
        "1.10.0".clone_into(&mut next.tool_version);
        let output = OutputState { value: Value::from(value), sensitive: false, deprecated: None };
        next.outputs.insert(name.into(), output);
        self.keeper.save(&mut next, &mut random)?;
        self.state = next;
        Ok(())
    }
}

/// The names in a state.
pub(crate) fn names(state: &State) -> Vec<String> {
    let outputs = state.outputs.keys().map(ToString::to_string);
    outputs.chain(state.resources.keys().map(|address| address.resource.name.to_string())).collect()
}

/// Waits for a lock as long as it takes. How long that was.
pub(crate) fn lock_eventually(actor: &mut Actor, id: &str, patience: Duration) -> Duration {
    let began = clock();
    loop {
        match actor.lock(id) {
            Ok(()) => return since(began),
            Err(LockError::Held { .. }) => assert!(since(began) < patience, "the lock was not had in time"),
            Err(other) => panic!("{other}"),
        }
    }
}

// Journals.

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

/// A state with its journal.
pub(crate) struct Recorder {
    ledger: Ledger<Box<dyn StateStore>>,
    state: State,
    run: Option<Run>,
}

impl Recorder {
    /// Locks, reads everything, and begins a run.
    pub(crate) fn begin(actor: Actor, scratch: &Path) -> (Self, Vec<String>) {
        let lock = actor.held.clone().unwrap();
        let spool = FileHome::new(Arc::new(RealDisk), scratch.join("spooled.journal"), Vec::new());
        let home = actor.journal.unwrap_or_else(|| Box::new(spool));
        let witness = WitnessFile::new(Arc::new(RealDisk), scratch.join(format!("{lock}.witness")));
        let mut ledger = Ledger::new(actor.keeper, home, Some(witness));
        let recovered = ledger.recover("the state", Damage::Refuse).unwrap();
        let state = recovered.state().cloned().unwrap_or_default();
        let in_flight = recovered.folded.iter().flat_map(|folded| &folded.in_flight);
        let in_flight = in_flight.map(|intent| format!("?{}", intent.object.instance.instance.resource.name));
        let known = names(&state).into_iter().chain(in_flight).collect();
        let mut id = [0; 8];
        id.copy_from_slice(&random()[4..12]);
        let run = Run { id: RunId(id), lock, tool: "test".to_owned() };
        ledger.begin(run.clone(), recovered, &mut random).unwrap();
        (Self { ledger, state, run: Some(run) }, known)
    }

    /// Writes down that something is about to be made, and if it is told so that it was.
    pub(crate) fn make(&mut self, name: &str, concluded: bool) -> Result<(), String> {
        let journal = Arc::clone(self.ledger.journal().unwrap());
        let change = Change {
            object: at(name),
            action: Action::Create,
            provider: provider(),
            planned: None,
            identity: None,
            import_id: None,
            begun: String::new(),
        };
        let open = journal.intend(change).map_err(|error| error.to_string())?;
        if concluded {
            let after = After::Present { provider: provider(), object: Box::new(object(name)) };
            let ticket = journal.conclude(Some(open), at(name), after).map_err(|error| error.to_string())?;
            journal.wait(ticket).map_err(|error| error.to_string())?;
            put(&mut self.state, name);
        }
        Ok(())
    }

    /// Stores a snapshot.
    pub(crate) fn save(&mut self) -> Result<(), String> {
        let mark = self.ledger.journal().unwrap().mark();
        self.ledger.save(self.state.clone(), mark, &mut random).map(drop).map_err(|error| error.to_string())
    }

    /// Ends the run.
    pub(crate) fn finish(&mut self) -> Result<(), String> {
        self.ledger.finish(self.state.clone(), &mut random).map_err(|error| error.to_string())?;
        let run = self.run.take().unwrap();
        self.ledger.keeper().store().unlock(&run.lock).map_err(|error| error.to_string())
    }
}

// Another process.

/// What tells this program that it is another process, and which backend it uses.
const ROLE: &str = "GROMA_TEST_ROLE";

/// Somebody in another process.
pub(crate) struct Other {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<String>,
}

impl Other {
    /// Starts this program again. It must have a test called `another_process`, which calls [`act`].
    pub(crate) fn start(kind: &str, settings: &[(&str, &str)], scratch: &Path) -> Self {
        let mut role = vec![kind.to_owned(), scratch.display().to_string()];
        role.extend(settings.iter().map(|(name, value)| format!("{name}={value}")));
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "another_process", "--nocapture", "--test-threads=1"]).env(ROLE, role.join("\n"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                // The test program says things of its own, without an end of line.
                if let Some((_, answer)) = line.split_once("@ ") {
                    let _ = sender.send(answer.to_owned());
                }
            }
        });
        Self { child, stdin, answers }
    }

    /// Tells it to do something, and waits for its answer.
    pub(crate) fn ask(&mut self, what: &str) -> String {
        self.tell(what);
        self.answer()
    }

    /// Tells it to do something.
    pub(crate) fn tell(&mut self, what: &str) {
        writeln!(self.stdin, "{what}").unwrap();
        self.stdin.flush().unwrap();
    }

    /// The next answer.
    pub(crate) fn answer(&mut self) -> String {
        self.answers.recv_timeout(Duration::from_secs(90)).expect("the other process says nothing")
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status().unwrap();
        assert!(status.success());
    }

    /// Stops it in its tracks.
    pub(crate) fn pause(&self) {
        self.signal("STOP");
    }

    /// Lets it go on.
    pub(crate) fn resume(&self) {
        self.signal("CONT");
    }

    /// Kills it.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Acts as another process, if this is one.
#[allow(clippy::print_stdout, reason = "it is how one process tells another")]
pub(crate) fn act() {
    #[allow(clippy::disallowed_methods, reason = "it is how one process tells another")]
    let Ok(role) = std::env::var(ROLE) else { return };
    let mut lines = role.lines();
    let (kind, scratch) = (lines.next().unwrap(), Path::new(lines.next().unwrap()).to_owned());
    let settings: Vec<(&str, &str)> = lines.map(|line| line.split_once('=').unwrap()).collect();
    let mut actor: Option<Actor> = None;
    let mut recorder: Option<Recorder> = None;
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let (verb, rest) = line.split_once(' ').unwrap_or((&line, ""));
        if verb == "lock" || verb == "read" {
            actor.get_or_insert_with(|| Actor::new(&*backend(kind, &settings, &scratch)));
        }
        let said = match verb {
            "histories" => {
                super::histories::run_all(kind, &settings, &scratch, rest);
                "done".to_owned()
            }
            "begin" => {
                let (begun, known) = Recorder::begin(actor.take().unwrap(), &scratch);
                recorder = Some(begun);
                known.join(",")
            }
            "make" | "attempt" => said(recorder.as_mut().unwrap().make(rest, verb == "make")),
            "save" => said(recorder.as_mut().unwrap().save()),
            "finish" => said(recorder.as_mut().unwrap().finish()),
            "lock" => said(actor.as_mut().unwrap().lock(rest)),
            "unlock" => said(actor.as_mut().unwrap().unlock()),
            "read" => match actor.as_mut().unwrap().read() {
                Ok(names) => names.join(","),
                Err(error) => format!("error: {error}"),
            },
            "write" => said(actor.as_mut().unwrap().write(rest)),
            _ => format!("what is {verb}?"),
        };
        println!("@ {}", said.replace('\n', " "));
    }
}

fn said<E: std::fmt::Display>(result: Result<(), E>) -> String {
    match result {
        Ok(()) => "ok".to_owned(),
        Err(error) => format!("error: {error}"),
    }
}
