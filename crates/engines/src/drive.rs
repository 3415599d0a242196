//! One run of another engine, from before it begins until after what it left is settled. What is done about tainted objects is in
//! `settle`, about objects that an earlier run has left not ready in `waits`.

mod settle;
mod waits;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use groma_lang::load::{ModuleNode, ModuleTree};
use groma_model::address::{AbsInstance, ResourceMode};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;
use groma_rules::Rules;
use groma_run::engine::events::Event;
use groma_run::engine::interrupt::{Interrupt, Urgency};
use groma_run::engine::pending;
use groma_run::session::Session;
use groma_run::state::{State, decode};
use tempfile::TempDir;

use crate::edit::{Edit, edited};
use crate::line::{Command, Line};
use crate::look::{Look, found_in};
use crate::process::{Program, Shown, argument};
use crate::tool::{self, Kind, Tool};
use crate::verdict::Settled;

/// There is something to do, and the exit code is to tell.
const CHANGES: u8 = 2;

/// Whether the working directory is made ready first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InitWish {
    /// If it is not.
    #[default]
    Auto,
    /// In any case.
    Always,
    /// In no case.
    Never,
}

/// What a run is started with.
#[derive(Debug, Clone)]
pub struct Wishes {
    /// Which engine.
    pub kind: Kind,
    /// Where its program is, if that is known.
    pub binary: Option<PathBuf>,
    /// `PATH`, where it is looked for otherwise.
    pub search: Option<OsString>,
    /// What is asked of it.
    pub line: Line,
    /// Whether the working directory is made ready first.
    pub init: InitWish,
    /// All that it finds in the environment. None if that is what we have found ourselves.
    pub environment: Option<BTreeMap<String, String>>,
    /// Whether it is run at a terminal, whose interrupts reach it by themselves.
    pub on_terminal: bool,
    /// What is handed on to the engine.
    pub hand_on: Interrupt,
    /// What ends our own waiting.
    pub stop: Interrupt,
    /// Kills the engine some time after it was urged in vain. None where somebody sits who can do that.
    pub last_resort: Option<Interrupt>,
    /// How the engine is started so that it ends with us; see [`Program`].
    pub starter: Option<Vec<String>>,
}

/// Who is told what happens.
pub trait Audience {
    /// A line of the engine's stream, with its end.
    fn line(&self, line: &str);
    /// Something that we do, in words.
    fn notice(&self, text: &str);
    /// How a wait goes.
    fn event(&self, event: Event);
    /// What became of tainted objects.
    fn settled(&self, settled: &[Settled]);
}

/// What came of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// As the engine says, but never 0 if something of ours went wrong.
    pub code: u8,
    /// What became of tainted objects.
    pub settled: Vec<Settled>,
    /// What is to be said besides what the engine has said.
    pub diagnostics: Diagnostics,
}

/// Runs a command with another engine.
pub fn drive(session: &mut Session, wishes: &Wishes, audience: &dyn Audience) -> Outcome {
    let mut outcome = Outcome { code: 1, ..Outcome::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(run(session, wishes, audience, &mut outcome)),
        Err(problem) => Err(Diagnostic::error("Engine failed to start", format!("{problem}.")).into()),
    };
    if let Err(problems) = result {
        outcome.diagnostics.extend(problems);
    }
    if outcome.diagnostics.has_errors() && outcome.code == 0 {
        outcome.code = 1;
    }
    outcome
}

async fn run(
    session: &mut Session,
    wishes: &Wishes,
    audience: &dyn Audience,
    outcome: &mut Outcome,
) -> Result<(), Diagnostics> {
    let start = session.start().clone();
    let path = tool::find(wishes.kind, wishes.binary.as_deref(), wishes.search.as_deref(), &start.invocation_dir)?;
    let program = Program {
        path,
        chdir: (start.working_dir != start.invocation_dir).then(|| start.working_dir.clone()),
        invocation_dir: start.invocation_dir,
        environment: wishes.environment.clone(),
        last_resort: wishes.last_resort.clone(),
        starter: wishes.starter.clone(),
    };
    let version = program.ask(&["version".to_owned()], None).await?;
    let tool = tool::recognise(wishes.kind, program.path.clone(), &version.out)?;
    let scratch = tempfile::tempdir().map_err(|problem| {
        Diagnostic::error("Engine failed to start", format!("There is no room for temporary files: {problem}."))
    })?;
    let said = Said::default();
    let mut driver = Driver { session, wishes, audience, tool, program, scratch, said, initialised: false };
    driver.run(outcome).await
}

