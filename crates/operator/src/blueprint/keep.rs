//! Looking at a Blueprint itself: whether its kind is there, whether another one is for the same kind, and how it lets go of objects.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use kube::api::DynamicObject;

use super::wanted::problems;
use super::{is_held, kind_of, later};
use crate::api::blueprint::{Blueprint, BlueprintStatus};
use crate::api::names;
use crate::api::shared::{Moment, Truth};
use crate::objects::{Kind, Store, StoreError, find_all, find_global, typed, untyped};
use crate::stack::conditions::{Activity, Said, say};

/// How soon it is looked again whether a kind is there now.
const SOON: Duration = Duration::from_secs(15);
/// How soon it is looked again whether it still is.
const USUAL: Duration = Duration::from_mins(5);
/// How many names are told.
const MOST_NAMES: usize = 5;

/// Looks at Blueprints.
pub struct Keeper {
    store: Arc<dyn Store>,
    /// Which namespaces; all of them if none is named.
    namespaces: Vec<String>,
}

/// The objects of a kind.
enum Objects {
    /// All of them.
    There(Vec<DynamicObject>),
    /// There is no such kind.
    NoKind,
    /// We may not even look, because of this.
    Forbidden(String),
}

impl Objects {
    /// None if nothing is known about them.
    fn there(self) -> Option<Vec<DynamicObject>> {
        match self {
            Self::There(objects) => Some(objects),
            Self::NoKind | Self::Forbidden(_) => None,
        }
    }
}

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The kind whose objects are to be watched. None if nothing can become of them.
    pub watch: Option<Kind>,
    /// The generation of the Blueprint: another one may make something else of all objects.
    pub generation: i64,
    /// All objects, by namespace and name.
    pub objects: Vec<(String, String)>,
    /// When to look again, if nothing happens before.
    pub again_at: Option<Moment>,
}

impl Keeper {
    /// With objects there.
    pub fn new(store: Arc<dyn Store>, namespaces: Vec<String>) -> Self {
        Self { store, namespaces }
    }

    /// Looks at a Blueprint.
    pub async fn look_at(&self, name: &str, now: Moment) -> Result<Kept, StoreError> {
        let Some(mut blueprint) = find_global::<Blueprint>(&*self.store, name).await? else {
            return Ok(Kept::default());
        };
        let is_deleted = blueprint.metadata.deletion_timestamp.is_some();
        let kind = kind_of(&blueprint.spec.subject).ok();
        let objects = match &kind {
            Some(kind) => self.objects(kind).await?,
            None => Objects::There(Vec::new()),
        };
        if is_deleted {
            return self.delete(blueprint, kind, objects, now).await;
        }
        if !blueprint.metadata.finalizers.iter().flatten().any(|held| held == names::BLUEPRINT_FINALIZER) {
            blueprint.metadata.finalizers.get_or_insert_default().push(names::BLUEPRINT_FINALIZER.to_owned());
            blueprint = self.replace(&blueprint).await?;
        }
        let said = self.judge(&blueprint, kind.as_ref(), &objects).await?;
        let objects = objects.there();
        let kept = Kept {
            watch: kind.filter(|_| said.ready == Truth::True),
            generation: blueprint.metadata.generation.unwrap_or_default(),
            objects: objects.iter().flatten().map(key).collect(),
            again_at: Some(later(now, if said.ready == Truth::True { USUAL } else { SOON })),
        };
        self.write_status(blueprint, &said, objects.map(|objects| objects.len()), now).await?;
        Ok(kept)
    }

    /// All objects of a kind.
    async fn objects(&self, kind: &Kind) -> Result<Objects, StoreError> {
        let everywhere = [None];
        let named: Vec<Option<&str>> = self.namespaces.iter().map(|name| Some(name.as_str())).collect();
        let mut found = Vec::new();
        for namespace in if named.is_empty() { &everywhere[..] } else { &named[..] } {
            match self.store.list(kind, *namespace, &[]).await {
                Ok(objects) => found.extend(objects),
                Err(StoreError::Missing(_)) => return Ok(Objects::NoKind),
                Err(problem @ StoreError::Forbidden { .. }) => return Ok(Objects::Forbidden(problem.to_string())),
                Err(problem) => return Err(problem),
            }
        }
        Ok(Objects::There(found))
    }

