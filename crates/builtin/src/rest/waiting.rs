//! Waiting: until an object works, and until it is gone.

use std::time::Duration;

use groma_model::diag::Diagnostic;
use groma_provider::api::NotReady;
use serde_json::Value as Json;

use super::client::RestClient;
use super::document::{DocumentPath, text_of};
use super::requests::{Purpose, Target, owned_texts};
use super::settings::duration;
use crate::kit::{Call, Object};

/// One thing that must hold.
struct Condition {
    path: String,
    values: Option<Vec<String>>,
    fail_values: Vec<String>,
}

/// How an object stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    Ready,
    NotYet(NotReady),
    /// Waiting is useless.
    Hopeless(NotReady),
}

impl Standing {
    /// What does not hold yet, or never will.
    pub(super) fn lacking(self) -> Option<NotReady> {
        match self {
            Self::Ready => None,
            Self::NotYet(lacking) | Self::Hopeless(lacking) => Some(lacking),
        }
    }
}

fn conditions(object: &Object) -> Vec<Condition> {
    let read = |block: Object| Condition {
        path: block.text("path").unwrap_or_default().to_owned(),
        values: owned_texts(&block, "values"),
        fail_values: owned_texts(&block, "fail_values").unwrap_or_default(),
    };
    object.objects("ready_when").into_iter().map(read).collect()
}

/// Whether everything holds that must.
pub(super) fn standing(object: &Object, found: &Json) -> Standing {
    for condition in conditions(object) {
        let seen = DocumentPath::parse(&condition.path).find(found).filter(|seen| !seen.is_null());
        let text = seen.and_then(text_of);
        let holds = match (&condition.values, &text) {
            (Some(values), Some(text)) => values.contains(text),
            (Some(_), None) => false,
            (None, _) => seen.is_some(),
        };
        if holds {
            continue;
        }
        let wanted = condition.values.as_ref().map_or("anything".to_owned(), |values| values.join(" or "));
        let lacking = NotReady {
            waiting_for: format!("{} to be {wanted}", condition.path),
            last_seen: Some(text.clone().unwrap_or_else(|| "nothing".to_owned())),
            patience: None,
        };
        let hopeless = text.is_some_and(|text| condition.fail_values.contains(&text));
        return if hopeless { Standing::Hopeless(lacking) } else { Standing::NotYet(lacking) };
    }
    Standing::Ready
}

/// What became of reading.
pub(super) enum Looked {
    Found(Json),
    Gone,
}

/// Reads an object.
pub(super) async fn look(client: &RestClient, target: &Target<'_>, call: &Call) -> Result<Looked, Diagnostic> {
    let ask = target.ask(Purpose::Read, None);
    let answer = client.ask(&ask, call).await?;
    if target.is_gone(answer.status) {
        return Ok(Looked::Gone);
    }
    if !answer.is_success() {
        return Err(client.refused(&ask, &answer));
    }
    Ok(target.selected(&answer).map_or(Looked::Gone, Looked::Found))
}

fn interval(object: &Object) -> Duration {
    object.text("ready_interval").and_then(duration).unwrap_or(Duration::from_secs(5)).max(Duration::from_millis(1))
}

/// Reads an object that was just written until it works, or until it takes too long.
/// APIs that answer before they have finished do not show the object at once.
pub(super) async fn until_ready(
    client: &RestClient,
    target: &Target<'_>,
    call: &Call,
) -> (Option<Json>, Option<NotReady>) {
    let object = target.object;
    let has_conditions = !object.objects("ready_when").is_empty();
    let default = if has_conditions { Duration::from_mins(10) } else { Duration::from_secs(30) };
    let limit = object.text("ready_timeout").and_then(duration).unwrap_or(default);
    let start = client.clock.now();
    let mut last = None;
    loop {
        let lacking = match look(client, target, call).await {
            Ok(Looked::Found(found)) => {
                let standing = standing(object, &found);
                last = Some(found);
                match standing {
                    Standing::Ready => return (last, None),
                    Standing::Hopeless(lacking) => return (last, Some(lacking)),
                    Standing::NotYet(lacking) => lacking,
                }
            }
            Ok(Looked::Gone) => NotReady {
                waiting_for: "the object to be found".to_owned(),
                last_seen: Some("nothing under its id".to_owned()),
                patience: None,
            },
            Err(error) => {
                let said = error.detail.lines().next().unwrap_or_default().to_owned();
                let waiting_for = "the object to be read".to_owned();
                return (last, Some(NotReady { waiting_for, last_seen: Some(said), patience: None }));
            }
        };
        let passed = client.clock.now().duration_since(start).unwrap_or_default();
        if passed >= limit || call.sleep(client.clock.as_ref(), interval(object).min(limit)).await.is_err() {
            return (last, Some(lacking));
        }
    }
}

/// Reads an object that was deleted until it is gone, or until it takes too long.
pub(super) async fn until_gone(
    client: &RestClient,
    target: &Target<'_>,
    limit: Duration,
    call: &Call,
) -> Result<(), Diagnostic> {
    let start = client.clock.now();
    loop {
        if let Looked::Gone = look(client, target, call).await? {
            return Ok(());
        }
        let passed = client.clock.now().duration_since(start).unwrap_or_default();
        let stopped = || call.sleep(client.clock.as_ref(), interval(target.object));
        if passed >= limit || stopped().await.is_err() {
            let detail = format!("It was deleted, but it was still there after {}s.", passed.as_secs());
            return Err(Diagnostic::error("Object is still there", detail));
        }
    }
}
