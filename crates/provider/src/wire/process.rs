//! A plugin process: started with its own private socket directory, watched, and never left behind.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, Command};

use super::handshake::{Handshake, HandshakeError};

/// Every provider of this plugin system checks for this cookie, so that nobody runs one by accident.
const MAGIC_COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

/// How long a plugin may take until it is ready.
const START_TIMEOUT: Duration = Duration::from_mins(1);

/// Why a plugin could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program could not be run.
    #[error("could not run {program}")]
    Spawn {
        /// Which.
        program: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It ended, or printed nothing.
    #[error("{program} ended before it was ready; is it a provider for this platform?")]
    Ended {
        /// Which.
        program: String,
    },
    /// It did not get ready in time.
    #[error("{program} was not ready after {seconds} s")]
    Timeout {
        /// Which.
        program: String,
        /// How long we waited.
        seconds: u64,
    },
    /// It printed something else.
    #[error("{program} is not a provider plugin that groma can use")]
    Handshake {
        /// Which.
        program: String,
        /// What is wrong.
        #[source]
        source: HandshakeError,
    },
    /// Its socket cannot be reached.
    #[error("could not connect to {program}")]
    Connect {
        /// Which.
        program: String,
        /// Why.
        #[source]
        source: tonic::transport::Error,
    },
}

/// A running plugin. Killed when dropped.
pub(super) struct Process {
    pub(super) handshake: Handshake,
    pub(super) child: Child,
    /// Holds the socket; only we may enter it, which is what protects the connection.
    _socket_dir: TempDir,
}

impl Process {
    /// Starts the program and waits until it is ready.
    pub(super) async fn start(program: &Path) -> Result<Self, StartError> {
        let name = program.display().to_string();
        let spawn_error = |source| StartError::Spawn { program: program.display().to_string(), source };
        // Created with mode 0700.
        let socket_dir = tempfile::Builder::new().prefix("groma-plugin-").tempdir().map_err(spawn_error)?;
        let mut child = Command::new(program)
            .env("TF_PLUGIN_MAGIC_COOKIE", MAGIC_COOKIE)
            .env("PLUGIN_PROTOCOL_VERSIONS", "5")
            .env("PLUGIN_UNIX_SOCKET_DIR", socket_dir.path())
            .env("GROMA_PLUGIN_HOST", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(spawn_error)?;
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(relay_log(name.clone(), stderr));
        }
        let Some(stdout) = child.stdout.take() else { return Err(StartError::Ended { program: name }) };
        let mut lines = BufReader::new(stdout).lines();
        let line = match tokio::time::timeout(START_TIMEOUT, lines.next_line()).await {
            Err(_) => return Err(StartError::Timeout { program: name, seconds: START_TIMEOUT.as_secs() }),
            Ok(Ok(Some(line))) => line,
            Ok(_) => return Err(StartError::Ended { program: name }),
        };
        // What it prints later is of no interest, but the pipe must be kept empty.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let handshake = Handshake::parse(&line).map_err(|source| StartError::Handshake { program: name, source })?;
        Ok(Self { handshake, child, _socket_dir: socket_dir })
    }
}

async fn relay_log(plugin: String, stderr: impl AsyncRead + Unpin) {
    let mut lines = BufReader::new(stderr).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        tracing::debug!(target: "groma::plugin", plugin, "{line}");
    }
}
