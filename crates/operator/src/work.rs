//! Carrying a bundle out: a directory is laid out, modules and providers are fetched, a plan is made, and carried out. Everything here
//! blocks, and belongs on a thread of its own. Nothing here knows of clusters, Runs or who agrees to plans: that is asked for.

pub mod around;
mod bounds;
pub mod guard;
mod layout;
pub mod networks;
mod phased;
mod redaction;
mod result;
mod shown;
mod stock;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_fetch::credentials::tokens_from_variables;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::version::Version;
use groma_network::Networks;
use groma_run::backend::BackendWishes;
use groma_run::cli_config::CliConfig;
use groma_run::engine::change::{Action as ChangedBy, Change};
use groma_run::engine::interrupt::Interrupt;
use groma_run::engine::plan::{Mode, Options, Plan};
use groma_run::modules::{InstallSettings, ModuleObserver};
use groma_run::online::Online;
use groma_run::operate::{Kind, LockWish, Operation, Outcome, Watch, Wishes};
use groma_run::progress::{Progress, Silent};
use groma_run::providers::requirements;
use groma_run::providers::{Event, InstallOptions, Observer, ProviderAccess, ProviderChoice};
use groma_run::session::{Cluster, LockManners, Session};
use groma_run::showing;
use groma_run::trace;
use groma_run::view::plan::{PlanView, plan_json};
use serde_json::Value as Json;

use crate::api::run::{FailureKind, PlanCounts};
use crate::api::stack::{ChangeAction, ReadablePlan};
use crate::api::upkeep::{Orphan, StateDoubt, StateSeen};
use crate::bundle::Bundle;
pub(crate) use redaction::Redaction;
pub use result::{Ended, Output, Planned, PlannedChange, Problem, Stopped};
pub use stock::Engines;

/// What is the same for all runs of a process.
#[derive(Clone)]
pub struct Workshop {
    /// Where directories of runs are made.
    pub scratch: PathBuf,
    /// What is kept between runs: packages of providers and their schemas.
    pub cache: PathBuf,
    /// Variables that every run has in its environment.
    pub environment: BTreeMap<String, String>,
    /// How the place is reached where states are kept, unless a Stack says otherwise: what stands in its `backend` block.
    pub home: BTreeMap<String, serde_json::Value>,
    /// The same, for those in this process, if that place is a cluster that we are connected to.
    pub cluster: Option<Cluster>,
    /// The directory that states are in, if they are kept in files.
    pub states: Option<PathBuf>,
    /// Where packages of providers come from.
    pub cli_config: CliConfig,
    /// What is said from outside about which providers are used.
    pub choice: ProviderChoice,
    /// What runs may use of this process.
    pub premises: Premises,
    /// Where Terraform and OpenTofu are, for Stacks that want them.
    pub engines: Engines,
    /// What sources of Stacks may be.
    pub sources: crate::sources::Premises,
    /// How a plan is shown to people.
    pub show: Arc<dyn Fn(&Plan) -> String + Send + Sync>,
}

/// What a run may use of the process that it is in.
#[derive(Debug, Clone, Default)]
pub struct Premises {
    /// Whether the process works for others as well: nothing of it is the run's then.
    pub shared: bool,
    /// Whether runs start programs even so: plugins of providers, and whatever Stacks allow.
    pub programs: bool,
    /// Directories beside its own in which a run may have files.
    pub files: Vec<PathBuf>,
    /// Where connections may lead that are made for a Stack. None for everywhere.
    pub networks: Option<Networks>,
}

/// Is told how a run goes, and decides about its plan.
pub trait Overseer {
    /// The configuration says itself where its state is kept, and that does not hold: `backend "s3" (main.tf:2)`.
    fn backend_overridden(&self, _block: &str) {}

    /// Somebody else has written the state since it was left: its serial then and now.
    fn state_moved(&self, _from: u64, _to: u64) {}

    /// An object that no state knows was deleted, as somebody has agreed to; or was not, and why.
    fn orphan_deleted(&self, _orphan: &Orphan, _problem: Option<&str>) {}

    /// Modules and providers are there; the plan is begun.
    fn planning(&self) -> Result<(), Stopped>;

    /// There is a plan. What is to become of it?
    fn planned(&self, plan: &Planned) -> Result<Verdict, Stopped>;
}

