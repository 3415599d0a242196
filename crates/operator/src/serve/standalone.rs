//! An operator without a cluster: Stacks are files in a directory, everything that it knows is in files of another one, and it works here.
//! The controllers are those of a cluster; what differs is where objects are ([`crate::objects::files`]).

mod check;
mod lines;
mod lock;
mod people;
mod read;
mod told;

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use kube::api::DynamicObject;
use tokio::sync::watch;

pub use lock::{LockError, is_held};
pub use read::Mistake;
pub use told::{mistakes_in, overlay};

use super::endpoints;
use crate::api::shared::Moment;
use crate::api::stack::{Executor, Stack};
use crate::metrics::Metrics;
use crate::objects::files::folder::make_private;
use crate::objects::files::{Files, Hear};
use crate::objects::{Kind, Place, Seen, Store, StoreError};
use crate::operator::{Operator, Options};
use crate::runs::in_process::{Clock, Room};
use crate::runs::job;
use crate::stack::reconcile::Settings;
use crate::stack::wanted::StateHome;
use crate::voices::notifications::announcing::Announcing;
use crate::voices::webhooks::call::allowed_url;
use crate::voices::{self, Voices};
use crate::work::Workshop;
use people::People;
use told::Board;

/// How often files are looked at.
const PAUSE: Duration = Duration::from_millis(400);
/// What an operator knows, in the directory of files, unless it is said otherwise.
pub const STATE: &str = ".groma";

/// Where things are in a state directory.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The state directory.
    pub state: PathBuf,
}

impl Layout {
    /// Where it is for a directory with files, unless it is said.
    pub fn of(directory: &Path, state: Option<&Path>) -> Self {
        Self { state: state.map_or_else(|| directory.join(STATE), Path::to_owned) }
    }

    /// Objects.
    pub fn objects(&self) -> PathBuf {
        self.state.join("objects")
    }

    /// States of infrastructure.
    pub fn states(&self) -> PathBuf {
        self.state.join("states")
    }

    /// Directories of runs.
    pub fn scratch(&self) -> PathBuf {
        self.state.join("runs")
    }
}

/// Hears what is wrong with files.
pub type HearMistakes = Arc<dyn Fn(&[Mistake]) + Send + Sync>;

/// How an operator works without a cluster.
pub struct Standalone {
    /// The files of people.
    pub directory: PathBuf,
    /// Where everything else is.
    pub layout: Layout,
    /// What is the same for all runs.
    pub workshop: Workshop,
    /// How many runs at once.
    pub room: Room,
    /// How many objects are looked at at once.
    pub workers: usize,
    /// Which namespaces; all of them if none is named.
    pub namespaces: Vec<String>,
    /// Where figures are told, if anywhere.
    pub metrics_address: Option<SocketAddr>,
    /// Where webhooks are heard, if anywhere.
    pub hook_address: Option<SocketAddr>,
    /// Where all events are told, if anywhere.
    pub events_address: Option<String>,
    /// Who we are.
    pub identity: String,
    /// Hears what happens.
    pub hear: Hear,
    /// Hears what is wrong with files, when that changes.
    pub hear_mistakes: HearMistakes,
}

/// Why an operator did not begin.
#[derive(Debug, thiserror::Error)]
pub enum StandaloneError {
    /// A directory is not there, or cannot be used.
    #[error("{} cannot be used: {source}", path.display())]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Somebody else works there.
    #[error("{}: {source}", path.display())]
    Lock {
        /// Where.
        path: PathBuf,
        /// Who.
        source: LockError,
    },
    /// What is known cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What was said about where events are told is no address.
    #[error("-events-addr: {0}")]
    EventsAddress(String),
}

/// How the states of Stacks are kept.
pub fn home(layout: &Layout) -> StateHome {
    StateHome { kind: "local".to_owned(), directory: Some(layout.states()) }
}

/// What objects are in a state directory, for those who are not the operator.
pub fn objects(layout: &Layout) -> Result<Files, StoreError> {
    Files::open(&layout.objects(), system_clock(), None)
}

