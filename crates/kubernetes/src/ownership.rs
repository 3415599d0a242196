//! Who owns which fields: `managedFields` to places and managers.

mod fields;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::Json;
use crate::manifest::is_own_annotation;
use crate::path::{FieldPath, Step, is_empty};

/// The manager of objects, as the published provider calls itself.
pub(crate) const MANAGER: &str = "k8sconnect";
/// Holds what an object was made with and others decide from then on, until somebody else takes it.
pub(crate) const SEED_MANAGER: &str = "k8sconnect-seed";

/// Annotations that controllers and kubectl write for themselves.
const BUSY_ANNOTATIONS: [&str; 5] = [
    "deployment.kubernetes.io/",
    "kubectl.kubernetes.io/",
    "autoscaling.kubernetes.io/",
    "control-plane.alpha.kubernetes.io/",
    "kubernetes.io/",
];

/// The places that a manager owns: the deepest ones, and those above them that hold nothing.
pub(crate) fn owned_by(live: &Json, is_manager: impl Fn(&str) -> bool) -> BTreeSet<FieldPath> {
    let owned = fields::entries(live).filter(|(manager, _)| is_manager(manager));
    leaves(owned.flat_map(|(_, fields)| fields::places(fields)).collect(), live)
}

/// Every place that anybody owns, leaf or not.
pub(crate) fn all_owned(live: &Json) -> BTreeSet<FieldPath> {
    fields::entries(live).flat_map(|(_, fields)| fields::places(fields)).collect()
}

/// All leaf places and who owns them (the attribute `managed_fields`, §2.5): ours if we are among them, else the only other, else the
/// first by name. Who holds a place for others only comes last.
pub(crate) fn managers(live: &Json) -> BTreeMap<FieldPath, String> {
    let mut owners: BTreeMap<FieldPath, BTreeSet<&str>> = BTreeMap::new();
    for (manager, fields) in fields::entries(live) {
        for place in fields::places(fields) {
            owners.entry(place).or_default().insert(manager);
        }
    }
    let shown = leaves(owners.keys().cloned().collect(), live);
    let owners = owners
        .into_iter()
        .filter(|(place, _)| shown.contains(place) && !is_left_out(place) && !is_own_annotation(place));
    owners.map(|(place, managers)| (place, foremost(&managers).to_owned())).collect()
}

/// The lists whose elements have keys, and these keys. Elements of lists in the place are given by their index.
pub(crate) fn list_keys(live: &Json) -> BTreeMap<FieldPath, BTreeSet<String>> {
    let mut found: BTreeMap<FieldPath, BTreeSet<String>> = BTreeMap::new();
    for place in all_owned(live) {
        for (at, step) in place.0.iter().enumerate() {
            let Step::Key(keys) = step else { continue };
            let list = FieldPath(place.0.get(..at).unwrap_or_default().to_vec());
            if let Some(list) = list.located(live) {
                found.entry(list).or_default().extend(keys.iter().map(|(name, _)| name.clone()));
            }
        }
    }
    found
}

/// Whether an object says who owns its fields.
pub(crate) fn is_known(live: &Json) -> bool {
    fields::entries(live).next().is_some()
}

fn foremost<'m>(managers: &BTreeSet<&'m str>) -> &'m str {
    let rank = |manager: &str| match manager {
        MANAGER => 0,
        SEED_MANAGER => 2,
        _ => 1,
    };
    managers.iter().copied().min_by_key(|manager| (rank(manager), *manager)).unwrap_or_default()
}

/// Without places that have others below them, unless there is nothing below them in the object.
fn leaves(owned: BTreeSet<FieldPath>, live: &Json) -> BTreeSet<FieldPath> {
    // What lies in a place comes right behind it.
    let next = owned.iter().skip(1).map(Some).chain([None]);
    let is_leaf = |place: &FieldPath, next: Option<&FieldPath>| {
        let is_outer = next.is_some_and(|next| place.covers(next));
        !is_outer || place.find(live).is_some_and(|value| is_empty(value) || !(value.is_object() || value.is_array()))
    };
    let kept: Vec<bool> = owned.iter().zip(next).map(|(place, next)| is_leaf(place, next)).collect();
    owned.into_iter().zip(kept).filter_map(|(place, kept)| kept.then_some(place)).collect()
}

/// Whether a place is of no interest: what controllers report, and notes that they make for themselves.
fn is_left_out(place: &FieldPath) -> bool {
    match place.names().as_slice() {
        ["status", ..] => true,
        ["metadata", "annotations", name, ..] => BUSY_ANNOTATIONS.iter().any(|prefix| name.starts_with(prefix)),
        _ => false,
    }
}
