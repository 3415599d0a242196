//! The schema of `k8sconnect_patch`, its checks, and how older states are read.

use groma_kit::spec::{computed, optional, required};
use groma_kit::{JsonObject, Object, Spec, at};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Nesting;
use groma_model::ty::Type;

use super::content::{Content, FORMS};
use crate::cluster::{self, Given};
use crate::object::fields::map_type;
use crate::provider::Shared;

/// The version of the schema, as the published provider counts.
const VERSION: i64 = 2;

pub(super) fn spec() -> Spec {
    let target = [
        ("api_version", required(Type::String).replace().doc("As in the object: `apps/v1`.")),
        ("kind", required(Type::String).replace().doc("As in the object: `Deployment`.")),
        ("name", required(Type::String).replace().doc("Its name.")),
        (
            "namespace",
            optional(Type::String).replace().doc("Where it is. Default: `default`, for kinds that are in namespaces."),
        ),
    ];
    Spec::new()
        .version(VERSION)
        .doc("Changes to an object that somebody else manages.")
        .attr("id", computed(Type::String).keep().doc("The id of the patch, as the name of its manager has it."))
        .attr("target", required(Type::Dynamic).nested(Nesting::Single, target).doc("The object."))
        .attr(
            "patch",
            optional(Type::String)
                .doc("Parts of the object, as YAML or JSON: they are set, and released when this is destroyed."),
        )
        .attr("json_patch", optional(Type::String).doc("A JSON patch (RFC 6902)."))
        .attr("merge_patch", optional(Type::String).doc("A JSON merge patch (RFC 7386)."))
        .attr(cluster::CLUSTER, cluster::attribute())
        .attr(
            "managed_state_projection",
            computed(map_type())
                .doc("The fields that the patch sets and their values. Secret data is there as fingerprints."),
        )
        .attr("managed_fields", computed(map_type()).doc("The fields that the patch owns."))
        .attr(
            "cluster_uid",
            computed(Type::String)
                .keep()
                .doc("Which cluster the object is in: the UID of its namespace `kube-system`."),
        )
}

pub(super) fn validate(shared: &Shared, config: &Object) -> Diagnostics {
    let mut found = cluster::validate(config);
    if let Given::Here(spec) = cluster::read(config) {
        shared.connections.note(&spec);
    }
    let given = FORMS.iter().filter(|name| !config.is_null(name)).count();
    let is_unknown = FORMS.iter().any(|name| config.is_unknown(name));
    if is_unknown && given == 1 {
        return found;
    }
    match Content::read(config) {
        Ok(Some(Content::Json(operations))) => {
            let place = |warning: Diagnostic| warning.at_path(at("json_patch"));
            found.extend(operations.warnings().into_iter().map(place));
        }
        Ok(_) => {}
        Err(wrong) => found.extend(wrong),
    }
    found
}

/// States of version 0 lack `managed_fields`, those of version 1 have it as a text. It is read anew.
pub(super) fn upgrade(version: i64, object: &mut JsonObject) -> Result<i64, Diagnostic> {
    if !(0..VERSION).contains(&version) {
        let detail = format!("Nobody knows how to read patches that were stored with version {version} of the schema.");
        return Err(Diagnostic::error("Unable to Upgrade Resource State", detail));
    }
    object.insert("managed_fields".to_owned(), serde_json::Value::Null);
    if let Some(connection) = object.shift_remove("cluster_connection") {
        object.entry("cluster").or_insert(connection);
    }
    Ok(VERSION)
}
