//! A cluster in memory, with everybody in it but those who run things.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use serde_json::Value as Json;

use super::*;
use crate::api::run::{Action, PhaseTime, Run};
use crate::blueprint::keep::Keeper;
use crate::blueprint::shipped::shipped;
use crate::blueprint::wanted::owned_by_object;
use crate::objects::memory::Memory;
use crate::objects::{Seen, holder};
use crate::runs::looks::Blind;
use crate::stack::reconcile::{ReconcileError, Settings};
use crate::stack::wanted::StateHome;

const NAME: &str = "simpleresource-sample";

fn now() -> Moment {
    Moment(jiff::Timestamp::from_second(1_700_000_000).unwrap())
}

fn kind() -> Kind {
    kind_of(&shipped().spec.subject).unwrap()
}

pub(super) fn place(name: &str) -> Place {
    Place::new(kind(), "default", name)
}

pub(super) fn blueprint_place() -> Place {
    Place { kind: Kind::of::<Blueprint>(), namespace: None, name: "simple-resource".to_owned() }
}

pub(super) fn stack_place() -> Place {
    Place::new(Kind::of::<Stack>(), "default", &stack_name(&kind(), NAME))
}

/// A store in which one write goes wrong: somebody else has written just before, or nobody answers.
struct Unlucky {
    inner: Memory,
    writes: AtomicUsize,
    wrong_at: Option<usize>,
    /// Whether the schema of the kind has no room for outputs.
    takes_no_outputs: AtomicBool,
}

impl Unlucky {
    async fn before(&self, place: &Place) -> Result<(), StoreError> {
        if Some(self.writes.fetch_add(1, Ordering::SeqCst)) != self.wrong_at {
            return Ok(());
        }
        let Some(mut object) = self.inner.get(place).await? else {
            return Err(StoreError::Away { doing: "writing".to_owned(), reason: "nobody answers".to_owned() });
        };
        object.metadata.annotations.get_or_insert_default().insert("somebody".to_owned(), "else".to_owned());
        self.inner.replace(&place.kind, &object).await.map(|_| ())
    }
}

#[async_trait]
impl Store for Unlucky {
    async fn get(&self, place: &Place) -> Result<Option<DynamicObject>, StoreError> {
        self.inner.get(place).await
    }

    async fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        labels: &[(&str, &str)],
    ) -> Result<Vec<DynamicObject>, StoreError> {
        self.inner.list(kind, namespace, labels).await
    }

    async fn create(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        self.before(&Place::of(kind, object)).await?;
        self.inner.create(kind, object).await
    }

    async fn replace(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        self.before(&Place::of(kind, object)).await?;
        self.inner.replace(kind, object).await
    }

    async fn replace_status(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        let place = Place::of(kind, object);
        self.before(&place).await?;
        let has_outputs = object.data["status"].get("randomValue").is_some();
        if has_outputs && self.takes_no_outputs.load(Ordering::SeqCst) {
            return Err(StoreError::Invalid(place, "status.randomValue: must be an integer".to_owned()));
        }
        self.inner.replace_status(kind, object).await
    }

    async fn delete(&self, place: &Place, uid: Option<&str>) -> Result<(), StoreError> {
        self.before(place).await?;
        self.inner.delete(place, uid).await
    }

    fn watch(&self, kind: &Kind, namespace: Option<&str>) -> BoxStream<'static, Seen> {
        self.inner.watch(kind, namespace)
    }

    async fn notice(&self, notice: Notice) {
        self.inner.notice(notice).await;
    }
}

pub(super) struct World {
    /// What people write to, who are never unlucky.
    pub(super) store: Memory,
    unlucky: Arc<Unlucky>,
    objects: Reconciler,
    keeper: Keeper,
    stacks: crate::stack::reconcile::Reconciler,
}

impl World {
    pub(super) async fn new() -> Self {
        Self::with(None).await
    }

