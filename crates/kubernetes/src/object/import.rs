//! Importing an object that exists.

mod id;

use std::sync::Arc;

use groma_kit::{Call, Object};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::Value;

use super::ObjectResource;
use super::claim::owner;
use super::fields::{managers, map_value, projected};
use super::naming::{reference_value, shown};
use super::session::new_id;
use crate::Json;
use crate::api::Cluster;
use crate::cluster;
use crate::ignore::Ignored;
use crate::manifest::{ObjectRef, cleaned, to_yaml};
use crate::ownership::MANAGER;
use crate::private::{self, IMPORTED};
use crate::provider::Shared;
use id::{ImportId, readings};

/// How ids are written.
const GRAMMAR: &str = "An id is written as context:namespace:apiVersion/Kind:name, without the namespace for kinds that are in none \
                       (kind-dev:prod:apps/v1/Deployment:nginx, kind-dev:v1/Namespace:prod); without the context, the provider's \
                       own connection is used.";

/// An object that an id leads to.
pub(crate) struct Found {
    pub(crate) cluster: Arc<Cluster>,
    /// The attribute `cluster`.
    pub(crate) connection: Value,
    pub(crate) reference: ObjectRef,
    pub(crate) live: Json,
}

pub(super) async fn import(
    resource: &ObjectResource,
    id: &str,
    empty: Object,
    call: &mut Call,
) -> Result<Object, Diagnostics> {
    let found = led_to(&resource.shared, id, &empty).await?;
    imported(resource, empty, found, call).await
}

/// The object that an id leads to. `empty` is what there is of the resource: no more than its attribute `cluster` counts.
pub(crate) async fn led_to(shared: &Shared, id: &str, empty: &Object) -> Result<Found, Diagnostics> {
    let readings = readings(id);
    if readings.is_empty() {
        return Err(Diagnostic::error("Invalid import id", format!("{id:?} is no import id. {GRAMMAR}")).into());
    }
    let mut reasons = Vec::new();
    // A namespace that is not given is guessed only if nothing else is found.
    for guesses in [false, true] {
        for reading in &readings {
            match look(shared, reading, empty, guesses).await {
                Ok(Some(found)) => return Ok(found),
                Ok(None) => {}
                Err(reason) if reasons.contains(&reason) => {}
                Err(reason) => reasons.push(reason),
            }
        }
    }
    if reasons.is_empty() {
        reasons.push("The id has a namespace, and the kind is in none, or the other way round.".to_owned());
    }
    let reasons: Vec<String> = reasons.iter().map(|reason| format!("\n  - {reason}")).collect();
    let detail = format!("{id:?} leads to no object:{}\n\n{GRAMMAR}", reasons.concat());
    Err(Diagnostic::error("Cannot import non-existent remote object", detail).into())
}

/// What one reading of an id leads to; none if that makes no sense. Or why it leads to nothing.
async fn look(shared: &Shared, reading: &ImportId, empty: &Object, guesses: bool) -> Result<Option<Found>, String> {
    let connections = connections(shared, reading, empty);
    let mut trouble = None;
    for connection in connections {
        let mut object = empty.clone();
        object.set(cluster::CLUSTER, connection.clone());
        let cluster = match shared.connections.open(&cluster::read(&object)).await {
            Ok(Some(cluster)) => cluster,
            Ok(None) => continue,
            Err(wrong) => {
                trouble.get_or_insert(wrong.detail);
                continue;
            }
        };
        return on_cluster(cluster, connection, reading, guesses).await;
    }
    trouble.map_or(Ok(None), Err)
}

/// How to reach the cluster that an id names. What a kubeconfig says is not stored, only where it is.
fn connections(shared: &Shared, reading: &ImportId, empty: &Object) -> Vec<Value> {
    let environment = &shared.outside.environment;
    let path = environment.get("KUBECONFIG").filter(|paths| !paths.is_empty());
    let path = path.map_or("~/.kube/config", String::as_str);
    let Type::Object(attributes) = empty.get(cluster::CLUSTER).ty() else { return Vec::new() };
    let by_file = |context: Option<&str>| {
        let value = |name: &str, ty: &Type| match (name, context) {
            ("kubeconfig_path", _) => Value::string(path),
            ("context", Some(context)) => Value::string(context),
            _ => Value::null(ty.clone()),
        };
        let parts = attributes.iter().map(|(name, attribute)| (name.clone(), value(name, &attribute.ty)));
        Value::object(parts.collect::<Vec<_>>())
    };
    match reading.context.as_deref() {
        Some(context) => vec![by_file(Some(context))],
        None => vec![empty.get(cluster::CLUSTER), by_file(None)],
    }
}

async fn on_cluster(
    cluster: Arc<Cluster>,
    connection: Value,
    reading: &ImportId,
    guesses: bool,
) -> Result<Option<Found>, String> {
    let ImportId { namespace, api_version, kind, name, .. } = reading;
    let found = cluster.kind(api_version, kind).await.map_err(|failure| failure.to_string())?;
    if found.namespaced != namespace.is_some() && !(guesses && found.namespaced) {
        return Ok(None);
    }
    let written = ObjectRef {
        api_version: api_version.clone(),
        kind: kind.clone(),
        namespace: namespace.clone(),
        name: name.clone(),
    };
    let reference = cluster.complete(&written).await.map_err(|failure| failure.to_string())?;
    match cluster.get(&reference).await {
        Ok(Some(live)) => Ok(Some(Found { cluster, connection, reference, live })),
        Ok(None) => Err(format!("There is no {}.", shown(&reference))),
        Err(failure) => Err(failure.to_string()),
    }
}

/// As it is stored. The manifest is the live object without what nobody writes.
async fn imported(
    resource: &ObjectResource,
    mut object: Object,
    found: Found,
    call: &mut Call,
) -> Result<Object, Diagnostics> {
    let Found { cluster, connection, reference, live } = found;
    let id = if let Some(id) = owner(&live) {
        call.diagnostics.push(managed_already(&reference, id));
        id.to_owned()
    } else {
        private::change(&mut call.private, |kept| kept.set(IMPORTED, true));
        new_id(&resource.shared)?
    };
    let cluster_uid = cluster.identity().await.ok().flatten();
    object.set("yaml_body", Value::string(to_yaml(&cleaned(&live))));
    object.set(cluster::CLUSTER, connection);
    object.set("delete_protection", Value::bool(false));
    let projection = projected(&live, MANAGER, &Ignored::default(), &id);
    object.set("managed_state_projection", map_value(&projection));
    object.set("managed_fields", map_value(&managers(&live)));
    object.set("object_ref", reference_value(&reference));
    object.set("cluster_uid", cluster_uid.map_or_else(|| Value::null(Type::String), Value::string));
    object.set("id", Value::string(id));
    Ok(object)
}

fn managed_already(reference: &ObjectRef, id: &str) -> Diagnostic {
    let object = shown(reference);
    let detail = format!(
        "{object} is managed by a resource already (its id is {id:?}), and keeps that id here. If that resource is in another \
         state, take it out there, or the two will fight."
    );
    Diagnostic::warning(format!("Object is managed already: {object}"), detail)
}
