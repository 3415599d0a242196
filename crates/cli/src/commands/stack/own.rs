//! `groma stack own`: leaves a mark beside a configuration, so that nobody changes by hand what an operator looks after.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use groma_run::state_access::ownership::{FILE, OwnerFile};

use super::reach::{ReachArgs, StackName};
use super::trouble::Trouble;
use crate::commands::Context;
use crate::failure::Failure;

/// Say in a file beside a configuration that a Stack looks after it.
///
/// The file is .groma/owner, and is meant to be committed. Whoever then runs groma apply, destroy, import or the like in that directory is
/// refused, and told which Stack to change; -i-know does it all the same.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which Stack: NAME or NAMESPACE/NAME.
    name: StackName,

    /// The directory of the root module.
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,

    #[command(flatten)]
    reach: ReachArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Trouble> {
    let desk = args.reach.open(context)?;
    let stack = desk.stack(&args.name)?;
    let (namespace, name) = desk.place(&args.name);
    let file = OwnerFile {
        stack: format!("{namespace}/{name}"),
        cluster: None,
        path: None,
        workspace: stack.spec.workspace.clone(),
    };
    let path = context.working_dir.join(&args.dir).join(FILE);
    let failed = |source| Failure::Write { path: path.clone(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(&path, file.text()).map_err(failed)?;
    let shown = args.dir.join(FILE);
    desk.ui.message(&format!("{} says that {namespace}/{name} looks after this. Commit it.\n", shown.display()));
    Ok(ExitCode::SUCCESS)
}
