//! Plans as tofu-controller keeps them, for those who read them there: a Secret with the plan, and a ConfigMap or another Secret in which it can be
//! read. What is there is replaced and never taken away first, so somebody who reads sees the old one or the new one.

use std::collections::BTreeMap;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{DynamicObject, ObjectMeta};
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};

use crate::api::run::Run;
use crate::api::stack::{PlanCopy, ReadablePlan, Stack};
use crate::api::terraform::GROUP;
use crate::objects::{Kind, Place, Store, StoreError, controller, find, holder, owned_by};
use crate::terraform::plan_id;
use crate::work::Planned;

/// An object takes a mebibyte, with what it is encoded in.
const PART_BYTES: usize = 700 << 10;
/// No value of a label is longer than that.
const MOST_LABEL: usize = 63;

/// Writes what is wanted of a plan.
pub(super) async fn write(
    store: &dyn Store,
    run: &Run,
    (copy, workspace): (&PlanCopy, &str),
    plan: &Planned,
) -> Result<(), StoreError> {
    let namespace = run.metadata.namespace.as_deref().unwrap_or_default();
    let Some(stack) = find::<Stack>(store, namespace, &run.spec.stack).await? else { return Ok(()) };
    let revision =
        stack.status.as_ref().and_then(|status| status.source.as_ref()).map(|source| source.revision.as_str());
    let id = plan_id(revision.unwrap_or_default(), &plan.id);
    let copying = Copying { store, namespace, copy, workspace, id: &id, owner: owner(&stack) };
    copying.save(&Kind::secret(), &copy.name, "tfplan", &packed(&plan.bytes), true).await?;
    match copy.readable {
        ReadablePlan::None => Ok(()),
        ReadablePlan::Human => {
            copying.save(&Kind::config_map(), &copy.name, "tfplan", plan.text.as_bytes(), false).await
        }
        ReadablePlan::Json => {
            let document = plan.document.as_ref().map(Json::to_string).unwrap_or_default();
            copying
                .save(&Kind::secret(), &format!("{}.json", copy.name), "tfplan", &packed(document.as_bytes()), true)
                .await
        }
    }
}

/// Whom people know: the object that the Stack was made for. It looks after the Stack, and not after this.
fn owner(stack: &Stack) -> OwnerReference {
    let owner = controller(&stack.metadata).cloned().unwrap_or_else(|| owned_by(stack));
    OwnerReference { controller: None, block_owner_deletion: None, ..owner }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing to memory does not fail.
    let _ = packed.write_all(bytes);
    packed.finish().unwrap_or_default()
}

struct Copying<'c> {
    store: &'c dyn Store,
    namespace: &'c str,
    copy: &'c PlanCopy,
    workspace: &'c str,
    id: &'c str,
    owner: OwnerReference,
}

