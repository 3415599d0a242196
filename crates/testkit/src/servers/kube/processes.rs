//! The programs of a cluster while they run: where, until when, and what they said when they end too early.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::Lifetime;
use super::machine::Machine;

/// How long starting may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);
/// How much of a log is shown.
const LAST_LINES: usize = 15;

/// Runs a program until it ends or nobody holds the other end of standard input any more. The first of a cluster then removes the folder.
const WATCHED: &str = r#"
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
{ read -r _ <&3; kill -9 $child; } &
reader=$!
wait $child
status=$?
kill $reader 2>/dev/null
[ -z "$SCRATCH" ] || rm -rf "$SCRATCH"
exit $status
"#;

#[derive(Debug)]
pub(super) struct Processes {
    dir: PathBuf,
    lifetime: Lifetime,
    /// Where they run, if that is not here.
    machine: Option<Machine>,
    children: Vec<(&'static str, Child)>,
    /// Whether they have to end with this.
    guarded: bool,
}

impl Processes {
    pub(super) fn new(dir: &Path, lifetime: Lifetime, on_machine: bool) -> io::Result<Self> {
        let machine = if on_machine { Some(Machine::start(dir, lifetime)?) } else { None };
        Ok(Self { dir: dir.to_owned(), lifetime, machine, children: Vec::new(), guarded: true })
    }

    /// The first process of the machine on which they run.
    pub(super) fn machine(&self) -> Option<u32> {
        self.machine.as_ref().map(Machine::id)
    }

    /// Starts a program in the folder.
    pub(super) fn start(&mut self, name: &'static str, mut command: Command) -> io::Result<()> {
        let log = fs::File::create(self.dir.join(format!("{name}.log")))?;
        let mut command = match (&self.machine, self.lifetime) {
            // They end with it.
            (Some(machine), _) => {
                let mut command = machine.inside(&command);
                command.stdin(Stdio::null());
                command
            }
            (None, Lifetime::Own) => {
                command.stdin(Stdio::null());
                command
            }
            (None, Lifetime::Ours) => {
                let mut watcher = Command::new("sh");
                watcher.args(["-c", WATCHED, "sh"]).arg(command.get_program()).args(command.get_args());
                watcher.stdin(Stdio::piped());
                let scratch = self.dir.parent().filter(|_| self.children.is_empty());
                watcher.env("SCRATCH", scratch.unwrap_or(Path::new("")));
                watcher
            }
        };
        // What is typed at the terminal that started it is not for it.
        command.process_group(0).current_dir(&self.dir).stdout(log.try_clone()?).stderr(log);
        let child = command.spawn()?;
        // So that it is found by whoever clears up after a start that was interrupted.
        fs::write(self.dir.join(format!("{name}.pid")), child.id().to_string())?;
        self.children.push((name, child));
        Ok(())
    }

    /// Waits for something, and no longer once a program has ended.
    pub(super) fn wait(&mut self, what: &str, ready: impl Fn() -> bool) -> io::Result<()> {
        let began = now();
        while !ready() {
            for (name, child) in &mut self.children {
                if let Some(status) = child.try_wait()? {
                    let log = last_lines(&self.dir, name);
                    return Err(io::Error::other(format!("{name} ended with {status}:\n{log}")));
                }
            }
            if began.elapsed() > PATIENCE {
                let logs = self.children.iter().map(|(name, _)| format!("{name}:\n{}", last_lines(&self.dir, name)));
                let logs: Vec<String> = logs.collect();
                return Err(io::Error::other(format!("{what} did not become ready\n{}", logs.join("\n"))));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Their process ids.
    pub(super) fn ids(&self) -> Vec<(&'static str, u32)> {
        let own = |child: &Child| match (&self.machine, self.lifetime) {
            (None, Lifetime::Own) => child.id(),
            // What was started is who watches it, or who has brought it inside.
            _ => child_of(child.id()).unwrap_or(child.id()),
        };
        self.children.iter().map(|(name, child)| (*name, own(child))).collect()
    }

    /// All have started: from now on they may have a life of their own.
    pub(super) fn finish(&mut self) {
        self.guarded = self.lifetime == Lifetime::Ours;
        if let (false, Some(machine)) = (self.guarded, &mut self.machine) {
            machine.finish();
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        if !self.guarded {
            return;
        }
        drop(self.machine.take());
        // The last first: they complain when what they need is gone.
        for (_, child) in self.children.iter_mut().rev() {
            match child.stdin.take() {
                // Who watches it ends it.
                Some(pipe) => drop(pipe),
                None => drop(child.kill()),
            }
            let _ = child.wait();
        }
    }
}

/// The end of what a program has said.
pub(super) fn last_lines(dir: &Path, name: &str) -> String {
    let log = fs::read_to_string(dir.join(format!("{name}.log"))).unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    let from = lines.len().saturating_sub(LAST_LINES);
    lines.get(from..).unwrap_or_default().join("\n")
}

/// The first child of a process.
fn child_of(process: u32) -> Option<u32> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

#[expect(clippy::disallowed_methods, reason = "it waits for real programs")]
pub(super) fn now() -> Instant {
    Instant::now()
}