/// What the configuration says, as far as it could be read.
#[derive(Default)]
struct Said {
    tree: Option<ModuleTree>,
    rules: Rules,
}

impl Said {
    /// Whether provisioners belong to the creation of an instance. None if nothing is known about it.
    fn provisioned(&self, address: &AbsInstance) -> Option<bool> {
        let mut node: &ModuleNode = &self.tree.as_ref()?.root;
        let module = address.module.module();
        for name in module.names() {
            node = node.children.get(name)?;
        }
        let resource =
            node.module.resources_of(ResourceMode::Managed).find(|own| own.key == address.instance.resource)?;
        let at_creation = |when| when == groma_lang::config::When::Create;
        Some(resource.managed.provisioners.iter().any(|provisioner| at_creation(provisioner.when)))
    }
}

/// A state as the engine gives it.
struct Pulled {
    text: String,
    state: State,
}

struct Driver<'a> {
    session: &'a mut Session,
    wishes: &'a Wishes,
    audience: &'a dyn Audience,
    tool: Tool,
    program: Program,
    /// For plans and values that nobody else may see.
    scratch: TempDir,
    said: Said,
    initialised: bool,
}

impl Driver<'_> {
    fn line(&self) -> &Line {
        &self.wishes.line
    }

    async fn run(&mut self, outcome: &mut Outcome) -> Result<(), Diagnostics> {
        if self.line().command == Command::Init || self.line().asks_for_help() {
            outcome.code = self.engine().await?;
            return Ok(());
        }
        if let Some(refused) = self.line().refused() {
            return Err(refused.into());
        }
        let before = self.prepare(&mut outcome.diagnostics).await?;
        let makes_objects = self.line().makes_objects();
        if makes_objects && self.line().is_about_everything() {
            self.resume(before.as_ref()).await?;
        }
        if self.wishes.stop.urgency() != Urgency::None {
            return Err(Diagnostic::error("Interrupted", "Nothing was begun.").into());
        }
        outcome.code = self.engine().await?;
        if makes_objects && outcome.code != 0 {
            let nothing = State::default();
            let before = before.as_ref().map_or(&nothing, |before| &before.state);
            outcome.settled = self.settle(before).await?;
            self.audience.settled(&outcome.settled);
        }
        if makes_objects && !self.line().is_about_everything() {
            self.look_back(before.as_ref()).await?;
        }
        if self.line().command == Command::Plan && matches!(outcome.code, 0 | CHANGES) {
            outcome.code = outcome.code.max(self.tell_pending(before.as_ref()));
        }
        Ok(())
    }

    /// Whoever plans is told what is waited for before anything else is done.
    fn tell_pending(&self, before: Option<&Pulled>) -> u8 {
        let pending = before.map(|before| self.waited_for(&before.state)).unwrap_or_default();
        for (address, pending) in &pending {
            let waiting_for = &pending.waiting_for;
            self.audience
                .notice(&format!("{address} is not ready: waiting for {waiting_for}. An apply waits for it first."));
        }
        if !pending.is_empty() && self.line().tells_changes() { CHANGES } else { 0 }
    }

    /// Runs the engine with what was asked of it.
    async fn engine(&self) -> Result<u8, Diagnostics> {
        let mut arguments = vec![self.line().command.name().to_owned()];
        arguments.extend(self.line().arguments.iter().cloned());
        let tell = |line: &str| self.audience.line(line);
        let shown = if self.line().is_json() {
            Shown::Lines(&tell)
        } else {
            Shown::Itself { on_terminal: self.wishes.on_terminal }
        };
        let code = self.program.show(&arguments, shown, &self.wishes.hand_on).await?;
        let Some(code) = code else {
            let title = self.tool.kind.title();
            let detail = format!(
                "{title} was ended from outside. What it did last may not be in the state, and the state may still be locked: see \
                 \"{} force-unlock\".",
                self.tool.kind.program()
            );
            return Err(Diagnostic::error("Engine ended early", detail).into());
        };
        Ok(u8::try_from(code).unwrap_or(1))
    }

    /// Makes the working directory ready and reads what is there: the state, and what is said about it.
    async fn prepare(&mut self, found: &mut Diagnostics) -> Result<Option<Pulled>, Diagnostics> {
        let start = self.session.start();
        let is_new = !start.working_dir.join(&start.data_dir).is_dir();
        let wish = self.wishes.init;
        if wish == InitWish::Always || (wish == InitWish::Auto && is_new) {
            self.init().await?;
        }
        let pulled = match self.pull().await {
            Err(_) if self.may_init() => {
                self.init().await?;
                self.pull().await
            }
            pulled => pulled,
        }?;
        if !self.load(found)? && self.may_init() {
            self.init().await?;
            self.load(found)?;
        }
        Ok(pulled)
    }

    fn may_init(&self) -> bool {
        self.wishes.init == InitWish::Auto && !self.initialised
    }

    async fn init(&mut self) -> Result<(), Diagnostics> {
        self.initialised = true;
        self.audience.notice(&format!("Initializing with {} {}...", self.tool.kind.title(), self.tool.version));
        let arguments = ["init", "-input=false", "-no-color"].map(str::to_owned);
        let answer = self.program.ask_until(&arguments, None, &self.wishes.stop).await?;
        // What is installed now is looked for where it is now.
        *self.session = Session::new(self.session.start().clone());
        if answer.is_good() {
            return Ok(());
        }
        let detail = format!("{}{}", answer.out, answer.err);
        let summary = format!("\"{} init\" failed: {}", self.tool.kind.program(), answer.why());
        Err(Diagnostic::error(summary, detail.trim().to_owned()).into())
    }

    /// Reads the configuration and its rules. False if modules are missing. What is wrong with the configuration is for the engine to
    /// say; what is wrong with rules is said here.
    fn load(&mut self, found: &mut Diagnostics) -> Result<bool, Diagnostics> {
        let loaded = self.session.load();
        if loaded.diagnostics.iter().any(|problem| problem.summary == "Module not installed") && self.may_init() {
            return Ok(false);
        }
        if loaded.diagnostics.has_errors() || loaded.tree.is_none() {
            tracing::debug!("the configuration could not be read");
            return Ok(true);
        }
        if loaded.about_rules.has_errors() {
            return Err(loaded.about_rules);
        }
        found.extend(loaded.about_rules);
        self.said = Said { tree: loaded.tree, rules: loaded.rules };
        Ok(true)
    }

    /// The state, through the engine: wherever it is, and however it is encrypted there. None if there is none.
    async fn pull(&self) -> Result<Option<Pulled>, Diagnostic> {
        let answer = self.program.ask(&["state", "pull"].map(str::to_owned), None).await?;
        let summary = "Failed to read the state";
        if !answer.is_good() {
            let detail = format!("\"{} state pull\" failed: {}.", self.tool.kind.program(), answer.why());
            return Err(Diagnostic::error(summary, detail));
        }
        if answer.out.trim().is_empty() {
            return Ok(None);
        }
        let state = decode(&answer.out).map_err(|problem| Diagnostic::error(summary, format!("{problem}.")))?;
        Ok(Some(Pulled { text: answer.out, state }))
    }

    /// Writes changes back through the engine, under its lock. It refuses them if the state has moved since it was read.
    async fn push(&self, pulled: &Pulled, edits: &BTreeMap<AbsInstance, Edit>) -> Result<(), String> {
        let text = edited(&pulled.text, edits).ok_or("the state has a form that is not known")?;
        let mut arguments = ["state", "push"].map(str::to_owned).to_vec();
        arguments.extend(self.locking());
        arguments.push("-".to_owned());
        let answer = self.program.ask(&arguments, Some(&text)).await.map_err(|problem| problem.detail)?;
        if answer.is_good() { Ok(()) } else { Err(answer.why()) }
    }

    /// How the state is locked meanwhile: as it was asked for.
    fn locking(&self) -> Vec<String> {
        let given = self.line().same(&["lock", "lock-timeout"]);
        if given.is_empty() { vec!["-lock-timeout=20s".to_owned()] } else { given }
    }

    /// Looks at objects anew. What cannot be read does not keep the others from being looked at.
    async fn look(&self, wanted: &[AbsInstance]) -> BTreeMap<AbsInstance, Look> {
        let all = self.look_together(wanted).await;
        let why = match all {
            Ok(found) => return found,
            Err(why) => why,
        };
        let mut found = BTreeMap::new();
        for address in wanted {
            let one = std::slice::from_ref(address);
            let alone = if wanted.len() > 1 { self.look_together(one).await } else { Err(why.clone()) };
            match alone {
                Ok(look) => found.extend(look),
                Err(why) => found.extend([(address.clone(), Look::Unclear(why))]),
            }
        }
        found
    }

    async fn look_together(&self, wanted: &[AbsInstance]) -> Result<BTreeMap<AbsInstance, Look>, String> {
        if wanted.is_empty() {
            return Ok(BTreeMap::new());
        }
        self.plan_refresh(wanted).await?;
        let shown = self.program.ask(&["show".into(), "-json".into(), self.plan_path()], None).await;
        let shown = shown.map_err(|problem| problem.detail)?;
        if !shown.is_good() {
            return Err(shown.why());
        }
        found_in(&shown.out, wanted).ok_or_else(|| "its plan has a form that is not known".to_owned())
    }

    fn plan_path(&self) -> String {
        self.scratch.path().join("refresh").display().to_string()
    }

    /// Has the engine read objects, and plan nothing but that.
    async fn plan_refresh(&self, wanted: &[AbsInstance]) -> Result<(), String> {
        let fixed = ["plan", "-refresh-only", "-input=false", "-no-color"].map(str::to_owned);
        let mut arguments = fixed.to_vec();
        arguments.push(format!("-out={}", self.plan_path()));
        arguments.extend(self.locking());
        arguments.extend(self.line().same(&["parallelism"]));
        arguments.extend(self.variables().await?);
        arguments.extend(wanted.iter().map(|address| format!("-target={address}")));
        let answer = self.program.ask(&arguments, None).await.map_err(|problem| problem.detail)?;
        if answer.is_good() { Ok(()) } else { Err(answer.why()) }
    }

    /// The values of variables, as they were given or as a saved plan has them.
    async fn variables(&self) -> Result<Vec<String>, String> {
        let Some(plan) = self.line().plan_file() else { return Ok(self.line().same_variables()) };
        let file = self.scratch.path().join("variables.tfvars.json");
        if !file.exists() {
            let path = plan.display().to_string();
            let shown = self.program.ask(&["show".to_owned(), "-json".to_owned(), path], None).await;
            let shown = shown.map_err(|problem| problem.detail)?;
            let values = crate::look::variables_in(&shown.out).ok_or_else(|| shown.why())?;
            std::fs::write(&file, values).map_err(|problem| problem.to_string())?;
        }
        Ok(vec![argument("var-file", &file)])
    }

    /// Where something stands, for people.
    fn place(&self, span: Span) -> String {
        let sources = self.session.sources();
        format!("{}:{}", sources.file(span.file).name(), sources.start(span).line)
    }

    /// Objects that an earlier run has left not ready, if somebody can say when they are.
    fn waited_for(&self, state: &State) -> Vec<(AbsInstance, pending::Pending)> {
        let mut found = pending::of_state(state);
        found.retain(|(address, pending)| {
            pending.by == pending::SaidBy::Provider || self.said.rules.waits.find(address).is_some()
        });
        found
    }
}
