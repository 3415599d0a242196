//! What is known about the resource types of MongoDB Atlas.

use super::row::{Class, ROW, Row};

pub(super) const ROWS: &[Row] = &[Row {
    id: "mongodbatlas.project_ip_access_list",
    resource: "mongodbatlas_project_ip_access_list",
    classes: &[Class::Link],
    triggers: &["comment"],
    links: &[&["cidr_block", "project_id"], &["ip_address", "project_id"], &["aws_security_group", "project_id"]],
    because: "An entry is what it lets in: made again first, it is removed afterwards",
    symptom: "entries are removed without a word",
    suggestions: &["Remove create_before_destroy from the entry"],
    threads: &["pulumi/pulumi-mongodbatlas#806"],
    ..ROW
}];
