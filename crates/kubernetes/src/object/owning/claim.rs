//! Whose an object is, by its annotation, and what that means for somebody who wants to write it.

use groma_model::diag::Diagnostic;

use crate::Json;
use crate::manifest::ObjectRef;
use crate::object::naming::{is_going, shown, uid};

/// Has the id of the resource that manages the object.
pub(crate) const ID_ANNOTATION: &str = "k8sconnect.terraform.io/terraform-id";
/// When that resource made it, or took it over.
pub(crate) const CREATED_ANNOTATION: &str = "k8sconnect.terraform.io/created-at";

/// The id of the resource that manages it.
pub(crate) fn owner(live: &Json) -> Option<&str> {
    annotation(live, ID_ANNOTATION)
}

pub(crate) fn annotation<'j>(live: &'j Json, name: &str) -> Option<&'j str> {
    live.get("metadata")?.get("annotations")?.get(name)?.as_str()
}

/// Who wants to make an object.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Claimant<'c> {
    /// Its id, if it has one already.
    pub(crate) id: Option<&'c str>,
    /// The UID of the object that it has by this name, if it has one: without an annotation it is still the same.
    pub(crate) has: Option<&'c str>,
    /// The id of the object that it replaces.
    pub(crate) replaces: Option<&'c str>,
    /// Whether it may take over what is there.
    pub(crate) adopts: bool,
}

/// What is to be done about what is there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Claim {
    /// Nothing is there.
    Free,
    /// It is ours: an earlier answer was lost.
    Ours,
    /// It is the object that is to be replaced, and goes before.
    Replaced,
    /// It is being deleted.
    Going,
    /// It may be taken over; with the id of who managed it until now.
    Adopted(Option<String>),
    /// Another resource manages it, by its id.
    Managed(String),
    /// Nobody manages it, but it is not ours either.
    Unmanaged,
}

/// What is to be done.
pub(crate) fn claim(live: Option<&Json>, claimant: Claimant<'_>) -> Claim {
    let Some(live) = live else { return Claim::Free };
    let owner = owner(live);
    if owner.is_some() && owner == claimant.id {
        return Claim::Ours;
    }
    if owner.is_none() && claimant.has.is_some() && claimant.has == uid(live) && !is_going(live) {
        return Claim::Ours;
    }
    if owner.is_some() && owner == claimant.replaces {
        return Claim::Replaced;
    }
    if is_going(live) {
        return Claim::Going;
    }
    match owner {
        owner if claimant.adopts => Claim::Adopted(owner.map(str::to_owned)),
        Some(other) => Claim::Managed(other.to_owned()),
        None => Claim::Unmanaged,
    }
}

/// Why an object that another resource manages is not touched.
pub(crate) fn managed_elsewhere(reference: &ObjectRef, other: &str) -> Diagnostic {
    let detail = format!(
        "{} exists and is managed by another resource: its annotation {ID_ANNOTATION} is {other:?}. That resource is in \
         another state, or at another address of this configuration.",
        shown(reference)
    );
    Diagnostic::error("Object is managed elsewhere", detail)
        .hint("If the address was renamed, say so with a moved block; then nothing has to be made.")
        .hint("If nobody manages it any more, import it, or set adopt = \"adopt\".")
}

/// Why an object that nobody manages is not touched.
pub(crate) fn exists_already(reference: &ObjectRef, type_name: &str) -> Diagnostic {
    let ObjectRef { api_version, kind, namespace, name } = reference;
    let place = namespace.as_ref().map(|namespace| format!("{namespace}:")).unwrap_or_default();
    let detail = format!(
        "{} exists already, and was not made by this configuration. It is not taken over silently.",
        shown(reference)
    );
    Diagnostic::error("Object exists already", detail).hint(format!(
        "To manage it from now on, import it:\n  import {{\n    to = {type_name}.<name>\n    id = \
         \"<context>:{place}{api_version}/{kind}:{name}\"\n  }}\nor set adopt = \"adopt\"."
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(owner: Option<&str>) -> Json {
        match owner {
            Some(owner) => json!({"metadata": {"annotations": {ID_ANNOTATION: owner}}}),
            None => json!({"metadata": {}}),
        }
    }

    #[test]
    fn what_is_not_there_is_free() {
        assert_eq!(claim(None, Claimant::default()), Claim::Free);
    }

    #[test]
    fn nothing_is_taken_over_silently() {
        let us = Claimant { id: Some("a"), ..Claimant::default() };
        assert_eq!(claim(Some(&of(None)), us), Claim::Unmanaged);
        assert_eq!(claim(Some(&of(Some("b"))), us), Claim::Managed("b".to_owned()));
    }

    #[test]
    fn who_may_adopt_takes_both() {
        let us = Claimant { id: Some("a"), adopts: true, ..Claimant::default() };
        assert_eq!(claim(Some(&of(None)), us), Claim::Adopted(None));
        assert_eq!(claim(Some(&of(Some("b"))), us), Claim::Adopted(Some("b".to_owned())));
    }

    #[test]
    fn what_we_made_ourselves_is_ours() {
        let us = Claimant { id: Some("a"), adopts: true, ..Claimant::default() };
        assert_eq!(claim(Some(&of(Some("a"))), us), Claim::Ours);
    }

    #[test]
    fn what_we_have_is_ours_without_its_annotation() {
        let mut live = of(None);
        live["metadata"]["uid"] = json!("u");
        let us = Claimant { id: Some("a"), has: Some("u"), ..Claimant::default() };
        assert_eq!(claim(Some(&live), us), Claim::Ours);
        assert_eq!(claim(Some(&live), Claimant { has: Some("v"), ..us }), Claim::Unmanaged);
        let mut theirs = of(Some("b"));
        theirs["metadata"]["uid"] = json!("u");
        assert_eq!(claim(Some(&theirs), us), Claim::Managed("b".to_owned()));
    }

    #[test]
    fn what_is_replaced_is_in_nobodys_way() {
        let us = Claimant { replaces: Some("old"), ..Claimant::default() };
        assert_eq!(claim(Some(&of(Some("old"))), us), Claim::Replaced);
        // An object without annotation is replaced by nobody, even if nobody is replaced.
        assert_eq!(claim(Some(&of(None)), Claimant::default()), Claim::Unmanaged);
    }

    #[test]
    fn what_is_being_deleted_is_waited_for() {
        let mut live = of(Some("b"));
        live["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        let adopts = Claimant { adopts: true, ..Claimant::default() };
        assert_eq!(claim(Some(&live), adopts), Claim::Going);
        assert_eq!(claim(Some(&live), Claimant::default()), Claim::Going);
    }
}
