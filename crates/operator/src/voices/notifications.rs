//! Telling people how Stacks are. Who is named in a Stack is told once whenever it changes how it is, and that they were told is noted in
//! its status; who is named to the operator is told every event, and nobody notes that.

pub(crate) mod announcing;
pub(crate) mod flux;
pub(crate) mod standing;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use groma_network::Networks;
use reqwest::header::CONTENT_TYPE;

use crate::api::stack::Stack;
use crate::api::voices::{Notification, NotificationFormat};
use crate::bundle::Content;
use crate::metrics::Metrics;
use crate::objects::{Kind, Notice, Place, Store, StoreError, data_of, find, untyped};
use crate::runs::in_process::Clock;
use crate::voices::webhooks::call::{SIGNATURE, allowed_url, causes, outward, signature};
use standing::{Standing, knows, noted, standing, wants, whom};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How soon it is tried again, doubled each time.
const SOON: Duration = Duration::from_secs(2);
const LATE: Duration = Duration::from_mins(10);
/// How often it is tried before it is said that it did not work.
const MOST_ATTEMPTS: u32 = 10;

/// Tells those who are named in Stacks.
pub struct Notifier {
    store: Arc<dyn Store>,
    clock: Clock,
    metrics: Arc<Metrics>,
    /// Where connections may lead. None for everywhere.
    networks: Option<Networks>,
    /// How often it was tried to tell somebody something.
    attempts: Mutex<BTreeMap<Attempt, u32>>,
}

/// Namespace and name of a Stack, who is told, and what.
type Attempt = (String, String, String, String);

impl Notifier {
    /// With objects there.
    pub fn new(store: Arc<dyn Store>, clock: Clock, metrics: Arc<Metrics>, networks: Option<Networks>) -> Self {
        Self { store, clock, metrics, networks, attempts: Mutex::default() }
    }

    /// Tells those who are named in a Stack how it is, if that is new to them. Gives after what time to try again.
    pub(crate) async fn look_at(&self, namespace: &str, name: &str) -> Option<Duration> {
        match self.look(namespace, name).await {
            Ok(again) => again,
            Err(StoreError::Conflict(_) | StoreError::Missing(_)) => Some(Duration::from_millis(100)),
            Err(problem) => {
                tracing::warn!(namespace, name, %problem, "it is not known who was told");
                Some(LATE.min(SOON * 8))
            }
        }
    }

    async fn look(&self, namespace: &str, name: &str) -> Result<Option<Duration>, StoreError> {
        let Some(mut stack) = find::<Stack>(&*self.store, namespace, name).await? else {
            self.forget(namespace, name);
            return Ok(None);
        };
        let Some(standing) = standing(&stack) else { return Ok(None) };
        let mut again: Option<Duration> = None;
        for (at, notification) in stack.spec.notifications.clone().iter().enumerate() {
            let whom = whom(notification);
            let notified = stack.status.as_ref().map(|status| status.notified.as_slice()).unwrap_or_default();
            if knows(notified, &whom, &standing.mark) {
                continue;
            }
            if wants(notification, standing.event) {
                let attempt = (namespace.to_owned(), name.to_owned(), whom.clone(), standing.mark.clone());
                let sent = self.send(&stack, at, notification, &standing).await;
                if let Some(pause) = self.count(&stack, at, attempt, sent).await {
                    again = Some(again.map_or(pause, |known| known.min(pause)));
                    continue;
                }
            }
            // After each of them: whoever comes after us tells nobody twice but the last one.
            let notified = noted(&stack, &whom, &standing.mark);
            stack.status.get_or_insert_default().notified = notified;
            let written = self.store.replace_status(&Kind::of::<Stack>(), &untyped(&stack)?).await?;
            stack.metadata.resource_version = written.metadata.resource_version;
        }
        Ok(again)
    }

