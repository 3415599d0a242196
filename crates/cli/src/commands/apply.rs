//! `groma apply`: plans, asks, and does it; or does what a saved plan says. `groma destroy` is the same with another plan.

mod approval;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::engine::plan::{Mode, Options, Plan};
use groma_run::operate::{Kind, Operation, Outcome};
use groma_run::session::Session;

use super::Context;
use super::shared::{PlanningArgs, Stage, no_replacement, session};
use crate::failure::Failure;

/// Create, change and destroy what the configuration asks for.
///
/// Makes a plan, shows it and asks before anything is done. With a plan file of `groma plan -out`, does exactly what was planned,
/// without asking.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A plan that was saved by `groma plan -out`.
    #[arg(value_name = "PLAN")]
    plan_file: Option<PathBuf>,

    /// Do not ask.
    #[arg(long)]
    auto_approve: bool,

    /// Let a destroy that leaves forgotten objects behind succeed.
    #[arg(long)]
    suppress_forget_errors: bool,

    #[command(flatten)]
    planning: PlanningArgs,
}

/// By which name it was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Called {
    /// `groma apply`
    Apply,
    /// `groma destroy`
    Destroy,
}

impl Called {
    fn name(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Destroy => "destroy",
        }
    }
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    carry_out(context, args, Called::Apply)
}

/// Both commands.
pub(super) fn carry_out(context: &Context, args: Args, called: Called) -> Result<ExitCode, Failure> {
    let Some(stage) = Stage::open(context, called.name(), &args.planning)? else { return Ok(ExitCode::FAILURE) };
    let mut session = session(context, PathBuf::from("."), args.planning.variables.clone());
    let options = match options(&args, called, &mut session) {
        Ok(options) => options,
        Err(problems) => return stage.usage(&problems, session.sources()),
    };
    let job = Job { context, args: &args, called, stage: &stage, parallelism: options.parallelism };
    let done = match args.plan_file.as_deref() {
        Some(path) => job.saved(&mut session, path)?,
        None => job.planned(&mut session, &options)?,
    };
    Ok(if done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What the flags ask for together.
fn options(args: &Args, called: Called, session: &mut Session) -> Result<Options, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    if args.planning.json.json && args.plan_file.is_none() && !args.auto_approve {
        let detail = "groma cannot ask for interactive approval when -json is set. You can either apply a saved plan file, or \
                      enable the -auto-approve option.";
        diagnostics.push(Diagnostic::error("Plan file or auto-approve required", detail));
    }
    let options = diagnostics.take(args.planning.operation.options(session));
    let mut options = options.unwrap_or_default();
    if called == Called::Destroy {
        let refused = match options.mode {
            Mode::Normal => None,
            Mode::Destroy => Some(
                "The -destroy option is not valid for \"groma destroy\", because this command always runs in destroy mode.",
            ),
            Mode::RefreshOnly => Some("The -refresh-only option is not valid for \"groma destroy\"."),
        };
        diagnostics.extend(refused.map(|detail| Diagnostic::error("Invalid mode option", detail)));
        options.mode = Mode::Destroy;
        diagnostics.extend(options.replace.first().map(|_| no_replacement()));
    }
    let given = args.planning.operation.given();
    if args.plan_file.is_some() && called == Called::Apply && !given.is_empty() {
        let detail = format!(
            "A saved plan says already what is done, so it cannot be applied with {}. Give these options to \"groma plan\".",
            given.join(", ")
        );
        diagnostics.push(Diagnostic::error("Incompatible command line arguments", detail));
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(options) }
}

struct Job<'a> {
    context: &'a Context,
    args: &'a Args,
    called: Called,
    stage: &'a Stage,
    parallelism: usize,
}

