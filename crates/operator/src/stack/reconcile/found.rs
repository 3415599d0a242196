//! Everything that a Stack depends on, as it is found.

use std::collections::BTreeMap;

use kube::api::{DynamicObject, ObjectMeta};
use serde_json::json;

use super::{Found, ReconcileError, Reconciler, SALT};
use crate::api::names;
use crate::api::run::{Phase, Run};
use crate::api::shared::{HolderKind, ObjectRef, Truth};
use crate::api::stack::Stack;
use crate::bundle::Bundle;
use crate::inputs::{self, HolderRef, Holders};
use crate::objects::{Kind, Place, StoreError, data_of, find, find_all, holder};
use crate::stack::wanted::Referred;

impl Reconciler {
    /// Everything that a Stack refers to.
    pub(super) async fn dereference(&self, stack: Stack) -> Result<Found, ReconcileError> {
        let namespace = stack.metadata.namespace.clone().unwrap_or_default();
        let name = stack.metadata.name.clone().unwrap_or_default();
        let mut holders = Holders::new();
        for reference in inputs::references(&stack.spec) {
            if let Some(data) = self.holder(&namespace, &reference).await? {
                holders.insert(reference, data);
            }
        }
        let is_deleted = stack.metadata.deletion_timestamp.is_some();
        let salt = self.salt(&namespace, is_deleted).await?;
        let mut runs: Vec<Run> = find_all(&*self.store, Some(&namespace), &[(names::STACK, &name)]).await?;
        runs.retain(|run| belongs_to(run, &stack));
        runs.sort_by_key(|run| run.spec.number);
        let waiting_for = if is_deleted { Vec::new() } else { self.unready_dependencies(&stack, &namespace).await? };
        let needed_by = if is_deleted { self.dependants(&namespace, &name).await? } else { Vec::new() };
        let previewed = match &stack.spec.preview_of {
            Some(of) => find::<Stack>(&*self.store, &namespace, of).await?.map(|stack| Box::new(stack.spec)),
            None => None,
        };
        let is_forgotten = is_deleted && runs.is_empty();
        let kept_bundle = if is_forgotten { self.kept_bundle(&stack, &namespace, &name).await? } else { None };
        Ok(Found {
            stack,
            referred: Referred { holders, salt, source: None, previewed },
            runs,
            waiting_for,
            needed_by,
            kept_bundle,
        })
    }

    /// The bundle of a run that may have made something, although its Run is gone: when a namespace is deleted, its Runs go first.
    async fn kept_bundle(&self, stack: &Stack, namespace: &str, name: &str) -> Result<Option<String>, StoreError> {
        let status = stack.status.clone().unwrap_or_default();
        let mut kept = self.store.list(&Kind::secret(), Some(namespace), &[(names::KEPT_FOR, name)]).await?;
        let has_made = if self.keeps_state_here(stack) {
            kept.iter().any(tells_of_something_made)
        } else {
            status.last_run.is_some_and(|last| last.phase == Phase::Applying || last.phase.is_over())
        };
        if status.applied.is_some() || !has_made {
            return Ok(None);
        }
        let is_bundle = |secret: &DynamicObject| {
            let labels = secret.metadata.labels.as_ref();
            labels.and_then(|labels| labels.get("groma.dev/blob")).is_some_and(|what| what == "bundle")
        };
        kept.retain(|secret| is_bundle(secret) && data_of(secret).contains_key("parts"));
        let newest = kept.into_iter().max_by_key(|secret| secret.metadata.creation_timestamp.clone());
        Ok(newest.and_then(|secret| secret.metadata.name))
    }

    async fn holder(
        &self,
        namespace: &str,
        reference: &HolderRef,
    ) -> Result<Option<BTreeMap<String, Vec<u8>>>, StoreError> {
        let kind = match reference.kind {
            HolderKind::Secret => Kind::secret(),
            HolderKind::ConfigMap => Kind::config_map(),
        };
        let found = self.store.get(&Place::new(kind, namespace, &reference.name)).await?;
        Ok(found.as_ref().map(data_of))
    }

