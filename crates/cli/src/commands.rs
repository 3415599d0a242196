//! One file per command: its arguments (their documentation is the help text) and what it does.

pub(crate) mod completions;
pub(crate) mod console;
pub(crate) mod fmt;
pub(crate) mod get;
pub(crate) mod init;
pub(crate) mod man;
pub(crate) mod metadata;
pub(crate) mod providers;
mod shared;
pub(crate) mod validate;
pub(crate) mod version;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::args::{Command, Invocation};
use crate::env_vars::EnvVars;
use crate::failure::Failure;
use crate::ui::Ui;

/// What every command may use.
pub(crate) struct Context {
    /// What the environment says.
    pub(crate) environment: EnvVars,
    /// Where the command works, absolute. Everything that is named relatively is relative to this.
    pub(crate) working_dir: PathBuf,
    /// Where the user was before `-chdir`.
    pub(crate) invocation_dir: PathBuf,
}

/// Runs a command to its exit code.
pub(crate) fn run(invocation: Invocation, environment: EnvVars) -> ExitCode {
    let ui = Ui::new(environment.no_color);
    if let Err(failure) = crate::logging::start(&environment.log) {
        ui.failure(&failure);
        return ExitCode::FAILURE;
    }
    let result = context(invocation.chdir.as_deref(), environment).and_then(|context| match invocation.command {
        Command::Init(args) => init::run(&context, args),
        Command::Get(args) => get::run(&context, args),
        Command::Providers(args) => providers::run(&context, args),
        Command::Fmt(args) => fmt::run(&context, args),
        Command::Validate(args) => validate::run(&context, args),
        Command::Console(args) => console::run(&context, args),
        Command::Version(args) => version::run(&context, args),
        Command::Metadata(args) => metadata::run(&context, args),
        Command::Completions(args) => completions::run(&context, args),
        Command::Man(args) => man::run(&context, args),
    });
    match result {
        Ok(code) => code,
        Err(Failure::Terminal(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            ui.failure(&failure);
            ExitCode::FAILURE
        }
    }
}

fn context(chdir: Option<&Path>, environment: EnvVars) -> Result<Context, Failure> {
    let dir = chdir.unwrap_or(Path::new("."));
    let failed = |source| Failure::Directory { path: dir.to_owned(), source };
    let invocation_dir = std::env::current_dir().map_err(failed)?;
    let working_dir = match chdir {
        Some(dir) => invocation_dir.join(dir).canonicalize().map_err(failed)?,
        None => invocation_dir.clone(),
    };
    if !working_dir.is_dir() {
        return Err(failed(std::io::ErrorKind::NotADirectory.into()));
    }
    Ok(Context { environment, working_dir, invocation_dir })
}
