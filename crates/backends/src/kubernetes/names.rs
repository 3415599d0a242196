//! How the objects of one state are called, and the labels that they are found by.

use std::collections::BTreeMap;

use groma_state::{Digest, WorkspaceName};

/// The label of every state.
pub(super) const STATE: &str = "tfstate";
/// The label with the suffix.
pub(super) const SUFFIX: &str = "tfstateSecretSuffix";
/// The label with the workspace.
pub(super) const WORKSPACE: &str = "tfstateWorkspace";
/// The label that says who made it.
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// The label of the Secrets of a journal, which have none of those above.
pub(super) const JOURNAL: &str = "groma.dev/journal";
/// The label of Secrets that are about to become parts of a state.
pub(super) const STAGED: &str = "groma.dev/staged";

/// The label that says whom a state is kept for, if somebody must find it when its namespace is deleted.
pub(super) const KEPT_FOR: &str = "groma.dev/kept-for";
/// The finalizer that keeps it. Whoever it is kept for takes it away.
const KEPT: &str = "groma.dev/kept";

/// The longest name that an object can have.
const LONGEST: usize = 253;

/// The names of everything that belongs to one state.
#[derive(Debug, Clone)]
pub(super) struct Names {
    pub(super) namespace: String,
    /// The Secret with the state, or the first part of it.
    pub(super) secret: String,
    /// The Lease that it is locked by.
    pub(super) lease: String,
    /// What a Secret with a state or a part of one is labelled with.
    pub(super) labels: BTreeMap<String, String>,
    /// What the Secrets of its journal are labelled with, and those that are about to become parts.
    hidden: String,
}

impl Names {
    pub(super) fn new(
        namespace: &str,
        workspace: &WorkspaceName,
        suffix: &str,
        labels: &BTreeMap<String, String>,
    ) -> Result<Self, String> {
        let secret = format!("tfstate-{workspace}-{suffix}");
        if let Some(problem) = problem_of(&secret) {
            return Err(format!(
                "the secret name {secret} is invalid: {problem}. This is a requirement for Kubernetes secret names: the \
                 workspace and secret_suffix must adhere to it"
            ));
        }
        let lease = format!("lock-{secret}");
        if lease.len() > LONGEST {
            return Err(format!("the lease name {lease} is invalid: it must be no more than {LONGEST} characters"));
        }
        let mut all: BTreeMap<String, String> =
            [(STATE, "true"), (SUFFIX, suffix), (WORKSPACE, workspace.as_str()), (MANAGED_BY, "terraform")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into();
        all.extend(labels.clone());
        // Label values are short; names need not be.
        let hidden = Digest::of(secret.as_bytes()).to_string()[..32].to_owned();
        Ok(Self { namespace: namespace.to_owned(), secret, lease, labels: all, hidden })
    }

    /// A further part of the state. The first of them is number 1.
    pub(super) fn part(&self, number: usize) -> String {
        format!("{}-part-{number}", self.secret)
    }

    /// The number of a further part.
    pub(super) fn part_number(&self, name: &str) -> Option<usize> {
        name.strip_prefix(&self.secret)?.strip_prefix("-part-")?.parse().ok()
    }

    /// What is about to become a further part.
    pub(super) fn staged(&self, version: &str, number: usize) -> String {
        format!("groma-staged-{}-{version}-{number}", self.hidden)
    }

    /// A Secret of the journal.
    pub(super) fn journal(&self, name: &str) -> String {
        format!("groma-journal-{}-{name}", self.hidden)
    }

    /// What a Secret of the journal is called by the journal.
    pub(super) fn in_journal<'n>(&self, name: &'n str) -> Option<&'n str> {
        name.strip_prefix("groma-journal-")?.strip_prefix(&self.hidden)?.strip_prefix('-')
    }

    pub(super) fn journal_labels(&self) -> BTreeMap<String, String> {
        let kept = self.labels.get(KEPT_FOR).map(|whom| (KEPT_FOR.to_owned(), whom.clone()));
        kept.into_iter().chain([(JOURNAL.to_owned(), self.hidden.clone())]).collect()
    }

    /// Whether what belongs to this state is kept for somebody, whatever becomes of its namespace.
    pub(super) fn is_kept(&self) -> bool {
        self.labels.contains_key(KEPT_FOR)
    }

    /// The finalizers of what is made for this state.
    pub(super) fn finalizers(&self) -> Option<Vec<String>> {
        self.is_kept().then(|| vec![KEPT.to_owned()])
    }

    pub(super) fn staged_labels(&self) -> BTreeMap<String, String> {
        [(STAGED.to_owned(), self.hidden.clone())].into()
    }

    pub(super) fn journal_selector(&self) -> String {
        format!("{JOURNAL}={}", self.hidden)
    }

    pub(super) fn staged_selector(&self) -> String {
        format!("{STAGED}={}", self.hidden)
    }

    /// Finds the parts of this state, whoever has made them. The labels of the user may have changed since.
    pub(super) fn selector(&self) -> String {
        let of = |name: &str| self.labels.get(name).map(String::as_str).unwrap_or_default();
        format!("{STATE}=true,{SUFFIX}={},{WORKSPACE}={}", of(SUFFIX), of(WORKSPACE))
    }
}

