//! What the API server makes sure of: that who is said to have agreed to a plan is who has written that.

use serde_json::{Value as Json, json};

use crate::api::names;

const NAME: &str = "groma-approvals";

/// The policy, and that it holds everywhere.
pub(super) fn objects() -> Vec<Json> {
    let metadata = json!({"name": NAME, "labels": {"app.kubernetes.io/name": "groma"}});
    let now = |name: &str| format!("object.metadata.?annotations[?'{name}'].orValue('')");
    let before =
        |name: &str| format!("oldObject == null ? '' : oldObject.metadata.?annotations[?'{name}'].orValue('')");
    let variable = |name: &str, expression: String| json!({"name": name, "expression": expression});
    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": metadata,
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [{
                "apiGroups": ["groma.dev"],
                "apiVersions": ["v1alpha1"],
                "operations": ["CREATE", "UPDATE"],
                "resources": ["stacks", "runs"],
            }]},
            "variables": [
                variable("approve", now(names::APPROVE)),
                variable("approvedBy", now(names::APPROVED_BY)),
                variable("approveBefore", before(names::APPROVE)),
                variable("approvedByBefore", before(names::APPROVED_BY)),
            ],
            "validations": [{
                "expression": "variables.approve == '' \
                    || (variables.approve == variables.approveBefore && variables.approvedBy == variables.approvedByBefore) \
                    || variables.approvedBy == request.userInfo.username",
                "messageExpression": format!(
                    "'who agrees to a plan must say who they are: the annotation {} must be ' + request.userInfo.username",
                    names::APPROVED_BY,
                ),
                "reason": "Forbidden",
            }],
        },
    });
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": metadata,
        "spec": {"policyName": NAME, "validationActions": ["Deny"]},
    });
    vec![policy, binding]
}
