//! The attribute `wait_for`: its schema, what it says, and what is wrong with it.

use std::time::Duration;

use groma_kit::spec::{Attr, optional, required};
use groma_kit::{Object, at, parse_duration};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::schema::Nesting;
use groma_model::ty::Type;
use groma_model::value::Value;

use super::{WaitFor, Wanted, What};
use crate::jsonpath::JsonPath;

const WAIT_FOR: &str = "wait_for";
/// As long as that, if nothing else is said.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(10);
/// What is waited for is one of these.
const WAYS: [&str; 5] = ["field", "field_value", "condition", "rollout", "ready"];

/// Kinds that have nothing to roll out.
const NO_ROLLOUT: [&str; 20] = [
    "ConfigMap",
    "Secret",
    "Service",
    "Namespace",
    "ServiceAccount",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "Ingress",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodDisruptionBudget",
    "HorizontalPodAutoscaler",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "ClusterRoleBinding",
    "StorageClass",
    "Node",
    "Pod",
];

/// The attribute; `inline` is inside of an object, where it may be left out and has `ready` too.
pub(super) fn attribute(inline: bool) -> Attr {
    let field = ("field", optional(Type::String).doc("JSONPath of a field that must be there and not empty."));
    let field_value =
        ("field_value", optional(Type::map(Type::String)).doc("JSONPaths and the values that must be there, as text."));
    let condition =
        ("condition", optional(Type::String).doc("Type of a condition in `status.conditions` that must be True."));
    let rollout = (
        "rollout",
        optional(Type::Bool)
            .doc("Whether all pods of a Deployment, StatefulSet or DaemonSet must be new and available."),
    );
    let timeout = ("timeout", optional(Type::String).doc("How long to wait altogether. Default: `10m`."));
    if !inline {
        let attributes = [field, field_value, condition, rollout, timeout];
        return required(Type::Dynamic).nested(Nesting::Single, attributes).doc("What is waited for.");
    }
    let ready =
        ("ready", optional(Type::Bool).doc("Whether the object must be ready, whatever that means for its kind."));
    let attributes = [field, field_value, condition, rollout, ready, timeout];
    optional(Type::Dynamic)
        .nested(Nesting::Single, attributes)
        .doc("What is waited for after each change. Nothing that depends on the object begins before.")
}

/// What it says; none if it is null, or not wholly known.
pub(super) fn read(object: &Object) -> Result<Option<WaitFor>, Diagnostics> {
    let value = object.get(WAIT_FOR);
    if value.is_null() || !value.is_wholly_known() {
        return Ok(None);
    }
    let mut found = Diagnostics::new();
    let read = read_known(&Object::of(&value), &mut found);
    if found.has_errors() { Err(found) } else { Ok(Some(read)) }
}

fn read_known(wait: &Object, found: &mut Diagnostics) -> WaitFor {
    let what = if wait.flag("rollout") == Some(true) {
        What::Rollout
    } else if wait.flag("ready") == Some(true) {
        What::Ready
    } else if let Some(text) = wait.text("field") {
        match parsed(text, inside("field"), found) {
            Some(path) => What::Field { text: text.to_owned(), path },
            None => What::Nothing,
        }
    } else if let Some(wanted) = wait.text_map("field_value") {
        let wanted = wanted.into_iter().filter_map(|(text, value)| {
            let path = parsed(text, inside("field_value").key(text), found)?;
            Some(Wanted { text: text.to_owned(), path, value: value.to_owned() })
        });
        What::Values(wanted.collect())
    } else if let Some(condition) = wait.text("condition") {
        What::Condition(condition.to_owned())
    } else {
        What::Nothing
    };
    WaitFor { timeout: timeout(wait, found), what }
}

fn inside(name: &str) -> Path {
    at(WAIT_FOR).attr(name)
}

fn parsed(text: &str, path: Path, found: &mut Diagnostics) -> Option<JsonPath> {
    match JsonPath::parse(text) {
        Ok(parsed) => Some(parsed),
        Err(problem) => {
            let detail = format!(
                "{text:?} is no JSONPath: {problem}. Write it as \"status.phase\", \"status.loadBalancer.ingress[0].ip\" or \
                 \"status.conditions[?(@.type=='Ready')].status\"."
            );
            found.push(Diagnostic::error("Invalid JSONPath", detail).at_path(path));
            None
        }
    }
}

fn timeout(wait: &Object, found: &mut Diagnostics) -> Duration {
    let Some(text) = wait.text("timeout") else { return DEFAULT_TIMEOUT };
    let nanos = parse_duration(text).ok().and_then(|nanos| u64::try_from(nanos).ok()).filter(|nanos| *nanos > 0);
    if let Some(nanos) = nanos {
        return Duration::from_nanos(nanos);
    }
    let detail = format!("{text:?} is no duration above zero, such as \"30s\", \"5m\" or \"1h30m\".");
    found.push(Diagnostic::error("Invalid timeout", detail).at_path(inside("timeout")));
    DEFAULT_TIMEOUT
}

/// What is wrong with it. Parts that are unknown may still turn out right.
pub(super) fn validate(object: &Object, kind: Option<&str>) -> Diagnostics {
    let mut found = Diagnostics::new();
    let value = object.get(WAIT_FOR);
    if value.is_null() || !value.is_known() {
        return found;
    }
    let wait = Object::of(&value);
    let given: Vec<&str> = WAYS.into_iter().filter(|name| is_given(&wait, name)).collect();
    if let [first, second, ..] = given.as_slice()
        // A rollout beside something else is accepted by the published provider, which looks at the rollout alone.
        && !(given.contains(&"rollout") && given.len() == 2 && !given.contains(&"ready"))
    {
        let detail = format!("Only one of {} can be waited for, not both {first} and {second}.", WAYS.join(", "));
        found.push(Diagnostic::error("Several things to wait for", detail).at_path(inside(second)));
    }
    if wait.text("condition").is_some_and(|condition| condition.trim().is_empty()) {
        let detail = "Give the type of a condition, such as \"Ready\".";
        found.push(Diagnostic::error("Invalid condition", detail).at_path(inside("condition")));
    }
    if wait.flag("rollout") == Some(true)
        && let Some(kind) = kind.filter(|kind| NO_ROLLOUT.contains(kind))
    {
        let detail = format!(
            "A {kind} has nothing to roll out: that is for Deployment, StatefulSet and DaemonSet. Wait for a field or a \
             condition."
        );
        found.push(Diagnostic::error("Kind has no rollout", detail).at_path(inside("rollout")));
    }
    let _ = read_known(&only_known(&wait), &mut found);
    found
}

/// Whether an attribute says something. Whatever is unknown may turn out null.
fn is_given(wait: &Object, name: &str) -> bool {
    !wait.is_null(name) && !wait.is_unknown(name) && wait.flag(name) != Some(false)
}

/// Each part is looked at, even where another one counts more.
fn only_known(wait: &Object) -> Object {
    let mut known = wait.clone();
    for name in ["rollout", "ready"] {
        known.set(name, Value::null(Type::Bool));
    }
    known
}
