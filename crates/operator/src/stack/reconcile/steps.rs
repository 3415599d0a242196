//! Doing what was decided about a Stack.

use std::collections::BTreeMap;

use groma_run::trace;

use super::{Found, ReconcileError, Reconciler};
use crate::api::names;
use crate::api::run::{Approved, Run, RunSpec};
use crate::api::stack::{Stack, StackStatus};
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
        let stack_name = stack.metadata.name.clone().unwrap_or_default();
        let bundle = match bundle.filter(|_| !new.with_applied_bundle) {
            Some(bundle) => {
                let mark = inputs::mark(&found.referred.salt, &bundle.encode());
                let name = format!("{stack_name}-bundle-{}", &mark[..12]);
                Self::blob(found, &name).save(&*self.store, &bundle.encode()).await?;
                name
            }
            None => last_bundle(found).unwrap_or_default(),
        };
        let causes: Vec<String> = new.causes.iter().map(|cause| format!("{:?}", cause.reason)).collect();
        let spec = RunSpec {
            stack: stack_name.clone(),
            number: new.number,
            action: new.action,
            approval: decide::approval(stack, &new.causes),
            causes: new.causes,
            bundle,
            about: new.about,
            requested: new.requested,
            engine: stack.spec.engine,
            executor: stack.spec.executor.unwrap_or(self.settings.executor),
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
        if let Some(source) = stack.status.as_ref().and_then(|status| status.source.as_ref()) {
            let notes = run.metadata.annotations.get_or_insert_default();
            notes.insert(names::REVISION.to_owned(), source.revision.clone());
        }
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

    /// Runs and bundles that nobody needs any more.
    pub(super) async fn clear_history(&self, found: &Found, status: &StackStatus) -> Result<(), ReconcileError> {
        let surplus = history::surplus(&found.runs, &found.stack.spec.history);
        for run in &surplus {
            let place = Place::of(&Kind::of::<Run>(), &untyped(*run)?);
            self.store.delete(&place, run.metadata.uid.as_deref()).await?;
        }
        if surplus.is_empty() {
            return Ok(());
        }
        let needed = history::needed_bundles(&found.runs, &surplus, status);
        for run in surplus {
            if !needed.contains(&run.spec.bundle) {
                Self::blob(found, &run.spec.bundle).delete(&*self.store).await?;
            }
        }
        Ok(())
    }
}

/// What a run that cannot have what its Stack asks for works with.
fn last_bundle(found: &Found) -> Option<String> {
    let applied = found.stack.status.as_ref().and_then(|status| status.applied.as_ref());
    let applied = applied.map(|applied| applied.bundle.clone());
    applied.or_else(|| found.runs.last().map(|run| run.spec.bundle.clone())).or_else(|| found.kept_bundle.clone())
}

/// Where the trace of a Run begins: with who asked for it, or where the Stack says that its traces go on. None if nobody wants traces.
fn traced(stack: &Stack) -> Option<BTreeMap<String, String>> {
    let named = |text: &Option<String>| text.clone().unwrap_or_default();
    let said = stack.metadata.annotations.as_ref().and_then(|all| all.get(names::TRACEPARENT));
    let said = said.map(String::as_str).unwrap_or_default();
    let span = trace::request(&named(&stack.metadata.namespace), &named(&stack.metadata.name), said);
    Some(BTreeMap::from([(names::TRACEPARENT.to_owned(), trace::traceparent_of(&span)?)]))
}
