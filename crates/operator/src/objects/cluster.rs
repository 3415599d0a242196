//! Objects in a cluster, through its API server.

mod reach;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, PostParams, Preconditions};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Client, Error};

pub use reach::{NoCluster, Reach};

use super::events::event;
use super::gaps::without_gaps;
use super::{Kind, Notice, Place, Seen, Store, StoreError};

/// A cluster.
#[derive(Clone)]
pub struct Cluster {
    client: Client,
    /// Who tells of events.
    component: String,
}

impl Cluster {
    /// With a client that may do what is asked of it.
    pub fn new(client: Client, component: &str) -> Self {
        Self { client, component: component.to_owned() }
    }

    /// The client, for what is special to clusters.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    fn api(&self, kind: &Kind, namespace: Option<&str>) -> Api<DynamicObject> {
        let resource = ApiResource {
            group: kind.group.clone(),
            version: kind.version.clone(),
            api_version: kind.api_version(),
            kind: kind.kind.clone(),
            plural: kind.plural.clone(),
        };
        match namespace {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, &resource),
            None => Api::all_with(self.client.clone(), &resource),
        }
    }

    fn api_of(&self, place: &Place) -> Api<DynamicObject> {
        self.api(&place.kind, place.namespace.as_deref())
    }
}

/// An error with everything that caused it.
pub fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

/// What an answer means.
fn meaning(error: Error, doing: &str, place: &Place) -> StoreError {
    let Error::Api(status) = &error else {
        return StoreError::Away { doing: format!("{doing} {place}"), reason: causes(&error) };
    };
    let ending = || {
        status
            .details
            .as_ref()
            .is_some_and(|details| details.causes.iter().any(|cause| cause.reason == "NamespaceTerminating"))
    };
    match (status.code, status.reason.as_str()) {
        (404, _) => StoreError::Missing(place.clone()),
        (409, "AlreadyExists") => StoreError::Exists(place.clone()),
        (409, _) => StoreError::Conflict(place.clone()),
        (403, _) if ending() => StoreError::Ending(place.clone()),
        (401 | 403, _) => StoreError::Forbidden { doing: format!("{doing} {place}"), reason: status.message.clone() },
        (400 | 422, _) => StoreError::Invalid(place.clone(), status.message.clone()),
        _ => StoreError::Away { doing: format!("{doing} {place}"), reason: status.message.clone() },
    }
}

#[async_trait]
impl Store for Cluster {
    async fn get(&self, place: &Place) -> Result<Option<DynamicObject>, StoreError> {
        let found = self.api_of(place).get_opt(&place.name).await;
        match found.map_err(|error| meaning(error, "reading", place)) {
            Ok(found) => Ok(found.map(|object| with_types(object, &place.kind))),
            // The cluster does not know the kind.
            Err(StoreError::Missing(_)) => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    async fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        labels: &[(&str, &str)],
    ) -> Result<Vec<DynamicObject>, StoreError> {
        let selector: Vec<String> = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let parameters = ListParams::default().labels(&selector.join(","));
        let place = Place { kind: kind.clone(), namespace: namespace.map(str::to_owned), name: "*".to_owned() };
        let found = self.api(kind, namespace).list(&parameters).await;
        let found = found.map_err(|error| meaning(error, "listing", &place))?;
        Ok(found.items.into_iter().map(|object| with_types(object, kind)).collect())
    }

    async fn create(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        let place = Place::of(kind, object);
        let made = self.api_of(&place).create(&writing(), object).await;
        made.map_err(|error| meaning(error, "making", &place))
    }

    async fn replace(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        let place = Place::of(kind, object);
        let written = self.api_of(&place).replace(&place.name, &writing(), object).await;
        written.map_err(|error| meaning(error, "writing", &place))
    }

    async fn replace_status(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError> {
        let place = Place::of(kind, object);
        let written = self.api_of(&place).replace_status(&place.name, &writing(), object).await;
        written.map_err(|error| meaning(error, "writing the status of", &place))
    }

    async fn delete(&self, place: &Place, uid: Option<&str>) -> Result<(), StoreError> {
        let preconditions = uid.map(|uid| Preconditions { uid: Some(uid.to_owned()), resource_version: None });
        let parameters = DeleteParams { preconditions, ..DeleteParams::background() };
        match self.api_of(place).delete(&place.name, &parameters).await {
            Ok(_) => Ok(()),
            // Another one of that name is not the one that was to go.
            Err(Error::Api(status)) if status.code == 404 || (status.code == 409 && uid.is_some()) => Ok(()),
            Err(error) => Err(meaning(error, "deleting", place)),
        }
    }

    fn watch(&self, kind: &Kind, namespace: Option<&str>) -> BoxStream<'static, Seen> {
        let kind = kind.clone();
        let told = watcher(self.api(&kind, namespace), watcher::Config::default()).default_backoff();
        let told = told.filter_map(move |event| {
            let of_kind = |object| Box::new(with_types(object, &kind));
            let seen = match event {
                Ok(watcher::Event::Apply(object) | watcher::Event::InitApply(object)) => {
                    Some(Seen::There(of_kind(object)))
                }
                Ok(watcher::Event::Delete(object)) => Some(Seen::Gone(of_kind(object))),
                Ok(watcher::Event::Init) => Some(Seen::Again),
                Ok(watcher::Event::InitDone) => Some(Seen::Complete),
                Err(problem) => {
                    tracing::warn!(kind = kind.kind, %problem, "the watch was interrupted, and begins again");
                    None
                }
            };
            std::future::ready(seen)
        });
        without_gaps(told)
    }

    async fn notice(&self, notice: Notice) {
        let Some(event) = event(&notice, &self.component, Timestamp::now()) else { return };
        let kind = Kind::core("Event", "events");
        let namespace = event.metadata.namespace.clone().unwrap_or_default();
        let events = self.api(&kind, Some(&namespace));
        // Nobody waits for what is only told.
        tokio::spawn(async move {
            if let Err(problem) = events.create(&writing(), &event).await {
                tracing::debug!(%problem, "an event could not be told");
            }
        });
    }
}

fn writing() -> PostParams {
    PostParams { field_manager: Some(crate::api::names::FIELD_MANAGER.to_owned()), ..PostParams::default() }
}

/// Lists and watches leave the kind out.
fn with_types(mut object: DynamicObject, kind: &Kind) -> DynamicObject {
    let types = || kube::api::TypeMeta { api_version: kind.api_version(), kind: kind.kind.clone() };
    object.types.get_or_insert_with(types);
    object
}

/// At most so many bytes, with an end that shows.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most.saturating_sub(3)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}...", &text[..end])
}
