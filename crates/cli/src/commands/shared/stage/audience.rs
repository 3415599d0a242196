//! Everyone who watches a run: people, machines and logs.

use std::sync::Arc;

use groma_run::engine::events::{Event, Events};

use super::voices::Voices;
use crate::watch::Watcher;

/// Everyone who watches a run.
pub(super) struct Audience {
    /// Shows it on the terminal.
    pub(super) people: Option<Arc<Watcher>>,
    /// Tells machines.
    pub(super) voices: Voices,
}

impl Events for Audience {
    fn tell(&self, event: Event) {
        log(&event);
        self.voices.tell(&event);
        if let Some(people) = &self.people {
            people.tell(event);
        }
    }
}

/// What happens, for logs: what and where, and nothing of what it is.
fn log(event: &Event) {
    match event {
        Event::RefreshStarted(address, _) => tracing::debug!(%address, "is read"),
        Event::RefreshDone(address, _) => tracing::trace!(%address, "was read"),
        Event::RefreshFailed(address) => tracing::debug!(%address, "could not be read"),
        Event::ImportStarted(address, _) => tracing::debug!(%address, "is looked up"),
        Event::ImportDone(address, _) => tracing::trace!(%address, "was found"),
        Event::ApplyStarted { address, action, .. } => tracing::debug!(%address, ?action, "begins"),
        Event::ApplyDone { address, action, .. } => tracing::debug!(%address, ?action, "is done"),
        Event::ApplyKept { address, action, .. } => tracing::warn!(%address, ?action, "is kept as far as it was made"),
        Event::ApplyFailed { address, action, .. } => tracing::error!(%address, ?action, "failed"),
        Event::Stopping => tracing::info!("stopping"),
        _ => {}
    }
}
