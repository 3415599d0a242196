//! After a run: outputs are written to where they are wanted, and what must answer is asked.

use std::collections::BTreeMap;

use base64::Engine as _;
use groma_network::Networks;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{DynamicObject, ObjectMeta};
use serde_json::{Value as Json, json};

use crate::api::names;
use crate::api::run::{Action, FailureKind};
use crate::api::stack::{OutputTarget, Stack};
use crate::objects::{Kind, Place, Store, StoreError, controller, holder, owned_by};
use crate::outputs;
use crate::runs::health;
use crate::work::{Output, Problem};

/// Writes outputs, and looks whether all is well.
pub(super) async fn verify(
    store: &dyn Store,
    stack: &Stack,
    action: Action,
    outputs: &[Output],
    networks: Option<&Networks>,
) -> Result<(), Problem> {
    // They go with the Stack.
    if stack.metadata.deletion_timestamp.is_some() {
        return Ok(());
    }
    let wanted = &stack.spec.outputs;
    let targets = [
        (&wanted.secret, Kind::secret(), "spec.outputs.secret"),
        (&wanted.config_map, Kind::config_map(), "spec.outputs.configMap"),
    ];
    for (target, kind, field) in targets {
        let Some(target) = target else { continue };
        if action == Action::Destroy {
            let (target, outputs) = still_there(target, outputs);
            write_outputs(store, stack, &target, outputs, &kind, field).await?;
        } else {
            write_outputs(store, stack, target, outputs, &kind, field).await?;
        }
    }
    // What was taken down answers no more.
    if action == Action::Destroy {
        return Ok(());
    }
    health::check(&stack.spec.health_checks, outputs, networks).await
}

/// What is to be written of outputs of which most are gone. Nobody misses those.
fn still_there<'o>(target: &OutputTarget, outputs: &'o [Output]) -> (OutputTarget, &'o [Output]) {
    let is_there = |text: &String| {
        let name = text.split_once(':').map_or(text.as_str(), |(name, _)| name);
        outputs.iter().any(|output| output.name == name)
    };
    let mut left = target.clone();
    left.select.retain(is_there);
    // Where nothing is selected everything is written.
    let is_nothing = left.select.is_empty() && !target.select.is_empty();
    (left, if is_nothing { &[] } else { outputs })
}

async fn write_outputs(
    store: &dyn Store,
    stack: &Stack,
    target: &OutputTarget,
    outputs: &[Output],
    kind: &Kind,
    field: &str,
) -> Result<(), Problem> {
    let is_secret = kind.kind == "Secret";
    let data = outputs::data(field, target, outputs, is_secret).map_err(|problems| {
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Problem { kind: FailureKind::Invalid, message: told.join("\n") }
    })?;
    let failed = |problem: StoreError| Problem {
        kind: if problem.is_passing() { FailureKind::Transient } else { FailureKind::Invalid },
        message: format!("{field}: {problem}"),
    };
    let encode = |text: &String| base64::engine::general_purpose::STANDARD.encode(text);
    let data: BTreeMap<&String, Json> =
        data.iter().map(|(key, text)| (key, if is_secret { json!(encode(text)) } else { json!(text) })).collect();
    let mut object = wanted_object(stack, target, kind, json!(data));
    if is_secret {
        let sensitive = outputs::sensitive_keys(target, outputs).join(",");
        object.metadata.annotations.get_or_insert_default().insert(names::SENSITIVE_KEYS.to_owned(), sensitive);
    }
    let place = Place::of(kind, &object);
    let Some(known) = store.get(&place).await.map_err(failed)? else {
        return store.create(kind, &object).await.map(|_| ()).map_err(failed);
    };
    if !is_ours(&known, stack) {
        let message = format!("{field}: {place} is there already, and is not ours; nothing was written to it");
        return Err(Problem { kind: FailureKind::Invalid, message });
    }
    let mut next = object;
    next.metadata.resource_version.clone_from(&known.metadata.resource_version);
    let same = known.data.get("data") == next.data.get("data")
        && known.metadata.labels == next.metadata.labels
        && known.metadata.annotations == next.metadata.annotations
        && known.metadata.owner_references == next.metadata.owner_references;
    if same {
        return Ok(());
    }
    store.replace(kind, &next).await.map(|_| ()).map_err(failed)
}

