//! Removing objects of a set, in the reverse order of making: controllers go after what they have to clear up.

use std::collections::BTreeMap;
use std::time::Duration;

use groma_kit::{Call, Object};
use groma_model::diag::{Diagnostic, Diagnostics};

use super::order::{Turn, groups};
use super::stored::{Made, objects_of, turns};
use super::{SetResource, several};
use crate::api::Cluster;
use crate::failure::Failure;
use crate::manifest::ObjectRef;
use crate::object::claim::owner;
use crate::object::fields::owned;
use crate::object::find;
use crate::object::naming::uid;
use crate::object::removal::Removal;
use crate::object::session::open;
use crate::object::{delete_timeout, elsewhere};
use crate::ownership::MANAGER;

pub(super) async fn delete(set: &SetResource, prior: &Object, call: &mut Call) -> Result<(), Diagnostics> {
    let objects = objects_of(prior);
    let Some(any) = objects.values().next() else { return Ok(()) };
    let cluster = open(&set.shared, prior).await?;
    let now = cluster.identity().await.map_err(|failure| failure.diagnostic("delete", &any.reference))?;
    if let (Some(stored), Some(now)) = (prior.text("cluster_uid"), now.as_deref())
        && stored != now
    {
        return Err(elsewhere("delete the set", stored, now).into());
    }
    let turns = turns(prior, &objects);
    let removing = Removing {
        set,
        cluster: &cluster,
        id: prior.text("id").unwrap_or_default(),
        timeout: &|kind| delete_timeout(prior, kind),
    };
    removing.remove_all(objects, &turns, call).await.1
}

/// What a removal works with.
pub(super) struct Removing<'r> {
    pub(super) set: &'r SetResource,
    pub(super) cluster: &'r Cluster,
    pub(super) id: &'r str,
    /// How long to wait, by kind.
    pub(super) timeout: &'r (dyn Fn(&str) -> Duration + Send + Sync),
}

impl Removing<'_> {
    /// Removes objects, last first. Gives the keys of those that are gone; ends after the first turn in which something went wrong.
    pub(super) async fn remove_all(
        &self,
        objects: BTreeMap<String, Made>,
        turns: &BTreeMap<String, Turn>,
        call: &Call,
    ) -> (Vec<String>, Result<(), Diagnostics>) {
        let items = objects.into_iter().filter_map(|(key, made)| Some((*turns.get(&key)?, (key, made)))).collect();
        let mut gone = Vec::new();
        for (_, group) in groups(items).into_iter().rev() {
            let removed = several(group.iter().map(|(_, made)| self.remove(made, call)).collect()).await;
            let mut wrong = Diagnostics::new();
            for ((key, _), removed) in group.into_iter().zip(removed) {
                match removed {
                    Ok(()) => gone.push(key),
                    Err(problem) => wrong.push(problem),
                }
            }
            if wrong.has_errors() {
                return (gone, Err(wrong));
            }
        }
        (gone, Ok(()))
    }

    /// Removes an object, if it is there and still ours.
    async fn remove(&self, made: &Made, call: &Call) -> Result<(), Diagnostic> {
        let reference: &ObjectRef = &made.reference;
        let failed = |failure: Failure| failure.diagnostic("delete", reference);
        let Some((reference, live)) = find(self.cluster, reference, false).await.map_err(failed)? else {
            return Ok(());
        };
        let is_ours = match owner(&live) {
            Some(owner) => owner == self.id,
            None => !owned(&live, MANAGER).is_empty() || (made.uid.is_some() && made.uid.as_deref() == uid(&live)),
        };
        if !is_ours {
            return Ok(());
        }
        let removal = Removal {
            cluster: self.cluster,
            reference: &reference,
            propagation: "Background",
            timeout: (self.timeout)(&reference.kind),
            force: false,
            clock: self.set.shared.outside.clock.as_ref(),
        };
        removal.remove(&live, call).await.map(|_| ())
    }
}