/// What is wrong with the name of an object.
fn problem_of(name: &str) -> Option<String> {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let fits = |part: &str| {
        let bytes = part.as_bytes();
        bytes.first().is_some_and(|byte| allowed(*byte))
            && bytes.last().is_some_and(|byte| allowed(*byte))
            && bytes.iter().all(|byte| allowed(*byte) || *byte == b'-')
    };
    if name.len() > LONGEST {
        return Some(format!("it must be no more than {LONGEST} characters"));
    }
    (!name.split('.').all(fits)).then(|| {
        "it must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(workspace: &str, suffix: &str) -> Result<Names, String> {
        let labels = [("team".to_owned(), "sea".to_owned())].into();
        Names::new("tools", &WorkspaceName::parse(workspace).unwrap(), suffix, &labels)
    }

    #[test]
    fn objects_are_called_as_the_other_tools_call_them() {
        let names = names("default", "app").unwrap();
        assert_eq!(names.secret, "tfstate-default-app");
        assert_eq!(names.lease, "lock-tfstate-default-app");
        assert_eq!(names.part(2), "tfstate-default-app-part-2");
        assert_eq!(names.part_number("tfstate-default-app-part-12"), Some(12));
        assert_eq!(names.part_number("tfstate-default-app"), None);
        assert_eq!(names.part_number("tfstate-default-app-part-x"), None);
        let labels: Vec<String> = names.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            labels,
            [
                "app.kubernetes.io/managed-by=terraform",
                "team=sea",
                "tfstate=true",
                "tfstateSecretSuffix=app",
                "tfstateWorkspace=default"
            ]
        );
        assert_eq!(names.selector(), "tfstate=true,tfstateSecretSuffix=app,tfstateWorkspace=default");
    }

    #[test]
    fn a_journal_is_not_found_by_the_labels_of_states() {
        let names = names("default", "app").unwrap();
        assert!(!names.journal_labels().keys().any(|label| names.labels.contains_key(label)));
        let name = names.journal("1-ab-00000000");
        assert_eq!(names.in_journal(&name), Some("1-ab-00000000"));
        assert_eq!(names.in_journal("tfstate-default-app"), None);
        assert_eq!(problem_of(&name), None);
        assert!(names.journal_labels().values().all(|value| value.len() <= 63));
    }

    #[test]
    fn what_is_kept_says_for_whom() {
        let kept = [(KEPT_FOR.to_owned(), "app".to_owned())].into();
        let names = Names::new("tools", &WorkspaceName::default_workspace(), "app", &kept).unwrap();
        assert_eq!(names.journal_labels().get(KEPT_FOR).map(String::as_str), Some("app"));
        assert_eq!(names.finalizers(), Some(vec![KEPT.to_owned()]));
        assert_eq!(self::names("default", "app").unwrap().finalizers(), None);
    }

    #[test]
    fn names_that_no_object_can_have_are_refused() {
        assert!(names("default", "a.b-c").is_ok());
        for bad in ["App", "app_1", "app-", "a..b", ""] {
            let error = names("default", bad).unwrap_err();
            assert!(error.contains("is invalid"), "{bad}: {error}");
        }
        assert!(names("Prod", "app").is_err());
        assert!(names("default", &"x".repeat(240)).is_err());
        assert!(names("default", &"x".repeat(235)).unwrap_err().contains("lease"));
    }
}
