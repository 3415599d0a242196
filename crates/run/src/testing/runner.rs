//! The runs of one file, one after the other.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use groma_engine::change::Action;
use groma_engine::interrupt::{Interrupt, Urgency};
use groma_engine::plan::{Mode, Options, Plan};
use groma_lang::config::addresses::{self, Keys};
use groma_lang::config::test_file::{TestCommand, TestRun};
use groma_lang::config::{ResourceMode, Traversal};
use groma_lang::walk::{InputValue, Settings, Walk};
use groma_model::address::{AbsInstance, InstanceKey, Target};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use groma_model::value::Value;
use groma_state::State;

use super::assertions::{self, AssertionScope};
use super::failures::{Expected, Failures, Origins};
use super::operations::Work;
use super::prepare::{self, Prepared};
use super::values::{self, Seen, SeenValues};
use super::variables::{self, TestValues};
use super::{
    Abandoned, FileReport, LeftOver, LoadedFile, Observer, RunReport, Shown, ShownPlan, Stand, Status, TestSuite,
    UnderTest,
};
use crate::providers::BookOracle;
use crate::session::Session;

/// Runs a file.
pub(super) struct FileRunner<'a> {
    pub(super) suite: &'a TestSuite,
    pub(super) session: &'a Session,
    pub(super) file: &'a LoadedFile,
    pub(super) interrupt: &'a Interrupt,
    /// What was made, by the source of the module; the module under test has none.
    pub(super) states: BTreeMap<Str, Kept>,
    /// The outputs of runs that are done.
    pub(super) outputs: BTreeMap<Str, Value>,
}

/// What was made with one module.
#[derive(Default)]
pub(super) struct Kept {
    /// The run that changed it last.
    pub(super) run: Option<usize>,
    pub(super) state: Arc<State>,
}

/// What came of a run, but for its name.
#[derive(Default)]
struct Outcome {
    status: Status,
    diagnostics: Diagnostics,
    shown: Option<Shown>,
}

impl Outcome {
    fn error(diagnostics: Diagnostics) -> Self {
        Self { status: Status::Error, diagnostics, shown: None }
    }
}

/// A run that is ready to be carried out.
pub(super) struct Ready {
    pub(super) prepared: Prepared,
    pub(super) inputs: BTreeMap<Str, InputValue>,
    /// Values for names that the module does not declare.
    variables: BTreeMap<Str, Value>,
}

impl<'a> FileRunner<'a> {
    pub(super) fn new(
        suite: &'a TestSuite,
        session: &'a Session,
        file: &'a LoadedFile,
        interrupt: &'a Interrupt,
    ) -> Self {
        Self { suite, session, file, interrupt, states: BTreeMap::new(), outputs: BTreeMap::new() }
    }

    /// Does all runs. Once one could not be carried through, the others are left out.
    pub(super) fn run(&mut self, report: &mut FileReport, observer: &mut dyn Observer) {
        report.status = Status::Pass;
        for (at, run) in report.runs.iter_mut().enumerate() {
            match self.interrupt.urgency() {
                // Nobody waits for more.
                Urgency::Now => return,
                Urgency::Soon => {
                    run.status = Status::Skip;
                    continue;
                }
                Urgency::None if report.status == Status::Error => {
                    run.status = Status::Skip;
                    continue;
                }
                Urgency::None => {}
            }
            let began = now();
            let Outcome { status, mut diagnostics, shown } = self.execute(at, observer);
            diagnostics.sort(self.session.sources());
            *run = RunReport { name: run.name.clone(), status, diagnostics, shown, took: began.elapsed() };
            report.status = report.status.max(status);
        }
        if self.interrupt.urgency() != Urgency::Now {
            observer.file(self.stand(), report);
        }
    }

