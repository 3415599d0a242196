//! Storing a state at the end of an operation, wherever it can be. What happens in between is `log`'s business.

use std::path::Path;
use std::time::Instant;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_state::{Layout, ObjectState, State, encode, write_file};

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
            "The error shown above has prevented groma from writing the updated state. Nothing is lost: what was done is in the \
             journal of the state, from which the next command of groma takes it, so \"groma apply\" can be run again once the \
             cause is mended.\n\nFor other tools, which do not know the journal, the state has been written to the file \
             {LAST_RESORT:?} in the current working directory. Run on the old state, they would make everything again that is \
             missing there. To store it without applying anything, use the following command:\n    groma state push \
             {LAST_RESORT}\n"
        );
        diagnostics.push(Diagnostic::error("Failed to persist state to backend", detail));
        return (diagnostics, None);
    };
    let detail = format!("Error creating local state file for recovery: {}", problem.diagnostic().detail);
    diagnostics.push(Diagnostic::error("Failed to create local state file", detail));
    if holds_secrets(state) {
        let detail = "The errors shown above prevented groma from writing the updated state, and from leaving it in a file. It has \
                      sensitive values in it, so it is not printed. What was done is in the journal of the state, from which the \
                      next command of groma takes it: \"groma doctor\" says where that is.";
        diagnostics.push(Diagnostic::error("Failed to persist state to backend", detail));
        return (diagnostics, None);
    }
    let detail = format!(
        "The errors shown above prevented groma from writing the updated state, and from leaving it in a file. The state is \
         printed as a JSON object instead.\n\nTo retry writing it, save that into a file called {LAST_RESORT} and use the \
         following command:\n    groma state push {LAST_RESORT}\n"
    );
    diagnostics.push(Diagnostic::error("Failed to persist state to backend", detail));
    (diagnostics, encode(state, Layout::Indented).ok())
}

/// Whether anything in a state must not be shown. What providers keep for themselves may be anything.
fn holds_secrets(state: &State) -> bool {
    let in_object = |object: &ObjectState| !object.sensitive.is_empty() || !object.private.is_empty();
    let mut instances = state.resources.values().flat_map(|resource| resource.instances.values());
    state.outputs.values().any(|output| output.sensitive)
        || instances.any(|instance| instance.current.iter().chain(instance.deposed.values()).any(in_object))
}

fn failed(problem: Diagnostic) -> Diagnostic {
    let detail = format!("Error saving state: {}: {}", problem.summary, problem.detail);
    Diagnostic { summary: "Failed to save state".to_owned(), detail, ..problem }
}
