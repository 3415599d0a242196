//! An API in memory that behaves as Airbyte's does: calls of procedures over HTTP, ids inside of bodies, objects that refer to each other, and
//! answers that say the same in other words than the question. It writes down what it was asked, and can be told to fail.
//!
//! What tests in the process say with methods, other processes say over HTTP, below `/_`: `GET /_log` and `/_objects`; `POST /_fail`, `/_lose`,
//! `/_latency`, `/_create`, `/_mutate`, `/_remove`, `/_finish` and `/_clear`.

mod controls;
mod objects;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};

use super::web::{Answer, Request, WebServer};
pub use objects::{Kind, MASK};

/// Who is let in.
pub const USERNAME: &str = "airbyte";
/// What they have to say.
pub const PASSWORD: &str = "password-of-the-fake";
/// The only workspace.
pub const WORKSPACE: &str = "5f2c3e1a-0000-4000-8000-000000000001";

/// One call, as it came and as it was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What was called, such as `sources/create`.
    pub path: String,
    /// What was sent.
    pub body: Value,
    /// What was answered, also if the answer was lost.
    pub status: u16,
}

impl Call {
    /// Whether the call was to change something.
    pub fn is_write(&self) -> bool {
        let action = self.path.rsplit('/').next().unwrap_or_default();
        !matches!(action, "get" | "list")
    }
}

/// What happens to calls instead of what they ask for.
#[derive(Debug, Clone)]
struct Fault {
    /// What is called; everything if there is none.
    path: Option<String>,
    left: u32,
    effect: Effect,
}

#[derive(Debug, Clone, Copy)]
enum Effect {
    /// Nothing is done, and this status is answered.
    Refuse(u16),
    /// It is done, and nobody hears of it.
    Lose,
}

#[derive(Default)]
struct Inner {
    store: objects::Store,
    log: Vec<Call>,
    faults: Vec<Fault>,
    latencies: Vec<(Option<String>, Duration)>,
}

/// A server that ends with this.
pub struct Fakebyte {
    web: WebServer,
    inner: Arc<Mutex<Inner>>,
}

impl Fakebyte {
    /// Starts one that has no objects.
    #[expect(clippy::new_without_default, reason = "it starts a server")]
    pub fn new() -> Self {
        let inner = Arc::new(Mutex::new(Inner::default()));
        let shared = Arc::clone(&inner);
        let web = WebServer::start(move |request| answer(request, &shared));
        Self { web, inner }
    }

    /// Where it is. Calls go below `/api/v1`.
    pub fn url(&self) -> String {
        self.web.url()
    }

    /// What was called, in order.
    pub fn log(&self) -> Vec<Call> {
        guard(&self.inner).log.clone()
    }

    /// Which of that was to change something.
    pub fn writes(&self) -> Vec<Call> {
        self.log().into_iter().filter(Call::is_write).collect()
    }

    /// The names of what was called to change something, in order.
    pub fn written(&self) -> Vec<String> {
        self.writes().into_iter().map(|call| call.path).collect()
    }

    /// Forgets what was called.
    pub fn clear_log(&self) {
        guard(&self.inner).log.clear();
    }

    /// The next calls of this fail with a status, and do nothing.
    pub fn fail(&self, path: &str, status: u16, times: u32) {
        guard(&self.inner).add_fault(Some(path), Effect::Refuse(status), times);
    }

    /// The next calls of this do what they are asked for, and nobody hears of it.
    pub fn lose(&self, path: &str, times: u32) {
        guard(&self.inner).add_fault(Some(path), Effect::Lose, times);
    }

    /// Nothing fails any more.
    pub fn mend(&self) {
        guard(&self.inner).faults.clear();
    }

    /// Calls of this take so long from now on; all calls if nothing is named.
    pub fn delay(&self, path: Option<&str>, latency: Duration) {
        guard(&self.inner).set_latency(path, latency);
    }

    /// The objects of a kind as they really are, with their secrets.
    pub fn objects(&self, kind: Kind) -> Vec<Value> {
        guard(&self.inner).store.all(kind)
    }

    /// How many objects there are of all kinds.
    pub fn count(&self) -> usize {
        Kind::ALL.iter().map(|kind| self.objects(*kind).len()).sum()
    }

