//! `groma show`: a state or a saved plan, for people or as JSON.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use groma_lang::oracle::SchemaSource as _;
use groma_model::address::Provider;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::saved_plan::{FileKind, SavedPlan, recognise};
use groma_run::session::Session;
use groma_run::showing;
use groma_run::state::State;
use groma_run::state_access::{PathOverrides, StateAccess};
use groma_run::view::config::{ConfigView, config_json, module_json};
use groma_run::view::plan::PlanView;
use groma_run::view::text::{ViewError, write_line};

use super::Context;
use super::shared::{LookArgs, VariableArgs, provider_access, session};
use crate::failure::Failure;
use crate::render::{self, Look};

/// Show the state or a saved plan.
///
/// Without arguments, shows the state of the current workspace. A file can be a saved plan or a state.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A saved plan, or a state file.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Show the state of the current workspace.
    #[arg(long)]
    pub(crate) state: bool,

    /// Show this saved plan.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,

    /// Show the configuration. Needs -json.
    #[arg(long)]
    pub(crate) config: bool,

    /// Show the configuration of one module. Needs -json.
    #[arg(long, value_name = "DIR")]
    pub(crate) module: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) look: LookArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let (ui, mut session) = args.look.start(context);
    let shown = target(&args).and_then(|target| {
        let look = Look {
            style: ui.style(),
            fold: false,
            show_sensitive: args.look.sensitive.show_sensitive,
            in_automation: true,
        };
        let wanted = Wanted { human: !args.look.json.json, json: args.look.wants_json(), look };
        Show { context, wanted }.show(&mut session, &target)
    });
    let texts = match shown {
        Ok(texts) => texts,
        Err(problems) => {
            ui.diagnostics(&problems, session.sources());
            return Ok(ExitCode::FAILURE);
        }
    };
    args.look.show(context, ui, &texts.human, &texts.json)?;
    Ok(ExitCode::SUCCESS)
}

/// What is to be shown.
enum Target {
    State,
    Plan(PathBuf),
    Config,
    Module(PathBuf),
    File(PathBuf),
}

/// Reads it from the arguments, as far as they go together.
fn target(args: &Args) -> Result<Target, Diagnostics> {
    let refuse = |summary: &str, detail: &str| Err(Diagnostic::error(summary, detail).into());
    if args.config && !args.look.json.json {
        return refuse("JSON output required for configuration", "The -config option requires -json to be specified.");
    }
    if args.module.is_some() && !args.look.json.json {
        return refuse("JSON output required for module", "The -module=DIR option requires -json to be specified.");
    }
    let mut chosen = Vec::new();
    chosen.extend(args.state.then_some(Target::State));
    chosen.extend(args.plan.clone().map(Target::Plan));
    chosen.extend(args.config.then_some(Target::Config));
    chosen.extend(args.module.clone().map(Target::Module));
    match (chosen.pop(), &args.file) {
        (None, None) => Ok(Target::State),
        (None, Some(file)) => Ok(Target::File(file.clone())),
        (Some(_), Some(_)) => refuse(
            "Unexpected command line arguments",
            "This command does not expect any positional arguments when using a target-selection option.",
        ),
        (Some(_), None) if !chosen.is_empty() => refuse(
            "Conflicting object types to show",
            "The -state, -plan=FILENAME, -config, and -module=DIR options are mutually-exclusive, to specify which kind of object \
             to show.",
        ),
        (Some(target), None) => Ok(target),
    }
}

/// For whom.
struct Wanted {
    human: bool,
    json: bool,
    look: Look,
}

/// What is shown; empty where it is not wanted.
#[derive(Default)]
struct Texts {
    human: String,
    json: String,
}

struct Show<'a> {
    context: &'a Context,
    wanted: Wanted,
}

