//! `groma operator execute`: what the pod of a Job does. Not for people.

use std::path::PathBuf;
use std::process::ExitCode;

use groma_model::diag::Diagnostic;
use groma_model::span::SourceMap;
use groma_operator::objects::cluster::Reach;
use groma_operator::serve::execute_one;

use super::serve::{EngineArgs, Folders, workshop};
use crate::commands::Context;
use crate::commands::shared::{kubeconfigs, online_quietly};
use crate::failure::Failure;
use crate::signals;
use crate::ui::Ui;

/// Work on one Run, in the pod of a Job.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A kubeconfig, instead of the pod's own account.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// The namespace of the Run.
    #[arg(long, value_name = "NAMESPACE")]
    namespace: String,

    /// Its name.
    #[arg(long, value_name = "NAME")]
    run: String,

    /// The Job that this belongs to.
    #[arg(long, value_name = "NAME")]
    job: Option<String>,

    /// Directories beside its own in which a run may read and write files.
    #[arg(
        long,
        value_name = "DIR",
        env = "GROMA_FILES",
        value_delimiter = ':',
        default_value = "/tmp",
        hide_env_values = true
    )]
    files: Vec<PathBuf>,

    /// What this is called in the Run.
    #[arg(long, value_name = "NAME", env = "POD_NAME", hide_env_values = true)]
    identity: Option<String>,

    #[command(flatten)]
    engines: EngineArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let ui = Ui::new(&context.environment, true);
    let (online, diagnostics) = online_quietly(context);
    ui.diagnostics(&diagnostics, &SourceMap::new());
    if diagnostics.has_errors() {
        return Ok(ExitCode::FAILURE);
    }
    let made = tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(1).build();
    let runtime = made.map_err(Failure::Terminal)?;
    let (stop, mut stopped) = tokio::sync::watch::channel(false);
    signals::overhear(move |_| {
        let _ = stop.send(true);
    });
    let reach = Reach { files: kubeconfigs(context, args.kubeconfig.as_deref()), context: None };
    let folders = Folders::with_files(args.files);
    let workshop = workshop(context, reach.backend(), folders, online.config().clone(), args.engines);
    let identity = args.identity.unwrap_or_else(|| format!("groma-{}", std::process::id()));
    let done =
        runtime.block_on(execute_one(&reach, (args.namespace, args.run), (identity, args.job), workshop, async move {
            let _ = stopped.wait_for(|stop| *stop).await;
        }));
    match done {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(problem) => {
            let problem = Diagnostic::error("The run was left", format!("{problem}."));
            ui.diagnostics(&problem.into(), &SourceMap::new());
            Ok(ExitCode::FAILURE)
        }
    }
}
