//! What the status of an object says: a function of how it is, of its Stack, and of what was said before. Only what its Blueprint names
//! is written, and what others have written there stays.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value as Json, json};

use super::Problem;
use crate::api::blueprint::StatusFields;
use crate::api::run::Phase as RunPhase;
use crate::api::shared::{Condition, Moment, Truth, Values};
use crate::api::stack::{Stack, StackStatus};
use crate::objects::cluster::shortened;
use crate::stack::conditions::{Activity, Said, say};

/// No message is longer than that.
const MOST_BYTES: usize = 4_000;
/// What is said while a run is under way; as the document has it that this comes from.
const APPLYING: &str = "Running Terraform apply";
const WAITING: &str = "Waiting for existing Terraform job to complete";
const DESTROYING: &str = "Running Terraform destroy";

/// What an object is told about.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The kind of the object.
    pub kind: &'a str,
    /// Which fields of the status get outputs.
    pub fields: &'a StatusFields,
    /// The generation of the object.
    pub generation: Option<i64>,
    /// What time it is.
    pub now: Moment,
}

/// How an object is.
#[derive(Debug)]
pub enum Situation<'a> {
    /// No Stack can be made of it.
    Wrong(&'a [Problem]),
    /// Somebody does not take its Stack, or what is to be said about it.
    Refused(String),
    /// Something must happen first, which will happen by itself.
    Waits(String),
    /// It has a Stack, which asks for all that it asks for.
    Has {
        /// The Stack.
        stack: &'a Stack,
        /// What it asks for, in one mark.
        hash: &'a str,
    },
    /// It is being deleted; with its Stack, while that is there.
    Goes(Option<&'a Stack>),
}

/// How far an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Pending,
    Applying,
    Ready,
    Error,
    Destroying,
}

/// What is said about an object at once.
struct Told {
    phase: Phase,
    message: String,
    said: Said,
}

impl Told {
    /// With the same message for everybody.
    fn new(phase: Phase, ready: Truth, reason: &str, message: String, activity: Activity) -> Self {
        let said = Said { ready, reason: reason.to_owned().into(), message: message.clone(), activity };
        Self { phase, message, said }
    }
}

/// The status of an object, from the one before.
pub fn status(before: Option<&Json>, about: &About<'_>, situation: &Situation<'_>) -> Json {
    let mut fields = before.and_then(Json::as_object).cloned().unwrap_or_default();
    let told = match situation {
        Situation::Wrong(problems) => {
            let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Told::new(Phase::Error, Truth::False, "InvalidSpec", all.join("\n"), Activity::Stalled)
        }
        Situation::Refused(why) => Told::new(Phase::Error, Truth::False, "Refused", why.clone(), Activity::Stalled),
        Situation::Waits(why) => {
            Told::new(Phase::Pending, Truth::Unknown, "Waiting", why.clone(), Activity::Reconciling)
        }
        Situation::Goes(stack) => going(*stack),
        Situation::Has { stack, hash } => {
            let before = fields.get("lastAppliedHash").and_then(Json::as_str);
            let told = having(about.kind, stack, before == Some(*hash));
            put_outputs(&mut fields, about.fields, stack.status.as_ref().map(|status| &status.outputs));
            if told.phase == Phase::Ready {
                fields.insert("lastAppliedHash".to_owned(), json!(hash));
            }
            told
        }
    };
    put_told(&mut fields, about, &told);
    Json::Object(fields)
}

/// The same without outputs: the schema of the object may not take them.
pub fn without_outputs(status: &Json, fields: &StatusFields) -> Json {
    let mut left = status.as_object().cloned().unwrap_or_default();
    put_outputs(&mut left, fields, None);
    Json::Object(left)
}

fn put_told(fields: &mut Map<String, Json>, about: &About<'_>, told: &Told) {
    let known = fields.get("conditions").and_then(Json::as_array).cloned().unwrap_or_default();
    let mut conditions: Vec<Condition> =
        known.into_iter().filter_map(|condition| serde_json::from_value(condition).ok()).collect();
    say(&mut conditions, &told.said, about.generation, about.now);
    fields.insert("conditions".to_owned(), json!(conditions));
    fields.insert("phase".to_owned(), json!(format!("{:?}", told.phase)));
    fields.insert("message".to_owned(), json!(shortened(&told.message, MOST_BYTES)));
    if let Some(generation) = about.generation {
        fields.insert("observedGeneration".to_owned(), json!(generation));
    }
}

