//! One file per command: its arguments (their documentation is the help text) and what it does.

pub(crate) mod apply;
pub(crate) mod completions;
pub(crate) mod console;
pub(crate) mod destroy;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod fmt;
pub(crate) mod force_unlock;
pub(crate) mod get;
pub(crate) mod graph;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod login;
pub(crate) mod logout;
pub(crate) mod man;
pub(crate) mod metadata;
pub(crate) mod migrate;
pub(crate) mod operator;
pub(crate) mod output;
pub(crate) mod plan;
pub(crate) mod providers;
pub(crate) mod push;
pub(crate) mod refresh;
pub(crate) mod rules;
pub(crate) mod run;
mod shared;
pub(crate) mod show;
pub(crate) mod stack;
pub(crate) mod state;
pub(crate) mod taint;
pub(crate) mod test;
pub(crate) mod untaint;
pub(crate) mod validate;
pub(crate) mod version;
pub(crate) mod workspace;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use groma_model::diag::Diagnostic;
use groma_model::span::SourceMap;
use groma_run::trace;

use crate::args::{Command, Invocation};
use crate::env_vars::EnvVars;
use crate::failure::Failure;
use crate::ui::Ui;

pub(crate) use shared::go_bool;

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
    let ui = Ui::new(&environment, false);
    let (tracing, layer) = traces(&environment, ui);
    if let Err(failure) = crate::logging::start(&environment.log, layer) {
        ui.failure(&failure);
        return ExitCode::FAILURE;
    }
    // What an operator does belongs to the Runs that it is done for.
    let span = tracing.as_ref().filter(|_| !matches!(invocation.command, Command::Operator(_)));
    let span = span.map_or_else(tracing::Span::none, |tracing| tracing.command(&invocation.name));
    let code = span.in_scope(|| perform(invocation, environment, ui));
    if code == ExitCode::FAILURE {
        trace::failed(&span);
    }
    drop(span);
    if let Some(tracing) = tracing {
        tracing.finish();
    }
    code
}

/// Whether somebody wants traces. What is wrong about that keeps nothing from being done.
fn traces(environment: &EnvVars, ui: Ui) -> (Option<trace::Tracing>, Option<trace::FilteredLayer>) {
    match trace::Tracing::wanted(&environment.all) {
        Ok(wanted) => wanted.unzip(),
        Err(problem) => {
            let told = Diagnostic::warning("No traces are sent", format!("{problem}."));
            ui.diagnostics(&told.into(), &SourceMap::new());
            (None, None)
        }
    }
}

fn perform(invocation: Invocation, environment: EnvVars, ui: Ui) -> ExitCode {
    tracing::info!(version = env!("CARGO_PKG_VERSION"), command = invocation.name, "groma begins");
    if invocation.command.uses_environment() {
        let problems = environment.problems();
        ui.diagnostics(&problems, &SourceMap::new());
        if problems.has_errors() {
            return ExitCode::FAILURE;
        }
    }
    let result = context(invocation.chdir.as_deref(), environment).and_then(|context| match invocation.command {
        Command::Init(args) => init::run(&context, args),
        Command::Operator(args) => operator::run(&context, *args),
        Command::Get(args) => get::run(&context, args),
        Command::Providers(args) => providers::run(&context, args),
        Command::Plan(args) => plan::run(&context, args),
        Command::Apply(args) => apply::run(&context, args),
        Command::Destroy(args) => destroy::run(&context, args),
        Command::Refresh(args) => refresh::run(&context, args),
        Command::Run(args) => run::run(&context, args),
        Command::Show(args) => show::run(&context, args),
        Command::Explain(args) => explain::run(&context, args),
        Command::Rules(args) => rules::run(&context, args),
        Command::Graph(args) => graph::run(&context, args),
        Command::Output(args) => output::run(&context, args),
        Command::State(args) => state::run(&context, args),
        Command::Workspace(args) => workspace::run(&context, args, false),
        Command::Env(args) => workspace::run(&context, args, true),
        Command::Import(args) => import::run(&context, args),
        Command::Taint(args) => taint::run(&context, args),
        Command::Untaint(args) => untaint::run(&context, args),
        Command::Doctor(args) => doctor::run(&context, args),
        Command::ForceUnlock(args) => force_unlock::run(&context, args),
        Command::Test(args) => test::run(&context, args),
        Command::Stack(args) => stack::run(&context, args),
        Command::Migrate(args) => migrate::run(&context, args),
        Command::Login(args) => login::run(&context, args),
        Command::Logout(args) => logout::run(&context, args),
        Command::Push(args) => Ok(push::run(&context, &args)),
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
