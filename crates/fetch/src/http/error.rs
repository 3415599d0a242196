//! What goes wrong with a request. Addresses are shown without their secrets, tokens never.

use reqwest::StatusCode;
use thiserror::Error;

/// Why a request has no usable answer.
#[derive(Debug, Clone, Error)]
pub enum HttpError {
    /// The client itself cannot be made (bad proxy, bad certificates).
    #[error("cannot set up the HTTP client: {0}")]
    Setup(String),
    /// The address cannot be asked.
    #[error("cannot request {url}: {reason}")]
    Address {
        /// Which address.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No connection, or it broke.
    #[error("cannot reach {url}: {reason}")]
    Connection {
        /// Which address.
        url: String,
        /// What happened.
        reason: String,
    },
    /// It took too long.
    #[error("no answer from {url} within {seconds} seconds")]
    Timeout {
        /// Which address.
        url: String,
        /// The limit.
        seconds: u64,
    },
    /// The server said no.
    #[error("{url} answered {status}{}", .detail.as_ref().map(|detail| format!(": {detail}")).unwrap_or_default())]
    Status {
        /// Which address.
        url: String,
        /// What it said.
        status: StatusCode,
        /// The beginning of what it said about it, if that is text.
        detail: Option<String>,
    },
    /// A redirect that is not followed.
    #[error("{url} redirects {reason}")]
    Redirect {
        /// Which address.
        url: String,
        /// Where to, or how often.
        reason: String,
    },
    /// More than was allowed.
    #[error("the answer from {url} is larger than the limit of {limit} bytes")]
    TooLarge {
        /// Which address.
        url: String,
        /// The limit.
        limit: u64,
    },
    /// Less than was promised.
    #[error("{url} promised {promised} bytes but sent {received}")]
    Incomplete {
        /// Which address.
        url: String,
        /// What the header says.
        promised: u64,
        /// What came.
        received: u64,
    },
    /// The answer is not what the protocol says.
    #[error("the answer from {url} cannot be read: {reason}")]
    Malformed {
        /// Which address.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The file that receives a download cannot be written.
    #[error("cannot write what {url} sends: {reason}")]
    Write {
        /// Which address.
        url: String,
        /// What the system says.
        reason: String,
    },
}

impl HttpError {
    /// The status, if the server gave one that ended the request.
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Status { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Whether nothing was heard from the server at all.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Connection { .. } | Self::Timeout { .. })
    }

    /// Whether another attempt could end better.
    pub(super) fn is_transient(&self) -> bool {
        matches!(self, Self::Connection { .. } | Self::Timeout { .. } | Self::Incomplete { .. })
    }
}

/// The causes of an error, innermost last, without the address (it is named already).
pub(super) fn causes(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(inner) = cause {
        let words = inner.to_string();
        if !text.contains(&words) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&words);
        }
        cause = inner.source();
    }
    if text.is_empty() { "the request failed".to_owned() } else { crate::redact::text(&text) }
}
