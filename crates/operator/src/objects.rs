//! Where objects are: read, written and watched. A cluster is one such place ([`cluster`]), our memory another ([`memory`]), and files of a
//! directory a third ([`files`]); everything above sees only [`Store`].
//!
//! Reads are not answered from memory: whoever decides something has asked for it. Writes fail if somebody else has written meanwhile.

pub mod cluster;
#[cfg(test)]
mod contract;
mod events;
pub mod files;
mod gaps;
pub(crate) mod kept;
pub mod memory;
mod rules;
pub mod spare;

use std::collections::BTreeMap;
use std::fmt;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource;
use kube::api::{DynamicObject, ObjectMeta, TypeMeta};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A kind of objects.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    /// Its group; empty for the first one.
    pub group: String,
    /// Its version.
    pub version: String,
    /// Its name.
    pub kind: String,
    /// Its name in addresses.
    pub plural: String,
}

impl Kind {
    /// A kind of the group without a name.
    pub fn core(kind: &str, plural: &str) -> Self {
        Self { group: String::new(), version: "v1".to_owned(), kind: kind.to_owned(), plural: plural.to_owned() }
    }

    /// `v1` or `apps/v1`
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Secrets.
    pub fn secret() -> Self {
        Self::core("Secret", "secrets")
    }

    /// ConfigMaps.
    pub fn config_map() -> Self {
        Self::core("ConfigMap", "configmaps")
    }

    /// Leases.
    pub fn lease() -> Self {
        let text = str::to_owned;
        Self { group: text("coordination.k8s.io"), version: text("v1"), kind: text("Lease"), plural: text("leases") }
    }

    /// Jobs.
    pub fn job() -> Self {
        let text = str::to_owned;
        Self { group: text("batch"), version: text("v1"), kind: text("Job"), plural: text("jobs") }
    }

    /// Rights in a namespace.
    pub fn role_binding() -> Self {
        let text = str::to_owned;
        Self {
            group: text("rbac.authorization.k8s.io"),
            version: text("v1"),
            kind: text("RoleBinding"),
            plural: text("rolebindings"),
        }
    }

    /// Namespaces.
    pub fn namespace() -> Self {
        Self::core("Namespace", "namespaces")
    }

    /// The kind of a type.
    pub fn of<T: Resource<DynamicType = ()>>() -> Self {
        Self {
            group: T::group(&()).into_owned(),
            version: T::version(&()).into_owned(),
            kind: T::kind(&()).into_owned(),
            plural: T::plural(&()).into_owned(),
        }
    }
}

/// One object, by its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace. None for those that have none.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
}

impl Place {
    /// An object in a namespace.
    pub fn new(kind: Kind, namespace: &str, name: &str) -> Self {
        Self { kind, namespace: Some(namespace.to_owned()), name: name.to_owned() }
    }

    /// Where an object is.
    pub fn of(kind: &Kind, object: &DynamicObject) -> Self {
        Self {
            kind: kind.clone(),
            namespace: object.metadata.namespace.clone(),
            name: object.metadata.name.clone().unwrap_or_default(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{}", self.kind.kind, self.name),
            None => write!(f, "{} {}", self.kind.kind, self.name),
        }
    }
}

/// Why something could not be read or written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// It is not there.
    #[error("{0} is not there")]
    Missing(Place),
    /// Somebody else was faster.
    #[error("{0} was changed meanwhile")]
    Conflict(Place),
    /// It is there already.
    #[error("{0} is there already")]
    Exists(Place),
    /// We may not.
    #[error("{doing} is not allowed: {reason}")]
    Forbidden {
        /// What was tried.
        doing: String,
        /// What the answer was.
        reason: String,
    },
    /// Its namespace is going away, and takes nothing new.
    #[error("the namespace of {0} is being deleted")]
    Ending(Place),
    /// It is not as it must be.
    #[error("{0} was refused: {1}")]
    Invalid(Place, String),
    /// The disk does not do what is asked of it.
    #[error("{doing} failed: {reason}")]
    Disk {
        /// What was tried.
        doing: String,
        /// What went wrong.
        reason: String,
    },
    /// Nobody answers, or not now.
    #[error("{doing} failed: {reason}")]
    Away {
        /// What was tried.
        doing: String,
        /// What went wrong.
        reason: String,
    },
}

impl StoreError {
    /// Whether it may go well the next time, with nothing changed by anybody.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Conflict(_) | Self::Away { .. } | Self::Disk { .. })
    }
}

/// Something was seen in a place.
#[derive(Debug, Clone)]
pub enum Seen {
    /// An object is there, for the first time or changed.
    There(Box<DynamicObject>),
    /// An object is gone.
    Gone(Box<DynamicObject>),
    /// Everything there is told anew. Whatever went meanwhile is told as gone before `Complete`.
    Again,
    /// All that is there has been told.
    Complete,
}

impl Seen {
    /// The object that something was seen of, and whether it is gone.
    pub fn object(self) -> Option<(Box<DynamicObject>, bool)> {
        match self {
            Self::There(object) => Some((object, false)),
            Self::Gone(object) => Some((object, true)),
            Self::Again | Self::Complete => None,
        }
    }
}

/// What happened, for those who read events.
#[derive(Debug, Clone)]
pub struct Notice {
    /// To which object.
    pub about: Place,
    /// Its uid.
    pub uid: Option<String>,
    /// Whether somebody should do something.
    pub is_warning: bool,
    /// In one word.
    pub reason: String,
    /// For people.
    pub message: String,
}

