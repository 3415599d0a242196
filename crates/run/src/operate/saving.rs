//! Storing a state while it changes: not at every change, since each time it is written whole, but soon, and at the end.

use std::path::Path;
use std::time::{Duration, Instant};

use groma_engine::apply::Save;
use groma_engine::interrupt::{Interrupt, Urgency};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_state::{Layout, State, encode, write_file};

use super::hosts::Hosts;
use crate::state_access::StateAccess;

/// How long to wait at least between two writes.
const LEAST_PAUSE: Duration = Duration::from_secs(1);
/// Writing may take this part of the time at most.
const LARGEST_PART: u32 = 20;
/// Where a state is left that cannot be stored.
const LAST_RESORT: &str = "errored.tfstate";

/// The clock that durations are measured with.
pub(super) fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "how long things take decides how often states are written")]
    Instant::now()
}

/// Stores a state as often as that is worth it.
pub(super) struct Saver<'a> {
    storage: &'a mut StateAccess,
    hosts: &'a Hosts,
    interrupt: Interrupt,
    last: Instant,
    took: Duration,
}

impl<'a> Saver<'a> {
    pub(super) fn new(storage: &'a mut StateAccess, hosts: &'a Hosts, interrupt: Interrupt) -> Self {
        Self { storage, hosts, interrupt, last: now(), took: Duration::ZERO }
    }

    fn is_due(&self) -> bool {
        self.interrupt.urgency() != Urgency::None || self.last.elapsed() >= LEAST_PAUSE.max(self.took * LARGEST_PART)
    }
}

impl Save for Saver<'_> {
    fn changed(&mut self, state: &State) -> Result<(), Diagnostics> {
        if !self.is_due() {
            return Ok(());
        }
        let began = now();
        let mut state = state.clone();
        self.hosts.name(&mut state);
        let saved = self.storage.save(&mut state);
        self.last = now();
        self.took = self.last.duration_since(began);
        saved.map(|_| ())
    }

    /// Whoever started the apply stores the result: it must be kept even if this fails.
    fn finished(&mut self, _: &State) -> Result<(), Diagnostics> {
        Ok(())
    }
}

/// Stores the result of an apply. If that fails, it is left in a file beside the configuration, and if that fails too, given
/// back as text: it must not be lost.
pub(super) fn save_finally(
    storage: &mut StateAccess,
    state: &mut State,
    working_dir: &Path,
) -> (Diagnostics, Option<String>) {
    let Err(problems) = storage.save(state) else { return (Diagnostics::new(), None) };
    let mut diagnostics: Diagnostics = problems.into_iter().map(failed).collect();
    storage.number_next(state);
    let Err(problem) = write_file(&working_dir.join(LAST_RESORT), state) else {
        let detail = format!(
            "The error shown above has prevented groma from writing the updated state. To allow for recovery, the state has been \
             written to the file {LAST_RESORT:?} in the current working directory.\n\nRunning \"groma apply\" again at this \
             point will create a forked state, making it harder to recover.\n\nTo retry writing this state, use the \
             following command:\n    groma state push {LAST_RESORT}\n"
        );
        diagnostics.push(Diagnostic::error("Failed to persist state to backend", detail));
        return (diagnostics, None);
    };
    let detail = format!("Error creating local state file for recovery: {}", problem.diagnostic().detail);
    diagnostics.push(Diagnostic::error("Failed to create local state file", detail));
    let detail = format!(
        "The errors shown above prevented groma from writing the updated state, and from leaving it in a file. The state is \
         printed as a JSON object instead.\n\nTo retry writing it, save that into a file called {LAST_RESORT} and use the \
         following command:\n    groma state push {LAST_RESORT}\n"
    );
    diagnostics.push(Diagnostic::error("Failed to persist state to backend", detail));
    (diagnostics, encode(state, Layout::Indented).ok())
}

fn failed(problem: Diagnostic) -> Diagnostic {
    let detail = format!("Error saving state: {}: {}", problem.summary, problem.detail);
    Diagnostic { summary: "Failed to save state".to_owned(), detail, ..problem }
}
