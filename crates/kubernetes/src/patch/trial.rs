//! Patching: in earnest, or to see what would become of it. And what of that is stored.

use std::collections::BTreeSet;

use serde_json::Value;

use super::content::{Content, whole};
use crate::Json;
use crate::api::{Apply, Cluster, Patch, Said};
use crate::failure::Failure;
use crate::manifest::ObjectRef;
use crate::object::body::{bare, same_content};
use crate::object::fields::Map;
use crate::ownership::owned_by;
use crate::path::FieldPath;
use crate::projection;

/// What the manager of any patch is called in `managed_fields`, whatever its id is.
const SHOWN_MANAGER: &str = "k8sconnect-patch";

/// A patch and the object that it is for.
#[derive(Clone, Copy)]
pub(super) struct Patching<'p> {
    pub(super) cluster: &'p Cluster,
    pub(super) target: &'p ObjectRef,
    pub(super) content: &'p Content,
    pub(super) manager: &'p str,
}

impl Patching<'_> {
    /// What would become of the object.
    pub(super) async fn try_out(&self, live: &Json) -> Result<Said<Json>, Failure> {
        self.patch(live, true).await
    }

    /// Patches it. If there is nothing to do, nothing is done.
    pub(super) async fn write(&self, live: &Json) -> Result<Said<Json>, Failure> {
        self.patch(live, false).await
    }

    async fn patch(&self, live: &Json, dry_run: bool) -> Result<Said<Json>, Failure> {
        let how = Apply { manager: self.manager, force: true, dry_run };
        match self.content {
            Content::Apply(part) => self.cluster.apply(self.target, &whole(part, self.target), how).await,
            Content::Merge(document) => self.cluster.patch(self.target, &Patch::Merge(document.clone()), how).await,
            Content::Json(operations) => {
                let unchanged = || Ok(Said { value: live.clone(), warnings: Vec::new() });
                let left = operations.left_to_do(live);
                if left.is_empty() {
                    return unchanged();
                }
                // Tests are about the object as it was before. They are asked only if there is something to do.
                let trial = Apply { dry_run: true, ..how };
                let tried = self.cluster.patch(self.target, &Patch::Json(Value::Array(left)), trial).await;
                if tried.is_ok_and(|tried| same_content(&tried.value, live)) {
                    return unchanged();
                }
                let patch = Patch::Json(Value::Array(operations.with_tests(live)));
                self.cluster.patch(self.target, &patch, how).await
            }
        }
    }

    /// Lets go of everything that a manager has applied: what nobody else owns goes with it.
    pub(super) async fn release(&self, dry_run: bool) -> Result<Said<Json>, Failure> {
        let how = Apply { manager: self.manager, force: true, dry_run };
        self.cluster.apply(self.target, &bare(self.target), how).await
    }

    /// The places that the patch sets, as they are in an object.
    pub(super) fn places(&self, object: &Json) -> BTreeSet<FieldPath> {
        match self.content {
            Content::Apply(_) => owned_by(object, |name| name == self.manager),
            other => other.touched(object),
        }
    }

    /// What is at those places.
    pub(super) fn projection(&self, object: &Json, id: &str) -> Map {
        projection::project(object, &self.places(object), id)
    }

    /// The places that its manager owns.
    pub(super) fn managed(&self, object: &Json) -> Map {
        let owned = owned_by(object, |name| name == self.manager);
        owned.iter().map(|place| (place.to_string(), SHOWN_MANAGER.to_owned())).collect()
    }
}
