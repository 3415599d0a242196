//! Storing a state at the end of an operation, wherever it can be. What happens in between is `log`'s business.

use std::path::Path;
use std::time::Instant;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_state::{Layout, State, encode, write_file};

use crate::state_access::StateAccess;

/// Where a state is left that cannot be stored.
const LAST_RESORT: &str = "errored.tfstate";

/// The clock that durations are measured with.
pub(super) fn now() -> Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "how long things take is shown, and decides how often states are written"
    )]
    Instant::now()
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
