//! The `groma` command. Arguments become settings, settings become a session, results become text and an exit code.

mod announce;
mod args;
mod commands;
mod env_vars;
mod failure;
mod installing;
mod logging;
mod progress;
mod prompt;
mod render;
mod signals;
mod ui;
mod watch;

use std::process::ExitCode;

/// Deep configurations are walked recursively; the main thread's stack is not ours to choose.
const STACK_BYTES: usize = 256 << 20;

fn main() -> ExitCode {
    let worker = std::thread::Builder::new().name("groma".into()).stack_size(STACK_BYTES).spawn(run);
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // A panic has been reported on standard error already.
        Ok(Err(_)) => ExitCode::from(101),
        Err(_) => run(),
    }
}

fn run() -> ExitCode {
    let environment = env_vars::EnvVars::read();
    let arguments: Vec<String> = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    match args::parse(&arguments, &environment) {
        Ok(invocation) => commands::run(invocation, environment),
        Err(early) => early.finish(),
    }
}
