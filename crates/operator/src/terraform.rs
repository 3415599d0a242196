//! Objects of tofu-controller become Stacks, and what those say goes back into their status, in the words that its users know.
//!
//! [`wanted`] says which Stack an object asks for and what of it cannot be had; [`told`] says what its status says; both touch nothing.
//! [`reconcile`] looks at one object, [`rival`] finds out whether tofu-controller itself still works, [`state`] reads what states and their locks
//! say. How a Stack becomes infrastructure is no business of anything here.
//!
//! An object that tofu-controller has worked on is only planned until somebody says that it is ours (`groma.dev/taken-over`): nothing of it is
//! written meanwhile, so that tofu-controller could go on.

pub mod reconcile;
pub mod rival;
pub mod state;
pub mod told;
pub mod wanted;

use sha2::{Digest as _, Sha256};

use crate::api::names;
use crate::api::terraform::{FINALIZER, Terraform};
use crate::objects::Kind;

/// Names of Stacks that we make are not longer: they stand in labels, with the number of a run behind them.
const MOST_NAME: usize = 52;
/// How much of the content of a plan is in the id that people see.
const SHOWN_HEX: usize = 10;

/// The kind.
pub fn kind() -> Kind {
    Kind::of::<Terraform>()
}

/// What the Stack of an object is called. No kind of a Blueprint gives such a name, as no object has one that begins with a dash.
pub fn stack_name(name: &str) -> String {
    let whole = format!("terraform--{name}");
    if whole.len() <= MOST_NAME {
        return whole;
    }
    let mark = hex::encode(Sha256::digest(whole.as_bytes()));
    let begin: String = whole.chars().take(MOST_NAME - 9).collect();
    format!("{}-{}", begin.trim_end_matches(['-', '.']), &mark[..8])
}

/// The id of a plan as people see it: `plan-<branch>-<10 hex>`. The branch is that of the revision; the rest is made of what the plan does.
pub fn plan_id(revision: &str, plan: &str) -> String {
    let content: String = plan.trim_start_matches("plan-").chars().take(SHOWN_HEX).collect();
    match branch(revision) {
        Some(branch) => format!("plan-{branch}-{content}"),
        None => format!("plan-{content}"),
    }
}

/// `main` of `main@sha1:…`, or of `main/…` as it was written before.
fn branch(revision: &str) -> Option<&str> {
    let (branch, _) = revision.rsplit_once('@').or_else(|| revision.rsplit_once('/'))?;
    (!branch.is_empty()).then_some(branch)
}

/// Whose an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Ours.
    Ours,
    /// tofu-controller has worked on it, and nobody has said yet that we do now.
    Theirs,
}

/// Whose an object is. What nobody has worked on is ours.
pub fn standing(object: &Terraform) -> Standing {
    let notes = object.metadata.annotations.as_ref();
    let is_taken = notes.is_some_and(|notes| notes.contains_key(names::TAKEN_OVER));
    let is_held = object.metadata.finalizers.iter().flatten().any(|held| held == FINALIZER);
    if is_held && !is_taken { Standing::Theirs } else { Standing::Ours }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_branch_and_the_content() {
        let plan = "plan-0123456789abcdef0123456789abcdef";
        assert_eq!(plan_id("main@sha1:b8e362c206", plan), "plan-main-0123456789");
        assert_eq!(plan_id("feature/x@sha1:b8e3", plan), "plan-feature/x-0123456789");
        assert_eq!(plan_id("main/b8e362c206", plan), "plan-main-0123456789");
        assert_eq!(plan_id("sha256:b8e362c206", plan), "plan-0123456789");
        assert_eq!(plan_id("", plan), "plan-0123456789");
    }

    #[test]
    fn names_are_short_and_told_apart() {
        assert_eq!(stack_name("app"), "terraform--app");
        let (one, other) = (stack_name(&format!("{}a", "x".repeat(60))), stack_name(&format!("{}b", "x".repeat(60))));
        assert_ne!(one, other);
        assert!(one.len() <= MOST_NAME);
    }

    #[test]
    fn what_tofu_controller_has_worked_on_is_theirs_until_somebody_says_otherwise() {
        let mut object = Terraform::default();
        assert_eq!(standing(&object), Standing::Ours);
        object.metadata.finalizers = Some(vec![FINALIZER.to_owned()]);
        assert_eq!(standing(&object), Standing::Theirs);
        object.metadata.annotations = Some([(names::TAKEN_OVER.to_owned(), "ana".to_owned())].into());
        assert_eq!(standing(&object), Standing::Ours);
    }
}
