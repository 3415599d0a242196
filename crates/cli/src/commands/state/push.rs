//! `groma state push`: replaces the state by a file.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::state::PushError;
use groma_run::state_access::{PathOverrides, StateAccess};

use super::editing::{Desk, Done, Lock, while_locked};
use crate::commands::Context;
use crate::commands::shared::{BackendArgs, JsonArgs, LockArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Replace the state of the current workspace by a file.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file; "-" for standard input.
    #[arg(value_name = "FILE", allow_hyphen_values = true)]
    pub(crate) file: PathBuf,

    /// Even if it is older than, or has nothing to do with, what is there.
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) lock: LockArgs,

    #[command(flatten)]
    pub(crate) backend: BackendArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let mut desk = Desk::new(context, &args.view, &args.json, args.variables)?;
    let pushed = read(context, &args.file).and_then(|bytes| {
        let mut access = StateAccess::open(&mut desk.session, &PathOverrides::default())?;
        let name = args.file.display().to_string();
        let state = access.decode(&bytes, &name).map_err(|problems| unreadable(problems, &name))?;
        while_locked(&mut access, Lock::new("state-push", &args.lock), |access| {
            access.push(&state, args.force).map_err(refused)?;
            Ok(Done::default())
        })
    });
    desk.finish(pushed)
}

/// Reads what is to be pushed, whole, before anything else happens.
fn read(context: &Context, file: &Path) -> Result<Vec<u8>, Diagnostics> {
    let bytes = if file == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(context.working_dir.join(file))
    };
    bytes.map_err(|problem| {
        let detail = format!("{}: {problem}.", file.display());
        Diagnostic::error("Failed to open the given state file", detail).into()
    })
}

/// Says which state it is that cannot be read.
fn unreadable(problems: Diagnostics, file: &str) -> Diagnostics {
    let summary = format!("Failed to read source state {file:?}");
    problems.into_iter().map(|problem| Diagnostic { summary: summary.clone(), ..problem }).collect()
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err gives")]
fn refused(problem: PushError) -> Diagnostics {
    match &problem {
        PushError::Store(problem) => problem.diagnostic().into(),
        refused => {
            let hint = "Nothing was overwritten. If the given state is the right one all the same, use -force.";
            Diagnostic::error("Failed to write the imported state", format!("{refused}.")).hint(hint).into()
        }
    }
}
