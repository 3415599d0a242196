//! Looking at one object: its Stack is made, changed or deleted, and its status is written. Safe to stop after any write: whoever looks
//! next finds what was done.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use kube::api::DynamicObject;
use serde_json::{Value as Json, json};

use super::told::{self, About, Situation};
use super::wanted::{self, Wanted, stack_name, wanted};
use super::{is_held, kind_of, later};
use crate::api::blueprint::Blueprint;
use crate::api::names;
use crate::api::shared::Moment;
use crate::api::stack::Stack;
use crate::objects::{Kind, Notice, Place, Store, StoreError, controller, find, find_all, find_global, typed, untyped};

/// How long after an object was looked at it is looked at again, should nothing be seen to happen.
const USUAL: Duration = Duration::from_mins(10);
/// The same for one that waits for something to go.
const WAITING: Duration = Duration::from_mins(1);

/// Looks at objects of Blueprints.
pub struct Reconciler {
    store: Arc<dyn Store>,
}

/// An object, and what its Blueprint says about it.
struct Subject<'a> {
    blueprint: &'a Blueprint,
    kind: &'a Kind,
    object: DynamicObject,
    now: Moment,
}

/// What became of the Stack that is wanted.
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
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// Looks at an object. Gives when to look again, if nothing happens before.
    pub async fn reconcile(
        &self,
        blueprint: &str,
        namespace: &str,
        name: &str,
        now: Moment,
    ) -> Result<Option<Moment>, StoreError> {
        let Some(blueprint) = find_global::<Blueprint>(&*self.store, blueprint).await? else {
            return self.without_blueprint(blueprint, namespace, name).await;
        };
        let Ok(kind) = kind_of(&blueprint.spec.subject) else { return Ok(None) };
        let Some(object) = self.store.get(&Place::new(kind.clone(), namespace, name)).await? else {
            return self.without_object(&kind, namespace, name).await;
        };
        let subject = Subject { blueprint: &blueprint, kind: &kind, object, now };
        match (subject.object.metadata.deletion_timestamp.is_some(), blueprint.metadata.deletion_timestamp.is_some()) {
            (true, _) => Box::pin(self.delete(subject)).await,
            // It is let go of, and nothing is changed any more.
            (false, true) => Ok(None),
            (false, false) => self.keep_up(subject).await,
        }
    }

    async fn keep_up(&self, mut subject: Subject<'_>) -> Result<Option<Moment>, StoreError> {
        if !is_held(&subject.object, &subject.blueprint.spec) {
            let finalizers = subject.object.metadata.finalizers.get_or_insert_default();
            finalizers.push(subject.blueprint.spec.finalizer.clone());
            subject.object = self.store.replace(subject.kind, &subject.object).await?;
        }
        let wanted = match wanted(subject.blueprint, &subject.object) {
            Ok(wanted) => wanted,
            Err(problems) => {
                // What there is stays as it is: what is wrong now was right once.
                self.say(&subject, &Situation::Wrong(&problems)).await?;
                return Ok(Some(later(subject.now, USUAL)));
            }
        };
        let again = match self.make(&wanted, &subject).await {
            // Nothing can be made there any more.
            Err(StoreError::Ending(_)) => return Ok(None),
            Err(problem) => return Err(problem),
            Ok(Made::There(stack)) => {
                self.say(&subject, &Situation::Has { stack: &stack, hash: &wanted.hash }).await?;
                USUAL
            }
            Ok(Made::InTheWay(why)) => {
                self.say(&subject, &Situation::Waits(why)).await?;
                WAITING
            }
            Ok(Made::Refused(why)) => {
                self.say(&subject, &Situation::Refused(why)).await?;
                USUAL
            }
        };
        Ok(Some(later(subject.now, again)))
    }

    /// The Stack of an object is as it is wanted, if nobody is in the way.
    async fn make(&self, wanted: &Wanted, subject: &Subject<'_>) -> Result<Made, StoreError> {
        let kind = Kind::of::<Stack>();
        let object = untyped(&wanted.stack)?;
        let place = Place::of(&kind, &object);
        let refused = |problem: StoreError| match problem {
            StoreError::Invalid(_, why) => Ok(Made::Refused(format!("{place} is not taken: {why}"))),
            other => Err(other),
        };
        let Some(known) = self.store.get(&place).await? else {
            return match self.store.create(&kind, &object).await {
                Ok(made) => {
                    self.tell(subject, "StackCreated", format!("{place} was made for it")).await;
                    Ok(Made::There(Box::new(typed(&made)?)))
                }
                Err(problem) => refused(problem),
            };
        };
        let known: Stack = typed(&known)?;
        match whose(&known, subject.kind, &subject.object) {
            Whose::Ours if known.metadata.deletion_timestamp.is_some() => {
                Ok(Made::InTheWay(format!("{place} is being deleted; another one is made when it is gone")))
            }
            Whose::Ours => {
                let next = merged(&known, &wanted.stack);
                if next == known {
                    return Ok(Made::There(Box::new(known)));
                }
                match self.store.replace(&kind, &untyped(&next)?).await {
                    Ok(written) => Ok(Made::There(Box::new(typed(&written)?))),
                    Err(problem) => refused(problem),
                }
            }
            Whose::OfEarlier => {
                self.store.delete(&place, known.metadata.uid.as_deref()).await?;
                Ok(Made::InTheWay(format!("{place} belongs to an earlier object of this name, and goes first")))
            }
            Whose::Others => Ok(Made::Refused(format!(
                "{place} is there already, and is not of this object: delete it, or use another name"
            ))),
        }
    }

    /// The Stack goes first, then its outputs, then the object.
    async fn delete(&self, mut subject: Subject<'_>) -> Result<Option<Moment>, StoreError> {
        if !is_held(&subject.object, &subject.blueprint.spec) {
            return Ok(None);
        }
        let name = subject.object.metadata.name.clone().unwrap_or_default();
        let namespace = subject.object.metadata.namespace.clone().unwrap_or_default();
        let place = Place::new(Kind::of::<Stack>(), &namespace, &stack_name(subject.kind, &name));
        let stack = find::<Stack>(&*self.store, &namespace, &place.name).await?;
        let stack = stack.filter(|stack| matches!(whose(stack, subject.kind, &subject.object), Whose::Ours));
        if let Some(stack) = stack {
            if stack.metadata.deletion_timestamp.is_none() {
                let stack = self.with_policy(stack, subject.blueprint).await?;
                self.store.delete(&place, stack.metadata.uid.as_deref()).await?;
            }
            self.say(&subject, &Situation::Goes(Some(&stack_now(&*self.store, &place).await?))).await?;
            return Ok(Some(later(subject.now, WAITING)));
        }
        match self.forget_outputs(&subject, &namespace, &name).await {
            // We may have rights only where there are Stacks, and here is none any more. The Secret goes with its owner.
            Ok(()) | Err(StoreError::Forbidden { .. }) => {}
            Err(problem) => return Err(problem),
        }
        let finalizer = &subject.blueprint.spec.finalizer;
        subject.object.metadata.finalizers.get_or_insert_default().retain(|held| held != finalizer);
        self.store.replace(subject.kind, &subject.object).await?;
        Ok(None)
    }

    /// What becomes of the infrastructure is what the Blueprint says now, even if the object has been wrong since it said so.
    async fn with_policy(&self, mut stack: Stack, blueprint: &Blueprint) -> Result<Stack, StoreError> {
        if stack.spec.deletion_policy == blueprint.spec.deletion_policy {
            return Ok(stack);
        }
        stack.spec.deletion_policy = blueprint.spec.deletion_policy;
        typed(&self.store.replace(&Kind::of::<Stack>(), &untyped(&stack)?).await?)
    }

    /// They are owned by the object, and would go by themselves, but not everywhere, and not at once.
    async fn forget_outputs(&self, subject: &Subject<'_>, namespace: &str, name: &str) -> Result<(), StoreError> {
        let Some(secret) = wanted::secret_name(&subject.blueprint.spec, name) else { return Ok(()) };
        let place = Place::new(Kind::secret(), namespace, &secret);
        let Some(known) = self.store.get(&place).await? else { return Ok(()) };
        let is_ours =
            controller(&known.metadata).is_some_and(|owner| Some(&owner.uid) == subject.object.metadata.uid.as_ref());
        if is_ours { self.store.delete(&place, known.metadata.uid.as_deref()).await } else { Ok(()) }
    }

    /// Somebody took the object away by force. Its Stack goes, too.
    async fn without_object(&self, kind: &Kind, namespace: &str, name: &str) -> Result<Option<Moment>, StoreError> {
        let place = Place::new(Kind::of::<Stack>(), namespace, &stack_name(kind, name));
        let Some(stack) = find::<Stack>(&*self.store, namespace, &place.name).await? else { return Ok(None) };
        let was_its = controller(&stack.metadata).is_some_and(|owner| is_named(owner, kind, name));
        if was_its && stack.metadata.deletion_timestamp.is_none() {
            self.store.delete(&place, stack.metadata.uid.as_deref()).await?;
        }
        Ok(None)
    }

    /// Somebody took the Blueprint away by force. Nobody will look after the object any more, so nothing of us keeps it.
    async fn without_blueprint(
        &self,
        blueprint: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Moment>, StoreError> {
        for stack in find_all::<Stack>(&*self.store, Some(namespace), &[]).await? {
            let Some((kind, finalizer)) = orphaned(&stack, blueprint, name) else { continue };
            let Some(mut object) = self.store.get(&Place::new(kind.clone(), namespace, name)).await? else { continue };
            if !matches!(whose(&stack, &kind, &object), Whose::Ours) {
                continue;
            }
            let finalizers = object.metadata.finalizers.get_or_insert_default();
            let before = finalizers.len();
            finalizers.retain(|held| *held != finalizer);
            if finalizers.len() < before {
                self.store.replace(&kind, &object).await?;
            }
        }
        Ok(None)
    }

    /// Writes what is to be said, if it is something new.
    async fn say(&self, subject: &Subject<'_>, situation: &Situation<'_>) -> Result<(), StoreError> {
        let fields = &subject.blueprint.spec.status;
        let about = About {
            kind: &subject.kind.kind,
            fields,
            generation: subject.object.metadata.generation,
            now: subject.now,
        };
        let before = subject.object.data.get("status");
        let next = told::status(before, &about, situation);
        match self.write_status(subject, &next).await {
            Err(StoreError::Invalid(place, why)) => {
                tracing::warn!(%place, %why, "the schema of an object does not take its status");
                let why = format!("Its status does not take what the Blueprint puts there: {why}");
                let next = told::status(before, &about, &Situation::Refused(why));
                match self.write_status(subject, &told::without_outputs(&next, fields)).await {
                    // The schema has no room for what we say at all. That must not keep anything from being done.
                    Err(StoreError::Invalid(..)) => Ok(()),
                    other => other,
                }
            }
            other => other,
        }
    }

    async fn write_status(&self, subject: &Subject<'_>, status: &Json) -> Result<(), StoreError> {
        if subject.object.data.get("status") == Some(status) {
            return Ok(());
        }
        let mut object = subject.object.clone();
        if !object.data.is_object() {
            object.data = json!({});
        }
        object.data["status"] = status.clone();
        match self.store.replace_status(subject.kind, &object).await {
            Ok(_) => Ok(()),
            Err(StoreError::Missing(place)) => {
                // Either it is gone, or its kind has no status that could be written.
                tracing::debug!(%place, "a status could not be written");
                Ok(())
            }
            Err(problem) => Err(problem),
        }
    }

    async fn tell(&self, subject: &Subject<'_>, reason: &str, message: String) {
        let about = Place::of(subject.kind, &subject.object);
        let uid = subject.object.metadata.uid.clone();
        self.store.notice(Notice { about, uid, is_warning: false, reason: reason.to_owned(), message }).await;
    }
}