    /// The write of that number goes wrong.
    pub(super) async fn unlucky(at: usize) -> Self {
        Self::with(Some(at)).await
    }

    async fn with(wrong_at: Option<usize>) -> Self {
        let store = Memory::new(Arc::new(now));
        let unlucky = Arc::new(Unlucky {
            inner: store.clone(),
            writes: AtomicUsize::new(0),
            wrong_at,
            takes_no_outputs: AtomicBool::new(false),
        });
        let shared: Arc<dyn Store> = Arc::<Unlucky>::clone(&unlucky);
        let settings = Settings {
            executor: crate::api::stack::Executor::InProcess,
            home: StateHome { kind: "kubernetes".to_owned(), directory: None },
            across_namespaces: false,
        };
        store.create(&Kind::of::<Blueprint>(), &untyped(&shipped()).unwrap()).await.unwrap();
        Self {
            store,
            unlucky,
            objects: Reconciler::new(Arc::clone(&shared)),
            keeper: Keeper::new(Arc::clone(&shared), Vec::new()),
            stacks: crate::stack::reconcile::Reconciler::new(shared, settings, Arc::new(Blind)),
        }
    }

    pub(super) fn take_outputs(&self, taken: bool) {
        self.unlucky.takes_no_outputs.store(!taken, Ordering::SeqCst);
    }

    pub(super) fn writes(&self) -> usize {
        self.unlucky.writes.load(Ordering::SeqCst)
    }

    pub(super) async fn apply(&self, object: DynamicObject) {
        self.store.create(&kind(), &object).await.unwrap();
    }

    pub(super) async fn object(&self) -> DynamicObject {
        self.store.get(&place(NAME)).await.unwrap().unwrap()
    }

    pub(super) async fn change(&self, change: impl FnOnce(&mut DynamicObject)) {
        let mut object = self.object().await;
        change(&mut object);
        self.store.replace(&kind(), &object).await.unwrap();
    }

    pub(super) async fn change_blueprint(&self, change: impl FnOnce(&mut Blueprint)) {
        let mut blueprint: Blueprint = typed(&self.store.get(&blueprint_place()).await.unwrap().unwrap()).unwrap();
        change(&mut blueprint);
        self.store.replace(&Kind::of::<Blueprint>(), &untyped(&blueprint).unwrap()).await.unwrap();
    }

    pub(super) async fn delete(&self) {
        self.delete_named(NAME).await;
    }

    pub(super) async fn delete_named(&self, name: &str) {
        self.store.delete(&place(name), None).await.unwrap();
    }

    pub(super) async fn status_of(&self, name: &str) -> Json {
        let object = self.store.get(&place(name)).await.unwrap().unwrap();
        object.data.get("status").cloned().unwrap_or_default()
    }

    pub(super) async fn status(&self) -> Json {
        self.status_of(NAME).await
    }

    /// Phase and message.
    pub(super) async fn phase(&self) -> String {
        let status = self.status().await;
        format!("{}: {}", status["phase"].as_str().unwrap_or_default(), status["message"].as_str().unwrap_or_default())
    }

    pub(super) async fn stack(&self) -> Option<Stack> {
        find(&self.store, "default", &stack_place().name).await.unwrap()
    }

    /// Neither the object nor anything that was made for it is there.
    pub(super) async fn is_gone(&self) -> bool {
        let secrets = self.store.list(&Kind::secret(), None, &[]).await.unwrap();
        let left = secrets.iter().filter(|secret| secret.metadata.name.as_deref() != Some("groma-salt")).count();
        self.is_gone_named(NAME).await && self.stack().await.is_none() && left == 0
    }

    pub(super) async fn is_gone_named(&self, name: &str) -> bool {
        self.store.get(&place(name)).await.unwrap().is_none()
    }

    /// A Stack of the name that the one of the object would have.
    pub(super) async fn foreign_stack(&self) {
        let mut stack = Stack::default();
        stack.metadata.name = Some(stack_place().name);
        stack.metadata.namespace = Some("default".to_owned());
        stack.spec.suspend = true;
        self.store.create(&Kind::of::<Stack>(), &untyped(&stack).unwrap()).await.unwrap();
    }