/// What becomes of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is carried out at once.
    CarryOut,
    /// It is kept, as bytes, or was only to be looked at.
    Leave,
}

/// What is to be done.
pub enum Task<'a> {
    /// A plan is made, to have everything as configured or to take everything down; and carried out if the overseer says so.
    Plan {
        /// Whether everything goes.
        destroy: bool,
    },
    /// A plan is made, shown to the overseer, and left. Nothing is locked: what is seen may be in the middle of something.
    Look {
        /// Whether everything would go.
        destroy: bool,
        /// A plan that does nothing is not worth showing.
        brief: bool,
    },
    /// A plan that was made before is carried out.
    Apply {
        /// Its bytes.
        plan: &'a [u8],
        /// Whether everything goes.
        destroy: bool,
    },
}

/// One run of a bundle.
pub struct Work<'a> {
    /// Where and with what.
    pub workshop: &'a Workshop,
    /// What it is about.
    pub bundle: &'a Bundle,
    /// What people know it by, in locks and directories.
    pub name: &'a str,
    /// The namespace of its Stack.
    pub namespace: &'a str,
    /// Ends it in an orderly way when it is asked.
    pub interrupt: Interrupt,
    /// How it locks its state.
    pub lock: LockManners,
    /// The state that was left, if that is known: another one is not trusted.
    pub state: Option<StateSeen>,
    /// Objects that no state knows, and that somebody has agreed to delete: what stands for exactly these.
    pub delete_orphans: Option<String>,
}

