//! Runs in Jobs: for each, a pod in the namespace of its Stack works on it with the same program, and talks to nobody but the API server.
//! The Run says how far it is; the Job only says whether somebody is still there. What a Job looks like is in `pod`.

mod execute;
mod pod;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use kube::api::{DynamicObject, ObjectMeta};
use serde_json::{Value as Json, json};

use super::in_process::{Clock, Key, Room};
use super::progress::{begin_anew, end};
use super::{Next, next};
use crate::api::names;
use crate::api::run::{FailureKind, Phase, Run};
use crate::api::shared::Moment;
use crate::api::stack::Stack;
use crate::objects::{Kind, Place, Store, StoreError, find, holder};
use crate::runs::turns::Turns;
use crate::work::Output;

pub use execute::{Executing, execute};

/// The account that pods have, unless a Stack names another one.
pub const ACCOUNT: &str = "terraform-executor";
/// How long a pod may need until it works.
const TO_BEGIN: Duration = Duration::from_mins(10);
/// How long one may need until it ends: longer than a run that hangs is waited for in it.
const TO_END: Duration = Duration::from_mins(3);

/// What is the same for all Jobs.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The image of their pods.
    pub image: String,
    /// How many at once.
    pub room: Room,
    /// Variables of their pods.
    pub environment: BTreeMap<String, String>,
}

/// Makes Jobs, and looks after them.
pub struct Jobs {
    store: Arc<dyn Store>,
    settings: Settings,
    clock: Clock,
    turns: Mutex<Turns<Key>>,
    /// Since when pods are to end that work on what nobody wants any more.
    asked: Mutex<BTreeMap<Key, Moment>>,
}

impl Jobs {
    /// There are none yet.
    pub fn new(store: Arc<dyn Store>, settings: Settings, clock: Clock) -> Self {
        let turns = Turns::new(settings.room.most, settings.room.most_each);
        Self { store, settings, clock, turns: Mutex::new(turns), asked: Mutex::default() }
    }

    fn asked(&self) -> MutexGuard<'_, BTreeMap<Key, Moment>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turns(&self) -> MutexGuard<'_, Turns<Key>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many runs wait, and how many are under way.
    pub fn load(&self) -> (usize, usize) {
        let turns = self.turns();
        (turns.waiting(), turns.under_way())
    }

    /// A Run is not there any more. Its Job belongs to it, and goes, too.
    pub(super) async fn forget(&self, key: &Key) -> Result<(), StoreError> {
        {
            let mut turns = self.turns();
            turns.leave(key);
            turns.done(key);
        }
        self.asked().remove(key);
        self.go_on().await
    }

    /// Looks at a Run, and does what is to be done. Gives after what time to look again, if nothing happens before.
    pub(super) async fn look_at(&self, key: &Key, run: Run) -> Result<Option<Duration>, StoreError> {
        let jobs = self.jobs_of(key).await?;
        let alive = jobs.iter().find(|job| !is_finished(job));
        if alive.is_some() {
            self.turns().resume(&key.0, key.clone());
        } else {
            self.turns().done(key);
        }
        if alive.is_none() || !run.spec.cancel {
            self.asked().remove(key);
        }
        let is_claimed = run.status.as_ref().is_some_and(|status| status.holder.is_some());
        let now = (self.clock)();
        let mut again = None;
        match (next(&run, alive.is_some()), alive) {
            (Next::Nothing, Some(job)) if !is_claimed && is_to_begin(&run) => {
                again = self.wait_for_pod(run, job, now).await?;
            }
            (Next::Nothing, _) => {}
            (Next::Stop, Some(job)) if is_claimed => again = self.wait_for_end(key, &run, job, now).await?,
            (Next::Stop, alive) => {
                self.delete(alive).await?;
                again = Some(Duration::from_millis(200));
            }
            (Next::Begin, _) => match jobs.iter().find(|job| made_for(job, &run)) {
                Some(failed) => {
                    let message = format!("Its pod ended before it began: {}", pod::why_it_ended(failed));
                    end(&*self.store, run, (Phase::Failed, message, Some(FailureKind::Transient)), now).await?;
                }
                None => self.turns().wait(&key.0, key.clone()),
            },
            (Next::End(phase, message), _) => {
                self.turns().leave(key);
                end(&*self.store, run, (phase, message, None), now).await?;
            }
            (Next::Again, _) => {
                let gone = format!("its pod is gone{}", self.why_gone(key).await);
                begin_anew(&*self.store, run, &gone, now).await?;
            }
            (Next::Abandon, _) => {
                let why = self.why_gone(key).await;
                let message = format!(
                    "Its pod is gone{why}. What was done until then is known, and the next run goes on from there."
                );
                end(&*self.store, run, (Phase::Failed, message, Some(FailureKind::Interrupted)), now).await?;
            }
        }
        self.go_on().await?;
        Ok(again)
    }

