//! Runs with Terraform or OpenTofu themselves: their programs are driven in the directory of the run, with the state where the Stack says.
//! What they say becomes what a Run says; what they would start against the will of a Stack is refused before they are run.

mod plan;
mod said;
mod tool;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use groma_engines::{InitWish, Line, Program, Wishes, drive, programs_of_root, programs_of_tree};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::backend::{BackendWishes, PathOverrides};
use groma_run::session::{Session, Start};
use groma_run::state::{PlainCodec, State, StateCodec as _, decode};
use groma_run::state_access::{LockWish, StateAccess};
use serde::{Deserialize, Serialize};

use super::redaction::Redaction;
use super::result::{Ended, Planned, Problem, Stopped, told};
use super::{Overseer, Task, Verdict, Work};
use super::{guard, layout};
use crate::api::run::{FailureKind, PlanCounts, Told};
use crate::bundle::Content;
use said::{Said, kind_of, summary};
pub use tool::Engines;
pub(super) use tool::clear;
pub(crate) use tool::kind as kind_of_engine;

/// What is known about which versions of providers are used.
const LOCK_FILE: &str = ".terraform.lock.hcl";
/// Values that came as texts.
const TEXTS: &str = ".groma-run.texts.tfvars.json";
/// Where we note what the engine notes in a directory of its own.
const OWN_DATA: &str = ".groma-run.data";
/// There is something to do.
const CHANGES: u8 = 2;
/// How to allow what is refused.
const ADVICE: &str = "Set spec.allowExec to allow it.";

/// A run that ended early. Boxed, since it says a lot.
type Early = Box<Ended>;

/// What is kept of a plan that somebody has to agree to.
#[derive(Serialize, Deserialize)]
struct Kept {
    plan: Content,
    /// Another version of a provider would not carry it out.
    lock: Content,
}

/// Does it with another engine.
pub(super) fn perform(work: &Work<'_>, directory: &Path, task: &Task<'_>, overseer: &dyn Overseer) -> Ended {
    let start = layout::start(work, directory);
    let root = start.working_dir.clone();
    if let Some(advice) = &start.bounds.no_plugins {
        let detail = format!("spec.engine: it is a program that can do whatever the operator can. {advice}");
        return Ended::failed(FailureKind::Invalid, Diagnostic::error("Engine not allowed here", detail).into());
    }
    let mut session = Session::new(start);
    let Some(kind) = tool::kind(work.bundle.engine) else {
        return Ended::failed(FailureKind::Invalid, Diagnostic::error("Unknown engine", "This is a bug.").into());
    };
    let program = match tool::program(work, kind, &root, matches!(task, Task::Look { .. })) {
        Ok(program) => program,
        Err(problem) => return Ended::failed(FailureKind::Invalid, problem.into()),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(problem) => {
            let found = Diagnostic::error("Engine failed to start", format!("{problem}."));
            return Ended::failed(FailureKind::Transient, found.into());
        }
    };
    let run = Stock { work, kind, program, runtime, directory, root };
    run.go(&mut session, task, overseer).unwrap_or_else(|early| *early)
}

struct Stock<'a> {
    work: &'a Work<'a>,
    kind: groma_engines::Kind,
    program: Program,
    runtime: tokio::runtime::Runtime,
    /// All files of the run.
    directory: &'a Path,
    /// The root module in it.
    root: PathBuf,
}

