//! A plugin process: started with its own private socket directory, watched, and never left behind.
//!
//! A task owns the child and reaps it as soon as it ends. The process leads a group of its own, so that a key press at the
//! terminal reaches us alone, and so that whatever it has started goes with it when it is killed.

mod error;
mod guard;
mod program;
#[cfg(test)]
mod tests;

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

pub use error::StartError;

use super::handshake::Handshake;
use super::launch::{Launch, Security};
use super::log::{self, Output};
use super::tls::Identity;

/// Every provider of this plugin system checks for this cookie, so that nobody runs one by accident.
pub(super) const MAGIC_COOKIE: (&str, &str) =
    ("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2");

/// Ports for plugins that cannot use sockets.
const PORTS: [(&str, &str); 2] = [("PLUGIN_MIN_PORT", "10000"), ("PLUGIN_MAX_PORT", "25000")];

/// A first line longer than this is no handshake.
const LONGEST_HANDSHAKE: u64 = 64 << 10;

/// The name of a socket may have 108 bytes. Beside the directory's name there are `/groma-plugin-XXXXXX/plugin1234567890`.
const LONGEST_TEMP_DIR: usize = 64;

/// How long the last words of a dead process may take to arrive. Its children may hold the pipe open for ever.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A running plugin. Killed when dropped.
#[derive(Debug)]
pub(super) struct Process {
    output: Output,
    socket_dir: PathBuf,
    death: watch::Receiver<Option<Death>>,
    /// Used or dropped, the watcher kills what is left.
    kill: Mutex<Option<oneshot::Sender<()>>>,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Death(String);

impl std::fmt::Display for Death {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Process {
    /// Starts the program and waits for its handshake. Gives our certificate as well if there is to be TLS.
    pub(super) async fn start(
        launch: &Launch,
        security: Security,
        output: Output,
    ) -> Result<(Self, Handshake, Option<Identity>), StartError> {
        let identity = match security {
            Security::Plain => None,
            Security::AutoMtls => Some(Identity::generate().map_err(|source| launch.tls_error(source))?),
        };
        let socket_dir = socket_dir().map_err(|source| launch.spawn_error(source))?;
        let expected = guard::expect(socket_dir.path()).await;
        let mut child = match spawn(&mut command(launch, &socket_dir, identity.as_ref())).await {
            Ok(child) => child,
            Err(source) => {
                expected.failed().await;
                return Err(launch.spawn_error(source));
            }
        };
        if let Some(group) = child.id() {
            expected.arrived(group).await;
        }
        let stderr = child.stderr.take();
        let relay = stderr.map(|stderr| tokio::spawn(log::relay(launch.name.clone(), stderr, output.clone())));
        let stdout = child.stdout.take();
        let process = Self::watch(child, relay, output, socket_dir);
        let line = match stdout {
            Some(stdout) => first_line(stdout).await,
            None => None,
        };
        let Some(line) = line else { return Err(process.ended(launch).await) };
        match Handshake::parse(&line) {
            Ok(handshake) => Ok((process, handshake, identity)),
            Err(source) => {
                let last_output = process.last_output();
                Err(StartError::Handshake { name: launch.name.clone(), source, last_output })
            }
        }
    }

    /// Hands the child to a task that outlives neither it nor us.
    fn watch(child: Child, relay: Option<JoinHandle<()>>, output: Output, socket_dir: TempDir) -> Self {
        let (kill, killed) = oneshot::channel();
        let (told, death) = watch::channel(None);
        let group = Group(child.id());
        let socket_dir_path = socket_dir.path().to_owned();
        tokio::spawn(async move {
            let status = outlive(child, group, killed).await;
            if let Some(mut relay) = relay
                && tokio::time::timeout(LAST_WORDS, &mut relay).await.is_err()
            {
                relay.abort();
            }
            drop(socket_dir);
            told.send_replace(Some(Death(describe(status))));
        });
        Self { output, socket_dir: socket_dir_path, death, kill: Mutex::new(Some(kill)) }
    }

    /// Whether nobody else can use its socket. Plugins that were built long ago put it elsewhere.
    pub(super) fn is_private(&self, socket: &Path) -> bool {
        const OTHERS_MAY_WRITE: u32 = 0o022;
        socket.parent() == Some(&self.socket_dir)
            || socket.metadata().is_ok_and(|socket| socket.permissions().mode() & OTHERS_MAY_WRITE == 0)
    }

    /// Takes what it prints elsewhere.
    pub(super) fn output(&self) -> Output {
        self.output.clone()
    }

    /// What it printed last.
    pub(super) fn last_output(&self) -> Vec<String> {
        self.output.last_lines()
    }

    /// Waits until it has ended and all that it printed has been read.
    pub(super) async fn died(&self) -> Death {
        let mut death = self.death.clone();
        match death.wait_for(Option::is_some).await {
            Ok(death) => death.clone().unwrap_or_else(unknown_death),
            // The watcher went with the runtime.
            Err(_) => unknown_death(),
        }
    }

