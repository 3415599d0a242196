//! How plan, apply, destroy and refresh speak: to people, to machines, or to both. What they say is decided elsewhere.

use std::cell::RefCell;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use groma_lang::config::Variable;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::SourceMap;
use groma_run::engine::events::{Event, Events};
use groma_run::engine::interrupt::Interrupt;
use groma_run::engine::plan::{Options, Plan};
use groma_run::operate::{Counts, Kind, LockWish, Operation, PathOverrides, VariablePrompt, Watch, Wishes};
use groma_run::session::Session;
use groma_run::state::State;

use super::consolidate::{self, RemoteCalls};
use super::{Context, JsonArgs, PathArgs, PlanningArgs, ViewArgs, announcer, provider_access};
use crate::announce::Announcer;
use crate::failure::Failure;
use crate::prompt::{NoAnswer, Prompt, Question};
use crate::render::{self, Look};
use crate::signals::{self, Interruption};
use crate::ui::Ui;
use crate::watch::{Report, Settings, Watcher};

/// Where an operation is performed, before those who watch.
pub(crate) struct Stage {
    command: &'static str,
    view: ViewArgs,
    announcer: Arc<Announcer>,
    look: Look,
    interrupt: Interrupt,
    /// Who draws on the terminal at this moment.
    drawing: Arc<Mutex<Option<Arc<Watcher>>>>,
    remote: RefCell<RemoteCalls>,
}

/// Somebody watches a run.
pub(crate) struct Watching {
    /// For the run.
    pub(crate) watch: Watch,
    people: Option<Arc<Watcher>>,
}

impl Stage {
    /// Opens the stage, and listens for interrupts from now on. None if flags about it do not go together, which was said.
    pub(crate) fn open(context: &Context, command: &'static str, args: &PlanningArgs) -> Result<Option<Self>, Failure> {
        let json = &args.json;
        let both = json.json && json.json_into.is_some();
        let spoken = if both { JsonArgs { json: true, json_into: None } } else { json.clone() };
        let announcer = announcer(context, &args.view, &spoken)?;
        let people = announcer.is_human() && io::stdout().is_terminal();
        let look = Look {
            style: announcer.ui().style(),
            fold: people,
            show_sensitive: args.sensitive.show_sensitive,
            in_automation: context.environment.in_automation,
        };
        let stage = Self {
            command,
            view: args.view.clone(),
            announcer,
            look,
            interrupt: Interrupt::default(),
            drawing: Arc::default(),
            remote: RefCell::default(),
        };
        if both {
            let detail = "The -json and -json-into arguments are mutually exclusive";
            stage.usage(&Diagnostic::error("Invalid output format", detail).into(), &SourceMap::new())?;
            return Ok(None);
        }
        stage.listen();
        Ok(Some(stage))
    }

    fn listen(&self) {
        let (announcer, drawing) = (Arc::clone(&self.announcer), Arc::clone(&self.drawing));
        let say = move |which: Interruption| {
            let watcher = drawing.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let say = || {
                if announcer.is_human() {
                    signals::say_to_people(which);
                }
                // There is nobody else to tell if this fails.
                let _ = announcer.log(which.message());
            };
            match watcher {
                Some(watcher) => watcher.aside(say),
                None => say(),
            }
        };
        signals::listen(self.interrupt.clone(), Arc::new(say));
    }

    /// Whether people read this.
    pub(crate) fn is_human(&self) -> bool {
        self.announcer.is_human()
    }

    /// How plans and results look.
    pub(crate) fn look(&self) -> &Look {
        &self.look
    }

    /// The terminal.
    pub(crate) fn ui(&self) -> &Ui {
        self.announcer.ui()
    }

