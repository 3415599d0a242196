//! What a cluster refuses, in words: with the verb and the object, so that people see which right is missing.

use std::error::Error;
use std::io;

use groma_state::{LockError, StoreError};

use crate::BackendError;

/// Something that was tried.
#[derive(Debug, Clone)]
pub(super) struct Doing {
    verb: &'static str,
    resource: &'static str,
    namespace: String,
    name: String,
}

/// Something that failed.
#[derive(Debug)]
pub(super) struct Trouble {
    doing: String,
    reason: String,
}

impl Trouble {
    /// Something that is about to be tried, with an object or with all of them.
    pub(super) fn when(verb: &'static str, resource: &'static str, namespace: &str, name: &str) -> Doing {
        Doing { verb, resource, namespace: namespace.to_owned(), name: name.to_owned() }
    }

    /// Something that failed before anything was asked for.
    pub(super) fn connecting(reason: String) -> Self {
        Self { doing: "connect to the cluster".to_owned(), reason }
    }

    pub(super) fn backend(self) -> BackendError {
        BackendError::Remote { doing: self.doing, source: self.reason.into() }
    }

    pub(super) fn store(self) -> StoreError {
        StoreError::Remote { doing: self.doing, source: self.reason.into() }
    }

    pub(super) fn lock(self) -> LockError {
        LockError::Remote { doing: self.doing, source: self.reason.into() }
    }

    pub(super) fn io(self) -> io::Error {
        io::Error::other(format!("could not {}: {}", self.doing, self.reason))
    }
}

impl Doing {
    fn text(&self) -> String {
        let Doing { verb, resource, namespace, name } = self;
        if name.is_empty() {
            return format!("{verb} {resource} in namespace {namespace}");
        }
        let one = resource.strip_suffix('s').unwrap_or(resource);
        format!("{verb} {one} {namespace}/{name}")
    }

    /// It failed for a reason of our own.
    pub(super) fn because(self, reason: impl Into<String>) -> Trouble {
        Trouble { doing: self.text(), reason: reason.into() }
    }

    /// It failed with this.
    pub(super) fn of(self, error: kube::Error) -> Trouble {
        let Doing { verb, resource, namespace, .. } = &self;
        let reason = match &error {
            kube::Error::Api(status) if status.code == 403 => format!(
                "{}. Whoever uses this backend needs the verb \"{verb}\" for \"{resource}\" in namespace \"{namespace}\"",
                status.message
            ),
            kube::Error::Api(status) if status.code == 401 => {
                "the cluster does not know who is asking: the token, certificate or password is missing, wrong or too old"
                    .to_owned()
            }
            kube::Error::Api(status) if is_about_namespace(status) => {
                format!("there is no namespace \"{namespace}\"; create it, or name another one")
            }
            kube::Error::Api(status) => status.message.clone(),
            kube::Error::HyperError(_) | kube::Error::Service(_) => {
                format!("the cluster cannot be reached: {}", causes(&error))
            }
            _ => causes(&error),
        };
        self.because(reason)
    }
}

fn is_about_namespace(status: &kube::core::Status) -> bool {
    let kind = status.details.as_ref().map(|details| details.kind.as_str());
    status.code == 404 && kind == Some("namespaces")
}

/// Whether there is no such object.
pub(super) fn is_missing(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404 && !is_about_namespace(status))
}

/// Whether somebody else has changed or made the object.
pub(super) fn is_conflict(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 409)
}

/// Whether nothing can be made there any more, by nobody, because the namespace is being deleted.
pub(super) fn is_ending(error: &kube::Error) -> bool {
    let kube::Error::Api(status) = error else { return false };
    let causes = status.details.as_ref().map(|details| details.causes.as_slice()).unwrap_or_default();
    status.code == 403 && causes.iter().any(|cause| cause.reason == "NamespaceTerminating")
}

/// What has led to an error, innermost last, without the names of types that clients put in front.
pub(super) fn causes(error: &dyn Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut next = error.source().or(Some(error));
    while let Some(cause) = next {
        let text = cause.to_string();
        if !parts.iter().any(|known| known.contains(&text)) {
            parts.push(text);
        }
        next = cause.source();
    }
    parts.join(": ")
}
