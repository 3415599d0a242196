//! What is known about the resource types of Kubernetes: all of them have names.

use super::row::{Class, ROW, Row};

pub(super) const ROWS: &[Row] = &[Row {
    id: "kubernetes.name",
    resource: "kubernetes_*",
    classes: &[Class::Claim],
    triggers: &["metadata?"],
    claims: &[
        &["metadata[0].name?", "metadata[0].namespace?"],
        &["manifest.metadata.name?", "manifest.metadata.namespace?", "manifest.kind?", "manifest.apiVersion?"],
    ],
    because: "Names are unique in a namespace",
    symptom: "already exists",
    suggestions: &["Use generate_name instead of name, or give the new object another name"],
    threads: &["pulumi/pulumi-kubernetes#2459", "pulumi/pulumi-kubernetes#21", "pulumi/pulumi-terraform#383"],
    ..ROW
}];
