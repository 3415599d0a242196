//! The operator itself: it watches, keeps an agenda of what to look at, and looks. Everything it knows is in the objects; what is here is
//! only what it would find out again.

pub(crate) mod agenda;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use kube::api::DynamicObject;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

use crate::api::blueprint::Blueprint;
use crate::api::names;
use crate::api::run::{Phase, Run};
use crate::api::shared::{HolderKind, Moment, Truth};
use crate::api::stack::Stack;
use crate::blueprint;
use crate::blueprint::keep::Keeper;
use crate::blueprint::watches::Watches;
use crate::inputs::{self, HolderRef};
use crate::metrics::Metrics;
use crate::objects::kept;
use crate::objects::{Kind, Seen, Store, StoreError, controller, find_all, typed};
use crate::runs::Runs;
use crate::runs::in_process::{Clock, InProcess, News, Room};
use crate::runs::job::{self, Jobs};
use crate::sources::watches::Watches as FluxWatches;
use crate::sources::{self, Sources, flux};
use crate::stack::reconcile::{ReconcileError, Reconciler, Settings};
use crate::terraform;
use crate::territory::{Account, Territory};
use crate::voices::{Refresher, Voices};
use crate::work::Workshop;
use agenda::Agenda;

/// How soon it is tried again when something could not be looked at.
const SOON: Duration = Duration::from_secs(1);
/// And at most.
const LATE: Duration = Duration::from_mins(1);
/// How soon it is looked again at first when somebody else has written meanwhile.
const FASTER: Duration = Duration::from_millis(10);
/// How long it is waited for runs in this process when we are to end: what an apply has begun may take a while. Whoever started us may be
/// less patient.
const TO_END: Duration = Duration::from_mins(15);

/// What is looked at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A Stack, by namespace and name.
    Stack(String, String),
    /// A Run, by namespace and name.
    Run(String, String),
    /// A Blueprint, by name.
    Blueprint(String),
    /// What is kept for a Stack, and somebody has deleted; by namespace and name of the Stack.
    Kept(String, String),
    /// A namespace, in which something may be left of Stacks that are gone.
    Namespace(String),
    /// An object of the kind of a Blueprint: its name, and namespace and name of the object.
    Object(String, String, String),
    /// An object of tofu-controller, by namespace and name.
    Terraform(String, String),
}

impl Subject {
    fn kind(&self) -> &'static str {
        match self {
            Self::Stack(..) => "Stack",
            Self::Run(..) => "Run",
            Self::Blueprint(_) => "Blueprint",
            Self::Kept(..) => "Kept",
            Self::Namespace(_) => "Namespace",
            Self::Object(..) => "Object",
            Self::Terraform(..) => "Terraform",
        }
    }
}

/// How an operator works.
pub struct Options {
    /// What is the same for all Stacks.
    pub settings: Settings,
    /// How objects of tofu-controller are looked after. None if they are not.
    pub terraform: Option<terraform::reconcile::Settings>,
    /// What is the same for all runs in this process.
    pub workshop: Workshop,
    /// How many runs at once.
    pub room: Room,
    /// What is the same for all Jobs.
    pub jobs: job::Settings,
    /// Figures about what it does.
    pub metrics: Arc<Metrics>,
    /// Who we are, if we need rights where there are Stacks.
    pub account: Option<Account>,
    /// How many objects are looked at at once.
    pub workers: usize,
    /// Which namespaces; all of them if none is named.
    pub namespaces: Vec<String>,
    /// Who we are.
    pub holder: String,
    /// What time it is.
    pub clock: Clock,
}

/// An operator.
pub struct Operator {
    store: Arc<dyn Store>,
    agenda: Arc<Agenda<Subject>>,
    reconciler: Reconciler,
    keeper: Keeper,
    objects: blueprint::reconcile::Reconciler,
    terraform: Option<terraform::reconcile::Reconciler>,
    watches: Watches,
    sources: Arc<Sources>,
    flux: FluxWatches,
    runs: Runs,
    territory: Territory,
    voices: OnceLock<Arc<Voices>>,
    metrics: Arc<Metrics>,
    index: Mutex<Index>,
    failures: Mutex<BTreeMap<Subject, u32>>,
    workers: usize,
    namespaces: Vec<String>,
    clock: Clock,
}

