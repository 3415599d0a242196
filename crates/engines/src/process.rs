//! Running the engine's program: in the foreground, line by line, or for an answer. Whoever is asked to stop hands that on, once each
//! time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use groma_model::diag::Diagnostic;
use groma_run::engine::interrupt::{Interrupt, Urgency};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

/// How the program is started.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    /// Where it is started.
    pub(crate) invocation_dir: PathBuf,
    /// Where it works, if that is somewhere else.
    pub(crate) chdir: Option<PathBuf>,
    /// All that it finds in the environment. None if that is what we have found ourselves.
    pub(crate) environment: Option<BTreeMap<String, String>>,
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
pub(crate) struct Answer {
    /// None if it was ended from outside.
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Answer {
    pub(crate) fn is_good(&self) -> bool {
        self.code == Some(0)
    }

    /// Why it failed, in one line: what it says first, or all there is.
    pub(crate) fn why(&self) -> String {
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
        let mut command = Command::new(&self.path);
        command.current_dir(&self.invocation_dir);
        if let Some(dir) = &self.chdir {
            command.arg(format!("-chdir={}", dir.display()));
        }
        command.args(arguments);
        if let Some(environment) = &self.environment {
            command.env_clear().envs(environment);
        }
        command
    }

    fn failed(&self, problem: &std::io::Error) -> Diagnostic {
        let detail = format!("{} could not be run: {problem}.", self.path.display());
        Diagnostic::error("Engine failed to start", detail)
    }

    /// Runs it for an answer, apart from the terminal: nothing that is typed there ends it half way.
    pub(crate) async fn ask(&self, arguments: &[String], input: Option<&str>) -> Result<Answer, Diagnostic> {
        self.ask_until(arguments, input, &Interrupt::default()).await
    }

    /// The same for what may take long: who wants to stop need not wait for the answer.
    pub(crate) async fn ask_until(
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
        let output = tokio::select! {
            output = &mut answer => output,
            () = interrupt.reaches(Urgency::Soon) => {
                interrupt_process(id);
                answer.await
            }
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
        let (status, ()) = tokio::join!(ended(&mut child, interrupt), reading);
        Ok(status.map_err(|problem| self.failed(&problem))?.code())
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
