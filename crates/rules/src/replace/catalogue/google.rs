//! What is known about the resource types of Google Cloud.

use super::row::{Class, RENAME, ROW, Row};

/// What IAM members and bindings can be about. Every type has some of these.
const IAM_OBJECTS: [&str; 24] = [
    "project?",
    "folder?",
    "org_id?",
    "billing_account_id?",
    "service_account_id?",
    "bucket?",
    "topic?",
    "subscription?",
    "dataset_id?",
    "table_id?",
    "instance?",
    "database?",
    "secret_id?",
    "key_ring_id?",
    "crypto_key_id?",
    "repository?",
    "service?",
    "cloud_function?",
    "function?",
    "name?",
    "location?",
    "region?",
    "zone?",
    "condition[0].title?",
];

const fn about<const N: usize>(first: [&'static str; N]) -> [&'static str; 26] {
    let mut parts = ["condition[0].expression?"; 26];
    let mut at = 0;
    while at < N {
        parts[at] = first[at];
        at += 1;
    }
    let mut object = 0;
    while object < IAM_OBJECTS.len() && at < parts.len() {
        parts[at] = IAM_OBJECTS[object];
        at += 1;
        object += 1;
    }
    parts
}

const MEMBER: [&str; 26] = about(["member", "role"]);
const BINDING: [&str; 26] = about(["role"]);

pub(super) const ROWS: &[Row] = &[
    Row {
        id: "google.compute_instance.disks",
        resource: "google_compute_instance",
        classes: &[Class::Claim],
        triggers: &["metadata_startup_script", "boot_disk"],
        claims: &[&["attached_disk[*].source"], &["boot_disk[0].source"]],
        because: "A disk is attached to one instance at a time",
        symptom: "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE: the disk is in use",
        suggestions: &["Detach the disks before, or give the new instance others"],
        threads: &["pulumi/pulumi-gcp#73", "pulumi/pulumi-gcp#2586", "pulumi/pulumi-gcp#2595"],
        ..ROW
    },
    Row {
        id: "google.compute_instance.name",
        resource: "google_compute_instance",
        classes: &[Class::Claim],
        triggers: &["name", "zone"],
        claims: &[&["name", "zone", "project"]],
        because: "Names of instances are unique in a zone",
        symptom: "409: already exists",
        suggestions: &[RENAME],
        threads: &["pulumi/pulumi-gcp#2595"],
        ..ROW
    },
    Row {
        id: "google.compute_instance.addresses",
        resource: "google_compute_instance",
        classes: &[Class::Claim],
        triggers: &["network_interface"],
        claims: &[
            &["network_interface[*].access_config[*].nat_ip"],
            &["network_interface[*].network_ip", "network_interface[*].subnetwork"],
        ],
        because: "An address belongs to one instance at a time",
        symptom: "External IP address is already in use",
        suggestions: &["Let Google choose the address, or reserve another one for the new instance"],
        threads: &["pulumi/pulumi#4128", "pulumi/pulumi-gcp#132", "pulumi/pulumi-gcp#114"],
        ..ROW
    },
    Row {
        id: "google.container_cluster.private_nodes",
        resource: "google_container_cluster",
        classes: &[Class::Claim],
        triggers: &["private_cluster_config[0].enable_private_nodes", "enable_kubernetes_alpha"],
        claims: &[
            &["name", "location", "project"],
            &["~private_cluster_config[0].master_ipv4_cidr_block"],
            &["ip_allocation_policy[0].cluster_secondary_range_name", "subnetwork"],
            &["ip_allocation_policy[0].services_secondary_range_name", "subnetwork"],
        ],
        because: "Names are unique in a location, and ranges of addresses belong to one cluster at a time",
        symptom: "409: already exists, the range is used by another cluster, or MasterIpv4CidrBlock conflicts",
        suggestions: &["Give the new cluster another name and other ranges"],
        threads: &[
            "pulumi/pulumi-terraform-bridge#2605",
            "pulumi/pulumi-gcp#95",
            "pulumi/pulumi-gcp#190",
            "terraform-google-modules/terraform-google-kubernetes-engine#1455",
            "hashicorp/terraform-provider-google#20495",
        ],
        ..ROW
    },
    Row {
        id: "google.compute_vpn_tunnel",
        resource: "google_compute_vpn_tunnel",
        classes: &[Class::Claim],
        triggers: &["shared_secret", "local_traffic_selector"],
        claims: &[
            &["peer_external_gateway", "peer_external_gateway_interface", "vpn_gateway", "vpn_gateway_interface"],
            &["peer_gcp_gateway", "vpn_gateway", "vpn_gateway_interface"],
            &["peer_ip", "target_vpn_gateway"],
            &["name", "region", "project"],
        ],
        because: "Names are unique in a region, and there is one tunnel between two interfaces of gateways",
        symptom: "a tunnel with the same peer gateway interface exists",
        suggestions: &["Remove create_before_destroy from the tunnel"],
        threads: &["hashicorp/terraform-provider-google#16619", "pulumi/pulumi-gcp#190", "pulumi/pulumi-gcp#2588"],
        ..ROW
    },
    Row {
        id: "google.compute_instance_template",
        resource: "google_compute_instance_template",
        classes: &[Class::Held],
        claims: &[&["name", "project"]],
        held_by: &["google_compute_instance_group_manager", "google_compute_region_instance_group_manager"],
        identity: &["self_link", "self_link_unique?", "id"],
        because: "Names of templates are unique in a project",
        symptom: "alreadyExists or resourceInUseByAnotherResource",
        suggestions: &[RENAME],
        threads: &[
            "hashicorp/terraform-provider-google#1601",
            "hashicorp/terraform-provider-google#6277",
            "pulumi/pulumi-gcp#680",
            "pulumi/pulumi-terraform-bridge#532",
        ],
        ..ROW
    },
    Row {
        id: "google.compute_ssl_certificate",
        resource: "google_compute_ssl_certificate",
        classes: &[Class::Held],
        triggers: &["certificate", "private_key"],
        claims: &[&["name", "project"]],
        held_by: &["google_compute_target_https_proxy", "google_compute_target_ssl_proxy"],
        identity: &["self_link", "id"],
        because: "Names of certificates are unique in a project",
        symptom: "alreadyExists or resourceInUseByAnotherResource: used by a target proxy",
        suggestions: &[RENAME],
        threads: &["hashicorp/terraform#10546", "hashicorp/terraform-provider-google#216", "pulumi/pulumi#6350"],
        ..ROW
    },
    Row {
        id: "google.compute_managed_ssl_certificate",
        resource: "google_compute_managed_ssl_certificate",
        classes: &[Class::Held],
        triggers: &["managed[0].domains"],
        claims: &[&["name", "project"]],
        held_by: &["google_compute_target_https_proxy", "google_compute_target_ssl_proxy"],
        identity: &["self_link", "id"],
        because: "Names of certificates are unique in a project",
        symptom: "alreadyExists or resourceInUseByAnotherResource: used by a target proxy",
        suggestions: &[RENAME],
        threads: &["hashicorp/terraform-provider-google#6147", "pulumi/pulumi#6350"],
        ..ROW
    },
    Row {
        id: "google.compute_subnetwork",
        resource: "google_compute_subnetwork",
        classes: &[Class::Claim],
        triggers: &["name", "region", "ip_cidr_range"],
        claims: &[
            &["~ip_cidr_range", "network"],
            &["~secondary_ip_range[*].ip_cidr_range", "network"],
            &["name", "region", "project"],
        ],
        because: "Names are unique in a region, and the ranges of two subnetworks of one network cannot overlap",
        symptom: "409: already exists, or IPCidrRange conflicts with an existing subnetwork",
        suggestions: &[
            "Give the new subnetwork another name and another range",
            "Remove create_before_destroy from what depends on it",
        ],
        threads: &["GoogleCloudPlatform/cloud-foundation-fabric#3485", "hashicorp/terraform-provider-google#2011"],
        ..ROW
    },
    Row {
        id: "google.iam_member",
        resource: "google_*_iam_member",
        classes: &[Class::Link],
        triggers: &["member", "role"],
        links: &[&MEMBER],
        because: "A grant is what it says: made again first, it is taken away afterwards",
        symptom: "the grant is missing, without a word",
        suggestions: &["Remove create_before_destroy from the grant"],
        threads: &["pulumi/pulumi-gcp#2650", "pulumi/pulumi-gcp#2588"],
        ..ROW
    },
    Row {
        id: "google.iam_binding",
        resource: "google_*_iam_binding",
        classes: &[Class::Link],
        triggers: &["role"],
        links: &[&BINDING],
        because: "A binding stands for all members of a role: made again first, all of them are taken away afterwards",
        symptom: "the grants are missing, without a word",
        suggestions: &["Remove create_before_destroy from the binding"],
        threads: &["pulumi/pulumi-gcp#2650", "pulumi/pulumi-gcp#2588"],
        ..ROW
    },
    Row {
        id: "google.container_node_pool",
        resource: "google_container_node_pool",
        classes: &[Class::Claim],
        triggers: &["node_config"],
        claims: &[&["name", "cluster", "location", "project"]],
        because: "Names of node pools are unique in a cluster",
        symptom: "409: already exists",
        suggestions: &["Use name_prefix and create_before_destroy: then there are always nodes"],
        threads: &[
            "pulumi/pulumi#1620",
            "hashicorp/terraform-provider-google#3778",
            "hashicorp/terraform-provider-google#10895",
        ],
        ..ROW
    },
    Row {
        id: "google.compute_address",
        resource: "google_compute_address",
        classes: &[Class::Claim],
        triggers: &["address", "address_type", "network_tier"],
        claims: &[&["address", "subnetwork"], &["name", "region", "project"]],
        because: "Names and addresses are unique in a region",
        symptom: "alreadyExists",
        suggestions: &[RENAME],
        threads: &["hashicorp/terraform-provider-google#17884", "pulumi/pulumi-gcp#2596", "pulumi/pulumi-gcp#190"],
        ..ROW
    },
    Row {
        id: "google.compute_global_address",
        resource: "google_compute_global_address",
        classes: &[Class::Claim],
        triggers: &["address", "purpose"],
        claims: &[&["address", "network"], &["name", "project"]],
        because: "Names and addresses are unique",
        symptom: "alreadyExists",
        suggestions: &[RENAME],
        threads: &["hashicorp/terraform-provider-google#17884", "pulumi/pulumi-gcp#2596"],
        ..ROW
    },
    Row {
        id: "google.sql_database_instance",
        resource: "google_sql_database_instance",
        classes: &[Class::Quarantine],
        triggers: &["name", "region"],
        claims: &[&["name", "project"]],
        because: "The name of a database instance stays taken for a week",
        symptom: "the name is unavailable for a week",
        suggestions: &["Give the new instance another name, for example with a random suffix"],
        threads: &["hashicorp/terraform-provider-google#6066"],
        ..ROW
    },
];
