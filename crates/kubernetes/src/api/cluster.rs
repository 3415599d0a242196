//! One cluster: what can be asked of it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::future::try_join_all;
use groma_kit::outside::Outside;
use http::Method;
use serde_json::json;
use tokio::sync::{OnceCell, Semaphore};

use super::connections::Links;
use super::discovery::{self, Discovery};
use super::link::{Answer, Ask, Link};
use super::retry::{self, ALTOGETHER};
use super::{Apply, Delete, Kind, Patch, Said, target, warnings};
use crate::Json;
use crate::cluster::ClusterSpec;
use crate::failure::{Failure, FailureKind};
use crate::manifest::ObjectRef;

/// So many requests at a time. The server has limits of its own; this one spares connections.
const IN_FLIGHT: usize = 64;

/// One cluster that can be talked to.
pub(crate) struct Cluster {
    spec: ClusterSpec,
    link: Arc<Link>,
    links: Arc<Links>,
    /// The way that works where the server has refused the credentials of the first one.
    instead: RwLock<Option<Arc<Link>>>,
    slots: Semaphore,
    /// Whether it has answered before.
    was_there: AtomicBool,
    discovery: Discovery,
    identity: OnceCell<Option<String>>,
    found_out: Mutex<HashMap<ObjectRef, (SystemTime, Vec<String>)>>,
    outside: Outside,
}

impl Cluster {
    pub(super) fn new(spec: ClusterSpec, link: Arc<Link>, links: Arc<Links>, outside: &Outside) -> Self {
        Self {
            spec,
            link,
            links,
            instead: RwLock::default(),
            slots: Semaphore::new(IN_FLIGHT),
            was_there: AtomicBool::new(false),
            discovery: Discovery::default(),
            identity: OnceCell::new(),
            found_out: Mutex::default(),
            outside: outside.clone(),
        }
    }

    /// Which cluster it is, however it is reached: the UID of the namespace `kube-system`. None if we may not read that. Asked once.
    pub(crate) async fn identity(&self) -> Result<Option<String>, Failure> {
        let found = self.identity.get_or_try_init(|| async {
            let answer = self.ask(&get("/api/v1/namespaces/kube-system".to_owned())).await?;
            if matches!(answer.status, 403 | 404) {
                return Ok(None);
            }
            let namespace = parsed(&succeeded(answer, false)?)?;
            Ok(namespace.pointer("/metadata/uid").and_then(Json::as_str).map(str::to_owned))
        });
        found.await.cloned()
    }

    /// A kind, from what is known; asks the server again, once, for kinds that are not known.
    pub(crate) async fn kind(&self, api_version: &str, kind: &str) -> Result<Kind, Failure> {
        let ask = || async {
            let answer = self.ask(&get(target::of_version(api_version)?)).await?;
            if answer.status == 404 && api_version == "v1" {
                let message = "there is no Kubernetes API at this address (no /api/v1)";
                return Err(Failure::new(FailureKind::Other, message));
            }
            if answer.status == 404 {
                return Ok(None);
            }
            Ok(Some(succeeded(answer, false)?.body))
        };
        self.discovery.kind(api_version, kind, || self.outside.clock.now(), ask).await
    }

    /// The namespace completed: `default` for kinds that need one, none for those that have none.
    pub(crate) async fn complete(&self, object: &ObjectRef) -> Result<ObjectRef, Failure> {
        let kind = self.kind(&object.api_version, &object.kind).await?;
        let given = object.namespace.clone().filter(|namespace| !namespace.is_empty());
        let namespace = kind.namespaced.then(|| given.unwrap_or_else(|| "default".to_owned()));
        Ok(ObjectRef { namespace, ..object.clone() })
    }

