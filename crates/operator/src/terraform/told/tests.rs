//! What is said in which situation, word for word as tofu-controller says it.

use serde_json::{Value as Json, json};

use super::*;

const REVISION: &str = "main@sha1:aaaa";
const PLAN: &str = "plan-0123456789abcdef0123456789abcdef";

fn now() -> Moment {
    Moment("2026-01-01T00:10:00Z".parse().unwrap())
}

fn object(spec: &Json, before: &Json) -> Terraform {
    let mut whole = json!({"interval": "5m", "sourceRef": {"kind": "GitRepository", "name": "code"}});
    whole.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    serde_json::from_value(json!({
        "apiVersion": "infra.contrib.fluxcd.io/v1alpha2", "kind": "Terraform",
        "metadata": {"name": "app", "namespace": "team", "uid": "u", "generation": 2}, "spec": whole, "status": before,
    }))
    .unwrap()
}

fn stack(ready: (&str, &str, &str), more: &Json) -> Stack {
    let at = "2026-01-01T00:00:00Z";
    let condition =
        json!({"type": "Ready", "status": ready.0, "reason": ready.1, "message": ready.2, "lastTransitionTime": at});
    let mut status = json!({"observedGeneration": 1, "conditions": [condition], "source": {"revision": REVISION}});
    status.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(json!({
        "apiVersion": "groma.dev/v1alpha1", "kind": "Stack",
        "metadata": {"name": "terraform--app", "namespace": "team", "generation": 1}, "spec": {"source": {"inline": {}}}, "status": status,
    }))
    .unwrap()
}

/// A run that came so far.
fn run(action: &str, cause: &str, phases: &[&str], more: &Json) -> Run {
    let times: Vec<Json> =
        phases.iter().map(|phase| json!({"phase": phase, "began": "2026-01-01T00:00:00Z"})).collect();
    let mut status = json!({"phase": phases.last(), "phases": times});
    status.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(json!({
        "apiVersion": "groma.dev/v1alpha1", "kind": "Run", "metadata": {"name": "terraform--app-1"},
        "spec": {
            "stack": "terraform--app", "number": 1, "action": action, "causes": [{"reason": cause}], "bundle": "b", "about": {},
            "engine": "native", "executor": "inProcess", "approval": {}, "limits": {"init": "1m", "plan": "1m", "apply": "1m"},
        },
        "status": status,
    }))
    .unwrap()
}

fn told(object: &Terraform, stack: &Stack, run: Option<&Run>) -> TerraformStatus {
    status(object, &[], &Situation::Has(Seen { stack: Some(stack), run, ..Seen::default() }), now())
}

/// `Ready` in one line.
fn ready(status: &TerraformStatus) -> String {
    shown(status, "Ready")
}

fn shown(status: &TerraformStatus, kind: &str) -> String {
    let Some(found) = status.conditions.iter().find(|known| known.kind == kind) else { return String::new() };
    format!("{:?}/{}: {}", found.status, found.reason, found.message)
}

fn applied() -> Json {
    json!({
        "plan": {"id": PLAN}, "planned": {"add": 1, "change": 0, "destroy": 0},
        "approval": {"plan": PLAN, "by": "policy", "at": "2026-01-01T00:00:00Z"},
    })
}

const ALL: [&str; 4] = ["Initialising", "Planning", "Applying", "Succeeded"];

#[test]
fn a_plan_that_waits_is_shown_with_its_id() {
    let waits = json!({"plan": {"id": PLAN}, "planned": {"add": 1, "change": 0, "destroy": 0}});
    let run = run("apply", "Created", &["Initialising", "Planning", "AwaitingApproval"], &waits);
    let status =
        told(&object(&json!({}), &json!({})), &stack(("Unknown", "AwaitingApproval", "x"), &json!({})), Some(&run));
    let expected = "Unknown/TerraformPlannedWithChanges: Plan generated: set approvePlan: \"plan-main-0123456789\" to approve this plan.";
    assert_eq!(ready(&status), expected);
    assert_eq!(shown(&status, "Plan"), "True/TerraformPlannedWithChanges: Plan generated");
    assert_eq!(status.plan.unwrap().pending.as_deref(), Some("plan-main-0123456789"));
    assert_eq!((status.last_planned_revision.as_deref(), status.last_planned_generation), (Some(REVISION), Some(2)));
    assert_eq!((status.last_applied_revision, status.observed_generation), (None, Some(2)));
}