    pub(super) fn stand(&self) -> Stand<'a> {
        Stand { sources: self.session.sources(), book: self.suite.book() }
    }

    pub(super) fn under_test(&self, at: usize) -> &'a UnderTest {
        self.file.modules.get(at).and_then(Option::as_deref).unwrap_or(&self.suite.main)
    }

    fn state_key(run: &TestRun) -> Str {
        run.module.as_ref().map_or_else(|| Str::from(""), |module| module.source.clone())
    }

    fn execute(&mut self, at: usize, observer: &mut dyn Observer) -> Outcome {
        let run = &self.file.file.runs[at];
        let mut found = prepare::duplicates(&self.file.file.overrides.resources, &self.file.file.overrides.modules);
        found.extend(prepare::duplicates(&run.overrides.resources, &run.overrides.modules));
        let expected = found.take(Expected::new(&run.expect_failures));
        let (Some(expected), false) = (expected, found.has_errors()) else { return Outcome::error(found) };
        let ready = match self.ready(at) {
            Ok(ready) => ready,
            Err(found) => return Outcome::error(found),
        };
        let work = Work::new(self.suite, self.session, &ready.prepared, &ready.inputs, self.interrupt);
        let mut diagnostics = ready.prepared.diagnostics.clone();
        let found = work.validate();
        let failed = found.has_errors();
        diagnostics.extend(found);
        if failed {
            return Outcome::error(diagnostics);
        }
        let options = match options(run) {
            Ok(options) => options,
            Err(found) => {
                diagnostics.extend(found);
                return Outcome::error(diagnostics);
            }
        };
        let state = Arc::clone(&self.states.entry(Self::state_key(run)).or_default().state);
        let (plan, found) = work.plan(&state, &options, &mut || self.abandon(at, &[], observer));
        let judged = Judged { runner: self, run, work: &work, ready: &ready };
        match run.command {
            TestCommand::Plan => {
                let outcome = judged.planned(plan.as_ref(), found, expected, diagnostics);
                if let Some(plan) = &plan {
                    let outputs = Seen::Plan(plan).outputs();
                    self.outputs.insert(run.name.clone(), Value::object(outputs));
                }
                outcome
            }
            TestCommand::Apply => {
                add_unless_check(&mut diagnostics, found.clone(), &Origins::new(&ready.prepared.tree));
                diagnostics.extend(expected.explain(&found, &Origins::new(&ready.prepared.tree)));
                let Some(plan) = plan.filter(|_| !found.has_errors()) else { return Outcome::error(diagnostics) };
                let created: Vec<AbsInstance> = created(&plan);
                let applied = work.apply(&plan, &mut || self.abandon(at, &created, observer));
                let state = Arc::new(applied.state);
                let outcome = judged.applied(&state, applied.diagnostics, expected, diagnostics);
                self.outputs.insert(run.name.clone(), Value::object(values::outputs(&state)));
                self.states.insert(Self::state_key(run), Kept { run: Some(at), state });
                outcome
            }
        }
    }

    /// Works out the values of a run and the configuration that it works with.
    pub(super) fn ready(&self, at: usize) -> Result<Ready, Diagnostics> {
        let (file, run) = (&self.file.file, &self.file.file.runs[at]);
        let under_test = self.under_test(at);
        let module = (under_test.tree.root.module.as_ref(), &under_test.globals);
        let mut values = TestValues::of_run(self.session.machine(), module, file, &self.outputs);
        let (inputs, mut found) = variables::inputs(&values, module, file, run);
        let (variables, problems) = variables::undeclared(&values, module, file, run);
        found.extend(problems);
        if found.has_errors() {
            return Err(found);
        }
        // Providers see the values of the run.
        let set = inputs.iter().filter(|(_, given)| !given.value.is_null());
        values.variables.extend(set.map(|(name, given)| (name.clone(), given.value.clone())));
        values.variables.extend(variables.clone());
        let mut prepared = prepare::prepare(&under_test.tree, (file, run), &values, self.suite.book())?;
        prepared.diagnostics.extend(found);
        Ok(Ready { prepared, inputs, variables })
    }

    /// Tells what there is when everything is let go of.
    pub(super) fn abandon(&self, at: usize, planned: &[AbsInstance], observer: &mut dyn Observer) {
        let run = &self.file.file.runs[at];
        let mut others = Vec::new();
        let mut main = Vec::new();
        for (source, kept) in &self.states {
            if source.is_empty() {
                main = left_over(&kept.state);
            } else if let Some(run) = kept.run {
                let name = self.file.file.runs[run].name.to_string();
                others.push((name, source.to_string(), left_over(&kept.state)));
            }
        }
        let source = run.module.as_ref().map(|module| module.source.as_str());
        observer.abandoned(&Abandoned {
            file: &self.file.name,
            run: (&run.name, source),
            main,
            others,
            planned: planned.to_vec(),
        });
    }
}

/// What is asserted of a run.
struct Judged<'a, 'r> {
    runner: &'r FileRunner<'a>,
    run: &'a TestRun,
    work: &'r Work<'r>,
    ready: &'r Ready,
}

impl Judged<'_, '_> {
    fn planned(
        &self,
        plan: Option<&Plan>,
        found: Diagnostics,
        mut expected: Expected,
        mut diagnostics: Diagnostics,
    ) -> Outcome {
        let failures = plan.map(Failures::of_plan).unwrap_or_default();
        let found = expected.settle(found, &Origins::new(&self.ready.prepared.tree), failures);
        let failed = found.has_errors();
        diagnostics.extend(found);
        if failed {
            return Outcome::error(diagnostics);
        }
        let nothing = State::default();
        let seen = plan.map_or(Seen::State(&nothing), Seen::Plan);
        let (status, found) = self.assert(&seen, true);
        diagnostics.extend(found);
        let shown = plan.filter(|_| self.runner.suite.verbose).map(|plan| {
            let Ready { prepared, inputs, .. } = self.ready;
            let (tree, inputs) = (prepared.tree.clone(), inputs.clone());
            Shown::Plan(Box::new(ShownPlan { plan: plan.clone(), tree, inputs, time: self.work.time }))
        });
        Outcome { status, diagnostics, shown }
    }

