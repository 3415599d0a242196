//! Programs that are no plugins, or bad ones.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::wire::handshake::HandshakeError;
use crate::wire::launch::{Settings, Timeouts};

/// A program that does what a script says.
fn program(dir: &TempDir, script: &str) -> PathBuf {
    let path = dir.path().join("plugin");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn launch(program: PathBuf, start: Duration) -> Launch {
    let timeouts = Timeouts { start, ..Timeouts::default() };
    Launch::new(program).named("example.com/test/thing").with_settings(Settings { timeouts, ..Settings::default() })
}

async fn start_error(script: &str) -> StartError {
    let dir = TempDir::new().unwrap();
    let launch = launch(program(&dir, script), Duration::from_secs(20));
    launch.start().await.unwrap_err()
}

#[tokio::test]
async fn a_program_that_ends_early_is_shown_with_its_last_words() {
    let error = start_error("#!/bin/sh\necho 'I have no disk' >&2\nexit 3\n").await;
    let text = error.diagnostic();
    assert_eq!(text.summary, "Failed to instantiate provider \"example.com/test/thing\"");
    assert!(text.detail.contains("exited with status 3 before it was ready"), "{}", text.detail);
    assert!(text.detail.contains("I have no disk"), "{}", text.detail);
}

#[tokio::test]
async fn a_killed_program_names_the_signal() {
    let error = start_error("#!/bin/sh\nkill -SEGV $$\n").await;
    assert!(error.to_string().contains("was killed by signal SIGSEGV"), "{error}");
}

#[tokio::test]
async fn garbage_is_no_handshake() {
    for (script, expected) in [
        ("#!/bin/sh\necho Hello, world\nsleep 60\n", "got \"Hello, world\""),
        ("#!/bin/sh\necho '2|5|unix|/x|grpc|'\nsleep 60\n", "version \"2\" of the plugin system"),
        ("#!/bin/sh\necho '1|4|unix|/x|grpc|'\nsleep 60\n", "provider protocol \"4\""),
        ("#!/bin/sh\necho '1|5|unix|/x|netrpc|'\nsleep 60\n", "speaks \"netrpc\""),
        ("#!/bin/sh\nhead -c 200000 /dev/zero\nsleep 60\n", "expected CORE|PROTOCOL"),
    ] {
        let error = start_error(script).await;
        assert!(matches!(error, StartError::Handshake { .. }), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.to_string().len() < 2000);
    }
}

#[tokio::test]
async fn a_port_without_a_certificate_is_not_used() {
    let error = start_error("#!/bin/sh\necho '1|5|tcp|127.0.0.1:1|grpc|'\nsleep 60\n").await;
    assert!(matches!(error, StartError::Handshake { source: HandshakeError::NoCertificate, .. }), "{error:?}");
}

#[tokio::test]
async fn a_socket_that_is_not_there_is_an_error() {
    let error = start_error("#!/bin/sh\necho \"1|5|unix|$PLUGIN_UNIX_SOCKET_DIR/x|grpc|\"\nexit 7\n").await;
    assert!(matches!(error, StartError::Connect { .. }), "{error:?}");
    assert!(error.to_string().contains("it exited with status 7"), "{error}");
}

#[tokio::test]
async fn a_silent_program_is_given_up_and_ended_with_its_children() {
    let dir = TempDir::new().unwrap();
    let pids = dir.path().join("pids");
    let script = format!("#!/bin/sh\necho I am slow >&2\nsleep 60 &\necho $$ $! > {}\nwait\n", pids.display());
    let error = launch(program(&dir, &script), Duration::from_millis(400)).start().await.unwrap_err();
    assert!(matches!(error, StartError::Timeout { .. }), "{error:?}");
    assert_eq!(error.last_output(), ["I am slow"]);
    let pids: Vec<String> = fs::read_to_string(pids).unwrap().split_whitespace().map(str::to_owned).collect();
    assert_eq!(pids.len(), 2);
    for _ in 0..100 {
        if pids.iter().all(|pid| is_gone(pid)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("processes {pids:?} are left");
}

/// Whether there is no such process. One that nobody has reaped counts only if it is not ours.
fn is_gone(pid: &str) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let (state, parent) = (fields.next(), fields.next());
    state == Some("Z") && parent != Some(std::process::id().to_string().as_str())
}

#[tokio::test]
async fn what_cannot_run_is_explained() {
    let dir = TempDir::new().unwrap();
    let second = Duration::from_secs(1);
    let error = launch(dir.path().join("nothing"), second).start().await.unwrap_err();
    assert!(error.to_string().ends_with("there is no such file"), "{error}");

    let error = launch(dir.path().to_owned(), second).start().await.unwrap_err();
    assert!(error.to_string().ends_with("it is a directory"), "{error}");

    let path = program(&dir, "#!/bin/sh\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let error = launch(path.clone(), second).start().await.unwrap_err();
    assert!(error.to_string().ends_with("the file is not executable"), "{error}");

    let mut elf = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 21, 0];
    elf.resize(200, 0);
    fs::write(&path, elf).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let error = launch(path.clone(), second).start().await.unwrap_err();
    assert!(error.to_string().contains("it is a Linux program for powerpc64, and this machine"), "{error}");

    fs::write(&path, "MZ and so on, for another system").unwrap();
    let error = launch(path.clone(), second).start().await.unwrap_err();
    assert!(error.to_string().contains("it is a Windows program"), "{error}");

    fs::write(&path, "#!/no/such/interpreter\n").unwrap();
    let error = launch(path, second).start().await.unwrap_err();
    assert!(error.to_string().contains("it is a script, and the loader or interpreter"), "{error}");
}

#[tokio::test]
async fn only_we_may_enter_the_directory_of_the_socket_and_it_goes_away() {
    let dir = TempDir::new().unwrap();
    let seen = dir.path().join("seen");
    let script = format!(
        "#!/bin/sh\nstat -c '%a %n' \"$PLUGIN_UNIX_SOCKET_DIR\" > {seen}\n\
         echo \"$PLUGIN_PROTOCOL_VERSIONS $TF_PLUGIN_MAGIC_COOKIE $GROMA_PLUGIN_HOST $EXTRA\" >> {seen}\n",
        seen = seen.display()
    );
    let launch = launch(program(&dir, &script), Duration::from_secs(20)).with_env("EXTRA", "more");
    launch.start().await.unwrap_err();
    let seen = fs::read_to_string(seen).unwrap();
    let (first, second) = seen.trim().split_once('\n').unwrap();
    let (mode, path) = first.split_once(' ').unwrap();
    assert_eq!(mode, "700");
    assert!(!PathBuf::from(path).exists());
    assert_eq!(second, format!("5,6 {} 1 more", MAGIC_COOKIE.1));
}