#[test]
fn what_was_carried_out_is_told_with_its_revision() {
    let stack_of = |outputs: Json| stack(("True", "Applied", "x"), &json!({"availableOutputs": outputs}));
    let run_of = |action: &str| run(action, "Created", &ALL, &applied());
    let plain = told(&object(&json!({}), &json!({})), &stack_of(json!([])), Some(&run_of("apply")));
    assert_eq!(ready(&plain), "True/TerraformAppliedSucceed: Applied successfully: main@sha1:aaaa");
    assert_eq!(shown(&plain, "Apply"), "True/TerraformAppliedSucceed: Applied successfully: main@sha1:aaaa");
    assert_eq!(plain.last_applied_revision.as_deref(), Some(REVISION));
    assert_eq!(plain.plan.unwrap().last_applied.as_deref(), Some("plan-main-0123456789"));
    let writes = object(&json!({"writeOutputsToSecret": {"name": "out"}}), &json!({}));
    let outputs = told(&writes, &stack_of(json!(["b", "a"])), Some(&run_of("apply")));
    assert_eq!(ready(&outputs), "True/TerraformOutputsWritten: Outputs written: main@sha1:aaaa");
    assert_eq!(outputs.available_outputs, ["a", "b"]);
    let none = told(&writes, &stack_of(json!([])), Some(&run_of("apply")));
    assert_eq!(ready(&none), "True/TerraformOutputsWritten: No Outputs written: main@sha1:aaaa");
    let gone = told(&object(&json!({"destroy": true}), &json!({})), &stack_of(json!([])), Some(&run_of("destroy")));
    assert_eq!(ready(&gone), "True/TerraformAppliedSucceed: Destroy applied successfully: main@sha1:aaaa");
}

#[test]
fn an_unrelated_commit_moves_what_was_tried_and_not_what_was_carried_out() {
    let before = json!({"lastAppliedRevision": "main@sha1:0000", "plan": {"lastApplied": "plan-main-0123456789"}});
    let run = run("apply", "Created", &ALL, &applied());
    let status = told(&object(&json!({}), &before), &stack(("True", "Applied", "x"), &json!({})), Some(&run));
    assert_eq!(status.last_applied_revision.as_deref(), Some("main@sha1:0000"));
    assert_eq!(
        (status.last_attempted_revision.as_deref(), status.last_planned_revision.as_deref()),
        (Some(REVISION), Some(REVISION))
    );
}

#[test]
fn plans_that_do_nothing_and_drift() {
    let empty = json!({"plan": {"id": PLAN}, "planned": {"add": 0, "change": 0, "destroy": 0}, "message": "No changes: all is as it should be."});
    let well = stack(("True", "Applied", "x"), &json!({}));
    let said = |spec: Json, action: &str, cause: &str, more: &Json| {
        let run = run(action, cause, &["Initialising", "Planning", "Succeeded"], more);
        ready(&told(&object(&spec, &json!({})), &well, Some(&run)))
    };
    assert_eq!(
        said(json!({}), "apply", "SourceChanged", &empty),
        "True/TerraformPlannedNoChanges: Plan no changes: main@sha1:aaaa"
    );
    assert_eq!(said(json!({}), "apply", "Requested", &empty), "True/NoDrift: No drift: main@sha1:aaaa");
    let off = json!({"disableDriftDetection": true});
    assert_eq!(
        said(off, "apply", "Requested", &empty),
        "True/TerraformPlannedNoChanges: Plan no changes: main@sha1:aaaa"
    );
    let disabled = json!({"approvePlan": "disable"});
    assert_eq!(said(disabled.clone(), "plan", "Created", &empty), "True/NoDrift: No drift: main@sha1:aaaa");
    let found = json!({"plan": {"id": PLAN}, "planned": {"add": 0, "change": 1, "destroy": 0}, "drifted": ["a.b"]});
    let drift = "False/DriftDetected: Drift detected: 0 to add, 1 to change, 0 to destroy; changed by others: a.b";
    assert_eq!(said(disabled, "plan", "Due", &found), drift);
    let only = "Unknown/TerraformPlannedWithChanges: Plan generated: This object is in the plan only mode.";
    assert_eq!(said(json!({"planOnly": true}), "plan", "Created", &found), only);
}