    /// What becomes of an attempt: after what time there is another one; none if it went well, or often enough wrong.
    async fn count(&self, stack: &Stack, at: usize, attempt: Attempt, sent: Result<(), Failed>) -> Option<Duration> {
        self.metrics.notified(sent.is_ok());
        let problem = {
            let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
            let Err(failed) = sent else {
                attempts.remove(&attempt);
                return None;
            };
            // What they were to be told before is not news any more.
            let is_older = |other: &Attempt| (&other.0, &other.1, &other.2) == (&attempt.0, &attempt.1, &attempt.2);
            attempts.retain(|other, _| *other == attempt || !is_older(other));
            let count = attempts.entry(attempt.clone()).or_default();
            *count += 1;
            tracing::info!(
                namespace = attempt.0,
                stack = attempt.1,
                at,
                problem = failed.message,
                "somebody was not told"
            );
            if failed.passes && *count < MOST_ATTEMPTS {
                return Some(SOON.saturating_mul(1 << (*count - 1).min(16)).min(LATE));
            }
            attempts.remove(&attempt);
            failed.message
        };
        let about = Place::new(Kind::of::<Stack>(), &attempt.0, &attempt.1);
        let message =
            format!("spec.notifications[{at}]: {problem}. Nothing more is tried until the Stack changes how it is.");
        let reason = "NotificationFailed".to_owned();
        let uid = stack.metadata.uid.clone();
        self.store.notice(Notice { about, uid, is_warning: true, reason, message }).await;
        None
    }

    fn forget(&self, namespace: &str, name: &str) {
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        attempts.retain(|(of, stack, ..), _| (of.as_str(), stack.as_str()) != (namespace, name));
    }

    async fn send(&self, stack: &Stack, at: usize, to: &Notification, standing: &Standing) -> Result<(), Failed> {
        let field = format!("spec.notifications[{at}].secretRef");
        let key = self.key(stack, &field, to).await?;
        let metadata = &stack.metadata;
        let notice = Notice {
            about: Place::new(
                Kind::of::<Stack>(),
                metadata.namespace.as_deref().unwrap_or_default(),
                metadata.name.as_deref().unwrap_or_default(),
            ),
            uid: metadata.uid.clone(),
            is_warning: standing.event != crate::api::voices::NotificationEvent::Recovered,
            reason: standing.reason.clone(),
            message: standing.message.clone(),
        };
        let seen = stack.status.as_ref().and_then(|status| status.source.as_ref());
        let revision = seen.map(|seen| seen.revision.as_str()).unwrap_or_default();
        let is_error = standing.event == crate::api::voices::NotificationEvent::Failed;
        let body = match to.format {
            NotificationFormat::Flux => flux::event(&notice, is_error, revision, (self.clock)()),
            NotificationFormat::Text => flux::text(&notice, revision),
        };
        post(&to.url, &body.to_string(), key.as_ref(), self.networks.as_ref()).await
    }

    async fn key(&self, stack: &Stack, field: &str, to: &Notification) -> Result<Option<Content>, Failed> {
        let Some(key) = &to.secret_ref else { return Ok(None) };
        let namespace = stack.metadata.namespace.as_deref().unwrap_or_default();
        let secret = self.store.get(&Place::new(Kind::secret(), namespace, &key.name)).await;
        let secret = secret.map_err(|problem| Failed { message: format!("{field}: {problem}"), passes: true })?;
        let found = secret.as_ref().and_then(|secret| data_of(secret).remove(&key.key)).map(Content);
        if found.is_none() && !key.optional {
            let message = format!("{field}: Secret {:?} has no key {:?}", key.name, key.key);
            return Err(Failed { message, passes: true });
        }
        Ok(found)
    }
}

/// Somebody who was not told.
#[derive(Debug)]
pub(crate) struct Failed {
    /// Why, without the address: that may be secret.
    pub(crate) message: String,
    /// Whether it may go better the next time.
    pub(crate) passes: bool,
}

/// Sends something, once.
pub(crate) async fn post(
    url: &str,
    body: &str,
    key: Option<&Content>,
    networks: Option<&Networks>,
) -> Result<(), Failed> {
    let for_good = |message: String| Failed { message, passes: false };
    let url = allowed_url(url, networks).map_err(for_good)?;
    let client = outward(PATIENCE, networks).build();
    let client = client.map_err(|problem| for_good(format!("it cannot be sent: {}", causes(&problem))))?;
    let mut request = client.post(url).header(CONTENT_TYPE, "application/json").body(body.to_owned());
    if let Some(key) = key {
        request = request.header(SIGNATURE, signature(&key.0, body.as_bytes()));
    }
    let answer = request.send().await;
    let status = match answer {
        Ok(answer) => answer.status(),
        Err(problem) => return Err(Failed { message: format!("no answer: {}", causes(&problem)), passes: true }),
    };
    if status.is_success() {
        return Ok(());
    }
    let passes = status.is_server_error() || matches!(status.as_u16(), 408 | 429);
    Err(Failed { message: format!("the answer is {status}"), passes })
}