    fn applied(
        &self,
        state: &Arc<State>,
        found: Diagnostics,
        mut expected: Expected,
        mut diagnostics: Diagnostics,
    ) -> Outcome {
        let origins = Origins::new(&self.ready.prepared.tree);
        let found = expected.settle(found, &origins, Failures::of_state(state));
        let failed = found.has_errors();
        diagnostics.extend(found);
        if failed {
            return Outcome::error(diagnostics);
        }
        let (status, found) = self.assert(&Seen::State(state), false);
        diagnostics.extend(found);
        let shown = self.runner.suite.verbose.then(|| Shown::State(Arc::clone(state)));
        Outcome { status, diagnostics, shown }
    }

    fn assert(&self, seen: &Seen<'_>, planning: bool) -> (Status, Diagnostics) {
        if self.run.asserts.is_empty() {
            return (Status::Pass, Diagnostics::new());
        }
        let suite = self.runner.suite;
        let schemas = BookOracle::new(suite.book(), Some(&suite.access));
        let oracle = SeenValues::new(schemas, seen);
        let settings = Settings { pure_only: planning, lenient: true, ..self.work.settings(&oracle) };
        // What is wrong with the configuration was said before.
        let (walk, _) = Walk::run(&self.ready.prepared.tree, settings, &self.ready.inputs);
        let scope = AssertionScope {
            module: walk.root_scope(),
            declared: &self.ready.prepared.tree.root.module,
            outputs: seen.outputs(),
            variables: self.ready.variables.clone(),
            runs: self.runner.outputs.clone(),
        };
        assertions::check(&self.run.asserts, &scope)
    }
}

/// What the apply says again is left out.
fn add_unless_check(diagnostics: &mut Diagnostics, found: Diagnostics, origins: &Origins) {
    diagnostics.extend(found.into_iter().filter(|found| !origins.is_check(found)).collect::<Diagnostics>());
}

fn created(plan: &Plan) -> Vec<AbsInstance> {
    let made = plan.changes.iter().filter(|change| change.action == Action::Create);
    made.map(|change| change.address.clone()).collect()
}

/// Everything that a state knows of.
pub(super) fn left_over(state: &State) -> Vec<LeftOver> {
    let mut left = Vec::new();
    for (address, resource) in
        state.resources.iter().filter(|(address, _)| address.resource.mode == ResourceMode::Managed)
    {
        for (key, instance) in &resource.instances {
            let address = address.instance(key.clone());
            if instance.current.is_some() {
                left.push(LeftOver { address: address.clone(), deposed: None });
            }
            let deposed = instance.deposed.keys();
            left.extend(deposed.map(|key| LeftOver { address: address.clone(), deposed: Some(key.clone()) }));
        }
    }
    left
}

/// How a run plans.
fn options(run: &TestRun) -> Result<Options, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let mut options = Options {
        mode: if run.options.refresh_only { Mode::RefreshOnly } else { Mode::Normal },
        refresh: run.options.refresh,
        ..Options::default()
    };
    for traversal in &run.options.target {
        options.targets.extend(diagnostics.take(target(traversal)));
    }
    for traversal in &run.options.replace {
        let instance = match diagnostics.take(target(traversal)) {
            Some(Target::Resource(resource)) => Some(resource.instance(InstanceKey::None)),
            Some(Target::Instance(instance)) => Some(instance),
            Some(Target::Module(_)) => {
                let detail = "A resource or an instance of one is needed, not a module.";
                diagnostics.push(Diagnostic::error("Invalid address", detail).at(traversal.span));
                None
            }
            None => None,
        };
        let is_managed = |found: &AbsInstance| found.instance.resource.mode == ResourceMode::Managed;
        match instance {
            Some(instance) if is_managed(&instance) => options.replace.push(instance),
            Some(instance) => {
                let summary = "Can only target managed resources for forced replacements.";
                diagnostics.push(Diagnostic::error(summary, instance.to_string()).at(traversal.span));
            }
            None => {}
        }
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(options) }
}

fn target(traversal: &Traversal) -> Result<Target, Diagnostics> {
    let address = addresses::parse(traversal, Keys::Allowed).map_err(|problem| *problem)?;
    let invalid = |problem: String| Diagnostic::error("Invalid address", problem).at(traversal.span);
    address.to_string().parse::<Target>().map_err(|problem| invalid(problem.to_string()).into())
}

fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "how long a run takes is told")]
    Instant::now()
}
