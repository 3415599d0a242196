//! Plugins must not survive us, even if we are killed and can do nothing about it any more. They do not notice by
//! themselves, and asking the kernel needs code between fork and exec, which is not safe Rust. So a shell waits at the end
//! of a pipe that only we hold open: when the pipe breaks, it kills the process groups that it was told of.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Each line says `+ GROUP` or `- GROUP`.
const SCRIPT: &str = r#"trap '' HUP INT QUIT TERM
groups=' '
while read -r sign id; do
  case $sign in
    +) groups="$groups$id " ;;
    -) groups="${groups%% "$id" *} ${groups#* "$id" }" ;;
  esac
done
for id in $groups; do kill -s KILL -- "-$id"; done
"#;

enum Guard {
    NotStarted,
    Awake(ChildStdin),
    /// There is no shell, or somebody killed it. Plugins are still ended by us as long as we live.
    Missing,
}

static GUARD: Mutex<Guard> = Mutex::new(Guard::NotStarted);

/// Has a process group killed when we are gone. The first time this takes as long as starting a shell.
pub(super) async fn watch_over(group: Option<u32>) -> Option<u32> {
    let group = group?;
    // Starting a process blocks for a moment.
    let _ = tokio::task::spawn_blocking(move || tell('+', group)).await;
    Some(group)
}

/// The group has ended.
pub(super) async fn forget(group: u32) {
    let _ = tokio::task::spawn_blocking(move || tell('-', group)).await;
}

fn tell(sign: char, group: u32) {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    if matches!(*guard, Guard::NotStarted) {
        *guard = start().map_or(Guard::Missing, Guard::Awake);
    }
    if let Guard::Awake(pipe) = &mut *guard
        && let Err(error) = writeln!(pipe, "{sign} {group}")
    {
        tracing::debug!(%error, "the guard of the plugins is gone");
        *guard = Guard::Missing;
    }
}

fn start() -> Option<ChildStdin> {
    let started = Command::new("/bin/sh")
        .args(["-c", SCRIPT, "groma-plugin-guard"])
        .current_dir("/")
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Not to be interrupted from the terminal.
        .process_group(0)
        .spawn();
    match started {
        Ok(mut shell) => shell.stdin.take(),
        Err(error) => {
            tracing::debug!(%error, "no guard for the plugins");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_killed_when_the_pipe_breaks() {
        let sleep = || Command::new("sleep").arg("60").process_group(0).spawn().unwrap();
        let (mut ended, mut left, mut other) = (sleep(), sleep(), sleep());
        let mut pipe = start().unwrap();
        for (sign, child) in [('+', &ended), ('+', &left), ('+', &other), ('-', &ended)] {
            writeln!(pipe, "{sign} {}", child.id()).unwrap();
        }
        drop(pipe);
        assert!(!left.wait().unwrap().success());
        assert!(!other.wait().unwrap().success());
        assert!(ended.try_wait().unwrap().is_none(), "it was to be forgotten");
        ended.kill().unwrap();
        ended.wait().unwrap();
    }
}
