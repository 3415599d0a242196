//! Programs that do not outlive whoever started them, however that ends.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long starting may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// Runs a program until it ends or nobody holds the other end of standard input any more, and then removes the folder.
const SCRIPT: &str = r#"
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
{ read -r _ <&3; kill -$SIGNAL $child; } &
reader=$!
wait $child
status=$?
kill $reader 2>/dev/null
rm -rf "$SCRATCH"
exit $status
"#;

/// A program that runs.
#[derive(Debug)]
pub(super) struct Watched(Child);

impl Watched {
    /// Starts a program in a folder, which is removed in the end. `signal` is what ends it.
    pub(super) fn start(command: &Command, dir: &Path, signal: &str) -> io::Result<Self> {
        let log = fs::File::create(dir.join("log"))?;
        let mut watcher = Command::new("sh");
        watcher.args(["-c", SCRIPT, "sh"]).arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            watcher.envs(value.map(|value| (name, value)));
        }
        watcher.env("SCRATCH", dir).env("SIGNAL", signal).stdin(Stdio::piped());
        watcher.current_dir(dir).stdout(log.try_clone()?).stderr(log).spawn().map(Self)
    }

    /// Waits until somebody listens on a port.
    pub(super) fn wait_for(&mut self, port: u16, dir: &Path) -> io::Result<()> {
        let began = now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            let ended = self.0.try_wait()?;
            if ended.is_some() || began.elapsed() > PATIENCE {
                let log = fs::read_to_string(dir.join("log")).unwrap_or_default();
                return Err(io::Error::other(format!("the server did not start: {log}")));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // It ends what it runs when this is closed.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "it waits for real programs")]
fn now() -> Instant {
    Instant::now()
}

/// A port that nobody uses now.
pub(super) fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
