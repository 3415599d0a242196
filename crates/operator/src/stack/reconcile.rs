//! Looking at one Stack: everything that it depends on is fetched, it is decided, and what was decided is done. Safe to stop after any
//! write: whoever looks next sees what was done, and decides the same about the rest.

mod found;
mod sourced;
mod steps;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use kube::api::DynamicObject;

use super::decide::{self, Decision, Facts, Scheduled, Wanted};
use super::schedule;
use super::wanted::{self, Referred, StateHome};
use crate::api::names;
use crate::api::run::Run;
use crate::api::shared::{Moment, ObjectRef, Truth};
use crate::api::stack::{Engine, Executor, Stack, StackStatus};
use crate::blobs::{Blob, BlobError};
use crate::objects::kept;
use crate::objects::{Kind, Notice, Place, Store, StoreError, find, find_all, owned_by, untyped};
use crate::runs::looks::Looker;
use crate::sources::Sources;

/// The Secret of a namespace with what keeps others from telling values from their marks.
const SALT: &str = "groma-salt";

/// What is the same for all Stacks.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where runs are, if a Stack says nothing about it.
    pub executor: Executor,
    /// How states are kept, if a Stack says nothing about it.
    pub home: StateHome,
    /// Whether Stacks may depend on those of other namespaces.
    pub across_namespaces: bool,
}

/// Why a Stack could not be looked at. It is tried again.
#[derive(Debug, thiserror::Error)]
pub enum ReconcileError {
    /// About objects.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// About what is kept in Secrets.
    #[error("{0}")]
    Blob(String),
    /// No randomness is to be had.
    #[error("no randomness: {0}")]
    Randomness(String),
}

impl From<BlobError> for ReconcileError {
    fn from(problem: BlobError) -> Self {
        match problem {
            BlobError::Store(problem) => Self::Store(problem),
            other => Self::Blob(other.to_string()),
        }
    }
}

/// Looks at Stacks.
pub struct Reconciler {
    store: Arc<dyn Store>,
    settings: Settings,
    looker: Arc<dyn Looker>,
    /// Who fetches sources, if somebody does.
    sources: Option<Arc<Sources>>,
    /// The versions of Stacks that we have written, by their uids.
    written: Mutex<BTreeMap<String, String>>,
}

/// A Stack with everything that it depends on.
struct Found {
    stack: Stack,
    referred: Referred,
    runs: Vec<Run>,
    waiting_for: Vec<String>,
    needed_by: Vec<ObjectRef>,
    kept_bundle: Option<String>,
}

impl Reconciler {
    /// With objects there.
    pub fn new(store: Arc<dyn Store>, settings: Settings, looker: Arc<dyn Looker>) -> Self {
        Self { store, settings, looker, sources: None, written: Mutex::default() }
    }

    /// Sources are fetched there.
    pub fn with_sources(self, sources: Arc<Sources>) -> Self {
        Self { sources: Some(sources), ..self }
    }

    /// Whether a Stack is as we have left it.
    pub(crate) fn has_written(&self, stack: &DynamicObject) -> bool {
        let metadata = &stack.metadata;
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let known = metadata.uid.as_ref().and_then(|uid| written.get(uid));
        known.is_some() && known == metadata.resource_version.as_ref()
    }

    fn note_written(&self, stack: &DynamicObject) {
        let metadata = &stack.metadata;
        if let (Some(uid), Some(version)) = (&metadata.uid, &metadata.resource_version) {
            let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
            written.insert(uid.clone(), version.clone());
        }
    }

    fn forget_written(&self, stack: &Stack) {
        if let Some(uid) = &stack.metadata.uid {
            self.written.lock().unwrap_or_else(PoisonError::into_inner).remove(uid);
        }
    }

    /// Looks at a Stack. Gives when to look again, if nothing happens before.
    pub async fn reconcile(&self, namespace: &str, name: &str, now: Moment) -> Result<Option<Moment>, ReconcileError> {
        // It is large, and whoever waits for it need not be.
        Box::pin(self.look_at(namespace, name, now)).await
    }

