//! Why a plan does what it does, as JSON. A format of ours: the other tools have none.

use groma_engine::report::{AttributeChange, Difference, Explanation, Neighbour};
use groma_model::path::{Path, PathKey, PathStep};
use serde_json::{Value, json};

/// Counts up when something is taken away or means something else.
const FORMAT_VERSION: &str = "1.0";

/// All explanations, in one document.
pub fn explanations(found: &[Explanation]) -> Value {
    json!({ "format_version": FORMAT_VERSION, "explanations": found.iter().map(explanation).collect::<Vec<_>>() })
}

fn explanation(found: &Explanation) -> Value {
    json!({
        "address": found.address.to_string(),
        "deposed": found.deposed.as_ref().map(ToString::to_string),
        "actions": found.action.names(),
        "action_reason": found.reason.map(groma_engine::change::Reason::name),
        "summary": found.summary,
        "because": found.because,
        "attributes": found.attributes.iter().map(attribute).collect::<Vec<_>>(),
        "ignored": found.ignored.iter().map(path).collect::<Vec<_>>(),
        "drift": found.drift.iter().map(attribute).collect::<Vec<_>>(),
        "gone": found.gone,
        "drifted_dependencies": found.drifted_dependencies.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "replacement_order": found.replacement_order,
        "waits_for": found.waits_for.iter().map(neighbour).collect::<Vec<_>>(),
        "needed_by": found.needed_by.iter().map(neighbour).collect::<Vec<_>>(),
        "blocked": found.blocked,
    })
}

fn attribute(found: &AttributeChange) -> Value {
    let difference = match found.difference {
        Difference::Added => "added",
        Difference::Removed => "removed",
        Difference::Changed => "changed",
        Difference::Unknown => "unknown",
        Difference::Sensitivity => "sensitivity",
    };
    json!({
        "path": path(&found.path),
        "difference": difference,
        "forces_replacement": found.forces_replacement,
        "sensitive": found.sensitive,
        "before": found.before,
        "after": found.after,
    })
}

fn neighbour(found: &Neighbour) -> Value {
    json!({
        "address": found.address.to_string(),
        "deposed": found.deposed.as_ref().map(ToString::to_string),
        "step": found.step.done(),
    })
}

/// Names and numbers. An element of a set has neither.
fn path(path: &Path) -> Value {
    let step = |step: &PathStep| match step {
        PathStep::Attr(name) => json!(name.as_str()),
        PathStep::Index(PathKey::String(key)) => json!(key.as_str()),
        PathStep::Index(PathKey::Number(number)) => number.to_i64().map_or(Value::Null, |number| json!(number)),
        PathStep::Element(_) => json!({}),
    };
    path.steps().iter().map(step).collect()
}
