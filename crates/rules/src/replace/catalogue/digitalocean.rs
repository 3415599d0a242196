//! What is known about the resource types of DigitalOcean.

use super::row::{Class, ROW, Row};

pub(super) const ROWS: &[Row] = &[
    Row {
        id: "digitalocean.droplet.volumes",
        resource: "digitalocean_droplet",
        classes: &[Class::Claim],
        triggers: &["user_data", "image"],
        claims: &[&["volume_ids[*]"]],
        because: "A volume is attached to one droplet at a time",
        symptom: "the volume is already attached",
        suggestions: &["Detach the volumes before"],
        threads: &["pulumi/pulumi-digitalocean#158"],
        ..ROW
    },
    Row {
        id: "digitalocean.floating_ip_assignment",
        resource: "digitalocean_floating_ip_assignment",
        classes: &[Class::Link],
        triggers: &["droplet_id"],
        links: &[&["ip_address"]],
        because: "An address has one assignment: made again first, it is taken away afterwards",
        symptom: "the address is assigned to nothing, without a word",
        suggestions: &["Remove create_before_destroy from the assignment"],
        threads: &["digitalocean/terraform-provider-digitalocean#149"],
        ..ROW
    },
    Row {
        id: "digitalocean.reserved_ip_assignment",
        resource: "digitalocean_reserved_ip_assignment",
        classes: &[Class::Link],
        triggers: &["droplet_id"],
        links: &[&["ip_address"]],
        because: "An address has one assignment: made again first, it is taken away afterwards",
        symptom: "the address is assigned to nothing, without a word",
        suggestions: &["Remove create_before_destroy from the assignment"],
        threads: &["digitalocean/terraform-provider-digitalocean#149"],
        ..ROW
    },
];
