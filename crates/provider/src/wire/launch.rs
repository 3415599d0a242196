//! What to start and how: the program, its surroundings, and how patient we are with it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::connection::Connection;
use super::handshake::HandshakeError;
use super::log::Output;
use super::process::{Process, StartError};
use crate::api::ClientCapabilities;

/// A plugin to start.
#[derive(Debug, Clone)]
pub struct Launch {
    /// How it is named in messages: its address, or the program's name.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// Arguments; plugins take none as a rule.
    pub args: Vec<OsString>,
    /// Variables beside those that it inherits.
    pub env: Vec<(OsString, OsString)>,
    /// Whether it inherits those of this process.
    pub inherits: bool,
    /// How to talk to it.
    pub settings: Settings,
}

/// How to talk to a plugin.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    /// What protects the connection.
    pub security: Security,
    /// How patient we are.
    pub timeouts: Timeouts,
    /// What we can deal with. The same in every call to one plugin, or it complains.
    pub capabilities: ClientCapabilities,
}

/// What protects the connection to a plugin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Security {
    /// A socket in a directory that only we may enter. Three times faster to start.
    #[default]
    Plain,
    /// TLS in addition, where both sides have made their certificates for this one connection.
    AutoMtls,
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// From the start until it is ready.
    pub start: Duration,
    /// Calls that reach no further than the plugin itself: schemas, validation, upgrades, functions.
    pub quick: Option<Duration>,
    /// Calls that reach the world behind it. An apply may rightly last hours.
    pub slow: Option<Duration>,
    /// From the request to end until it is killed.
    pub shutdown: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            start: Duration::from_mins(1),
            quick: Some(Duration::from_mins(5)),
            slow: None,
            shutdown: Duration::from_secs(2),
        }
    }
}

impl Launch {
    /// A program, named after itself, with the usual settings.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let program = program.into();
        Self {
            name: file_name(&program),
            program,
            args: Vec::new(),
            env: Vec::new(),
            inherits: true,
            settings: Settings::default(),
        }
    }

    /// With the name that people know it by.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// With other settings.
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// With one more variable.
    pub fn with_env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// With these variables, and none of this process.
    pub fn with_only(mut self, variables: &BTreeMap<String, String>) -> Self {
        self.inherits = false;
        self.env.extend(variables.iter().map(|(name, value)| (name.into(), value.into())));
        self
    }

    /// Starts it, waits until it is ready and connects to it.
    pub(super) async fn start(&self) -> Result<Connection, StartError> {
        let plain = self.settings.security == Security::Plain;
        match self.start_with(self.settings.security).await {
            // It listens where others can reach it, so it is told to listen to us alone.
            Err(StartError::Handshake { source: HandshakeError::NoCertificate, .. }) if plain => {
                self.start_with(Security::AutoMtls).await
            }
            started => started,
        }
    }

    async fn start_with(&self, security: Security) -> Result<Connection, StartError> {
        let timeout = self.settings.timeouts.start;
        let output = Output::default();
        let start = async {
            let (process, handshake, identity) = Process::start(self, security, output.clone()).await?;
            Connection::to_process(self, process, handshake, identity).await
        };
        match tokio::time::timeout(timeout, start).await {
            Ok(started) => started,
            // The process ends with its handle, which the timeout has just dropped.
            Err(_) => Err(StartError::Timeout {
                name: self.name.clone(),
                seconds: timeout.as_secs(),
                last_output: output.last_lines(),
            }),
        }
    }
}

fn file_name(program: &Path) -> String {
    program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
