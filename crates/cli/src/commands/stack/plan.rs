//! `groma stack plan`: the plan of a Stack, or of one that is not in the cluster yet.

use std::path::PathBuf;
use std::process::ExitCode;

use groma_operator::api::run::Run;

use super::reach::{Desk, ReachArgs, StackName};
use super::table::counts;
use super::trouble::Trouble;
use super::{files, preview};
use crate::commands::Context;

/// There is something to do, and the exit code is to tell.
pub(super) const CHANGES: u8 = 2;

/// Show the plan that waits, or the last one; or what a Stack would do that is not there yet.
///
/// With -f, a plan is made here and now of the Stack in the file, against the state as it is. Secrets and ConfigMaps that it refers to are
/// read from the files, too, or from the cluster. Nothing is locked, and nothing is written.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which Stack: NAME or NAMESPACE/NAME.
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    name: Option<StackName>,

    /// Plan the Stack of this file, which need not be in the cluster; - is the standard input. Can be repeated.
    #[arg(long, short, value_name = "FILE")]
    file: Vec<PathBuf>,

    /// Exit with 0 if there is nothing to do, 2 if there is, and 1 if something is wrong.
    #[arg(long)]
    detailed_exitcode: bool,

    #[command(flatten)]
    reach: ReachArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Trouble> {
    let desk = args.reach.open(context)?;
    let shown = if let Some(name) = &args.name {
        Some(show(&desk, name)?)
    } else {
        let given = files::read(context, &args.file, &desk.namespace)?;
        preview::preview(context, &desk, &given)?
    };
    let Some(changes) = shown else { return Ok(ExitCode::FAILURE) };
    Ok(if changes && args.detailed_exitcode { ExitCode::from(CHANGES) } else { ExitCode::SUCCESS })
}

/// Shows the plan that waits, or the last one that was made. Whether it does something.
fn show(desk: &Desk, name: &StackName) -> Result<bool, Trouble> {
    let stack = desk.stack(name)?;
    let pending = stack.status.as_ref().and_then(|status| status.pending.clone());
    let runs = desk.runs(&stack)?;
    let planned = |run: &&Run| match &pending {
        Some(pending) => run.metadata.name.as_ref() == Some(&pending.run),
        None => run.status.as_ref().is_some_and(|status| status.plan.is_some()),
    };
    let found = runs.iter().rfind(planned);
    let plan = found.and_then(|run| Some((run, run.status.as_ref()?.plan.as_ref()?)));
    let Some((run, plan)) = plan else {
        let name = stack.metadata.name.as_deref().unwrap_or_default();
        return Err(Trouble::Refused("No plan", format!("No plan has been made of the Stack {name:?} yet.")));
    };
    let run_name = run.metadata.name.as_deref().unwrap_or_default();
    desk.show(&heading(&plan.id, run_name, Some(run)))?;
    let text = desk.plan_text(run);
    desk.show(&text)?;
    if !text.ends_with('\n') {
        desk.ui.out("\n")?;
    }
    let planned = run.status.as_ref().and_then(|status| status.planned).unwrap_or_default();
    Ok(planned != groma_operator::api::run::PlanCounts::default())
}

/// Which plan it is, and how far its run came.
pub(super) fn heading(plan: &str, run: &str, found: Option<&Run>) -> String {
    let status = found.and_then(|run| run.status.as_ref());
    let phase = status.map(|status| format!(", {:?}", status.phase)).unwrap_or_default();
    let does = status.and_then(|status| status.planned.as_ref()).map(|planned| format!(" ({})", counts(planned)));
    format!("{plan}{} of {run}{phase}\n", does.unwrap_or_default())
}