/// Works until it is told to stop.
pub async fn serve(
    standalone: Standalone,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), StandaloneError> {
    let Standalone { directory, layout, .. } = &standalone;
    if let Some(to) = &standalone.events_address {
        allowed_url(to, None).map_err(StandaloneError::EventsAddress)?;
    }
    let unusable = |path: &Path| {
        let path = path.to_owned();
        move |source| StandaloneError::Directory { path, source }
    };
    let mut people = People::new(directory, &layout.state).map_err(unusable(directory))?;
    for folder in [layout.state.clone(), layout.states(), layout.scratch()] {
        make_private(&folder).map_err(unusable(&folder))?;
    }
    let who = format!("process {}, since {}", std::process::id(), (system_clock())().0);
    let locked = lock::hold(directory, &layout.state, &who);
    let _held = locked.map_err(|source| StandaloneError::Lock { path: layout.state.clone(), source })?;
    let store = Files::open(&layout.objects(), system_clock(), Some(Arc::clone(&standalone.hear)))?;
    let metrics = Arc::new(Metrics::default());
    if let Some(address) = standalone.metrics_address {
        let metrics = Arc::clone(&metrics);
        tokio::spawn(async move {
            if let Err(problem) = endpoints::answer(address, metrics).await {
                tracing::error!(%address, %problem, "nobody is told figures, nor whether the operator is well");
            }
        });
    }
    let board = Board::new(&layout.state);
    let showing = tokio::spawn(show(store.clone(), board.clone()));
    let settings = Settings { executor: Executor::InProcess, home: home(layout), across_namespaces: true };
    let heard = voices::Settings {
        hook_address: standalone.hook_address,
        events_address: standalone.events_address,
        networks: standalone.workshop.premises.networks.clone(),
    };
    let objects: Arc<dyn Store> = match &heard.events_address {
        Some(to) => Arc::new(Announcing::new(store.clone(), to.clone(), system_clock(), Arc::clone(&metrics))),
        None => Arc::new(store.clone()),
    };
    let voices = Voices::new(Arc::clone(&objects), &system_clock(), Arc::clone(&metrics), &heard);
    let options = Options {
        terraform: None,
        settings,
        workshop: standalone.workshop,
        room: standalone.room,
        jobs: job::Settings { image: String::new(), room: standalone.room, environment: [].into() },
        metrics: Arc::clone(&metrics),
        account: None,
        workers: standalone.workers,
        namespaces: standalone.namespaces,
        holder: standalone.identity,
        clock: system_clock(),
    };
    let operator = Operator::new(objects, options);
    operator.speaks_through(voices);
    let (stopping, stopped) = watch::channel(false);
    let mut told = stopped.clone();
    let working = tokio::spawn(operator.run(async move {
        let _ = told.wait_for(|stop| *stop).await;
    }));
    metrics.leads(true);
    let hear = Arc::clone(&standalone.hear_mistakes);
    let attending = tokio::spawn(async move {
        let mut known = Vec::new();
        while !*stopped.borrow() {
            let (store, board) = (store.clone(), board.clone());
            let looked = tokio::task::spawn_blocking(move || {
                let mistakes = attend(&mut people, &store);
                (people, mistakes)
            });
            let Ok((back, mistakes)) = looked.await else { return };
            people = back;
            if mistakes != known {
                hear(&mistakes);
                if let Err(problem) = board.mistakes(&mistakes) {
                    tracing::warn!(%problem, "what is wrong with files could not be written down");
                }
                known = mistakes;
            }
            tokio::time::sleep(PAUSE).await;
        }
    });
    stop.await;
    let _ = stopping.send(true);
    metrics.leads(false);
    // Whatever went wrong there has been told.
    let _ = working.await;
    let _ = attending.await;
    showing.abort();
    Ok(())
}

/// Looks at what people have written, and at what others have done to objects.
fn attend(people: &mut People, store: &Files) -> Vec<Mistake> {
    if let Err(problem) = store.catch_up() {
        return vec![Mistake { file: STATE.to_owned(), line: None, message: problem.to_string() }];
    }
    people.attend(store)
}

/// Says how Stacks are, where people can read it.
async fn show(store: Files, board: Board) {
    let mut all = store.watch(&Kind::of::<Stack>(), None);
    while let Some(seen) = all.next().await {
        let Some((object, is_gone)) = Seen::object(seen) else { continue };
        let (store, board) = (store.clone(), board.clone());
        let shown = tokio::task::spawn_blocking(move || say(&store, &board, &object, is_gone)).await;
        if let Ok(Err(problem)) = shown {
            tracing::warn!(%problem, "how a Stack is could not be written down");
        }
    }
}

fn say(store: &Files, board: &Board, object: &DynamicObject, is_gone: bool) -> io::Result<()> {
    if is_gone {
        return board.forget(object);
    }
    let place = Place::of(&Kind::of::<Stack>(), object);
    board.stack(object, store.origins().get(&place))
}

fn system_clock() -> Clock {
    Arc::new(|| Moment(k8s_openapi::jiff::Timestamp::now()))
}
