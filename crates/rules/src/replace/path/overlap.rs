//! Whether a path and one that a provider names are about the same thing.

use groma_model::path::{Path, PathKey, PathStep};

use super::{FieldPath, FieldStep, Spot, Spots};

impl FieldPath {
    /// Whether one of both leads to the other, or to a part of it. `[*]` means any element.
    pub fn overlaps(&self, path: &Path) -> bool {
        self.overlaps_at(path, &Spots::default())
    }

    /// The same for one of several values: that of these elements.
    pub(crate) fn overlaps_at(&self, path: &Path, spots: &Spots) -> bool {
        let (mut own, mut theirs, mut spots) = (self.steps.as_slice(), path.steps(), spots.iter());
        loop {
            let (Some((step, own_rest)), Some((their, their_rest))) = (own.split_first(), theirs.split_first()) else {
                return true;
            };
            let same = match (step, their) {
                (FieldStep::Every, _) => spots.next().is_none_or(|spot| is_spot(their, spot)),
                (FieldStep::Name(name) | FieldStep::Key(name), PathStep::Attr(attribute)) => name == attribute,
                (FieldStep::Name(name), PathStep::Index(PathKey::String(key)))
                    if !matches!(their_rest.first(), Some(PathStep::Attr(_))) =>
                {
                    name == key
                }
                // A name on a collection means each element of it, so the element is passed over.
                (FieldStep::Name(_), _) => {
                    if !spots.next().is_none_or(|spot| is_spot(their, spot)) {
                        return false;
                    }
                    theirs = their_rest;
                    continue;
                }
                (FieldStep::Index(index), PathStep::Index(PathKey::Number(number))) => number.to_u64() == Some(*index),
                (FieldStep::Index(index), PathStep::Index(PathKey::String(key))) => key.as_str() == index.to_string(),
                (FieldStep::Key(key), PathStep::Index(PathKey::String(theirs))) => key == theirs,
                (FieldStep::Index(_) | FieldStep::Key(_), _) => false,
            };
            if !same {
                return false;
            }
            (own, theirs) = (own_rest, their_rest);
        }
    }
}

/// Whether a step leads to that element. An element of a set may be any.
fn is_spot(step: &PathStep, spot: &Spot) -> bool {
    match (step, spot) {
        (PathStep::Index(PathKey::Number(number)), Spot::Index(index)) => number.to_usize() == Some(*index),
        (PathStep::Index(PathKey::String(key)) | PathStep::Attr(key), Spot::Key(name)) => key == name,
        (_, Spot::Member) | (PathStep::Element(_), _) => true,
        _ => false,
    }
}
