//! What the Job of a Run looks like, and what it says when it fails.

use kube::api::{DynamicObject, ObjectMeta};
use serde_json::{Map, Value as Json, json};
use sha2::{Digest as _, Sha256};

use super::{ACCOUNT, Settings};
use crate::api::names;
use crate::api::run::{Action, Run};
use crate::api::shared::Moment;
use crate::api::stack::Stack;
use crate::objects::cluster::shortened;
use crate::objects::{Kind, controller, holder, owned_by};

/// How long a Job is kept that is over.
const KEPT_SECONDS: u64 = 3600;
/// How long the work may go on after it was asked to end.
const GRACE_SECONDS: u64 = 300;
/// No name of a Job is longer: its pods have it as a label.
const MOST_CHARACTERS: usize = 63;
/// How many characters tell two Jobs apart whose names would be cut to the same.
const MARK_CHARACTERS: usize = 6;
/// The container that works.
const CONTAINER: &str = "terraform";

/// The Job of a Run.
pub(super) fn job(run: &Run, stack: &Stack, settings: &Settings, now: Moment) -> DynamicObject {
    let name = name(run, stack, now);
    let limits = &run.spec.limits;
    let seconds = limits.init.0.as_secs() + limits.plan.0.as_secs() + limits.apply.0.as_secs() + GRACE_SECONDS + 600;
    let mut labels = stack.metadata.labels.clone().unwrap_or_default();
    labels.insert("app".to_owned(), "terraform".to_owned());
    labels.insert("action".to_owned(), action(run).to_owned());
    labels.insert(names::STACK.to_owned(), run.spec.stack.clone());
    labels.insert(names::RUN.to_owned(), run.metadata.name.clone().unwrap_or_default());
    let template = stack.spec.pod_template.clone().unwrap_or_default();
    let mut of_pod = labels.clone();
    of_pod.extend(template.labels.clone());
    let mut pod = pod(run, stack, &name, template.image.as_deref().unwrap_or(&settings.image));
    if let Some(variables) = pod["containers"][0]["env"].as_array_mut() {
        let parent = run.metadata.annotations.as_ref().and_then(|all| all.get(names::TRACEPARENT));
        let parent = parent.map(|parent| ("TRACEPARENT", parent));
        let all = settings.environment.iter().map(|(name, value)| (name.as_str(), value)).chain(parent);
        variables.extend(all.map(|(name, value)| json!({"name": name, "value": value})));
    }
    if let Some(more) = &template.spec {
        merge(&mut pod, &more.0);
    }
    let spec = json!({
        "backoffLimit": 0,
        "ttlSecondsAfterFinished": KEPT_SECONDS,
        "activeDeadlineSeconds": seconds,
        "template": {"metadata": {"labels": of_pod, "annotations": template.annotations}, "spec": pod},
    });
    let metadata = ObjectMeta {
        name: Some(name),
        namespace: run.metadata.namespace.clone(),
        labels: Some(labels),
        owner_references: Some(vec![owned_by(run)]),
        ..ObjectMeta::default()
    };
    holder(&Kind::job(), metadata, json!({ "spec": spec }))
}

fn action(run: &Run) -> &'static str {
    match run.spec.action {
        Action::Plan => "plan",
        Action::Apply => "apply",
        Action::Destroy => "destroy",
    }
}

/// `terraform-apply-sample-20260102-030405`, for the object that the Stack was made for, if it was made for one.
fn name(run: &Run, stack: &Stack, now: Moment) -> String {
    let action = action(run);
    let of = controller(&stack.metadata).map_or(run.spec.stack.as_str(), |owner| owner.name.as_str());
    let time = now.0.strftime("%Y%m%d-%H%M%S").to_string();
    let room = MOST_CHARACTERS - "terraform---".len() - action.len() - time.len();
    if of.len() <= room {
        return format!("terraform-{action}-{of}-{time}");
    }
    // What begins in the same way is told apart by its run.
    let mark = hex::encode(Sha256::digest(run.metadata.name.as_deref().unwrap_or_default().as_bytes()));
    let of: String = of.chars().take(room - 1 - MARK_CHARACTERS).collect();
    format!("terraform-{action}-{}-{}-{time}", of.trim_end_matches(['-', '.']), &mark[..MARK_CHARACTERS])
}

