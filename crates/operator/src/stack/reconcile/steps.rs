//! Doing what was decided about a Stack.

use std::collections::BTreeMap;

use groma_run::trace;

use super::{Found, ReconcileError, Reconciler};
use crate::api::names;
use crate::api::run::{Approved, Run, RunSpec};
use crate::api::stack::{Executor, Stack, StackStatus};
use crate::bundle::Bundle;
use crate::inputs;
use crate::objects::kept;
use crate::objects::{Kind, Place, StoreError, owned_by, typed, untyped};
use crate::runs::looks::Wish;
use crate::stack::decide::{self, NewRun, Step};
use crate::stack::history;
use crate::stack::wanted::state_suffix;

impl Reconciler {
    /// Does what was decided. True if the Stack is let go, and there is nothing more to say about it.
    pub(super) async fn take(
        &self,
        step: Step,
        stack: &mut Stack,
        found: &Found,
        bundle: Option<&Bundle>,
    ) -> Result<bool, ReconcileError> {
        match step {
            Step::Hold => {
                stack.metadata.finalizers.get_or_insert_default().push(names::FINALIZER.to_owned());
                *stack = self.replace(stack).await?;
            }
            Step::Look { action, known, around } => {
                if let Some(bundle) = bundle {
                    let limits = decide::limits(stack, action);
                    let (stack, bundle) = (stack.clone(), bundle.clone());
                    self.looker.look(Wish { stack, bundle, action, known, around, limits });
                }
            }
            Step::RefreshSource { since } => self.refresh_source(stack, since).await?,
            Step::Start(new) => self.start(new, found, bundle).await?,
            Step::Supersede { run, because } => self.supersede(found, &run, &because).await?,
            Step::Approve { run, approved } => self.approve(found, &run, approved).await?,
            Step::ClearUp { state } => self.clear_up(found, state).await?,
            Step::LetGo => {
                stack.metadata.finalizers.get_or_insert_default().retain(|held| held != names::FINALIZER);
                self.replace(stack).await?;
                self.forget_written(stack);
                self.looker.forget(stack.metadata.uid.as_deref().unwrap_or_default());
                self.forget_runs(found).await;
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn replace(&self, stack: &Stack) -> Result<Stack, StoreError> {
        typed(&self.store.replace(&Kind::of::<Stack>(), &untyped(stack)?).await?)
    }

    async fn start(&self, new: NewRun, found: &Found, bundle: Option<&Bundle>) -> Result<(), ReconcileError> {
        let stack = &found.stack;
        let bundle = match (&new.kept_bundle, bundle) {
            (Some(kept), _) => kept.clone(),
            (None, Some(bundle)) => {
                let mark = inputs::mark(&found.referred.salt, &bundle.encode());
                let stack_name = stack.metadata.name.as_deref().unwrap_or_default();
                let name = format!("{stack_name}-bundle-{}", &mark[..12]);
                Self::blob(found, &name).save(&*self.store, &bundle.encode()).await?;
                name
            }
            (None, None) => String::new(),
        };
        let causes: Vec<String> = new.causes.iter().map(|cause| format!("{:?}", cause.reason)).collect();
        let run = made(new, stack, bundle, stack.spec.executor.unwrap_or(self.settings.executor));
        match self.store.create(&Kind::of::<Run>(), &untyped(&run)?).await {
            // Somebody has begun it before us.
            Ok(_) | Err(StoreError::Exists(_)) => {}
            Err(problem) => return Err(problem.into()),
        }
        let message = format!("Run {} begins: {}", run.metadata.name.unwrap_or_default(), causes.join(", "));
        self.tell(stack, false, "RunStarted", message).await;
        Ok(())
    }

    async fn supersede(&self, found: &Found, run: &str, because: &str) -> Result<(), ReconcileError> {
        let Some(known) = found.runs.iter().find(|known| known.metadata.name.as_deref() == Some(run)) else {
            return Ok(());
        };
        let mut run = known.clone();
        run.spec.cancel = true;
        run.metadata.annotations.get_or_insert_default().insert(names::SUPERSEDED.to_owned(), because.to_owned());
        self.store.replace(&Kind::of::<Run>(), &untyped(&run)?).await?;
        Ok(())
    }

    async fn approve(&self, found: &Found, run: &str, approved: Approved) -> Result<(), ReconcileError> {
        let Some(known) = found.runs.iter().find(|known| known.metadata.name.as_deref() == Some(run)) else {
            return Ok(());
        };
        let mut run = known.clone();
        let status = run.status.get_or_insert_default();
        if status.approval.is_some() {
            return Ok(());
        }
        let message = format!("Plan {} is approved by {}", approved.plan, approved.by);
        status.approval = Some(approved);
        self.store.replace_status(&Kind::of::<Run>(), &untyped(&run)?).await?;
        self.tell(&found.stack, false, "PlanApproved", message).await;
        Ok(())
    }

    /// Everything of a Stack goes. What is owned by it would go by itself, but not everywhere, and not at once.
    async fn clear_up(&self, found: &Found, state: bool) -> Result<(), ReconcileError> {
        let namespace = found.stack.metadata.namespace.as_deref().unwrap_or_default();
        let name = found.stack.metadata.name.as_deref().unwrap_or_default();
        for secret in self.store.list(&Kind::secret(), Some(namespace), &[(names::STACK, name)]).await? {
            if secret.metadata.labels.as_ref().is_some_and(|labels| labels.contains_key("groma.dev/blob")) {
                kept::remove(&*self.store, &Kind::secret(), &secret).await?;
            }
        }
        if state && self.keeps_state_here(&found.stack) {
            for secret in self.store.list(&Kind::secret(), Some(namespace), &[(names::KEPT_FOR, name)]).await? {
                kept::remove(&*self.store, &Kind::secret(), &secret).await?;
            }
            let workspace = found.stack.spec.workspace.as_deref().unwrap_or("default");
            let suffix = state_suffix(&found.stack);
            let labels =
                [("tfstate", "true"), ("tfstateSecretSuffix", suffix.as_str()), ("tfstateWorkspace", workspace)];
            for kind in [Kind::secret(), Kind::lease()] {
                for object in self.store.list(&kind, Some(namespace), &labels).await? {
                    kept::remove(&*self.store, &kind, &object).await?;
                }
            }
        }
        if state && found.stack.spec.backend.is_none() {
            self.remove_state_files(namespace, name).await?;
        }
        // What is left is somebody's who may want it: a state that stays, and its journal.
        Ok(kept::release(&*self.store, namespace, name).await?)
    }

    /// The state goes, if it is in files.
    async fn remove_state_files(&self, namespace: &str, name: &str) -> Result<(), ReconcileError> {
        let Some(directory) = &self.settings.home.directory else { return Ok(()) };
        let directory = directory.join(namespace).join(name);
        match tokio::fs::remove_dir_all(&directory).await {
            Err(problem) if problem.kind() != std::io::ErrorKind::NotFound => {
                let doing = format!("removing {}", directory.display());
                Err(StoreError::Disk { doing, reason: problem.to_string() }.into())
            }
            _ => Ok(()),
        }
    }

    /// Runs go with the Stack that owns them, but whoever sees to that may be late.
    async fn forget_runs(&self, found: &Found) {
        for run in &found.runs {
            let place = untyped(run).map(|object| Place::of(&Kind::of::<Run>(), &object));
            let Ok(place) = place else { continue };
            if let Err(problem) = self.store.delete(&place, run.metadata.uid.as_deref()).await {
                tracing::debug!(%problem, "a Run is left to whoever collects what is left");
            }
        }
    }

    pub(super) fn keeps_state_here(&self, stack: &Stack) -> bool {
        let is_own = stack.spec.backend.is_none() && stack.spec.preview_of.is_none();
        is_own && self.settings.home.kind == "kubernetes"
    }

    /// Runs and bundles that nobody needs any more. Bundles go first: whoever is cut off finds their Runs again.
    pub(super) async fn clear_history(&self, found: &Found, status: &StackStatus) -> Result<(), ReconcileError> {
        let surplus = history::surplus(&found.runs, &found.stack.spec.history, status);
        let needed = history::needed_bundles(&found.runs, &surplus, status);
        let replaced = history::replaced_bundle(&found.runs, &surplus, (found.stack.status.as_ref(), status));
        let of_surplus = surplus.iter().map(|run| run.spec.bundle.as_str());
        for bundle in of_surplus.chain(replaced).filter(|bundle| !needed.contains(*bundle)) {
            Self::blob(found, bundle).delete(&*self.store).await?;
        }
        for run in surplus {
            let place = Place::of(&Kind::of::<Run>(), &untyped(run)?);
            self.store.delete(&place, run.metadata.uid.as_deref()).await?;
        }
        Ok(())
    }
}

/// The Run that begins.
fn made(new: NewRun, stack: &Stack, bundle: String, executor: Executor) -> Run {
    let stack_name = stack.metadata.name.clone().unwrap_or_default();
    let revision = new.about.revision.clone();
    let spec = RunSpec {
        stack: stack_name.clone(),
        number: new.number,
        action: new.action,
        approval: decide::approval(stack, &new.causes),
        causes: new.causes,
        bundle,
        about: new.about,
        requested: new.requested,
        requested_by_flux: new.requested_by_flux,
        engine: stack.spec.engine,
        executor,
        limits: decide::limits(stack, new.action),
        state: new.state,
        orphans: new.orphans,
        cancel: false,
    };
    let mut run = Run::new(&format!("{stack_name}-{}", new.number), spec);
    run.metadata.namespace.clone_from(&stack.metadata.namespace);
    run.metadata.labels = Some(BTreeMap::from([(names::STACK.to_owned(), stack_name)]));
    run.metadata.owner_references = Some(vec![owned_by(stack)]);
    run.metadata.annotations = traced(stack);
    if let Some(revision) = revision {
        run.metadata.annotations.get_or_insert_default().insert(names::REVISION.to_owned(), revision);
    }
    run
}

/// Where the trace of a Run begins: with who asked for it, or where the Stack says that its traces go on. None if nobody wants traces.
fn traced(stack: &Stack) -> Option<BTreeMap<String, String>> {
    let named = |text: &Option<String>| text.clone().unwrap_or_default();
    let said = stack.metadata.annotations.as_ref().and_then(|all| all.get(names::TRACEPARENT));
    let said = said.map(String::as_str).unwrap_or_default();
    let span = trace::request(&named(&stack.metadata.namespace), &named(&stack.metadata.name), said);
    Some(BTreeMap::from([(names::TRACEPARENT.to_owned(), trace::traceparent_of(&span)?)]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::run::Action;
    use crate::api::stack::Attempt;

    #[test]
    fn a_run_says_which_revision_it_is_about() {
        let mut stack = Stack::new("app", serde_json::from_value(json!({"source": {"inline": {}}})).unwrap());
        // What is written down there is older than what was just decided.
        stack.status = serde_json::from_value(json!({"source": {"revision": "main@sha1:a"}})).unwrap();
        let about = |revision: Option<&str>| Attempt { revision: revision.map(str::to_owned), ..Attempt::default() };
        let revision = |about: Attempt| {
            let new = NewRun {
                number: 2,
                action: Action::Apply,
                causes: Vec::new(),
                about,
                requested: None,
                requested_by_flux: None,
                kept_bundle: None,
                state: None,
                orphans: None,
            };
            let run = made(new, &stack, "bundle".to_owned(), Executor::InProcess);
            run.metadata.annotations.and_then(|notes| notes.get(names::REVISION).cloned())
        };
        assert_eq!(revision(about(Some("main@sha1:b"))), Some("main@sha1:b".to_owned()));
        assert_eq!(revision(about(None)), None);
    }
}