impl Stock<'_> {
    fn go(&self, session: &mut Session, task: &Task<'_>, overseer: &dyn Overseer) -> Result<Ended, Early> {
        self.look_at_root(session)?;
        let kept = self.unpack(task)?;
        if matches!(task, Task::Look { .. }) {
            self.copy_state(session)?;
        }
        self.init()?;
        tool::clear_files(self.kind, self.directory);
        // What was fetched is found only by who looks anew.
        *session = Session::new(session.start().clone());
        let variables = self.look_at_tree(session)?;
        self.choose_workspace(matches!(task, Task::Look { .. }))?;
        let mut lock = self.lock(session, task)?;
        let done = self.plan_and_apply(session, task, (kept, &variables), overseer);
        for problem in lock.iter_mut().flat_map(|(access, _)| access.unlock()) {
            tracing::warn!(summary = problem.summary, detail = problem.detail, "a lock was not given back");
        }
        done
    }

    fn plan_and_apply(
        &self,
        session: &mut Session,
        task: &Task<'_>,
        (kept, variables): (bool, &[String]),
        overseer: &dyn Overseer,
    ) -> Result<Ended, Early> {
        let stopped = |session: &Session, stopped: Stopped| Box::new(stopped.ended(session.sources()));
        overseer.planning().map_err(|early| stopped(session, early))?;
        let (said, destroy) = match task {
            Task::Apply { .. } => (Said::default(), kept),
            Task::Plan { destroy } | Task::Look { destroy, .. } => {
                let is_look = matches!(task, Task::Look { .. });
                let found = guard::seen(&self.state()?);
                let doubt = self.work.judge(found.as_ref(), *destroy, overseer);
                let (planned, said) = self.plan(session, *destroy, variables)?;
                let planned = Planned { doubt, ..planned };
                let verdict = overseer.planned(&planned).map_err(|early| stopped(session, early))?;
                if is_look || verdict == Verdict::Leave {
                    let state = self.state()?;
                    let ended = Ended::left(planned, &state, &Diagnostics::new(), session.sources());
                    return Ok(Ended { told: said.told(), ..ended });
                }
                (said, *destroy)
            }
        };
        self.apply(session, destroy, &said)
    }

    /// Locks the state where we can show that we are still there: the lock of an engine that was killed would stay. The engine then does not lock
    /// it. Elsewhere it does.
    fn lock(&self, session: &Session, task: &Task<'_>) -> Result<Option<(StateAccess, Session)>, Early> {
        if matches!(task, Task::Look { .. }) || !self.locks_itself() {
            return Ok(None);
        }
        // Where there is no state, the engine makes one when it first looks, and locks that, whatever is said about it.
        self.state()?;
        // What the engine notes about the backend is for itself.
        let mut own = Session::new(Start { data_dir: OWN_DATA.into(), ..session.start().clone() });
        let mut access = open_state(&mut own).map_err(|found| failed(FailureKind::Transient, found, &own))?;
        let patient = || self.work.stop_if_asked().is_ok();
        let locked = access.lock_patiently("OperationTypeApply", LockWish::default(), &patient);
        if let Err(early) = self.stop_if_asked() {
            let _ = access.unlock();
            return Err(early);
        }
        locked.map_err(|found| Box::new(Stopped::of(found).ended(own.sources())))?;
        Ok(Some((access, own)))
    }

    fn locks_itself(&self) -> bool {
        self.work.bundle.backend.kind == "kubernetes"
    }

    /// What must hold before the engine is run at all: it works on the state of the Stack, and starts nothing that it may not.
    fn look_at_root(&self, session: &mut Session) -> Result<(), Early> {
        let (root, _) = session.load_root();
        let holds = root.backend.as_ref().map(|backend| backend.header);
        layout::check_backend(holds, session.sources()).map_err(|problem| invalid(problem, session))?;
        if !self.work.bundle.allow_exec {
            let found = programs_of_root(session, ADVICE);
            if found.has_errors() {
                return Err(invalid(found, session));
            }
        }
        Ok(())
    }

    /// The same for all modules. Gives how values of variables are handed on.
    fn look_at_tree(&self, session: &mut Session) -> Result<Vec<String>, Early> {
        if !self.work.bundle.allow_exec {
            let found = programs_of_tree(session, ADVICE);
            if found.has_errors() {
                return Err(invalid(found, session));
            }
        }
        // What is wrong with it is for the engine to say.
        let inputs = session.load().inputs;
        let mut texts = BTreeMap::new();
        for name in self.work.bundle.inputs.texts.keys() {
            let value =
                inputs.get(name.as_str()).and_then(|input| groma_model::codec::json::encode_plain(&input.value).ok());
            texts.extend(value.and_then(|text| Some((name, serde_json::from_str::<serde_json::Value>(&text).ok()?))));
        }
        let texts = serde_json::json!(texts).to_string();
        layout::write_private(&self.root.join(TEXTS), texts.as_bytes()).map_err(|problem| transient(&problem))?;
        let own = self.work.bundle.var_files.iter().filter_map(|path| crate::inputs::below(path));
        let own = own.map(|path| self.directory.join(path).display().to_string());
        let mut all = vec![layout::VALUES.to_owned(), TEXTS.to_owned()];
        let at = if self.work.bundle.var_files_win { all.len() } else { 0 };
        all.splice(at..at, own);
        Ok(all.into_iter().map(|file| format!("-var-file={file}")).collect())
    }

    /// Lays a plan out that was made before. Gives whether it takes everything down.
    fn unpack(&self, task: &Task<'_>) -> Result<bool, Early> {
        let Task::Apply { plan, destroy } = task else { return Ok(false) };
        let kept: Kept = serde_json::from_slice(plan).map_err(|problem| transient(&problem))?;
        let write = |name: &str, Content(content): &Content| layout::write_private(&self.root.join(name), content);
        write(layout::PLAN, &kept.plan).map_err(|problem| transient(&problem))?;
        if !kept.lock.0.is_empty() {
            write(LOCK_FILE, &kept.lock).map_err(|problem| transient(&problem))?;
        }
        Ok(*destroy)
    }

    /// Who only looks must not write, and these engines write a state where there is none: they look at a copy.
    fn copy_state(&self, session: &mut Session) -> Result<(), Early> {
        let (root, _) = session.load_root();
        let wishes = BackendWishes { reconfigure: true, ..BackendWishes::default() };
        let (ready, found) = session.init_backend(&root, wishes, None);
        if ready.is_none() {
            return Err(failed(FailureKind::Transient, found, session));
        }
        let state = session.stored_state().map_err(|found| failed(FailureKind::Transient, found, session))?;
        if let Some(state) = state {
            let copy = self.root.join(layout::copy_of_state(self.work.bundle));
            fs::create_dir_all(copy.parent().unwrap_or(&self.root)).map_err(|problem| transient(&problem))?;
            groma_run::state::write_file(&copy, &state).map_err(|problem| transient(&problem))?;
        }
        layout::put_copy(self.work.bundle, self.directory).map_err(|problem| transient(&problem))?;
        // It would be asked what is to become of the state elsewhere.
        let _ = fs::remove_dir_all(self.root.join(&session.start().data_dir));
        Ok(())
    }

    /// Asks the engine for something that must go well.
    fn have(&self, arguments: &[&str]) -> Result<String, Early> {
        self.have_from(&self.program, arguments)
    }

    fn have_from(&self, program: &Program, arguments: &[&str]) -> Result<String, Early> {
        let words: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        let asked = self.runtime.block_on(program.ask_until(&words, None, &self.work.interrupt));
        let answer = asked.map_err(|problem| Ended::failed(FailureKind::Transient, problem.into()))?;
        self.stop_if_asked()?;
        if answer.is_good() {
            return Ok(answer.out);
        }
        let told = said::of_answer(self.kind, arguments, &answer);
        Err(Box::new(ended_with(vec![told])))
    }

    fn stop_if_asked(&self) -> Result<(), Early> {
        self.work.stop_if_asked().map_err(|stopped| Box::new(stopped.ended(&groma_model::span::SourceMap::new())))
    }

    /// Fetches modules and plugins. Plugins are kept between runs, in a directory that the engines do not lock against each other: who
    /// finds somebody else there fetches its own.
    fn init(&self) -> Result<(), Early> {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.try_lock().ok();
        let mut program = self.program.clone();
        let cache = self.work.workshop.cache.join("plugins-of-engines");
        if alone.is_some() && fs::create_dir_all(&cache).is_ok() {
            let environment = program.environment.get_or_insert_default();
            environment.entry("TF_PLUGIN_CACHE_DIR".to_owned()).or_insert_with(|| cache.display().to_string());
            // The directory of a run has no lock file of before that could suffer.
            environment.insert("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE".to_owned(), "1".to_owned());
        }
        self.have_from(&program, &["init", "-input=false", "-no-color"]).map(|_| ())
    }

    fn choose_workspace(&self, is_look: bool) -> Result<(), Early> {
        match self.work.bundle.workspace.as_deref() {
            None | Some("default") => Ok(()),
            // It is known from the environment, where nothing is written.
            Some(_) if is_look => Ok(()),
            Some(name) => self.have(&["workspace", "select", "-or-create=true", name]).map(|_| ()),
        }
    }

    fn plan(&self, session: &mut Session, destroy: bool, variables: &[String]) -> Result<(Planned, Said), Early> {
        let mut words = vec!["plan".to_owned(), "-detailed-exitcode".to_owned(), format!("-out={}", layout::PLAN)];
        words.extend(destroy.then(|| "-destroy".to_owned()));
        words.extend(variables.iter().cloned());
        words.extend(self.work.bundle.targets.iter().map(|target| format!("-target={target}")));
        let (code, said) = self.drive(session, words, destroy)?;
        self.stop_if_asked()?;
        if !matches!(code, 0 | CHANGES) {
            return Err(Box::new(ended_with(said.told())));
        }
        let json = self.have(&["show", "-json", layout::PLAN])?;
        let text = self.have(&["show", "-no-color", layout::PLAN])?;
        let state = self.state()?;
        let read = plan::read(&json, self.kind, &state).map_err(|problem| transient(&problem))?;
        let file = |name: &str| Content(fs::read(self.root.join(name)).unwrap_or_default());
        let kept = Kept { plan: file(layout::PLAN), lock: file(LOCK_FILE) };
        let redaction = Redaction::new(&self.work.bundle.inputs);
        let planned = Planned {
            id: read.id,
            bytes: serde_json::to_vec(&kept).unwrap_or_default(),
            text: redaction.clean(&text),
            counts: super::counted(&read.changes),
            changes: read.changes,
            drifted: redaction.clean_all(read.drifted),
            is_empty: code == 0,
            changes_json: (!self.work.bundle.webhooks.is_empty()).then(|| super::shown::changes(&read.document)),
            doubt: None,
            document: self.work.wants_document().then_some(read.document),
        };
        Ok((planned, said))
    }

    fn apply(&self, session: &mut Session, destroy: bool, before: &Said) -> Result<Ended, Early> {
        let words = vec!["apply".to_owned(), layout::PLAN.to_owned()];
        let (code, said) = self.drive(session, words, destroy)?;
        let mut told = before.told();
        told.extend(said.told());
        let problem = (code != 0).then(|| {
            let kind = if said.is_not_ready() { FailureKind::NotReady } else { kind_of(&told) };
            Problem { kind, message: summary(&told) }
        });
        // What was done is known, even if nobody answers what there is now.
        let state = self.state().ok();
        let kept = state.as_ref().and_then(|state| PlainCodec.encode(state).ok());
        let after = state.map(|state| Ended { kept_state: kept, ..Ended::after(&state) }).unwrap_or_default();
        Ok(Ended { problem, done: Some(said.counts()), told: said::first_of(told), ..after })
    }

    /// Has the engine carry a command out, and hears what it says.
    fn drive(&self, session: &mut Session, mut words: Vec<String>, destroy: bool) -> Result<(u8, Said), Early> {
        let most = format!("-parallelism={}", self.work.parallelism());
        words.splice(1..1, ["-json".to_owned(), "-input=false".to_owned(), most]);
        if self.locks_itself() {
            words.insert(1, "-lock=false".to_owned());
        }
        let line = Line::read(&words, &[]).map_err(|problem| Ended::failed(FailureKind::Invalid, problem.into()))?;
        let wishes = Wishes {
            kind: self.kind,
            binary: Some(self.program.path.clone()),
            search: None,
            line: if destroy { line.taking_down() } else { line },
            init: InitWish::Never,
            environment: self.program.environment.clone(),
            on_terminal: false,
            hand_on: self.work.interrupt.clone(),
            stop: self.work.interrupt.clone(),
            last_resort: self.program.last_resort.clone(),
            starter: self.program.starter.clone(),
        };
        let said = Said::default();
        let outcome = drive(session, &wishes, &said);
        said.add(told(&outcome.diagnostics, session.sources()));
        Ok((outcome.code, said))
    }

    /// The state as it is now.
    fn state(&self) -> Result<State, Early> {
        // Nobody who asks to end wants to lose what is known.
        let words = ["state".to_owned(), "pull".to_owned()];
        let answer = self.runtime.block_on(self.program.ask(&words, None));
        let answer = answer.map_err(|problem| Ended::failed(FailureKind::Transient, problem.into()))?;
        if !answer.is_good() {
            return Err(Box::new(ended_with(vec![said::of_answer(self.kind, &["state", "pull"], &answer)])));
        }
        if answer.out.trim().is_empty() {
            return Ok(State::default());
        }
        decode(&answer.out).map_err(|problem| transient(&problem))
    }
}

