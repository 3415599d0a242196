//! How a Stack is, as far as somebody wants to be told: well, failed, waiting or changed by others. While something is under way it is as
//! it was before, so that trying again tells nobody anything new.

use sha2::{Digest as _, Sha256};

use crate::api::shared::Truth;
use crate::api::stack::Stack;
use crate::api::voices::{Notification, NotificationEvent, Notified};

/// How a Stack is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Standing {
    /// What would be told about it.
    pub(crate) event: NotificationEvent,
    /// Stands for it: another one is worth telling.
    pub(crate) mark: String,
    /// In one word.
    pub(crate) reason: String,
    /// For people.
    pub(crate) message: String,
}

/// How a Stack is. None while that is not settled.
pub(crate) fn standing(stack: &Stack) -> Option<Standing> {
    let status = stack.status.as_ref()?;
    let ready = status.conditions.iter().find(|known| known.kind == "Ready")?;
    if status.observed_generation != stack.metadata.generation {
        return None;
    }
    let is_stalled = status.conditions.iter().any(|known| known.kind == "Stalled");
    let (event, mark) = match (ready.status, ready.reason.as_str()) {
        (Truth::True, _) => (NotificationEvent::Recovered, "well".to_owned()),
        (Truth::Unknown, "AwaitingApproval") => {
            let plan = status.pending.as_ref().map(|pending| pending.plan.as_str()).unwrap_or_default();
            (NotificationEvent::AwaitingApproval, format!("waits {plan}"))
        }
        (Truth::False, "DriftDetected") => {
            let addresses = status.drift.as_ref().map(|drift| drift.addresses.join("\n")).unwrap_or_default();
            (NotificationEvent::Drift, format!("drifted {}", short(&addresses)))
        }
        // Others have to come first, which is nobody's failure.
        (Truth::False, "DependencyNotReady" | "DeletionBlockedByDependants") | (Truth::Unknown, _) => return None,
        (Truth::False, reason) => {
            let tail = if is_stalled { " for good" } else { "" };
            (NotificationEvent::Failed, format!("failed {reason}{tail}"))
        }
    };
    Some(Standing { event, mark, reason: ready.reason.clone(), message: ready.message.clone() })
}

/// What stands for somebody who is told. Addresses may be secret themselves, so they are not repeated.
pub(crate) fn whom(notification: &Notification) -> String {
    short(&format!("{}\n{:?}", notification.url, notification.format))
}

/// Whether somebody is to be told. What they do not want to hear of is noted all the same, so that they hear when it is over.
pub(crate) fn wants(notification: &Notification, event: NotificationEvent) -> bool {
    match notification.events.as_slice() {
        [] => matches!(event, NotificationEvent::Failed | NotificationEvent::AwaitingApproval),
        events => events.contains(&event),
    }
}

/// Whether somebody was told that a Stack is so.
pub(crate) fn knows(notified: &[Notified], whom: &str, mark: &str) -> bool {
    notified.iter().any(|known| known.whom == whom && known.standing == mark)
}

/// What is noted after somebody was told. Those who are not in the Stack any more are forgotten.
pub(crate) fn noted(stack: &Stack, whom_now: &str, mark: &str) -> Vec<Notified> {
    let before = stack.status.as_ref().map(|status| status.notified.as_slice()).unwrap_or_default();
    let all: Vec<String> = stack.spec.notifications.iter().map(whom).collect();
    let mut noted: Vec<Notified> =
        before.iter().filter(|known| known.whom != whom_now && all.contains(&known.whom)).cloned().collect();
    noted.push(Notified { whom: whom_now.to_owned(), standing: mark.to_owned() });
    noted.sort_by(|one, other| one.whom.cmp(&other.whom));
    noted
}

fn short(text: &str) -> String {
    hex::encode(Sha256::digest(text))[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn stack(ready: &str, reason: &str, more: &Json) -> Stack {
        let mut stack = Stack::new("app", serde_json::from_value(json!({"source": {"inline": {}}})).unwrap());
        stack.metadata.generation = Some(1);
        let mut status = json!({
            "observedGeneration": 1,
            "conditions": [{
                "type": "Ready", "status": ready, "reason": reason, "message": "said",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }],
        });
        status.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        stack.status = serde_json::from_value(status).unwrap();
        stack
    }

    fn mark(ready: &str, reason: &str, more: &Json) -> Option<String> {
        standing(&stack(ready, reason, more)).map(|standing| standing.mark)
    }

    #[test]
    fn trying_again_is_nothing_new() {
        let nothing = json!({});
        assert_eq!(mark("False", "Transient", &nothing).as_deref(), Some("failed Transient"));
        assert_eq!(mark("Unknown", "Progressing", &nothing), None);
        assert_eq!(mark("False", "Transient", &nothing), mark("False", "Transient", &nothing));
        assert_ne!(mark("False", "Transient", &nothing), mark("False", "InvalidConfiguration", &nothing));
        assert_eq!(mark("True", "Applied", &nothing), mark("True", "Planned", &nothing));
        assert_eq!(mark("False", "DependencyNotReady", &nothing), None);
    }

    #[test]
    fn other_plans_and_other_drift_are_new() {
        let waits = |plan: &str| {
            let changes = json!({"add": 1, "change": 0, "destroy": 0});
            mark("Unknown", "AwaitingApproval", &json!({"pending": {"plan": plan, "run": "r", "changes": changes}}))
        };
        assert_eq!(waits("plan-1").as_deref(), Some("waits plan-1"));
        assert_ne!(waits("plan-1"), waits("plan-2"));
        let drifted = |address: &str| {
            let drift = json!({"drift": {"since": "2026-01-01T00:00:00Z", "addresses": [address]}});
            mark("False", "DriftDetected", &drift)
        };
        assert_ne!(drifted("a.b"), drifted("a.c"));
    }

    #[test]
    fn what_is_said_about_an_older_spec_is_not_told() {
        let mut old = stack("False", "Transient", &json!({}));
        old.metadata.generation = Some(2);
        assert_eq!(standing(&old), None);
    }

    #[test]
    fn everybody_is_noted_for_themselves() {
        let mut stack = stack("True", "Applied", &json!({"notified": [{"whom": "gone", "standing": "well"}]}));
        let of = |url: &str| serde_json::from_value::<Notification>(json!({ "url": url })).unwrap();
        let (one, other) = (of("https://a.example/secret-path"), of("https://b.example"));
        stack.spec.notifications = vec![one.clone(), other.clone()];
        let noted = noted(&stack, &whom(&one), "well");
        assert_eq!(noted.len(), 1, "{noted:?}");
        assert!(knows(&noted, &whom(&one), "well"));
        assert!(!knows(&noted, &whom(&other), "well"));
        assert!(!format!("{noted:?}").contains("secret-path"));
        assert!(wants(&one, NotificationEvent::Failed) && !wants(&one, NotificationEvent::Recovered));
    }
}
