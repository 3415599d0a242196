//! What objects of all kinds have alike: generations, conditions, and that they are being deleted.

use super::Look;
use crate::Json;
use crate::failure::shortened;

/// A condition of an object.
pub(super) struct Condition<'j> {
    pub(super) kind: &'j str,
    pub(super) status: &'j str,
    pub(super) reason: &'j str,
    pub(super) message: &'j str,
    observed: Option<i64>,
}

impl Condition<'_> {
    /// Whether it is true, and about the object as it is now.
    pub(super) fn is_true(&self, live: &Json) -> bool {
        self.status == "True" && !self.is_outdated(live)
    }

    fn is_outdated(&self, live: &Json) -> bool {
        self.observed.zip(generation(live)).is_some_and(|(observed, generation)| observed < generation)
    }

    /// `Ready is False (ContainersNotReady): containers with unready status: [web]`.
    pub(super) fn words(&self) -> String {
        let Self { kind, status, reason, .. } = self;
        let reason = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
        let message = match self.message.trim() {
            "" => String::new(),
            message => format!(": {}", shortened(message, 300)),
        };
        format!("{kind} is {status}{reason}{message}")
    }
}

/// A text at a place.
pub(super) fn text<'j>(live: &'j Json, pointer: &str) -> &'j str {
    live.pointer(pointer).and_then(Json::as_str).unwrap_or_default()
}

/// A whole number at a place.
pub(super) fn number(live: &Json, pointer: &str) -> Option<i64> {
    live.pointer(pointer).and_then(Json::as_i64)
}

/// A count in the status; what is 0 is often left out.
pub(super) fn count(live: &Json, pointer: &str) -> i64 {
    number(live, pointer).unwrap_or(0)
}

/// Group and kind.
pub(super) fn group_and_kind(live: &Json) -> (&str, &str) {
    let group = text(live, "/apiVersion").split_once('/').map_or("", |(group, _)| group);
    (group, text(live, "/kind"))
}

fn generation(live: &Json) -> Option<i64> {
    number(live, "/metadata/generation")
}

/// All conditions.
pub(super) fn all(live: &Json) -> impl Iterator<Item = Condition<'_>> {
    let items = live.pointer("/status/conditions").and_then(Json::as_array);
    items.into_iter().flatten().map(|item| Condition {
        kind: text(item, "/type"),
        status: text(item, "/status"),
        reason: text(item, "/reason"),
        message: text(item, "/message"),
        observed: number(item, "/observedGeneration"),
    })
}

/// A condition by its type.
pub(super) fn find<'j>(live: &'j Json, kind: &str) -> Option<Condition<'j>> {
    all(live).find(|condition| condition.kind == kind)
}

/// Why an object is not ready whatever it is: it goes away, or its controller has not seen the last change.
pub(super) fn in_general(live: &Json) -> Option<String> {
    if live.pointer("/metadata/deletionTimestamp").is_some() {
        return Some("it is being deleted".to_owned());
    }
    let observed = number(live, "/status/observedGeneration");
    if observed.zip(generation(live)).is_some_and(|(observed, generation)| observed < generation) {
        return Some("its controller has not seen the last change yet".to_owned());
    }
    None
}

/// Whether a condition is true.
pub(super) fn condition(live: &Json, kind: &str) -> Look {
    if let Some(seen) = in_general(live) {
        return Look::Wait(seen);
    }
    match find(live, kind) {
        Some(condition) if condition.is_true(live) => Look::Good,
        Some(condition) if condition.status == "True" => {
            Look::Wait(format!("{kind} is True, but for the object before the last change"))
        }
        Some(condition) => Look::Wait(condition.words()),
        None => Look::Wait(format!("it has no condition {kind} yet")),
    }
}

/// Why a Job has failed for good.
pub(super) fn failed_job(live: &Json) -> Option<String> {
    if group_and_kind(live) != ("batch", "Job") {
        return None;
    }
    let failed = find(live, "Failed").filter(|failed| failed.status == "True")?;
    Some(format!("the Job has failed: {}", failed.words()))
}
