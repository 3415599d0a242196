//! Locks and states, against OpenTofu and Terraform themselves: each keeps the others out, and each goes on from what
//! the others wrote. `cargo xtask test` says where they are (`GROMA_TOFU`, `GROMA_TERRAFORM`).

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use groma_state::{
    Keeper, Layout, LocalStore, LockError, LockInfo, Saved, State, StatePaths, StateStore, decode, encode, read_file,
};
use tempfile::TempDir;

const OUTPUT: &str = "output \"a\" { value = \"x\" }\n";

const APPLY: [&str; 2] = ["apply", "-auto-approve"];

/// An apply that waits for the file `go` while it holds the lock.
const WAITING: &str = r#"
resource "terraform_data" "a" {
  provisioner "local-exec" { command = "touch started; while [ ! -e go ]; do sleep 0.05; done" }
}
"#;

/// Another tool, in a directory of its own.
struct Tool {
    program: OsString,
    dir: TempDir,
}

fn tool(variable: &str, config: &str) -> Tool {
    #[expect(clippy::disallowed_methods, reason = "the environment says where the peers are")]
    let program = std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set: use `cargo xtask test`"));
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("main.tf"), config).unwrap();
    Tool { program, dir }
}

/// Runs a test with both.
fn each(config: &str, test: impl Fn(&Tool)) {
    for variable in ["GROMA_TOFU", "GROMA_TERRAFORM"] {
        test(&tool(variable, config));
    }
}

impl Tool {
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn state(&self) -> State {
        read_file(&self.path("terraform.tfstate")).unwrap().unwrap()
    }