/// What the Stack of an object means to it. `is_applied`: what the object asks for was carried out before.
fn having(kind: &str, stack: &Stack, is_applied: bool) -> Told {
    let status = stack.status.clone().unwrap_or_default();
    let ready = condition(&status, "Ready").filter(|_| status.observed_generation == stack.metadata.generation);
    let Some(ready) = ready else {
        let is_busy = status.last_run.is_some_and(|run| !run.phase.is_over());
        let message = if is_busy { WAITING } else { APPLYING }.to_owned();
        return Told::new(Phase::Applying, Truth::Unknown, "Applying", message, Activity::Reconciling);
    };
    let activity = activity(&status);
    let (phase, message) = match (ready.status, ready.reason.as_str()) {
        (Truth::True, _) => (Phase::Ready, format!("{kind} is ready")),
        (Truth::False, _) => (Phase::Error, ready.message.clone()),
        (Truth::Unknown, _) if is_applied && is_only_looked_at(&status) => {
            return Told::new(Phase::Ready, Truth::True, "Applied", format!("{kind} is ready"), Activity::Idle);
        }
        (Truth::Unknown, "AwaitingApproval" | "Pending") => (Phase::Pending, ready.message.clone()),
        (Truth::Unknown, _) => (Phase::Applying, APPLYING.to_owned()),
    };
    let said =
        Said { ready: ready.status, reason: ready.reason.clone().into(), message: ready.message.clone(), activity };
    Told { phase, message, said }
}

/// Whether what was carried out is only looked at again, from time to time. That makes nothing less ready.
fn is_only_looked_at(status: &StackStatus) -> bool {
    let same = status.applied.as_ref().map(|applied| &applied.about) == status.attempted.as_ref();
    let changes =
        status.last_run.as_ref().is_some_and(|run| matches!(run.phase, RunPhase::Applying | RunPhase::Verifying));
    same && !changes && status.pending.is_none() && status.failures.is_none()
}

fn going(stack: Option<&Stack>) -> Told {
    let status = stack.and_then(|stack| stack.status.clone()).unwrap_or_default();
    // What was said before it was deleted is not about its end.
    let is_about_it = stack.is_some_and(|stack| {
        stack.metadata.deletion_timestamp.is_some() && status.observed_generation == stack.metadata.generation
    });
    match condition(&status, "Ready").filter(|_| is_about_it) {
        Some(ready) if ready.status == Truth::False => {
            Told::new(Phase::Destroying, Truth::False, &ready.reason, ready.message.clone(), activity(&status))
        }
        _ => Told::new(Phase::Destroying, Truth::Unknown, "Destroying", DESTROYING.to_owned(), Activity::Reconciling),
    }
}

fn condition<'s>(status: &'s StackStatus, kind: &str) -> Option<&'s Condition> {
    status.conditions.iter().find(|known| known.kind == kind)
}

fn activity(status: &StackStatus) -> Activity {
    let is_so = |kind| condition(status, kind).is_some_and(|known| known.status == Truth::True);
    match (is_so("Stalled"), is_so("Reconciling")) {
        (true, _) => Activity::Stalled,
        (false, true) => Activity::Reconciling,
        (false, false) => Activity::Idle,
    }
}

/// Outputs that may be shown. What is not there any more goes.
fn put_outputs(fields: &mut Map<String, Json>, wanted: &StatusFields, outputs: Option<&Values>) {
    let mut put = |name: &str, value: Option<Json>| match value {
        Some(value) => {
            fields.insert(name.to_owned(), value);
        }
        None => {
            fields.remove(name);
        }
    };
    for (field, output) in &wanted.fields {
        put(field, outputs.and_then(|outputs| outputs.get(output)).map(|value| value.0.clone()));
    }
    if let Some(field) = &wanted.outputs {
        let texts = outputs.filter(|outputs| !outputs.is_empty()).map(|outputs| {
            let texts = outputs.iter().map(|(name, value)| (name.clone(), json!(text(&value.0))));
            Json::Object(texts.collect())
        });
        put(field, texts);
    }
}

/// As Secrets have it: texts as they are, anything else as JSON.
fn text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