impl Copying<'_> {
    async fn save(&self, kind: &Kind, name: &str, key: &str, bytes: &[u8], is_packed: bool) -> Result<(), StoreError> {
        let parts = parts(bytes, kind.kind == "ConfigMap");
        let is_whole = parts.len() == 1;
        let part_name = |number: usize| if is_whole { name.to_owned() } else { format!("{name}-{number}") };
        for (number, part) in parts.iter().enumerate() {
            let text = String::from_utf8_lossy(part);
            let content = if kind.kind == "ConfigMap" { json!(text) } else { json!(STANDARD.encode(part)) };
            let metadata = self.metadata(&part_name(number), number, part, is_packed);
            self.put(kind, &holder(kind, metadata, json!({ "data": { key: content } }))).await?;
        }
        self.clear(kind, name, parts.len()).await
    }

    /// What earlier plans of the same have left that had more parts, or were in one where this is in several.
    async fn clear(&self, kind: &Kind, name: &str, parts: usize) -> Result<(), StoreError> {
        let labels = self.labels();
        let labels: Vec<(&str, &str)> = labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let known = match self.store.list(kind, Some(self.namespace), &labels).await {
            // What is left is in nobody's way.
            Err(StoreError::Forbidden { .. }) => return Ok(()),
            known => known?,
        };
        let is_left = |known: &str| match known.strip_prefix(name) {
            Some("") => parts > 1,
            Some(rest) => {
                let number = rest.strip_prefix('-').filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
                number
                    .and_then(|number| number.parse::<usize>().ok())
                    .is_some_and(|number| parts == 1 || number >= parts)
            }
            None => false,
        };
        for object in known.iter().filter(|object| self.is_of_the_same(object)) {
            if object.metadata.name.as_deref().is_some_and(is_left) {
                self.store.delete(&Place::of(kind, object), object.metadata.uid.as_deref()).await?;
            }
        }
        Ok(())
    }

    /// Whether it is a plan of the same object: names alone do not tell the first part of `app` from the whole of `app-0`.
    fn is_of_the_same(&self, known: &DynamicObject) -> bool {
        let notes = known.metadata.annotations.as_ref();
        let note = |name: &str| notes.and_then(|notes| notes.get(&named(name)));
        if let (Some(of), Some(workspace)) = (note("plan-full-name"), note("plan-full-workspace")) {
            return *of == self.copy.of && workspace == self.workspace;
        }
        // Before there were notes, there were labels.
        let labels = known.metadata.labels.as_ref();
        self.labels().iter().all(|(name, value)| labels.and_then(|labels| labels.get(name)) == Some(value))
    }

    async fn put(&self, kind: &Kind, object: &DynamicObject) -> Result<(), StoreError> {
        let place = Place::of(kind, object);
        let Some(known) = self.store.get(&place).await? else {
            return self.store.create(kind, object).await.map(|_| ());
        };
        let is_of_another =
            known.metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(&named("plan-name")))
                && !self.is_of_the_same(&known);
        if is_of_another {
            tracing::warn!(%place, of = self.copy.of, "a plan is not copied, as that of another object is there");
            return Ok(());
        }
        let mut next = object.clone();
        next.metadata.resource_version = known.metadata.resource_version;
        self.store.replace(kind, &next).await.map(|_| ())
    }

    fn labels(&self) -> BTreeMap<String, String> {
        BTreeMap::from([(named("plan-name"), label(&self.copy.of)), (named("plan-workspace"), label(self.workspace))])
    }

    fn metadata(&self, name: &str, number: usize, part: &[u8], is_packed: bool) -> ObjectMeta {
        let mut annotations = BTreeMap::from([
            ("savedPlan".to_owned(), self.id.to_owned()),
            (named("plan-full-name"), self.copy.of.clone()),
            (named("plan-full-workspace"), self.workspace.to_owned()),
            (named("plan-chunk"), number.to_string()),
            (named("plan-hash"), hex::encode(Sha256::digest(part))),
        ]);
        if is_packed {
            annotations.insert("encoding".to_owned(), "gzip".to_owned());
        }
        ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some(self.namespace.to_owned()),
            labels: Some(self.labels()),
            annotations: Some(annotations),
            owner_references: Some(vec![self.owner.clone()]),
            ..ObjectMeta::default()
        }
    }
}

/// What labels and notes are called.
fn named(name: &str) -> String {
    format!("{GROUP}/{name}")
}

/// Long values of labels are cut, and have something in its place that tells them apart.
fn label(text: &str) -> String {
    if text.len() <= MOST_LABEL {
        return text.to_owned();
    }
    let mark = hex::encode(Sha256::digest(text.as_bytes()));
    let begin: String = text.chars().take(MOST_LABEL - 17).collect();
    format!("{begin}-{}", &mark[..16])
}

