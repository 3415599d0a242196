//! What the API server refuses, as kinds of failures and as words for people: what, why, and what to do next.

mod classes;
mod told;
mod words;

#[cfg(test)]
mod tests;

use std::error::Error;

use serde::Deserialize;

pub(crate) use words::{kubectl, named};

/// Why a request failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    /// The server's own words, or those of the connection.
    pub(crate) message: String,
    /// The HTTP status, if there was an answer.
    pub(crate) code: Option<u16>,
    /// `details.causes` of the server's status: field and message.
    pub(crate) causes: Vec<(String, String)>,
}

/// Kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// 401.
    Unauthenticated,
    /// 403 by RBAC.
    Denied,
    /// No answer: refused, reset, DNS, TLS, timeout.
    Unreachable,
    /// The kind is not served (yet).
    UnknownKind,
    /// The namespace does not exist (yet).
    NoNamespace,
    /// 409 of server-side apply.
    Conflict,
    /// 409 because it exists.
    AlreadyExists,
    /// Strict field validation: unknown or duplicate fields.
    UnknownField,
    /// 422 about a field that cannot be changed.
    Immutable,
    /// 422, or 403 of admission: the object is not acceptable.
    Invalid,
    /// 429, 500, 503 after all retries.
    Busy,
    /// 410, or resourceVersion conflicts.
    Outdated,
    /// Anything else. An object that a patch is for and that is not there has code 404.
    Other,
}

/// The part of the server's `Status` that says why.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    message: String,
    reason: String,
    details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Details {
    name: String,
    kind: String,
    causes: Option<Vec<Cause>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Cause {
    reason: String,
    field: String,
    message: String,
}

impl Cause {
    /// Custom resources get one more cause, which is about no field: that other rules were not even looked at.
    fn is_remark(&self) -> bool {
        self.field == "<nil>"
    }
}

/// At most so much of what somebody else said is repeated.
const LONGEST: usize = 4_000;

impl Failure {
    /// A failure that has no answer of a server.
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), code: None, causes: Vec::new() }
    }

    /// What an answer means that is no success. `secret`: the object is one whose values must not be repeated.
    pub(crate) fn of_answer(code: u16, body: &[u8], secret: bool) -> Self {
        let status: Option<Status> = serde_json::from_slice(body).ok();
        let spoken = status.unwrap_or_else(|| Status { message: first_line(body), ..Status::default() });
        let kind = classes::kind(code, &spoken);
        let shown = |text: &str| shortened(&told::told(text, secret), LONGEST);
        let causes = spoken.details.and_then(|details| details.causes).unwrap_or_default();
        let causes = causes.iter().filter(|cause| !cause.is_remark());
        let causes = causes.map(|cause| (cause.field.clone(), shown(&cause.message))).collect();
        let message = match spoken.message.trim() {
            "" => format!("the server answered with status {code} and no reason"),
            said => shown(said),
        };
        Self { kind, message, code: Some(code), causes }
    }

    /// Why a request got no answer.
    pub(crate) fn of_connection(error: &kube::Error) -> Self {
        let mut next: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(cause) = next {
            // What programs print may be credentials, so the cause of that is not told.
            if cause.is::<kube::client::AuthError>() {
                return Self::new(FailureKind::Unauthenticated, "the credentials cannot be used");
            }
            next = cause.source();
        }
        Self::new(FailureKind::Unreachable, causes(error))
    }

    /// Whether the connection failed before anything was sent.
    pub(crate) fn is_before_sending(&self) -> bool {
        self.kind == FailureKind::Unreachable && self.message.contains("(Connect)")
    }

    /// Whether it is about a certificate, which does not change by asking again.
    pub(crate) fn is_about_certificate(&self) -> bool {
        self.kind == FailureKind::Unreachable && self.message.contains("certificate")
    }
}

/// What has led to an error, innermost last, without the names of types that clients put in front.
pub(crate) fn causes(error: &dyn Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut next = error.source().or(Some(error));
    while let Some(cause) = next {
        let text = cause.to_string();
        if !parts.iter().any(|known| known.contains(&text)) {
            parts.push(text);
        }
        next = cause.source();
    }
    shortened(&parts.join(": "), LONGEST)
}

/// What proxies and servers say that do not speak JSON.
fn first_line(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    shortened(line, 300)
}

/// A text cut at a length.
pub(crate) fn shortened(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
