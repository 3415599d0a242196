//! Questions that people answer on the terminal, or whoever stands behind standard input. They end when a person interrupts.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

use groma_run::engine::interrupt::{Interrupt, Urgency};
use tokio::sync::oneshot;

use crate::ui::Ui;

/// A question.
#[derive(Debug, Clone, Default)]
pub(crate) struct Question<'a> {
    /// What is asked, in one line.
    pub(crate) query: &'a str,
    /// What there is to know about it.
    pub(crate) description: &'a str,
    /// Whether the answer is a secret, which is not shown while it is typed.
    pub(crate) secret: bool,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoAnswer {
    /// Nobody is there.
    #[error("EOF")]
    End,
    /// Somebody is, and does not want to go on.
    #[error("interrupted")]
    Interrupted,
    /// The terminal cannot be used.
    #[error(transparent)]
    Terminal(#[from] io::Error),
}

/// Asks questions.
#[derive(Clone)]
pub(crate) struct Prompt {
    ui: Ui,
    interrupt: Interrupt,
}

impl Prompt {
    /// Asks on that terminal until that interrupt.
    pub(crate) fn new(ui: Ui, interrupt: Interrupt) -> Self {
        Self { ui, interrupt }
    }

    /// Waits for the answer: a line without the spaces at its end.
    pub(crate) fn ask(&self, question: &Question<'_>) -> Result<String, NoAnswer> {
        if self.interrupt.urgency() != Urgency::None {
            return Err(NoAnswer::Interrupted);
        }
        // Before it is asked: who types fast is not seen either.
        let hidden = (question.secret && io::stdin().is_terminal()).then(hidden::Hidden::begin);
        write_out(&self.text(question))?;
        let answer = self.line();
        drop(hidden);
        // What is printed next begins on a line of its own.
        if !matches!(answer, Err(NoAnswer::End)) {
            write_out("\n")?;
        }
        answer
    }

    fn text(&self, question: &Question<'_>) -> String {
        let mut text = format!("{}\n", self.ui.bold(question.query));
        for line in question.description.lines() {
            // Writing to a string does not fail.
            let _ = writeln!(text, "  {line}");
        }
        if !question.description.is_empty() {
            text.push('\n');
        }
        let _ = write!(text, "  {} ", self.ui.bold("Enter a value:"));
        text
    }

    /// Reading cannot be stopped, so that is left to a thread that nobody waits for after an interrupt.
    fn line(&self) -> Result<String, NoAnswer> {
        let (sender, receiver) = oneshot::channel();
        let read = move || {
            let mut line = String::new();
            let read = io::stdin().read_line(&mut line).map(|_| line);
            // Nobody waits any more after an interrupt.
            let _ = sender.send(read);
        };
        std::thread::Builder::new().name("prompt".into()).spawn(read)?;
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let line = runtime.block_on(async {
            tokio::select! {
                line = receiver => line.unwrap_or_else(|_| Ok(String::new())).map_err(NoAnswer::Terminal),
                () = self.interrupt.reaches(Urgency::Soon) => Err(NoAnswer::Interrupted),
            }
        })?;
        if line.ends_with('\n') { Ok(line.trim_end().to_owned()) } else { Err(NoAnswer::End) }
    }
}

fn write_out(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

#[cfg(unix)]
mod hidden {
    //! Typing without being seen.

    use std::io;

    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

    /// While this lives, what is typed is not shown.
    pub(super) struct Hidden(Option<Termios>);

    impl Hidden {
        pub(super) fn begin() -> Self {
            let Ok(before) = tcgetattr(io::stdin()) else { return Self(None) };
            let mut now = before.clone();
            now.local_modes.remove(LocalModes::ECHO);
            // If it cannot be hidden, it is better asked in the open than not at all.
            let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &now);
            Self(Some(before))
        }
    }

    impl Drop for Hidden {
        fn drop(&mut self) {
            if let Some(before) = &self.0 {
                // There is nobody to tell.
                let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
            }
        }
    }
}

#[cfg(not(unix))]
mod hidden {
    //! Typing in the open, where nothing else is known.

    pub(super) struct Hidden;

    impl Hidden {
        pub(super) fn begin() -> Self {
            Self
        }
    }
}