    /// Ends it now, and what it has started.
    pub(super) fn kill(&self) {
        if let Some(kill) = self.kill.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = kill.send(());
        }
    }

    async fn ended(self, launch: &Launch) -> StartError {
        // It has closed its output, so it is as good as dead.
        let status = tokio::time::timeout(Duration::from_secs(1), self.died()).await;
        StartError::Ended {
            name: launch.name.clone(),
            program: launch.program.clone(),
            status: status.map_or_else(|_| "closed its output".to_owned(), |death| death.to_string()),
            last_output: self.last_output(),
        }
    }
}

fn unknown_death() -> Death {
    Death("ended".to_owned())
}

impl Launch {
    fn spawn_error(&self, source: std::io::Error) -> StartError {
        StartError::spawn(&self.name, &self.program, source)
    }

    fn tls_error(&self, source: super::tls::TlsError) -> StartError {
        StartError::Tls { name: self.name.clone(), source }
    }
}

/// A process group that does not survive this value.
struct Group(Option<u32>);

impl Group {
    fn kill(&self) {
        if let Some(leader) = self.0.and_then(|id| i32::try_from(id).ok()) {
            // It may have just ended, which is as good.
            let _ = killpg(Pid::from_raw(leader), Signal::SIGKILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits for the end, or brings it about.
async fn outlive(mut child: Child, mut group: Group, killed: oneshot::Receiver<()>) -> Option<ExitStatus> {
    let guarded = child.id();
    let status = tokio::select! {
        status = child.wait() => status,
        _ = killed => {
            group.kill();
            child.wait().await
        }
    };
    // It is reaped: its number may belong to somebody else from now on.
    group.0 = None;
    if let Some(id) = guarded {
        guard::forget(id).await;
    }
    status.ok()
}

fn describe(status: Option<ExitStatus>) -> String {
    let Some(status) = status else { return unknown_death().0 };
    if let Some(signal) = status.signal() {
        let name = Signal::try_from(signal).map_or_else(|_| signal.to_string(), |signal| signal.to_string());
        return format!("was killed by signal {name}");
    }
    match status.code() {
        Some(code) => format!("exited with status {code}"),
        None => unknown_death().0,
    }
}

/// A directory that only we may enter, which is what protects a plain connection.
fn socket_dir() -> std::io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("groma-plugin-").permissions(std::fs::Permissions::from_mode(0o700));
    let usual = std::env::temp_dir();
    if usual.as_os_str().len() <= LONGEST_TEMP_DIR { builder.tempdir_in(usual) } else { builder.tempdir_in("/tmp") }
}

fn command(launch: &Launch, socket_dir: &TempDir, identity: Option<&Identity>) -> Command {
    let mut command = Command::new(&launch.program);
    if !launch.inherits {
        command.env_clear();
    }
    command
        .args(&launch.args)
        .env_remove("PLUGIN_CLIENT_CERT")
        .env_remove("PLUGIN_MULTIPLEX_GRPC")
        .env_remove("PLUGIN_UNIX_SOCKET_GROUP")
        .env(MAGIC_COOKIE.0, MAGIC_COOKIE.1)
        .env("PLUGIN_PROTOCOL_VERSIONS", "5,6")
        .env("PLUGIN_UNIX_SOCKET_DIR", socket_dir.path())
        .env("GROMA_PLUGIN_HOST", "1")
        .envs(PORTS)
        .envs(quiet())
        .envs(launch.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    if let Some(identity) = identity {
        command.env("PLUGIN_CLIENT_CERT", identity.pem());
    }
    command
}

/// The libraries that plugins are made with write down every step of every call, which makes calls four times slower.
/// Unless somebody wants to see that, they are told not to.
#[expect(clippy::disallowed_methods, reason = "the plugin inherits the environment: what is set there stays")]
fn quiet() -> Option<(&'static str, &'static str)> {
    const LEVEL: &str = "TF_LOG_SDK";
    let wanted = tracing::enabled!(target: "groma::plugin", tracing::Level::DEBUG) || std::env::var_os(LEVEL).is_some();
    if wanted { None } else { Some((LEVEL, "WARN")) }
}

/// Starts it. A program that was written a moment ago may still be open in a process that another thread is starting.
async fn spawn(command: &mut Command) -> std::io::Result<Child> {
    const TRIES: u32 = 20;
    for _ in 0..TRIES {
        match command.spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            result => return result,
        }
    }
    command.spawn()
}

/// The first line. What follows is of no interest, but the pipe must be kept empty.
async fn first_line(stdout: ChildStdout) -> Option<String> {
    let mut stdout = BufReader::new(stdout);
    let mut line = Vec::new();
    (&mut stdout).take(LONGEST_HANDSHAKE).read_until(b'\n', &mut line).await.ok()?;
    if line.is_empty() {
        return None;
    }
    tokio::spawn(drain(stdout));
    Some(String::from_utf8_lossy(&line).into_owned())
}

async fn drain(mut stdout: impl AsyncRead + Unpin) {
    let mut nowhere = tokio::io::sink();
    let _ = tokio::io::copy(&mut stdout, &mut nowhere).await;
}
