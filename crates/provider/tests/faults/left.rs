//! What is left of plugins.

use std::fs;
use std::time::Duration;

/// Waits until no plugin that we have started is left, neither alive nor dead.
pub(crate) async fn nothing_is_left() {
    for _ in 0..200 {
        if plugins().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("processes are left: {:?}", plugins());
}

/// Children of ours by their first name, except the guard's shell.
fn plugins() -> Vec<String> {
    let us = std::process::id().to_string();
    let found = fs::read_dir("/proc").unwrap().filter_map(Result::ok).filter_map(|process| {
        let stat = fs::read_to_string(process.path().join("stat")).ok()?;
        let (name, rest) = stat.rsplit_once(')')?;
        let parent = rest.split_whitespace().nth(1)?;
        (parent == us && name.contains("terraform-provi")).then(|| stat.clone())
    });
    found.collect()
}
