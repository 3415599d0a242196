//! `local-exec`: a command on this machine.

use std::os::fd::OwnedFd;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use groma_engine::interrupt::{Interrupt, Urgency};
use groma_engine::provision::Provision;
use groma_model::value::{Entries, Value, go_quote};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};

use super::lines::{Lines, Tail};
use super::{Surroundings, argument, text, texts};

/// How much of the output an error shows.
const SHOWN_BYTES: usize = 8 << 10;

/// How long an interrupted command may take to end by itself.
const GRACE: Duration = Duration::from_secs(10);

/// Runs the command to its end.
pub(super) async fn run(surroundings: &Surroundings, provision: Provision) -> Result<(), String> {
    let config = &provision.config;
    let command = text(config, "command").unwrap_or_default();
    let interpreter: Vec<String> = texts(config, "interpreter").unwrap_or_default().into_iter().flatten().collect();
    let mut arguments = if interpreter.is_empty() { vec!["/bin/sh".into(), "-c".into()] } else { interpreter };
    arguments.push(command.to_owned());
    let quiet = argument(config, "quiet").and_then(Value::as_bool) == Some(true);
    if quiet {
        (provision.output)("local-exec: Executing: Suppressed by quiet=true");
    } else {
        (provision.output)(&format!("Executing: {}", quoted_list(&arguments)));
    }
    let mut tail = Tail::new(SHOWN_BYTES);
    let ended = match start(surroundings, &provision, &arguments) {
        Ok((child, output)) => Ok(watch(child, output, surroundings, &provision, &mut tail).await),
        Err(problem) => Err(problem),
    };
    let problem = match ended {
        Ok(Ok(status)) if status.success() => return Ok(()),
        Ok(Ok(status)) => describe(status),
        Ok(Err(problem)) | Err(problem) => problem.to_string(),
    };
    if provision.shows_output {
        Err(format!("Error running command '{command}': {problem}. Output: {}", tail.text()))
    } else {
        Err(format!(
            "Error running command: {problem}. The command and its output are not shown because its configuration has \
             sensitive or ephemeral values."
        ))
    }
}

/// Starts the program; what it prints comes through one pipe, in the order in which it was printed.
fn start(
    surroundings: &Surroundings,
    provision: &Provision,
    arguments: &[String],
) -> std::io::Result<(Child, Receiver)> {
    let (reader, writer) = std::io::pipe()?;
    let mut command = Command::new(&arguments[0]);
    command.args(&arguments[1..]).stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).kill_on_drop(true);
    command.current_dir(match text(&provision.config, "working_dir") {
        Some(dir) => surroundings.working_dir.join(dir),
        None => surroundings.working_dir.clone(),
    });
    if let Some(environment) = &surroundings.environment {
        command.env_clear().envs(environment);
    }
    if let Some(parent) = crate::trace::traceparent() {
        command.env("TRACEPARENT", parent);
    }
    let entries = argument(&provision.config, "environment").and_then(|value| value.as_entries());
    for (name, value) in entries.into_iter().flat_map(Entries::iter) {
        if let Some(value) = value.as_str() {
            command.env(name.as_str(), value);
        }
    }
    if !surroundings.on_terminal {
        command.process_group(0);
    }
    let child = command.spawn()?;
    Ok((child, Receiver::from_owned_fd(OwnedFd::from(reader))?))
}

/// Waits for the program and for the end of its output, or until it is ended.
async fn watch(
    mut child: Child,
    mut output: Receiver,
    surroundings: &Surroundings,
    provision: &Provision,
    tail: &mut Tail,
) -> std::io::Result<ExitStatus> {
    let mut reading = pin!(async {
        let mut lines = Lines::new(provision.output.as_ref());
        let mut bytes = vec![0; 8 << 10];
        while let Ok(count @ 1..) = output.read(&mut bytes).await {
            tail.take(&bytes[..count]);
            lines.take(&bytes[..count]);
        }
        lines.end();
    });
    let mut waiting = pin!(ended(&mut child, surroundings.on_terminal, &provision.interrupt));
    let mut all_read = false;
    let status = loop {
        tokio::select! {
            status = &mut waiting => break status,
            () = &mut reading, if !all_read => all_read = true,
        }
    };
    if !all_read {
        // Something that was left running may hold the output open for long.
        tokio::select! {
            () = reading => {}
            () = provision.interrupt.reaches(Urgency::Soon) => {}
        }
    }
    status
}

/// What a program has started, ended with it when nobody waits any more.
struct Group {
    leader: Option<Pid>,
    /// Whether the leader is the leader of a group.
    whole: bool,
}

impl Group {
    fn signal(&self, signal: Signal) {
        // Nothing is to be done if it is gone already.
        let _ = match self.leader {
            Some(leader) if self.whole => killpg(leader, signal),
            Some(leader) => kill(leader, signal),
            None => Ok(()),
        };
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
    }
}

/// Waits until the program ends. When the run is interrupted it is asked to, and made to if it does not listen.
async fn ended(child: &mut Child, on_terminal: bool, interrupt: &Interrupt) -> std::io::Result<ExitStatus> {
    let leader = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
    let mut group = Group { leader, whole: !on_terminal };
    let status = tokio::select! {
        status = child.wait() => status,
        () = interrupt.reaches(Urgency::Soon) => {
            // At a terminal it has heard the interrupt itself.
            if group.whole {
                group.signal(Signal::SIGINT);
            }
            tokio::select! {
                status = child.wait() => status,
                () = interrupt.reaches(Urgency::Now) => {
                    group.signal(Signal::SIGKILL);
                    child.wait().await
                }
                () = tokio::time::sleep(GRACE) => {
                    group.signal(Signal::SIGKILL);
                    child.wait().await
                }
            }
        }
    };
    // What it has left running on purpose stays.
    group.leader = None;
    status
}

fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => match Signal::try_from(signal) {
            Ok(signal) => format!("ended by signal {signal}"),
            Err(_) => format!("ended by signal {signal}"),
        },
        (None, None) => "it did not end properly".to_owned(),
    }
}

fn quoted_list(items: &[String]) -> String {
    let quoted: Vec<String> = items.iter().map(|item| go_quote(item)).collect();
    format!("[{}]", quoted.join(" "))
}
