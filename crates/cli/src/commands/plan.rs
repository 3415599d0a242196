//! `groma plan`: shows what would be done, and may save it.

use std::path::PathBuf;
use std::process::ExitCode;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::engine::plan::{Mode, Options, Plan};
use groma_run::operate::{Kind, Operation};
use groma_run::session::Session;

use super::Context;
use super::shared::{PlanningArgs, Stage, generated, session};
use crate::failure::Failure;
use crate::render;

/// Show what would be done.
///
/// Makes a plan of what has to be created, changed and destroyed so that everything is as the configuration says. Does none of it.
/// The plan can be saved to a file, and `groma apply FILE` does exactly that.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Save the plan to this file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Exit with 0 if there is nothing to do, 2 if there is, and 1 if something is wrong.
    #[arg(long)]
    detailed_exitcode: bool,

    /// Write configuration for what import blocks import and nothing describes yet to this new file.
    #[arg(long, value_name = "FILE")]
    generate_config_out: Option<PathBuf>,

    #[command(flatten)]
    planning: PlanningArgs,
}

/// There is something to do, and the exit code is to tell.
const CHANGES: u8 = 2;

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let Some(stage) = Stage::open(context, "plan", &args.planning)? else { return Ok(ExitCode::FAILURE) };
    let mut session = session(context, PathBuf::from("."), args.planning.variables.clone());
    let Some(mut options) = stage.options(&args.planning, &mut session)? else { return Ok(ExitCode::FAILURE) };
    options.generate_config = args.generate_config_out.is_some();
    if let Some(problem) = refuse(&session, &options, &args) {
        stage.diagnostics(&problem.into(), session.sources())?;
        return Ok(ExitCode::FAILURE);
    }
    let opened = stage.operation(context, &mut session, &args.planning, Kind::Plan)?;
    let Some((mut operation, mut diagnostics)) = opened else { return Ok(ExitCode::FAILURE) };
    if let (Some(_), Err(problems)) = (&args.out, operation.prepare_saving()) {
        stage.diagnostics(&problems, session.sources())?;
        stage.close(operation, session.sources())?;
        return Ok(ExitCode::FAILURE);
    }
    let watching = stage.planning();
    let (plan, found) = operation.plan(&session, &options, &watching.watch);
    stage.watched(watching);
    diagnostics.extend(found);
    let job = Job { args: &args, stage: &stage, session: &session };
    let shown = job.show(&operation, plan.as_ref(), diagnostics);
    let closed = stage.close(operation, session.sources())?;
    let (empty, failed) = shown?;
    Ok(match (failed || !closed, empty || !args.detailed_exitcode) {
        (true, _) => ExitCode::FAILURE,
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::from(CHANGES),
    })
}

/// What is known to be wrong before anything is read.
fn refuse(session: &Session, options: &Options, args: &Args) -> Option<Diagnostic> {
    if options.mode != Mode::Destroy && session.is_empty() {
        let detail = "Plan requires configuration to be present. Planning without a configuration would mark everything for \
                      destruction, which is normally not what is desired. If you would like to destroy everything, run plan \
                      with the -destroy option. Otherwise, create a configuration file (.tf file) and try again.";
        return Some(Diagnostic::error("No configuration files", detail));
    }
    let path = args.generate_config_out.as_ref()?;
    if options.mode != Mode::Normal {
        let detail = "Config can only be generated during a normal plan operation, and not during a refresh-only or destroy \
                      plan.";
        return Some(Diagnostic::error("Invalid generate-config-out flag", detail));
    }
    generated::refuse(&session.start().working_dir.join(path))
}

struct Job<'a> {
    args: &'a Args,
    stage: &'a Stage,
    session: &'a Session,
}

impl Job<'_> {
    /// Saves and shows a plan, whole or not. Whether there is nothing to do, and whether something went wrong.
    fn show(
        &self,
        operation: &Operation,
        plan: Option<&Plan>,
        mut diagnostics: Diagnostics,
    ) -> Result<(bool, bool), Failure> {
        let stopped = |diagnostics: Diagnostics| {
            self.stage.diagnostics(&diagnostics, self.session.sources())?;
            Ok((true, true))
        };
        let Some(plan) = plan else { return stopped(diagnostics) };
        let working_dir = &self.session.start().working_dir;
        if let Some(path) = &self.args.out
            && diagnostics.take(operation.save_plan(self.session, plan, &working_dir.join(path))).is_none()
        {
            return stopped(diagnostics);
        }
        let written =
            self.args.generate_config_out.as_ref().map(|path| generated::write(plan, &working_dir.join(path)));
        let generated = match diagnostics.take(written.transpose()) {
            None => return stopped(diagnostics),
            Some(None) => false,
            Some(Some((wrote, warnings))) => {
                diagnostics.extend(warnings);
                wrote
            }
        };
        self.stage.plan(plan)?;
        diagnostics.sort(self.session.sources());
        self.stage.diagnostics(&diagnostics, self.session.sources())?;
        let empty = plan.is_empty() || plan.errored;
        if !empty {
            let config = self.args.generate_config_out.as_deref().filter(|_| generated);
            self.stage.people(&render::plan::next_step(self.args.out.as_deref(), config, self.stage.look()))?;
        }
        Ok((empty, diagnostics.has_errors()))
    }
}
