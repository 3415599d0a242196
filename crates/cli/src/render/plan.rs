//! Plans as text, in the notation that people know: `+` makes, `~` changes, `-` deletes.

use std::path::Path;

use groma_run::engine::plan::Plan;

use super::Look;

/// Everything about a plan that a person should see before saying yes. Begins and ends as a block of its own.
pub(crate) fn plan(plan: &Plan, look: &Look) -> String {
    let _ = (plan, look);
    String::new()
}

/// What to do with the plan now: where it was saved, where configuration was written. Empty in automation.
pub(crate) fn next_step(saved: Option<&Path>, generated: Option<&Path>, look: &Look) -> String {
    let _ = (saved, generated, look);
    String::new()
}
