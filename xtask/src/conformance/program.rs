//! Starting one of the compared programs in an environment that is the same on every machine,
//! with its input given, its output captured and its time limited.

use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use super::scratch;

/// After this a program is taken to hang.
const LIMIT: Duration = Duration::from_mins(1);

/// One of the programs that are compared.
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) version: String,
    /// Whether answers may be kept: true for the peers, whose version says what they are.
    pub(super) keep_answers: bool,
    /// Whether the console takes many expressions in one run.
    pub(super) batches: bool,
    /// Whether local modules must be installed before anything else works.
    pub(super) needs_init: bool,
    path: PathBuf,
}

/// What a run gave.
pub(super) struct Run {
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
    /// None if a signal or our limit ended it.
    pub(super) code: Option<i32>,
}

impl Run {
    pub(super) fn succeeded(&self) -> bool {
        self.code == Some(0)
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// `exit 1`, or that it crashed or hung: these must never pass for a decent refusal.
    pub(super) fn failure(&self) -> String {
        match self.code {
            Some(1) => "fails".to_owned(),
            Some(code) => format!("ends with exit code {code}: {}", self.stderr.trim()),
            None => format!("crashes or hangs: {}", self.stderr.trim()),
        }
    }
}

impl Program {
    pub(super) fn groma(path: PathBuf) -> Result<Self> {
        let version = String::new();
        Self { name: "groma", version, keep_answers: false, batches: true, needs_init: false, path }.identified()
    }

    pub(super) fn opentofu(path: PathBuf) -> Result<Self> {
        let version = String::new();
        Self { name: "tofu", version, keep_answers: true, batches: true, needs_init: true, path }.identified()
    }

    pub(super) fn terraform(path: PathBuf) -> Result<Self> {
        let version = String::new();
        // Its console prints only the last of several results.
        Self { name: "terraform", version, keep_answers: true, batches: false, needs_init: true, path }.identified()
    }

    /// Asks the program for its version.
    fn identified(mut self) -> Result<Self> {
        let run = self.run(&scratch::root()?, &["version"], b"")?;
        run.text().lines().next().unwrap_or_default().clone_into(&mut self.version);
        anyhow::ensure!(run.succeeded(), "{} does not tell its version: {}", self.name, run.stderr);
        Ok(self)
    }

    /// Runs the program in a directory. Only a program that cannot be started is an error.
    pub(super) fn run(&self, dir: &Path, arguments: &[&str], input: &[u8]) -> Result<Run> {
        self.start(dir, arguments, input, &scratch::home()?.join("empty.tfrc"), &[])
    }

    /// As [`Program::run`], without input and with a CLI configuration.
    pub(super) fn run_configured(&self, dir: &Path, arguments: &[&str], config: &Path) -> Result<Run> {
        self.start(dir, arguments, b"", config, &[])
    }

    /// As [`Program::run_configured`], with more variables of the environment.
    pub(super) fn run_in(
        &self,
        dir: &Path,
        arguments: &[&str],
        config: &Path,
        environment: &[(&str, &str)],
    ) -> Result<Run> {
        self.start(dir, arguments, b"", config, environment)
    }

    fn start(
        &self,
        dir: &Path,
        arguments: &[&str],
        input: &[u8],
        config: &Path,
        environment: &[(&str, &str)],
    ) -> Result<Run> {
        let home = scratch::home()?;
        let mut command = Command::new(&self.path);
        command
            .args(arguments)
            .current_dir(dir)
            .env_clear()
            .env("HOME", &home)
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("TF_CLI_CONFIG_FILE", config)
            .env("CHECKPOINT_DISABLE", "1")
            .env("NO_COLOR", "1")
            // The peers know no providers inside the program but one.
            .env("GROMA_BUILTIN", "never")
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().with_context(|| format!("cannot start {}", self.path.display()))?;
        collect(child, input)
    }

    /// Installs local modules, for the programs that need that.
    pub(super) fn prepare(&self, dir: &Path) -> Result<()> {
        if self.needs_init {
            self.run(dir, &["init", "-backend=false", "-input=false", "-no-color"], b"")?;
        }
        Ok(())
    }
}

/// Feeds and drains all three streams at once, so that neither side can wait for the other.
fn collect(mut child: Child, input: &[u8]) -> Result<Run> {
    let input = input.to_vec();
    let stdin = child.stdin.take();
    // A program that ends early closes its input; that is no failure of ours.
    let writer = std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let code = wait(&mut child)?;
    let joined = |handle: JoinHandle<Vec<u8>>| handle.join().unwrap_or_default();
    drop(writer.join());
    let stderr = String::from_utf8_lossy(&joined(stderr)).into_owned();
    Ok(Run { stdout: joined(stdout), stderr, code })
}

fn drain(stream: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What was read before an error is still worth showing.
            drop(stream.read_to_end(&mut bytes));
        }
        bytes
    })
}

/// The exit code; None if a signal or the limit ended the program.
fn wait(child: &mut Child) -> Result<Option<i32>> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if start.elapsed() > LIMIT {
            child.kill().context("cannot stop a program that hangs")?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}
