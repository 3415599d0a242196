//! Looking at one object of tofu-controller: its Stack is made, changed or taken away, and what that says is written back. Safe to stop after any
//! write: whoever looks next sees what was done, and does the rest.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kube::api::DynamicObject;

use super::rival::{Rival, Watchman};
use super::told::{self, Seen, Situation};
use super::wanted::{self, Asked, Problem, Rules, Wanted, asked};
use super::{Standing, kind, plan_id, stack_name, standing, state};
use crate::api::names;
use crate::api::run::{Approved, FailureKind, Phase, Run};
use crate::api::shared::Moment;
use crate::api::stack::{DeletionPolicy, Stack};
use crate::api::terraform::{DEPENDENCY_FINALIZER, FINALIZER, Terraform, TerraformStatus};
use crate::objects::{Kind, Notice, Place, Store, StoreError, controller, find, typed, untyped};

/// How soon it is looked again while something is waited for that others do.
const WAITING: Duration = Duration::from_secs(15);
/// And otherwise, as what is not seen must not be missed for ever.
const USUAL: Duration = Duration::from_mins(10);

/// What is the same for all objects.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Whether they may refer to objects of other namespaces.
    pub across_namespaces: bool,
    /// Where the Lease of tofu-controller may be.
    pub rival_namespaces: Vec<String>,
}

/// Looks at objects of tofu-controller.
pub struct Reconciler {
    store: Arc<dyn Store>,
    rules: Rules,
    watchman: Watchman,
    /// The uids of objects that were told that somebody else works on them.
    told: Mutex<BTreeSet<String>>,
}

/// What came of making a Stack.
enum Made {
    /// It is there, and is what is wanted.
    There(Box<Stack>),
    /// Something else is in the way, and goes.
    InTheWay(String),
    /// Somebody does not take it.
    Refused(String),
}

impl Reconciler {
    /// With objects there.
    pub fn new(store: Arc<dyn Store>, settings: &Settings) -> Self {
        let watchman = Watchman::new(Arc::clone(&store), &settings.rival_namespaces);
        let rules = Rules { across_namespaces: settings.across_namespaces };
        Self { store, rules, watchman, told: Mutex::default() }
    }

    /// Looks at an object. Gives when to look again, if nothing happens before.
    pub async fn reconcile(&self, namespace: &str, name: &str, now: Moment) -> Result<Option<Moment>, StoreError> {
        // It is large, and whoever waits for it need not be.
        Box::pin(self.look_at(namespace, name, now)).await
    }

    async fn look_at(&self, namespace: &str, name: &str, now: Moment) -> Result<Option<Moment>, StoreError> {
        let Some(raw) = self.store.get(&Place::new(kind(), namespace, name)).await? else {
            return self.without_object(namespace, name).await.map(|()| None);
        };
        if let Some(rival) = self.watchman.rival(now).await? {
            self.say_rival(&raw, &rival).await;
            return Ok(Some(later(now, WAITING)));
        }
        self.told().clear();
        let object: Terraform = match typed(&raw) {
            Ok(object) => object,
            Err(StoreError::Invalid(_, why)) => return self.unreadable(raw, why, now).await,
            Err(problem) => return Err(problem),
        };
        let unknown = wanted::unknown_fields(raw.data.get("spec").unwrap_or(&serde_json::Value::Null));
        match (standing(&object), object.metadata.deletion_timestamp.is_some()) {
            (Standing::Theirs, _) => self.try_out(&object, now).await,
            (Standing::Ours, true) => Box::pin(self.delete(object, now)).await,
            (Standing::Ours, false) => self.keep_up(object, unknown, now).await,
        }
    }

