//! The page of the manual: its files are written, its commands are run one after the other.

use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::stage::Stage;

const PAGE: &str = include_str!("../../../../docs/book/src/standalone.md");

/// The blocks of code of a page, with their language.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let mut parts = page.split("\n```");
    let mut blocks = Vec::new();
    parts.next();
    while let (Some(block), Some(_)) = (parts.next(), parts.next()) {
        blocks.extend(block.split_once('\n'));
    }
    blocks
}

fn shell(stage: &Stage, line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-e", "-c", line]).current_dir(stage.dir.path()).env_clear().stdin(Stdio::null());
    command.env("PATH", format!("{}:/usr/bin:/bin", stage.dir.path().display()));
    command.env("HOME", stage.dir.path()).env("USER", "ana");
    command
}

fn does(stage: &Stage, line: &str) {
    let status =
        || -> Value { serde_saphyr::from_str(&stage.read("infra/.groma/status/default/pet.yaml")).unwrap_or_default() };
    let plan = || status()["status"]["pending"]["plan"].as_str().map(str::to_owned);
    let mut line = line.to_owned();
    if line.contains("stack plan") || line.contains("plan-…") {
        stage.wait_for("a plan", || plan().is_some());
    }
    if line.contains("plan-…") {
        line = line.replace("plan-…", &plan().unwrap());
    }
    if line.contains("stack get") {
        stage.wait_for("a Stack", || !status().is_null());
    }
    if line.contains("stack outputs") {
        stage.wait_for("what was agreed to", || status()["ready"] == "True");
    }
    let output = shell(stage, &line).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{line}: {said}\n{}", stage.log());
}

#[test]
fn what_the_manual_says_works() {
    let mut stage = Stage::quiet();
    symlink(env!("CARGO_BIN_EXE_groma"), stage.path("groma")).unwrap();
    let mut run = 0;
    for (language, text) in blocks(PAGE) {
        match language {
            "yaml" => stage.write("pet.yaml", text),
            "sh" => {
                for line in text.lines() {
                    // It works until it is ended.
                    if let Some(args) = line.strip_prefix("groma operator ") {
                        stage.start_as(&args.split(' ').collect::<Vec<_>>());
                    } else {
                        does(&stage, line);
                    }
                    run += 1;
                }
            }
            other => panic!("nobody knows what to do with {other:?}"),
        }
    }
    assert!(run >= 12, "{run}");
    stage.wait_for("the end", || !stage.path("infra/.groma/status/default/pet.yaml").exists());
}
