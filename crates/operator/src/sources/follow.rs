//! Looking at one source again and again, as long as somebody wants it.

use std::sync::{Arc, Weak};
use std::time::Duration;

use groma_run::source::tree::Tree;
use groma_run::source::{Limits, SourceError, Trouble};
use tokio::sync::Notify;

use super::wish::{What, Wish};
use super::{Name, Sources};
use crate::sources::folder::Folder;

/// How soon something that may pass is tried again at first.
const SOON: Duration = Duration::from_secs(2);
/// How soon it is tried again to fetch what does not change by itself, at most.
const LATE: Duration = Duration::from_mins(1);
/// Nothing is looked at more often than that.
const OFTEN: Duration = Duration::from_secs(1);
/// How long asking what there is may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Looks at a source until nobody wants it any more.
pub(super) async fn follow(sources: Weak<Sources>, key: String, wake: Arc<Notify>) {
    loop {
        let Some(all) = sources.upgrade() else { return };
        let Some(pause) = all.look_at(&key).await else { return };
        drop(all);
        match pause {
            Some(pause) => {
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = wake.notified() => {}
                }
            }
            None => wake.notified().await,
        }
    }
}

impl Sources {
    /// Looks once. Gives how long to wait after that; nothing at all if nobody wants it any more.
    async fn look_at(&self, key: &str) -> Option<Option<Duration>> {
        let (wish, known) = {
            let registry = self.registry();
            let entry = registry.entries.get(key)?;
            (entry.wish.clone(), entry.tree.clone())
        };
        let (began, found) = {
            // Nobody closes it.
            let _turn = self.turns.acquire().await;
            ((self.settings.clock)(), self.fetch(&wish, known.as_deref()).await)
        };
        let mut registry = self.registry();
        let entry = registry.entries.get_mut(key)?;
        let before = entry.told();
        match found {
            Ok(newer) => {
                entry.tree = newer.map(Arc::new).or(entry.tree.take());
                entry.before = None;
                entry.failure = None;
            }
            Err(problem) => {
                tracing::warn!(source = wish.shown(), %problem, "a source could not be fetched");
                let count = entry.failure.as_ref().map_or(0, |(_, count)| *count) + 1;
                entry.failure = Some((problem, count));
            }
        }
        entry.checked_at = Some(began);
        let waiting = std::mem::take(&mut entry.waiting);
        let concerned: Vec<Name> =
            if entry.told() == before { waiting.into_iter().collect() } else { entry.users.keys().cloned().collect() };
        let interval = entry.users.values().min().copied().unwrap_or(LATE).max(OFTEN);
        let pause = pause(&wish, interval, entry.failure.as_ref());
        drop(registry);
        for stack in &concerned {
            (self.told)(stack);
        }
        Some(pause)
    }

    /// What there is, if it is something else than is known.
    async fn fetch(&self, wish: &Wish, known: Option<&Tree>) -> Result<Option<Tree>, SourceError> {
        let folder = self.folder()?;
        let (manners, limits) = (&self.settings.manners, &self.settings.premises.limits);
        match &wish.what {
            What::Git(git) => {
                let found = git.look(manners, &Limits { time: limits.time.min(PATIENCE), ..*limits }).await?;
                if known.is_some_and(|known| known.revision == found.revision) {
                    return Ok(None);
                }
                git.fetch(&found, folder.path(), manners, limits).await.map(Some)
            }
            What::Artifact(_) if known.is_some() => Ok(None),
            What::Artifact(artifact) => {
                artifact.fetch(folder.path(), manners.networks.as_ref(), limits).await.map(Some)
            }
        }
    }

    fn folder(&self) -> Result<Arc<Folder>, SourceError> {
        let mut registry = self.registry();
        if let Some(known) = &registry.folder {
            return Ok(Arc::clone(known));
        }
        let made = Folder::open(&self.settings.folder).map_err(|problem| {
            let message = format!("no directory for sources: {}: {problem}", self.settings.folder.display());
            SourceError::new(Trouble::Passing, message)
        })?;
        Ok(Arc::clone(registry.folder.insert(Arc::new(made))))
    }
}

/// How long to wait until it is looked again. What does not change is not looked at again.
fn pause(wish: &Wish, interval: Duration, failure: Option<&(SourceError, u32)>) -> Option<Duration> {
    let is_artifact = matches!(wish.what, What::Artifact(_));
    let most = if is_artifact { LATE } else { interval };
    match failure {
        None if is_artifact => None,
        None => Some(interval),
        Some((problem, count)) if problem.kind == Trouble::Passing => {
            Some(SOON.saturating_mul(1 << count.saturating_sub(1).min(10)).min(most))
        }
        Some(_) => Some(most),
    }
}
