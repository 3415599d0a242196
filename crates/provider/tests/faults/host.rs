//! The host dies and can do nothing any more: its plugins must not survive it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::kit::Subject;

/// In the environment of the host that is to die.
const VICTIM: &str = "GROMA_TEST_VICTIM";

#[expect(clippy::disallowed_methods, reason = "it tells the host that is to die from the one that watches")]
fn is_victim() -> bool {
    std::env::var_os(VICTIM).is_some()
}

#[tokio::test]
async fn a_plugin_does_not_survive_a_host_that_was_killed() {
    if is_victim() {
        // The log file is inherited.
        let _plugin = Subject::framework().ready().await;
        return std::future::pending().await;
    }
    let scratch = tempfile::tempdir().unwrap();
    let log = scratch.path().join("log");
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "host::a_plugin_does_not_survive_a_host_that_was_killed"])
        .env(VICTIM, "1")
        .env("FIXTURE_LOG_FILE", &log)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let plugin = configured(&log).await;
    assert!(plugin.is_some(), "the plugin was not started");
    let plugin = plugin.unwrap();
    assert!(fs::exists(format!("/proc/{plugin}")).unwrap());
    host.kill().unwrap();
    host.wait().unwrap();
    for _ in 0..200 {
        if is_gone(&plugin) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("plugin {plugin} survived its host");
}

/// The process of the plugin, once it is configured.
async fn configured(log: &Path) -> Option<String> {
    for _ in 0..1200 {
        let text = fs::read_to_string(log).unwrap_or_default();
        if let Some(line) = text.lines().find(|line| line.contains("ConfigureProvider")) {
            return line.split(' ').nth(1).map(str::to_owned);
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    None
}

/// Whether it runs no more. Who reaps it now is none of our business.
fn is_gone(pid: &str) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
}
