//! Plugins must not survive us, even if we are killed and can do nothing about it any more. They do not notice by
//! themselves, and asking the kernel needs code between fork and exec, which is not safe Rust. So a shell waits at the end
//! of a pipe that only we hold open: when the pipe breaks, it kills the process groups that it was told of, and removes the directories of their sockets.
//!
//! We may also be killed between starting a plugin and telling its number. So the guard is told before that one is coming, and by
//! which name in its environment it can be recognised, and looks for it where the kernel lists what runs.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Each line says `? NAME` (one is coming), `! NAME` (it is not), `+ GROUP NAME` (it is there) or `- GROUP` (it has ended). One that
/// was coming may not even have its environment yet when we are gone, so it is looked for a few times. Names are those of directories where
/// the shell runs.
const SCRIPT: &str = r#"trap '' HUP INT QUIT TERM
groups=' ' coming=' '
gone() { coming="${coming%% "$1" *} ${coming#* "$1" }"; }
while read -r sign id name; do
  case $sign in
    '?') coming="$coming$id " ;;
    '!') gone "$id" ;;
    +) groups="$groups$id:$name "; gone "$name" ;;
    -) rest="${groups#* "$id":}"; groups="${groups%% "$id":*} ${rest#* }" ;;
  esac
done
for group in $groups; do
  kill -s KILL -- "-${group%%:*}"
  rm -rf -- "${group#*:}"
done
for name in $coming; do
  for attempt in 1 2 3 4 5 6 7 8 9 10; do
    for environment in $(grep -lsF -- "$name" /proc/[0-9]*/environ); do
      id=${environment#/proc/} id=${id%/environ}
      kill -s KILL -- "-$id" || kill -s KILL "$id"
      attempt=found
    done
    [ "$attempt" = found ] && break
    sleep 0.1
  done
  rm -rf -- "$name"
done
"#;

enum Guard {
    NotStarted,
    Awake(ChildStdin),
    /// There is no shell, or somebody killed it. Plugins are still ended by us as long as we live.
    Missing,
}

static GUARD: Mutex<Guard> = Mutex::new(Guard::NotStarted);

/// A plugin that is about to be started, and does not survive us from now on.
pub(super) struct Expected {
    /// What of its environment nobody else has.
    name: String,
}

/// Tells the guard of a plugin that is about to be started with this directory in its environment. The first time this takes as long
/// as starting a shell.
pub(super) async fn expect(socket_dir: &Path) -> Expected {
    let name = socket_dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let parent = socket_dir.parent().unwrap_or(Path::new("/")).to_owned();
    // Starting a process blocks for a moment.
    let _ = tokio::task::spawn_blocking(move || wake(&parent)).await;
    send(format!("? {name}")).await;
    Expected { name }
}

impl Expected {
    /// It is there, with what it starts in this process group.
    pub(super) async fn arrived(self, group: u32) {
        send(format!("+ {group} {}", self.name)).await;
    }

    /// It could not be started.
    pub(super) async fn failed(self) {
        send(format!("! {}", self.name)).await;
    }
}

/// The group has ended.
pub(super) async fn forget(group: u32) {
    send(format!("- {group}")).await;
}

async fn send(line: String) {
    let _ = tokio::task::spawn_blocking(move || tell(&line)).await;
}

/// Starts the guard, if it was not. All plugins of a process have their directories in the same one.
fn wake(parent: &Path) {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    if matches!(*guard, Guard::NotStarted) {
        *guard = start(parent).map_or(Guard::Missing, Guard::Awake);
    }
}

fn tell(line: &str) {
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Guard::Awake(pipe) = &mut *guard
        && let Err(error) = writeln!(pipe, "{line}")
    {
        tracing::debug!(%error, "the guard of the plugins is gone");
        *guard = Guard::Missing;
    }
}

fn start(dir: &Path) -> Option<ChildStdin> {
    let started = Command::new("/bin/sh")
        .args(["-c", SCRIPT, "groma-plugin-guard"])
        .current_dir(dir)
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
    use std::fs;

    use super::*;

    fn wait_until_gone(dir: &Path) {
        for _ in 0..2000 {
            if !dir.exists() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        panic!("{} is still there", dir.display());
    }

    #[test]
    fn what_is_left_is_killed_when_the_pipe_breaks() {
        let sleep = || Command::new("sleep").arg("60").process_group(0).spawn().unwrap();
        let (mut ended, mut left, mut other) = (sleep(), sleep(), sleep());
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c", "d"] {
            fs::create_dir(dir.path().join(name)).unwrap();
            fs::write(dir.path().join(name).join("socket"), "").unwrap();
        }
        let mut pipe = start(dir.path()).unwrap();
        for (name, child) in [("a", &ended), ("b", &left), ("c", &other)] {
            writeln!(pipe, "? {name}").unwrap();
            writeln!(pipe, "+ {} {name}", child.id()).unwrap();
        }
        writeln!(pipe, "- {}", ended.id()).unwrap();
        drop(pipe);
        assert!(!left.wait().unwrap().success());
        assert!(!other.wait().unwrap().success());
        assert!(ended.try_wait().unwrap().is_none(), "it was to be forgotten");
        ended.kill().unwrap();
        ended.wait().unwrap();
        let exists = |name: &str| dir.path().join(name).exists();
        for name in ["b", "c"] {
            wait_until_gone(&dir.path().join(name));
        }
        assert!(exists("a") && exists("d"), "who ends by itself is cleared up after, and others are not its business");
    }

    #[test]
    fn what_was_coming_is_found_by_its_environment() {
        let of = |name: &str| {
            let mut sleep = Command::new("sleep");
            sleep.arg("60").env("PLUGIN_UNIX_SOCKET_DIR", format!("/some where/{name}")).process_group(0);
            sleep.spawn().unwrap()
        };
        let unique = |number: u32| format!("groma-plugin-of-a-test-{}-{number}", std::process::id());
        let (mut failed, mut coming) = (of(&unique(1)), of(&unique(2)));
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(unique(2))).unwrap();
        let mut pipe = start(dir.path()).unwrap();
        for line in [format!("? {}", unique(1)), format!("? {}", unique(2)), format!("! {}", unique(1))] {
            writeln!(pipe, "{line}").unwrap();
        }
        drop(pipe);
        assert!(!coming.wait().unwrap().success());
        assert!(failed.try_wait().unwrap().is_none(), "nobody was to look for it any more");
        failed.kill().unwrap();
        failed.wait().unwrap();
        wait_until_gone(&dir.path().join(unique(2)));
    }
}
