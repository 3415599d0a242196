//! Starting programs, for the providers that do that: finding, feeding, reading, giving up. And refusing to.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::kit::Call;
use crate::kit::outside::Outside;

/// What a program left behind.
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// Why a program was not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExecError {
    /// Somebody decided that no programs are run here.
    #[error("programs may not be started here. {0}")]
    Refused(String),
    /// There is no such program.
    #[error("exec: {0:?}: {1}")]
    NotFound(String, &'static str),
    /// It could not be started.
    #[error("{0}")]
    Failed(#[from] std::io::Error),
    /// The run was given up; the program was ended.
    #[error("the run was given up")]
    Stopped,
}

/// A program to be run.
pub(crate) struct Program<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a [&'a str],
    /// Where; relative to the directory of the run.
    pub(crate) directory: Option<&'a str>,
    pub(crate) input: Option<&'a [u8]>,
}

/// Finds a program as a shell does: in the search path, or where the name says if there is a slash in it.
pub(crate) fn find(name: &str, outside: &Outside) -> Result<PathBuf, ExecError> {
    if let Some(advice) = &outside.no_programs {
        return Err(ExecError::Refused(advice.clone()));
    }
    let problem = |what| ExecError::NotFound(name.to_owned(), what);
    if name.contains('/') {
        let path = outside.directory.join(name);
        return if is_program(&path) { Ok(path) } else { Err(problem("no such file or directory, or not executable")) };
    }
    let search = outside.environment.get("PATH").map(String::as_str).unwrap_or_default();
    let mut places = std::env::split_paths(search).map(|place| outside.directory.join(place).join(name));
    places.find(|path| is_program(path)).ok_or_else(|| problem("executable file not found in $PATH"))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// Runs a program to its end.
pub(crate) async fn run(program: &Program<'_>, outside: &Outside, call: &Call) -> Result<Finished, ExecError> {
    let path = find(program.name, outside)?;
    let mut command = Command::new(path);
    command
        .args(program.arguments)
        // What the run has, and not what this process has: somebody else may have started it.
        .env_clear()
        .envs(outside.environment.iter())
        .current_dir(program.directory.map_or_else(|| outside.directory.clone(), |at| outside.directory.join(at)))
        .stdin(if program.input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn()?;
    let stdin = child.stdin.take();
    let feed = async {
        if let (Some(mut stdin), Some(input)) = (stdin, program.input) {
            // A program need not read what it is given.
            let _ = stdin.write_all(input).await;
        }
    };
    let finish = async { tokio::join!(feed, child.wait_with_output()).1 };
    tokio::select! {
        output = finish => {
            let output = output?;
            Ok(Finished { status: output.status, stdout: output.stdout, stderr: output.stderr })
        }
        () = call.stopped() => Err(ExecError::Stopped),
    }
}

/// How a program ended, as Go says it.
pub(crate) fn shown_status(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        if let Some(signal) = status.signal() {
            return format!("signal: {signal}");
        }
    }
    status.code().map_or_else(|| status.to_string(), |code| format!("exit status {code}"))
}