    /// A Job is there, and nobody works yet.
    async fn wait_for_pod(&self, run: Run, job: &DynamicObject, now: Moment) -> Result<Option<Duration>, StoreError> {
        let made = job.metadata.creation_timestamp.as_ref().map_or(now.0, |made| made.0);
        let waited = Duration::try_from(now.0.duration_since(made)).unwrap_or_default();
        let Some(left) = TO_BEGIN.checked_sub(waited).filter(|left| !left.is_zero()) else {
            let name = job.metadata.name.as_deref().unwrap_or_default();
            let pods = self
                .store
                .list(&Kind::core("Pod", "pods"), run.metadata.namespace.as_deref(), &[("job-name", name)])
                .await?;
            let why = pods.iter().find_map(pod::why_it_waits).unwrap_or_else(|| "nobody says why".to_owned());
            let message = format!("Its pod has not begun to work within {} minutes: {why}", TO_BEGIN.as_secs() / 60);
            self.delete(Some(job)).await?;
            end(&*self.store, run, (Phase::Failed, message, Some(FailureKind::Timeout)), now).await?;
            return Ok(None);
        };
        Ok(Some(left))
    }

    /// Whoever works on a run sees by themselves that nobody wants it any more, and ends. If they do not, their pod is taken away.
    async fn wait_for_end(
        &self,
        key: &Key,
        run: &Run,
        job: &DynamicObject,
        now: Moment,
    ) -> Result<Option<Duration>, StoreError> {
        let asked = *self.asked().entry(key.clone()).or_insert(now);
        let left = time_to_end(run, asked, now);
        if !left.is_zero() {
            return Ok(Some(left));
        }
        let name = job.metadata.name.as_deref().unwrap_or_default();
        tracing::warn!(namespace = key.0, run = key.1, job = name, "a pod does not end, and is taken away");
        self.delete(Some(job)).await?;
        Ok(Some(Duration::from_millis(200)))
    }

    /// Why the last pod of a run is not there any more, in brackets, as far as it is known.
    async fn why_gone(&self, (namespace, name): &Key) -> String {
        let pods = self.store.list(&Kind::core("Pod", "pods"), Some(namespace), &[(names::RUN, name)]).await;
        let mut pods = pods.unwrap_or_default();
        pods.sort_by_key(|pod| pod.metadata.creation_timestamp.as_ref().map(|made| made.0));
        let why = pods.iter().rev().find_map(pod::why_it_died);
        why.map(|why| format!(" ({why})")).unwrap_or_default()
    }

    async fn delete(&self, job: Option<&DynamicObject>) -> Result<(), StoreError> {
        let Some(job) = job else { return Ok(()) };
        self.store.delete(&Place::of(&Kind::job(), job), job.metadata.uid.as_deref()).await
    }

    async fn jobs_of(&self, key: &Key) -> Result<Vec<DynamicObject>, StoreError> {
        self.store.list(&Kind::job(), Some(&key.0), &[(names::RUN, &key.1)]).await
    }

    /// Begins what there is room for.
    async fn go_on(&self) -> Result<(), StoreError> {
        loop {
            let Some(key) = self.turns().take() else { return Ok(()) };
            if let Err(problem) = self.begin(&key).await {
                self.turns().done(&key);
                self.turns().wait(&key.0, key.clone());
                return Err(problem);
            }
        }
    }

    async fn begin(&self, key: &Key) -> Result<(), StoreError> {
        let run = find::<Run>(&*self.store, &key.0, &key.1).await?;
        let Some(run) = run.filter(|run| next(run, false) == Next::Begin) else {
            self.turns().done(key);
            return Ok(());
        };
        if self.jobs_of(key).await?.iter().any(|job| !is_finished(job)) {
            return Ok(());
        }
        let Some(stack) = find::<Stack>(&*self.store, &key.0, &run.spec.stack).await? else {
            self.turns().done(key);
            return Ok(());
        };
        if stack.spec.service_account_name.is_none() {
            self.ensure_account(&key.0).await?;
        }
        let job = pod::job(&run, &stack, &self.settings, (self.clock)());
        self.store.create(&Kind::job(), &job).await.map(|_| ())
    }

