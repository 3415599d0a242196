//! What is said while tests run: to people, to machines, or to both.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use groma_lang::oracle::SchemaSource as _;
use groma_model::address::Provider;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::SourceMap;
use groma_run::showing;
use groma_run::testing::{
    Abandoned, CleanUp, FileReport, LeftOver, Observer, RunReport, Shown, ShownPlan, Stand, Status,
};
use groma_run::view::plan::{PlanView, plan_json};
use groma_run::view::state::state_json;
use groma_run::view::stream::{About, Stream, TestCounts};

use crate::commands::Context;
use crate::commands::shared::{JsonArgs, ViewArgs};
use crate::failure::Failure;
use crate::render::paint::{Paint, Tone};
use crate::render::{self, Look};
use crate::signals::{self, Interruption};
use crate::ui::Ui;

type Lines = Stream<Box<dyn Write + Send>>;

/// Everyone who is spoken to. Clones speak to the same.
#[derive(Clone)]
pub(super) struct Voices {
    ui: Ui,
    look: Look,
    human: bool,
    streams: Vec<Arc<Lines>>,
    /// The first failure to say something.
    failure: Arc<Mutex<Option<Failure>>>,
}

impl Voices {
    /// What the flags ask for.
    pub(super) fn open(context: &Context, view: &ViewArgs, json: &JsonArgs) -> Result<Self, Failure> {
        let ui = Ui::new(&context.environment, view.no_color);
        let look = Look { style: ui.style(), fold: false, show_sensitive: false, in_automation: true };
        let mut voices = Self { ui, look, human: !json.json, streams: Vec::new(), failure: Arc::default() };
        if json.json {
            voices.add(Box::new(io::stdout()));
        }
        if let Some(path) = json.json_into.as_deref().filter(|path| !path.as_os_str().is_empty()) {
            if json.json {
                return Err(Failure::Usage("the -json and -json-into arguments are mutually exclusive".to_owned()));
            }
            let path = context.working_dir.join(path);
            let file = File::create(&path).map_err(|source| Failure::Write { path, source })?;
            voices.add(Box::new(file));
        }
        Ok(voices)
    }

    fn add(&mut self, out: Box<dyn Write + Send>) {
        #[expect(clippy::disallowed_methods, reason = "lines for machines tell when they were written")]
        let clock = Arc::new(SystemTime::now);
        self.streams.push(Arc::new(Stream::new(out, clock)));
    }

    fn people(&self, text: &str) {
        if self.human
            && let Err(failure) = self.ui.out(text)
        {
            self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
        }
    }

    /// What people must not miss.
    fn alarm(&self, text: &str) {
        if self.human {
            self.ui.message(text);
        }
    }

    fn machines(&self, tell: impl Fn(&Lines)) {
        self.streams.iter().for_each(|stream| tell(stream));
    }

    /// Says what was found before anything runs.
    pub(super) fn diagnostics(&self, diagnostics: &Diagnostics, sources: &SourceMap) {
        self.about(About::default(), diagnostics, sources);
    }

    fn about(&self, about: About<'_>, diagnostics: &Diagnostics, sources: &SourceMap) {
        self.machines(|stream| stream.test_diagnostics(about, diagnostics, sources));
        for diagnostic in diagnostics {
            let text = render::diagnostic(diagnostic, sources, self.look.style);
            if diagnostic.is_error() { self.alarm(&text) } else { self.people(&text) }
        }
    }

    /// Somebody wants us to stop.
    pub(super) fn interrupted(&self, which: Interruption) {
        if self.human {
            signals::say_to_people(which);
        }
        self.machines(|stream| stream.log(which.message()));
    }

    /// How everything went.
    pub(super) fn conclusion(&self, status: Status, files: &[FileReport]) {
        let counts = TestCounts::of(files);
        self.machines(|stream| stream.test_summary(status, &counts));
        let (verdict, numbers) = counts.describe(status);
        let verdict = match status {
            Status::Pending | Status::Skip => verdict.to_owned(),
            _ => self.painted(status, verdict),
        };
        self.people(&format!("\n{verdict}{numbers}\n"));
    }

    /// The exit code, unless something could not be said.
    pub(super) fn end(self, code: ExitCode) -> Result<ExitCode, Failure> {
        for stream in &self.streams {
            stream.check().map_err(Failure::Terminal)?;
        }
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        failure.map_or(Ok(code), Err)
    }

    fn painted(&self, status: Status, text: &str) -> String {
        let tone = match status {
            Status::Pass => Tone::Added,
            Status::Fail | Status::Error => Tone::Removed,
            Status::Pending | Status::Skip => Tone::Faint,
        };
        Paint(self.look.style.color).text(tone, text)
    }

