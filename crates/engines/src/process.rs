//! Running the engine's program: in the foreground, line by line, or for an answer. Whoever is asked to stop hands that on, once each
//! time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use groma_model::diag::Diagnostic;
use groma_run::engine::interrupt::{Interrupt, Urgency};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

/// How the program is started.
#[derive(Debug, Clone)]
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// Where it is started.
    pub invocation_dir: PathBuf,
    /// Where it works, if that is somewhere else.
    pub chdir: Option<PathBuf>,
    /// All that it finds in the environment. None if that is what we have found ourselves.
    pub environment: Option<BTreeMap<String, String>>,
    /// Kills it, with all that it has started, some time after it was urged in vain.
    pub last_resort: Option<Interrupt>,
    /// How it is started so that it ends with us: a program of ours and its arguments, which calls [`become_ordered`](crate::become_ordered).
    pub starter: Option<Vec<String>>,
}

/// Arguments that the engine takes from the environment. They are for what was asked of it, not for what we ask on the way.
const ADDED_ARGUMENTS: [&str; 6] = [
    "TF_CLI_ARGS",
    "TF_CLI_ARGS_apply",
    "TF_CLI_ARGS_plan",
    "TF_CLI_ARGS_show",
    "TF_CLI_ARGS_state_pull",
    "TF_CLI_ARGS_state_push",
];

/// What a program answered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// None if it was ended from outside.
    pub code: Option<i32>,
    /// What it said.
    pub out: String,
    /// What it said went wrong.
    pub err: String,
}

impl Answer {
    /// Whether all went well.
    pub fn is_good(&self) -> bool {
        self.code == Some(0)
    }

    /// Why it failed, in one line: what it says first, or all there is.
    pub fn why(&self) -> String {
        let said = format!("{}\n{}", self.err, self.out);
        let plain = |line: &str| without_colors(line).trim_start_matches(['│', '╷', ' ']).trim().to_owned();
        let lines: Vec<String> = said.lines().map(plain).filter(|line| !line.is_empty()).collect();
        let first = lines.iter().find_map(|line| line.strip_prefix("Error: ").map(str::to_owned));
        first.or_else(|| lines.first().cloned()).unwrap_or_else(|| match self.code {
            Some(code) => format!("exit code {code}"),
            None => "it was ended from outside".to_owned(),
        })
    }
}

/// How long a program may go on that was urged to end, before it is killed.
const AFTER_URGING: Duration = Duration::from_secs(20);

/// A text without what terminals are told about colours.
fn without_colors(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or(part, |(_, rest)| rest))
}

/// How a program in the foreground is shown.
pub(crate) enum Shown<'a> {
    /// It has the terminal, or whatever we have.
    Itself {
        /// Whether interrupts of the terminal reach it by themselves.
        on_terminal: bool,
    },
    /// Its lines are told.
    Lines(&'a dyn Fn(&str)),
}

impl Program {
    fn command(&self, arguments: &[String]) -> Command {
        let chdir = self.chdir.as_ref().map(|dir| format!("-chdir={}", dir.display()));
        let all: Vec<String> = chdir.into_iter().chain(arguments.iter().cloned()).collect();
        let starter = self.starter.as_deref().and_then(|words| words.split_first());
        let (program, words) = match starter {
            Some((program, words)) => (Path::new(program), words),
            None => (self.path.as_path(), all.as_slice()),
        };
        let mut command = Command::new(program);
        command.args(words).current_dir(&self.invocation_dir);
        if let Some(environment) = &self.environment {
            command.env_clear().envs(environment);
        }
        if starter.is_some() {
            let (name, order) = crate::tied::order(&self.path.display().to_string(), &all);
            command.env(name, order);
        }
        command
    }

    fn failed(&self, problem: &std::io::Error) -> Diagnostic {
        let detail = format!("{} could not be run: {problem}.", self.path.display());
        Diagnostic::error("Engine failed to start", detail)
    }

    /// Runs it for an answer, apart from the terminal: nothing that is typed there ends it half way.
    pub async fn ask(&self, arguments: &[String], input: Option<&str>) -> Result<Answer, Diagnostic> {
        self.ask_until(arguments, input, &Interrupt::default()).await
    }

