//! What can go wrong between us and a cluster, in words that say what to do.

use groma_model::diag::Diagnostic;
use groma_operator::objects::StoreError;

use crate::failure::Failure;

/// Why a command about Stacks could not do its work.
#[derive(Debug, thiserror::Error)]
pub(in crate::commands) enum Trouble {
    /// Nothing to do with clusters.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// No cluster is named, or nobody answers there.
    #[error("{0}")]
    NoCluster(String),
    /// The kinds are not known there.
    #[error("the kinds of groma are not known there")]
    NotInstalled,
    /// There is no such Stack.
    #[error("there is no Stack {name} in the namespace {namespace}")]
    NoStack {
        /// Where it was looked for.
        namespace: String,
        /// What was looked for.
        name: String,
        /// What may have been meant.
        similar: Vec<String>,
    },
    /// About objects.
    #[error(transparent)]
    Store(StoreError),
    /// What was asked for makes no sense now.
    #[error("{1}")]
    Refused(&'static str, String),
}

/// `kubectl` would say the same about kinds that are not there, and about objects: the former are listed under no name.
impl From<StoreError> for Trouble {
    fn from(problem: StoreError) -> Self {
        match problem {
            StoreError::Missing(place) if place.name == "*" && place.kind.group == groma_operator::api::GROUP => {
                Self::NotInstalled
            }
            StoreError::Away { reason, .. } => Self::NoCluster(reason),
            problem => Self::Store(problem),
        }
    }
}

impl Trouble {
    /// In words.
    pub(in crate::commands) fn diagnostic(&self) -> Diagnostic {
        match self {
            Self::NoCluster(reason) => {
                let detail = format!(
                    "{}\n\nThe cluster is found as kubectl finds it: by --kubeconfig, by KUBECONFIG, in ~/.kube/config, or from \
                     inside of a pod; --context chooses among several.",
                    sentence(reason)
                );
                Diagnostic::error("No answer from the cluster", detail)
            }
            Self::NotInstalled => {
                let detail = "There are no Stacks in this cluster, as it does not know what they are. Whoever may, can tell it:\n\n  \
                              groma operator crds | kubectl apply -f -\n\nand \"groma operator install\" prints everything that \
                              the operator needs.";
                Diagnostic::error("groma is not installed in this cluster", detail)
            }
            Self::NoStack { namespace, name, similar } => {
                let detail = match similar.as_slice() {
                    [] => format!("There is no Stack {name:?} in the namespace {namespace:?}."),
                    similar => format!(
                        "There is no Stack {name:?} in the namespace {namespace:?}. Did you mean one of these?\n  - {}",
                        similar.join("\n  - ")
                    ),
                };
                Diagnostic::error("No such Stack", detail)
            }
            Self::Store(StoreError::Forbidden { doing, reason }) => Diagnostic::error(
                "Not allowed",
                format!("The cluster does not allow {doing}: {}.", reason.trim_end_matches('.')),
            ),
            Self::Store(StoreError::Conflict(place)) => {
                let detail = format!("{place} is changed by somebody else again and again. Try again.");
                Diagnostic::error("Somebody else was faster", detail)
            }
            Self::Store(problem) => Diagnostic::error("The cluster refused", sentence(&problem.to_string())),
            Self::Refused(summary, detail) => Diagnostic::error(*summary, detail.clone()),
            Self::Failure(failure) => Diagnostic::error(failure.chain(), ""),
        }
    }
}

/// With a beginning and an end.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    let end = if text.ends_with(['.', '?', '!']) { "" } else { "." };
    let mut rest = text.chars();
    let first = rest.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}{end}", rest.as_str())
}

#[cfg(test)]
mod tests {
    use groma_operator::api::stack::Stack;
    use groma_operator::objects::{Kind, Place};

    use super::*;

    #[test]
    fn kinds_that_are_not_known_are_not_objects_that_are_not_there() {
        let missing = |name: &str| Trouble::from(StoreError::Missing(Place::new(Kind::of::<Stack>(), "a", name)));
        assert!(matches!(missing("*"), Trouble::NotInstalled));
        assert!(matches!(missing("b"), Trouble::Store(_)));
        assert!(missing("*").diagnostic().detail.contains("groma operator crds | kubectl apply -f -"));
    }

    #[test]
    fn similar_names_are_listed() {
        let none = Trouble::NoStack { namespace: "a".into(), name: "b".into(), similar: Vec::new() };
        assert_eq!(none.diagnostic().detail, "There is no Stack \"b\" in the namespace \"a\".");
        let some = Trouble::NoStack { namespace: "a".into(), name: "b".into(), similar: vec!["c/b".into()] };
        assert!(some.diagnostic().detail.ends_with("Did you mean one of these?\n  - c/b"));
    }
}
