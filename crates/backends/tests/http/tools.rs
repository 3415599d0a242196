//! OpenTofu and Terraform on the same state.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use super::actor::{clock, since};

/// One of the other tools.
#[derive(Debug, Clone)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    program: PathBuf,
}

impl Tool {
    /// Where `cargo xtask peers` has put it.
    fn find(name: &'static str, variable: &str) -> Self {
        #[allow(clippy::disallowed_methods, reason = "it says where the real programs are")]
        let program = std::env::var_os(variable);
        let program = program.unwrap_or_else(|| panic!("{variable} is not set: run `cargo xtask test`"));
        Self { name, program: program.into() }
    }

    pub(crate) fn tofu() -> Self {
        Self::find("tofu", "GROMA_TOFU")
    }

    pub(crate) fn terraform() -> Self {
        Self::find("terraform", "GROMA_TERRAFORM")
    }

    pub(crate) fn all() -> [Self; 2] {
        [Self::tofu(), Self::terraform()]
    }

    /// A working directory with a backend and one resource.
    pub(crate) fn workspace(&self, scratch: &Path, backend: &str) -> Workspace {
        let dir = scratch.join(self.name);
        fs::create_dir_all(&dir).unwrap();
        let configuration = format!(
            "terraform {{\n{backend}\n}}\n\
             variable \"name\" {{ default = \"x\" }}\n\
             resource \"terraform_data\" \"thing\" {{ input = var.name }}\n\
             output \"name\" {{ value = terraform_data.thing.output }}\n"
        );
        fs::write(dir.join("main.tf"), configuration).unwrap();
        let workspace = Workspace { tool: self.clone(), dir };
        workspace.run(&["init"]).succeeds();
        workspace
    }
}

/// The block of a backend.
pub(crate) fn block(kind: &str, settings: &[(&str, &str)]) -> String {
    let mut text = format!("  backend \"{kind}\" {{\n");
    for (name, value) in settings {
        writeln!(text, "    {name} = \"{value}\"").unwrap();
    }
    text + "  }\n"
}

/// Where a tool works.
pub(crate) struct Workspace {
    tool: Tool,
    pub(crate) dir: PathBuf,
}

impl Workspace {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.tool.program);
        command
            .current_dir(&self.dir)
            .args(arguments)
            .args(["-no-color"].iter().filter(|_| arguments[0] != "workspace"));
        command.env("TF_CLI_CONFIG_FILE", "/dev/null").env("CHECKPOINT_DISABLE", "1").env_remove("TF_LOG");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        let output = self.command(arguments).stdin(Stdio::null()).output().unwrap();
        Said { what: format!("{} {arguments:?}", self.tool.name), output }
    }

    /// Runs something that asks a question, and holds its lock until it is answered.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Asking {
        let mut command = self.command(arguments);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Asking { what: format!("{} {arguments:?}", self.tool.name), child }
    }
}

/// A tool that waits for an answer.
pub(crate) struct Asking {
    what: String,
    child: Child,
}

impl Asking {
    pub(crate) fn answer(mut self, text: &str) -> Said {
        writeln!(self.child.stdin.take().unwrap(), "{text}").unwrap();
        Said { what: self.what, output: self.child.wait_with_output().unwrap() }
    }
}

/// What a tool has said.
pub(crate) struct Said {
    what: String,
    output: Output,
}

impl Said {
    fn text(&self) -> String {
        let Output { stdout, stderr, .. } = &self.output;
        format!("{}{}", String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr))
    }

    /// The end of it, for messages.
    fn end(&self) -> String {
        let text = self.text();
        let end: Vec<char> = text.chars().rev().take(2000).collect();
        format!("{}: {}", self.what, end.into_iter().rev().collect::<String>())
    }

    pub(crate) fn succeeds(self) -> String {
        assert!(self.output.status.success(), "{}", self.end());
        self.text()
    }

    pub(crate) fn fails(self) -> String {
        assert!(!self.output.status.success(), "{}", self.end());
        self.text()
    }
}

/// Waits until something is so.
pub(crate) fn wait_until(mut is_so: impl FnMut() -> bool) {
    let began = clock();
    while !is_so() {
        assert!(since(began) < Duration::from_mins(1), "it does not come");
        std::thread::sleep(Duration::from_millis(50));
    }
}