    async fn look_at(&self, namespace: &str, name: &str, now: Moment) -> Result<Option<Moment>, ReconcileError> {
        let Some(stack) = find::<Stack>(&*self.store, namespace, name).await? else {
            return self.forget(namespace, name).await.map(|()| None);
        };
        let mut found = self.dereference(stack).await?;
        let sourced = self.sourced(&found.stack, &found.referred.holders, now).await?;
        found.referred.source = sourced.package;
        let built = wanted::bundle(&found.stack, &found.referred, &self.settings.home);
        let (bundle, wanted) = match built {
            Ok((bundle, about)) => {
                let changed_keys = self.changed_keys(&found, &bundle).await?;
                (Some(bundle), Ok(Wanted { about, changed_keys }))
            }
            Err(problems) => (None, Err(problems)),
        };
        let outputs_gone = self.outputs_gone(&found.stack).await?;
        let looked = self.looker.looked(found.stack.metadata.uid.as_deref().unwrap_or_default());
        let verified = found.stack.status.as_ref().and_then(|status| status.last_verified_at);
        let since = verified.max(looked.well_at()).unwrap_or(now);
        let schedule = found.stack.spec.schedule.as_ref();
        let scheduled = schedule.map(|schedule| {
            let due = schedule::next(schedule, since)?;
            Ok(Scheduled { due, after: schedule::next(schedule, now)? })
        });
        let (scheduled, wanted) = match (scheduled.transpose(), wanted) {
            (Ok(scheduled), wanted) => (scheduled, wanted),
            (Err(problem), Ok(_)) => (None, Err(vec![problem])),
            (Err(problem), Err(problems)) => (None, Err(problems.into_iter().chain([problem]).collect())),
        };
        let facts = Facts {
            stack: &found.stack,
            now,
            wanted: &wanted,
            runs: &found.runs,
            waiting_for: &found.waiting_for,
            needed_by: &found.needed_by,
            outputs_gone: &outputs_gone,
            scheduled,
            looked: self.may_look(&found.stack).then_some(looked),
            kept_bundle: found.kept_bundle.as_deref(),
            source: &sourced.facts,
        };
        let Decision { steps, status, again_at } = decide::decide(&facts);
        let mut stack = found.stack.clone();
        for step in steps {
            if self.take(step, &mut stack, &found, bundle.as_ref()).await? {
                return Ok(None);
            }
        }
        self.clear_history(&found, &status).await?;
        let before = stack.status.clone();
        stack.status = Some(status.clone());
        self.tell_of_states(&stack, before.as_ref(), &sourced.states).await;
        stack.status = before;
        self.write_status(stack, status).await?;
        Ok(again_at)
    }

    /// Whether it can be looked without a run: only in this process, and with our own engine.
    fn may_look(&self, stack: &Stack) -> bool {
        let executor = stack.spec.executor.unwrap_or(self.settings.executor);
        executor == Executor::InProcess && stack.spec.engine == Engine::Native
    }

    /// Somebody has deleted what is kept for a Stack. That is their right, unless it is needed to take the Stack down.
    pub(crate) async fn let_kept_go(&self, namespace: &str, name: &str) -> Result<(), ReconcileError> {
        match find::<Stack>(&*self.store, namespace, name).await? {
            Some(_) => Ok(kept::release_deleted(&*self.store, namespace, name).await?),
            None => self.forget(namespace, name).await,
        }
    }

    /// A Stack is gone, maybe by force: nothing is kept for it any more.
    async fn forget(&self, namespace: &str, name: &str) -> Result<(), ReconcileError> {
        self.forget_source(&(namespace.to_owned(), name.to_owned()));
        kept::release(&*self.store, namespace, name).await?;
        let runs: Vec<Run> = find_all(&*self.store, Some(namespace), &[(names::STACK, name)]).await?;
        // Nobody else collects those that are only in our memory.
        for run in runs.iter().filter(|run| run.metadata.owner_references.is_none()) {
            self.store.delete(&Place::of(&Kind::of::<Run>(), &untyped(run)?), run.metadata.uid.as_deref()).await?;
        }
        Ok(())
    }

    fn blob<'b>(found: &'b Found, name: &'b str) -> Blob<'b> {
        let stack = found.stack.metadata.name.clone().unwrap_or_default();
        Blob {
            namespace: found.stack.metadata.namespace.as_deref().unwrap_or_default(),
            name,
            labels: BTreeMap::from([
                (names::STACK.to_owned(), stack.clone()),
                (names::KEPT_FOR.to_owned(), stack),
                ("groma.dev/blob".to_owned(), "bundle".to_owned()),
            ]),
            owner: Some(owned_by(&found.stack)),
            kept: true,
        }
    }

    async fn write_status(&self, mut stack: Stack, status: StackStatus) -> Result<(), ReconcileError> {
        let before = stack.status.replace(status);
        if before == stack.status {
            return Ok(());
        }
        let said = newly_said(before.as_ref(), stack.status.as_ref());
        let written = self.store.replace_status(&Kind::of::<Stack>(), &untyped(&stack)?).await?;
        self.note_written(&written);
        if let Some((is_warning, reason, message)) = said {
            self.tell(&stack, is_warning, &reason, message).await;
        }
        Ok(())
    }

    async fn tell(&self, stack: &Stack, is_warning: bool, reason: &str, message: String) {
        let about = Place::new(
            Kind::of::<Stack>(),
            stack.metadata.namespace.as_deref().unwrap_or_default(),
            stack.metadata.name.as_deref().unwrap_or_default(),
        );
        let uid = stack.metadata.uid.clone();
        self.store.notice(Notice { about, uid, is_warning, reason: reason.to_owned(), message }).await;
    }
}

/// What is told besides, if whether it is ready has changed.
fn newly_said(before: Option<&StackStatus>, after: Option<&StackStatus>) -> Option<(bool, String, String)> {
    let ready = |status: Option<&StackStatus>| {
        status.and_then(|status| status.conditions.iter().find(|known| known.kind == "Ready").cloned())
    };
    let (before, after) = (ready(before), ready(after)?);
    let same = before.is_some_and(|before| {
        before.status == after.status && before.reason == after.reason && before.message == after.message
    });
    (!same && after.status != Truth::Unknown).then_some((after.status == Truth::False, after.reason, after.message))
}
