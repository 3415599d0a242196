//! One run of git: its output within limits, and its end together with all that it started.

use std::process::{ExitStatus, Stdio};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

/// What is kept of an output; of more, the end matters.
pub(super) const MAX_OUTPUT: usize = 64 << 10;

/// What a run gave.
pub(super) struct Output {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs a command to its end. If the caller stops waiting, it is killed, with everything that it started.
pub(super) async fn run(command: Command) -> std::io::Result<Output> {
    run_keeping(command, MAX_OUTPUT).await
}

/// The same, with so much kept of its output at least.
pub(super) async fn run_keeping(mut command: Command, most: usize) -> std::io::Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn()?;
    let mut group = Group::of(&child);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (status, stdout, stderr) = tokio::join!(child.wait(), read_end(stdout, most), read_end(stderr, MAX_OUTPUT));
    group.ended();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(Output { status: status?, stdout: text(stdout), stderr: text(stderr) })
}

async fn read_end(pipe: Option<impl AsyncRead + Unpin>, most: usize) -> Vec<u8> {
    let mut kept = Vec::new();
    let Some(mut pipe) = pipe else { return kept };
    let mut buffer = vec![0; 8 << 10];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        kept.extend_from_slice(&buffer[..count]);
        if kept.len() > 2 * most {
            kept.drain(..kept.len() - most);
        }
    }
    kept
}

/// The processes of one run. Git starts ssh, http helpers and more gits, which killing git alone leaves behind.
struct Group {
    leader: Option<i32>,
}

impl Group {
    fn of(child: &tokio::process::Child) -> Self {
        Self { leader: child.id().and_then(|id| i32::try_from(id).ok()) }
    }

    fn ended(&mut self) {
        self.leader = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(leader) = self.leader {
            // It may have ended in this moment.
            let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(leader), nix::sys::signal::Signal::SIGKILL);
        }
    }
}
