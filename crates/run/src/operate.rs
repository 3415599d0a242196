//! Operations: the only way to plan and apply. An [`Operation`] is a working directory ready for work: its configuration loaded,
//! its providers found, its state read and locked. How anything is shown is not decided here.

mod counting;
mod hosts;
mod importing;
mod listing;
mod log;
mod open;
pub(crate) mod providers;
mod reused;
mod safety;
mod saving;
mod timings;
mod traced;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use groma_engine::apply::{self, Applied};
use groma_engine::events::{Events, Silence, Skipped};
use groma_engine::interrupt::Interrupt;
use groma_engine::plan::listing::Listing;
use groma_engine::plan::{self, Options, Plan};
use groma_engine::providers::Providers;
use groma_engine::provision::Provisioners;
use groma_engine::replacement::ModeSource;
use groma_lang::config::Variable;
use groma_lang::environment::Environment as _;
use groma_lang::load::ModuleTree;
use groma_lang::oracle::NothingExists;
use groma_lang::walk::{InputValue, Purpose, Settings, Walk};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use groma_rules::Rules;
use groma_state::State;

use crate::backend::Target;
use crate::providers::{BookOracle, Locks, ProviderAccess, ProviderBook};
use crate::saved_plan::{Contents, SavedPlan, Snapshot};
use crate::session::Session;
use crate::state_access::StateAccess;
pub use crate::state_access::{LockWish, PathOverrides};
use crate::trace;
use counting::Counting;
pub use counting::Counts;
use hosts::Hosts;
use log::{Circumstances, RunLog};
use providers::BookProviders;
use timings::{Part, Timings};

/// What is done, for those who find the state locked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    /// A plan is made.
    #[default]
    Plan,
    /// A plan is made and carried out, or carried out.
    Apply,
    /// Everything is taken down.
    Destroy,
    /// The state is brought up to date.
    Refresh,
    /// Objects that exist already are taken in.
    Import,
    /// Something that only looks.
    Other,
}

impl Kind {
    /// As others are told.
    pub fn lock_name(self) -> &'static str {
        match self {
            Self::Plan => "OperationTypePlan",
            Self::Apply | Self::Destroy => "OperationTypeApply",
            Self::Refresh => "OperationTypeRefresh",
            Self::Import => "import",
            Self::Other => "OperationTypeInvalid",
        }
    }
}

/// Asks for the value of a variable that must have one. None if nobody answers.
pub type VariablePrompt = Option<Box<dyn FnMut(&Variable) -> Option<String>>>;

/// What an operation is started with.
#[derive(Default)]
pub struct Wishes {
    /// Whether the state is locked.
    pub lock: LockWish,
    /// Files instead of those of the backend.
    pub paths: PathOverrides,
    /// What is going to be done.
    pub kind: Kind,
    /// How missing values of variables are asked for. None if they are not.
    pub variables: VariablePrompt,
    /// Is asked again and again while somebody else has the lock: whether to go on waiting.
    pub patience: Option<Box<dyn Fn() -> bool>>,
}

/// Who watches, and who may stop it.
#[derive(Clone)]
pub struct Watch {
    /// Is told what happens.
    pub events: Arc<dyn Events>,
    /// Says when to stop.
    pub interrupt: Interrupt,
}

impl Default for Watch {
    fn default() -> Self {
        Self { events: Arc::new(Silence), interrupt: Interrupt::default() }
    }
}

/// What came of an apply.
pub struct Outcome {
    /// What there is now.
    pub state: Arc<State>,
    /// What went wrong, and what is to be said besides.
    pub diagnostics: Diagnostics,
    /// How many objects were made, changed and so on.
    pub counts: Counts,
    /// What was planned and not begun, because something that it needs failed.
    pub skipped: Vec<Skipped>,
    /// How long it took.
    pub duration: Duration,
    /// The state as text, if it could be stored nowhere: whoever shows the outcome shows this, too.
    pub unsaved: Option<String>,
}

/// A working directory that is ready for work.
pub struct Operation {
    access: ProviderAccess,
    tree: ModuleTree,
    /// What is said beside it, for us alone.
    rules: Rules,
    inputs: BTreeMap<Str, InputValue>,
    providers: Arc<BookProviders>,
    storage: StateAccess,
    state: Arc<State>,
    /// The configuration, as it was read.
    snapshot: Snapshot,
    /// Which providers are used.
    locks: Locks,
    /// How they are named in the state.
    hosts: Hosts,
    provisioners: Arc<dyn Provisioners>,
    /// What keeping the state costs.
    timings: Timings,
    /// When the plan is made, or was made.
    time: (i64, u32),
    /// What is listed besides a plan.
    listing: Option<Arc<Listing>>,
}

impl Operation {
    /// Makes a working directory ready: loads the configuration, finds the providers, locks and reads the state.
    pub fn open(session: &mut Session, access: ProviderAccess, wishes: Wishes) -> (Option<Operation>, Diagnostics) {
        open::open(session, access, wishes)
    }