/// Opens the state where the configuration says.
fn open_state(session: &mut Session) -> Result<StateAccess, Diagnostics> {
    let (root, _) = session.load_root();
    let wishes = BackendWishes { reconfigure: true, ..BackendWishes::default() };
    match session.init_backend(&root, wishes, None) {
        (Some(_), _) => StateAccess::open(session, &PathOverrides::default()),
        (None, found) => Err(found),
    }
}

fn failed(kind: FailureKind, found: Diagnostics, session: &Session) -> Early {
    Box::new(Stopped::Failed(kind, found).ended(session.sources()))
}

fn invalid(found: impl Into<Diagnostics>, session: &Session) -> Early {
    failed(FailureKind::Invalid, found.into(), session)
}

fn transient(problem: &dyn std::fmt::Display) -> Early {
    let found = Diagnostic::error("The engine's work could not be used", format!("{problem}."));
    Box::new(Ended::failed(FailureKind::Transient, found.into()))
}

fn ended_with(told: Vec<Told>) -> Ended {
    let problem = Some(Problem { kind: kind_of(&told), message: summary(&told) });
    Ended { problem, told: said::first_of(told), ..Ended::default() }
}

/// Nothing was counted.
const NOTHING: PlanCounts = PlanCounts { add: 0, change: 0, destroy: 0, import: 0, forget: 0 };