/// Who refers to what.
#[derive(Default)]
struct Index {
    /// Of each Stack, what it refers to, and which Stacks it needs.
    stacks: BTreeMap<Name, Needs>,
    /// Runs that were not over when they were last seen.
    under_way: BTreeSet<Name>,
}

/// Namespace and name of a Stack.
type Name = (String, String);
/// What a Stack refers to, and which Stacks it needs.
type Needs = (BTreeSet<HolderRef>, BTreeSet<Name>);

impl Index {
    fn learn(&mut self, stack: &Stack) {
        let namespace = stack.metadata.namespace.clone().unwrap_or_default();
        let name = stack.metadata.name.clone().unwrap_or_default();
        let needs = stack
            .spec
            .depends_on
            .iter()
            .map(|needed| (needed.namespace.clone().unwrap_or_else(|| namespace.clone()), needed.name.clone()));
        let known = (inputs::references(&stack.spec), needs.collect());
        self.stacks.insert((namespace, name), known);
    }

    /// Whether there are Stacks in a namespace.
    fn knows(&self, namespace: &str) -> bool {
        let start = (namespace.to_owned(), String::new());
        self.stacks.range(start..).next().is_some_and(|((first, _), _)| first == namespace)
    }

    fn forget(&mut self, namespace: &str, name: &str) {
        self.stacks.remove(&(namespace.to_owned(), name.to_owned()));
    }

    /// The Run, if it was under way when it was last seen, and is over now. What was over before we came was counted by somebody else.
    fn ends(&mut self, object: &DynamicObject, is_gone: bool) -> Option<Run> {
        let key = (object.metadata.namespace.clone()?, object.metadata.name.clone()?);
        // What went while nobody listened is only known by its name.
        if is_gone {
            self.under_way.remove(&key);
            return None;
        }
        let run = typed::<Run>(object).ok()?;
        let is_over = run.status.as_ref().is_some_and(|status| status.phase.is_over());
        if !is_over {
            self.under_way.insert(key);
            return None;
        }
        self.under_way.remove(&key).then_some(run)
    }

    /// The Stacks that refer to a Secret or ConfigMap.
    fn referring<'i>(&'i self, namespace: &'i str, holder: &'i HolderRef) -> impl Iterator<Item = Subject> + 'i {
        let of_namespace = self.stacks.iter().filter(move |((own, _), _)| own == namespace);
        of_namespace
            .filter(move |(_, (references, _))| references.contains(holder))
            .map(|((namespace, name), _)| Subject::Stack(namespace.clone(), name.clone()))
    }

    /// The Stacks that have to do with a Stack: those that need it, and those that it needs.
    fn neighbours(&self, namespace: &str, name: &str) -> Vec<Subject> {
        let this = (namespace.to_owned(), name.to_owned());
        let needing = self.stacks.iter().filter(|(_, (_, needs))| needs.contains(&this)).map(|(key, _)| key);
        let needed = self.stacks.get(&this).into_iter().flat_map(|(_, needs)| needs);
        needing.chain(needed).map(|(namespace, name)| Subject::Stack(namespace.clone(), name.clone())).collect()
    }
}

