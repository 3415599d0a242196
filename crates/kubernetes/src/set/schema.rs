//! The schema of `k8sconnect_manifest_set` and its checks.

use std::time::Duration;

use groma_kit::checks::one_of;
use groma_kit::spec::{computed, optional};
use groma_kit::{Object, Spec};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;

use super::members::members;
use super::stored::objects_type;
use crate::cluster::{self, Given};
use crate::object::fields::map_type;
use crate::object::{ADOPT, SECRETS, is_duration};
use crate::provider::Shared;

/// How long to wait for objects that are not ready.
const READY_TIMEOUT: Duration = Duration::from_mins(10);

pub(super) fn spec() -> Spec {
    let spec = Spec::new()
        .doc(
            "Many objects as one. They are made in order: namespaces, definitions of kinds, accounts and roles, settings, everything \
             else, webhooks; the annotation `groma.dev/wave` puts some of them earlier or later.",
        )
        .attr("id", computed(Type::String).keep().doc("The id of the set, as the annotations of its objects have it."))
        .attr("yaml", optional(Type::String)
                .sensitive_when(SECRETS)
                .doc("Any number of YAML documents. Either this or `manifests`. Not shown if there is a Secret among them."))
        .attr("manifests", optional(Type::map(Type::String)).sensitive_when(SECRETS).doc("Manifests by names of your choice, one document each."))
        .attr(cluster::CLUSTER, cluster::attribute());
    results(policies(spec))
}

fn policies(spec: Spec) -> Spec {
    spec.attr(
        "prune",
        optional(Type::Bool).doc("Whether objects that are not in the set any more are deleted. Default: `true`."),
    )
    .attr(
        "adopt",
        optional(Type::String)
            .check(one_of(ADOPT))
            .doc("What to do about objects that exist already: `refuse` (the default) or `adopt` them."),
    )
    .attr(
        "force_conflicts",
        optional(Type::Bool).doc("Whether fields that others own are taken from them. Default: `true`."),
    )
    .attr(
        "wait_for_ready",
        optional(Type::Bool)
            .doc("Whether each wave must be ready before the next one begins, and the last before the set is."),
    )
    .attr(
        "ready_timeout",
        optional(Type::String).check(is_duration).doc("How long to wait for each wave. Default: `10m`."),
    )
    .attr(
        "delete_timeout",
        optional(Type::String)
            .check(is_duration)
            .doc("How long to wait until each object is gone. The default depends on the kind: 5 to 15 minutes."),
    )
}

fn results(spec: Spec) -> Spec {
    spec.attr("objects", computed(objects_type()).doc("The objects: what each is called, and its UID."))
        .attr(
            "managed_state_projection",
            computed(map_type())
                .doc("The fields that are managed here and their values. Secret data is there as fingerprints."),
        )
        .attr(
            "cluster_uid",
            computed(Type::String)
                .keep()
                .doc("Which cluster the objects are in: the UID of its namespace `kube-system`."),
        )
}

pub(super) fn validate(shared: &Shared, config: &Object) -> Diagnostics {
    let mut found = cluster::validate(config);
    if let Given::Here(spec) = cluster::read(config) {
        shared.connections.note(&spec);
    }
    let given = ["yaml", "manifests"].iter().filter(|name| !config.is_null(name)).count();
    if given != 1 {
        let detail = "Exactly one of yaml and manifests must be given.";
        found.push(Diagnostic::error("Invalid combination of arguments", detail));
        return found;
    }
    if let Err(wrong) = members(config) {
        found.extend(wrong);
    }
    found
}

/// How long to wait for a wave.
pub(super) fn ready_timeout(object: &Object) -> Duration {
    let given = object.text("ready_timeout").and_then(|text| groma_kit::parse_duration(text).ok());
    given.and_then(|nanos| u64::try_from(nanos).ok()).map_or(READY_TIMEOUT, Duration::from_nanos)
}