/// Pieces that fit; of texts, between characters.
fn parts(bytes: &[u8], is_text: bool) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while rest.len() > PART_BYTES {
        let continues = |at: &usize| rest.get(*at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
        let end = (1..=PART_BYTES).rev().find(|at| !is_text || !continues(at)).unwrap_or(PART_BYTES);
        let (part, after) = rest.split_at(end);
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::api::shared::Moment;
    use crate::objects::memory::Memory;

    fn planned(text: &str) -> Planned {
        Planned {
            id: "plan-0123456789abcdef0123456789abcdef".to_owned(),
            bytes: b"the plan".to_vec(),
            text: text.to_owned(),
            counts: crate::api::run::PlanCounts::default(),
            changes: Vec::new(),
            drifted: Vec::new(),
            is_empty: false,
            changes_json: None,
            document: Some(json!({"format_version": "1.2"})),
            doubt: None,
        }
    }

    async fn world() -> (Memory, Run) {
        let store = Memory::new(Arc::new(|| Moment(jiff::Timestamp::UNIX_EPOCH)));
        let stack = json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "metadata": {"name": "terraform-app", "namespace": "team"},
            "spec": {"source": {"inline": {}}},
        });
        let made = store.create(&Kind::of::<Stack>(), &serde_json::from_value(stack).unwrap()).await.unwrap();
        let mut made = made;
        made.data["status"] = json!({"source": {"revision": "main@sha1:aaaa"}});
        store.replace_status(&Kind::of::<Stack>(), &made).await.unwrap();
        let run = serde_json::from_value(json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Run", "metadata": {"name": "terraform-app-1", "namespace": "team"},
            "spec": {
                "stack": "terraform-app", "number": 1, "action": "apply", "bundle": "b", "about": {}, "engine": "native", "executor": "inProcess",
                "approval": {"mode": "auto"}, "limits": {"init": "1m", "plan": "1m", "apply": "1m"},
            },
        }));
        (store, run.unwrap())
    }

    fn copy(readable: ReadablePlan) -> PlanCopy {
        PlanCopy { name: "tfplan-default-app".to_owned(), of: "app".to_owned(), readable }
    }

    #[tokio::test]
    async fn plans_are_where_they_were_with_tofu_controller() {
        let (store, run) = world().await;
        write(&store, &run, (&copy(ReadablePlan::Human), "default"), &planned("first")).await.unwrap();
        write(&store, &run, (&copy(ReadablePlan::Json), "default"), &planned("second")).await.unwrap();
        let place = |kind, name: &str| Place::new(kind, "team", name);
        let secret = store.get(&place(Kind::secret(), "tfplan-default-app")).await.unwrap().unwrap();
        let notes = secret.metadata.annotations.unwrap();
        assert_eq!(notes["savedPlan"], "plan-main-0123456789");
        assert_eq!(notes["encoding"], "gzip");
        assert_eq!(secret.metadata.labels.unwrap()["infra.contrib.fluxcd.io/plan-name"], "app");
        assert_eq!(secret.metadata.owner_references.unwrap()[0].controller, None);
        let map = store.get(&place(Kind::config_map(), "tfplan-default-app")).await.unwrap().unwrap();
        assert_eq!(map.data["data"]["tfplan"], "first");
        assert!(store.get(&place(Kind::secret(), "tfplan-default-app.json")).await.unwrap().is_some());
    }

    #[tokio::test]
    async fn long_plans_are_in_parts_that_go_when_they_are_short_again() {
        let (store, run) = world().await;
        let long = format!("x{}", "\u{e4}".repeat(PART_BYTES));
        write(&store, &run, (&copy(ReadablePlan::Human), "default"), &planned(&long)).await.unwrap();
        let get = |name: &str| Place::new(Kind::config_map(), "team", name);
        let mut whole = String::new();
        for number in 0..3 {
            let part = store.get(&get(&format!("tfplan-default-app-{number}"))).await.unwrap().unwrap();
            whole.push_str(part.data["data"]["tfplan"].as_str().unwrap());
        }
        assert!(whole == long);
        write(&store, &run, (&copy(ReadablePlan::Human), "default"), &planned("short")).await.unwrap();
        assert!(store.get(&get("tfplan-default-app-0")).await.unwrap().is_none());
        assert!(store.get(&get("tfplan-default-app-2")).await.unwrap().is_none());
        assert!(store.get(&get("tfplan-default-app")).await.unwrap().is_some());
    }

    /// `app` in parts and `app-0` as a whole would have the same names.
    #[tokio::test]
    async fn plans_of_others_are_left_alone() {
        let (store, run) = world().await;
        let other =
            PlanCopy { name: "tfplan-default-app-0".to_owned(), of: "app-0".to_owned(), readable: ReadablePlan::Human };
        let place = |kind, name: &str| Place::new(kind, "team", name);
        write(&store, &run, (&other, "default"), &planned("of the other")).await.unwrap();
        write(&store, &run, (&copy(ReadablePlan::Human), "default"), &planned("short")).await.unwrap();
        let of_other = place(Kind::secret(), "tfplan-default-app-0");
        assert!(store.get(&of_other).await.unwrap().is_some());
        let long = "x".repeat(2 * PART_BYTES);
        write(&store, &run, (&copy(ReadablePlan::Human), "default"), &planned(&long)).await.unwrap();
        let map = store.get(&place(Kind::config_map(), "tfplan-default-app-0")).await.unwrap().unwrap();
        assert_eq!(map.data["data"]["tfplan"], "of the other");
        // Somebody has taken one away: the others go even so.
        write(&store, &run, (&copy(ReadablePlan::Human), "default"), &planned(&"x".repeat(4 * PART_BYTES)))
            .await
            .unwrap();
        store.delete(&place(Kind::config_map(), "tfplan-default-app-2"), None).await.unwrap();
        write(&store, &run, (&copy(ReadablePlan::Human), "default"), &planned("short")).await.unwrap();
        for (name, is_there) in [("", true), ("-0", true), ("-1", false), ("-3", false)] {
            let found = store.get(&place(Kind::config_map(), &format!("tfplan-default-app{name}"))).await.unwrap();
            assert_eq!(found.is_some(), is_there, "{name}");
        }
    }

    #[test]
    fn labels_are_short() {
        assert_eq!(label("app"), "app");
        let long = label(&"a".repeat(100));
        assert_eq!((long.len(), long.starts_with("aaaa")), (63, true));
    }
}
