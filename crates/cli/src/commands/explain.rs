//! `groma explain`: why a resource is created, changed, replaced or blocked.

mod find;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use groma_model::address::Target;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::engine::events::Silence;
use groma_run::engine::plan::Plan;
use groma_run::engine::report::Explanation;
use groma_run::operate::{Kind, Operation, Watch};
use groma_run::session::Session;
use groma_run::view::explanation;

use super::Context;
use super::shared::{
    InputArgs, JsonArgs, LockArgs, OperationArgs, PathArgs, PlanningArgs, SensitiveArgs, Stage, VariableArgs, ViewArgs,
    provider_access, session,
};
use crate::failure::Failure;
use crate::render;

/// Say why something is planned for a resource.
///
/// Looks into a saved plan, or makes a plan first.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which resource, resource instance or module.
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,

    /// A saved plan to look into.
    #[arg(value_name = "PLAN")]
    pub(crate) plan_file: Option<PathBuf>,

    /// Answer as JSON.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) operation: OperationArgs,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) lock: LockArgs,

    #[command(flatten)]
    pub(crate) paths: PathArgs,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let planning = planning(&args);
    let Some(stage) = Stage::open(context, "explain", &planning)? else { return Ok(ExitCode::FAILURE) };
    let mut session = session(context, PathBuf::from("."), args.variables.clone());
    let job = Job { context, args: &args, planning: &planning, stage: &stage };
    match job.explain(&mut session) {
        Ok(found) if args.json => {
            stage.ui().line(&format!("{:#}", explanation::explanations(&found)))?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(found) => {
            stage.ui().out(&render::explanation::explanations(&found, stage.ui().style()))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(problems) => {
            stage.ui().diagnostics(&problems, session.sources());
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The same flags, as those who plan know them. What is said on the way goes to standard error.
fn planning(args: &Args) -> PlanningArgs {
    let mut input = args.input.clone();
    input.input &= !args.json;
    PlanningArgs {
        operation: args.operation.clone(),
        variables: args.variables.clone(),
        lock: args.lock.clone(),
        paths: args.paths.clone(),
        json: JsonArgs::default(),
        input,
        sensitive: SensitiveArgs { show_sensitive: false },
        view: args.view.clone(),
    }
}

struct Job<'a> {
    context: &'a Context,
    args: &'a Args,
    planning: &'a PlanningArgs,
    stage: &'a Stage,
}

impl Job<'_> {
    fn explain(&self, session: &mut Session) -> Result<Vec<Explanation>, Diagnostics> {
        let target: Target = self.args.address.parse().map_err(|problem: groma_model::address::AddressError| {
            Diagnostic::error(problem.summary, format!("{:?}: {}", self.args.address, problem.detail))
        })?;
        match &self.args.plan_file {
            Some(path) => self.saved(session, path, &target),
            None => self.planned(session, &target),
        }
    }

    /// Looks into a plan file.
    fn saved(&self, session: &mut Session, path: &Path, target: &Target) -> Result<Vec<Explanation>, Diagnostics> {
        let given = self.args.operation.given();
        if !given.is_empty() {
            let detail = format!(
                "A saved plan says already what is done, so it cannot be explained with {}. Give these options to \"groma plan\".",
                given.join(", ")
            );
            return Err(Diagnostic::error("Incompatible command line arguments", detail).into());
        }
        let saved = session.open_plan(&self.context.working_dir.join(path))?;
        let (access, mut diagnostics) = provider_access(self.context);
        let (looked, found) = session.look_into(&saved, access);
        diagnostics.extend(found);
        let Some(looked) = looked else { return Err(diagnostics) };
        self.stage.ui().diagnostics(&diagnostics, session.sources());
        let found = self.find(&looked.plan, target, &Diagnostics::new());
        looked.close();
        found
    }

    /// Makes a plan and looks into that. One with errors is looked into as well: they may be what is asked about.
    fn planned(&self, session: &mut Session, target: &Target) -> Result<Vec<Explanation>, Diagnostics> {
        let options = self.args.operation.options(session)?;
        let (access, mut diagnostics) = provider_access(self.context);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let wishes = self.stage.wishes(self.context, self.planning, Kind::Plan);
        let (operation, found) = Operation::open(session, access, wishes);
        diagnostics.extend(found);
        let Some(mut operation) = operation else { return Err(diagnostics) };
        let watch = Watch { events: Arc::new(Silence), interrupt: self.stage.interrupt() };
        let (plan, found) = operation.plan(session, &options, &watch);
        diagnostics.extend(found);
        diagnostics.extend(operation.close());
        let Some(plan) = plan else { return Err(diagnostics) };
        let found = self.find(&plan, target, &diagnostics);
        self.stage.ui().diagnostics(&diagnostics, session.sources());
        found
    }

    fn find(&self, plan: &Plan, target: &Target, diagnostics: &Diagnostics) -> Result<Vec<Explanation>, Diagnostics> {
        let mut found = find::explanations(plan, target);
        if found.is_empty() {
            return Err(find::unknown(plan, &self.args.address).into());
        }
        for explanation in &mut found {
            let about = find::errors_about(diagnostics, &explanation.address);
            explanation.blocked.splice(0..0, about);
        }
        Ok(found)
    }
}