#[test]
fn failures_say_how_far_it_came() {
    let failed = stack(("False", "RunFailed", "why"), &json!({"failures": {"count": 3}}));
    for (phases, failure, expected) in [
        (&["Initialising", "Failed"][..], "Invalid", "TFExecInitFailed"),
        (&["Initialising", "Planning", "Failed"], "Invalid", "TFExecPlanFailed"),
        (&["Initialising", "Planning", "Failed"], "Locked", "LockHeld"),
        (&["Initialising", "Planning", "Failed"], "WebhookDenied", "PostPlanningWebhookFailed"),
        (&["Planning", "Applying", "Failed"], "Refused", "TFExecApplyFailed"),
        (&["Applying", "Verifying", "Failed"], "NotReady", "HealthChecksFailed"),
        (&["Applying", "Verifying", "Failed"], "Invalid", "OutputsWritingFailed"),
    ] {
        let run = run("apply", "SourceChanged", phases, &json!({"failure": failure, "message": "why"}));
        let status = told(&object(&json!({}), &json!({})), &failed, Some(&run));
        assert_eq!(ready(&status), format!("False/{expected}: why"));
        assert_eq!(status.reconciliation_failures, Some(3));
    }
    let drift = run("apply", "Due", &["Initialising", "Planning", "Failed"], &json!({"failure": "Transient"}));
    assert!(
        ready(&told(&object(&json!({}), &json!({})), &failed, Some(&drift))).starts_with("False/DriftDetectionFailed")
    );
    let mut given_up = failed;
    let mut stalled = given_up.status.as_ref().unwrap().conditions[0].clone();
    stalled.kind = "Stalled".to_owned();
    given_up.status.as_mut().unwrap().conditions.push(stalled);
    assert!(
        shown(&told(&object(&json!({}), &json!({})), &given_up, Some(&drift)), "Stalled")
            .starts_with("True/RetryLimitReached")
    );
}

#[test]
fn what_cannot_be_tried_is_told_in_the_words_of_the_object() {
    let said = |message: &str| {
        let stack = stack(("False", "InvalidSpec", message), &json!({}));
        let object = object(&json!({"varsFrom": [{"kind": "Secret", "name": "x"}]}), &json!({}));
        ready(&told(&object, &stack, None))
    };
    let gone = said("spec.source.flux: GitRepository \"code\" is not there");
    assert_eq!(gone, "False/ArtifactFailed: spec.sourceRef: GitRepository \"code\" is not there");
    for (reason, theirs) in
        [("SourceNotFound", "ArtifactFailed"), ("SourceFailed", "ArtifactFailed"), ("AccessDenied", "AccessDenied")]
    {
        let stack = stack(("False", reason, "spec.source.flux: it is not there"), &json!({}));
        let told = ready(&told(&object(&json!({}), &json!({})), &stack, None));
        assert_eq!(told, format!("False/{theirs}: spec.sourceRef: it is not there"));
    }
    let vars = said("spec.inputs.varsFrom[0]: Secret \"x\" is not there");
    assert_eq!(vars, "False/VarsGenerationFailed: spec.varsFrom[0]: Secret \"x\" is not there");
    let waits = stack(("False", "DependencyNotReady", "Waiting for team/terraform--net (it is not ready)"), &json!({}));
    let waits = ready(&told(&object(&json!({}), &json!({})), &waits, None));
    assert_eq!(waits, "False/DependencyNotReady: Waiting for team/net (it is not ready)");
}

