//! The terminal: where text goes, how wide it is, and whether colours are wanted.

use std::io::{self, IsTerminal as _, Write as _};

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::SourceMap;

use crate::env_vars::EnvVars;
use crate::failure::Failure;
use crate::render::{self, Style};

/// The terminal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ui {
    color: bool,
    ascii: bool,
}

impl Ui {
    /// Colours are used where a person looks and did not refuse them, there and then or in the environment.
    pub(crate) fn new(environment: &EnvVars, refused: bool) -> Self {
        let refused = refused || environment.no_color;
        let ascii = !environment.shows_unicode || (refused && environment.dumb_terminal);
        Self { color: !refused && io::stdout().is_terminal(), ascii }
    }

    /// Writes data to standard output.
    #[expect(clippy::unused_self, reason = "all output goes through the one terminal")]
    pub(crate) fn out(self, text: &str) -> Result<(), Failure> {
        io::stdout().lock().write_all(text.as_bytes()).map_err(Failure::Terminal)
    }

    /// Writes a line of data to standard output.
    pub(crate) fn line(self, text: &str) -> Result<(), Failure> {
        self.out(&format!("{text}\n"))
    }

    /// Writes a message for people to standard error.
    #[expect(clippy::unused_self, reason = "all output goes through the one terminal")]
    pub(crate) fn message(self, text: &str) {
        // Nobody is left to tell if this fails.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// A text that stands out.
    pub(crate) fn bold(self, text: &str) -> String {
        self.paint(anstyle::Style::new().bold(), text)
    }

    /// A text that says that all is well.
    pub(crate) fn good(self, text: &str) -> String {
        self.paint(anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Green.into())), text)
    }

    /// A text that asks for attention.
    pub(crate) fn warning(self, text: &str) -> String {
        self.paint(anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Yellow.into())), text)
    }

    fn paint(self, style: anstyle::Style, text: &str) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Shows what was found, for people: errors to standard error, warnings with them.
    pub(crate) fn diagnostics(self, diagnostics: &Diagnostics, sources: &SourceMap) {
        for diagnostic in diagnostics {
            self.message(&render::diagnostic(diagnostic, sources, self.style()));
        }
    }

    /// Shows a failure that has no place in a file.
    pub(crate) fn failure(self, failure: &Failure) {
        let mut text = failure.chain();
        if let Some(first) = text.get(0..1) {
            let upper = first.to_uppercase();
            text.replace_range(0..1, &upper);
        }
        let diagnostic = Diagnostic::error(text, "");
        self.message(&render::diagnostic(&diagnostic, &SourceMap::new(), self.style()));
    }

    /// How diagnostics look here.
    pub(crate) fn style(self) -> Style {
        let width = terminal_size::terminal_size().map_or(78, |(width, _)| usize::from(width.0));
        Style { color: self.color, width, ascii: self.ascii }
    }
}
