//! `groma stack suspend` and `groma stack resume`: whether new runs begin.

use std::process::ExitCode;

use serde_json::{Value as Json, json};

use super::reach::{ReachArgs, StackName};
use super::trouble::Trouble;
use crate::commands::Context;

/// Let no new runs of a Stack begin. What is under way goes on, and so does deletion.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which Stack: NAME or NAMESPACE/NAME.
    name: StackName,

    #[command(flatten)]
    reach: ReachArgs,
}

/// Let runs of a Stack begin again.
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    /// Which Stack: NAME or NAMESPACE/NAME.
    name: StackName,

    #[command(flatten)]
    reach: ReachArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Trouble> {
    set(context, &args.name, &args.reach, true, "is suspended: no new runs begin")
}

pub(super) fn resume(context: &Context, args: ResumeArgs) -> Result<ExitCode, Trouble> {
    set(context, &args.name, &args.reach, false, "is not suspended any more")
}

fn set(context: &Context, name: &StackName, reach: &ReachArgs, suspend: bool, said: &str) -> Result<ExitCode, Trouble> {
    let desk = reach.open(context)?;
    let (namespace, name) = desk.change_stack(name, |object| {
        if let Some(spec) = object.data.get_mut("spec").and_then(Json::as_object_mut) {
            spec.insert("suspend".to_owned(), json!(suspend));
        }
        Ok(())
    })?;
    desk.ui.message(&format!("{namespace}/{name} {said}.\n"));
    Ok(ExitCode::SUCCESS)
}