    /// Makes a working directory ready to carry out a plan that was saved: with the configuration and the values that it was
    /// made from, if nothing else has changed since.
    pub fn open_saved(
        session: &mut Session,
        access: ProviderAccess,
        saved: &SavedPlan,
        wishes: Wishes,
    ) -> (Option<(Operation, Plan)>, Diagnostics) {
        open::open_saved(session, access, saved, wishes)
    }

    /// With something else that runs provisioners than what is built in.
    pub fn with_provisioners(mut self, provisioners: Arc<dyn Provisioners>) -> Operation {
        self.provisioners = provisioners;
        self
    }

    /// What there is, as last seen.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The configuration.
    pub fn tree(&self) -> &ModuleTree {
        &self.tree
    }

    /// The values of the root module's variables, as given.
    pub fn inputs(&self) -> &BTreeMap<Str, InputValue> {
        &self.inputs
    }

    /// The providers and their schemas.
    pub fn book(&self) -> &ProviderBook {
        self.providers.book()
    }

    /// The state's storage.
    pub fn storage(&self) -> &StateAccess {
        &self.storage
    }

    /// When the plan is made, or was made.
    pub fn time(&self) -> (i64, u32) {
        self.time
    }

    /// Works out what is to be done. Nothing is changed. A configuration that is not valid is planned no further.
    pub fn plan(&mut self, session: &Session, options: &Options, watch: &Watch) -> (Option<Plan>, Diagnostics) {
        let span = trace::phase("plan");
        let (plan, diagnostics) = span.in_scope(|| self.make_plan(session, options, watch));
        if diagnostics.has_errors() {
            trace::failed(&span);
        }
        (plan, diagnostics)
    }

    fn make_plan(&mut self, session: &Session, options: &Options, watch: &Watch) -> (Option<Plan>, Diagnostics) {
        let recovered = self.look_for_doubtful(session, watch);
        let oracle = NothingExists(BookOracle::new(self.providers.book(), Some(&self.access)));
        let settings = session.settings(Purpose::Validate, &oracle);
        let about_rules = groma_rules::check(&self.rules, &self.tree, &oracle, &settings);
        let (_, mut diagnostics) = Walk::run(&self.tree, settings, &self.inputs);
        diagnostics.extend(about_rules);
        diagnostics.extend(oracle.0.take_problems());
        diagnostics.extend(recovered);
        if diagnostics.has_errors() {
            diagnostics.sort(session.sources());
            return (None, diagnostics);
        }
        self.time = session.machine().now();
        let provider_versions = self.provider_versions();
        let request = plan::Request {
            rules: &self.rules,
            tree: &self.tree,
            inputs: &self.inputs,
            settings: self.settings(session, &oracle),
            schemas: &oracle.0,
            providers: Arc::clone(&self.providers) as Arc<dyn Providers>,
            state: &self.state,
            options: &self.heeding_rules(options),
            events: Arc::clone(&watch.events),
            interrupt: watch.interrupt.clone(),
            provider_versions: &provider_versions,
            listing: self.listing.clone(),
        };
        let (plan, found) = match self.access.online.wait(plan::plan(request)) {
            Ok(planned) => planned,
            Err(problem) => (None, problem.into()),
        };
        // Warnings of the configuration were given when it was checked.
        add_new(&mut diagnostics, found);
        add_new(&mut diagnostics, oracle.0.take_problems());
        diagnostics.extend(self.deprecated_inputs());
        diagnostics.sort(session.sources());
        (plan, diagnostics)
    }

    /// What the root module says about rules holds where the user says nothing.
    fn heeding_rules(&self, options: &Options) -> Options {
        let mut options = options.clone();
        let replacement = &mut options.replacement;
        if let (ModeSource::Default, Some(mode)) = (replacement.mode_source, self.rules.replace.settings.mode) {
            replacement.mode = mode;
            replacement.mode_source = ModeSource::Settings;
        }
        options
    }

    /// Those that the lock file names.
    fn provider_versions(&self) -> BTreeMap<groma_model::address::Provider, String> {
        let locked = self.locks.iter();
        locked.map(|lock| (lock.provider.clone(), lock.version.to_string())).collect()
    }

    /// Who gives values to variables that should not be used any more is told.
    fn deprecated_inputs(&self) -> Diagnostics {
        let given =
            self.tree.root.module.variables.values().filter(|variable| self.inputs.contains_key(&variable.name));
        let warnings = given.filter_map(|variable| {
            let message = variable.deprecated.as_ref()?;
            let detail = format!(
                "The root variable {:?} is deprecated with the following message: {message}",
                variable.name.as_str()
            );
            let summary = "Deprecated variable used from the root module";
            Some(Diagnostic::warning(summary, detail).at(variable.declared.header))
        });
        warnings.collect()
    }

    fn settings<'a>(&self, session: &'a Session, oracle: &'a dyn groma_lang::oracle::ResourceOracle) -> Settings<'a> {
        Settings { plan_time: Some(self.time), ..session.settings(Purpose::Evaluate, oracle) }
    }