/// Where objects are.
#[async_trait]
pub trait Store: Send + Sync {
    /// An object. None if it is not there.
    async fn get(&self, place: &Place) -> Result<Option<DynamicObject>, StoreError>;

    /// All objects of a kind, in one namespace or in all, with these labels.
    async fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        labels: &[(&str, &str)],
    ) -> Result<Vec<DynamicObject>, StoreError>;

    /// Makes an object.
    async fn create(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError>;

    /// Writes an object that was read before.
    async fn replace(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError>;

    /// Writes the status of an object that was read before.
    async fn replace_status(&self, kind: &Kind, object: &DynamicObject) -> Result<DynamicObject, StoreError>;

    /// Deletes an object; with a uid, only that one. That it is not there is no error.
    async fn delete(&self, place: &Place, uid: Option<&str>) -> Result<(), StoreError>;

    /// What is there, and what happens to it, for ever.
    fn watch(&self, kind: &Kind, namespace: Option<&str>) -> BoxStream<'static, Seen>;

    /// Tells people what happened. Nobody waits for it, and nothing depends on it.
    async fn notice(&self, notice: Notice);
}

/// Objects of a type.
pub trait Typed: Resource<DynamicType = ()> + Serialize + DeserializeOwned + Clone + Send + Sync {}

impl<T> Typed for T where T: Resource<DynamicType = ()> + Serialize + DeserializeOwned + Clone + Send + Sync {}

/// An object as its type says. What cannot be read is said with its place.
pub fn typed<T: Typed>(object: &DynamicObject) -> Result<T, StoreError> {
    let place = Place::of(&Kind::of::<T>(), object);
    let value =
        serde_json::to_value(object).map_err(|problem| StoreError::Invalid(place.clone(), problem.to_string()))?;
    serde_json::from_value(value).map_err(|problem| StoreError::Invalid(place, problem.to_string()))
}

/// An object of a type, as stores take it.
pub fn untyped<T: Typed>(object: &T) -> Result<DynamicObject, StoreError> {
    let kind = Kind::of::<T>();
    let place = Place {
        kind: kind.clone(),
        namespace: object.meta().namespace.clone(),
        name: object.meta().name.clone().unwrap_or_default(),
    };
    let read = serde_json::to_value(object).and_then(serde_json::from_value::<DynamicObject>);
    let mut object = read.map_err(|problem| StoreError::Invalid(place, problem.to_string()))?;
    object.types = Some(TypeMeta { api_version: kind.api_version(), kind: kind.kind });
    Ok(object)
}

/// An object of a type, or none.
pub async fn find<T: Typed>(store: &dyn Store, namespace: &str, name: &str) -> Result<Option<T>, StoreError> {
    let found = store.get(&Place::new(Kind::of::<T>(), namespace, name)).await?;
    found.as_ref().map(typed).transpose()
}

/// An object of a type that has no namespace, or none.
pub async fn find_global<T: Typed>(store: &dyn Store, name: &str) -> Result<Option<T>, StoreError> {
    let place = Place { kind: Kind::of::<T>(), namespace: None, name: name.to_owned() };
    store.get(&place).await?.as_ref().map(typed).transpose()
}

/// All objects of a type with these labels.
pub async fn find_all<T: Typed>(
    store: &dyn Store,
    namespace: Option<&str>,
    labels: &[(&str, &str)],
) -> Result<Vec<T>, StoreError> {
    let found = store.list(&Kind::of::<T>(), namespace, labels).await?;
    found.iter().map(typed).collect()
}

/// That an object belongs to another one, and goes with it.
pub fn owned_by<T: Typed>(owner: &T) -> OwnerReference {
    let kind = Kind::of::<T>();
    OwnerReference {
        api_version: kind.api_version(),
        kind: kind.kind,
        name: owner.meta().name.clone().unwrap_or_default(),
        uid: owner.meta().uid.clone().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

/// Who looks after an object, if somebody does.
pub fn controller(metadata: &ObjectMeta) -> Option<&OwnerReference> {
    metadata.owner_references.iter().flatten().find(|owner| owner.controller == Some(true))
}

/// A Secret or ConfigMap, as stores take it.
pub fn holder(kind: &Kind, metadata: ObjectMeta, content: serde_json::Value) -> DynamicObject {
    DynamicObject {
        types: Some(TypeMeta { api_version: kind.api_version(), kind: kind.kind.clone() }),
        metadata,
        data: content,
    }
}

/// The data of a Secret, decoded, or of a ConfigMap.
pub fn data_of(object: &DynamicObject) -> BTreeMap<String, Vec<u8>> {
    use base64::Engine as _;
    let decode = |text: &str| base64::engine::general_purpose::STANDARD.decode(text).ok();
    let is_secret = object.types.as_ref().is_some_and(|types| types.kind == "Secret");
    let entries = |field: &str| object.data.get(field).and_then(serde_json::Value::as_object).into_iter().flatten();
    let texts = |field| entries(field).filter_map(|(key, value)| Some((key.clone(), value.as_str()?)));
    let mut found = BTreeMap::new();
    for (key, text) in texts("data") {
        let bytes = if is_secret { decode(text) } else { Some(text.as_bytes().to_vec()) };
        found.extend(bytes.map(|bytes| (key, bytes)));
    }
    found.extend(texts("binaryData").filter_map(|(key, text)| Some((key, decode(text)?))));
    found
}
