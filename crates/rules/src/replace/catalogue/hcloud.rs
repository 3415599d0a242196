//! What is known about the resource types of Hetzner Cloud.

use super::row::{Class, RENAME, ROW, Row};

pub(super) const ROWS: &[Row] = &[Row {
    id: "hcloud.server.name",
    resource: "hcloud_server",
    classes: &[Class::Claim],
    triggers: &["image", "user_data"],
    claims: &[&["name"]],
    because: "Names of servers are unique in a project",
    symptom: "uniqueness_error",
    suggestions: &[RENAME],
    threads: &["kube-hetzner/terraform-hcloud-kube-hetzner#558"],
    ..ROW
}];
