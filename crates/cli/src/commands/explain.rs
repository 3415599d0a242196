//! `groma explain`: why a resource is created, changed, replaced or blocked.

mod find;
mod replacement;
mod rule;

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
/// Looks into a saved plan, or makes a plan first. "groma explain replace ADDRESS" says why an object is replaced in the order that
/// is planned, and what all rules say about it; "groma explain rule NAME" says what a rule is about.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which resource, resource instance or module; or what to explain: "replace ADDRESS" or "rule NAME".
    #[arg(value_name = "ADDRESS", required = true, num_args = 1..=3)]
    pub(crate) words: Vec<String>,

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

/// What is to be explained.
enum Question {
    /// What is planned, and why.
    Plan(Subject),
    /// The order of a replacement.
    Replacement(Subject),
    /// A rule, by its name.
    Rule(String),
}

/// An address, and the saved plan to look into.
struct Subject {
    address: String,
    plan_file: Option<PathBuf>,
}

impl Question {
    fn asked(words: &[String]) -> Result<Self, Diagnostics> {
        let subject = |address: &String, plan: Option<&String>| Subject {
            address: address.clone(),
            plan_file: plan.map(PathBuf::from),
        };
        match words {
            [kind, id] if kind == "rule" => Ok(Self::Rule(id.clone())),
            [kind, address] if kind == "replace" => Ok(Self::Replacement(subject(address, None))),
            [kind, address, plan] if kind == "replace" => Ok(Self::Replacement(subject(address, Some(plan)))),
            [address] => Ok(Self::Plan(subject(address, None))),
            [address, plan] => Ok(Self::Plan(subject(address, Some(plan)))),
            _ => {
                let detail = "Give an address and at most one saved plan, \"replace\" with an address and at most one saved plan, or \
                              \"rule\" with the name of a rule.";
                Err(Diagnostic::error("Incompatible command line arguments", detail).into())
            }
        }
    }
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let planning = planning(&args);
    let Some(stage) = Stage::open(context, "explain", &planning)? else { return Ok(ExitCode::FAILURE) };
    let mut session = session(context, PathBuf::from("."), args.variables.clone());
    let subject = match Question::asked(&args.words) {
        Ok(Question::Rule(id)) => return rule::run(&stage, &mut session, &id, args.json),
        Ok(Question::Replacement(subject)) => {
            let job =
                Job { context, args: &args, planning: &planning, stage: &stage, subject: &subject, in_full: true };
            return replacement::run(&job, &mut session);
        }
        Ok(Question::Plan(subject)) => subject,
        Err(problems) => {
            stage.ui().diagnostics(&problems, session.sources());
            return Ok(ExitCode::FAILURE);
        }
    };
    let job = Job { context, args: &args, planning: &planning, stage: &stage, subject: &subject, in_full: false };
    let found = job.with_plan(&mut session, |plan, target, found| job.find(plan, target, found));
    match found {
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

/// Finds something in a plan, and in what was found while it was made.
trait Find<T>: FnOnce(&Plan, &Target, &Diagnostics) -> Result<T, Diagnostics> {}
impl<T, F: FnOnce(&Plan, &Target, &Diagnostics) -> Result<T, Diagnostics>> Find<T> for F {}

struct Job<'a> {
    context: &'a Context,
    args: &'a Args,
    planning: &'a PlanningArgs,
    stage: &'a Stage,
    subject: &'a Subject,
    /// Whether everything is found out about all rules.
    in_full: bool,
}

impl Job<'_> {
    /// Finds something in the plan that is asked about: a saved one, or one that is made.
    fn with_plan<T>(&self, session: &mut Session, find: impl Find<T>) -> Result<T, Diagnostics> {
        let address = &self.subject.address;
        let target: Target = address.parse().map_err(|problem: groma_model::address::AddressError| {
            Diagnostic::error(problem.summary, format!("{address:?}: {}", problem.detail))
        })?;
        match &self.subject.plan_file {
            Some(path) => self.saved(session, path, &target, find),
            None => self.planned(session, &target, find),
        }
    }

    /// Looks into a plan file.
    fn saved<T>(
        &self,
        session: &mut Session,
        path: &Path,
        target: &Target,
        find: impl Find<T>,
    ) -> Result<T, Diagnostics> {
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
        let found = find(&looked.plan, target, &Diagnostics::new());
        looked.close();
        found
    }

    /// Makes a plan and looks into that. One with errors is looked into as well: they may be what is asked about.
    fn planned<T>(&self, session: &mut Session, target: &Target, find: impl Find<T>) -> Result<T, Diagnostics> {
        let mut options = self.args.operation.options(session)?;
        options.replacement.in_full = self.in_full;
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
        let found = find(&plan, target, &diagnostics);
        self.stage.ui().diagnostics(&diagnostics, session.sources());
        found
    }

    fn find(&self, plan: &Plan, target: &Target, diagnostics: &Diagnostics) -> Result<Vec<Explanation>, Diagnostics> {
        let mut found = find::explanations(plan, target);
        if found.is_empty() {
            return Err(find::unknown(plan, &self.subject.address).into());
        }
        for explanation in &mut found {
            let about = find::errors_about(diagnostics, &explanation.address);
            explanation.blocked.splice(0..0, about);
        }
        Ok(found)
    }
}
