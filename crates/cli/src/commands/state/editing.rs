//! What commands that look into a state or edit it have in common: it is locked, read, changed in memory, and saved only if all
//! of that went well.

use std::process::ExitCode;
use std::sync::Arc;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::session::Session;
use groma_run::state::State;
use groma_run::state_access::{Backups, LockWish, PathOverrides, StateAccess};
use groma_run::state_edit;

use crate::announce::Announcer;
use crate::commands::Context;
use crate::commands::shared::{BackendArgs, JsonArgs, LockArgs, PathArgs, VariableArgs, ViewArgs, announcer, session};
use crate::failure::Failure;

/// Where a command stands: what it says, and what it works on.
pub(crate) struct Desk {
    /// Says things.
    pub(crate) announcer: Arc<Announcer>,
    /// The working directory.
    pub(crate) session: Session,
}

/// How something is found and said.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct DeskArgs {
    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

impl DeskArgs {
    /// In the working directory.
    pub(crate) fn open(self, context: &Context) -> Result<Desk, Failure> {
        Desk::new(context, &self.view, &self.json, self.variables)
    }
}

/// How a state is found, kept from others, and edited.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct EditArgs {
    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) lock: LockArgs,

    #[command(flatten)]
    pub(crate) paths: PathArgs,

    #[command(flatten)]
    pub(crate) backend: BackendArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

impl EditArgs {
    /// In the working directory.
    pub(crate) fn desk(&self, context: &Context) -> Result<Desk, Failure> {
        Desk::new(context, &self.view, &self.json, self.variables.clone())
    }
}

/// What an edit came to.
#[derive(Default)]
pub(crate) struct Done {
    /// Whether what was changed is to be kept.
    pub(crate) save: bool,
    /// What to say when it is.
    pub(crate) lines: Vec<String>,
    /// What else there is to say.
    pub(crate) warnings: Diagnostics,
}

/// How the state is locked, and what for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lock {
    /// As others are told.
    pub(crate) operation: &'static str,
    /// Whether at all.
    pub(crate) wish: LockWish,
}

impl Lock {
    /// As the arguments say.
    pub(crate) fn new(operation: &'static str, args: &LockArgs) -> Self {
        Self { operation, wish: args.wish() }
    }
}

/// The files that the arguments name.
pub(crate) fn overrides(paths: PathArgs) -> PathOverrides {
    PathOverrides { state: paths.state, state_out: paths.state_out, backup: paths.backup }
}

impl Desk {
    /// In the working directory.
    pub(crate) fn new(
        context: &Context,
        view: &ViewArgs,
        json: &JsonArgs,
        variables: VariableArgs,
    ) -> Result<Self, Failure> {
        Ok(Self { announcer: announcer(context, view, json)?, session: session(context, ".".into(), variables) })
    }

    /// The state of the chosen workspace, or the one in a file. What it replaces is kept with the time in its name.
    pub(crate) fn open_edited(&mut self, paths: &PathOverrides) -> Result<StateAccess, Diagnostics> {
        let access = match &paths.state {
            Some(_) => StateAccess::of_file(&mut self.session, paths)?,
            None => StateAccess::open(&mut self.session, paths)?,
        };
        Ok(access.with_backups(Backups::ByTime))
    }

    /// Reads the state of the chosen workspace, or of a file if one is named. Nobody is kept from writing.
    pub(crate) fn read(&mut self, file: Option<std::path::PathBuf>) -> Result<Option<Arc<State>>, Diagnostics> {
        StateAccess::open(&mut self.session, &PathOverrides { state: file, ..PathOverrides::default() })?.read()
    }

    /// Changes a state. On any error nothing is saved.
    pub(crate) fn edit(
        &mut self,
        access: Result<StateAccess, Diagnostics>,
        lock: Lock,
        change: impl FnOnce(&mut State, &Announcer) -> Result<Done, Diagnostics>,
    ) -> Result<ExitCode, Failure> {
        let announcer = Arc::clone(&self.announcer);
        let done = access.and_then(|mut access| {
            while_locked(&mut access, lock, |access| {
                let mut state = State::clone(access.read()?.ok_or_else(state_edit::no_state)?.as_ref());
                let done = change(&mut state, &announcer)?;
                if done.save {
                    access.save(&mut state)?;
                }
                Ok(done)
            })
        });
        self.finish(done)
    }

    /// Says what came of it.
    pub(crate) fn finish(&self, done: Result<Done, Diagnostics>) -> Result<ExitCode, Failure> {
        let done = match done {
            Ok(done) => done,
            Err(problems) => return self.failed(&problems),
        };
        for line in &done.lines {
            self.announcer.say(line)?;
        }
        self.announcer.diagnostics(&done.warnings, self.session.sources())?;
        Ok(ExitCode::SUCCESS)
    }

    /// Says what went wrong.
    pub(crate) fn failed(&self, problems: &Diagnostics) -> Result<ExitCode, Failure> {
        self.announcer.diagnostics(problems, self.session.sources())?;
        Ok(ExitCode::FAILURE)
    }

    /// Says one thing that went wrong.
    pub(crate) fn refuse(&self, problem: Diagnostic) -> Result<ExitCode, Failure> {
        self.failed(&problem.into())
    }
}

/// Does something while others are kept from writing. That the lock could not be given back is said in any case.
pub(crate) fn while_locked(
    access: &mut StateAccess,
    lock: Lock,
    work: impl FnOnce(&mut StateAccess) -> Result<Done, Diagnostics>,
) -> Result<Done, Diagnostics> {
    access.lock(lock.operation, lock.wish)?;
    let done = work(access);
    let problems = access.unlock();
    match done {
        Ok(mut done) => {
            done.warnings.extend(problems);
            Ok(done)
        }
        Err(mut errors) => {
            errors.extend(problems);
            Err(errors)
        }
    }
}
