//! Checks that look at several attributes at once, with the messages that users of the published plugins know.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;

use crate::kit::Object;

fn invalid(name: &str, detail: String) -> Diagnostic {
    Diagnostic::error("Invalid Attribute Combination", detail).at_path(Path::root().attr(name))
}

fn is_given(config: &Object, name: &str) -> bool {
    !config.is_null(name) && !config.is_unknown(name)
}

/// Which attributes a message lists: the published plugins do not agree on that.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listed {
    /// All of them.
    All,
    /// All but the one that the message is about.
    Others,
}

/// Exactly one of the attributes must be given. Reported once for each of them, as the published plugins do.
pub(crate) fn exactly_one_of(config: &Object, names: &[&str], listed: Listed) -> Diagnostics {
    if names.iter().any(|name| config.is_unknown(name)) {
        return Diagnostics::new();
    }
    let count = names.iter().filter(|name| is_given(config, name)).count();
    if count == 1 {
        return Diagnostics::new();
    }
    let said = if count == 0 { "No attribute specified".to_owned() } else { format!("{count} attributes specified") };
    let report = |name: &&str| {
        let list: Vec<&str> = names.iter().filter(|other| listed == Listed::All || *other != name).copied().collect();
        invalid(name, format!("{said} when one (and only one) of [{}] is required", list.join(",")))
    };
    names.iter().map(report).collect()
}

/// Exactly one of the attributes must be given. Reported once.
pub(crate) fn one_for_all(config: &Object, names: &[&str]) -> Diagnostics {
    let detail = format!("Exactly one of these attributes must be configured: [{}]", names.join(","));
    let given: Vec<&&str> = names.iter().filter(|name| is_given(config, name)).collect();
    if let [first, _, ..] = given.as_slice() {
        return invalid(first, detail).into();
    }
    let undecided = names.iter().any(|name| config.is_unknown(name));
    if given.is_empty() && !undecided {
        return Diagnostic::error("Missing Attribute Configuration", detail).into();
    }
    Diagnostics::new()
}

/// All of the attributes must be given, or none.
pub(crate) fn together(config: &Object, names: &[&str]) -> Diagnostics {
    let given: Vec<&&str> = names.iter().filter(|name| is_given(config, name)).collect();
    let Some(first) = given.first() else { return Diagnostics::new() };
    if names.iter().any(|name| config.is_unknown(name)) || given.len() == names.len() {
        return Diagnostics::new();
    }
    invalid(first, format!("These attributes must be configured together: [{}]", names.join(","))).into()
}

/// Where one attribute is given, the other must be, too.
pub(crate) fn also_requires(config: &Object, name: &str, other: &str) -> Option<Diagnostic> {
    let missing = is_given(config, name) && config.is_null(other);
    missing.then(|| invalid(name, format!("Attribute {other:?} must be specified when {name:?} is specified")))
}

/// Where one attribute is given, the other must not be.
pub(crate) fn conflicts_with(config: &Object, name: &str, other: &str) -> Option<Diagnostic> {
    let both = is_given(config, name) && is_given(config, other);
    both.then(|| invalid(name, format!("Attribute {other:?} cannot be specified when {name:?} is specified")))
}
