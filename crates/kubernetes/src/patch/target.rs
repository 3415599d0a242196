//! What a patch must not touch: objects that are managed here as a whole, and what other patches set.

use std::collections::BTreeSet;

use groma_kit::at;
use groma_model::diag::Diagnostic;

use crate::Json;
use crate::manifest::ObjectRef;
use crate::object::claim::owner;
use crate::object::fields::leaves;
use crate::object::naming::shown;
use crate::ownership::{MANAGER, owned_by};
use crate::path::FieldPath;

/// What the names of managers of patches begin with.
const PREFIX: &str = "k8sconnect-patch-";
/// How many places are named.
const MOST_NAMED: usize = 10;

/// The manager of a patch. There is one for each, so that each can let go alone.
pub(super) fn manager(id: &str) -> String {
    format!("{PREFIX}{id}")
}

/// Why an object is not to be patched, if it is managed as a whole.
pub(super) fn managed_as_a_whole(live: &Json, target: &ObjectRef) -> Option<Diagnostic> {
    let is_managed = owner(live).is_some() || !owned_by(live, |name| name == MANAGER).is_empty();
    is_managed.then(|| {
        let detail = format!(
            "{} is managed as a whole by a k8sconnect_object, here or elsewhere. The two would undo each other's changes.",
            shown(target)
        );
        Diagnostic::error("Object is not to be patched", detail)
            .at_path(at("target"))
            .hint("Write what is to change into the yaml_body of that resource.")
    })
}

/// Why a patch is not made, if another one sets the same fields. `touched` is what it sets; `live` is the object before that, since the
/// patch takes them from whoever has them.
pub(super) fn overlap(
    live: &Json,
    touched: &BTreeSet<FieldPath>,
    own_manager: &str,
    target: &ObjectRef,
) -> Option<Diagnostic> {
    let is_other = |name: &str| name.starts_with(PREFIX) && name != own_manager;
    let both = overlapping(live, touched, &owned_by(live, is_other));
    (!both.is_empty()).then(|| {
        let owner = |place: &FieldPath| managers_of(live, place).into_iter().find(|name| is_other(name));
        let tell = |place: &FieldPath| match owner(place) {
            Some(owner) => format!("\n  - {place} (by {owner})"),
            None => format!("\n  - {place}"),
        };
        let named: Vec<String> = both.iter().take(MOST_NAMED).map(tell).collect();
        let detail = format!(
            "Another k8sconnect_patch sets the same fields of {}:{}\nOf two patches that set a field, the last one wins; so \
             each field may be in one only.",
            shown(target),
            named.concat()
        );
        Diagnostic::error("Patches overlap", detail).at_path(at("target"))
    })
}

/// Who has a place, or what is around or inside it.
fn managers_of(live: &Json, place: &FieldPath) -> Vec<String> {
    let entries = live.pointer("/metadata/managedFields").and_then(Json::as_array).into_iter().flatten();
    let names: BTreeSet<&str> = entries.filter_map(|entry| entry.get("manager")?.as_str()).collect();
    let has = |name: &&str| {
        !overlapping(live, &BTreeSet::from([place.clone()]), &owned_by(live, |other| other == *name)).is_empty()
    };
    names.into_iter().filter(has).map(str::to_owned).collect()
}

/// The places that both touch.
fn overlapping(object: &Json, ours: &BTreeSet<FieldPath>, others: &BTreeSet<FieldPath>) -> Vec<FieldPath> {
    // Elements of lists are compared by where they are, since some patches name them so.
    let located = |places: &BTreeSet<FieldPath>| -> Vec<(FieldPath, FieldPath)> {
        let locate = |place: FieldPath| (place.located(object).unwrap_or_else(|| place.clone()), place);
        leaves(places.clone()).into_iter().map(locate).collect()
    };
    let others = located(others);
    let meets = |place: &FieldPath| others.iter().any(|(other, _)| place.covers(other) || other.covers(place));
    located(ours).into_iter().filter(|(place, _)| meets(place)).map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::path::{Literal, Step};

    fn container(field: &str) -> FieldPath {
        FieldPath::of(["containers"]).join(Step::Key(vec![("name".to_owned(), Literal::text("b"))])).field(field)
    }

    #[test]
    fn disjoint_patches_may_share_an_element() {
        let object = json!({"containers": [{"name": "a"}, {"name": "b", "image": "i", "tty": true}]});
        let ours = BTreeSet::from([container("name"), container("image")]);
        let others = BTreeSet::from([container("name"), container("tty")]);
        assert_eq!(overlapping(&object, &ours, &others), []);
    }

    #[test]
    fn elements_meet_however_they_are_named() {
        let object = json!({"containers": [{"name": "a"}, {"name": "b", "image": "i"}]});
        let by_index = FieldPath::of(["containers"]).join(Step::Index(1)).field("image");
        let others = BTreeSet::from([container("image")]);
        assert_eq!(overlapping(&object, &BTreeSet::from([by_index.clone()]), &others), [by_index]);
        let whole = FieldPath::of(["containers"]);
        assert_eq!(overlapping(&object, &BTreeSet::from([whole.clone()]), &others), [whole]);
        let other_element = FieldPath::of(["containers"]).join(Step::Index(0)).field("image");
        assert_eq!(overlapping(&object, &BTreeSet::from([other_element]), &others), []);
    }
}
