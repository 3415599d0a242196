//! Importing a set: objects that exist, as one.

use std::collections::{BTreeMap, BTreeSet};

use groma_kit::{Call, Object};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::Value;

use super::members::key;
use super::stored::{made, projection_of, take_down};
use super::{SetResource, several};
use crate::cluster;
use crate::manifest::{cleaned, to_yaml};
use crate::object::claim::owner;
use crate::object::fields::Map;
use crate::object::naming::shown;
use crate::object::session::new_id;
use crate::object::{Found, led_to};
use crate::private::{self, ANNOTATIONS_LOST};

/// Stands between the ids of the objects.
const SEPARATOR: char = ',';

/// Imports the objects whose ids are given one after the other.
pub(super) async fn import(
    set: &SetResource,
    id: &str,
    mut object: Object,
    call: &mut Call,
) -> Result<Object, Diagnostics> {
    let ids: Vec<&str> = id.split(SEPARATOR).map(str::trim).filter(|id| !id.is_empty()).collect();
    if ids.is_empty() {
        let detail = "The id of a set is that of its objects, with commas between them: \
                      kind-dev:prod:v1/ConfigMap:settings,kind-dev:prod:apps/v1/Deployment:nginx.";
        return Err(Diagnostic::error("Invalid import id", detail).into());
    }
    let found = several(ids.iter().map(|id| led_to(&set.shared, id, &object)).collect()).await;
    let mut wrong = Diagnostics::new();
    let mut members = Vec::new();
    for found in found {
        match found {
            Ok(found) => members.push(found),
            Err(why) => wrong.extend(why),
        }
    }
    if wrong.has_errors() {
        return Err(wrong);
    }
    let Some(first) = members.first() else { return Err(wrong) };
    if let Some(other) = members.iter().find(|other| other.connection != first.connection) {
        let detail = format!(
            "{} and {} are reached in different ways. All objects of a set are in one cluster, and have the same context in their \
             ids.",
            shown(&first.reference),
            shown(&other.reference)
        );
        return Err(Diagnostic::error("Objects of several clusters", detail).into());
    }
    let id = id_of(set, &members, call)?;
    let cluster_uid = first.cluster.identity().await.ok().flatten();
    object.set("yaml", Value::string(yaml(&members)));
    object.set(cluster::CLUSTER, first.connection.clone());
    object.set("cluster_uid", cluster_uid.map_or_else(|| Value::null(Type::String), Value::string));
    let mut projection = Map::new();
    let mut objects = BTreeMap::new();
    for Found { reference, live, .. } in &members {
        let key = key(reference);
        projection.extend(projection_of(&key, live, &id));
        objects.insert(key, made(reference, live));
    }
    take_down(&mut object, &objects, &projection);
    // The first apply writes the annotations.
    let lacks = members.iter().any(|member| owner(&member.live).is_none());
    private::change(&mut call.private, |kept| kept.set(ANNOTATIONS_LOST, lacks));
    object.set("id", Value::string(id));
    Ok(object)
}

/// One document for each object, in the order of the ids.
fn yaml(members: &[Found]) -> String {
    let documents: Vec<String> = members.iter().map(|member| to_yaml(&cleaned(&member.live))).collect();
    documents.join("---\n")
}

/// The id that the objects have already, or a new one. Two sets cannot become one.
fn id_of(set: &SetResource, members: &[Found], call: &mut Call) -> Result<String, Diagnostic> {
    let owners: BTreeSet<&str> = members.iter().filter_map(|member| owner(&member.live)).collect();
    match owners.into_iter().collect::<Vec<_>>().as_slice() {
        [] => new_id(&set.shared),
        [id] => {
            let detail = format!(
                "Objects of this set are managed by a resource already (its id is {id:?}), and keep that id here. If that resource is \
                 in another state, take it out there, or the two will fight."
            );
            call.diagnostics.push(Diagnostic::warning("Objects are managed already", detail));
            Ok((*id).to_owned())
        }
        several => {
            let detail = format!(
                "The objects are managed by different resources (their ids are {}), and one resource cannot have them all. Take them \
                 out of their states, and let a set with adopt = \"adopt\" take them over.",
                several.join(", ")
            );
            Err(Diagnostic::error("Objects of several resources", detail))
        }
    }
}