    async fn ensure_account(&self, namespace: &str) -> Result<(), StoreError> {
        let kind = Kind::core("ServiceAccount", "serviceaccounts");
        let place = Place::new(kind.clone(), namespace, ACCOUNT);
        if self.store.get(&place).await?.is_some() {
            return Ok(());
        }
        let metadata = ObjectMeta {
            name: Some(ACCOUNT.to_owned()),
            namespace: Some(namespace.to_owned()),
            ..ObjectMeta::default()
        };
        match self.store.create(&kind, &holder(&kind, metadata, json!({}))).await {
            Ok(_) | Err(StoreError::Exists(_)) => Ok(()),
            Err(problem) => Err(problem),
        }
    }
}

/// How long whoever works on a run that nobody wants any more may still take. What was begun is not left half done before its time.
fn time_to_end(run: &Run, asked: Moment, now: Moment) -> Duration {
    let until = |since: Moment, length: Duration| {
        let waited = Duration::try_from(now.0.duration_since(since.0)).unwrap_or_default();
        length.saturating_sub(waited)
    };
    let touching = run.status.as_ref().and_then(|status| status.phases.last());
    let touching = touching.filter(|time| matches!(time.phase, Phase::Applying | Phase::Verifying));
    let of_phase = touching.map(|time| until(time.began, run.spec.limits.apply.0.saturating_add(TO_END)));
    until(asked, TO_END).max(of_phase.unwrap_or_default())
}

/// Whether nobody has claimed it yet.
fn is_to_begin(run: &Run) -> bool {
    let phase = run.status.as_ref().map(|status| status.phase).unwrap_or_default();
    matches!(phase, Phase::Queued | Phase::AwaitingApproval)
}

fn is_finished(job: &DynamicObject) -> bool {
    let conditions = job.data["status"]["conditions"].as_array();
    let ended =
        |known: &&Json| matches!(known["type"].as_str(), Some("Complete" | "Failed")) && known["status"] == "True";
    conditions.into_iter().flatten().find(ended).is_some() || job.metadata.deletion_timestamp.is_some()
}

/// Whether a Job was made for what the Run waits for now, and not for something before that.
fn made_for(job: &DynamicObject, run: &Run) -> bool {
    let status = run.status.clone().unwrap_or_default();
    let since = match &status.approval {
        Some(approved) => Some(approved.at),
        None => status.phases.last().map(|time| time.began),
    };
    let made = job.metadata.creation_timestamp.as_ref().map(|made| made.0);
    // Times of objects are in whole seconds.
    since.is_none_or(|since| made.is_some_and(|made| made.as_second() >= since.0.as_second()))
}

/// What comes of a Job, for those who look for it there. It goes with the Job.
pub(super) async fn write_outputs(
    store: &dyn Store,
    run: &Run,
    job: &str,
    outputs: &[Output],
) -> Result<(), StoreError> {
    let namespace = run.metadata.namespace.as_deref().unwrap_or_default();
    let Some(owner) = store.get(&Place::new(Kind::job(), namespace, job)).await? else { return Ok(()) };
    let encode =
        |output: &Output| (output.name.clone(), base64::engine::general_purpose::STANDARD.encode(output.text()));
    let data: BTreeMap<String, String> = outputs.iter().map(encode).collect();
    let metadata = ObjectMeta {
        name: Some(format!("{job}-outputs")),
        namespace: Some(namespace.to_owned()),
        labels: owner.metadata.labels.clone(),
        owner_references: Some(vec![k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference {
            api_version: "batch/v1".to_owned(),
            kind: "Job".to_owned(),
            name: job.to_owned(),
            uid: owner.metadata.uid.clone().unwrap_or_default(),
            controller: Some(true),
            block_owner_deletion: None,
        }]),
        ..ObjectMeta::default()
    };
    let secret = holder(&Kind::secret(), metadata, json!({ "type": "Opaque", "data": data }));
    match store.create(&Kind::secret(), &secret).await {
        Ok(_) | Err(StoreError::Exists(_)) => Ok(()),
        Err(problem) => Err(problem),
    }
}
