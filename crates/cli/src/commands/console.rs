//! `groma console`: evaluates expressions that are typed or piped in.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;

use groma_model::diag::Diagnostic;
use groma_run::console::{Answer, Console, StateWish, with_console};
use groma_run::operate::PathOverrides;
use groma_run::session::Session;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

use super::Context;
use super::shared::{LockArgs, VariableArgs, ViewArgs, provider_access, session};
use crate::failure::Failure;
use crate::ui::Ui;

/// Try expressions interactively.
///
/// Evaluates an expression per line in the root module of the current directory. Lines come from the terminal, with history, or
/// from standard input; there the first error ends it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Read the state from this file. Only for the local backend.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,

    #[command(flatten)]
    lock: LockArgs,

    #[command(flatten)]
    variables: VariableArgs,

    #[command(flatten)]
    view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let ui = Ui::new(&context.environment, args.view.no_color);
    let mut session = session(context, PathBuf::from("."), args.variables);
    let wish =
        StateWish { paths: PathOverrides { state: args.state, ..PathOverrides::default() }, lock: args.lock.wish() };
    with_console(
        &mut session,
        &wish,
        || provider_access(context),
        |session, console, mut diagnostics| {
            if diagnostics.has_errors() && console.is_some() {
                let note = "Due to the problems above, some expressions may produce unexpected results.";
                diagnostics.push(Diagnostic::warning(note, ""));
            }
            ui.diagnostics(&diagnostics, session.sources());
            let Some(console) = console else { return Ok(ExitCode::FAILURE) };
            let talk = Talk { ui: &ui, session, console };
            if io::stdin().is_terminal() { talk.interactive(history_file(context)) } else { talk.piped() }
        },
    )
}

/// Where typed lines are kept.
fn history_file(context: &Context) -> Option<PathBuf> {
    let environment = &context.environment;
    let state = environment.state_home.clone().or_else(|| Some(environment.home.as_ref()?.join(".local/state")))?;
    Some(state.join("groma").join("console-history"))
}

struct Talk<'a> {
    ui: &'a Ui,
    session: &'a Session,
    console: &'a Console<'a>,
}

/// What to do after a line.
enum Next {
    GoOn,
    Leave,
    Failed,
}

impl Talk<'_> {
    fn answer(&self, line: &str) -> Result<Next, Failure> {
        match self.console.answer(self.session.sources(), line) {
            Answer::Text(text) => self.ui.line(&text).map(|()| Next::GoOn),
            Answer::Nothing => Ok(Next::GoOn),
            Answer::Leave => Ok(Next::Leave),
            Answer::Failed(diagnostics, sources) => {
                self.ui.diagnostics(&diagnostics, &sources);
                Ok(Next::Failed)
            }
        }
    }

    fn piped(&self) -> Result<ExitCode, Failure> {
        let mut pending = Pending::default();
        for line in io::stdin().lock().lines() {
            let line = line.map_err(Failure::Terminal)?;
            let Some(input) = pending.add(&line) else { continue };
            match self.answer(&input)? {
                Next::GoOn => {}
                Next::Leave => return Ok(ExitCode::SUCCESS),
                Next::Failed => return Ok(ExitCode::FAILURE),
            }
        }
        match pending.rest().map(|rest| self.answer(&rest)).transpose()? {
            Some(Next::Failed) => Ok(ExitCode::FAILURE),
            _ => Ok(ExitCode::SUCCESS),
        }
    }

    fn interactive(&self, history: Option<PathBuf>) -> Result<ExitCode, Failure> {
        let terminal = |error: ReadlineError| Failure::Terminal(io::Error::other(error));
        let mut editor = DefaultEditor::new().map_err(terminal)?;
        if let Some(file) = &history {
            // No history yet is no problem.
            let _ = editor.load_history(file);
        }
        let mut pending = Pending::default();
        loop {
            let prompt = if pending.is_empty() { "> " } else { ": " };
            match editor.readline(prompt) {
                Ok(line) => {
                    let Some(input) = pending.add(&line) else { continue };
                    let _ = editor.add_history_entry(input.as_str());
                    if let Next::Leave = self.answer(&input)? {
                        break;
                    }
                }
                Err(ReadlineError::Eof | ReadlineError::Interrupted) => break,
                Err(error) => return Err(terminal(error)),
            }
        }
        if let Some(file) = &history {
            save_history(&mut editor, file);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// History is a convenience: that it cannot be kept is no reason to fail.
fn save_history(editor: &mut DefaultEditor, file: &std::path::Path) {
    if let Some(dir) = file.parent() {
        let _ = std::fs::create_dir_all(dir);
    }
    let _ = editor.save_history(file);
}

/// Lines that belong together because a bracket is open.
#[derive(Default)]
struct Pending(Vec<String>);

impl Pending {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes a line; gives the whole input once it is complete. A backslash at the end of a line asks for another one.
    fn add(&mut self, line: &str) -> Option<String> {
        let line = line.trim();
        let goes_on = line.ends_with('\\') && !line.ends_with("\\\\");
        self.0.push(line.strip_suffix('\\').unwrap_or(line).to_owned());
        let input = self.0.join("\n");
        if goes_on || groma_syntax::open_brackets(&input) > 0 {
            return None;
        }
        self.0.clear();
        Some(input)
    }

    /// What is left when no more lines come: an expression that was never finished.
    fn rest(self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.join("\n"))
    }
}