impl Work<'_> {
    /// Does it.
    pub fn perform(&self, task: &Task<'_>, overseer: &dyn Overseer) -> Ended {
        if self.bundle.inputs.only.is_empty() {
            self.at_once(task, overseer)
        } else {
            phased::perform(self, task, overseer)
        }
    }

    /// Does it with what is in the bundle, from its beginning to its end.
    fn at_once(&self, task: &Task<'_>, overseer: &dyn Overseer) -> Ended {
        let directory = match layout::lay_out(self.workshop, self.name, self.bundle) {
            Ok(directory) => directory,
            Err(problem) => return Ended::failed(FailureKind::Transient, problem.into()),
        };
        let other = stock::kind_of_engine(self.bundle.engine);
        if let Some(kind) = other {
            stock::clear(kind, directory.path(), self.bundle.allow_exec);
        }
        if !matches!(task, Task::Apply { .. })
            && let Some(block) = layout::own_backend(self, directory.path())
        {
            overseer.backend_overridden(&block);
        }
        if let Err(problem) = layout::put_backend(self.workshop, self.bundle, directory.path()) {
            return Ended::failed(FailureKind::Transient, problem.into());
        }
        let redaction = Redaction::new(&self.bundle.inputs);
        if other.is_some() {
            return redaction.clean_ended(stock::perform(self, directory.path(), task, overseer));
        }
        let mut session = Session::new(layout::start(self, directory.path()));
        let done = self.within(&mut session, task, overseer);
        let ended = done.unwrap_or_else(|stopped| stopped.ended(session.sources()));
        redaction.clean_ended(ended)
    }

    fn within(&self, session: &mut Session, task: &Task<'_>, overseer: &dyn Overseer) -> Result<Ended, Stopped> {
        let warnings = trace::phase("initialise").in_scope(|| self.prepare(session))?;
        overseer.planning()?;
        if matches!(task, Task::Plan { destroy: false }) {
            trace::phase("validate").in_scope(|| self.check(session))?;
        }
        let mut orphans = None;
        let (mut operation, plan, diagnostics) = match task {
            Task::Plan { destroy } | Task::Look { destroy, .. } => {
                let is_look = matches!(task, Task::Look { .. });
                let (mut operation, mut diagnostics) = self.open(session, *destroy, !is_look)?;
                let doubt = self.judge(guard::seen(operation.state()).as_ref(), *destroy, overseer);
                let plan = self.plan(session, &mut operation, *destroy, &mut diagnostics);
                if let Ok(plan) = &plan {
                    orphans = self.orphans(&operation, plan, overseer, &mut diagnostics);
                }
                if matches!(task, Task::Look { brief: true, .. }) && plan.as_ref().is_ok_and(does_nothing) {
                    let state = operation.state().clone();
                    diagnostics.extend(operation.close());
                    let ended = Ended::found_nothing(&state, &diagnostics, session.sources());
                    return Ok(Ended { orphans, ..ended });
                }
                let planned = plan.and_then(|plan| Ok((self.planned(session, &operation, &plan, doubt)?, plan)));
                let verdict = planned.and_then(|(planned, plan)| Ok((overseer.planned(&planned)?, plan, planned)));
                match verdict {
                    Ok((Verdict::CarryOut, plan, _)) if !is_look => (operation, plan, diagnostics),
                    Ok((_, _, planned)) => {
                        let state = operation.state().clone();
                        diagnostics.extend(operation.close());
                        let ended = Ended::left(planned, &state, &diagnostics, session.sources());
                        return Ok(Ended { orphans, ..ended });
                    }
                    Err(stopped) => {
                        let _ = operation.close();
                        return Err(stopped);
                    }
                }
            }
            Task::Apply { plan, .. } => self.open_saved(session, plan)?,
        };
        let watch = Watch { interrupt: self.interrupt.clone(), ..Watch::default() };
        let outcome = operation.apply(session, &plan, &watch);
        let kept = operation.storage().codec().encode(&outcome.state).ok();
        let closed = operation.close();
        let Outcome { state, diagnostics: found, counts, unsaved, .. } = outcome;
        let mut diagnostics = diagnostics;
        diagnostics.extend(warnings);
        diagnostics.extend(found);
        diagnostics.extend(closed);
        diagnostics.sort(session.sources());
        let ended = Ended::applied(&state, counts, unsaved, &diagnostics, session.sources());
        Ok(Ended { kept_state: kept.filter(|_| ended.state.is_some()), orphans, ..ended })
    }

    /// Whether the state that was found is the one that was left. Who is told that somebody else has written it is the overseer.
    fn judge(&self, found: Option<&StateSeen>, destroys: bool, overseer: &dyn Overseer) -> Option<StateDoubt> {
        match guard::judge(self.state.as_ref(), found, destroys) {
            guard::Judgement::AsLeft => None,
            guard::Judgement::MovedOn { from, to } => {
                overseer.state_moved(from, to);
                None
            }
            guard::Judgement::Doubt(doubt) => Some(doubt),
        }
    }

    /// Backend, modules and providers.
    fn prepare(&self, session: &mut Session) -> Result<Diagnostics, Stopped> {
        let invalid = |found| Stopped::Failed(FailureKind::Invalid, found);
        let mut warnings = Diagnostics::new();
        let (root, found) = session.load_root();
        if found.has_errors() {
            return Err(invalid(found));
        }
        let holds = root.backend.as_ref().map(|backend| backend.header);
        layout::check_backend(holds, session.sources()).map_err(|problem| invalid(problem.into()))?;
        warnings.extend(found);
        let online = self.online();
        let wishes = BackendWishes { reconfigure: true, ..BackendWishes::default() };
        let (ready, found) = session.init_backend(&root, wishes, None);
        if ready.is_none() {
            return Err(Stopped::Failed(FailureKind::Transient, found));
        }
        if !root.module_calls.is_empty() {
            let settings = InstallSettings { upgrade: false, only_installation_matters: true, test_dir: None };
            let found = session.install_modules(&online, settings, &Unheard);
            if found.has_errors() {
                return Err(Stopped::Failed(FailureKind::Transient, found));
            }
        }
        let loaded = session.load();
        let (Some(tree), false) = (&loaded.tree, loaded.diagnostics.has_errors()) else {
            return Err(invalid(loaded.diagnostics));
        };
        let (mut needed, found) = requirements::of_tree(tree);
        if found.has_errors() {
            return Err(invalid(found));
        }
        needed.add_state(&session.state_providers().map_err(|found| Stopped::Failed(FailureKind::Transient, found))?);
        let found = session.refused_providers(&needed);
        if found.has_errors() {
            return Err(invalid(found));
        }
        let installed = session.install_providers(&online, &needed, &InstallOptions::default(), Arc::new(Unheard));
        if installed.diagnostics.has_errors() {
            return Err(Stopped::Failed(FailureKind::Transient, installed.diagnostics));
        }
        self.stop_if_asked()?;
        Ok(warnings)
    }

    /// What is wrong with a configuration by itself is said as `groma validate` says it, before anybody is asked about objects.
    fn check(&self, session: &mut Session) -> Result<(), Stopped> {
        let found = session.validate(None, || (self.access(), Diagnostics::new()));
        let is_placed = || found.iter().filter(|one| one.is_error()).all(|one| one.subject.is_some());
        match found.has_errors() {
            false => Ok(()),
            true if is_placed() => Err(Stopped::Failed(FailureKind::Invalid, found)),
            true => Err(Stopped::of(found)),
        }
    }

    fn stop_if_asked(&self) -> Result<(), Stopped> {
        let asked = self.interrupt.urgency() != groma_run::engine::interrupt::Urgency::None;
        if asked { Err(Stopped::Asked) } else { Ok(()) }
    }

    fn online(&self) -> Online {
        let mut config = self.workshop.cli_config.clone();
        config.plugin_cache_dir.get_or_insert_with(|| self.workshop.cache.join("plugins"));
        // A Stack may have tokens of its own, which are of no use to others.
        config.environment_credentials.extend(tokens_from_variables(&self.bundle.inputs.environment));
        Online::new(config, self.workshop.environment.clone()).within(self.workshop.premises.networks.clone())
    }

    fn access(&self) -> ProviderAccess {
        ProviderAccess {
            online: self.online(),
            choice: self.workshop.choice.clone(),
            schema_cache: Some(self.workshop.cache.join("schemas")),
        }
    }

    fn wishes(&self, kind: Kind, locked: bool) -> Wishes {
        let interrupt = self.interrupt.clone();
        let patient = move || interrupt.urgency() == groma_run::engine::interrupt::Urgency::None;
        let lock = LockWish { wanted: locked, ..LockWish::default() };
        Wishes { lock, kind, patience: Some(Box::new(patient)), ..Wishes::default() }
    }

    fn open(&self, session: &mut Session, destroy: bool, locked: bool) -> Result<(Operation, Diagnostics), Stopped> {
        let kind = if destroy { Kind::Destroy } else { Kind::Apply };
        let (operation, diagnostics) = Operation::open(session, self.access(), self.wishes(kind, locked));
        match operation {
            Some(operation) => Ok((operation, diagnostics)),
            None => Err(Stopped::of(diagnostics)),
        }
    }

    fn open_saved(&self, session: &mut Session, plan: &[u8]) -> Result<(Operation, Plan, Diagnostics), Stopped> {
        let path = session.start().working_dir.join(layout::PLAN);
        let failed = |problem: std::io::Error| {
            let found = Diagnostic::error("Failed to write plan file", problem.to_string());
            Stopped::Failed(FailureKind::Transient, found.into())
        };
        layout::write_private(&path, plan).map_err(failed)?;
        let saved = session.open_plan(&path).map_err(Stopped::of)?;
        let (opened, diagnostics) =
            Operation::open_saved(session, self.access(), &saved, self.wishes(Kind::Apply, true));
        match opened {
            Some((operation, mut plan)) => {
                plan.options.parallelism = self.parallelism();
                Ok((operation, plan, diagnostics))
            }
            None => Err(Stopped::of(diagnostics)),
        }
    }

    fn parallelism(&self) -> usize {
        self.bundle.parallelism.and_then(|wanted| usize::try_from(wanted).ok()).unwrap_or(10)
    }

    fn plan(
        &self,
        session: &Session,
        operation: &mut Operation,
        destroy: bool,
        diagnostics: &mut Diagnostics,
    ) -> Result<Plan, Stopped> {
        let options = Options {
            mode: if destroy { Mode::Destroy } else { Mode::Normal },
            targets: layout::targets(&self.bundle.targets)?,
            parallelism: self.parallelism(),
            ..Options::default()
        };
        operation.look_around(around::wishes(self.bundle, destroy));
        let watch = Watch { interrupt: self.interrupt.clone(), ..Watch::default() };
        let (plan, found) = operation.plan(session, &options, &watch);
        diagnostics.extend(found);
        self.stop_if_asked()?;
        match plan {
            Some(plan) if !diagnostics.has_errors() && !plan.errored => Ok(plan),
            _ => Err(Stopped::of(std::mem::take(diagnostics))),
        }
    }

    fn planned(
        &self,
        session: &Session,
        operation: &Operation,
        plan: &Plan,
        doubt: Option<StateDoubt>,
    ) -> Result<Planned, Stopped> {
        let path = Path::new(layout::PLAN);
        let id = operation.save_plan(session, plan, path).map_err(Stopped::of)?;
        let bytes = std::fs::read(session.start().working_dir.join(path)).map_err(|problem| {
            let found = Diagnostic::error("Failed to read plan file", problem.to_string());
            Stopped::Failed(FailureKind::Transient, found.into())
        })?;
        let changes: Vec<PlannedChange> = plan.changes.iter().filter_map(planned_change).collect();
        let document = self.document(session, operation, plan)?;
        let is_asked_about = !self.bundle.webhooks.is_empty();
        let redaction = Redaction::new(&self.bundle.inputs);
        Ok(Planned {
            id: format!("plan-{}", &id[..id.len().min(32)]),
            bytes,
            text: redaction.clean(&(self.workshop.show)(plan)),
            counts: counted(&changes),
            changes,
            drifted: redaction.clean_all(plan.drift.iter().map(|change| change.address.to_string()).collect()),
            is_empty: plan.is_empty(),
            changes_json: document.as_ref().filter(|_| is_asked_about).map(shown::changes),
            document: document.filter(|_| self.wants_document()),
            doubt,
        })
    }

    /// Whether somebody wants to have all of a plan.
    pub(super) fn wants_document(&self) -> bool {
        self.bundle.plan_copy.as_ref().is_some_and(|copy| copy.readable == ReadablePlan::Json)
    }

    /// All of a plan, if somebody is asked about it or wants to have it: it takes a while for large ones.
    fn document(&self, session: &Session, operation: &Operation, plan: &Plan) -> Result<Option<Json>, Stopped> {
        if self.bundle.webhooks.is_empty() && !self.wants_document() {
            return Ok(None);
        }
        let book = operation.book();
        let view = PlanView {
            plan,
            variables: operation.inputs(),
            tree: operation.tree(),
            sources: session.sources(),
            schemas: &showing::schemas(book),
            identities: &|provider, kind| showing::identity(book, provider, kind),
            timestamp: &showing::moment(operation.time()),
        };
        plan_json(&view).map(Some).map_err(Stopped::of)
    }
}