    /// Carries a plan out. What was done is stored as it goes, and in any case at the end.
    pub fn apply(&mut self, session: &Session, plan: &Plan, watch: &Watch) -> Outcome {
        let began = saving::now();
        if plan.errored {
            let detail = "There were errors while the plan was made, so it cannot be carried out.";
            let diagnostics = Diagnostic::error("Cannot apply incomplete plan", detail).into();
            let (state, counts, skipped) = (Arc::clone(&self.state), Counts::default(), Vec::new());
            return Outcome { state, diagnostics, counts, skipped, duration: began.elapsed(), unsaved: None };
        }
        let counting = Arc::new(Counting::new(Arc::clone(&watch.events)));
        let span = trace::phase("apply");
        let applied = span.in_scope(|| self.carry_out(session, plan, watch, Arc::clone(&counting) as Arc<dyn Events>));
        let Applied { mut state, mut diagnostics, skipped } = applied;
        if diagnostics.has_errors() {
            trace::failed(&span);
        }
        drop(span);
        self.hosts.name(&mut state);
        let since = self.timings.begin();
        let (found, unsaved) = saving::save_finally(&mut self.storage, &mut state, &session.start().working_dir);
        self.timings.done(since, Part::Closing);
        self.timings.write(began.elapsed());
        diagnostics.extend(found);
        diagnostics.extend(self.storage.notices());
        diagnostics.sort(session.sources());
        let counts = counting.counts(plan, &state);
        // What is planned next starts from here.
        self.state = Arc::new(state);
        Outcome { state: Arc::clone(&self.state), diagnostics, counts, skipped, duration: began.elapsed(), unsaved }
    }

    fn carry_out(&mut self, session: &Session, plan: &Plan, watch: &Watch, events: Arc<dyn Events>) -> Applied {
        let oracle = NothingExists(BookOracle::new(self.providers.book(), Some(&self.access)));
        let settings = self.settings(session, &oracle);
        let since = self.timings.begin();
        let journal = match self.storage.begin() {
            Ok(journal) => journal,
            Err(diagnostics) => {
                return Applied { state: self.state.as_ref().clone(), diagnostics, skipped: Vec::new() };
            }
        };
        self.timings.done(since, Part::Opening);
        let circumstances = Circumstances {
            hosts: self.hosts.clone(),
            machine: session.machine().clone(),
            interrupt: watch.interrupt.clone(),
            timings: self.timings.clone(),
        };
        let (log, clerks) = RunLog::start(journal, self.storage.ledger(), circumstances);
        let request = apply::Request {
            plan,
            rules: &self.rules,
            tree: &self.tree,
            inputs: &self.inputs,
            settings,
            schemas: &oracle.0,
            providers: Arc::clone(&self.providers) as Arc<dyn Providers>,
            parallelism: plan.options.parallelism,
            events,
            provisioners: Arc::clone(&self.provisioners),
            interrupt: watch.interrupt.clone(),
            logbook: log,
        };
        let applied = self.access.online.wait(apply::apply(request));
        clerks.finish();
        let mut applied = applied.unwrap_or_else(|problem| Applied {
            state: self.state.as_ref().clone(),
            diagnostics: problem.into(),
            skipped: Vec::new(),
        });
        add_new(&mut applied.diagnostics, oracle.0.take_problems());
        applied
    }

    /// Stores a state that was looked up, with nothing carried out.
    pub fn save_state(&mut self, session: &Session, state: &mut State) -> Diagnostics {
        self.hosts.name(state);
        saving::save_finally(&mut self.storage, state, &session.start().working_dir).0
    }

    /// Makes sure that a plan can be written down, before it is made.
    pub fn prepare_saving(&self) -> Result<(), Diagnostics> {
        self.storage.plan_encryption().map_or(Ok(()), Target::prepare).map_err(|problem| {
            Diagnostic::error(
                "Unable to fetch encryption key data",
                format!("The plan cannot be encrypted: {problem}."),
            )
            .into()
        })
    }

    /// Writes a plan down, to be carried out later. Gives its id.
    pub fn save_plan(&self, session: &Session, plan: &Plan, path: &Path) -> Result<String, Diagnostics> {
        let contents = Contents {
            plan,
            time: self.time,
            inputs: &self.inputs,
            declared: &self.tree.root.module.variables,
            configuration: &self.snapshot,
            locks: &self.locks,
            backend: &self.storage.record(),
            state: &self.state,
        };
        SavedPlan::save(&session.start().working_dir.join(path), &contents, self.storage.plan_encryption())
    }

    /// Gives the lock back and ends the providers.
    pub fn close(mut self) -> Diagnostics {
        self.providers.book().close(&self.access.online);
        self.storage.unlock()
    }
}

/// Adds what was not said yet.
pub(crate) fn add_new(diagnostics: &mut Diagnostics, found: Diagnostics) {
    let key = |known: &Diagnostic| {
        (
            known.subject.map(|span| format!("{span:?}")),
            known.summary.clone(),
            known.detail.clone(),
            known.address.clone(),
        )
    };
    let known: BTreeSet<_> = diagnostics.iter().map(key).collect();
    diagnostics.extend(found.into_iter().filter(|found| !known.contains(&key(found))).collect::<Diagnostics>());
}
