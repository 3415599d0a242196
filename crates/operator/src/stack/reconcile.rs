//! Looking at one Stack: everything that it depends on is fetched, it is decided, and what was decided is done. Safe to stop after any
//! write: whoever looks next sees what was done, and decides the same about the rest.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube::api::ObjectMeta;
use serde_json::json;

use super::decide::{self, Decision, Facts, NewRun, Step, Wanted};
use super::wanted::{self, Referred, StateHome};
use super::{history, schedule};
use crate::api::names;
use crate::api::run::{Approved, Run, RunSpec};
use crate::api::shared::{HolderKind, Moment, ObjectRef, Truth};
use crate::api::stack::{Executor, Stack, StackStatus};
use crate::blobs::{Blob, BlobError};
use crate::bundle::Bundle;
use crate::inputs::{self, HolderRef, Holders};
use crate::objects::{
    Kind, Notice, Place, Store, StoreError, data_of, find, find_all, holder, owned_by, typed, untyped,
};

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
}

/// A Stack with everything that it depends on.
struct Found {
    stack: Stack,
    referred: Referred,
    runs: Vec<Run>,
    waiting_for: Vec<String>,
    needed_by: Vec<ObjectRef>,
}

impl Reconciler {
    /// With objects there.
    pub fn new(store: Arc<dyn Store>, settings: Settings) -> Self {
        Self { store, settings }
    }