fn wanted_object(stack: &Stack, target: &OutputTarget, kind: &Kind, data: Json) -> DynamicObject {
    let mut labels = target.labels.clone();
    labels.insert(names::STACK.to_owned(), stack.metadata.name.clone().unwrap_or_default());
    let metadata = ObjectMeta {
        name: Some(target.name.clone()),
        namespace: stack.metadata.namespace.clone(),
        labels: Some(labels),
        annotations: (!target.annotations.is_empty()).then(|| target.annotations.clone()),
        owner_references: Some(vec![owner(stack)]),
        ..ObjectMeta::default()
    };
    let content =
        if kind.kind == "Secret" { json!({ "type": "Opaque", "data": data }) } else { json!({ "data": data }) };
    holder(kind, metadata, content)
}

/// Who outputs belong to: the Stack, or the object that it was made for. People know only the latter.
fn owner(stack: &Stack) -> OwnerReference {
    controller(&stack.metadata).cloned().unwrap_or_else(|| owned_by(stack))
}

/// Nothing is written to what somebody else has made.
fn is_ours(object: &DynamicObject, stack: &Stack) -> bool {
    let ours = [stack.metadata.uid.as_ref(), controller(&stack.metadata).map(|owner| &owner.uid)];
    object.metadata.owner_references.iter().flatten().any(|owner| ours.contains(&Some(&owner.uid)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::api::shared::Moment;
    use crate::objects::memory::Memory;

    fn stack(controller: bool) -> Stack {
        let owner = json!([{"apiVersion": "a.dev/v1", "kind": "Thing", "name": "a", "uid": "of-the-object", "controller": true}]);
        serde_json::from_value(json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Stack",
            "metadata": {
                "name": "thing-a", "namespace": "team", "uid": "of-the-stack",
                "ownerReferences": if controller { owner } else { json!([]) },
            },
            "spec": {"source": {"inline": {}}, "outputs": {"secret": {"name": "a-outputs"}}},
        }))
        .unwrap()
    }

    fn memory() -> Memory {
        let store = Memory::new(Arc::new(|| Moment(jiff::Timestamp::UNIX_EPOCH)));
        // Nobody in this memory has these uids, so what they own would be cleared away.
        for (name, uid) in [("one", "of-the-stack"), ("other", "of-the-object")] {
            store.plant(Place::new(Kind::config_map(), "team", name), uid);
        }
        store
    }

    async fn owner_after(store: &Memory, stack: &Stack) -> Result<String, Problem> {
        let target = stack.spec.outputs.secret.clone().unwrap();
        write_outputs(store, stack, &target, &[], &Kind::secret(), "spec.outputs.secret").await?;
        let secret = store.get(&Place::new(Kind::secret(), "team", "a-outputs")).await.unwrap().unwrap();
        Ok(secret.metadata.owner_references.unwrap()[0].uid.clone())
    }

    #[tokio::test]
    async fn outputs_belong_to_the_object_that_a_stack_was_made_for() {
        let store = memory();
        assert_eq!(owner_after(&store, &stack(false)).await, Ok("of-the-stack".to_owned()));
        assert_eq!(owner_after(&store, &stack(true)).await, Ok("of-the-object".to_owned()));
        let mut other = stack(true);
        other.metadata.uid = Some("of-another".to_owned());
        other.metadata.owner_references = None;
        let refused = owner_after(&store, &other).await.unwrap_err();
        assert!(refused.message.contains("is there already, and is not ours"), "{}", refused.message);
    }
    #[tokio::test]
    async fn nobody_misses_outputs_of_what_was_taken_down() {
        let store = memory();
        let mut stack = stack(false);
        stack.spec.outputs.secret.as_mut().unwrap().select = vec!["url:address".to_owned(), "token".to_owned()];
        let output =
            |name: &str| Output { name: name.to_owned(), value: json!("x"), ty: json!("string"), sensitive: false };
        let written = async |action: Action, outputs: &[Output]| {
            verify(&store, &stack, action, outputs, None).await?;
            let secret = store.get(&Place::new(Kind::secret(), "team", "a-outputs")).await.unwrap().unwrap();
            Ok::<_, Problem>(secret.data["data"].as_object().unwrap().keys().cloned().collect::<Vec<_>>())
        };
        let all = [output("url"), output("token"), output("other")];
        assert_eq!(written(Action::Apply, &all).await, Ok(vec!["address".to_owned(), "token".to_owned()]));
        assert_eq!(written(Action::Destroy, &all[1..]).await, Ok(vec!["token".to_owned()]));
        assert_eq!(written(Action::Destroy, &all[2..]).await, Ok(Vec::new()));
        assert_eq!(written(Action::Destroy, &[]).await, Ok(Vec::new()));
        let missed = written(Action::Apply, &[]).await.unwrap_err();
        assert!(missed.message.contains("there is no output \"url\""), "{}", missed.message);
    }
}