    /// Whether somebody asked to stop.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.urgency() != groma_run::engine::interrupt::Urgency::None
    }

    /// Says something to people.
    pub(crate) fn people(&self, text: &str) -> Result<(), Failure> {
        if self.is_human() { self.ui().out(text) } else { Ok(()) }
    }

    /// Says something to people, and in other words to machines.
    pub(crate) fn say(&self, text: &str, plain: &str) -> Result<(), Failure> {
        self.people(text)?;
        self.announcer.log(plain)
    }

    /// Asks questions.
    pub(crate) fn prompt(&self) -> Prompt {
        Prompt::new(*self.ui(), self.interrupt.clone())
    }

    /// Says what was found: errors to standard error, warnings among the rest.
    pub(crate) fn diagnostics(&self, diagnostics: &Diagnostics, sources: &SourceMap) -> Result<(), Failure> {
        if diagnostics.is_empty() {
            return Ok(());
        }
        self.announcer.machine_diagnostics(diagnostics, sources)?;
        if !self.is_human() {
            return Ok(());
        }
        let groups = consolidate::groups(diagnostics, &self.view, &self.remote.borrow());
        if self.view.compact_warnings && !groups.is_empty() && !groups.iter().any(|group| group.shown.is_error()) {
            let title = self.ui().warning("Warnings:");
            return self.ui().out(&consolidate::compact(&title, &groups, sources));
        }
        for group in groups {
            let text = crate::render::diagnostic(&group.shown, sources, self.look.style);
            if group.shown.is_error() {
                self.ui().message(&text);
            } else {
                self.ui().out(&text)?;
            }
        }
        Ok(())
    }

    /// Says that a command was not used rightly, and where to read more.
    pub(crate) fn usage(&self, diagnostics: &Diagnostics, sources: &SourceMap) -> Result<ExitCode, Failure> {
        self.diagnostics(diagnostics, sources)?;
        if self.is_human() {
            let command = self.command;
            self.ui().message(&format!("\nFor more help on using this command, run:\n  groma {command} -help\n"));
        }
        Ok(ExitCode::FAILURE)
    }

    /// What the flags ask for. None if that was refused.
    pub(crate) fn options(&self, args: &PlanningArgs, session: &mut Session) -> Result<Option<Options>, Failure> {
        match args.operation.options(session) {
            Ok(options) => Ok(Some(options)),
            Err(problems) => self.usage(&problems, session.sources()).map(|_| None),
        }
    }

    /// Makes the working directory ready. None if that failed, which was said; what else is to be said comes with it.
    pub(crate) fn operation(
        &self,
        context: &Context,
        session: &mut Session,
        args: &PlanningArgs,
        kind: Kind,
    ) -> Result<Option<(Operation, Diagnostics)>, Failure> {
        let (access, mut diagnostics) = provider_access(context);
        if diagnostics.has_errors() {
            self.diagnostics(&diagnostics, session.sources())?;
            return Ok(None);
        }
        let (operation, found) = Operation::open(session, access, self.wishes(context, args, kind));
        diagnostics.extend(found);
        let Some(operation) = operation else {
            self.diagnostics(&diagnostics, session.sources())?;
            return Ok(None);
        };
        self.remote.replace(RemoteCalls::of(operation.tree()));
        // Whoever develops a provider should know that before anything else is shown.
        let (first, rest): (Vec<_>, Vec<_>) =
            diagnostics.into_iter().partition(|found| found.summary.starts_with("Provider development overrides"));
        self.diagnostics(&first.into_iter().collect(), session.sources())?;
        Ok(Some((operation, rest.into_iter().collect())))
    }

    /// What an operation is started with.
    pub(crate) fn wishes(&self, context: &Context, args: &PlanningArgs, kind: Kind) -> Wishes {
        let asks = args.input.input && context.environment.input && self.is_human();
        Wishes {
            lock: LockWish { wanted: args.lock.lock, timeout: args.lock.lock_timeout },
            paths: overrides(&args.paths),
            kind,
            variables: asks.then(|| variable_prompt(self.prompt())).flatten(),
        }
    }

    /// Watches a plan being made.
    pub(crate) fn planning(&self) -> Watching {
        self.watching(Watcher::planning(self.settings()))
    }

    /// Watches a plan being carried out.
    pub(crate) fn applying(&self, plan: &Plan) -> Watching {
        self.watching(Watcher::applying(self.settings(), plan))
    }

    fn settings(&self) -> Settings {
        Settings {
            style: self.look.style,
            live: self.is_human() && io::stdout().is_terminal(),
            concise: self.view.concise,
        }
    }

    fn watching(&self, watcher: Arc<Watcher>) -> Watching {
        let people = self.is_human().then_some(watcher);
        self.drawing.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&people);
        let events = Arc::new(Audience { people: people.clone() });
        Watching { watch: Watch { events, interrupt: self.interrupt.clone() }, people }
    }

    /// The run is over.
    pub(crate) fn watched(&self, watching: Watching) -> Report {
        self.drawing.lock().unwrap_or_else(PoisonError::into_inner).take();
        watching.people.map(|watcher| watcher.finish()).unwrap_or_default()
    }

    /// Shows a plan.
    pub(crate) fn plan(&self, plan: &Plan) -> Result<(), Failure> {
        self.people(&render::plan::plan(plan, &self.look))
    }

    /// Says what came of an apply.
    pub(crate) fn summary(&self, report: &Report, counts: &Counts, destroy: bool, failed: bool) -> Result<(), Failure> {
        let _ = counts;
        self.people(&match failed {
            true => render::summary::failed(report, destroy, &self.look),
            false => render::summary::applied(report, destroy, &self.look),
        })
    }

    /// Shows the outputs of the root module.
    pub(crate) fn outputs(&self, state: &State) -> Result<(), Failure> {
        if state.outputs.is_empty() {
            return Ok(());
        }
        let title = self.ui().good("Outputs:");
        self.people(&format!("\n{title}\n\n{}", render::outputs::outputs(&state.outputs, self.look.show_sensitive)))
    }

    /// Gives the working directory back. True if that went well.
    pub(crate) fn close(&self, operation: Operation, sources: &SourceMap) -> Result<bool, Failure> {
        let diagnostics = operation.close();
        self.diagnostics(&diagnostics, sources)?;
        Ok(!diagnostics.has_errors())
    }
}

/// Everyone who watches a run.
struct Audience {
    people: Option<Arc<Watcher>>,
}

impl Events for Audience {
    fn tell(&self, event: Event) {
        if let Some(people) = &self.people {
            people.tell(event);
        }
    }
}

fn overrides(paths: &PathArgs) -> PathOverrides {
    // As in OpenTofu, an empty name is no name.
    let named = |path: &Option<PathBuf>| path.clone().filter(|path| !path.as_os_str().is_empty());
    PathOverrides { state: named(&paths.state), state_out: named(&paths.state_out), backup: named(&paths.backup) }
}

/// Asks for values of variables, one after the other. Who interrupts is not asked again.
fn variable_prompt(prompt: Prompt) -> VariablePrompt {
    Some(Box::new(move |variable: &Variable| {
        let hidden = variable.ephemeral == Some(true);
        let query = format!("var.{}{}", variable.name, if hidden { " (ephemeral)" } else { "" });
        let description = description(variable);
        let secret = hidden || variable.sensitive == Some(true);
        let question = Question { query: &query, description: &description, secret };
        let answer: Result<String, NoAnswer> = prompt.ask(&question);
        answer.ok()
    }))
}

fn description(variable: &Variable) -> String {
    let about = variable.description.as_ref().map_or("", |text| text.as_str());
    let Some(deprecated) = &variable.deprecated else { return about.to_owned() };
    let space = if about.is_empty() { "" } else { ".\n" };
    format!("{about}{space}Variable is marked as deprecated with the following message: {deprecated}")
}