    /// The salt of a namespace, made if there is none. In a namespace that goes away nothing can be made, and nothing is hidden any more.
    async fn salt(&self, namespace: &str, is_deleted: bool) -> Result<Vec<u8>, ReconcileError> {
        let place = Place::new(Kind::secret(), namespace, SALT);
        for _ in 0..3 {
            if let Some(found) = self.store.get(&place).await? {
                return Ok(data_of(&found).remove("salt").unwrap_or_default());
            }
            if is_deleted {
                break;
            }
            let mut bytes = [0; 32];
            getrandom::fill(&mut bytes).map_err(|problem| ReconcileError::Randomness(problem.to_string()))?;
            let metadata = ObjectMeta {
                name: Some(SALT.to_owned()),
                namespace: Some(namespace.to_owned()),
                ..ObjectMeta::default()
            };
            let content = json!({ "immutable": true, "data": { "salt": encode(&bytes) } });
            match self.store.create(&place.kind, &holder(&place.kind, metadata, content)).await {
                Ok(_) | Err(StoreError::Exists(_)) => {}
                Err(problem) => return Err(problem.into()),
            }
        }
        Ok(Vec::new())
    }

    /// Which of the Stacks that it needs are not ready, and why.
    async fn unready_dependencies(&self, stack: &Stack, namespace: &str) -> Result<Vec<String>, StoreError> {
        let mut unready = Vec::new();
        for needed in &stack.spec.depends_on {
            let other = needed.namespace.as_deref().unwrap_or(namespace);
            let shown = format!("{other}/{}", needed.name);
            if other != namespace && !self.settings.across_namespaces {
                unready.push(format!("{shown} (it is in another namespace, which is not allowed)"));
                continue;
            }
            match find::<Stack>(&*self.store, other, &needed.name).await? {
                None => unready.push(format!("{shown} (it is not there)")),
                Some(found) if !is_ready(&found) => unready.push(format!("{shown} (it is not ready)")),
                Some(_) => {}
            }
        }
        Ok(unready)
    }

    /// Stacks that need this one. Nothing is written on either: who is there is asked.
    async fn dependants(&self, namespace: &str, name: &str) -> Result<Vec<ObjectRef>, StoreError> {
        let across = self.settings.across_namespaces;
        let all = find_all::<Stack>(&*self.store, (!across).then_some(namespace), &[]).await?;
        let needs = |stack: &&Stack| {
            let own = stack.metadata.namespace.as_deref().unwrap_or_default();
            stack
                .spec
                .depends_on
                .iter()
                .any(|needed| needed.name == name && needed.namespace.as_deref().unwrap_or(own) == namespace)
        };
        let found = all.iter().filter(needs).map(|stack| ObjectRef {
            name: stack.metadata.name.clone().unwrap_or_default(),
            namespace: stack.metadata.namespace.clone(),
        });
        Ok(found.collect())
    }

    /// Objects that outputs were written to, and that somebody has taken away.
    pub(super) async fn outputs_gone(&self, stack: &Stack) -> Result<Vec<String>, StoreError> {
        let status = stack.status.clone().unwrap_or_default();
        // What failed is tried again in any case, and what was taken down has none.
        let is_settled = status.applied.is_some() && status.failures.is_none();
        // Who only plans writes none, whatever was written before.
        let is_plan = stack.spec.plan_only || stack.spec.preview_of.is_some();
        if !is_settled || is_plan || stack.metadata.deletion_timestamp.is_some() {
            return Ok(Vec::new());
        }
        let wanted = &stack.spec.outputs;
        let targets = [(Kind::secret(), &wanted.secret), (Kind::config_map(), &wanted.config_map)];
        let mut gone = Vec::new();
        for (kind, target) in targets.into_iter().filter_map(|(kind, target)| Some((kind, target.as_ref()?))) {
            let namespace = stack.metadata.namespace.as_deref().unwrap_or_default();
            let place = Place::new(kind, namespace, &target.name);
            if self.store.get(&place).await?.is_none() {
                gone.push(format!("{} {}", place.kind.kind, place.name));
            }
        }
        Ok(gone)
    }

