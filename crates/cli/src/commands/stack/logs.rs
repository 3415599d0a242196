//! `groma stack logs`: what a Run says.

use std::process::ExitCode;
use std::time::Duration;

use futures_util::{AsyncBufReadExt as _, TryStreamExt as _};
use groma_operator::api::names;
use groma_operator::api::run::Run;
use groma_operator::objects::cluster::causes;
use groma_operator::objects::{Kind, StoreError};
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kube::api::{Api, LogParams};

use super::describe::last_run;
use super::reach::{Desk, ReachArgs, StackName};
use super::trouble::Trouble;
use crate::commands::Context;
use crate::failure::Failure;

/// How often it is looked.
const PAUSE: Duration = Duration::from_millis(500);

/// Show what the last Run of a Stack says.
///
/// A Run with a Job has the log of its pod. Others have phases, and what was said about them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which Stack: NAME or NAMESPACE/NAME.
    name: StackName,

    /// Another Run of it than the last one.
    #[arg(long, value_name = "NAME")]
    run: Option<String>,

    /// Go on until the Run is over.
    #[arg(long, short)]
    follow: bool,

    #[command(flatten)]
    reach: ReachArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Trouble> {
    let desk = args.reach.open(context)?;
    let stack = desk.stack(&args.name)?;
    let runs = desk.runs(&stack)?;
    let found = match &args.run {
        Some(name) => runs.into_iter().find(|run| run.metadata.name.as_ref() == Some(name)),
        None => runs.into_iter().next_back(),
    };
    let Some(run) = found else {
        let name = stack.metadata.name.as_deref().unwrap_or_default();
        let which = args.run.map_or_else(|| "no Run".to_owned(), |run| format!("no Run {run:?}"));
        return Err(Trouble::Refused("No such Run", format!("The Stack {name:?} has {which}.")));
    };
    match (pod(&desk, &run)?, &desk.client) {
        (Some(pod), Some(client)) => of_pod(&desk, client, &run, &pod, args.follow)?,
        _ => of_run(&desk, run, args.follow)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn namespace(run: &Run) -> &str {
    run.metadata.namespace.as_deref().unwrap_or_default()
}

/// The newest pod of the Job of a Run, if it has one.
fn pod(desk: &Desk, run: &Run) -> Result<Option<String>, Trouble> {
    let kind = Kind::core("Pod", "pods");
    let name = run.metadata.name.as_deref().unwrap_or_default();
    let mut pods = match desk.wait(desk.store.list(&kind, Some(namespace(run)), &[(names::RUN, name)])) {
        // Who may not see pods can still see the Run.
        Err(StoreError::Forbidden { .. }) => return Ok(None),
        listed => listed?,
    };
    pods.sort_by_key(|pod| pod.metadata.creation_timestamp.clone());
    Ok(pods.pop().and_then(|pod| pod.metadata.name))
}

fn of_pod(desk: &Desk, client: &Client, run: &Run, pod: &str, follow: bool) -> Result<(), Trouble> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace(run));
    let parameters = LogParams { follow, ..LogParams::default() };
    desk.wait(async {
        let failed = |problem: &dyn std::error::Error| {
            Trouble::Refused("No log", format!("The pod {pod:?} gives no log: {}.", causes(problem)))
        };
        let stream = pods.log_stream(pod, &parameters).await.map_err(|problem| failed(&problem))?;
        let mut lines = stream.lines();
        while let Some(line) = lines.try_next().await.map_err(|problem| failed(&problem))? {
            desk.show(&format!("{line}\n"))?;
        }
        Ok(())
    })
}

/// Phases as they come, and what was said once it is over.
fn of_run(desk: &Desk, mut run: Run, follow: bool) -> Result<(), Trouble> {
    let name = run.metadata.name.clone().unwrap_or_default();
    let mut shown = 0;
    loop {
        let status = run.status.clone().unwrap_or_default();
        let phases: Vec<String> =
            status.phases.iter().map(|known| format!("{} {:?}\n", known.began.0, known.phase)).collect();
        desk.show(&phases.get(shown..).unwrap_or_default().concat())?;
        shown = phases.len();
        if !follow || status.phase.is_over() {
            desk.show(&last_run(&run))?;
            return Ok(());
        }
        desk.pause(PAUSE);
        let gone = || Trouble::Failure(Failure::Usage(format!("the Run {name} is not there any more")));
        run = desk.run(namespace(&run), &name)?.ok_or_else(gone)?;
    }
}
