//! Which kind of failure an answer is. The order matters: who asks comes before what is asked for.

use super::{FailureKind, Status};

/// The kind of failure.
pub(super) fn kind(code: u16, status: &Status) -> FailureKind {
    let said = status.message.as_str();
    match code {
        400 if said.contains("HTTP request to an HTTPS server") => FailureKind::Unreachable,
        401 => FailureKind::Unauthenticated,
        403 if is_terminating(status) => FailureKind::NoNamespace,
        403 if is_rbac(said) => FailureKind::Denied,
        403 => FailureKind::Invalid,
        404 if is_about_namespace(status) => FailureKind::NoNamespace,
        404 if is_unserved(status) => FailureKind::UnknownKind,
        404 => FailureKind::Other,
        409 if status.reason == "AlreadyExists" => FailureKind::AlreadyExists,
        409 if is_apply_conflict(status) => FailureKind::Conflict,
        409 | 410 => FailureKind::Outdated,
        400 | 415 | 422 | 500 if is_unknown_field(said) => FailureKind::UnknownField,
        422 if is_immutable(status) => FailureKind::Immutable,
        400 | 413 | 415 | 422 => FailureKind::Invalid,
        500 if is_bad_object(said) => FailureKind::Invalid,
        408 | 429 | 500..=599 => FailureKind::Busy,
        _ => FailureKind::Other,
    }
}

/// The authorizer's words; what else is forbidden comes from admission. A refusal without such words is taken for the former.
fn is_rbac(said: &str) -> bool {
    let by_authorizer = said.contains("User \"") && said.contains(" cannot ");
    !is_admission(said) && (by_authorizer || !said.contains("is forbidden:"))
}

fn is_admission(said: &str) -> bool {
    ["admission webhook", "denied the request", "denied request", "exceeded quota", "violates PodSecurity"]
        .iter()
        .any(|words| said.contains(words))
}

fn causes(status: &Status) -> impl Iterator<Item = &super::Cause> {
    status.details.iter().filter_map(|details| details.causes.as_ref()).flatten().filter(|cause| !cause.is_remark())
}

/// The namespace goes away: it must be gone and made again first, as if it did not exist.
fn is_terminating(status: &Status) -> bool {
    causes(status).any(|cause| cause.reason == "NamespaceTerminating")
        || status.message.contains("because it is being terminated")
}

fn is_about_namespace(status: &Status) -> bool {
    status.details.as_ref().is_some_and(|details| details.kind == "namespaces" && !details.name.is_empty())
        && status.message.starts_with("namespaces ")
}

/// There is no such path: the kind went away, or has not come yet.
fn is_unserved(status: &Status) -> bool {
    let named = status.details.as_ref().is_some_and(|details| !details.name.is_empty());
    !named
        && (status.message.contains("page not found")
            || status.message.contains("could not find the requested resource")
            || status.message.is_empty())
}

fn is_apply_conflict(status: &Status) -> bool {
    status.message.starts_with("Apply failed with")
        || causes(status).any(|cause| cause.reason == "FieldManagerConflict")
}

fn is_unknown_field(said: &str) -> bool {
    ["field not declared in schema", "unknown field \"", "duplicate field \""].iter().any(|words| said.contains(words))
}

/// Errors of the merge itself, which servers call internal.
fn is_bad_object(said: &str) -> bool {
    let words =
        ["failed to create typed patch object", "failed to convert new object", "unable to decode", "error decoding"];
    words.iter().any(|words| said.contains(words))
}

/// Whether everything that is wrong is that something cannot be changed. If more is wrong, a new object would be refused too.
fn is_immutable(status: &Status) -> bool {
    let mut any = false;
    for cause in causes(status) {
        if !says_immutable(&cause.message) {
            return false;
        }
        any = true;
    }
    any || says_immutable(&status.message)
}

fn says_immutable(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    let words = [
        "immutable",
        "cannot be changed",
        "can not be changed",
        "cannot be modified",
        "cannot change roleref",
        "may not be modified",
        "may not be changed",
        "may not be updated",
        "may not change",
        "self == oldself",
    ];
    let updates_forbidden = || said.split_once("updates to ").is_some_and(|(_, behind)| behind.contains("forbidden"));
    words.iter().any(|words| said.contains(words)) || updates_forbidden()
}