    fn told(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn say_rival(&self, object: &DynamicObject, rival: &Rival) {
        let uid = object.metadata.uid.clone().unwrap_or_default();
        if !self.told().insert(uid) {
            return;
        }
        let message = format!(
            "tofu-controller works on it ({} holds the lease in {}), so groma does not: scale it down to hand its objects over",
            rival.holder, rival.namespace
        );
        tracing::warn!(object = %Place::of(&kind(), object), %message, "an object is left alone");
        let about = Place::of(&kind(), object);
        let uid = object.metadata.uid.clone();
        self.store
            .notice(Notice { about, uid, is_warning: true, reason: "TofuControllerActive".to_owned(), message })
            .await;
    }

    async fn unreadable(&self, raw: DynamicObject, why: String, now: Moment) -> Result<Option<Moment>, StoreError> {
        let problems = [Problem { reason: "InvalidSpec", field: "spec".to_owned(), what: why }];
        // What can be read of it is enough to say so.
        let status = raw.data.get("status").and_then(|status| serde_json::from_value(status.clone()).ok());
        let object = Terraform { metadata: raw.metadata.clone(), status, ..Terraform::default() };
        let next = told::status(&object, &[], &Situation::Wrong(&problems), now);
        self.write_status(raw, object.status.as_ref(), next).await?;
        Ok(Some(later(now, USUAL)))
    }

    /// An object that tofu-controller has worked on is planned, and nothing of it is written.
    async fn try_out(&self, object: &Terraform, now: Moment) -> Result<Option<Moment>, StoreError> {
        if object.metadata.deletion_timestamp.is_some() {
            let message = "It is being deleted, and is not taken over: run \"groma migrate tofu-controller -switch\" to have groma do it";
            self.tell(object, (true, "NotTakenOver".to_owned(), message.to_owned())).await;
            return Ok(Some(later(now, USUAL)));
        }
        if let Ok(wanted) = wanted::wanted(object, self.rules) {
            self.make(&wanted::on_trial(wanted), object).await?;
        }
        Ok(Some(later(now, USUAL)))
    }

    async fn keep_up(
        &self,
        object: Terraform,
        unknown: Vec<Problem>,
        now: Moment,
    ) -> Result<Option<Moment>, StoreError> {
        let object = self.hold(object).await?;
        let Wanted { stack, mut unsupported, differences } = match wanted::wanted(&object, self.rules) {
            Ok(wanted) => wanted,
            Err(problems) => {
                // What there is stays as it is: what is wrong now was right once.
                self.say(&object, &unknown, &Situation::Wrong(&problems), now).await?;
                return Ok(Some(later(now, USUAL)));
            }
        };
        unsupported.extend(unknown);
        let again = match self.make(&Wanted { stack, unsupported: Vec::new(), differences }, &object).await {
            // Nothing can be made there any more.
            Err(StoreError::Ending(_)) => return Ok(None),
            Err(problem) => return Err(problem),
            Ok(Made::There(stack)) => {
                self.follow(&object, &unsupported, &stack, now).await?;
                USUAL
            }
            Ok(Made::InTheWay(why)) => {
                self.say(&object, &unsupported, &Situation::Waits(why), now).await?;
                WAITING
            }
            Ok(Made::Refused(why)) => {
                self.say(&object, &unsupported, &Situation::Refused(why), now).await?;
                USUAL
            }
        };
        Ok(Some(later(now, again)))
    }

    /// It stays until we let it go, and is ours from now on.
    async fn hold(&self, mut object: Terraform) -> Result<Terraform, StoreError> {
        let is_held = object.metadata.finalizers.iter().flatten().any(|held| held == FINALIZER);
        if is_held {
            return Ok(object);
        }
        object.metadata.finalizers.get_or_insert_default().push(FINALIZER.to_owned());
        let notes = object.metadata.annotations.get_or_insert_default();
        notes.entry(names::TAKEN_OVER.to_owned()).or_insert_with(|| names::FIELD_MANAGER.to_owned());
        typed(&self.store.replace(&kind(), &untyped(&object)?).await?)
    }

    /// The Stack of an object is as it is wanted, if nobody is in the way.
    async fn make(&self, wanted: &Wanted, object: &Terraform) -> Result<Made, StoreError> {
        let kind = Kind::of::<Stack>();
        let place = Place::of(&kind, &untyped(&wanted.stack)?);
        let refused = |problem: StoreError| match problem {
            StoreError::Invalid(_, why) => Ok(Made::Refused(format!("{place} is not taken: {why}"))),
            other => Err(other),
        };
        let Some(known) = self.store.get(&place).await? else {
            let mut stack = wanted.stack.clone();
            asked(object, Asked::default()).put(&mut stack);
            return match self.store.create(&kind, &untyped(&stack)?).await {
                Ok(made) => Ok(Made::There(Box::new(typed(&made)?))),
                Err(problem) => refused(problem),
            };
        };
        let known: Stack = typed(&known)?;
        if !is_of(&known, object) {
            let is_earlier = controller(&known.metadata).is_some_and(|owner| owner.kind == self::kind().kind);
            if !is_earlier {
                let why =
                    format!("{place} is there already, and is not of this object: delete it, or use another name");
                return Ok(Made::Refused(why));
            }
            self.store.delete(&place, known.metadata.uid.as_deref()).await?;
            return Ok(Made::InTheWay(format!("{place} belongs to an earlier object of this name, and goes first")));
        }
        if known.metadata.deletion_timestamp.is_some() {
            return Ok(Made::InTheWay(format!("{place} is being deleted; another one is made when it is gone")));
        }
        let mut next = merged(&known, &wanted.stack);
        asked(object, Asked::of(&known)).put(&mut next);
        if next == known {
            return Ok(Made::There(Box::new(known)));
        }
        match self.store.replace(&kind, &untyped(&next)?).await {
            Ok(written) => Ok(Made::There(Box::new(typed(&written)?))),
            Err(problem) => refused(problem),
        }
    }

    /// What the Stack says is written back; and what the object says about its plan and its lock is heeded.
    async fn follow(
        &self,
        object: &Terraform,
        unsupported: &[Problem],
        stack: &Stack,
        now: Moment,
    ) -> Result<(), StoreError> {
        let run = self.last_run(stack).await?;
        if let Some(run) = &run {
            self.approve(object, stack, run, now).await?;
        }
        let failure = run.as_ref().and_then(|run| run.status.as_ref()).filter(|status| status.phase == Phase::Failed);
        let is_locked = failure.is_some_and(|status| status.failure == Some(FailureKind::Locked));
        let (lock, unlocked) = if is_locked { self.locked(object, stack).await? } else { (None, None) };
        let wants_inventory =
            object.spec.enable_inventory && stack.status.as_ref().is_some_and(|status| status.applied.is_some());
        let inventory = if wants_inventory { state::inventory(&state::read(&*self.store, stack).await?) } else { None };
        let seen = Seen { stack: Some(stack), run: run.as_ref(), lock, unlocked, inventory };
        self.say(object, unsupported, &Situation::Has(seen), now).await
    }

    async fn last_run(&self, stack: &Stack) -> Result<Option<Run>, StoreError> {
        let Some(last) = stack.status.as_ref().and_then(|status| status.last_run.as_ref()) else { return Ok(None) };
        let namespace = stack.metadata.namespace.as_deref().unwrap_or_default();
        find::<Run>(&*self.store, namespace, &last.name).await
    }

    /// Somebody has written the whole id of the plan that waits into the object.
    async fn approve(&self, object: &Terraform, stack: &Stack, run: &Run, now: Moment) -> Result<(), StoreError> {
        let Some(given) = object.spec.approve_plan.as_deref().filter(|_| !object.spec.plan_only) else { return Ok(()) };
        let status = run.status.clone().unwrap_or_default();
        let Some(plan) = status.plan.as_ref().filter(|_| status.phase == Phase::AwaitingApproval) else {
            return Ok(());
        };
        let noted = run.metadata.annotations.as_ref().and_then(|notes| notes.get(names::REVISION)).cloned();
        let seen =
            stack.status.as_ref().and_then(|status| status.source.as_ref()).map(|source| source.revision.clone());
        let revision = noted.or(seen).unwrap_or_default();
        if status.approval.is_some() || run.spec.cancel || given != plan_id(&revision, &plan.id) {
            return Ok(());
        }
        let mut run = run.clone();
        let place = Place::new(
            kind(),
            object.metadata.namespace.as_deref().unwrap_or_default(),
            object.metadata.name.as_deref().unwrap_or_default(),
        );
        let by = format!("spec.approvePlan of {place}");
        run.status.get_or_insert_default().approval = Some(Approved { plan: plan.id.clone(), by, at: now });
        self.store.replace_status(&Kind::of::<Run>(), &untyped(&run)?).await.map(|_| ())
    }

    /// The lock that is in the way, or that was taken away because the object says so.
    async fn locked(&self, object: &Terraform, stack: &Stack) -> Result<(Option<String>, Option<String>), StoreError> {
        let Some((lease, holder)) = state::lock(&*self.store, stack).await? else { return Ok((None, None)) };
        let wish = object.spec.tfstate.clone().unwrap_or_default();
        let is_wanted = match wish.force_unlock.as_deref() {
            Some("auto") => true,
            Some("yes") => wish.lock_identifier.as_deref() == Some(&holder),
            _ => false,
        };
        if !is_wanted {
            return Ok((Some(holder), None));
        }
        state::unlock(&*self.store, lease).await?;
        Ok((None, Some(holder)))
    }

    /// The Stack goes first, then the object. What is owned goes with it.
    async fn delete(&self, mut object: Terraform, now: Moment) -> Result<Option<Moment>, StoreError> {
        let is_ours = |held: &String| held == FINALIZER || held.starts_with(DEPENDENCY_FINALIZER);
        if !object.metadata.finalizers.iter().flatten().any(is_ours) {
            return Ok(None);
        }
        let namespace = object.metadata.namespace.clone().unwrap_or_default();
        let name = stack_name(object.metadata.name.as_deref().unwrap_or_default());
        let stack = find::<Stack>(&*self.store, &namespace, &name).await?.filter(|stack| is_of(stack, &object));
        if let Some(stack) = stack {
            let place = Place::new(Kind::of::<Stack>(), &namespace, &name);
            if stack.metadata.deletion_timestamp.is_none() {
                let stack = self.with_policy(stack, &object).await?;
                self.store.delete(&place, stack.metadata.uid.as_deref()).await?;
            }
            let stack = find::<Stack>(&*self.store, &namespace, &name).await?;
            self.say(&object, &[], &Situation::Goes(stack.as_ref()), now).await?;
            return Ok(Some(later(now, WAITING)));
        }
        // Nobody takes those away that tofu-controller has left.
        object.metadata.finalizers.get_or_insert_default().retain(|held| !is_ours(held));
        self.store.replace(&kind(), &untyped(&object)?).await?;
        Ok(None)
    }

    /// What becomes of the infrastructure is what the object says now, even if it has been wrong since it said so.
    async fn with_policy(&self, mut stack: Stack, object: &Terraform) -> Result<Stack, StoreError> {
        let destroys = object.spec.destroy_resources_on_deletion;
        let policy = if destroys { DeletionPolicy::Destroy } else { DeletionPolicy::Retain };
        if stack.spec.deletion_policy == policy {
            return Ok(stack);
        }
        stack.spec.deletion_policy = policy;
        typed(&self.store.replace(&Kind::of::<Stack>(), &untyped(&stack)?).await?)
    }

    /// Somebody took the object away by force. Its Stack goes, too, and what it has made stays.
    async fn without_object(&self, namespace: &str, name: &str) -> Result<(), StoreError> {
        let place = Place::new(Kind::of::<Stack>(), namespace, &stack_name(name));
        let Some(stack) = find::<Stack>(&*self.store, namespace, &place.name).await? else { return Ok(()) };
        let was_its = controller(&stack.metadata).is_some_and(|owner| owner.kind == kind().kind && owner.name == name);
        if was_its && stack.metadata.deletion_timestamp.is_none() {
            self.store.delete(&place, stack.metadata.uid.as_deref()).await?;
        }
        Ok(())
    }

    async fn say(
        &self,
        object: &Terraform,
        unsupported: &[Problem],
        situation: &Situation<'_>,
        now: Moment,
    ) -> Result<(), StoreError> {
        let next = told::status(object, unsupported, situation, now);
        let before = object.status.as_ref();
        let lacking = message_of("Unsupported");
        let lacks = lacking(&next).filter(|message| before.and_then(&lacking).as_ref() != Some(message));
        let event = told::event(before, &next);
        self.write_status(untyped(object)?, before, next).await?;
        if let Some(message) = lacks {
            self.tell(object, (true, "Unsupported".to_owned(), message)).await;
        }
        if let Some(event) = event {
            self.tell(object, event).await;
        }
        Ok(())
    }

    async fn write_status(
        &self,
        mut object: DynamicObject,
        before: Option<&TerraformStatus>,
        next: TerraformStatus,
    ) -> Result<(), StoreError> {
        if before == Some(&next) {
            return Ok(());
        }
        let place = Place::of(&kind(), &object);
        object.data["status"] =
            serde_json::to_value(&next).map_err(|problem| StoreError::Invalid(place.clone(), problem.to_string()))?;
        match self.store.replace_status(&kind(), &object).await {
            Ok(_) | Err(StoreError::Missing(_)) => Ok(()),
            Err(problem) => Err(problem),
        }
    }

    async fn tell(&self, object: &Terraform, (is_warning, reason, message): (bool, String, String)) {
        let place = Place::new(
            kind(),
            object.metadata.namespace.as_deref().unwrap_or_default(),
            object.metadata.name.as_deref().unwrap_or_default(),
        );
        let uid = object.metadata.uid.clone();
        self.store.notice(Notice { about: place, uid, is_warning, reason, message }).await;
    }
}

fn message_of(kind: &str) -> impl Fn(&TerraformStatus) -> Option<String> + '_ {
    move |status| status.conditions.iter().find(|known| known.kind == kind).map(|known| known.message.clone())
}

/// Whether a Stack is of this object, and not of an earlier one of its name.
fn is_of(stack: &Stack, object: &Terraform) -> bool {
    controller(&stack.metadata).is_some_and(|owner| Some(&owner.uid) == object.metadata.uid.as_ref())
}

/// A Stack as it is wanted. Notes and labels of others stay.
fn merged(known: &Stack, wanted: &Stack) -> Stack {
    let mut next = known.clone();
    next.spec.clone_from(&wanted.spec);
    if let Some(labels) = &wanted.metadata.labels {
        next.metadata.labels.get_or_insert_default().extend(labels.clone());
    }
    if let Some(notes) = &wanted.metadata.annotations {
        next.metadata.annotations.get_or_insert_default().extend(notes.clone());
    }
    next
}

fn later(now: Moment, by: Duration) -> Moment {
    let by = jiff::SignedDuration::try_from(by).unwrap_or(jiff::SignedDuration::MAX);
    Moment(now.0.checked_add(by).unwrap_or(jiff::Timestamp::MAX))
}
