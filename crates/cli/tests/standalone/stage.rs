//! A directory with files of people, and an operator that works with it.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long anything may take, on a machine that is busy.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct Stage {
    pub(crate) dir: tempfile::TempDir,
    operator: Option<Child>,
}

pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Stage {
    /// A directory without an operator.
    pub(crate) fn quiet() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), operator: None }
    }

    /// With an operator.
    pub(crate) fn new() -> Self {
        let mut stage = Self::quiet();
        stage.start();
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groma"));
        command.args(args).current_dir(self.dir.path()).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("HOME", self.dir.path()).env("USER", "ana");
        command
    }

    pub(crate) fn start(&mut self) {
        self.start_with(&[]);
        let holder = format!("process {},", self.operator.as_ref().unwrap().id());
        self.wait_for("the operator", || self.read(".groma/operator.lock").starts_with(&holder));
    }

    pub(crate) fn start_with(&mut self, more: &[&str]) {
        self.start_as(&[&["-standalone", "."], more].concat());
    }

    pub(crate) fn start_as(&mut self, args: &[&str]) {
        let log = fs::OpenOptions::new().create(true).append(true).open(self.path("operator.log")).unwrap();
        let mut command = self.command(&["operator"]);
        command.args(args).stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        self.operator = Some(command.spawn().unwrap());
    }

    /// As if the power had gone.
    pub(crate) fn kill(&mut self) {
        let mut operator = self.operator.take().unwrap();
        operator.kill().unwrap();
        operator.wait().unwrap();
    }

    /// As it is asked to by whoever shuts the machine down.
    pub(crate) fn stop(&mut self) -> Option<i32> {
        let mut operator = self.operator.take().unwrap();
        let id = operator.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        operator.wait().unwrap().code()
    }

    pub(crate) fn log(&self) -> String {
        self.read("operator.log")
    }

    pub(crate) fn groma(&self, args: &[&str]) -> Said {
        let output = self.command(args).stdin(Stdio::null()).output().unwrap();
        Said {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs a command that must go well.
    pub(crate) fn well(&self, args: &[&str]) -> String {
        let said = self.groma(args);
        assert_eq!(said.code, 0, "{args:?}: {}{}\n{}", said.stdout, said.stderr, self.log());
        said.stdout
    }

    /// How a Stack is, as people read it.
    pub(crate) fn status(&self, name: &str) -> Value {
        serde_saphyr::from_str(&self.read(&format!(".groma/status/default/{name}.yaml"))).unwrap_or_default()
    }

    pub(crate) fn wait_for(&self, what: &str, holds: impl Fn() -> bool) {
        #[expect(clippy::disallowed_methods, reason = "it is waited for")]
        let begin = Instant::now();
        while !holds() {
            assert!(begin.elapsed() < PATIENCE, "{what} never came\n{}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until a Stack is ready, or not, and says something about it.
    pub(crate) fn wait_until(&self, name: &str, ready: &str, says: &str) {
        self.wait_for(&format!("{name}: {ready} {says:?}"), || {
            let status = self.status(name);
            status["ready"] == ready && status["message"].as_str().unwrap_or_default().contains(says)
        });
    }

    /// The state of a Stack.
    pub(crate) fn state(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(&format!(".groma/states/default/{name}/terraform.tfstate"))).unwrap_or_default()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(operator) = &mut self.operator {
            let _ = operator.kill();
            let _ = operator.wait();
        }
    }
}

/// A Stack whose configuration stands in it.
pub(crate) fn stack(name: &str, spec: &str, files: &[(&str, &str)]) -> String {
    let mut text = format!("apiVersion: groma.dev/v1alpha1\nkind: Stack\nmetadata:\n  name: {name}\nspec:\n");
    text.extend(spec.lines().map(|line| format!("  {line}\n")));
    text.push_str("  source:\n    inline:\n");
    for (file, content) in files {
        text.extend([format!("      {file}: |\n")]);
        text.extend(content.lines().map(|line| format!("        {line}\n")));
    }
    text
}

/// Nobody has to agree to anything.
pub(crate) const AUTO: &str = "approval: {mode: auto}";
