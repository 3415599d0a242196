//! Which kinds are watched, for which Blueprints. What is seen there is somebody else's business.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

use super::keep::Kept;
use crate::objects::Kind;

/// Watches that are under way, by the name of the Blueprint. They end with this.
#[derive(Default)]
pub struct Watches {
    known: Mutex<BTreeMap<String, Watched>>,
}

struct Watched {
    kind: Kind,
    /// The generation of the Blueprint that all objects were looked at with.
    generation: i64,
    tasks: Vec<AbortHandle>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

impl Watches {
    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Watched>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was found about a Blueprint holds from now on: its kind is watched, with what `begin` begins, or not any more. True if all
    /// of its objects are to be looked at, as the Blueprint is another one than before.
    pub fn update(&self, blueprint: &str, kept: &Kept, begin: impl FnOnce(&Kind) -> Vec<AbortHandle>) -> bool {
        let mut known = self.known();
        let Some(kind) = &kept.watch else {
            known.remove(blueprint);
            return false;
        };
        if let Some(watched) = known.get_mut(blueprint).filter(|watched| watched.kind == *kind) {
            let is_other = watched.generation != kept.generation;
            watched.generation = kept.generation;
            return is_other;
        }
        let watched = Watched { kind: kind.clone(), generation: kept.generation, tasks: begin(kind) };
        known.insert(blueprint.to_owned(), watched);
        // Watches tell of all objects when they begin.
        false
    }

    /// Nothing is watched any more.
    pub fn stop(&self) {
        self.known().clear();
    }

    /// Which kinds are watched, by the name of the Blueprint.
    pub fn kinds(&self) -> Vec<(String, Kind)> {
        self.known().iter().map(|(blueprint, watched)| (blueprint.clone(), watched.kind.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(kind: Option<&str>, generation: i64) -> Kept {
        let kind = kind.map(|kind| Kind {
            group: "a.dev".to_owned(),
            version: "v1".to_owned(),
            kind: kind.to_owned(),
            plural: "things".to_owned(),
        });
        Kept { watch: kind, generation, ..Kept::default() }
    }

    #[tokio::test]
    async fn watches_come_and_go_with_their_blueprints() {
        let watches = Watches::default();
        let begin = || tokio::spawn(std::future::pending::<()>());
        let first = begin();
        assert!(!watches.update("a", &kept(Some("Thing"), 1), |_| vec![first.abort_handle()]));
        assert!(!watches.update("a", &kept(Some("Thing"), 1), |_| unreachable!()));
        assert!(watches.update("a", &kept(Some("Thing"), 2), |_| unreachable!()));
        assert!(!watches.update("a", &kept(Some("Thing"), 2), |_| unreachable!()));
        let second = begin();
        assert!(!watches.update("a", &kept(Some("Other"), 3), |_| vec![second.abort_handle()]));
        assert!(first.await.unwrap_err().is_cancelled());
        watches.update("a", &kept(None, 4), |_| unreachable!());
        assert!(second.await.unwrap_err().is_cancelled());
        assert!(watches.kinds().is_empty());
    }
}
