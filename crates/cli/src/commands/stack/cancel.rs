//! `groma stack cancel`: ends the Run that is under way.

use std::process::ExitCode;

use groma_operator::api::run::{Phase, Run};
use groma_operator::objects::{Kind, Place};
use serde_json::{Value as Json, json};

use super::reach::{ReachArgs, StackName};
use super::trouble::Trouble;
use crate::commands::Context;

/// End the Run of a Stack that is under way, or that waits. What it has begun is finished, and stored.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which Stack: NAME or NAMESPACE/NAME.
    name: StackName,

    #[command(flatten)]
    reach: ReachArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Trouble> {
    let desk = args.reach.open(context)?;
    let stack = desk.stack(&args.name)?;
    let runs = desk.runs(&stack)?;
    let Some(active) = runs.iter().rfind(|run| !phase(run).is_over()) else {
        let name = stack.metadata.name.as_deref().unwrap_or_default();
        return Err(Trouble::Refused("Nothing to cancel", format!("No Run of the Stack {name:?} is under way.")));
    };
    let namespace = stack.metadata.namespace.as_deref().unwrap_or_default();
    let name = active.metadata.name.as_deref().unwrap_or_default();
    desk.change(&Place::new(Kind::of::<Run>(), namespace, name), |object| {
        if let Some(spec) = object.data.get_mut("spec").and_then(Json::as_object_mut) {
            spec.insert("cancel".to_owned(), json!(true));
        }
        Ok(())
    })?;
    desk.ui.message(&format!("The Run {namespace}/{name} ({:?}) is to end.\n", phase(active)));
    Ok(ExitCode::SUCCESS)
}

fn phase(run: &Run) -> Phase {
    run.status.as_ref().map(|status| status.phase).unwrap_or_default()
}
