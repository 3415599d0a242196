//! When the objects of a set are ready: all of them, each in the way of its kind.

use std::time::Duration;

use groma_kit::{Call, Object};
use groma_model::value::Value;
use groma_provider::api::NotReady;

use super::SetResource;
use crate::Json;
use crate::api::Cluster;
use crate::failure::Failure;
use crate::manifest::ObjectRef;
use crate::object::naming::shown;
use crate::wait::{INTERVAL, WaitFor};

/// An object and how it was seen last.
pub(super) struct Seen {
    pub(super) reference: ObjectRef,
    pub(super) live: Json,
}

/// Waits until it is ready, whatever that means for its kind.
pub(super) fn ready(timeout: Duration) -> Option<WaitFor> {
    wait(Value::object([
        ("ready", Value::bool(true)),
        ("timeout", Value::string(format!("{}ms", timeout.as_millis()))),
    ]))
}

/// Waits until a kind is served.
pub(super) fn established(timeout: Duration) -> Option<WaitFor> {
    let timeout = Value::string(format!("{}ms", timeout.as_millis()));
    wait(Value::object([("condition", Value::string("Established")), ("timeout", timeout)]))
}

fn wait(wait_for: Value) -> Option<WaitFor> {
    WaitFor::read(&Object::of(&Value::object([("wait_for", wait_for)]))).ok().flatten()
}

/// What is lacking: that of the first object that is not ready, and how many there are.
pub(super) fn lacking(wait: &WaitFor, seen: &[Seen]) -> Option<(usize, NotReady)> {
    let judge = |(at, seen): (usize, &Seen)| Some((at, wait.not_ready(wait.judge(&seen.live))?));
    let mut all = seen.iter().enumerate().filter_map(judge);
    let (at, mut first) = all.next()?;
    let rest: Vec<(usize, NotReady)> = all.collect();
    let object = seen.get(at).map(|seen| shown(&seen.reference)).unwrap_or_default();
    first.waiting_for = format!("{object}: {}", first.waiting_for);
    if !rest.is_empty() {
        first.waiting_for = format!("{} (and {} more objects)", first.waiting_for, rest.len());
    }
    // One that is without hope is enough.
    if rest.iter().any(|(_, lacking)| lacking.patience.is_none()) {
        first.patience = None;
    }
    Some((at, first))
}

/// Looks again and again until all are ready; or says what is lacking when that takes too long, is hopeless, or is given up.
pub(super) async fn until_ready(
    set: &SetResource,
    cluster: &Cluster,
    wait: &WaitFor,
    mut seen: Vec<Seen>,
    call: &Call,
) -> Result<(), NotReady> {
    let clock = set.shared.outside.clock.as_ref();
    let start = clock.now();
    loop {
        let Some((at, mut lacks)) = lacking(wait, &seen) else { return Ok(()) };
        let passed = clock.now().duration_since(start).unwrap_or_default();
        let is_over = lacks.patience.is_none() || passed >= wait.timeout;
        if is_over || call.sleep(clock, INTERVAL).await.is_err() {
            if let (Some(said), Some(seen)) = (&mut lacks.last_seen, seen.get(at)) {
                let more = wait.diagnose(cluster, &seen.reference, Some(&seen.live)).await;
                if !more.is_empty() {
                    said.push('\n');
                    said.push_str(&more);
                }
            }
            lacks.patience = None;
            return Err(lacks);
        }
        for seen in &mut seen {
            // What cannot be read now may be readable later.
            if let Ok(Some(live)) = look(cluster, seen).await {
                seen.live = live;
            }
        }
    }
}

async fn look(cluster: &Cluster, seen: &Seen) -> Result<Option<Json>, Failure> {
    cluster.get(&seen.reference).await
}
