//! What is known about the resource types of OpenStack.

use super::row::{Class, ROW, Row};

pub(super) const ROWS: &[Row] = &[Row {
    id: "openstack.compute_instance.ports",
    resource: "openstack_compute_instance_v2",
    classes: &[Class::Claim],
    triggers: &["image_id", "user_data"],
    claims: &[&["network[*].port"], &["network[*].fixed_ip_v4", "network[*].uuid"]],
    because: "A port or a fixed address belongs to one instance at a time",
    symptom: "Port is still in use",
    suggestions: &["Give the new instance another port, or let OpenStack choose the address"],
    threads: &["hashicorp/terraform#21503", "terraform-provider-openstack/terraform-provider-openstack#439"],
    ..ROW
}];
