//! Webhooks: who is asked about a plan before it is carried out. What is needed to ask is part of the bundle; what is sent has no values of
//! Secrets in it; what is answered is either yes, or no with a reason, or no answer.

mod address;
mod answer;
pub(crate) mod call;
mod payload;

use groma_network::Networks;
use serde::{Deserialize, Serialize};

use crate::api::run::{FailureKind, Run};
use crate::api::shared::{HolderKind, KeyRef};
use crate::api::stack::{Stack, ValueFrom};
use crate::api::webhook::{FailurePolicy, Webhook};
use crate::bundle::Content;
use crate::inputs::{HolderRef, Holders};
use crate::work::{Planned, Problem, Redaction};

/// A webhook with everything that is needed to ask it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Prepared {
    /// What the Stack says.
    pub webhook: Webhook,
    /// What requests are signed with.
    pub key: Option<Content>,
    /// What is trusted besides the usual.
    pub roots: Option<Content>,
    /// What we show: certificate and key.
    pub certificate: Option<(Content, Content)>,
}

/// What a plan is asked about with.
pub(crate) struct Asking<'a> {
    pub(crate) stack: Option<&'a Stack>,
    pub(crate) run: &'a Run,
    pub(crate) plan: &'a Planned,
    /// Takes out what came from Secrets.
    pub(crate) redaction: Redaction,
    /// Where connections may lead. None for everywhere.
    pub(crate) networks: Option<&'a Networks>,
}

/// What came of it when nobody refused: what could not be asked, and did not matter.
pub(crate) type Passed = Vec<String>;

/// Everything that webhooks refer to.
pub(crate) fn references(webhooks: &[Webhook]) -> Vec<HolderRef> {
    let holder = |kind, name: &str| HolderRef { kind, name: name.to_owned() };
    let mut found = Vec::new();
    for webhook in webhooks {
        found.extend(webhook.secret_ref.iter().map(|key| holder(HolderKind::Secret, &key.name)));
        found.extend(webhook.client_certificate.iter().map(|name| holder(HolderKind::Secret, name)));
        let ca = webhook.ca_from.as_ref().and_then(referred);
        found.extend(ca.map(|(kind, key)| holder(kind, &key.name)));
    }
    found
}

fn referred(from: &ValueFrom) -> Option<(HolderKind, &KeyRef)> {
    let secret = from.secret_key_ref.as_ref().map(|key| (HolderKind::Secret, key));
    secret.or_else(|| from.config_map_key_ref.as_ref().map(|key| (HolderKind::ConfigMap, key)))
}

/// Looks everything up. What is missing is told.
pub(crate) fn prepare(webhooks: &[Webhook], holders: &Holders, problems: &mut Vec<String>) -> Vec<Prepared> {
    let enabled = webhooks.iter().enumerate().filter(|(_, webhook)| webhook.enabled);
    enabled.map(|(at, webhook)| one(&format!("spec.webhooks[{at}]"), webhook, holders, problems)).collect()
}

fn one(field: &str, webhook: &Webhook, holders: &Holders, problems: &mut Vec<String>) -> Prepared {
    let mut look = |field: String, kind: HolderKind, name: &str, key: &str, optional: bool| {
        let holder = HolderRef { kind, name: name.to_owned() };
        let found = holders.get(&holder).and_then(|data| data.get(key));
        if found.is_none() && !optional {
            problems.push(match holders.get(&holder) {
                None => format!("{field}: {} {name:?} is not there", kind.name()),
                Some(_) => format!("{field}: {} {name:?} has no key {key:?}", kind.name()),
            });
        }
        found.cloned().map(Content)
    };
    let key = webhook
        .secret_ref
        .as_ref()
        .and_then(|from| look(format!("{field}.secretRef"), HolderKind::Secret, &from.name, &from.key, from.optional));
    let ca = webhook.ca_from.as_ref().and_then(referred);
    let roots = ca.and_then(|(kind, from)| look(format!("{field}.caFrom"), kind, &from.name, &from.key, from.optional));
    let certificate = webhook.client_certificate.as_ref().and_then(|name| {
        let mut part = |key| look(format!("{field}.clientCertificate"), HolderKind::Secret, name, key, false);
        Some((part("tls.crt")?, part("tls.key")?))
    });
    if let Err(problem) = address::check_url(&webhook.url) {
        problems.push(format!("{field}.url: {problem}"));
    }
    Prepared { webhook: webhook.clone(), key, roots, certificate }
}

/// Asks all of them, one after the other. The first that refuses decides.
pub(crate) async fn ask(webhooks: &[Prepared], asking: &Asking<'_>) -> Result<Passed, Problem> {
    let mut passed = Passed::new();
    for prepared in webhooks {
        let webhook = &prepared.webhook;
        let named = |said: String| format!("Webhook {:?}: {said}", webhook.name);
        let body = payload::body(webhook.payload, asking);
        let answered = call::call(prepared, body, asking.networks).await;
        match answered.and_then(|answer| answer::read(webhook, &answer)) {
            Ok(answer::Answer::Passes) => {}
            Ok(answer::Answer::Refuses(why)) => {
                return Err(Problem { kind: FailureKind::WebhookDenied, message: named(why) });
            }
            Err(problem) if webhook.failure_policy == FailurePolicy::Ignore => passed.push(named(problem)),
            Err(problem) => return Err(Problem { kind: FailureKind::WebhookFailed, message: named(problem) }),
        }
    }
    Ok(passed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn everything_that_is_needed_is_looked_up() {
        let webhook = json!({
            "name": "policy", "url": "https://policy.example/check", "secretRef": {"name": "hook", "key": "hmac"},
            "clientCertificate": "hook", "caFrom": {"configMapKeyRef": {"name": "roots", "key": "ca.crt"}},
        });
        let off = json!({"name": "off", "url": "https://off.example", "enabled": false, "secretRef": {"name": "gone", "key": "k"}});
        let webhooks: Vec<Webhook> = serde_json::from_value(json!([webhook, off])).unwrap();
        let kinds: Vec<_> = references(&webhooks[..1]).into_iter().map(|found| (found.kind, found.name)).collect();
        assert_eq!(kinds.len(), 3);
        let mut holders = Holders::new();
        let holder = HolderRef { kind: HolderKind::Secret, name: "hook".to_owned() };
        holders.insert(holder, [("hmac".to_owned(), b"k".to_vec())].into());
        let mut problems = Vec::new();
        let prepared = prepare(&webhooks, &holders, &mut problems);
        assert_eq!(prepared.len(), 1);
        assert_eq!(prepared[0].key, Some(Content(b"k".to_vec())));
        assert_eq!(
            problems,
            [
                "spec.webhooks[0].caFrom: ConfigMap \"roots\" is not there",
                "spec.webhooks[0].clientCertificate: Secret \"hook\" has no key \"tls.crt\"",
            ]
        );
    }
}