    /// Looks at a Stack. Gives when to look again, if nothing happens before.
    pub async fn reconcile(&self, namespace: &str, name: &str, now: Moment) -> Result<Option<Moment>, ReconcileError> {
        let Some(stack) = find::<Stack>(&*self.store, namespace, name).await? else { return Ok(None) };
        let found = self.dereference(stack).await?;
        let built = wanted::bundle(&found.stack, &found.referred, &self.settings.home);
        let (bundle, wanted) = match built {
            Ok((bundle, about)) => {
                let changed_keys = self.changed_keys(&found, &bundle).await?;
                (Some(bundle), Ok(Wanted { about, changed_keys }))
            }
            Err(problems) => (None, Err(problems)),
        };
        let outputs_gone = self.outputs_gone(&found.stack).await?;
        let since = found.stack.status.as_ref().and_then(|status| status.last_verified_at).unwrap_or(now);
        let scheduled = found.stack.spec.schedule.as_ref().map(|schedule| schedule::next(schedule, since));
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
        };
        let Decision { steps, status, again_at } = decide::decide(&facts);
        let mut stack = found.stack.clone();
        for step in steps {
            if self.take(step, &mut stack, &found, bundle.as_ref()).await? {
                return Ok(None);
            }
        }
        self.clear_history(&found, &status).await?;
        self.write_status(stack, status).await?;
        Ok(again_at)
    }

    /// Everything that a Stack refers to.
    async fn dereference(&self, stack: Stack) -> Result<Found, ReconcileError> {
        let namespace = stack.metadata.namespace.clone().unwrap_or_default();
        let name = stack.metadata.name.clone().unwrap_or_default();
        let mut holders = Holders::new();
        for reference in inputs::references(&stack.spec) {
            if let Some(data) = self.holder(&namespace, &reference).await? {
                holders.insert(reference, data);
            }
        }
        let is_deleted = stack.metadata.deletion_timestamp.is_some();
        let salt = self.salt(&namespace, is_deleted).await?;
        let mut runs: Vec<Run> = find_all(&*self.store, Some(&namespace), &[(names::STACK, &name)]).await?;
        runs.retain(|run| belongs_to(run, &stack));
        runs.sort_by_key(|run| run.spec.number);
        let waiting_for = if is_deleted { Vec::new() } else { self.unready_dependencies(&stack, &namespace).await? };
        let needed_by = if is_deleted { self.dependants(&namespace, &name).await? } else { Vec::new() };
        Ok(Found { stack, referred: Referred { holders, salt }, runs, waiting_for, needed_by })
    }

    async fn holder(
        &self,
        namespace: &str,
        reference: &HolderRef,
    ) -> Result<Option<BTreeMap<String, Vec<u8>>>, StoreError> {
        let kind = match reference.kind {
            HolderKind::Secret => Kind::secret(),
            HolderKind::ConfigMap => Kind::config_map(),
        };
        let found = self.store.get(&Place::new(kind, namespace, &reference.name)).await?;
        Ok(found.as_ref().map(data_of))
    }

    /// The salt of a namespace, made if there is none. In a namespace that goes away nothing can be made, and nothing is hidden any more.
    async fn salt(&self, namespace: &str, is_deleted: bool) -> Result<Vec<u8>, ReconcileError> {
        let place = Place::new(Kind::secret(), namespace, SALT);
        for _ in 0..3 {
            if let Some(found) = self.store.get(&place).await? {
                return Ok(data_of(&found).remove("salt").unwrap_or_default());
            }
            if is_deleted {
                break;
            }
            let mut bytes = [0; 32];
            getrandom::fill(&mut bytes).map_err(|problem| ReconcileError::Randomness(problem.to_string()))?;
            let metadata = ObjectMeta {
                name: Some(SALT.to_owned()),
                namespace: Some(namespace.to_owned()),
                ..ObjectMeta::default()
            };
            let content = json!({ "immutable": true, "data": { "salt": encode(&bytes) } });
            match self.store.create(&place.kind, &holder(&place.kind, metadata, content)).await {
                Ok(_) | Err(StoreError::Exists(_)) => {}
                Err(problem) => return Err(problem.into()),
            }
        }
        Ok(Vec::new())
    }

    /// Which of the Stacks that it needs are not ready, and why.
    async fn unready_dependencies(&self, stack: &Stack, namespace: &str) -> Result<Vec<String>, StoreError> {
        let mut unready = Vec::new();
        for needed in &stack.spec.depends_on {
            let other = needed.namespace.as_deref().unwrap_or(namespace);
            let shown = format!("{other}/{}", needed.name);
            if other != namespace && !self.settings.across_namespaces {
                unready.push(format!("{shown} (it is in another namespace, which is not allowed)"));
                continue;
            }
            match find::<Stack>(&*self.store, other, &needed.name).await? {
                None => unready.push(format!("{shown} (it is not there)")),
                Some(found) if !is_ready(&found) => unready.push(format!("{shown} (it is not ready)")),
                Some(_) => {}
            }
        }
        Ok(unready)
    }

    /// Stacks that need this one. Nothing is written on either: who is there is asked.
    async fn dependants(&self, namespace: &str, name: &str) -> Result<Vec<ObjectRef>, StoreError> {
        let across = self.settings.across_namespaces;
        let all = find_all::<Stack>(&*self.store, (!across).then_some(namespace), &[]).await?;
        let needs = |stack: &&Stack| {
            let own = stack.metadata.namespace.as_deref().unwrap_or_default();
            stack
                .spec
                .depends_on
                .iter()
                .any(|needed| needed.name == name && needed.namespace.as_deref().unwrap_or(own) == namespace)
        };
        let found = all.iter().filter(needs).map(|stack| ObjectRef {
            name: stack.metadata.name.clone().unwrap_or_default(),
            namespace: stack.metadata.namespace.clone(),
        });
        Ok(found.collect())
    }

    /// Objects that outputs were written to, and that somebody has taken away.
    async fn outputs_gone(&self, stack: &Stack) -> Result<Vec<String>, StoreError> {
        let status = stack.status.clone().unwrap_or_default();
        // What failed is tried again in any case, and what was taken down has none.
        let is_settled = status.applied.is_some() && status.failures.is_none();
        if !is_settled || stack.metadata.deletion_timestamp.is_some() {
            return Ok(Vec::new());
        }
        let wanted = &stack.spec.outputs;
        let targets = [(Kind::secret(), &wanted.secret), (Kind::config_map(), &wanted.config_map)];
        let mut gone = Vec::new();
        for (kind, target) in targets.into_iter().filter_map(|(kind, target)| Some((kind, target.as_ref()?))) {
            let namespace = stack.metadata.namespace.as_deref().unwrap_or_default();
            let place = Place::new(kind, namespace, &target.name);
            if self.store.get(&place).await?.is_none() {
                gone.push(format!("{} {}", place.kind.kind, place.name));
            }
        }
        Ok(gone)
    }

    /// Which keys have other values than in the last run. Asked only if something has.
    async fn changed_keys(&self, found: &Found, bundle: &Bundle) -> Result<Vec<String>, ReconcileError> {
        let Some(last) = found.runs.last() else { return Ok(Vec::new()) };
        if last.spec.about.inputs_hash == inputs::inputs_hash(&bundle.inputs, &found.referred.salt) {
            return Ok(Vec::new());
        }
        let before = Self::blob(found, &last.spec.bundle).load(&*self.store).await?;
        let before = before.and_then(|bytes| Bundle::decode(&bytes).ok());
        Ok(before.map(|before| inputs::changed_keys(&before.inputs, &bundle.inputs)).unwrap_or_default())
    }

    fn blob<'b>(found: &'b Found, name: &'b str) -> Blob<'b> {
        let stack = found.stack.metadata.name.clone().unwrap_or_default();
        Blob {
            namespace: found.stack.metadata.namespace.as_deref().unwrap_or_default(),
            name,
            labels: BTreeMap::from([
                (names::STACK.to_owned(), stack),
                ("groma.dev/blob".to_owned(), "bundle".to_owned()),
            ]),
            owner: Some(owned_by(&found.stack)),
        }
    }

    /// Does what was decided. True if the Stack is let go, and there is nothing more to say about it.
    async fn take(
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
            Step::Start(new) => self.start(new, found, bundle).await?,
            Step::Supersede { run, because } => self.supersede(found, &run, &because).await?,
            Step::Approve { run, approved } => self.approve(found, &run, approved).await?,
            Step::ClearUp { state } => self.clear_up(found, state).await?,
            Step::LetGo => {
                stack.metadata.finalizers.get_or_insert_default().retain(|held| held != names::FINALIZER);
                self.replace(stack).await?;
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
            cancel: false,
        };
        let mut run = Run::new(&format!("{stack_name}-{}", new.number), spec);
        run.metadata.namespace.clone_from(&stack.metadata.namespace);
        run.metadata.labels = Some(BTreeMap::from([(names::STACK.to_owned(), stack_name)]));
        run.metadata.owner_references = Some(vec![owned_by(stack)]);
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
                self.store.delete(&Place::of(&Kind::secret(), &secret), secret.metadata.uid.as_deref()).await?;
            }
        }
        if state && self.keeps_state_here(&found.stack) {
            let workspace = found.stack.spec.workspace.as_deref().unwrap_or("default");
            let labels = [("tfstate", "true"), ("tfstateSecretSuffix", name), ("tfstateWorkspace", workspace)];
            for kind in [Kind::secret(), Kind::lease()] {
                for object in self.store.list(&kind, Some(namespace), &labels).await? {
                    self.store.delete(&Place::of(&kind, &object), object.metadata.uid.as_deref()).await?;
                }
            }
        }
        Ok(())
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

    fn keeps_state_here(&self, stack: &Stack) -> bool {
        stack.spec.backend.is_none() && self.settings.home.kind == "kubernetes"
    }

    /// Runs and bundles that nobody needs any more.
    async fn clear_history(&self, found: &Found, status: &StackStatus) -> Result<(), ReconcileError> {
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

    async fn write_status(&self, mut stack: Stack, status: StackStatus) -> Result<(), ReconcileError> {
        let before = stack.status.replace(status);
        if before == stack.status {
            return Ok(());
        }
        let said = newly_said(before.as_ref(), stack.status.as_ref());
        self.store.replace_status(&Kind::of::<Stack>(), &untyped(&stack)?).await?;
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

/// What a run that cannot have what its Stack asks for works with.
fn last_bundle(found: &Found) -> Option<String> {
    let applied = found.stack.status.as_ref().and_then(|status| status.applied.as_ref());
    applied.map(|applied| applied.bundle.clone()).or_else(|| found.runs.last().map(|run| run.spec.bundle.clone()))
}

/// Runs of an earlier Stack of the same name are none of this one.
fn belongs_to(run: &Run, stack: &Stack) -> bool {
    let owners = run.metadata.owner_references.iter().flatten();
    owners.clone().count() == 0 || owners.clone().any(|owner| Some(&owner.uid) == stack.metadata.uid.as_ref())
}

fn is_ready(stack: &Stack) -> bool {
    let Some(status) = &stack.status else { return false };
    status.observed_generation == stack.metadata.generation
        && status.conditions.iter().any(|known| known.kind == "Ready" && known.status == Truth::True)
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

fn encode(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