/// The Stack as it is after it was asked to go. One that is gone already is like one that nothing is known about.
async fn stack_now(store: &dyn Store, place: &Place) -> Result<Stack, StoreError> {
    let found = store.get(place).await?;
    Ok(found.as_ref().map(typed::<Stack>).transpose()?.unwrap_or_default())
}

/// Whose a Stack is.
enum Whose {
    /// This object's.
    Ours,
    /// One's of the same name that was there before.
    OfEarlier,
    /// Somebody else's.
    Others,
}

fn whose(stack: &Stack, kind: &Kind, object: &DynamicObject) -> Whose {
    let name = object.metadata.name.as_deref().unwrap_or_default();
    match controller(&stack.metadata) {
        Some(owner) if Some(&owner.uid) == object.metadata.uid.as_ref() => Whose::Ours,
        Some(owner) if is_named(owner, kind, name) => Whose::OfEarlier,
        _ => Whose::Others,
    }
}

fn is_named(owner: &k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference, kind: &Kind, name: &str) -> bool {
    let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
    group == kind.group && owner.kind == kind.kind && owner.name == name
}

/// A Stack as it is wanted. Notes and labels of others stay.
fn merged(known: &Stack, wanted: &Stack) -> Stack {
    let mut next = known.clone();
    next.spec.clone_from(&wanted.spec);
    // People may stop it for a while.
    next.spec.suspend = known.spec.suspend;
    if let Some(labels) = &wanted.metadata.labels {
        next.metadata.labels.get_or_insert_default().extend(labels.clone());
    }
    if let Some(annotations) = &wanted.metadata.annotations {
        next.metadata.annotations.get_or_insert_default().extend(annotations.clone());
    }
    next
}

/// The kind and the finalizer of the object of that name that a Stack was made for by a Blueprint. What a Stack says about itself can be
/// written by anybody who may make Stacks, so finalizers of Kubernetes itself are never believed to be ours.
fn orphaned(stack: &Stack, blueprint: &str, name: &str) -> Option<(Kind, String)> {
    let notes = stack.metadata.annotations.as_ref()?;
    let owner = controller(&stack.metadata).filter(|owner| owner.name == name)?;
    if notes.get(names::BLUEPRINT)? != blueprint {
        return None;
    }
    let (group, version) = owner.api_version.split_once('/')?;
    let kind = Kind {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: owner.kind.clone(),
        plural: notes.get(names::OBJECT_PLURAL)?.clone(),
    };
    let finalizer = notes.get(names::OBJECT_FINALIZER)?;
    let domain = finalizer.split_once('/')?.0;
    let is_foreign = domain.ends_with("kubernetes.io") || domain.ends_with("k8s.io");
    let is_its = stack.metadata.name.as_deref() == Some(&stack_name(&kind, name));
    (is_its && !is_foreign).then(|| (kind, finalizer.clone()))
}