    async fn judge(&self, blueprint: &Blueprint, kind: Option<&Kind>, objects: &Objects) -> Result<Said, StoreError> {
        let said = |ready, reason: &'static str, message: String, activity| Said {
            ready,
            reason: reason.into(),
            message,
            activity,
        };
        let wrong: Vec<String> =
            problems(blueprint).into_iter().map(|found| format!("{}: {}", found.field, found.what)).collect();
        let Some(kind) = kind.filter(|_| wrong.is_empty()) else {
            return Ok(said(Truth::False, "InvalidSpec", wrong.join("\n"), Activity::Stalled));
        };
        if let Some(rival) = self.rival(blueprint, kind).await? {
            let message = format!("spec.for: Blueprint {rival} is for this kind already, and there can be one only");
            return Ok(said(Truth::False, "KindTaken", message, Activity::Stalled));
        }
        Ok(match objects {
            Objects::NoKind => {
                let version = kind.api_version();
                let message = format!(
                    "spec.for: there is no kind {} in {version} (as {}); it is looked for again",
                    kind.kind, kind.plural
                );
                said(Truth::False, "KindNotFound", message, Activity::Reconciling)
            }
            Objects::Forbidden(why) => {
                let message = format!("spec.for: {why}; give the operator a role for {}", kind.plural);
                said(Truth::False, "Forbidden", message, Activity::Reconciling)
            }
            Objects::There(found) if found.iter().any(|object| object.metadata.namespace.is_none()) => {
                let message =
                    format!("spec.for: objects of the kind {} have no namespace, and Stacks must have one", kind.kind);
                said(Truth::False, "KindWithoutNamespace", message, Activity::Stalled)
            }
            Objects::There(_) => said(
                Truth::True,
                "Watching",
                format!("Objects of the kind {} become Stacks", kind.kind),
                Activity::Idle,
            ),
        })
    }

    /// Another Blueprint for the same kind that was there before.
    async fn rival(&self, blueprint: &Blueprint, kind: &Kind) -> Result<Option<String>, StoreError> {
        let rank = |blueprint: &Blueprint| {
            let made = blueprint.metadata.creation_timestamp.as_ref().map(|made| made.0);
            (made, blueprint.metadata.name.clone().unwrap_or_default())
        };
        let is_rival = |other: &Blueprint| {
            let same =
                kind_of(&other.spec.subject).is_ok_and(|found| found.group == kind.group && found.kind == kind.kind);
            same && rank(other) < rank(blueprint)
        };
        let all = find_all::<Blueprint>(&*self.store, None, &[]).await?;
        Ok(all.into_iter().find(is_rival).and_then(|rival| rival.metadata.name))
    }

    /// Objects that stay are let go of: their Stacks go on, and go with them. Those that are being deleted are waited for.
    async fn delete(
        &self,
        blueprint: Blueprint,
        kind: Option<Kind>,
        objects: Objects,
        now: Moment,
    ) -> Result<Kept, StoreError> {
        if let Objects::Forbidden(why) = objects {
            let message = format!("It cannot let go of its objects: {why}");
            let said =
                Said { ready: Truth::False, reason: "Forbidden".into(), message, activity: Activity::Reconciling };
            self.write_status(blueprint, &said, None, now).await?;
            return Ok(Kept { again_at: Some(later(now, SOON)), ..Kept::default() });
        }
        let objects = objects.there().unwrap_or_default();
        let held: Vec<DynamicObject> = objects.into_iter().filter(|object| is_held(object, &blueprint.spec)).collect();
        let (going, staying): (Vec<_>, Vec<_>) =
            held.into_iter().partition(|object| object.metadata.deletion_timestamp.is_some());
        let Some(kind) = kind else {
            self.let_go(blueprint).await?;
            return Ok(Kept::default());
        };
        for mut object in staying {
            let finalizer = &blueprint.spec.finalizer;
            object.metadata.finalizers.get_or_insert_default().retain(|held| held != finalizer);
            match self.store.replace(&kind, &object).await {
                Ok(_) | Err(StoreError::Missing(_)) => {}
                Err(problem) => return Err(problem),
            }
        }
        if going.is_empty() {
            self.let_go(blueprint).await?;
            return Ok(Kept::default());
        }
        let names: Vec<String> =
            going.iter().take(MOST_NAMES).map(key).map(|(namespace, name)| format!("{namespace}/{name}")).collect();
        let message = format!("It stays until {} that are being deleted are gone: {}", going.len(), names.join(", "));
        let said = Said { ready: Truth::False, reason: "Deleting".into(), message, activity: Activity::Reconciling };
        let kept = Kept {
            watch: Some(kind),
            generation: blueprint.metadata.generation.unwrap_or_default(),
            objects: going.iter().map(key).collect(),
            again_at: Some(later(now, SOON)),
        };
        self.write_status(blueprint, &said, Some(going.len()), now).await?;
        Ok(kept)
    }

    async fn let_go(&self, mut blueprint: Blueprint) -> Result<(), StoreError> {
        let finalizers = blueprint.metadata.finalizers.get_or_insert_default();
        let before = finalizers.len();
        finalizers.retain(|held| held != names::BLUEPRINT_FINALIZER);
        if finalizers.len() < before {
            self.replace(&blueprint).await?;
        }
        Ok(())
    }

    async fn replace(&self, blueprint: &Blueprint) -> Result<Blueprint, StoreError> {
        typed(&self.store.replace(&Kind::of::<Blueprint>(), &untyped(blueprint)?).await?)
    }

    async fn write_status(
        &self,
        mut blueprint: Blueprint,
        said: &Said,
        objects: Option<usize>,
        now: Moment,
    ) -> Result<(), StoreError> {
        let generation = blueprint.metadata.generation;
        let before = blueprint.status.clone().unwrap_or_default();
        let mut conditions = before.conditions.clone();
        say(&mut conditions, said, generation, now);
        let objects = objects.and_then(|count| u32::try_from(count).ok());
        let next = BlueprintStatus { observed_generation: generation, conditions, objects };
        if next == before {
            return Ok(());
        }
        blueprint.status = Some(next);
        self.store.replace_status(&Kind::of::<Blueprint>(), &untyped(&blueprint)?).await?;
        Ok(())
    }
}

/// Namespace and name.
fn key(object: &DynamicObject) -> (String, String) {
    (object.metadata.namespace.clone().unwrap_or_default(), object.metadata.name.clone().unwrap_or_default())
}
