//! How plan, apply, destroy and refresh speak: to people, to machines, or to both. What they say is decided elsewhere.

mod asking;
mod audience;
mod voices;

use std::cell::Cell;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use groma_model::diag::Diagnostics;
use groma_model::span::SourceMap;
use groma_run::engine::change::Action;
use groma_run::engine::interrupt::{Interrupt, Urgency};
use groma_run::engine::plan::{Options, Plan};
use groma_run::operate::{Counts, Kind, Operation, PathOverrides, Watch, Wishes};
use groma_run::providers::ProviderAccess;
use groma_run::saved_plan::SavedPlan;
use groma_run::session::Session;
use groma_run::state::State;
use groma_run::view::stream::{ChangeCounts, Operation as Told};

use super::consolidate;
use super::{Context, PathArgs, PlanningArgs, ViewArgs, provider_access};
use crate::failure::Failure;
use crate::prompt::Prompt;
use crate::render::{self, Look};
use crate::signals::{self, Interruption};
use crate::ui::Ui;
use crate::watch::{Report, Settings, Watcher};
use asking::variable_prompt;
use audience::Audience;
use voices::Voices;

/// Where an operation is performed, before those who watch.
pub(crate) struct Stage {
    command: &'static str,
    view: ViewArgs,
    voices: Voices,
    look: Look,
    interrupt: Interrupt,
    /// Who draws on the terminal at this moment.
    drawing: Arc<Mutex<Option<Arc<Watcher>>>>,
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
        let ui = Ui::new(&context.environment, args.view.no_color);
        let (voices, problem) = Voices::open(ui, &args.json, &context.working_dir);
        let people = voices.is_human() && io::stdout().is_terminal();
        let look = Look {
            style: ui.style(),
            fold: people,
            show_sensitive: args.sensitive.show_sensitive,
            in_automation: context.environment.in_automation,
        };
        let stage = Self {
            command,
            view: args.view.clone(),
            voices,
            look,
            interrupt: Interrupt::default(),
            drawing: Arc::default(),
        };
        if let Some(problem) = problem {
            stage.usage(&problem.into(), &SourceMap::new())?;
            return Ok(None);
        }
        stage.listen();
        Ok(Some(stage))
    }

    fn listen(&self) {
        let (voices, drawing) = (self.voices.clone(), Arc::clone(&self.drawing));
        let say = move |which: Interruption| {
            let watcher = drawing.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let say = || {
                if voices.is_human() {
                    signals::say_to_people(which);
                }
                voices.log(which.message());
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
        self.voices.is_human()
    }

    /// How plans and results look.
    pub(crate) fn look(&self) -> &Look {
        &self.look
    }

    /// The terminal.
    pub(crate) fn ui(&self) -> &Ui {
        self.voices.ui()
    }

    /// Says when to stop.
    pub(crate) fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    /// Whether somebody asked to stop.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.urgency() != Urgency::None
    }

    /// Says something to people.
    pub(crate) fn people(&self, text: &str) -> Result<(), Failure> {
        if self.is_human() { voices::heard(self.ui().out(text)) } else { Ok(()) }
    }

    /// Says something to people, and in other words to machines.
    pub(crate) fn say(&self, text: &str, plain: &str) -> Result<(), Failure> {
        self.voices.log(plain);
        self.people(text)
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
        self.voices.each(|stream| stream.diagnostics(diagnostics, sources))?;
        if !self.is_human() {
            return Ok(());
        }
        let groups = consolidate::groups(diagnostics, &self.view);
        if self.view.compact_warnings && !groups.is_empty() && !groups.iter().any(|group| group.shown.is_error()) {
            let title = self.ui().warning("Warnings:");
            return self.people(&consolidate::compact(&title, &groups, sources));
        }
        for group in groups {
            let text = crate::render::diagnostic(&group.shown, sources, self.look.style);
            if group.shown.is_error() {
                self.ui().message(&text);
            } else {
                self.people(&text)?;
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
        let wishes = self.wishes(context, args, kind);
        let (operation, diagnostics) =
            self.ready(context, session, |session, access| Operation::open(session, access, wishes))?;
        Ok(operation.map(|operation| (operation, diagnostics)))
    }

    /// The same for a plan that was saved.
    pub(crate) fn saved_operation(
        &self,
        context: &Context,
        session: &mut Session,
        args: &PlanningArgs,
        saved: &SavedPlan,
    ) -> Result<Option<(Operation, Plan, Diagnostics)>, Failure> {
        let wishes = self.wishes(context, args, Kind::Apply);
        let (opened, diagnostics) =
            self.ready(context, session, |session, access| Operation::open_saved(session, access, saved, wishes))?;
        Ok(opened.map(|(operation, plan)| (operation, plan, diagnostics)))
    }

    /// Opens something with the providers that the CLI configuration leads to, and says why that failed if it did.
    fn ready<T>(
        &self,
        context: &Context,
        session: &mut Session,
        open: impl FnOnce(&mut Session, ProviderAccess) -> (Option<T>, Diagnostics),
    ) -> Result<(Option<T>, Diagnostics), Failure> {
        let (access, mut diagnostics) = provider_access(context);
        let mut opened = None;
        if !diagnostics.has_errors() {
            let (found, problems) = open(session, access);
            opened = found;
            diagnostics.extend(problems);
        }
        if opened.is_none() {
            self.diagnostics(&diagnostics, session.sources())?;
            return Ok((None, Diagnostics::new()));
        }
        // Whoever develops a provider should know that before anything else is shown.
        let (first, rest): (Vec<_>, Vec<_>) =
            diagnostics.into_iter().partition(|found| found.summary.starts_with("Provider development overrides"));
        self.diagnostics(&first.into_iter().collect(), session.sources())?;
        Ok((opened, rest.into_iter().collect()))
    }

    /// What an operation is started with.
    pub(crate) fn wishes(&self, context: &Context, args: &PlanningArgs, kind: Kind) -> Wishes {
        let asks = args.input.input && context.environment.input && self.is_human();
        Wishes {
            lock: args.lock.wish(),
            paths: overrides(&args.paths),
            kind,
            variables: asks.then(|| variable_prompt(self.prompt())),
            patience: Some(self.patience()),
        }
    }

    /// Says once that somebody else has the lock, and waits for it until an interrupt.
    fn patience(&self) -> Box<dyn Fn() -> bool> {
        let (voices, interrupt, told) = (self.voices.clone(), self.interrupt.clone(), Cell::new(false));
        Box::new(move || {
            if !told.replace(true) {
                let waiting = "Acquiring state lock. This may take a few moments...";
                voices.log(waiting);
                // That nobody reads it is found when there is more to say.
                let _ = if voices.is_human() { voices.ui().line(waiting) } else { Ok(()) };
            }
            interrupt.urgency() == Urgency::None
        })
    }

    /// Watches a plan being made.
    pub(crate) fn planning(&self) -> Watching {
        self.watching(|| Watcher::planning(self.settings()))
    }

    /// Watches a plan being carried out.
    pub(crate) fn applying(&self, plan: &Plan) -> Watching {
        self.watching(|| Watcher::applying(self.settings(), plan))
    }

    fn settings(&self) -> Settings {
        Settings {
            style: self.look.style,
            live: self.is_human() && io::stdout().is_terminal(),
            concise: self.view.concise,
        }
    }

    /// A watcher speaks as soon as there is one, so there is none where only machines listen.
    fn watching(&self, watcher: impl FnOnce() -> Arc<Watcher>) -> Watching {
        let people = self.is_human().then(watcher);
        self.drawing.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&people);
        let events = Arc::new(Audience { people: people.clone(), voices: self.voices.clone() });
        Watching { watch: Watch { events, interrupt: self.interrupt.clone() }, people }
    }

    /// The run is over.
    pub(crate) fn watched(&self, watching: Watching) -> Report {
        self.drawing.lock().unwrap_or_else(PoisonError::into_inner).take();
        watching.people.map(|watcher| watcher.finish()).unwrap_or_default()
    }

    /// Shows a plan.
    pub(crate) fn plan(&self, plan: &Plan) -> Result<(), Failure> {
        self.voices.each(|stream| stream.plan(plan))?;
        self.people(&render::plan::plan(plan, &self.look))
    }

    /// Tells machines what a saved plan is about to do. People have seen it.
    pub(crate) fn saved_plan(&self, plan: &Plan) -> Result<(), Failure> {
        let changes = || plan.changes.iter().filter(|change| change.action != Action::NoOp);
        self.voices.each(|stream| {
            changes().for_each(|change| stream.planned_change(change));
            stream.replacement_orders(plan);
        })
    }

    /// Says what came of an apply.
    pub(crate) fn summary(&self, report: &Report, counts: &Counts, destroy: bool, failed: bool) -> Result<(), Failure> {
        if failed {
            return self.people(&render::summary::failed(report, destroy, &self.look));
        }
        let told = if destroy { Told::Destroy } else { Told::Apply };
        let counted = ChangeCounts {
            add: counts.added,
            change: counts.changed,
            import: counts.imported,
            remove: counts.destroyed,
            forget: counts.forgotten,
        };
        self.voices.each(|stream| stream.change_summary(&counted, told))?;
        self.people(&render::summary::applied(report, destroy, &self.look))
    }

    /// Shows a state that could be stored nowhere, so that it is not lost.
    pub(crate) fn emergency(&self, state: &str) -> Result<(), Failure> {
        if self.is_human() {
            self.ui().message(&format!("{state}\n"));
        }
        self.voices.each(|stream| stream.state_dump(state))
    }

    /// Shows the outputs of the root module.
    pub(crate) fn outputs(&self, state: &State) -> Result<(), Failure> {
        self.voices.each(|stream| stream.outputs(&state.outputs))?;
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

fn overrides(paths: &PathArgs) -> PathOverrides {
    // As in OpenTofu, an empty name is no name.
    let named = |path: &Option<PathBuf>| path.clone().filter(|path| !path.as_os_str().is_empty());
    PathOverrides { state: named(&paths.state), state_out: named(&paths.state_out), backup: named(&paths.backup) }
}