    /// The object of a kind with that name.
    #[track_caller]
    pub fn named(&self, kind: Kind, name: &str) -> Value {
        let found = self.objects(kind).into_iter().find(|object| object["name"] == name);
        found.unwrap_or_else(|| panic!("there is no {kind:?} {name}"))
    }

    /// Makes an object behind everybody's back: its id.
    #[track_caller]
    pub fn create(&self, kind: Kind, body: &Value) -> String {
        let made = guard(&self.inner).store.create(kind, body);
        made.map(|made| made[kind.id_member()].as_str().unwrap_or_default().to_owned()).expect("it can be made")
    }

    /// Changes an object behind everybody's back: members of objects are joined, everything else is replaced.
    #[track_caller]
    pub fn mutate(&self, kind: Kind, id: &str, change: &Value) {
        assert!(guard(&self.inner).store.mutate(kind, id, change), "there is no {kind:?} {id}");
    }

    /// Removes an object behind everybody's back, whoever refers to it.
    #[track_caller]
    pub fn remove(&self, kind: Kind, id: &str) {
        assert!(guard(&self.inner).store.remove(kind, id), "there is no {kind:?} {id}");
    }

    /// The jobs so far: what they do and for which connection.
    pub fn jobs(&self) -> Vec<Value> {
        guard(&self.inner).store.jobs()
    }

    /// All jobs that are running have come to their end.
    pub fn finish_jobs(&self) {
        guard(&self.inner).store.finish_jobs();
    }
}

impl Inner {
    fn add_fault(&mut self, path: Option<&str>, effect: Effect, times: u32) {
        self.faults.push(Fault { path: path.map(str::to_owned), left: times, effect });
    }

    fn set_latency(&mut self, path: Option<&str>, latency: Duration) {
        self.latencies.retain(|(known, _)| known.as_deref() != path);
        self.latencies.push((path.map(str::to_owned), latency));
    }

    fn latency_of(&self, path: &str) -> Duration {
        let about = |wanted: Option<&str>| self.latencies.iter().find(|(known, _)| known.as_deref() == wanted);
        about(Some(path)).or_else(|| about(None)).map(|(_, latency)| *latency).unwrap_or_default()
    }

    /// What is to go wrong with a call, if anything is.
    fn take_fault(&mut self, path: &str) -> Option<Effect> {
        let applies = |fault: &&mut Fault| fault.left > 0 && fault.path.as_deref().is_none_or(|known| known == path);
        let fault = self.faults.iter_mut().find(applies)?;
        fault.left -= 1;
        Some(fault.effect)
    }

    /// Carries out a call, or does with it what it was told to.
    fn call(&mut self, path: &str, body: Value) -> Answer {
        let fault = self.take_fault(path);
        let (status, said) = match fault {
            Some(Effect::Refuse(status)) => (status, json!({"message": "told to fail"})),
            _ => match self.store.call(path, &body) {
                Ok(_) if path.ends_with("/delete") => (204, Value::Null),
                Ok(said) => (200, said),
                Err((status, message)) => (status, json!({"message": message})),
            },
        };
        self.log.push(Call { path: path.to_owned(), body, status });
        match fault {
            Some(Effect::Lose) => Answer::lost(),
            _ if status == 204 => Answer::status(status),
            _ => Answer::json(status, &said),
        }
    }
}

fn guard(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(request: &Request, inner: &Mutex<Inner>) -> Answer {
    if request.path.starts_with("/_") {
        return controls::answer(request, &mut guard(inner));
    }
    let Some(path) = request.path.strip_prefix("/api/v1/") else { return Answer::status(404) };
    let pair = base64::engine::general_purpose::STANDARD.encode(format!("{USERNAME}:{PASSWORD}"));
    if request.header("authorization") != Some(format!("Basic {pair}").as_str()) {
        return Answer::unauthorized();
    }
    if request.method != "POST" {
        return Answer::status(405);
    }
    let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
        return Answer::json(400, &json!({"message": "the body is no JSON"}));
    };
    let latency = guard(inner).latency_of(path);
    // Others are served meanwhile.
    std::thread::sleep(latency);
    guard(inner).call(path, body)
}