    /// The Secret that a run would have written.
    async fn outputs_secret(&self) {
        let object = self.object().await;
        let metadata = kube::api::ObjectMeta {
            name: Some(format!("{NAME}-simple-outputs")),
            namespace: Some("default".to_owned()),
            owner_references: Some(vec![owned_by_object(&kind(), &object)]),
            ..kube::api::ObjectMeta::default()
        };
        match self.store.create(&Kind::secret(), &holder(&Kind::secret(), metadata, json!({"data": {}}))).await {
            Ok(_) | Err(StoreError::Exists(_)) => {}
            Err(problem) => panic!("{problem}"),
        }
    }

    /// The run that is under way comes to this.
    pub(super) async fn run_ends(&self, phase: Phase, values: Json) {
        let runs: Vec<Run> = find_all(&self.store, None, &[]).await.unwrap();
        let is_over = |run: &Run| run.status.as_ref().is_some_and(|status| status.phase.is_over());
        let mut run = runs.into_iter().rfind(|run| !is_over(run)).expect("a run is under way");
        let status = run.status.get_or_insert_default();
        status.phases = [Phase::Applying, phase].map(|phase| PhaseTime { phase, began: now(), took: None }).to_vec();
        status.phase = phase;
        status.values = serde_json::from_value(values).unwrap();
        if phase == Phase::Succeeded && run.spec.action == Action::Apply {
            self.outputs_secret().await;
        }
        if phase == Phase::Failed {
            status.message = "it did not work".to_owned();
        }
        self.store.replace_status(&Kind::of::<Run>(), &untyped(&run).unwrap()).await.unwrap();
    }

    /// Runs that are not wanted any more end, as they would.
    async fn end_superseded(&self) {
        let runs: Vec<Run> = find_all(&self.store, None, &[]).await.unwrap();
        for mut run in runs.into_iter().filter(|run| run.spec.cancel) {
            let status = run.status.get_or_insert_default();
            if !status.phase.is_over() {
                status.phase = Phase::Superseded;
                self.store.replace_status(&Kind::of::<Run>(), &untyped(&run).unwrap()).await.unwrap();
            }
        }
    }

    /// Everybody looks at everything until nothing happens any more.
    pub(super) async fn settle(&self) {
        for _ in 0..50 {
            let before = self.store.version();
            let was_fine = self.look().await;
            self.end_superseded().await;
            if was_fine && self.store.version() == before {
                return;
            }
        }
        panic!("it never comes to an end: {}", self.phase().await);
    }

    /// False if something is to be tried again.
    async fn look(&self) -> bool {
        let mut all_fine = fine(self.keeper.look_at("simple-resource", now()).await);
        let mut names = Vec::new();
        for object in self.store.list(&kind(), None, &[]).await.unwrap() {
            names.extend(object.metadata.name);
        }
        let stacks = self.store.list(&Kind::of::<Stack>(), None, &[]).await.unwrap();
        names.extend(stacks.iter().filter_map(|stack| Some(controller(&stack.metadata)?.name.clone())));
        for name in names {
            all_fine &= fine(self.objects.reconcile("simple-resource", "default", &name, now()).await);
        }
        for stack in stacks {
            let looked = self.stacks.reconcile("default", &stack.metadata.name.unwrap(), now()).await;
            all_fine &= fine(looked.map_err(|problem| match problem {
                ReconcileError::Store(problem) => problem,
                other => panic!("{other}"),
            }));
        }
        all_fine
    }
}

fn fine<T>(looked: Result<T, StoreError>) -> bool {
    match looked {
        Ok(_) => true,
        Err(StoreError::Conflict(_) | StoreError::Missing(_) | StoreError::Away { .. }) => false,
        Err(problem) => panic!("{problem}"),
    }
}
