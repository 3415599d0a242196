//! What pods of runs are like, from `runnerPodTemplate`: variables of the environment go into the run wherever it is, everything else into the pod
//! of a Job.

use serde_json::{Map, Value as Json, json};

use super::Translating;
use crate::api::shared::{AnyValue, HolderKind, KeyRef};
use crate::api::stack::{EnvVar, Executor, Inputs, PodTemplate, ValueFrom, VarsFrom};

/// The container that runs are in.
const CONTAINER: &str = "terraform";
/// Fields that belong to it, and not to the pod.
const OF_CONTAINER: [&str; 3] = ["resources", "securityContext", "volumeMounts"];
/// Fields of the pod.
const OF_POD: [&str; 7] =
    ["affinity", "hostAliases", "initContainers", "nodeSelector", "priorityClassName", "tolerations", "volumes"];
/// Images of tofu-controller have this in their names, and nothing of ours in them.
const THEIR_IMAGE: &str = "tf-runner";

/// Where runs are, and what their pods are like.
pub(super) struct Pods {
    pub(super) executor: Option<Executor>,
    pub(super) template: Option<PodTemplate>,
}

impl Translating<'_> {
    pub(super) fn pods(&mut self, inputs: &mut Inputs) -> Pods {
        let given = self.spec.runner_pod_template.clone().unwrap_or_default();
        let metadata = given.metadata.unwrap_or_default();
        let spec = given.spec.and_then(|spec| spec.0.as_object().cloned()).unwrap_or_default();
        self.environment(&spec, inputs);
        let image = self.image(&spec);
        let mut pod = Map::new();
        let mut container = Map::new();
        for (name, value) in &spec {
            match name.as_str() {
                "env" | "envFrom" | "image" => {}
                name if OF_CONTAINER.contains(&name) => drop(container.insert(name.to_owned(), value.clone())),
                name if OF_POD.contains(&name) => drop(pod.insert(name.to_owned(), value.clone())),
                name => self.lacks(format!("spec.runnerPodTemplate.spec.{name}"), "groma does not know this field"),
            }
        }
        if let Some(seconds) = self.spec.runner_termination_grace_period_seconds {
            pod.insert("terminationGracePeriodSeconds".to_owned(), json!(seconds));
        }
        if !container.is_empty() {
            container.insert("name".to_owned(), json!(CONTAINER));
            pod.insert("containers".to_owned(), json!([container]));
        }
        let has_pod =
            !pod.is_empty() || image.is_some() || !metadata.labels.is_empty() || !metadata.annotations.is_empty();
        let template = has_pod.then(|| PodTemplate {
            labels: metadata.labels,
            annotations: metadata.annotations,
            image,
            spec: (!pod.is_empty()).then_some(AnyValue(Json::Object(pod))),
        });
        // Who says what pods are like, or with which account they run, wants pods.
        let wants_pods = template.is_some() || self.spec.service_account_name.is_some();
        Pods { executor: wants_pods.then_some(Executor::Job), template }
    }

    fn image(&mut self, spec: &Map<String, Json>) -> Option<String> {
        let image = spec.get("image").and_then(Json::as_str).filter(|image| !image.is_empty())?;
        if image.contains(THEIR_IMAGE) {
            self.lacks(
                "spec.runnerPodTemplate.spec.image",
                format!("{image:?} is an image of tofu-controller; runs use that of the operator"),
            );
            return None;
        }
        Some(image.to_owned())
    }

    fn environment(&mut self, spec: &Map<String, Json>, inputs: &mut Inputs) {
        let list = |name: &str| spec.get(name).and_then(Json::as_array).cloned().unwrap_or_default();
        for (at, from) in list("envFrom").iter().enumerate() {
            let field = format!("spec.runnerPodTemplate.spec.envFrom[{at}]");
            if from.get("prefix").and_then(Json::as_str).is_some_and(|prefix| !prefix.is_empty()) {
                self.lacks(format!("{field}.prefix"), "variables are called as their keys are");
                continue;
            }
            let found = [("secretRef", HolderKind::Secret), ("configMapRef", HolderKind::ConfigMap)]
                .into_iter()
                .find_map(|(word, kind)| Some((kind, from.get(word)?)));
            match found {
                Some((kind, reference)) => {
                    let name = text(reference, "name");
                    inputs.env_from.push(VarsFrom {
                        kind,
                        name,
                        keys: Vec::new(),
                        optional: flag(reference, "optional"),
                    });
                }
                None => self.wrong(field, "give secretRef or configMapRef"),
            }
        }
        for (at, variable) in list("env").iter().enumerate() {
            let field = format!("spec.runnerPodTemplate.spec.env[{at}]");
            let name = text(variable, "name");
            match variable.get("valueFrom").filter(|from| !from.is_null()) {
                None => inputs.env.push(EnvVar {
                    name,
                    value: Some(text(variable, "value")),
                    value_from: None,
                    phases: Vec::new(),
                }),
                Some(from) => match value_from(from) {
                    Some(from) => {
                        inputs.env.push(EnvVar { name, value: None, value_from: Some(from), phases: Vec::new() });
                    }
                    None => self.lacks(
                        format!("{field}.valueFrom"),
                        format!("only secretKeyRef and configMapKeyRef are known; the variable {name:?} is not set"),
                    ),
                },
            }
        }
    }
}

fn value_from(from: &Json) -> Option<ValueFrom> {
    let key = |name: &str| {
        let given = from.get(name)?;
        Some(KeyRef { name: text(given, "name"), key: text(given, "key"), optional: flag(given, "optional") })
    };
    let value = ValueFrom { secret_key_ref: key("secretKeyRef"), config_map_key_ref: key("configMapKeyRef") };
    (value.secret_key_ref.is_some() != value.config_map_key_ref.is_some()).then_some(value)
}

fn text(from: &Json, name: &str) -> String {
    from.get(name).and_then(Json::as_str).unwrap_or_default().to_owned()
}

fn flag(from: &Json, name: &str) -> bool {
    from.get(name).and_then(Json::as_bool).unwrap_or_default()
}
