//! Where it happens: a repository that is pushed to, a directory with a Stack, an operator whose lines are shown as they come, and what can be seen
//! from outside.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::process;

/// How long a step may take, on a machine that is busy.
const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(100);

/// The Stack. `REPOSITORY` is where its configuration is.
const STACK: &str = r"apiVersion: groma.dev/v1alpha1
kind: Stack
metadata:
  name: shop
spec:
  source:
    git:
      url: file://REPOSITORY
      ref:
        branch: main
      interval: 1s
  path: shop
  interval: 1s
  approval:
    mode: auto
    rules:
      - types: [random_pet]
        actions: [create]
        mode: manual
  outputs:
    status: true
";

pub(super) struct Stage {
    groma: PathBuf,
    root: PathBuf,
    operator: Option<Child>,
    lines: Option<JoinHandle<()>>,
}

impl Stage {
    /// An empty repository, a clone of it, and a directory for Stacks.
    pub(super) fn new(groma: &Path, root: &Path) -> Result<Self> {
        let stage = Self { groma: groma.to_owned(), root: root.to_owned(), operator: None, lines: None };
        fs::create_dir_all(stage.stacks())?;
        fs::create_dir_all(stage.work())?;
        println!("$ git init --bare repo.git && git clone repo.git work");
        stage.git(&["init", "--quiet", "--bare", "--initial-branch=main", "../repo.git"])?;
        stage.git(&["init", "--quiet", "--initial-branch=main"])?;
        stage.git(&["remote", "add", "origin", "../repo.git"])?;
        Ok(stage)
    }

    fn stacks(&self) -> PathBuf {
        self.root.join("stacks")
    }

    /// Where people work on the repository.
    fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    fn stack_file(&self) -> PathBuf {
        self.stacks().join("shop.yaml")
    }

    /// The page that the configuration makes.
    pub(super) fn page(&self) -> PathBuf {
        self.root.join("page.html")
    }

    /// The state of the Stack.
    pub(super) fn state_file(&self) -> PathBuf {
        self.stacks().join(".groma/states/default/shop/terraform.tfstate")
    }

    /// Writes files into the repository and pushes them: the revision, as people know it.
    pub(super) fn push(&self, files: &[(&str, String)], message: &str) -> Result<String> {
        for (name, text) in files {
            let path = self.work().join(name);
            fs::create_dir_all(path.parent().context("a file has a directory")?)?;
            fs::write(path, text)?;
        }
        println!("$ git add --all && git commit -m '{message}' && git push");
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "-m", message])?;
        self.git(&["push", "--quiet", "origin", "main"])?;
        Ok(format!("main@sha1:{}", self.git(&["rev-parse", "HEAD"])?.trim()))
    }

    fn git(&self, args: &[&str]) -> Result<String> {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=tour", "-c", "user.email=tour@example.com", "-c", "commit.gpgsign=false"]);
        git.args(args).current_dir(self.work()).env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", &self.root);
        process::capture(&mut git).context("the tour keeps its example with git")
    }

    /// The Stack is written.
    pub(super) fn write_stack(&self) -> Result<()> {
        let repository = self.root.join("repo.git").display().to_string();
        let stack = STACK.replace("REPOSITORY", &repository);
        fs::write(self.stack_file(), &stack)?;
        println!("$ cat stacks/shop.yaml\n{}", stack.trim_end());
        Ok(())
    }

    /// The Stack goes.
    pub(super) fn remove_stack(&self) -> Result<()> {
        println!("$ rm stacks/shop.yaml");
        Ok(fs::remove_file(self.stack_file())?)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.groma);
        command.args(args).current_dir(self.stacks()).env("USER", "you");
        // What is asked for here does not depend on what is set for others.
        command.env_remove("GROMA_STANDALONE").env_remove("KUBECONFIG").env_remove("TF_CLI_CONFIG_FILE");
        command
    }

    /// Starts the operator. Its lines are shown among everything else.
    pub(super) fn begin(&mut self) -> Result<()> {
        println!("\n$ groma operator -standalone stacks &");
        let mut operator = self.command(&["operator", "-standalone", "."]).stdout(Stdio::piped()).spawn()?;
        let lines = operator.stdout.take().context("the operator has no output")?;
        self.operator = Some(operator);
        self.lines = Some(std::thread::spawn(move || {
            for line in BufReader::new(lines).lines().map_while(Result::ok) {
                println!("  │ {line}");
            }
        }));
        Ok(())
    }

    /// Ends the operator as systems do.
    pub(super) fn end(&mut self) -> Result<()> {
        let Some(mut operator) = self.operator.take() else { return Ok(()) };
        kill(Pid::from_raw(i32::try_from(operator.id())?), Signal::SIGTERM)?;
        let status = operator.wait()?;
        if let Some(lines) = self.lines.take() {
            let _ = lines.join();
        }
        ensure!(status.success(), "the operator ended with {status}");
        Ok(())
    }

    /// Runs a command, and shows what it says.
    pub(super) fn groma(&self, args: &[&str]) -> Result<()> {
        process::run(&mut self.command(args))
    }

    /// How the Stack is, as its file says. Null if it is not there.
    pub(super) fn status(&self) -> Result<Value> {
        match fs::read_to_string(self.stacks().join(".groma/status/default/shop.yaml")) {
            Ok(text) => Ok(serde_saphyr::from_str(&text)?),
            Err(_) => Ok(Value::Null),
        }
    }

    /// The plan that waits for somebody.
    pub(super) fn pending(&self) -> Result<Option<String>> {
        Ok(self.status()?["status"]["pending"]["plan"].as_str().map(str::to_owned))
    }

    /// The id of the release, and whether it has a mark.
    pub(super) fn release(&self) -> Result<(String, Option<String>)> {
        let state: Value = serde_json::from_slice(&fs::read(self.state_file())?)?;
        let resources = state["resources"].as_array().context("the state has no resources")?;
        let release = resources.iter().find(|known| known["name"] == "release").context("there is no release")?;
        let instance = &release["instances"][0];
        let id = instance["attributes"]["id"].as_str().context("the release has no id")?;
        Ok((id.to_owned(), instance["status"].as_str().map(str::to_owned)))
    }

    /// The number of the last run.
    pub(super) fn runs(&self) -> Result<u64> {
        self.status()?["status"]["lastRun"]["number"].as_u64().context("nothing has been run")
    }

    /// Waits until a revision is applied, and all is well.
    pub(super) fn wait_applied(&self, revision: &str) -> Result<()> {
        self.wait(&format!("{revision:?}, applied"), || {
            let status = self.status()?;
            Ok(status["ready"] == "True" && status["status"]["applied"]["revision"] == revision)
        })
    }

    /// Waits until a revision was tried, and came to nothing; and says this.
    pub(super) fn wait_failed(&self, revision: &str, says: &str) -> Result<()> {
        self.wait(&format!("{revision:?}, failed"), || {
            let status = self.status()?;
            let is_over = status["status"]["lastRun"]["phase"] == "Failed";
            let is_tried = is_over && status["status"]["attempted"]["revision"] == revision;
            let message = status["message"].as_str().unwrap_or_default();
            Ok(is_tried && status["ready"] == "False" && message.contains(says))
        })
    }

    pub(super) fn wait(&self, what: &str, holds: impl Fn() -> Result<bool>) -> Result<()> {
        let begin = Instant::now();
        while !holds()? {
            if begin.elapsed() > PATIENCE {
                bail!("{what} never came; the Stack says: {}", self.status()?["message"]);
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
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