    /// An object; none if it is not there.
    pub(crate) async fn get(&self, object: &ObjectRef) -> Result<Option<Json>, Failure> {
        let path = self.path(object).await?;
        let answer = self.ask(&get(path)).await?;
        match self.checked(answer, object) {
            Ok(answer) => Ok(Some(parsed(&answer)?)),
            Err(failure) if is_missing(&failure) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Server-side apply, always with `fieldValidation=Strict`. Gives the object as the server has it now (or would have it).
    pub(crate) async fn apply(&self, object: &ObjectRef, body: &Json, how: Apply<'_>) -> Result<Said<Json>, Failure> {
        let force = if how.force { "true" } else { "false" };
        self.change(object, body, "application/apply-patch+yaml", how, Some(force)).await
    }

    /// Another kind of patch.
    pub(crate) async fn patch(&self, object: &ObjectRef, patch: &Patch, how: Apply<'_>) -> Result<Said<Json>, Failure> {
        let (body, content_type) = match patch {
            Patch::Json(body) => (body, "application/json-patch+json"),
            Patch::Merge(body) => (body, "application/merge-patch+json"),
        };
        self.change(object, body, content_type, how, None).await
    }

    /// Deletes an object. False if it was not there.
    pub(crate) async fn delete(&self, object: &ObjectRef, how: &Delete) -> Result<bool, Failure> {
        let mut options = json!({ "apiVersion": "v1", "kind": "DeleteOptions" });
        if let Some(options) = options.as_object_mut() {
            if let Some(policy) = &how.propagation {
                options.insert("propagationPolicy".to_owned(), json!(policy));
            }
            if let Some(uid) = &how.uid {
                options.insert("preconditions".to_owned(), json!({ "uid": uid }));
            }
        }
        let ask = Ask {
            method: Method::DELETE,
            target: self.path(object).await?,
            content_type: Some("application/json"),
            body: written(&options)?,
            repeatable: how.uid.is_some(),
        };
        match self.checked(self.ask(&ask).await?, object) {
            Ok(_) => Ok(true),
            Err(failure) if is_missing(&failure) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Objects of a kind, by label selector, at most so many.
    pub(crate) async fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        labels: &str,
        most: u32,
    ) -> Result<Vec<Json>, Failure> {
        let selector = ("labelSelector", labels);
        self.list_by(kind, namespace, selector, most).await
    }

    /// Objects of a kind, by field selector, at most so many.
    pub(crate) async fn list_by_fields(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        fields: &str,
        most: u32,
    ) -> Result<Vec<Json>, Failure> {
        let selector = ("fieldSelector", fields);
        self.list_by(kind, namespace, selector, most).await
    }

    /// All kinds that a server has, with whether they can be listed: to say what is left in a namespace.
    pub(crate) async fn listable_kinds(&self) -> Result<Vec<Kind>, Failure> {
        let groups = succeeded(self.ask(&get("/apis".to_owned())).await?, false)?;
        let versions = std::iter::once("v1".to_owned()).chain(discovery::preferred_versions(&groups.body)?);
        let each = versions.map(|version| async move {
            let answer = self.ask(&get(target::of_version(&version)?)).await?;
            // An extension that does not answer hides its own kinds only.
            if answer.status >= 400 {
                return Ok(Vec::new());
            }
            discovery::listable(&version, &answer.body)
        });
        Ok(try_join_all(each).await?.into_iter().flatten().collect())
    }

    /// What was found out about an object a moment ago, or is now. Whoever waits asks often, and looking around is a lot of work.
    pub(crate) async fn found_out<F>(
        &self,
        object: &ObjectRef,
        lasts: Duration,
        find: impl FnOnce() -> F,
    ) -> Vec<String>
    where
        F: Future<Output = Vec<String>>,
    {
        let known = self.found_out.lock().unwrap_or_else(PoisonError::into_inner).get(object).cloned();
        let now = self.outside.clock.now();
        if let Some((at, lines)) = known
            && now.duration_since(at).is_ok_and(|age| age < lasts)
        {
            return lines;
        }
        let lines = find().await;
        // What goes wrong does so soon, and whoever gives up soon after wants to know it.
        if lines.is_empty() {
            return lines;
        }
        let mut found_out = self.found_out.lock().unwrap_or_else(PoisonError::into_inner);
        found_out.retain(|_, (at, _)| now.duration_since(*at).is_ok_and(|age| age < lasts));
        found_out.insert(object.clone(), (now, lines.clone()));
        lines
    }

    async fn list_by(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        (name, value): (&str, &str),
        most: u32,
    ) -> Result<Vec<Json>, Failure> {
        let path = target::of_kind(kind, namespace)?;
        let limit = most.to_string();
        let mut query = vec![("limit", limit.as_str())];
        if !value.is_empty() {
            query.push((name, value));
        }
        let answer = succeeded(self.ask(&get(target::with_query(&path, &query))).await?, kind.kind == "Secret")?;
        let mut list = parsed(&answer)?;
        match list.get_mut("items").map(Json::take) {
            Some(Json::Array(mut items)) => {
                items.truncate(most as usize);
                Ok(items)
            }
            _ => Ok(Vec::new()),
        }
    }

    async fn change(
        &self,
        object: &ObjectRef,
        body: &Json,
        content_type: &'static str,
        how: Apply<'_>,
        force: Option<&str>,
    ) -> Result<Said<Json>, Failure> {
        let mut query = vec![("fieldManager", how.manager), ("fieldValidation", "Strict")];
        query.extend(force.map(|force| ("force", force)));
        if how.dry_run {
            query.push(("dryRun", "All"));
        }
        let ask = Ask {
            method: Method::PATCH,
            target: target::with_query(&self.path(object).await?, &query),
            content_type: Some(content_type),
            body: written(body)?,
            repeatable: how.dry_run || force.is_some(),
        };
        let answer = self.checked(self.ask(&ask).await?, object)?;
        Ok(Said { value: parsed(&answer)?, warnings: warnings::texts(&answer.headers) })
    }

    async fn path(&self, object: &ObjectRef) -> Result<String, Failure> {
        let kind = self.kind(&object.api_version, &object.kind).await?;
        let namespace = object.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or("default");
        target::of_object(&kind, Some(namespace), &object.name)
    }

    /// A success; and a kind that has gone away is forgotten.
    fn checked(&self, answer: Answer, object: &ObjectRef) -> Result<Answer, Failure> {
        let mut checked = succeeded(answer, object.kind == "Secret");
        if let Err(failure) = &mut checked
            && failure.kind == FailureKind::UnknownKind
        {
            self.discovery.forget(&object.api_version);
            failure.message = discovery::unknown(&object.api_version, &object.kind);
        }
        checked
    }

    /// Asks until there is an answer that asking again does not change.
    async fn ask(&self, ask: &Ask) -> Result<Answer, Failure> {
        let start = self.outside.clock.now();
        let mut again = 0;
        loop {
            let (result, failure, asked) = match self.ask_once(ask).await {
                Ok(answer) if answer.status == 408 || answer.status == 429 || answer.status >= 500 => {
                    let failure = Failure::of_answer(answer.status, &answer.body, true);
                    let asked = retry::asked_for(&answer.headers);
                    (Ok(answer), failure, asked)
                }
                Ok(answer) => {
                    self.was_there.store(true, Ordering::Relaxed);
                    return Ok(answer);
                }
                Err(failure) => (Err(failure.clone()), failure, None),
            };
            let was_there = self.was_there.load(Ordering::Relaxed);
            let failed = retry::Failed { failure: &failure, repeatable: ask.repeatable, asked, was_there };
            let Some(wait) = retry::wait_before(again, failed, &self.outside) else {
                return result;
            };
            let passed = self.outside.clock.now().duration_since(start).unwrap_or_default();
            if passed + wait > ALTOGETHER {
                return result;
            }
            tracing::debug!(method = %ask.method, again, "the cluster is asked again");
            self.outside.clock.sleep(wait).await;
            again += 1;
        }
    }

    /// Asks with the credentials that are given, and where the server does not know them, with those that this run's configuration has.
    async fn ask_once(&self, ask: &Ask) -> Result<Answer, Failure> {
        let slot = self.slots.acquire().await;
        let _slot = slot.map_err(|_| Failure::new(FailureKind::Other, "the connection is closed"))?;
        let instead = self.instead.read().unwrap_or_else(PoisonError::into_inner).clone();
        let link = instead.as_ref().unwrap_or(&self.link);
        let refused = match link.ask(ask).await {
            Ok(answer) if answer.status == 401 => Ok(answer),
            Err(failure) if failure.kind == FailureKind::Unauthenticated => Err(failure),
            other => return other,
        };
        for other in self.links.others(&self.spec, &self.link).await {
            if Arc::ptr_eq(&other, link) {
                continue;
            }
            if let Ok(answer) = other.ask(ask).await
                && answer.status != 401
            {
                *self.instead.write().unwrap_or_else(PoisonError::into_inner) = Some(other);
                return Ok(answer);
            }
        }
        refused
    }
}

fn get(target: String) -> Ask {
    Ask { method: Method::GET, target, content_type: None, body: Bytes::new(), repeatable: true }
}

fn succeeded(answer: Answer, secret: bool) -> Result<Answer, Failure> {
    match answer.status {
        200..=299 => Ok(answer),
        status => Err(Failure::of_answer(status, &answer.body, secret)),
    }
}

/// Whether there is no such object, of a kind that there is.
fn is_missing(failure: &Failure) -> bool {
    failure.code == Some(404) && failure.kind != FailureKind::UnknownKind
}

fn parsed(answer: &Answer) -> Result<Json, Failure> {
    serde_json::from_slice(&answer.body).map_err(|error| {
        Failure::new(FailureKind::Other, format!("the server's answer is no JSON ({:?})", error.classify()))
    })
}

fn written(body: &Json) -> Result<Bytes, Failure> {
    let written = serde_json::to_vec(body).map_err(|error| Failure::new(FailureKind::Other, error.to_string()))?;
    Ok(Bytes::from(written))
}
