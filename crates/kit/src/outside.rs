//! What providers need from outside: time, randomness, a directory, and readers that other crates implement.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use groma_model::diag::Diagnostics;
use groma_model::value::Value;
use groma_network::Networks;

use crate::confines::Confines;

/// Everything outside that providers work with.
#[derive(Clone)]
pub struct Outside {
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub randomness: Arc<dyn Randomness>,
    /// Where relative paths begin and programs run.
    pub directory: PathBuf,
    /// Environment variables: proxies, and where programs are looked for.
    pub environment: Arc<BTreeMap<String, String>>,
    /// Providers may start no programs, and how that could be allowed. None if they may.
    pub no_programs: Option<String>,
    /// Where files may be read and written. None for everywhere.
    pub files: Option<Confines>,
    /// The account of the pod that this runs in is somebody else's, and how one's own could be had. None if it may be used.
    pub no_account: Option<String>,
    /// Where connections may lead. None for everywhere.
    pub networks: Option<Networks>,
    /// States of other configurations.
    pub remote_states: Arc<dyn RemoteStates>,
    /// Values of variables as text.
    pub tfvars: Arc<dyn Tfvars>,
}

impl Outside {
    /// The clock and the randomness of the system. What only other crates can do is not there yet.
    pub fn system(directory: impl Into<PathBuf>) -> Self {
        Self {
            clock: Arc::new(SystemClock),
            randomness: Arc::new(SystemRandomness),
            directory: directory.into(),
            environment: Arc::new(system_environment()),
            no_programs: None,
            files: None,
            no_account: None,
            networks: None,
            remote_states: Arc::new(Nothing),
            tfvars: Arc::new(Nothing),
        }
    }
}

impl Outside {
    /// Where something is that may be read. Relative paths begin in the directory.
    pub fn readable(&self, path: impl AsRef<Path>) -> std::io::Result<PathBuf> {
        let path = self.directory.join(path);
        match &self.files {
            None => Ok(path),
            Some(files) => files.read(&path),
        }
    }
}

/// What is not Unicode names no proxy and no directory that anybody could have meant.
fn system_environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Time.
#[async_trait]
pub trait Clock: Send + Sync {
    /// What time it is.
    fn now(&self) -> SystemTime;

    /// Waits.
    async fn sleep(&self, duration: Duration);
}

/// No randomness is to be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no randomness: {0}")]
pub struct RandomnessError(pub String);

/// Randomness that nobody can guess.
pub trait Randomness: Send + Sync {
    /// Fills the bytes.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessError>;
}

/// The state of another configuration.
#[derive(Debug, Clone, Copy)]
pub struct WantedState<'w> {
    /// The type of the backend that has it.
    pub backend: &'w str,
    /// The backend's arguments.
    pub config: &'w Value,
    /// The workspace.
    pub workspace: &'w str,
    /// What reads it, by its address without what is the same for all: `name`, `name[0]`, `module.name`. Empty if that is not known.
    pub reader: &'w str,
}

/// Reads the outputs of other configurations.
#[async_trait]
pub trait RemoteStates: Send + Sync {
    /// What is wrong with a backend's name or arguments. Everything is known; no arguments are an object without any.
    fn validate(&self, backend: &str, config: &Value) -> Diagnostics;

    /// The outputs of the root module as an object; none if there is no state.
    async fn outputs(&self, wanted: WantedState<'_>) -> Result<Option<Value>, Diagnostics>;
}

/// Reads values from configuration text.
pub trait Tfvars: Send + Sync {
    /// The values of a `.tfvars` text, as an object; or what is wrong, a line for each problem.
    fn decode(&self, text: &str) -> Result<Value, Vec<String>>;
}

struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is where the time comes from")]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

struct SystemRandomness;

impl Randomness for SystemRandomness {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessError> {
        getrandom::fill(bytes).map_err(|error| RandomnessError(error.to_string()))
    }
}

/// Stands for what only other crates can do.
struct Nothing;

#[async_trait]
impl RemoteStates for Nothing {
    fn validate(&self, _: &str, _: &Value) -> Diagnostics {
        Diagnostics::new()
    }

    async fn outputs(&self, _: WantedState<'_>) -> Result<Option<Value>, Diagnostics> {
        Ok(None)
    }
}

impl Tfvars for Nothing {
    fn decode(&self, _: &str) -> Result<Value, Vec<String>> {
        Err(vec!["values of variables cannot be read here".to_owned()])
    }
}