fn pod(run: &Run, stack: &Stack, job: &str, image: &str) -> Json {
    let namespace = run.metadata.namespace.clone().unwrap_or_default();
    let run = run.metadata.name.clone().unwrap_or_default();
    json!({
        "serviceAccountName": stack.spec.service_account_name.as_deref().unwrap_or(ACCOUNT),
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": GRACE_SECONDS,
        "securityContext": {
            "runAsNonRoot": true,
            "runAsUser": 65532,
            "runAsGroup": 65532,
            "fsGroup": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [{
            "name": CONTAINER,
            "image": image,
            "args": ["operator", "execute", "-namespace", namespace, "-run", run, "-job", job],
            "env": [
                {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {"name": "HOME", "value": "/work"},
                {"name": "TMPDIR", "value": "/work"},
            ],
            "workingDir": "/work",
            "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
            "volumeMounts": [{"name": "work", "mountPath": "/work"}],
        }],
        "volumes": [{"name": "work", "emptyDir": {}}],
    })
}

/// Puts what somebody wants into what is there: fields of objects one by one, elements of lists by their names.
fn merge(into: &mut Json, more: &Json) {
    match (into, more) {
        (Json::Object(into), Json::Object(more)) => {
            for (name, value) in more {
                merge_field(into, name, value);
            }
        }
        (Json::Array(into), Json::Array(more)) if more.iter().all(|one| one["name"].is_string()) => {
            for one in more {
                match into.iter_mut().find(|known| known["name"] == one["name"]) {
                    Some(known) => merge(known, one),
                    None => into.push(one.clone()),
                }
            }
        }
        (into, more) => into.clone_from(more),
    }
}

fn merge_field(into: &mut Map<String, Json>, name: &str, value: &Json) {
    match into.get_mut(name) {
        Some(_) if value.is_null() => {
            into.remove(name);
        }
        Some(known) => merge(known, value),
        None => {
            into.insert(name.to_owned(), value.clone());
        }
    }
}

/// Why a Job failed, as far as it says.
pub(super) fn why_it_ended(job: &DynamicObject) -> String {
    let conditions = job.data["status"]["conditions"].as_array();
    let failed = conditions.into_iter().flatten().find(|known| known["type"] == "Failed");
    let text = |field: &str| failed.and_then(|known| known[field].as_str()).filter(|text| !text.is_empty());
    text("message").or_else(|| text("reason")).unwrap_or("nobody says why").to_owned()
}

/// Why a pod does not begin, if it says so: `ErrImagePull: no such image`.
pub(super) fn why_it_waits(pod: &DynamicObject) -> Option<String> {
    let mut containers = pod.data["status"]["containerStatuses"].as_array().into_iter().flatten();
    let waiting = containers.find_map(|container| container["state"]["waiting"].as_object());
    let conditions = pod.data["status"]["conditions"].as_array().into_iter().flatten();
    let refused = conditions.filter(|known| known["status"] == "False").find_map(Json::as_object);
    let told = waiting.or(refused)?;
    let text = |field: &str| told.get(field).and_then(Json::as_str).unwrap_or_default();
    Some(format!("{}: {}", text("reason"), text("message")))
}

/// Why a pod is not at work any more, if it says so: `OOMKilled`, `Evicted: The node was low on resource: memory.`
pub(super) fn why_it_died(pod: &DynamicObject) -> Option<String> {
    let status = &pod.data["status"];
    let mut containers = status["containerStatuses"].as_array().into_iter().flatten();
    let ended = containers.find_map(|container| container["state"]["terminated"].as_object());
    let of_container = ended.filter(|ended| ended.get("exitCode").and_then(Json::as_i64) != Some(0));
    let told = status["reason"].as_str().and(status.as_object()).or(of_container)?;
    let text = |field: &str| told.get(field).and_then(Json::as_str).unwrap_or_default();
    match (text("reason"), text("message")) {
        ("", _) => None,
        (reason, "") => Some(reason.to_owned()),
        (reason, message) => Some(format!("{reason}: {}", shortened(message, 300))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::in_process::Room;

    fn made(spec: Json) -> DynamicObject {
        let mut stack = Stack::new("app", serde_json::from_value(spec).unwrap());
        stack.metadata.labels = Some([("team".to_owned(), "a".to_owned())].into());
        let run: Run = serde_json::from_value(json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Run", "metadata": {"name": "app-1", "namespace": "ns"},
            "spec": {
                "stack": "app", "number": 1, "action": "apply", "bundle": "b", "about": {}, "engine": "native", "executor": "job",
                "approval": {"mode": "auto"}, "limits": {"init": "1m", "plan": "1m", "apply": "1m"},
            },
        }))
        .unwrap();
        let settings = Settings {
            image: "groma:1".to_owned(),
            room: Room { most: 1, most_each: 1 },
            environment: [("OTEL_SERVICE_NAME".to_owned(), "runs".to_owned())].into(),
        };
        job(&run, &stack, &settings, Moment("2026-01-02T03:04:05Z".parse().unwrap()))
    }

    #[test]
    fn a_job_has_the_names_that_people_look_for() {
        let job = made(json!({"source": {"inline": {}}}));
        assert_eq!(job.metadata.name.as_deref(), Some("terraform-apply-app-20260102-030405"));
        let labels = job.metadata.labels.unwrap();
        let expected = ("terraform", "apply", "a");
        assert_eq!((labels["app"].as_str(), labels["action"].as_str(), labels["team"].as_str()), expected);
        assert_eq!(job.data["spec"]["template"]["spec"]["serviceAccountName"], "terraform-executor");
    }

    #[test]
    fn names_that_are_cut_are_told_apart() {
        let name_of = |stack: &str, run: &str| {
            let mut of = Stack::new(stack, serde_json::from_value(json!({"source": {"inline": {}}})).unwrap());
            of.metadata.namespace = Some("ns".to_owned());
            let run = serde_json::from_value(json!({
                "apiVersion": "groma.dev/v1alpha1", "kind": "Run", "metadata": {"name": run, "namespace": "ns"},
                "spec": {
                    "stack": stack, "number": 1, "action": "destroy", "bundle": "b", "about": {}, "engine": "native", "executor": "job",
                    "approval": {"mode": "auto"}, "limits": {"init": "1m", "plan": "1m", "apply": "1m"},
                },
            }));
            name(&run.unwrap(), &of, Moment("2026-01-02T03:04:05Z".parse().unwrap()))
        };
        let long = "a".repeat(40);
        let (one, other) = (format!("{long}-one"), format!("{long}-two"));
        let names = [name_of(&one, &format!("{one}-1")), name_of(&other, &format!("{other}-1"))];
        assert_ne!(names[0], names[1]);
        assert!(
            names.iter().all(|name| name.len() <= MOST_CHARACTERS && name.ends_with("-20260102-030405")),
            "{names:?}"
        );
    }

    #[test]
    fn a_pod_says_why_it_died() {
        let pod = |status: Json| holder(&Kind::core("Pod", "pods"), ObjectMeta::default(), json!({"status": status}));
        let ended = |reason: &str, code: i64| json!({"containerStatuses": [{"state": {"terminated": {"reason": reason, "exitCode": code}}}]});
        assert_eq!(why_it_died(&pod(ended("OOMKilled", 137))).as_deref(), Some("OOMKilled"));
        assert_eq!(why_it_died(&pod(ended("Completed", 0))), None);
        let evicted = json!({"reason": "Evicted", "message": "The node was low on resource: memory."});
        assert_eq!(why_it_died(&pod(evicted)).as_deref(), Some("Evicted: The node was low on resource: memory."));
        assert_eq!(why_it_died(&pod(json!({"phase": "Running"}))), None);
    }

    #[test]
    fn a_pod_is_as_people_want_it() {
        let job = made(json!({
            "source": {"inline": {}},
            "podTemplate": {
                "image": "mine:2",
                "spec": {
                    "nodeSelector": {"disk": "fast"},
                    "containers": [{"name": "terraform", "env": [{"name": "A", "value": "b"}]}, {"name": "beside", "image": "x"}],
                    "volumes": [{"name": "more", "emptyDir": {}}],
                    "securityContext": {"runAsUser": 0},
                },
            },
        }));
        let pod = &job.data["spec"]["template"]["spec"];
        assert_eq!(pod["containers"][0]["image"], "mine:2");
        assert_eq!(pod["containers"][0]["env"].as_array().unwrap().len(), 5);
        assert_eq!(pod["containers"][1]["name"], "beside");
        assert_eq!((pod["volumes"].as_array().unwrap().len(), &pod["securityContext"]["runAsUser"]), (2, &json!(0)));
        assert_eq!(pod["nodeSelector"]["disk"], "fast");
    }
}