    /// The same for what may take long: who wants to stop need not wait for the answer.
    pub async fn ask_until(
        &self,
        arguments: &[String],
        input: Option<&str>,
        interrupt: &Interrupt,
    ) -> Result<Answer, Diagnostic> {
        tracing::debug!(?arguments, "the engine is asked");
        let mut command = self.command(arguments);
        for name in ADDED_ARGUMENTS {
            command.env_remove(name);
        }
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|problem| self.failed(&problem))?;
        let stdin = child.stdin.take();
        let feed = async move {
            if let (Some(mut stdin), Some(input)) = (stdin, input) {
                // Who does not read to the end says why.
                let _ = stdin.write_all(input.as_bytes()).await;
                let _ = stdin.shutdown().await;
            }
        };
        let id = child.id();
        let mut answer = std::pin::pin!(async { tokio::join!(child.wait_with_output(), feed).0 });
        let asked = async {
            interrupt.reaches(Urgency::Soon).await;
            interrupt_process(id);
        };
        let ending = async { tokio::join!(asked, self.killed(id)).1 };
        let output = tokio::select! {
            output = &mut answer => output,
            () = ending => answer.await,
        };
        let output = output.map_err(|problem| self.failed(&problem))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Answer { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) })
    }

    /// Runs it in the foreground, to its exit code. None if it was ended from outside.
    pub(crate) async fn show(
        &self,
        arguments: &[String],
        shown: Shown<'_>,
        interrupt: &Interrupt,
    ) -> Result<Option<i32>, Diagnostic> {
        tracing::debug!(?arguments, "the engine is run");
        let mut command = self.command(arguments);
        let apart = match shown {
            Shown::Itself { on_terminal } => !on_terminal,
            Shown::Lines(_) => {
                command.stdin(Stdio::null()).stdout(Stdio::piped());
                true
            }
        };
        if apart {
            command.process_group(0);
        }
        let mut child = command.spawn().map_err(|problem| self.failed(&problem))?;
        let lines = child.stdout.take().map(BufReader::new);
        let reading = async {
            let (Some(mut lines), Shown::Lines(tell)) = (lines, shown) else { return };
            let mut line = Vec::new();
            while matches!(lines.read_until(b'\n', &mut line).await, Ok(read) if read > 0) {
                tell(&String::from_utf8_lossy(&line));
                line.clear();
            }
        };
        let id = child.id().filter(|_| apart);
        let mut done = std::pin::pin!(async { tokio::join!(ended(&mut child, interrupt), reading).0 });
        let status = tokio::select! {
            status = &mut done => status,
            () = self.killed(id) => done.await,
        };
        Ok(status.map_err(|problem| self.failed(&problem))?.code())
    }
}

impl Program {
    /// Kills a program that does not end although it was urged to. Goes on forever if nobody urges.
    async fn killed(&self, id: Option<u32>) {
        let (Some(urge), Some(id)) = (&self.last_resort, id.and_then(|id| i32::try_from(id).ok())) else {
            return std::future::pending().await;
        };
        urge.reaches(Urgency::Now).await;
        tokio::time::sleep(AFTER_URGING).await;
        tracing::warn!(program = %self.path.display(), "it was urged to end in vain, and is killed");
        // It has a group of its own, with the providers that it has started.
        let _ = kill(Pid::from_raw(-id), Signal::SIGKILL);
    }
}

/// Waits for the end of a program, which is told of every interrupt.
async fn ended(child: &mut Child, interrupt: &Interrupt) -> std::io::Result<std::process::ExitStatus> {
    for urgency in [Urgency::Soon, Urgency::Now] {
        tokio::select! {
            status = child.wait() => return status,
            () = interrupt.reaches(urgency) => {}
        }
        interrupt_process(child.id());
    }
    child.wait().await
}

fn interrupt_process(id: Option<u32>) {
    if let Some(id) = id.and_then(|id| i32::try_from(id).ok()) {
        // It may just have ended.
        let _ = kill(Pid::from_raw(id), Signal::SIGINT);
    }
}

/// The path of a file, for an argument.
pub(crate) fn argument(flag: &str, path: &Path) -> String {
    format!("-{flag}={}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time passes as soon as nothing else happens.
    #[tokio::test(start_paused = true)]
    async fn who_does_not_end_is_killed() {
        let urge = Interrupt::default();
        let program = Program {
            path: "/bin/sh".into(),
            invocation_dir: "/".into(),
            chdir: None,
            environment: None,
            last_resort: Some(urge.clone()),
            starter: None,
        };
        let stubborn = ["-c".to_owned(), "trap '' INT; sleep 600 & wait; wait".to_owned()];
        urge.ask();
        urge.ask();
        let answer = program.ask_until(&stubborn, None, &urge).await.unwrap();
        assert_eq!(answer.code, None);
        let code = program.show(&stubborn, Shown::Lines(&|_| {}), &urge).await.unwrap();
        assert_eq!(code, None);
    }

    #[test]
    fn why_something_failed_is_one_line() {
        let answer = |err: &str, out: &str, code| Answer { code, out: out.to_owned(), err: err.to_owned() };
        assert_eq!(answer("╷\n│ Error: Failed on cue\n│ \n│ More.\n╵\n", "", Some(1)).why(), "Failed on cue");
        let colourful =
            "\u{1b}[31m│\u{1b}[0m \u{1b}[0m\u{1b}[1m\u{1b}[31mError: \u{1b}[0m\u{1b}[0mFailed on cue\u{1b}[0m\n";
        assert_eq!(answer(colourful, "", Some(1)).why(), "Failed on cue");
        assert_eq!(answer("", "\nno such thing\n", Some(1)).why(), "no such thing");
        assert_eq!(answer("", "", Some(3)).why(), "exit code 3");
        assert_eq!(answer("", "", None).why(), "it was ended from outside");
    }
}