impl Operator {
    /// With objects there.
    pub fn new(store: Arc<dyn Store>, options: Options) -> Arc<Self> {
        let agenda: Arc<Agenda<Subject>> = Arc::default();
        let (to_look_at, counted) = (Arc::clone(&agenda), Arc::clone(&options.metrics));
        let told = Arc::new(move |news: News<'_>| {
            let subject = match news {
                News::Run((namespace, name)) => Subject::Run(namespace.clone(), name.clone()),
                News::Look { namespace, name, is_well } => {
                    counted.checked(namespace, is_well);
                    if is_well {
                        return;
                    }
                    Subject::Stack(namespace.to_owned(), name.to_owned())
                }
            };
            to_look_at.add(subject, Instant::now());
        });
        let Options { settings, terraform, workshop, room, jobs, metrics, account, workers, namespaces, holder, clock } =
            options;
        let to_look_at = Arc::clone(&agenda);
        let sources = Sources::new(sources::Settings::of(&workshop, Arc::clone(&clock)), move |(namespace, name)| {
            to_look_at.add(Subject::Stack(namespace.clone(), name.clone()), Instant::now());
        });
        let here = InProcess::new(Arc::clone(&store), workshop, holder, room, Arc::clone(&clock), told);
        let jobs = Jobs::new(Arc::clone(&store), jobs, Arc::clone(&clock));
        Arc::new(Self {
            reconciler: Reconciler::new(Arc::clone(&store), settings, Arc::new(Arc::clone(&here)))
                .with_sources(Arc::clone(&sources)),
            keeper: Keeper::new(Arc::clone(&store), namespaces.clone()),
            objects: blueprint::reconcile::Reconciler::new(Arc::clone(&store)),
            terraform: terraform.map(|wanted| terraform::reconcile::Reconciler::new(Arc::clone(&store), &wanted)),
            watches: Watches::default(),
            sources,
            flux: FluxWatches::default(),
            runs: Runs::new(Arc::clone(&store), here, jobs),
            territory: Territory::new(Arc::clone(&store), account),
            voices: OnceLock::new(),
            metrics,
            store,
            agenda,
            index: Mutex::default(),
            failures: Mutex::default(),
            workers: workers.max(1),
            namespaces,
            clock,
        })
    }

    /// Whoever speaks with others hears of Stacks from now on.
    pub fn speaks_through(&self, voices: Arc<Voices>) {
        voices.refreshes(Arc::clone(&self.sources) as Arc<dyn Refresher>);
        // There is one at most.
        let _ = self.voices.set(voices);
    }

    /// Where the configurations of Stacks come from.
    pub fn sources(&self) -> &Arc<Sources> {
        &self.sources
    }

    /// Works until it is told to stop.
    pub async fn run(self: Arc<Self>, stop: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = JoinSet::new();
        let mut watches = Vec::new();
        for kind in [Kind::of::<Stack>(), Kind::of::<Run>()] {
            watches.extend(self.places().into_iter().map(|namespace| self.watch(&kind, namespace)));
        }
        if self.terraform.is_some() {
            let kind = terraform::kind();
            watches.extend(self.places().into_iter().map(|namespace| self.watch(&kind, namespace)));
        }
        watches.push(self.watch(&Kind::of::<Blueprint>(), None));
        watches.push(self.watch(&Kind::namespace(), None));
        for _ in 0..self.workers {
            let me = Arc::clone(&self);
            tasks.spawn(async move {
                while let Some(subject) = me.agenda.next().await {
                    Box::pin(me.look_at(&subject)).await;
                    me.agenda.done(&subject);
                }
            });
        }
        if let Some(voices) = self.voices.get() {
            tasks.spawn(Arc::clone(voices).run());
        }
        stop.await;
        self.agenda.close();
        self.runs.close();
        let last = Instant::now() + TO_END;
        while self.runs.here() > 0 {
            if Instant::now() >= last {
                tracing::error!(runs = self.runs.here(), "runs do not end although they were asked to, and are left");
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.watches.stop();
        self.flux.stop();
        self.sources.stop();
        self.territory.stop();
        watches.iter().for_each(AbortHandle::abort);
        tasks.abort_all();
        while tasks.join_next().await.is_some() {}
    }

    /// The namespaces that are looked into; none stands for all of them.
    fn places(&self) -> Vec<Option<&str>> {
        if self.namespaces.is_empty() {
            return vec![None];
        }
        self.namespaces.iter().map(|name| Some(name.as_str())).collect()
    }

    /// Sees everything of a kind until it is aborted.
    fn watch(self: &Arc<Self>, kind: &Kind, namespace: Option<&str>) -> AbortHandle {
        let of = kind.clone();
        self.watch_with(kind, namespace, move |me, seen| me.see(&of, seen))
    }

    fn watch_with(
        self: &Arc<Self>,
        kind: &Kind,
        namespace: Option<&str>,
        see: impl Fn(&Self, Seen) + Send + 'static,
    ) -> AbortHandle {
        // It must not keep the operator, which keeps it.
        let me = Arc::downgrade(self);
        let mut all = self.store.watch(kind, namespace);
        let watching = tokio::spawn(async move {
            while let Some(seen) = all.next().await {
                let Some(me) = me.upgrade() else { return };
                see(&me, seen);
            }
        });
        watching.abort_handle()
    }

    /// Something was seen: who has to do with it is looked at.
    fn see(&self, kind: &Kind, seen: Seen) {
        let Some((object, is_gone)) = seen.object() else { return };
        let namespace = object.metadata.namespace.clone().unwrap_or_default();
        let name = object.metadata.name.clone().unwrap_or_default();
        if let Some(voices) = self.voices.get() {
            voices.see(kind, &object, is_gone);
        }
        for subject in self.concerned(kind, &object, &namespace, &name, is_gone) {
            self.agenda.add(subject, Instant::now());
        }
    }

    fn concerned(
        &self,
        kind: &Kind,
        object: &DynamicObject,
        namespace: &str,
        name: &str,
        is_gone: bool,
    ) -> Vec<Subject> {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = object.metadata.labels.as_ref().and_then(|labels| labels.get(names::STACK));
        let of_owner = owner.map(|owner| Subject::Stack(namespace.to_owned(), owner.clone()));
        match kind.kind.as_str() {
            "Stack" => {
                let mut found = index.neighbours(namespace, name);
                match typed::<Stack>(object) {
                    Ok(stack) if !is_gone => {
                        self.metrics.stack_is(namespace, name, Some(readiness(&stack)));
                        index.learn(&stack);
                        self.flux.learn(namespace, name, stack.spec.source.flux.as_ref());
                    }
                    _ => {
                        self.metrics.stack_is(namespace, name, None);
                        index.forget(namespace, name);
                        self.flux.learn(namespace, name, None);
                    }
                }
                // What was decided is what we have written.
                if !self.reconciler.has_written(object) {
                    found.push(Subject::Stack(namespace.to_owned(), name.to_owned()));
                }
                found.extend(object_of(object, namespace));
                found.extend(self.terraform.as_ref().and_then(|_| terraform_of(object, namespace)));
                found
            }
            "Blueprint" => vec![Subject::Blueprint(name.to_owned())],
            "Terraform" => vec![Subject::Terraform(namespace.to_owned(), name.to_owned())],
            "Run" => {
                if let Some(run) = index.ends(object, is_gone) {
                    self.metrics.run_is_over(&run);
                }
                // How far somebody is who works on it is of interest to nobody until they are done, or somebody has to agree.
                let is_settled = typed::<Run>(object).is_ok_and(|run| is_settled(&run));
                if !is_settled && !is_gone && self.runs.works_on(&(namespace.to_owned(), name.to_owned())) {
                    return Vec::new();
                }
                of_owner.into_iter().chain([Subject::Run(namespace.to_owned(), name.to_owned())]).collect()
            }
            "Job" => {
                let run = object.metadata.labels.as_ref().and_then(|labels| labels.get(names::RUN));
                run.map(|run| Subject::Run(namespace.to_owned(), run.clone())).into_iter().collect()
            }
            "Secret" | "ConfigMap" => {
                let holder = if kind.kind == "Secret" { HolderKind::Secret } else { HolderKind::ConfigMap };
                let holder = HolderRef { kind: holder, name: name.to_owned() };
                let mut found: Vec<Subject> = index.referring(namespace, &holder).collect();
                // What we have written ourselves is of interest when it is gone.
                found.extend(of_owner.filter(|_| is_gone));
                let whom = kept::wanted_by(&object.metadata).filter(|_| !is_gone);
                found.extend(whom.map(|stack| Subject::Kept(namespace.to_owned(), stack.to_owned())));
                found
            }
            _ if kind.group == flux::GROUP => {
                let referring = self.flux.referring(&kind.kind, namespace, name);
                referring.into_iter().map(|(namespace, name)| Subject::Stack(namespace, name)).collect()
            }
            "Namespace" if !is_gone && (self.namespaces.is_empty() || self.namespaces.iter().any(|it| it == name)) => {
                vec![Subject::Namespace(name.to_owned())]
            }
            _ => Vec::new(),
        }
    }

    /// Something was seen of the kind of a Blueprint.
    fn see_object(&self, blueprint: &str, seen: Seen) {
        let Some((object, is_gone)) = seen.object() else { return };
        let namespace = object.metadata.namespace.clone().unwrap_or_default();
        let name = object.metadata.name.clone().unwrap_or_default();
        self.agenda.add(Subject::Object(blueprint.to_owned(), namespace, name), Instant::now());
        // A Blueprint knows how many there are, and may wait for the last one to go.
        let is_new = object.metadata.finalizers.as_ref().is_none_or(Vec::is_empty);
        if is_gone || is_new {
            self.agenda.add(Subject::Blueprint(blueprint.to_owned()), Instant::now() + SOON);
        }
    }

    async fn look_at_stack(self: &Arc<Self>, namespace: &str, name: &str) -> Result<Option<Moment>, ReconcileError> {
        match self.territory.enter(namespace, || self.watch_namespace(namespace)).await {
            // The namespace goes away after its last Stack, and there is nothing to look at.
            Err(StoreError::Ending(_) | StoreError::Missing(_)) if !self.knows(namespace) => return Ok(None),
            entered => entered?,
        }
        self.flux.ensure(namespace, name, |(kind, of)| self.watch(&flux::kind(*kind), Some(of)));
        let again = self.reconciler.reconcile(namespace, name, (self.clock)()).await?;
        if !self.knows(namespace) {
            self.territory.leave(namespace).await?;
        }
        Ok(again)
    }

    /// Whether there are Stacks in a namespace.
    fn knows(&self, namespace: &str) -> bool {
        self.index.lock().unwrap_or_else(PoisonError::into_inner).knows(namespace)
    }

    /// Stacks may have gone by force while nobody worked here. What was kept for them would keep their namespace for ever.
    async fn look_at_namespace(self: &Arc<Self>, namespace: &str) -> Result<(), ReconcileError> {
        if !self.territory.has_rights(namespace).await? {
            return Ok(());
        }
        let stacks = find_all::<Stack>(&*self.store, Some(namespace), &[]).await?;
        if !stacks.is_empty() {
            return Ok(());
        }
        for stack in kept::stacks_of(&*self.store, namespace).await? {
            self.reconciler.let_kept_go(namespace, &stack).await?;
        }
        // There may be one by now.
        if !self.knows(namespace) {
            self.territory.give_back(namespace).await?;
        }
        Ok(())
    }

    /// What Stacks of a namespace refer to, and what is made for them.
    fn watch_namespace(self: &Arc<Self>, namespace: &str) -> Vec<AbortHandle> {
        Territory::kinds().iter().map(|kind| self.watch(kind, Some(namespace))).collect()
    }

    async fn look_at_blueprint(self: &Arc<Self>, name: &str) -> Result<Option<Instant>, StoreError> {
        let kept = self.keeper.look_at(name, (self.clock)()).await?;
        let all_again = self.watches.update(name, &kept, |kind| self.watch_objects(name, kind));
        for (namespace, object) in kept.objects.iter().filter(|_| all_again) {
            self.agenda.add(Subject::Object(name.to_owned(), namespace.clone(), object.clone()), Instant::now());
        }
        Ok(kept.again_at.map(|at| self.instant(at)))
    }

    fn watch_objects(self: &Arc<Self>, blueprint: &str, kind: &Kind) -> Vec<AbortHandle> {
        let begin = |namespace: Option<&str>| {
            let blueprint = blueprint.to_owned();
            self.watch_with(kind, namespace, move |me, seen| me.see_object(&blueprint, seen))
        };
        self.places().into_iter().map(begin).collect()
    }

    async fn look_at(self: &Arc<Self>, subject: &Subject) {
        let looked = match subject {
            Subject::Stack(namespace, name) => {
                let looked = self.look_at_stack(namespace, name).await;
                looked.map(|again| again.map(|at| self.instant(at)))
            }
            Subject::Run(namespace, name) => {
                let key = (namespace.clone(), name.clone());
                self.runs
                    .look_at(&key)
                    .await
                    .map(|after| after.map(|after| Instant::now() + after))
                    .map_err(ReconcileError::from)
            }
            Subject::Kept(namespace, name) => self.reconciler.let_kept_go(namespace, name).await.map(|()| None),
            Subject::Namespace(name) => self.look_at_namespace(name).await.map(|()| None),
            Subject::Blueprint(name) => self.look_at_blueprint(name).await.map_err(ReconcileError::from),
            Subject::Object(blueprint, namespace, name) => {
                let looked = Box::pin(self.objects.reconcile(blueprint, namespace, name, (self.clock)())).await;
                looked.map(|again| again.map(|at| self.instant(at))).map_err(ReconcileError::from)
            }
            Subject::Terraform(namespace, name) => match &self.terraform {
                Some(objects) => {
                    let looked = objects.reconcile(namespace, name, (self.clock)()).await;
                    looked.map(|again| again.map(|at| self.instant(at))).map_err(ReconcileError::from)
                }
                None => Ok(None),
            },
        };
        self.metrics.looked(subject.kind(), looked.is_ok());
        self.metrics.load(self.runs.load(), self.agenda.pending(Instant::now()), self.territory.size());
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        match looked {
            Ok(again) => {
                failures.remove(subject);
                if let Some(at) = again {
                    self.agenda.add(subject.clone(), at);
                }
            }
            Err(problem) => {
                let count = failures.entry(subject.clone()).or_default();
                *count = count.saturating_add(1);
                let pause = pause_after(&problem, *count);
                if pause >= SOON {
                    tracing::warn!(?subject, %problem, ?pause, "it could not be looked at, and is tried again");
                }
                self.agenda.add(subject.clone(), Instant::now() + pause);
            }
        }
    }

    fn instant(&self, at: Moment) -> Instant {
        let wait = at.0.duration_since((self.clock)().0);
        Instant::now() + Duration::try_from(wait).unwrap_or_default()
    }
}

/// How long to wait when something could not be looked at, so many times in a row.
fn pause_after(problem: &ReconcileError, count: u32) -> Duration {
    let grown = |first: Duration, most| first.saturating_mul(1 << count.saturating_sub(1).min(7)).min(most);
    match problem {
        // Somebody else was faster: what they wrote is looked at, now. What is missing for long will be for longer.
        ReconcileError::Store(StoreError::Conflict(_) | StoreError::Missing(_)) => grown(FASTER, SOON),
        _ => grown(SOON, LATE),
    }
}

/// Whether there is something to decide about a Run that somebody works on.
fn is_settled(run: &Run) -> bool {
    let phase = run.status.as_ref().map(|status| status.phase).unwrap_or_default();
    run.spec.cancel || phase.is_over() || matches!(phase, Phase::Queued | Phase::AwaitingApproval | Phase::Applying)
}

/// 1 if a Stack is ready, 0 if it is not, -1 if that is not known.
fn readiness(stack: &Stack) -> i64 {
    let conditions = stack.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
    match conditions.iter().find(|known| known.kind == "Ready").map(|known| known.status) {
        Some(Truth::True) => 1,
        Some(Truth::False) => 0,
        _ => -1,
    }
}

/// The object that a Stack was made for.
fn object_of(stack: &DynamicObject, namespace: &str) -> Option<Subject> {
    let blueprint = stack.metadata.annotations.as_ref()?.get(names::BLUEPRINT)?;
    let owner = controller(&stack.metadata)?;
    Some(Subject::Object(blueprint.clone(), namespace.to_owned(), owner.name.clone()))
}

/// The object of tofu-controller that a Stack was made for.
fn terraform_of(stack: &DynamicObject, namespace: &str) -> Option<Subject> {
    let owner = controller(&stack.metadata)?;
    let is_one = owner.kind == terraform::kind().kind && owner.api_version.starts_with(crate::api::terraform::GROUP);
    is_one.then(|| Subject::Terraform(namespace.to_owned(), owner.name.clone()))
}

#[cfg(test)]
mod tests {
    use kube::api::ObjectMeta;
    use serde_json::json;

    use super::*;
    use crate::objects::{Place, holder};

    #[test]
    fn a_run_that_went_unseen_is_under_way_no_more() {
        let mut index = Index::default();
        let metadata =
            ObjectMeta { name: Some("app-1".to_owned()), namespace: Some("team".to_owned()), ..ObjectMeta::default() };
        index.under_way.insert(("team".to_owned(), "app-1".to_owned()));
        assert_eq!(index.ends(&holder(&Kind::of::<Run>(), metadata, json!({})), true), None);
        assert!(index.under_way.is_empty());
    }

    #[test]
    fn who_was_slower_looks_again_at_once_and_not_for_ever() {
        let place = Place::new(Kind::secret(), "team", "gone");
        let missing = ReconcileError::Store(StoreError::Missing(place.clone()));
        let pauses = [1, 2, 4, 8, 1000].map(|count| pause_after(&missing, count));
        assert_eq!(pauses.map(|pause| pause.as_millis()), [10, 20, 80, 1000, 1000]);
        let away = ReconcileError::Store(StoreError::Away { doing: String::new(), reason: String::new() });
        assert_eq!([1, 2, 9].map(|count| pause_after(&away, count).as_secs()), [1, 2, 60]);
    }
}
