//! `wait_for`: when an object is ready, and why it is not. And the resource `k8sconnect_wait`, which does nothing but wait.

mod conditions;
mod diagnosis;
mod pods;
mod readiness;
mod reading;
mod resource;
mod result;
mod rollout;

#[cfg(test)]
mod tests;

use std::time::Duration;

use groma_kit::Object;
use groma_kit::spec::Attr;
use groma_model::diag::Diagnostics;
use groma_provider::api::{NotReady, Patience};

use crate::Json;
use crate::api::Cluster;
use crate::jsonpath::JsonPath;
use crate::manifest::ObjectRef;

pub(crate) use resource::Wait;
pub(crate) use result::value_of;

/// How long between two looks at an object that is not ready.
pub(crate) const INTERVAL: Duration = Duration::from_secs(2);

/// What is waited for.
#[derive(Debug, Clone)]
pub(crate) struct WaitFor {
    pub(crate) timeout: Duration,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    /// That the object is there.
    Nothing,
    /// That there is something at a place.
    Field { text: String, path: JsonPath },
    /// That there are certain values at places.
    Values(Vec<Wanted>),
    /// That a condition is true.
    Condition(String),
    /// That all pods are those of the present template, and available.
    Rollout,
    /// Whatever being ready means for the kind.
    Ready,
}

#[derive(Debug, Clone)]
struct Wanted {
    text: String,
    path: JsonPath,
    value: String,
}

/// How an object stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    Ready,
    /// Not yet: what is waited for, and what was seen.
    NotYet {
        waiting_for: String,
        seen: String,
    },
    /// It will not come by itself: a Job that failed, a rollout past its deadline.
    Hopeless {
        waiting_for: String,
        seen: String,
    },
}

/// How a live object stands, before it is said what is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Look {
    Good,
    /// What was seen.
    Wait(String),
    Bad(String),
}

impl WaitFor {
    /// The attribute `wait_for`; `inline` has `ready` too.
    pub(crate) fn attribute(inline: bool) -> Attr {
        reading::attribute(inline)
    }

    /// Reads the attribute; none if it is null, or not wholly known.
    pub(crate) fn read(object: &Object) -> Result<Option<WaitFor>, Diagnostics> {
        reading::read(object)
    }

    /// What is wrong with it; `kind` is the kind of the object if that is known.
    pub(crate) fn validate(object: &Object, kind: Option<&str>) -> Diagnostics {
        reading::validate(object, kind)
    }

    /// How a live object stands.
    pub(crate) fn judge(&self, live: &Json) -> Standing {
        let look = match (self.look(live), conditions::failed_job(live)) {
            // Whatever is waited for, a Job that failed does not bring it.
            (Look::Wait(seen), Some(failed)) => Look::Bad(format!("{seen}; {failed}")),
            (look, _) => look,
        };
        match look {
            Look::Good => Standing::Ready,
            Look::Wait(seen) => Standing::NotYet { waiting_for: self.words(), seen },
            Look::Bad(seen) => Standing::Hopeless { waiting_for: self.words(), seen },
        }
    }

    /// How an object stands that is not there.
    pub(crate) fn absent(&self, seen: &str) -> Standing {
        Standing::NotYet { waiting_for: self.words(), seen: seen.to_owned() }
    }

    /// What else can be said about an object that is not ready: replicas, conditions, up to three pods with their reasons.
    pub(crate) async fn diagnose(&self, cluster: &Cluster, object: &ObjectRef, live: Option<&Json>) -> String {
        diagnosis::diagnose(cluster, object, live).await
    }

    /// The standing as an answer to groma, which looks again itself.
    pub(crate) fn not_ready(&self, standing: Standing) -> Option<NotReady> {
        let patience = Patience { timeout: self.timeout, interval: INTERVAL };
        let (waiting_for, seen, patience) = match standing {
            Standing::Ready => return None,
            Standing::NotYet { waiting_for, seen } => (waiting_for, seen, Some(patience)),
            Standing::Hopeless { waiting_for, seen } => (waiting_for, seen, None),
        };
        Some(NotReady { waiting_for, last_seen: Some(seen), patience })
    }

    fn look(&self, live: &Json) -> Look {
        match &self.what {
            What::Nothing => Look::Good,
            What::Field { text, path } => field(text, path, live),
            What::Values(wanted) => values(wanted, live),
            What::Condition(kind) => conditions::condition(live, kind),
            What::Rollout => rollout::rollout(live).unwrap_or_else(|| readiness::readiness(live)),
            What::Ready => readiness::readiness(live),
        }
    }

    /// What is waited for, in words.
    fn words(&self) -> String {
        match &self.what {
            What::Nothing => "it to exist".to_owned(),
            What::Field { text, .. } => format!("{text} to be there"),
            What::Values(wanted) => {
                let each: Vec<String> =
                    wanted.iter().map(|wanted| format!("{} to be {:?}", wanted.text, wanted.value)).collect();
                each.join(" and ")
            }
            What::Condition(kind) => format!("the condition {kind} to be True"),
            What::Rollout => "its rollout to finish".to_owned(),
            What::Ready => "it to be ready".to_owned(),
        }
    }

    /// What the attribute `result` has: only for waits for a field.
    fn result(&self, live: &Json) -> Option<Json> {
        match &self.what {
            What::Field { path, .. } => result::rebuilt(live, &path.places(live)),
            _ => None,
        }
    }
}

fn field(text: &str, path: &JsonPath, live: &Json) -> Look {
    let found = path.find(live);
    if found.iter().any(|value| !is_empty(value)) {
        return Look::Good;
    }
    let what = if found.is_empty() { "nothing" } else { "an empty value" };
    Look::Wait(format!("there is {what} at {text}"))
}

/// Nothing, as far as waiting is concerned. 0 and false are something.
fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        Json::Bool(_) | Json::Number(_) => false,
    }
}

fn values(wanted: &[Wanted], live: &Json) -> Look {
    let mut lacking = Vec::new();
    let secret = conditions::group_and_kind(live) == ("", "Secret");
    for Wanted { text, path, value } in wanted {
        let found = path.find(live).first().map(|found| shown(found));
        if found.as_ref() == Some(value) {
            continue;
        }
        lacking.push(match found {
            Some(_) if secret => format!("{text} is something else"),
            Some(found) => format!("{text} is {:?}", crate::failure::shortened(&found, 200)),
            None => format!("there is nothing at {text}"),
        });
    }
    if lacking.is_empty() { Look::Good } else { Look::Wait(lacking.join("; ")) }
}

/// A value as text.
fn shown(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}
