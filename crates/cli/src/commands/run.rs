//! `groma run`: a command with the engine of one's choice. What the other engines leave tainted is settled by `groma_engines`.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::SystemTime;

use groma_engines::{Audience, InitWish, Kind, Line, Settled, Wishes, drive};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::SourceMap;
use groma_run::engine::events::{Event, Events as _, WaitProgress};
use groma_run::engine::interrupt::Interrupt;
use groma_run::inputs::GivenVariable;
use groma_run::view::stream::Stream;

use super::Context;
use super::shared::{VariableArgs, session};
use crate::failure::Failure;
use crate::render::wrap::wrap;
use crate::signals::{Heard, overhear};
use crate::ui::Ui;

/// Run a command with groma, Terraform or OpenTofu.
///
/// With another engine, its own program does the work: with the same configuration, variables, backend and lock. What a failed apply has
/// left tainted is looked at afterwards. It is kept, with the same id, where its provider has left a mark that it is not ready, or where a
/// `wait` or `on_create_error` block of a *.groma.hcl file is about it and it is there; otherwise it stays tainted. What becomes of every
/// such object, and why, is said at the end.
///
/// Commands: init, plan, apply, destroy, refresh, with the arguments that the engine knows.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Who does the work.
    #[arg(long, value_name = "ENGINE", default_value = "groma")]
    pub(crate) engine: Engine,

    /// Where the program of the engine is, if not in PATH. GROMA_ENGINE_BINARY says the same.
    #[arg(long, value_name = "PATH")]
    engine_binary: Option<PathBuf>,

    /// Whether the engine initializes the working directory first.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    init: Init,

    /// The command and its arguments.
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  groma run -engine=tofu plan -var-file=prod.tfvars
  groma run -engine=terraform apply -auto-approve -json
  groma run -engine=tofu -engine-binary=./bin/tofu apply saved.plan
  groma run apply            the same as: groma apply";

/// Who does the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Engine {
    /// groma itself
    Groma,
    /// The program "terraform"
    Terraform,
    /// The program "tofu"
    #[value(alias = "opentofu")]
    Tofu,
}

/// Whether the working directory is initialized first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Init {
    /// If it is not yet
    Auto,
    /// In any case
    Always,
    /// In no case
    Never,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let environment = &context.environment;
    let name = args.words.first().map_or("", String::as_str);
    let added = crate::args::added(name, environment).map_err(Failure::Usage)?;
    let line = match Line::read(&args.words, &added) {
        Ok(line) => line,
        Err(problem) => return Ok(refused(context, problem)),
    };
    let given = line.variables().map(|(flag, value)| match flag {
        "var" => GivenVariable::Value(value.to_owned()),
        _ => GivenVariable::File(value.to_owned()),
    });
    let mut session = session(context, PathBuf::from("."), VariableArgs(given.collect()));
    let ui = Ui::new(environment, line.is_plain());
    let voice = Voice::new(ui, line.is_json());
    let on_terminal = !line.is_json() && io::stdin().is_terminal();
    let (hand_on, stop) = (Interrupt::default(), Interrupt::default());
    listen(hand_on.clone(), stop.clone(), on_terminal);
    let wishes = Wishes {
        kind: if args.engine == Engine::Terraform { Kind::Terraform } else { Kind::OpenTofu },
        binary: args.engine_binary.or_else(|| environment.engine_binary.clone()),
        search: environment.all.get("PATH").map(Into::into),
        init: match args.init {
            Init::Auto => InitWish::Auto,
            Init::Always => InitWish::Always,
            Init::Never => InitWish::Never,
        },
        environment: None,
        line,
        on_terminal,
        hand_on,
        stop,
        last_resort: None,
        starter: None,
    };
    let outcome = drive(&mut session, &wishes, &voice);
    voice.diagnostics(&outcome.diagnostics, session.sources());
    Ok(ExitCode::from(outcome.code))
}

fn refused(context: &Context, problem: Diagnostic) -> ExitCode {
    let ui = Ui::new(&context.environment, false);
    ui.diagnostics(&problem.into(), &SourceMap::new());
    ui.message("\nFor more help on using this command, run:\n  groma run -help\n");
    ExitCode::FAILURE
}

/// An interrupt of the terminal reaches everybody who runs there; told twice, an engine would let go of everything.
fn listen(hand_on: Interrupt, stop: Interrupt, on_terminal: bool) {
    overhear(move |heard| {
        stop.ask();
        if heard == Heard::Terminate || !on_terminal {
            hand_on.ask();
        }
    });
}

/// Speaks to people, or to machines in the stream that the engine speaks in.
struct Voice {
    ui: Ui,
    stream: Option<Stream<io::Stdout>>,
}

impl Voice {
    fn new(ui: Ui, json: bool) -> Self {
        #[expect(clippy::disallowed_methods, reason = "lines for machines tell when they were written")]
        let clock = Arc::new(SystemTime::now);
        Self { ui, stream: json.then(|| Stream::new(io::stdout(), clock)) }
    }

    fn diagnostics(&self, diagnostics: &Diagnostics, sources: &SourceMap) {
        match &self.stream {
            Some(stream) => stream.diagnostics(diagnostics, sources),
            None => self.ui.diagnostics(diagnostics, sources),
        }
    }

    /// Says a line to people. Nobody is left to tell if this fails, and the engine has to be looked after all the same.
    fn say(&self, text: &str) {
        let _ = self.ui.line(text);
    }
}

impl Audience for Voice {
    fn line(&self, line: &str) {
        let mut out = io::stdout().lock();
        let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    }

    fn notice(&self, text: &str) {
        match &self.stream {
            Some(stream) => stream.log(text),
            None => self.say(text),
        }
    }

    fn event(&self, event: Event) {
        if let Some(stream) = &self.stream {
            return stream.tell(event);
        }
        let shown = |told: &str, progress: &WaitProgress| {
            let WaitProgress { address, waiting_for, elapsed, .. } = progress;
            let seen = progress.seen_in_brief().map(|seen| format!(", last seen: {seen}")).unwrap_or_default();
            self.say(&format!("{address}: {told} [{}s elapsed]: {waiting_for}{seen}", elapsed.as_secs()));
        };
        match event {
            Event::WaitStarted(progress) => shown("Waiting until it is ready", &progress),
            Event::Waiting(progress) => shown("Still waiting", &progress),
            Event::WaitFailed(progress) => shown("Not ready", &progress),
            Event::WaitDone(progress) => {
                self.say(&format!("{}: Ready after {}s", progress.address, progress.elapsed.as_secs()));
            }
            _ => {}
        }
    }

    fn settled(&self, settled: &[Settled]) {
        if let Some(stream) = &self.stream {
            for one in settled {
                let verdict = (one.verdict.is_kept(), one.verdict.reason());
                stream.settled(&one.to_string(), &one.address, verdict, one.verdict.lacks());
            }
            return;
        }
        if settled.is_empty() {
            return;
        }
        self.say(&format!("\n{}\n", self.ui.bold("What the failed run has left tainted:")));
        for one in settled {
            let lines = wrap(&one.to_string(), self.ui.style().width.saturating_sub(4));
            self.say(&format!("  - {}", lines.join("\n    ")));
        }
    }
}