#[test]
fn locks_are_told_until_they_are_gone() {
    let failed = stack(("False", "StateLocked", "locked"), &json!({}));
    let run = run("apply", "Created", &["Planning", "Failed"], &json!({"failure": "Locked"}));
    let seen = |lock: Option<&str>, unlocked: Option<&str>| Seen {
        stack: Some(&failed),
        run: Some(&run),
        lock: lock.map(str::to_owned),
        unlocked: unlocked.map(str::to_owned),
        inventory: None,
    };
    let plain = object(&json!({}), &json!({}));
    let held = status(&plain, &[], &Situation::Has(seen(Some("id-1"), None)), now());
    assert_eq!(held.lock.as_ref().unwrap().pending.as_deref(), Some("id-1"));
    assert!(shown(&held, "StateLocked").starts_with("True/LockHeld"));
    let mut after = plain.clone();
    after.status = Some(held);
    let released = status(&after, &[], &Situation::Has(seen(None, Some("id-1"))), now());
    assert_eq!(released.lock.as_ref().unwrap().last_applied.as_deref(), Some("id-1"));
    assert!(shown(&released, "StateLocked").starts_with("False/ForceUnlock"));
}

#[test]
fn what_we_do_not_have_is_a_condition_as_long_as_it_stands_there() {
    let problem = Problem { reason: "Unsupported", field: "spec.cloud".to_owned(), what: "no".to_owned() };
    let mut plain = object(&json!({}), &json!({}));
    let wrong =
        status(&plain, std::slice::from_ref(&problem), &Situation::Wrong(std::slice::from_ref(&problem)), now());
    assert_eq!(shown(&wrong, "Unsupported"), "True/FieldsNotHonoured: spec.cloud: no");
    assert_eq!(ready(&wrong), "False/Unsupported: spec.cloud: no");
    assert!(shown(&wrong, "Stalled").starts_with("True/Unsupported"));
    plain.status = Some(wrong);
    let mended = status(&plain, &[], &Situation::Waits("x".to_owned()), now());
    assert_eq!((shown(&mended, "Unsupported"), shown(&mended, "Stalled")), (String::new(), String::new()));
}

#[test]
fn the_same_is_said_once() {
    let run = run("apply", "Created", &ALL, &applied());
    let well = stack(("True", "Applied", "x"), &json!({}));
    let mut object = object(&json!({}), &json!({}));
    let first = told(&object, &well, Some(&run));
    assert_eq!(
        event(None, &first).map(|(is_warning, reason, _)| (is_warning, reason)),
        Some((false, "TerraformAppliedSucceed".to_owned()))
    );
    object.status = Some(first.clone());
    let second = told(&object, &well, Some(&run));
    assert_eq!(second, first);
    assert_eq!(event(Some(&first), &second), None);
}

#[test]
fn deletion_is_told() {
    let plain = object(&json!({}), &json!({}));
    let going = status(&plain, &[], &Situation::Goes(None), now());
    assert_eq!(
        (ready(&going).as_str(), going.observed_generation),
        ("Unknown/Progressing: Deletion in progress", Some(-1))
    );
    let blocked = stack(("False", "DeletionBlockedByDependants", "It stays"), &json!({}));
    let blocked = status(&plain, &[], &Situation::Goes(Some(&blocked)), now());
    assert_eq!(ready(&blocked), "False/DeletionBlockedByDependantsReason: It stays");
}

/// Flux and its tools compare it with the annotation that they have written.
#[test]
fn what_was_asked_with_is_told_as_it_was_written() {
    let mut object = object(&json!({"approvePlan": "replan"}), &json!({}));
    object.metadata.annotations = Some([(names::FLUX_REQUESTED_AT.to_owned(), "now".to_owned())].into());
    let handled = |with: &str| {
        let stack = stack(("True", "Succeeded", ""), &json!({"lastHandledReconcileAt": with}));
        told(&object, &stack, None).last_handled_reconcile_at
    };
    assert_eq!(handled("now replan@2").as_deref(), Some("now"));
    assert_eq!(handled("now").as_deref(), Some("now"));
    assert_eq!(handled("before"), None);
}
