//! A directory and an environment of our own to run groma in.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use expect_test::Expect;
use tempfile::TempDir;

/// A directory to run groma in.
pub(crate) struct Sandbox {
    dir: TempDir,
    environment: Vec<(String, String)>,
}

/// What groma did.
#[must_use = "compare it, or look at a part of it"]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), environment: Vec::new() }
    }

    /// Adds a file.
    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds a directory that packages of providers are installed from, and a CLI configuration that names it.
    pub(crate) fn mirror(self, packages: &[(&str, &str)]) -> Self {
        let mut sandbox =
            self.file(".tofurc", "provider_installation {\n  filesystem_mirror {\n    path = \"mirror\"\n  }\n}\n");
        for (provider, version) in packages {
            let kind = provider.rsplit('/').next().unwrap();
            let dir = format!("mirror/{provider}/{version}/{}", platform());
            sandbox = sandbox.file(&format!("{dir}/terraform-provider-{kind}_v{version}"), "not a program");
        }
        sandbox
    }

    /// Adds a program.
    pub(crate) fn copy(self, name: &str, from: &Path) -> Self {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // What runs from the old file goes on.
        let _ = fs::remove_file(&path);
        fs::copy(from, path).unwrap();
        self
    }

    /// Puts a program into a package of the mirror.
    pub(crate) fn program(self, provider: &str, version: &str, from: &Path) -> Self {
        let kind = provider.rsplit('/').next().unwrap();
        let name = format!("mirror/{provider}/{version}/{}/terraform-provider-{kind}_v{version}", platform());
        self.copy(&name, from)
    }

    /// The names of all files and directories, but those of the mirror.
    pub(crate) fn files(&self) -> String {
        let mut names = Vec::new();
        list(self.dir.path(), "", &mut names);
        names.sort();
        names
            .into_iter()
            .filter(|name| !name.starts_with("mirror"))
            .map(|name| name.replace(&platform(), "PLATFORM") + "\n")
            .collect()
    }

    /// Where a file is.
    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.dir.path().join(name).exists()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.dir.path().join(name)).unwrap().replace(&platform(), "PLATFORM")
    }

    /// Runs groma.
    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        self.run_with(arguments, "")
    }

    fn spawn(&self, arguments: &[&str]) -> Child {
        let environment = self.environment.iter().map(|(name, value)| (name, value));
        #[expect(clippy::disallowed_methods, reason = "provisioners run programs")]
        let programs = std::env::var_os("PATH").unwrap_or_default();
        Command::new(env!("CARGO_BIN_EXE_groma"))
            .args(arguments)
            .current_dir(self.dir.path())
            .env_clear()
            .env("PATH", programs)
            .env("HOME", self.dir.path())
            .envs(environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Starts groma, to talk with it.
    pub(crate) fn begin(&self, arguments: &[&str]) -> Running {
        let mut child = self.spawn(arguments);
        let out = child.stdout.take().unwrap();
        Running { child, out, told: String::new() }
    }

    /// Runs groma with text on its standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> Outcome {
        let mut child = self.spawn(arguments);
        // A command that does not read its input may be gone already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap().replace(&platform(), "PLATFORM");
        Outcome { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// Groma at work.
pub(crate) struct Running {
    child: Child,
    out: ChildStdout,
    told: String,
}

impl Running {
    /// Reads what it says until this was said.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        let mut byte = [0];
        let mut bytes = std::mem::take(&mut self.told).into_bytes();
        while !bytes.ends_with(text.as_bytes()) {
            let read = self.out.read(&mut byte).unwrap();
            assert_eq!(read, 1, "{text:?} was not said, but {}", String::from_utf8_lossy(&bytes));
            bytes.push(byte[0]);
        }
        self.told = String::from_utf8(bytes).unwrap();
    }

    /// What it said so far.
    pub(crate) fn told(&self) -> &str {
        &self.told
    }

    /// Answers a question.
    pub(crate) fn answer(&mut self, text: &str) {
        self.child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Sends a signal, by its name.
    #[cfg(unix)]
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// Reads nothing of what it says, and waits for its end: the exit code.
    pub(crate) fn leave(self) -> i32 {
        let Self { mut child, out, .. } = self;
        drop(out);
        child.wait().unwrap().code().unwrap_or(-1)
    }

    /// Waits for its end. Its standard input stays open until then.
    pub(crate) fn end(mut self) -> Outcome {
        let stdin = self.child.stdin.take();
        self.out.read_to_string(&mut self.told).unwrap();
        let output = self.child.wait_with_output().unwrap();
        drop(stdin);
        let stderr = String::from_utf8(output.stderr).unwrap();
        Outcome { code: output.status.code().unwrap_or(-1), stdout: self.told, stderr }
    }
}

/// The platform as packages of providers name it.
fn platform() -> String {
    let os = if std::env::consts::OS == "macos" { "darwin" } else { std::env::consts::OS };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{os}_{arch}")
}

fn list(dir: &Path, prefix: &str, names: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            list(&entry.path(), &format!("{name}/"), names);
        }
        names.push(name);
    }
}

impl Outcome {
    /// Compares everything.
    pub(crate) fn is(&self, expected: Expect) {
        let mut text = format!("exit code {}\n", self.code);
        for (name, content) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !content.is_empty() {
                text.extend(["----- ", name, "\n", content]);
            }
        }
        expected.assert_eq(&text);
    }
}
