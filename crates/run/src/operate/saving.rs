//! Storing a state at the end of an operation, wherever it can be. What happens in between is `log`'s business.

use std::path::Path;
use std::time::Instant;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_state::encryption::Envelope;
use groma_state::{ObjectState, RealDisk, State, replace_whole};

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
    let bytes = storage.codec().encode(state);
    let written = bytes.as_ref().map_err(ToString::to_string).and_then(|bytes| {
        let path = working_dir.join(LAST_RESORT);
        replace_whole(&RealDisk, &path, bytes).map_err(|problem| format!("{}: {problem}", path.display()))
    });
    let Err(problem) = written else {
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
    let detail = format!("Error creating local state file for recovery: {problem}.");
    diagnostics.push(Diagnostic::error("Failed to create local state file", detail));
    let is_encrypted = bytes.as_ref().is_ok_and(|bytes| matches!(Envelope::decode(bytes), Ok(Some(_))));
    if !is_encrypted && holds_secrets(state) {
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
    // As it would have been stored: encrypted, if it would have been.
    (diagnostics, bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok()))
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