impl Show<'_> {
    fn show(&self, session: &mut Session, target: &Target) -> Result<Texts, Diagnostics> {
        match target {
            Target::State => {
                let state = StateAccess::open(session, &PathOverrides::default())?.read()?;
                self.state(session, state.as_deref())
            }
            Target::Plan(file) => {
                let saved = session.open_plan(&self.context.working_dir.join(file))?;
                self.plan(session, &saved)
            }
            Target::Config => self.config(session),
            Target::Module(dir) => self.module(dir),
            Target::File(file) => self.file(session, &self.context.working_dir.join(file)),
        }
    }

    /// A file that may be a plan or a state.
    fn file(&self, session: &mut Session, path: &Path) -> Result<Texts, Diagnostics> {
        let unusable = |detail: String| {
            let summary = "Failed to read the given file as a state or plan file";
            Diagnostics::from(Diagnostic::error(summary, detail))
        };
        let bytes = std::fs::read(path).map_err(|problem| unusable(format!("{}: {problem}.", path.display())))?;
        match recognise(&bytes) {
            FileKind::State => {
                let named =
                    |problem: Diagnostic| Diagnostic { summary: "Couldn't show state file".to_owned(), ..problem };
                let decoded = session.decode_state(&bytes, &path.display().to_string());
                let state = decoded.map_err(|problems| problems.into_iter().map(named).collect::<Diagnostics>())?;
                self.state(session, Some(&state))
            }
            FileKind::Other | FileKind::Empty => {
                Err(unusable(format!("{} is neither a state nor a plan of groma.", path.display())))
            }
            _ => {
                let saved = session.decode_plan(bytes).map_err(|problem| {
                    Diagnostics::from(Diagnostic::error(
                        "Couldn't show local plan",
                        format!("{}: {problem}", path.display()),
                    ))
                })?;
                self.plan(session, &saved)
            }
        }
    }

    fn state(&self, session: &mut Session, state: Option<&State>) -> Result<Texts, Diagnostics> {
        let Some(state) = state else {
            return Ok(Texts { human: "No state.\n".to_owned(), json: "{\"format_version\":\"1.0\"}\n".to_owned() });
        };
        let (access, mut diagnostics) = provider_access(self.context);
        let (book, found) = session.state_book(&access, state);
        diagnostics.extend(found);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let schemas = showing::schemas(&book);
        let mut texts = Texts::default();
        if self.wanted.human {
            let schema = |provider: &Provider, mode, kind: &str| schemas.resource(provider, mode, kind);
            texts.human = render::state::state(state, &schema, &self.wanted.look);
        }
        let written = if self.wanted.json { showing::state_document(&book, state) } else { Ok(String::new()) };
        showing::close(&book, &access);
        texts.json = written?;
        Ok(texts)
    }

    fn plan(&self, session: &mut Session, saved: &SavedPlan) -> Result<Texts, Diagnostics> {
        let (access, mut diagnostics) = provider_access(self.context);
        let (looked, found) = session.look_into(saved, access);
        diagnostics.extend(found);
        let Some(looked) = looked.filter(|_| !diagnostics.has_errors()) else { return Err(diagnostics) };
        let mut texts = Texts::default();
        if self.wanted.human {
            texts.human = render::plan::plan(&looked.plan, &self.wanted.look);
        }
        let written = {
            let schemas = showing::schemas(looked.book());
            let view = PlanView {
                plan: &looked.plan,
                variables: &looked.inputs,
                tree: &looked.tree,
                sources: session.sources(),
                schemas: &schemas,
                identities: &|provider, kind| showing::identity(looked.book(), provider, kind),
                timestamp: &showing::moment(saved.time()),
            };
            self.written("plan", |to| view.write(to))
        };
        looked.close();
        texts.json = written?;
        Ok(texts)
    }

    fn config(&self, session: &mut Session) -> Result<Texts, Diagnostics> {
        let loaded = session.load();
        let (Some(tree), false) = (&loaded.tree, loaded.diagnostics.has_errors()) else {
            return Err(loaded.diagnostics);
        };
        let (access, mut diagnostics) = provider_access(self.context);
        let (book, found) = session.tree_book(&access, tree);
        diagnostics.extend(found);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let view = ConfigView { tree, sources: session.sources(), schemas: &showing::schemas(&book) };
        let document = config_json(&view);
        showing::close(&book, &access);
        let document = document?;
        Ok(Texts { json: self.written("configuration", |to| write_line(&document, to))?, ..Texts::default() })
    }

    fn module(&self, dir: &Path) -> Result<Texts, Diagnostics> {
        let mut session = session(self.context, dir.to_owned(), VariableArgs::default());
        let (module, diagnostics) = session.load_root();
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let document = module_json(&module, session.sources())?;
        Ok(Texts { json: self.written("module", |to| write_line(&document, to))?, ..Texts::default() })
    }

    /// A document as text, if machines want it.
    fn written(
        &self,
        what: &str,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), ViewError>,
    ) -> Result<String, Diagnostics> {
        let mut bytes = Vec::new();
        if self.wanted.json {
            write(&mut bytes).map_err(|problem| problem.diagnostics(what))?;
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
