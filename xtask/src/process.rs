//! Starting programs and saying so: the few ways in which xtask runs a command.

use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// The command as a person would type it, without the environment.
pub(crate) fn shown(command: &Command) -> String {
    let mut text = name(command);
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    text
}

/// The program's name without its directory.
fn name(command: &Command) -> String {
    let program = Path::new(command.get_program());
    program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned()
}

/// The same program in the same place, with what others leave of the processors.
pub(crate) fn with_low_priority(command: &Command) -> Command {
    let mut nice = Command::new("nice");
    nice.args(["-n", "19"]).arg(command.get_program()).args(command.get_args());
    if let Some(dir) = command.get_current_dir() {
        nice.current_dir(dir);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => nice.env(name, value),
            None => nice.env_remove(name),
        };
    }
    nice
}

/// Runs a command with its output on the terminal. A non-zero exit is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    println!("    $ {}", shown(command));
    let status = command.status().with_context(|| format!("cannot start {}", name(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    Ok(())
}

/// Runs a command that is silent for minutes, and says from time to time that it is still at it.
pub(crate) fn run_patiently(command: &mut Command) -> Result<()> {
    const PATIENCE: Duration = Duration::from_secs(20);
    println!("    $ {}", shown(command));
    let start = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot start {}", name(command)))?;
    let mut said = start;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(100));
        if said.elapsed() >= PATIENCE {
            said = Instant::now();
            println!("    ... still running, {} s", start.elapsed().as_secs());
        }
    };
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    Ok(())
}

/// Runs a command and returns its standard output. A non-zero exit is an error that carries
/// what the command wrote to standard error.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::piped()).output().with_context(|| format!("cannot start {}", name(command)))?;
    if !output.status.success() {
        bail!("{} ended with {}: {}", shown(command), output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8(output.stdout).context("output is not UTF-8")
}

/// Runs a command, passes its standard output through line by line and shows each line to `see`.
pub(crate) fn run_watched(command: &mut Command, mut see: impl FnMut(&str)) -> Result<ExitStatus> {
    println!("    $ {}", shown(command));
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start {}", name(command)))?;
    if let Some(stdout) = child.stdout.take() {
        pass_through(stdout, &mut see)?;
    }
    Ok(child.wait()?)
}

/// Copies lines to the terminal; bytes that are not UTF-8 are shown replaced, never fatal.
fn pass_through(from: impl Read, see: &mut impl FnMut(&str)) -> Result<()> {
    let mut reader = BufReader::new(from);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches('\n');
        println!("{text}");
        see(text);
        line.clear();
    }
    Ok(())
}

/// Where a program lies on `PATH`, if it does.
pub(crate) fn find_on_path(program: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|candidate| candidate.is_file())
}