impl Job<'_> {
    /// Plans, asks, and does it. True if all went well.
    fn planned(&self, session: &mut Session, options: &Options) -> Result<bool, Failure> {
        if options.mode != Mode::Destroy && session.is_empty() {
            let detail = "Apply requires configuration to be present. Applying without a configuration would mark everything \
                          for destruction, which is normally not what is desired. If you would like to destroy everything, run \
                          'groma destroy' instead.";
            return self.refused(Diagnostic::error("No configuration files", detail).into(), session);
        }
        let kind = if options.mode == Mode::Destroy { Kind::Destroy } else { Kind::Apply };
        let opened = self.stage.operation(self.context, session, &self.args.planning, kind)?;
        let Some((mut operation, diagnostics)) = opened else { return Ok(false) };
        let done = self.plan_and_apply(session, &mut operation, options, diagnostics);
        let closed = self.stage.close(operation, session.sources())?;
        Ok(done? && closed)
    }

    fn plan_and_apply(
        &self,
        session: &Session,
        operation: &mut Operation,
        options: &Options,
        mut diagnostics: Diagnostics,
    ) -> Result<bool, Failure> {
        let watching = self.stage.planning();
        let (plan, found) = operation.plan(session, options, &watching.watch);
        self.stage.watched(watching);
        diagnostics.extend(found);
        diagnostics.sort(session.sources());
        let plan = match plan {
            Some(plan) if !diagnostics.has_errors() => plan,
            plan => {
                if let Some(plan) = plan.filter(|plan| !plan.changes.is_empty() || !plan.outputs.is_empty()) {
                    self.stage.plan(&plan)?;
                }
                self.stage.diagnostics(&diagnostics, session.sources())?;
                return Ok(false);
            }
        };
        self.stage.plan(&plan)?;
        if self.stage.is_interrupted() {
            diagnostics.push(Diagnostic::error("execution halted", ""));
            self.stage.diagnostics(&diagnostics, session.sources())?;
            return Ok(false);
        }
        if self.args.auto_approve || plan.is_empty() {
            // Checks are made once more while it is applied.
            diagnostics = diagnostics.into_iter().filter(|found| !is_check(found)).collect();
        } else {
            // Whoever answers should have seen the warnings.
            self.stage.diagnostics(&diagnostics, session.sources())?;
            diagnostics = Diagnostics::new();
            if !approval::ask(self.stage, plan.mode, operation.storage().workspace().as_str(), session.sources())? {
                return Ok(false);
            }
        }
        self.apply(session, operation, &plan, diagnostics)
    }

    fn apply(
        &self,
        session: &Session,
        operation: &mut Operation,
        plan: &Plan,
        mut diagnostics: Diagnostics,
    ) -> Result<bool, Failure> {
        if let Some(path) = operation.storage().spool().filter(|_| !plan.is_empty()) {
            let path = path.display();
            let text = format!("The journal of this run is kept on this machine, in {path}.");
            self.stage.say(&format!("{text}\n\n"), &text)?;
        }
        let watching = self.stage.applying(plan);
        let outcome = operation.apply(session, plan, &watching.watch);
        let report = self.stage.watched(watching);
        let Outcome { state, diagnostics: found, counts, unsaved, .. } = outcome;
        diagnostics.extend(found);
        if let Some(text) = unsaved {
            self.stage.emergency(&text)?;
        }
        let forgotten = plan.mode == Mode::Destroy && counts.forgotten > 0;
        if forgotten && !self.args.suppress_forget_errors && !diagnostics.has_errors() {
            diagnostics.push(left_behind());
        }
        diagnostics.sort(session.sources());
        self.stage.diagnostics(&diagnostics, session.sources())?;
        let failed = diagnostics.has_errors();
        self.stage.summary(&report, &counts, self.called == Called::Destroy, failed)?;
        if failed {
            return Ok(false);
        }
        let saved_to = self.args.planning.paths.state_out.as_deref();
        if let Some(path) = saved_to.filter(|_| counts.added > 0 || counts.changed > 0) {
            self.stage.people(&kept(path))?;
        }
        if self.called != Called::Destroy {
            self.stage.outputs(&state)?;
        }
        Ok(true)
    }

    /// Does what a saved plan says, if nothing has changed since.
    fn saved(&self, session: &mut Session, path: &Path) -> Result<bool, Failure> {
        let saved = match session.open_plan(&session.start().working_dir.join(path)) {
            Ok(saved) => saved,
            Err(problems) => {
                // People know the file by the name that they gave.
                let summary = format!("Failed to load {:?} as a plan file", path.display().to_string());
                let named = |problem: Diagnostic| Diagnostic { summary: summary.clone(), ..problem };
                return self.refused(problems.into_iter().map(named).collect(), session);
            }
        };
        if self.called == Called::Destroy {
            let path = path.display().to_string();
            let detail =
                format!("If this plan was created using plan -destroy, apply it using:\n  groma apply {path:?}");
            let problem = Diagnostic::error("Destroy can't be called with a plan file", detail);
            return self.refused(problem.into(), session);
        }
        if saved.is_errored() {
            let detail = "groma encountered an error when generating this plan, so it cannot be applied.";
            return self.refused(Diagnostic::error("Cannot apply incomplete plan", detail).into(), session);
        }
        let opened = self.stage.saved_operation(self.context, session, &self.args.planning, &saved)?;
        let Some((mut operation, mut plan, diagnostics)) = opened else { return Ok(false) };
        plan.options.parallelism = self.parallelism;
        let done = self.stage.saved_plan(&plan).and_then(|()| self.apply(session, &mut operation, &plan, diagnostics));
        let closed = self.stage.close(operation, session.sources())?;
        Ok(done? && closed)
    }

    fn refused(&self, problems: Diagnostics, session: &Session) -> Result<bool, Failure> {
        self.stage.diagnostics(&problems, session.sources())?;
        Ok(false)
    }
}

/// Whether a `check` block says this.
fn is_check(diagnostic: &Diagnostic) -> bool {
    diagnostic.summary.starts_with("Check block assertion")
}

fn left_behind() -> Diagnostic {
    let detail = "As requested, groma has not deleted some remote objects that are no longer managed by this configuration. Those \
                  objects continue to exist in their remote system and so may continue to incur charges. Refer to the original \
                  plan for more information.\nTo suppress this error for the future 'destroy' runs, you can add the CLI flag \
                  \"-suppress-forget-errors\".";
    Diagnostic::error("Destroy was successful but left behind forgotten instances", detail)
}

fn kept(path: &Path) -> String {
    format!(
        "\nThe state of your infrastructure has been saved to the path below. This\nstate is required to modify and destroy your \
         infrastructure, so keep it safe. To\ninspect the complete state use the `groma show` command.\n\nState path: {}\n",
        path.display()
    )
}