    fn store(&self) -> LocalStore {
        LocalStore::new(StatePaths::of(self.path("terraform.tfstate")))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).arg("-no-color").current_dir(self.dir.path());
        command.env("TF_CLI_CONFIG_FILE", "/dev/null").env("CHECKPOINT_DISABLE", "1").env("TF_IN_AUTOMATION", "1");
        command.env_remove("TF_DATA_DIR").env_remove("TF_WORKSPACE");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn passes(&self, args: &[&str]) -> String {
        let output = self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn fails(&self, args: &[&str]) -> String {
        let output = self.command(args).stderr(Stdio::piped()).output().unwrap();
        assert!(!output.status.success(), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

fn info() -> LockInfo {
    LockInfo {
        id: "0b6fa3d8-7a0c-4b7e-9a55-d3a6e1c0b9c1".to_owned(),
        operation: "OperationTypeApply".to_owned(),
        who: "me@here".to_owned(),
        version: "1.0.0".to_owned(),
        created: "2026-01-02T03:04:05Z".to_owned(),
        ..LockInfo::default()
    }
}

/// Waits for a file with that in it.
fn wait_for(path: &Path, text: &str) {
    for _ in 0..1200 {
        if fs::read_to_string(path).is_ok_and(|content| content.contains(text)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{} did not get {text:?}", path.display());
}

#[test]
fn it_is_refused_while_we_hold_the_lock() {
    each(OUTPUT, |tool| {
        let refused = || {
            let message = tool.fails(&APPLY);
            for part in ["Error acquiring the state lock", "resource temporarily unavailable", "me@here", &info().id] {
                assert!(message.contains(part), "{message}");
            }
            assert!(message.contains("2026-01-02 03:04:05 +0000 UTC"), "{message}");
        };
        let mut keeper = Keeper::new(tool.store());
        keeper.store().lock(&info()).unwrap();
        keeper.read().unwrap();
        refused();
        // Also when the file is another one.
        let mut ours = State { tool_version: "1.11.0".to_owned(), ..State::default() };
        assert_eq!(keeper.save(&mut ours, &mut || [7; 16]).unwrap(), Saved::Written);
        refused();
        keeper.store().unlock(&info().id).unwrap();
        tool.passes(&APPLY);
        assert_eq!((tool.state().serial, &tool.state().lineage), (2, &ours.lineage));
        assert_eq!(keeper.read().unwrap().unwrap().outputs.len(), 1);
    });
}

#[test]
fn it_goes_on_from_what_a_killed_run_leaves() {
    each(OUTPUT, |tool| {
        let path = tool.path("terraform.tfstate");
        let mut ours = tool.store();
        ours.lock(&info()).unwrap();
        let left = fs::read(&path).unwrap();
        ours.unlock(&info().id).unwrap();
        fs::write(&path, left).unwrap();
        tool.passes(&APPLY);
        assert_eq!((tool.state().serial, tool.state().lineage), (1, info().id));
    });
}

#[test]
fn we_are_refused_while_it_holds_the_lock() {
    each(WAITING, |tool| {
        tool.passes(&["init"]);
        let mut apply = tool.command(&APPLY).spawn().unwrap();
        wait_for(&tool.path("started"), "");
        let mut ours = tool.store();
        let LockError::Held { info: Some(holder), process, .. } = ours.lock(&info()).unwrap_err() else { panic!() };
        assert_eq!(holder.operation, "OperationTypeApply");
        assert_eq!(process, Some(apply.id()));
        assert!(ours.force_unlock(&holder.id).is_err());
        assert!(ours.write(None, &State::default()).is_err());
        fs::write(tool.path("go"), "").unwrap();
        assert!(apply.wait().unwrap().success());
        ours.lock(&info()).unwrap();
        assert_eq!(ours.read().unwrap().unwrap().resources.len(), 1);
        ours.unlock(&info().id).unwrap();
        tool.passes(&["plan", "-detailed-exitcode"]);
    });
}

#[test]
fn it_does_not_go_on_from_a_state_that_was_replaced_while_it_waited() {
    each(OUTPUT, |tool| {
        tool.passes(&APPLY);
        let mut keeper = Keeper::new(tool.store());
        keeper.store().lock(&info()).unwrap();
        let mut state = State::clone(&*keeper.read().unwrap().unwrap());
        let log = tool.path("log");
        let mut waiting = tool.command(&["apply", "-auto-approve", "-lock-timeout=60s"]);
        waiting.env("TF_LOG", "trace").env("TF_LOG_PATH", &log).stderr(Stdio::piped());
        let waiting = waiting.spawn().unwrap();
        wait_for(&log, "statemgr.Filesystem: locking");
        state.outputs.clear();
        keeper.save(&mut state, &mut || [7; 16]).unwrap();
        keeper.store().unlock(&info().id).unwrap();
        // It fails rather than write to a file that nobody will see.
        let output = waiting.wait_with_output().unwrap();
        assert!(!output.status.success());
        let message = String::from_utf8(output.stderr).unwrap();
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(message.contains("another tool that replaced this state"), "{message}");
        assert_eq!(tool.state(), state);
        tool.passes(&APPLY);
        assert_eq!(tool.state().serial, 3);
    });
}

/// States of every old version, with what is told apart in them.
const OLD: [&str; 3] = [
    r#"{"version": 1, "serial": 3, "modules": [{"path": ["root"], "outputs": {"ids": "a,b"}, "resources": {
        "null_resource.a.0": {"type": "null_resource", "primary": {"id": "i", "attributes": {"t.#": "1", "t.k": "v"}}},
        "null_resource.a.1": {"type": "null_resource", "primary": {"id": "j", "meta": {"schema_version": "2", "x": "y"}},
            "tainted": [{"id": "t"}], "deposed": [{"id": "d"}]},
        "null_resource.b": {"type": "null_resource", "provider": "null.west", "primary": {"id": ""}}}}]}"#,
    r#"{"version": 2, "terraform_version": "0.7.0", "serial": 1, "lineage": "l2", "modules": [{"path": ["root"],
        "outputs": {}, "resources": {"a_b.c": {"type": "a_b", "primary": {"id": "x", "attributes": {
            "list.#": "2", "list.0": "a", "list.1.deep.#": "0", "empty.#": "0", "map.#": "1", "map.key": "v",
            "set.#": "1", "set.12345.name": "n", "set.12345.tags.#": "1", "set.12345.tags.a": "b", ".#": "1"}}}}}]}"#,
    r#"{"version": 3, "terraform_version": "0.11.14", "serial": 8, "lineage": "l3", "modules": [
        {"path": ["root"], "depends_on": [], "outputs": {
            "list": {"sensitive": true, "type": "list", "value": [["a"], ["b"]]},
            "map": {"sensitive": false, "type": "map", "value": {"a": "x", "b": "y"}},
            "mixed": {"sensitive": false, "type": "map", "value": {"a": "x", "b": ["y"]}},
            "none": {"sensitive": false, "type": "list", "value": []}, "null": {"type": "string", "value": null}},
         "resources": {
            "data.terraform_remote_state.s": {"type": "terraform_remote_state", "provider": "provider.terraform",
                "primary": {"id": "now", "attributes": {"id": ""}, "meta": {}, "tainted": false}, "deposed": []},
            "aws_x.none": {"type": "aws_x"},
            "aws_x.y": {"type": "aws_x", "provider": "provider.aws.west", "primary": {
                "id": "p", "attributes": {"id": "own", "n": null}, "tainted": true,
                "meta": {"schema_version": 4, "e2bf": {"update": 60, "create": 600000000000, "<": [1.5, true, null]}}},
                "deposed": [{"id": "d1"}, {"id": "d2", "tainted": true}]}}},
        {"path": ["root", "m", "n"], "outputs": {"lost": {"value": "x"}}, "resources": {
            "aws_x.z.2": {"type": "aws_x", "primary": {"id": "q"}},
            "aws_x.local": {"type": "aws_x", "provider": "aws.east", "primary": {"id": "q"}},
            "aws_x.only": {"type": "aws_x", "provider": "module.m.provider.aws", "deposed": [{"id": "d"}]}}}]}"#,
];

#[test]
fn old_states_are_read_as_it_reads_them() {
    for old in OLD {
        // Terraform takes another registry for the usual one.
        let tofu = tool("GROMA_TOFU", "");
        fs::write(tofu.path("terraform.tfstate"), old).unwrap();
        let theirs = decode(&tofu.passes(&["state", "pull"])).unwrap();
        let ours = State { tool_version: theirs.tool_version.clone(), ..decode(old).unwrap() };
        let text = |state: &State| encode(state, Layout::Indented).unwrap();
        assert_eq!(text(&ours), text(&theirs));
    }
}
