//! The kinds that Kubernetes itself has: which group each is in, and whether its objects are in namespaces. What a server really has is
//! asked of the server; this is for what is said before there is one.

/// A kind of Kubernetes itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BuiltIn {
    /// Empty for the core group.
    pub(crate) group: &'static str,
    /// The version to use today.
    pub(crate) version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) namespaced: bool,
}

impl BuiltIn {
    /// What is written as `apiVersion`.
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.to_owned() } else { format!("{}/{}", self.group, self.version) }
    }
}

/// The kind of this group, if it is one of Kubernetes itself.
pub(crate) fn find(group: &str, kind: &str) -> Option<BuiltIn> {
    all().find(|known| known.group == group && known.kind == kind)
}

/// All kinds with this name, whatever the case.
pub(crate) fn named(kind: &str) -> impl Iterator<Item = BuiltIn> {
    all().filter(move |known| known.kind.eq_ignore_ascii_case(kind))
}

/// The kind with exactly this name. None if several groups have one.
pub(crate) fn only(kind: &str) -> Option<BuiltIn> {
    let mut found = all().filter(|known| known.kind == kind);
    found.next().filter(|_| found.next().is_none())
}

/// Whether a group belongs to Kubernetes itself, so that nobody else can add kinds to it.
pub(crate) fn is_own_group(group: &str) -> bool {
    // Long gone, and still in old manifests.
    group == "extensions" || GROUPS.iter().any(|(name, ..)| *name == group)
}

fn all() -> impl Iterator<Item = BuiltIn> {
    GROUPS.iter().flat_map(|&(group, version, namespaced, cluster)| {
        let built_in = move |namespaced| move |kind| BuiltIn { group, version, kind, namespaced };
        namespaced.split_whitespace().map(built_in(true)).chain(cluster.split_whitespace().map(built_in(false)))
    })
}

/// Group, version, kinds with namespaces, kinds without.
const GROUPS: &[(&str, &str, &str, &str)] = &[
    (
        "",
        "v1",
        "Binding ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodTemplate ReplicationController \
         ResourceQuota Secret Service ServiceAccount",
        "ComponentStatus Namespace Node PersistentVolume",
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "",
        "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy \
         ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
    ),
    ("apiextensions.k8s.io", "v1", "", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "v1", "", "APIService"),
    ("apps", "v1", "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet", ""),
    ("authentication.k8s.io", "v1", "", "SelfSubjectReview TokenReview"),
    (
        "authorization.k8s.io",
        "v1",
        "LocalSubjectAccessReview",
        "SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
    ),
    ("autoscaling", "v2", "HorizontalPodAutoscaler", ""),
    ("batch", "v1", "CronJob Job", ""),
    ("certificates.k8s.io", "v1", "PodCertificateRequest", "CertificateSigningRequest ClusterTrustBundle"),
    ("coordination.k8s.io", "v1", "Lease LeaseCandidate", ""),
    ("discovery.k8s.io", "v1", "EndpointSlice", ""),
    ("events.k8s.io", "v1", "Event", ""),
    ("flowcontrol.apiserver.k8s.io", "v1", "", "FlowSchema PriorityLevelConfiguration"),
    ("internal.apiserver.k8s.io", "v1alpha1", "", "StorageVersion"),
    ("networking.k8s.io", "v1", "Ingress NetworkPolicy", "IPAddress IngressClass ServiceCIDR"),
    ("node.k8s.io", "v1", "", "RuntimeClass"),
    ("policy", "v1", "Eviction PodDisruptionBudget", "PodSecurityPolicy"),
    ("rbac.authorization.k8s.io", "v1", "Role RoleBinding", "ClusterRole ClusterRoleBinding"),
    ("resource.k8s.io", "v1", "ResourceClaim ResourceClaimTemplate", "DeviceClass DeviceTaintRule ResourceSlice"),
    ("scheduling.k8s.io", "v1", "", "PriorityClass"),
    (
        "storage.k8s.io",
        "v1",
        "CSIStorageCapacity",
        "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass",
    ),
    ("storagemigration.k8s.io", "v1beta1", "", "StorageVersionMigration"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_of_one_group_has_one_version() {
        let api_version = |kind: &str| only(kind).map(|found| found.api_version());
        assert_eq!(api_version("Deployment").as_deref(), Some("apps/v1"));
        assert_eq!(api_version("ConfigMap").as_deref(), Some("v1"));
        assert_eq!(api_version("Event"), None);
        assert_eq!(api_version("Cactus"), None);
    }
}
