//! Where it is shown: lines with the time in front of them, or a picture that is drawn again and again.

use std::io::{self, Write};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::clock::Moment;
use super::lines;
use super::tracker::{Tracker, Word};
use super::{Settings, tree};
use crate::render::Style;
use crate::render::paint::{Paint, Tone};

/// Where it is shown.
pub(super) enum Screen {
    /// Anything that takes text.
    Lines(Box<dyn Write + Send>, Paint),
    /// A terminal.
    Live(Live),
}

/// What is on a terminal.
pub(super) struct Live {
    screen: MultiProgress,
    /// The picture. None while there is none.
    picture: Option<ProgressBar>,
    style: Style,
}

impl Screen {
    /// Standard output, as a terminal or as a file.
    pub(super) fn new(settings: Settings) -> Self {
        if settings.live {
            let screen = MultiProgress::with_draw_target(ProgressDrawTarget::stdout());
            return Self::Live(Live { screen, picture: None, style: settings.style });
        }
        Self::Lines(Box::new(io::stdout()), Paint(settings.style.color))
    }

    /// Whether time is seen passing.
    pub(super) fn is_live(&self) -> bool {
        matches!(self, Self::Live(_))
    }

    /// Something was told. Lines are written at once; the picture waits for the next time that it is drawn.
    pub(super) fn told(&mut self, tracker: &mut Tracker, now: Moment) {
        if !self.is_live() {
            self.show(tracker, now);
        }
    }

    /// Shows everything that there is to show.
    pub(super) fn show(&mut self, tracker: &mut Tracker, now: Moment) {
        let words = tracker.take_words();
        match self {
            Self::Lines(out, paint) => {
                let stamp = lines::stamp(now.of_day);
                let mut text = String::new();
                for word in words {
                    text.push_str(&stamp);
                    painted(&mut text, *paint, &word);
                    text.push('\n');
                }
                if !text.is_empty() {
                    // Nobody is left to tell if this fails.
                    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
                }
            }
            Self::Live(live) => live.show(&words, tracker, now),
        }
    }

    /// Runs something that prints, with the picture out of the way.
    pub(super) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match self {
            Self::Lines(..) => print(),
            Self::Live(live) => live.screen.suspend(print),
        }
    }

    /// Takes the picture away.
    pub(super) fn clear(&mut self) {
        if let Self::Live(live) = self
            && let Some(picture) = live.picture.take()
        {
            picture.finish_and_clear();
        }
    }
}

impl Live {
    fn show(&mut self, words: &[Word], tracker: &Tracker, now: Moment) {
        if !words.is_empty() {
            let mut text = String::new();
            for word in words {
                painted(&mut text, Paint(self.style.color), word);
                text.push('\n');
            }
            self.screen.suspend(|| {
                let mut out = io::stdout().lock();
                let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            });
        }
        let lines = tree::draw(tracker, self.style, now);
        if lines.is_empty() {
            if let Some(picture) = self.picture.take() {
                picture.finish_and_clear();
            }
            return;
        }
        let picture = self.picture.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
            self.screen.add(ProgressBar::new_spinner().with_style(style))
        });
        let text = lines.join("\n");
        if picture.message() != text {
            picture.set_message(text);
        }
    }
}

fn painted(out: &mut String, paint: Paint, word: &Word) {
    let (bold, rest) = word.text.split_at_checked(word.bold).unwrap_or((&word.text, ""));
    paint.write(out, Tone::Bold, bold);
    out.push_str(rest);
}
