//! What providers need from outside: time, randomness, a directory, and readers that other crates implement.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use groma_model::diag::Diagnostics;
use groma_model::value::Value;

/// Everything outside that providers work with.
#[derive(Clone)]
pub struct Outside {
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub randomness: Arc<dyn Randomness>,
    /// Where relative paths begin and programs run.
    pub directory: PathBuf,
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
            remote_states: Arc::new(Nothing),
            tfvars: Arc::new(Nothing),
        }
    }
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

/// Reads the outputs of other configurations.
#[async_trait]
pub trait RemoteStates: Send + Sync {
    /// The names of the backends that can be read.
    fn backends(&self) -> Vec<String>;

    /// What is wrong with the arguments of a backend, parts of which may be unknown.
    fn validate(&self, backend: &str, config: &Value) -> Diagnostics;

    /// The outputs of the root module as an object; none if there is no state.
    async fn outputs(&self, backend: &str, workspace: &str, config: &Value) -> Result<Option<Value>, Diagnostics>;
}

/// Reads and writes values as configuration text.
pub trait Tfvars: Send + Sync {
    /// The values of a `.tfvars` text, as an object.
    fn decode(&self, text: &str) -> Result<Value, String>;

    /// Lays text out in the usual way.
    fn format(&self, text: &str) -> String;
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
    fn backends(&self) -> Vec<String> {
        Vec::new()
    }

    fn validate(&self, _: &str, _: &Value) -> Diagnostics {
        Diagnostics::new()
    }

    async fn outputs(&self, _: &str, _: &str, _: &Value) -> Result<Option<Value>, Diagnostics> {
        Ok(None)
    }
}

impl Tfvars for Nothing {
    fn decode(&self, _: &str) -> Result<Value, String> {
        Err("values of variables cannot be read here".to_owned())
    }

    fn format(&self, text: &str) -> String {
        text.to_owned()
    }
}
