//! What an earlier run has left, in words.

use groma_model::address::AbsObject;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_state::journal::{Action, Conflict, ConflictKind, Folded, Intent};

/// What people should know about a state that a journal was folded into.
pub(super) fn of(folded: &Folded) -> Diagnostics {
    let mut found = Diagnostics::new();
    if folded.changed {
        let detail = "An earlier run was stopped before it could store everything that it had done. What it has done was taken \
                      from its journal.";
        found.push(Diagnostic::warning("Unfinished run was recovered", detail));
    }
    found.extend(folded.conflicts.iter().map(conflict).collect::<Diagnostics>());
    found.extend(
        folded.in_flight.iter().filter(|intent| intent.action == Action::Create).map(in_doubt).collect::<Diagnostics>(),
    );
    found
}

fn conflict(conflict: &Conflict) -> Diagnostic {
    let object = &conflict.outcome.object;
    let (detail, hint) = match &conflict.kind {
        ConflictKind::Twin { theirs } => {
            let theirs = theirs.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
            (
                format!(
                    "An earlier run has made {object}, and before that could be stored, another tool has made a second \
                     object there{theirs}. Both exist. The state has the other one."
                ),
                "\"groma doctor\" shows what is known of the object that the state does not have.",
            )
        }
        ConflictKind::Changed => (
            format!("An earlier run has changed {object}, and another tool has changed it since. That one counts."),
            "",
        ),
        ConflictKind::Removed => (
            format!(
                "An earlier run has changed {object}, and another tool has removed it from the state since. It stays so."
            ),
            "",
        ),
        ConflictKind::Elsewhere(place) => {
            (format!("What an earlier run has made as {object} is {place} in the state by now. It stays there."), "")
        }
    };
    let diagnostic = Diagnostic::warning("State was changed by something else", detail).of(object.to_string());
    if hint.is_empty() { diagnostic } else { diagnostic.hint(hint) }
}

fn in_doubt(intent: &Intent) -> Diagnostic {
    let Intent { object, provider, begun, .. } = intent;
    let known = match (&intent.identity, &intent.import_id) {
        (Some(identity), _) => format!(" Its identity would be {identity}."),
        (None, Some(id)) => format!(" Its id would be {id:?}."),
        (None, None) => String::new(),
    };
    let detail = format!(
        "A run has asked {} to create {object} at {begun} and was stopped before there was an answer. It may exist.{known}",
        provider.config.provider
    );
    Diagnostic::warning("Object was possibly created", detail).of(object.to_string()).hint(clearing_up(object))
}

/// What to do about an object that was possibly created.
pub(crate) fn clearing_up(object: &AbsObject) -> String {
    format!(
        "Look whether it exists. If it does, take it in with \"groma import '{object}' ID\"; if not, say so with \"groma doctor \
         -not-created='{object}'\"."
    )
}