    /// Which keys have other values than in the last run. Asked only if something has.
    pub(super) async fn changed_keys(&self, found: &Found, bundle: &Bundle) -> Result<Vec<String>, ReconcileError> {
        let Some(last) = found.runs.last() else { return Ok(Vec::new()) };
        if last.spec.about.inputs_hash == inputs::inputs_hash(&bundle.inputs, &found.referred.salt) {
            return Ok(Vec::new());
        }
        let before = Self::blob(found, &last.spec.bundle).load(&*self.store).await?;
        let before = before.and_then(|bytes| Bundle::decode(&bytes).ok());
        Ok(before.map(|before| inputs::changed_keys(&before.inputs, &bundle.inputs)).unwrap_or_default())
    }
}

/// Whether a Secret is a state with something in it, or the journal of a run that has begun to make something.
fn tells_of_something_made(secret: &DynamicObject) -> bool {
    let has = |label: &str| secret.metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(label));
    has("groma.dev/journal") || (has("tfstate") && !data_of(secret).is_empty())
}

/// Runs of an earlier Stack of the same name are none of this one.
fn belongs_to(run: &Run, stack: &Stack) -> bool {
    let owners = run.metadata.owner_references.iter().flatten();
    owners.clone().count() == 0 || owners.clone().any(|owner| Some(&owner.uid) == stack.metadata.uid.as_ref())
}

fn is_ready(stack: &Stack) -> bool {
    let Some(status) = &stack.status else { return false };
    status.observed_generation == stack.metadata.generation
        && status.conditions.iter().any(|known| known.kind == "Ready" && known.status == Truth::True)
}

fn encode(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::Settings;
    use super::*;
    use crate::api::shared::Moment;
    use crate::api::stack::Executor;
    use crate::objects::Store as _;
    use crate::objects::memory::Memory;
    use crate::runs::looks::Blind;
    use crate::stack::wanted::StateHome;

    fn reconciler(store: &Memory) -> Reconciler {
        let settings = Settings {
            executor: Executor::InProcess,
            home: StateHome { kind: "kubernetes".to_owned(), directory: None },
            across_namespaces: false,
        };
        Reconciler::new(Arc::new(store.clone()), settings, Arc::new(Blind))
    }

    fn stack(name: &str, more: serde_json::Value) -> Stack {
        let mut spec = json!({"source": {"inline": {}}, "outputs": {"secret": {"name": "out"}}});
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "metadata": {"name": name, "namespace": "team"}, "spec": spec,
            "status": {"applied": {"run": "app-1", "about": {}, "bundle": "b", "at": "2026-01-01T00:00:00Z"}},
        }))
        .unwrap()
    }

    #[tokio::test]
    async fn who_only_plans_misses_no_outputs() {
        let store = Memory::new(Arc::new(|| Moment(jiff::Timestamp::UNIX_EPOCH)));
        let reconciler = reconciler(&store);
        for (more, gone) in [
            (json!({}), vec!["Secret out"]),
            (json!({"planOnly": true}), vec![]),
            (json!({"planOnly": true, "previewOf": "other"}), vec![]),
        ] {
            assert_eq!(reconciler.outputs_gone(&stack("app", more)).await.unwrap(), gone);
        }
    }

    #[tokio::test]
    async fn who_shows_what_may_become_of_a_stack_knows_what_that_one_asks_for() {
        let store = Memory::new(Arc::new(|| Moment(jiff::Timestamp::UNIX_EPOCH)));
        let reconciler = reconciler(&store);
        let preview = stack("seen", json!({"planOnly": true, "previewOf": "app"}));
        let found = reconciler.dereference(preview.clone()).await.unwrap();
        assert!(found.referred.previewed.is_none());
        let app = stack("app", json!({"state": {"suffix": "old-app"}}));
        store.create(&Kind::of::<Stack>(), &crate::objects::untyped(&app).unwrap()).await.unwrap();
        let found = reconciler.dereference(preview).await.unwrap();
        let state = found.referred.previewed.unwrap().state.unwrap();
        assert_eq!(state.suffix.as_deref(), Some("old-app"));
    }
}