/// Whether there is nothing to do, and nothing that others have done.
fn does_nothing(plan: &Plan) -> bool {
    plan.is_empty() && plan.drift.is_empty()
}

fn planned_change(change: &Change) -> Option<PlannedChange> {
    let action = match change.action {
        _ if change.importing.is_some() && change.action == ChangedBy::NoOp => ChangeAction::Import,
        ChangedBy::NoOp | ChangedBy::Read => return None,
        ChangedBy::Create => ChangeAction::Create,
        ChangedBy::Update => ChangeAction::Update,
        ChangedBy::Delete => ChangeAction::Delete,
        ChangedBy::Forget => ChangeAction::Forget,
        ChangedBy::DeleteThenCreate | ChangedBy::CreateThenDelete | ChangedBy::ForgetThenCreate => {
            ChangeAction::Replace
        }
    };
    let kind = change.address.instance.resource.ty.to_string();
    Some(PlannedChange { address: change.address.to_string(), kind, action })
}

fn counted(changes: &[PlannedChange]) -> PlanCounts {
    let mut counts = PlanCounts::default();
    for change in changes {
        match change.action {
            ChangeAction::Create => counts.add += 1,
            ChangeAction::Update => counts.change += 1,
            ChangeAction::Replace => {
                counts.add += 1;
                counts.destroy += 1;
            }
            ChangeAction::Delete => counts.destroy += 1,
            ChangeAction::Import => counts.import += 1,
            ChangeAction::Forget => counts.forget += 1,
        }
    }
    counts
}

/// Nobody watches.
struct Unheard;

impl ModuleObserver for Unheard {
    fn downloading(&self, _: &str, _: &str, _: Option<&Version>) {}

    fn installed(&self, _: &str, _: &Path) {}

    fn progress(&self) -> &dyn Progress {
        &Silent
    }
}

impl Observer for Unheard {
    fn observe(&self, _: Event) {}
}