    fn run(&self, stand: Stand<'_>, file: &str, run: &RunReport) {
        let name = run.name.as_str();
        let about = About { file: Some(file), run: Some(name) };
        self.machines(|stream| stream.test_run(file, run));
        let word = self.painted(run.status, run.status.word());
        self.people(&format!("  run {name:?}... {word}\n"));
        if let Some(shown) = &run.shown {
            let unsaid = match shown {
                Shown::Plan(shown) => self.plan(stand, about, shown),
                Shown::State(state) => {
                    let schemas = showing::schemas(stand.book);
                    let schema = |provider: &Provider, mode, ty: &str| schemas.resource(provider, mode, ty);
                    self.people(&render::state::state(state, &schema, &self.look));
                    let json = state_json(state, &schemas);
                    json.map(|json| self.machines(|stream| stream.test_state(about, json.clone())))
                }
            };
            if let Err(problems) = unsaid {
                self.about(about, &problems, stand.sources);
            }
        }
        self.about(about, &run.diagnostics, stand.sources);
    }

    fn plan(&self, stand: Stand<'_>, about: About<'_>, shown: &ShownPlan) -> Result<(), Diagnostics> {
        self.people(&render::plan::plan(&shown.plan, &self.look));
        if self.streams.is_empty() {
            return Ok(());
        }
        let schemas = showing::schemas(stand.book);
        let identities = |provider: &Provider, kind: &str| showing::identity(stand.book, provider, kind);
        let view = PlanView {
            plan: &shown.plan,
            variables: &shown.inputs,
            tree: &shown.tree,
            sources: stand.sources,
            schemas: &schemas,
            identities: &identities,
            timestamp: &showing::moment(shown.time),
        };
        let json = plan_json(&view)?;
        self.machines(|stream| stream.test_plan(about, json.clone()));
        Ok(())
    }
}

impl Observer for Voices {
    fn begun(&mut self, files: &[FileReport]) {
        self.machines(|stream| stream.test_abstract(files));
    }

    fn file(&mut self, stand: Stand<'_>, file: &FileReport) {
        self.machines(|stream| stream.test_file(file));
        let word = self.painted(file.status, file.status.word());
        self.people(&format!("{}... {word}\n", file.name));
        for run in &file.runs {
            self.run(stand, &file.name, run);
        }
    }

    fn cleaned_up(&mut self, stand: Stand<'_>, cleanup: &CleanUp<'_>) {
        let place = format!("{}/{}", cleanup.file, cleanup.run);
        self.machines(|stream| stream.test_cleanup(cleanup));
        if cleanup.diagnostics.iter().any(Diagnostic::is_error) {
            self.alarm(&format!("groma encountered an error destroying resources created while executing {place}.\n"));
        }
        self.about(About { file: Some(cleanup.file), run: Some(cleanup.run) }, &cleanup.diagnostics, stand.sources);
        if cleanup.left.is_empty() {
            return;
        }
        self.alarm(&format!(
            "\ngroma left the following resources in state after executing {place}, and they need to be cleaned up manually:\n{}",
            list(&cleanup.left)
        ));
        if let Some(path) = &cleanup.saved_to {
            self.alarm(&format!("\nWriting state to file: {}\n", path.display()));
            self.machines(|stream| stream.log(&format!("Writing state to file: {}", path.display())));
        }
    }

    fn abandoned(&mut self, abandoned: &Abandoned<'_>) {
        self.machines(|stream| stream.test_interrupt(abandoned));
        let mut text = format!(
            "\ngroma was interrupted while executing {}, and may not have performed the expected cleanup operations.\n",
            abandoned.file
        );
        if !abandoned.main.is_empty() {
            text += "\ngroma has already created the following resources from the module under test:\n";
            text += &list(&abandoned.main);
        }
        for (run, source, left) in abandoned.others.iter().filter(|(_, _, left)| !left.is_empty()) {
            let _ = writeln!(text, "\ngroma has already created the following resources for {run:?} from {source:?}:");
            text += &list(left);
        }
        if !abandoned.planned.is_empty() {
            let (run, source) = abandoned.run;
            let module = source.map_or_else(|| "the module under test".to_owned(), |source| format!("{source:?}"));
            let _ = writeln!(
                text,
                "\ngroma was in the process of creating the following resources for {run:?} from {module}, and they may not \
                 have been destroyed:"
            );
            for address in &abandoned.planned {
                let _ = writeln!(text, "  - {address}");
            }
        }
        self.alarm(&text);
    }
}

fn list(left: &[LeftOver]) -> String {
    let line = |left: &LeftOver| match &left.deposed {
        Some(deposed) => format!("  - {} ({deposed})\n", left.address),
        None => format!("  - {}\n", left.address),
    };
    left.iter().map(line).collect()
}
