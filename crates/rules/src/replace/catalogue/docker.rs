//! What is known about the resource types of Docker.

use super::row::{Class, RENAME, ROW, Row};

pub(super) const ROWS: &[Row] = &[Row {
    id: "docker.container",
    resource: "docker_container",
    classes: &[Class::Claim],
    triggers: &["image", "env"],
    claims: &[&["name"], &["ports[*].external", "ports[*].ip", "ports[*].protocol"]],
    because: "Names of containers are unique, and a port of the host is bound once",
    symptom: "the container name is already in use, or the port is already allocated",
    suggestions: &[RENAME, "Let Docker choose the port"],
    threads: &["pulumi/pulumi-docker#1356"],
    ..ROW
}];
