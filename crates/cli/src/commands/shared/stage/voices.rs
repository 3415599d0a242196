//! Who is spoken to: people on the terminal, machines on standard output, machines behind a file.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use groma_model::diag::Diagnostic;
use groma_run::engine::events::{Event, Events as _};
use groma_run::view::stream::{Clock, Stream};

use crate::commands::shared::JsonArgs;
use crate::failure::Failure;
use crate::ui::Ui;

type Lines = Stream<Box<dyn Write + Send>>;

/// Everyone who is spoken to. Clones speak to the same.
#[derive(Clone)]
pub(super) struct Voices {
    ui: Ui,
    human: bool,
    streams: Vec<Arc<Lines>>,
}

impl Voices {
    /// What the flags ask for; if they do not go together, as much of it as can be told that.
    pub(super) fn open(ui: Ui, json: &JsonArgs, working_dir: &Path) -> (Self, Option<Diagnostic>) {
        let mut voices = Self { ui, human: !json.json, streams: Vec::new() };
        if json.json {
            voices.add(Box::new(io::stdout()));
        }
        let Some(path) = json.json_into.as_deref().filter(|path| !path.as_os_str().is_empty()) else {
            return (voices, None);
        };
        if json.json {
            let detail = "The -json and -json-into arguments are mutually exclusive";
            return (voices, Some(Diagnostic::error("Invalid output format", detail)));
        }
        match private_file(&working_dir.join(path)) {
            Ok(file) => {
                voices.add(Box::new(file));
                (voices, None)
            }
            Err(problem) => {
                let path = path.display().to_string();
                let detail = format!("Unable to open the file {path:?} specified by -json-into for writing: {problem}");
                (voices, Some(Diagnostic::error("Invalid argument", detail)))
            }
        }
    }

    fn add(&mut self, out: Box<dyn Write + Send>) {
        self.streams.push(Arc::new(Stream::new(out, clock())));
    }

    /// Whether people read standard output.
    pub(super) fn is_human(&self) -> bool {
        self.human
    }

    /// The terminal.
    pub(super) fn ui(&self) -> &Ui {
        &self.ui
    }

    /// Tells machines something.
    pub(super) fn each(&self, tell: impl Fn(&Lines)) -> Result<(), Failure> {
        self.streams.iter().try_for_each(|stream| {
            tell(stream);
            heard(stream.check().map_err(Failure::Terminal))
        })
    }

    /// Tells machines something in words.
    pub(super) fn log(&self, text: &str) {
        self.streams.iter().for_each(|stream| stream.log(text));
    }

    /// Tells machines what happens. Whether they listen is seen later.
    pub(super) fn tell(&self, event: &Event) {
        self.streams.iter().for_each(|stream| stream.tell(event.clone()));
    }
}

/// That nobody listens any more is no reason to leave work half done.
pub(super) fn heard(said: Result<(), Failure>) -> Result<(), Failure> {
    match said {
        Err(Failure::Terminal(problem)) if problem.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        said => said,
    }
}

/// Values that only their owner may see are in it.
fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn clock() -> Clock {
    #[expect(clippy::disallowed_methods, reason = "lines for machines tell when they were written")]
    Arc::new(SystemTime::now)
}
