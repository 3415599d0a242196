//! Colours that mean something. Without colours the same text is left.

use anstyle::{AnsiColor, Style};

/// What a colour says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// It comes, or all is well.
    Added,
    /// It goes, or all is lost.
    Removed,
    /// It becomes another: worth a look.
    Changed,
    /// It is read.
    Read,
    /// Of no interest to most.
    Faint,
    /// What it is about.
    Bold,
    /// What it is about, and all is well.
    Good,
    /// What it is about, and it is dangerous.
    Bad,
}

impl Tone {
    fn style(self) -> Style {
        let color = |color: AnsiColor| Style::new().fg_color(Some(color.into()));
        match self {
            Self::Added => color(AnsiColor::Green),
            Self::Removed => color(AnsiColor::Red),
            Self::Changed => color(AnsiColor::Yellow),
            Self::Read => color(AnsiColor::Cyan),
            Self::Faint => color(AnsiColor::BrightBlack),
            Self::Bold => Style::new().bold(),
            Self::Good => color(AnsiColor::Green).bold(),
            Self::Bad => color(AnsiColor::Red).bold(),
        }
    }
}

/// Whether there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Paint(pub(crate) bool);

impl Paint {
    /// Adds a text in that tone.
    pub(crate) fn write(self, out: &mut String, tone: Tone, text: &str) {
        if self.0 {
            let style = tone.style();
            out.push_str(&style.render().to_string());
            out.push_str(text);
            out.push_str(&style.render_reset().to_string());
        } else {
            out.push_str(text);
        }
    }

    /// A text in that tone.
    pub(crate) fn text(self, tone: Tone, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        self.write(&mut out, tone, text);
        out
    }
}
