//! What a webhook is sent: the Stack, the run and the plan, without anything that came from a Secret, and without values that the
//! configuration calls sensitive: of those, a plan shows none.

use serde_json::{Value as Json, json};

use super::Asking;
use crate::api::webhook::WebhookPayload;
use crate::work::Redaction;

/// No more of a plan is sent as text.
const MOST_BYTES: usize = 512 << 10;

/// Details of a plan that are longer are not sent, which is said.
const MOST_DETAILS: usize = 8 << 20;

/// The body of a request.
pub(super) fn body(kind: WebhookPayload, asking: &Asking<'_>) -> String {
    let run = asking.run;
    let mut whole = json!({
        "stage": "post-planning",
        "run": {
            "name": run.metadata.name,
            "namespace": run.metadata.namespace,
            "uid": run.metadata.uid,
            "stack": run.spec.stack,
            "action": run.spec.action,
            "causes": run.spec.causes,
        },
    });
    if kind != WebhookPayload::PlanOnly {
        whole["stack"] = stack(asking);
    }
    if kind != WebhookPayload::SpecOnly {
        whole["plan"] = plan(asking);
    }
    clean(&mut whole, &asking.redaction);
    whole.to_string()
}

fn stack(asking: &Asking<'_>) -> Json {
    let Some(stack) = asking.stack else { return Json::Null };
    let metadata = &stack.metadata;
    json!({
        "apiVersion": "groma.dev/v1alpha1",
        "kind": "Stack",
        "metadata": {
            "name": metadata.name,
            "namespace": metadata.namespace,
            "uid": metadata.uid,
            "generation": metadata.generation,
            "labels": metadata.labels,
        },
        "spec": stack.spec,
    })
}

fn plan(asking: &Asking<'_>) -> Json {
    let plan = asking.plan;
    let changes = plan.changes.iter();
    let changes =
        changes.map(|change| json!({"address": change.address, "type": change.kind, "action": change.action}));
    let mut told = json!({
        "id": plan.id,
        "counts": plan.counts,
        "changes": changes.collect::<Vec<_>>(),
        "drifted": plan.drifted,
        "text": crate::objects::cluster::shortened(&plan.text, MOST_BYTES),
    });
    let details = plan.changes_json.as_ref().filter(|details| details.to_string().len() <= MOST_DETAILS);
    match details.and_then(Json::as_object) {
        Some(details) => told.as_object_mut().into_iter().for_each(|told| told.extend(details.clone())),
        None => told["truncated"] = json!(true),
    }
    told
}

fn clean(value: &mut Json, redaction: &Redaction) {
    match value {
        Json::String(text) => *text = redaction.clean(text),
        Json::Array(items) => items.iter_mut().for_each(|item| clean(item, redaction)),
        Json::Object(fields) => fields.values_mut().for_each(|field| clean(field, redaction)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::run::Run;
    use crate::api::stack::Stack;
    use crate::bundle::ResolvedInputs;
    use crate::work::Planned;

    #[test]
    fn what_is_sent_has_no_secrets() {
        let spec = json!({"source": {"inline": {"main.tf": "# hunter2-hunter2"}}});
        let stack = Stack::new("app", serde_json::from_value(spec).unwrap());
        let run: Run = serde_json::from_value(json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Run", "metadata": {"name": "app-1", "namespace": "team"},
            "spec": {
                "stack": "app", "number": 1, "action": "apply", "bundle": "b", "about": {}, "engine": "native", "executor": "inProcess",
                "approval": {"mode": "auto"}, "limits": {"init": "1m", "plan": "1m", "apply": "1m"},
            },
        }))
        .unwrap();
        let plan = Planned {
            id: "plan-1".to_owned(),
            bytes: b"hunter2-hunter2".to_vec(),
            text: "+ x = \"hunter2-hunter2\"".to_owned(),
            counts: crate::api::run::PlanCounts::default(),
            changes: Vec::new(),
            drifted: Vec::new(),
            is_empty: false,
            changes_json: Some(json!({"resourceChanges": [{"after": {"x": "hunter2-hunter2"}}]})),
            doubt: None,
            document: None,
        };
        let inputs = ResolvedInputs { secrets: ["hunter2-hunter2".to_owned()].into(), ..ResolvedInputs::default() };
        let asking =
            Asking { stack: Some(&stack), run: &run, plan: &plan, redaction: Redaction::new(&inputs), networks: None };
        let sent = |kind| body(kind, &asking);
        for (kind, has_spec, has_plan) in [
            (WebhookPayload::SpecAndPlan, true, true),
            (WebhookPayload::SpecOnly, true, false),
            (WebhookPayload::PlanOnly, false, true),
        ] {
            let sent = sent(kind);
            assert!(!sent.contains("hunter2"), "{sent}");
            assert_eq!((sent.contains("main.tf"), sent.contains("plan-1")), (has_spec, has_plan), "{sent}");
        }
    }
}
